// Flags of our commands that are sbatch's own: kept as text, read by one parser
// (client/job_question.h).
#pragma once

#include <CLI/App.hpp>
#include <deque>
#include <string>

#include "client/sbatch_options.h"

namespace gpuadvise {

class SlurmFlags {
 public:
  /// REQUIRES: `app` is parsed before this goes.
  void AddTo(CLI::App* app);

  /// Those that were given.
  SbatchOptions Given() const;

 private:
  struct Flag {
    std::string name;
    std::string value;
    CLI::Option* option = nullptr;
  };
  void Add(CLI::App* app, const char* spelling, const char* name, const char* help);

  std::deque<Flag> flags_;
};

}  // namespace gpuadvise
