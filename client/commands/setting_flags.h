// Options of `fit` and `scale` that are keys of the training file.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "client/commands/options.h"
#include "client/questions/training_settings.h"
#include "common/keys/train_keys.h"

namespace gpuadvise::client {

// Options that say something of the training, by the table of its keys: kept as text, read like the
// file (client/questions/training_settings.h).
class SettingFlags {
 public:
  // REQUIRES: the options are read before this goes.
  void AddTo(Options& options);

  // For a command where the micro-batch is part of the training.
  void AddMicroBatch(Options& options);

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

  void Add(CLI::App& app, const TrainKey& key);

  std::deque<Flag> flags_;
};

}  // namespace gpuadvise::client
