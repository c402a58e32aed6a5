#include "client/commands/setting_flags.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace gpuadvise::client {

void SettingFlags::AddTo(Options& options) {
  for (const TrainKey& key : TrainKeys()) {
    if (!key.option.empty()) Add(options.app(), key);
  }
  Flag& precision = NewFlag(kPrecision);
  precision.option = options.app()
                         .add_option("--precision", precision.text, "bf16, fp16 or fp32")
                         ->option_text("WORD")
                         ->check(CLI::IsMember({"bf16", "fp16", "fp32"}))
                         ->group(kGroup);
}

void SettingFlags::AddMicroBatch(Options& options) {
  Flag& flag = NewFlag("training.per_device_train_batch_size");
  flag.option = options.app()
                    .add_option("--micro-batch,--batch", flag.text, "Fixes the micro-batch")
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

void SettingFlags::Add(CLI::App& app, const TrainKey& key) {
  Flag& flag = NewFlag(std::string(key.path));
  const std::string help =
      key.kind == ValueKind::kOther ? std::string(key.form) : ValueInWords(key);
  const std::string spellings(key.option);
  const bool is_switch = key.kind == ValueKind::kBool || key.kind == ValueKind::kSwitch;
  if (is_switch) {  // a value only as --bf16=false: a word that follows is the file
    flag.option = app.add_flag(spellings, flag.text, "[=" + help + "]")->group(kGroup);
  } else {
    flag.option = app.add_option(spellings, flag.text, help)->option_text("X")->group(kGroup);
  }
}

}  // namespace gpuadvise::client
