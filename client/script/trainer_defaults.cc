#include "client/script/trainer_defaults.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "client/script/launch_program.h"
#include "client/script/script_text.h"

namespace gpuadvise::client {
namespace {

bool HasBatchFlag(const TrainingFlags& flags, std::string_view name) {
  const FlagUse* batch = flags.Find("per_device_train_batch_size");
  if (batch == nullptr || batch->in_config) return false;
  std::string spelling = batch->spelling;
  std::replace(spelling.begin(), spelling.end(), '-', '_');
  return spelling.ends_with(name);
}

bool HasAny(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

// TRL's configs are TrainingArguments with other defaults; scripts on them have its trainers'
// names.
bool IsTrlScript(std::string_view program) {
  constexpr std::array<std::string_view, 7> kNames = {"trl",  "sft", "dpo",   "grpo",
                                                      "orpo", "kto", "reward"};
  return HasAny(program, kNames);
}

bool IsDiffusersScript(std::string_view program) {
  constexpr std::array<std::string_view, 6> kScripts = {"dreambooth",          "text_to_image",
                                                        "controlnet",          "textual_inversion",
                                                        "train_unconditional", "instruct_pix2pix"};
  return HasAny(program, kScripts);
}

// An option that TrainingArguments has and programs with a loop of their own have not: these name
// their batch alike.
bool HasTrainersOption(const LaunchCommand& command) {
  constexpr std::array<std::string_view, 14> kOptions = {"--do_train",
                                                         "--logging_steps",
                                                         "--logging_strategy",
                                                         "--logging_dir",
                                                         "--save_steps",
                                                         "--save_strategy",
                                                         "--eval_strategy",
                                                         "--evaluation_strategy",
                                                         "--save_total_limit",
                                                         "--warmup_ratio",
                                                         "--overwrite_output_dir",
                                                         "--remove_unused_columns",
                                                         "--group_by_length",
                                                         "--load_best_model_at_end"};
  return std::any_of(command.words.begin(), command.words.end(), [&](const LaunchWord& word) {
    std::string name = word.raw.substr(0, word.raw.find('='));
    std::replace(name.begin() + (name.starts_with("--") ? 2 : 0), name.end(), '-', '_');
    return std::find(kOptions.begin(), kOptions.end(), name) != kOptions.end();
  });
}

}  // namespace

std::optional<TrainerDefaults> DefaultsOfTrainer(const LaunchCommand& command,
                                                 const TrainingFlags& flags) {
  if (command.launcher == Launcher::kLlamaFactory)
    return TrainerDefaults{"LLaMA-Factory", true, false};
  if (command.launcher == Launcher::kSwift) return TrainerDefaults{"ms-swift", true, false};
  if (command.launcher == Launcher::kAxolotl) return TrainerDefaults{"axolotl", false, false};
  const std::string program = ProgramOf(command);
  if (IsTrlScript(program)) return {};
  if (HasBatchFlag(flags, "__train_batch_size") && IsDiffusersScript(program)) {
    return TrainerDefaults{"diffusers", false, false};
  }
  if (HasBatchFlag(flags, "per_device_train_batch_size") && HasTrainersOption(command)) {
    return TrainerDefaults{"Transformers", false, true};
  }
  return {};
}

bool IsWholeCommandKnown(const LaunchCommand& command) {
  if (!command.open.empty()) return false;
  for (size_t i = 1; i < command.words.size(); ++i) {
    const LaunchWord& word = command.words[i];
    const bool is_variable = (word.raw.starts_with('$') || word.raw.starts_with("\"$")) &&
                             ScriptArgumentIn(word.raw).empty();  // those are dropped
    // Behind an option it is that option's value.
    const bool is_value = command.words[i - 1].raw.starts_with('-');
    if (!word.value && is_variable && !is_value) return false;
  }
  return true;
}

}  // namespace gpuadvise::client
