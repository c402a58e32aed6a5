// Flags that many commands share and that are kept as text until their own reader takes them:
// sbatch's, and those of the training file's keys.
#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <string>
#include <vector>

#include "client/questions/training_settings.h"
#include "client/sbatch/sbatch_options.h"
#include "common/training/train_keys.h"

namespace gpuadvise::client {

// Flags of our commands that are sbatch's own: kept as text, read by one parser
// (client/questions/job_question.h).
class SlurmFlags {
 public:
  // REQUIRES: `app` is parsed before this goes.
  void AddTo(CLI::App* app);

  // Those that were given.
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

// Options that say something of the training, by the table of its keys: kept as text, read like the
// file (client/questions/training_settings.h).
class SettingFlags {
 public:
  // REQUIRES: `app` is parsed before this goes.
  void AddTo(CLI::App* app);

  // For a command where the micro-batch is part of the training.
  void AddMicroBatch(CLI::App* app);

  // Those that were given.
  std::vector<TrainingSetting> Given() const;

 private:
  static constexpr const char* kGroup =
      "Training settings that override FILE (see gpuadvise reference)";
  static constexpr const char* kPrecision = "precision";

  struct Flag {
    std::string key;
    std::string text;
    CLI::Option* option = nullptr;
  };

  Flag& NewFlag(std::string key);

  void Add(CLI::App* app, const TrainKey& key);

  std::deque<Flag> flags_;
};

}  // namespace gpuadvise::client
