#include "client/commands/given_flags.h"

#include <utility>

namespace gpuadvise::client {

void SlurmFlags::AddTo(CLI::App* app) {
  Add(app, "-p,--partition", "partition", "Partition to stay in");
  Add(app, "-A,--account", "account", "Account to charge");
  Add(app, "-q,--qos", "qos", "Quality of service");
  Add(app, "-t,--time", "time", "Time limit: minutes, HH:MM:SS, D-HH:MM:SS");
  Add(app, "-N,--nodes", "nodes", "Number of nodes");
  Add(app, "-C,--constraint", "constraint", "Node features required");
  Add(app, "--gres", "gres", "GPUs per node, such as gpu:l40s:6");
  Add(app, "-G,--gpus", "gpus", "GPUs in total, such as l40s:12");
  Add(app, "--gpus-per-node", "gpus-per-node", "GPUs per node, such as l40s:6");
  Add(app, "-w,--nodelist", "nodelist", "Only these nodes (delays the start; prefer --exclude)");
  Add(app, "-x,--exclude", "exclude", "Never these nodes");
}

SbatchOptions SlurmFlags::Given() const {
  SbatchOptions options;
  for (const Flag& flag : flags_) {
    if (flag.option->count() > 0) options.Set(flag.name, flag.value);
  }
  return options;
}

void SlurmFlags::Add(CLI::App* app, const char* spelling, const char* name, const char* help) {
  Flag& flag = flags_.emplace_back();  // a deque: the addresses stay
  flag.name = name;
  flag.option = app->add_option(spelling, flag.value, help)->group("Fixed by you (as in sbatch)");
  flag.option->option_text("X");
}

void SettingFlags::AddTo(CLI::App* app) {
  for (const TrainKey& key : TrainKeys()) {
    if (!key.option.empty()) Add(app, key);
  }
  Flag& precision = NewFlag(kPrecision);
  precision.option = app->add_option("--precision", precision.text, "bf16, fp16 or fp32")
                         ->option_text("WORD")
                         ->check(CLI::IsMember({"bf16", "fp16", "fp32"}))
                         ->group(kGroup);
}

void SettingFlags::AddMicroBatch(CLI::App* app) {
  Flag& flag = NewFlag("training.per_device_train_batch_size");
  flag.option = app->add_option("--micro-batch,--batch", flag.text, "Fixes the micro-batch")
                    ->option_text("N")
                    ->group(kGroup);
}

std::vector<TrainingSetting> SettingFlags::Given() const {
  std::vector<TrainingSetting> given;
  for (const Flag& flag : flags_) {
    if (flag.option->count() == 0) continue;
    const std::string spelling = flag.option->get_name();
    if (flag.key != kPrecision) {
      given.push_back({flag.key, spelling, flag.text});
      continue;
    }
    for (const std::string word : {"bf16", "fp16"}) {
      const char* value = flag.text == word ? "true" : "false";
      given.push_back({"training." + word, spelling + " " + flag.text, value});
    }
  }
  return given;
}

SettingFlags::Flag& SettingFlags::NewFlag(std::string key) {
  Flag& flag = flags_.emplace_back();  // a deque: the addresses stay
  flag.key = std::move(key);
  return flag;
}

void SettingFlags::Add(CLI::App* app, const TrainKey& key) {
  Flag& flag = NewFlag(std::string(key.path));
  const std::string help =
      key.kind == ValueKind::kOther ? std::string(key.form) : ValueInWords(key);
  const std::string spellings(key.option);
  const bool is_switch = key.kind == ValueKind::kBool || key.kind == ValueKind::kSwitch;
  if (is_switch) {  // a value only as --bf16=false: a word that follows is the file
    flag.option = app->add_flag(spellings, flag.text, "[=" + help + "]")->group(kGroup);
  } else {
    flag.option = app->add_option(spellings, flag.text, help)->option_text("X")->group(kGroup);
  }
}

}  // namespace gpuadvise::client
