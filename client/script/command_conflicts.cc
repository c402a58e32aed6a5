#include "client/script/command_conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/api/answer_reader.h"
#include "client/sbatch/job_launch.h"
#include "client/sbatch/job_words.h"
#include "client/sbatch/option_values.h"
#include "client/script/launch_command.h"
#include "client/script/launch_program.h"
#include "client/script/script_layout.h"
#include "client/script/script_variables.h"
#include "client/script/trainer_defaults.h"
#include "client/script/training_flags.h"
#include "client/script/training_section.h"
#include "client/shell/shell_script.h"
#include "client/shell/shell_words.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/keys/train_keys.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// A figure of the strategy, with the placeholder and the variable that pass it to a command.
struct Figure {
  const char* placeholder;
  const char* variable;
};

constexpr Figure kMicroBatch = {"{micro_batch}", "GPUADVISE_MICRO_BATCH"};
constexpr Figure kAccumulation = {"{accumulation}", "GPUADVISE_ACCUMULATION"};
constexpr Figure kGpusPerNode = {"{gpus_per_node}", "GPUADVISE_GPUS_PER_NODE"};
constexpr Figure kNodes = {"{nodes}", "GPUADVISE_NODES"};
constexpr Figure kEffective = {"{effective_batch_size}", "GPUADVISE_EFFECTIVE_BATCH_SIZE"};

// Command, setup and env of the training file: all places for figures.
std::string WholeText(const json& spec) {
  std::string text = RawText(spec, "command");
  for (const std::string& line : RawTexts(spec, "setup")) text += "\n" + line;
  const json& env = ObjectOf(spec, "env");
  for (const auto& [name, value] : env.items()) text += "\n" + RawText(env, name.c_str());
  return text;
}

class Judge {
 public:
  Judge(const json& spec, const api::Strategy& strategy)
      : spec_(spec),
        strategy_(strategy),
        training_(ObjectOf(spec, "training")),
        text_(WholeText(spec)),
        words_(StrategyWords(spec, strategy)),
        variables_(OptionsOfJob()) {
    const Placeholders& words = words_;
    const json& env = ObjectOf(spec, "env");
    for (const auto& [name, value] : env.items()) {
      variables_.AssignText(name, FillPlaceholders(RawText(env, name.c_str()), words));
    }
    for (const std::string& line : RawTexts(spec, "setup")) Assign(FillPlaceholders(line, words));
    const auto as_written = LaunchOf(RawText(spec, "command"), variables_);
    if (as_written) own_text_ = OwnTextOf(*as_written);
    launch_ = LaunchOf(FillPlaceholders(RawText(spec, "command"), words), variables_);
    if (launch_) flags_ = ReadTrainingFlags(*launch_);
  }

  std::vector<CommandConflict> Conflicts() {
    JudgePlaceholders();
    JudgeSubmission();
    JudgeGpus();
    if (!spec_.contains("stages")) {
      JudgeBatch();
      JudgeSteps();
      JudgePrecision();
      JudgeDeepspeed();
      JudgeSettings();
      JudgeCheckpointing();
    }
    return std::move(conflicts_);
  }

 private:
  // What Slurm's variables follow from.
  SbatchOptions OptionsOfJob() const {
    SbatchOptions options;
    options.Set("nodes", std::to_string(strategy_.nodes));
    options.Set("gpus-per-node", std::to_string(strategy_.gpus_per_node));
    const int64_t tasks =
        TasksOfJob().value_or(strategy_.nodes) / std::max<int64_t>(strategy_.nodes, 1);
    options.Set("ntasks-per-node", std::to_string(tasks));
    return options;
  }

  // Takes the assignments of a line of setup.
  void Assign(const std::string& line) {
    const auto statements = ReadStatements(line);
    if (!statements) return;
    for (const ScriptStatement& statement : *statements) {
      for (const ScriptCommand& command : statement.commands) {
        for (const std::string& word : command.words) {
          if (IsAssignment(word)) {
            variables_.Assign(word, command.block == ScriptBlock::kNone && !command.may_be_skipped);
          }
        }
      }
    }
  }

  bool Carries(const Figure& figure) const {
    return text_.find(figure.placeholder) != std::string::npos ||
           text_.find(figure.variable) != std::string::npos;
  }

  // The command without srun, whose number of tasks is not the program's, and the setup.
  std::string OwnTextOf(const LaunchCommand& launch) const {
    std::string text = TextOf(launch);
    for (const auto& [name, value] : launch.env) text += " " + name + "=" + value;
    return text + text_.substr(std::min(text_.find('\n'), text_.size()));
  }

  // Whether a figure of GPUs reaches the launcher or the program.
  bool CarriesGpus() const {
    return own_text_.find("{gpus") != std::string::npos ||
           own_text_.find(kGpusPerNode.variable) != std::string::npos ||
           own_text_.find("GPUADVISE_GPUS") != std::string::npos;
  }

  bool IsGiven(const char* key) const { return training_.contains(key); }

  // Whether the flag's figure differs from `needed`; if so, adds a conflict.
  bool Contradicts(std::string_view setting, int64_t needed, const Figure& figure) {
    const auto number = flags_.Number(setting);
    if (!number || *number == needed) return false;
    conflicts_.push_back(
        {fmt::format("the command has {} {}", flags_.Find(setting)->spelling, *number),
         std::to_string(needed), fmt::format("write {} there", figure.placeholder)});
    return true;
  }

  static std::string OrFix(const char* key) {
    return fmt::format(", or write the program's own figure as {} into the training file", key);
  }

  // `key`: fixes the figure in the training file; nullptr: none does.
  void Missing(const std::string& what, int64_t needed, const Figure& figure, const char* key,
               bool certain = true) {
    conflicts_.push_back(
        {fmt::format("the command does not use {}", what), std::to_string(needed),
         fmt::format("add {} to it", figure.placeholder) + (key == nullptr ? "" : OrFix(key)),
         certain && launch_.has_value()});
  }

  // A mistyped placeholder would reach the program as it stands. Words in braces that are like none
  // of ours may be the shell's or awk's.
  void JudgePlaceholders() {
    std::vector<std::string> known;
    for (const auto& [word, value] : words_) known.push_back(word);
    for (const std::string& word : UnknownPlaceholders(text_, words_)) {
      const std::string near = NearestName(word, known);
      if (near.empty()) continue;
      const bool certain = near.substr(0, 2) == word.substr(0, 2);  // {model} is the program's own
      conflicts_.push_back({fmt::format("{{{}}} is no placeholder", word), "",
                            fmt::format("did you mean {{{}}}?", near), certain});
    }
  }

  // A job that submits another one reserves GPUs for nothing.
  void JudgeSubmission() {
    if (!launch_ || ProgramOf(*launch_).find("submitit") == std::string::npos) return;
    conflicts_.push_back({ProgramOf(*launch_) + " submits a job of its own", "",
                          "write the training that it starts, with torchrun"});
  }

  // Whether the command writes the batch of all GPUs behind a flag that is read as one GPU's.
  bool TakesEffective(const FlagUse& use) const {
    const std::string command = RawText(spec_, "command");
    for (const char* between : {" ", "=", " \"", "=\""}) {
      if (command.find(use.spelling + between + kEffective.placeholder) != std::string::npos ||
          command.find(use.spelling + between + "$" + kEffective.variable) != std::string::npos) {
        return true;
      }
    }
    return false;
  }

  void JudgeBatch() {
    const int64_t effective = strategy_.effective_batch_size;
    Contradicts("effective_batch_size", effective, kEffective);
    const bool whole = flags_.Find("effective_batch_size") != nullptr || Carries(kEffective);
    const int64_t micro = strategy_.micro_batch;
    const FlagUse* plain = flags_.Find("per_device_train_batch_size");
    const bool of_all = plain != nullptr && TakesEffective(*plain);
    if (of_all) {
      // The program divides it by its GPUs.
      if (strategy_.accumulation > 1 && flags_.Find("gradient_accumulation_steps") == nullptr) {
        conflicts_.push_back({"the command has a batch of all GPUs and no gradient accumulation",
                              std::to_string(strategy_.accumulation),
                              "write gradient_accumulation_steps: 1 into the training file"});
      }
    } else if (plain != nullptr) {
      Contradicts("per_device_train_batch_size", micro, kMicroBatch);
    } else if (!whole && !IsGiven("per_device_train_batch_size") && !Carries(kMicroBatch)) {
      Missing("the batch of one GPU", micro, kMicroBatch, "per_device_train_batch_size");
    }
    const int64_t accumulation = strategy_.accumulation;
    if (flags_.Find("gradient_accumulation_steps") != nullptr) {
      Contradicts("gradient_accumulation_steps", accumulation, kAccumulation);
    } else if (!whole && accumulation > 1 && !IsGiven("gradient_accumulation_steps") &&
               !Carries(kAccumulation)) {
      Missing("gradient accumulation", accumulation, kAccumulation, "gradient_accumulation_steps");
    }
  }

  void JudgeGpus() {
    const int64_t per_node = strategy_.gpus_per_node;
    const int64_t gpus = GpusOf(strategy_);
    const bool counted = flags_.Find("gpus_per_node") != nullptr ||
                         flags_.Find("gpus") != nullptr || flags_.Find("gpu_list") != nullptr;
    Contradicts("gpus_per_node", per_node, kGpusPerNode);
    Contradicts("gpus", gpus, {"{gpus}", "GPUADVISE_GPUS"});
    Contradicts("nodes", strategy_.nodes, kNodes);
    if (!launch_) {  // a shell script may start as many as the job's variables say
      const std::string command = RawText(spec_, "command");
      const std::string program = command.substr(0, command.find_first_of(" \t\n"));
      const bool of_shell = IsOneOf(program, {"bash", "sh"}) || program.ends_with(".sh");
      const bool carries = gpus == 1 || counted || Carries(kGpusPerNode) || of_shell ||
                           command.find("{gpus") != std::string::npos;
      if (!carries) Missing("the number of GPUs", gpus, kGpusPerNode, nullptr, false);
      return;
    }
    JudgeNodes();
    const auto tasks = TasksOfLauncher();
    const bool mpi = launch_->launcher == Launcher::kMpi;
    if (tasks && (*tasks > 1 || mpi) && *tasks != gpus) {
      conflicts_.push_back({fmt::format("{} starts {}", mpi ? ProgramName() : "srun",
                                        Plural(*tasks, mpi ? "rank" : "task")),
                            std::to_string(gpus),
                            mpi ? "write -np {gpus} there" : "write --ntasks={gpus} there"});
    }
    if (counted || CarriesGpus()) return;
    if (tasks && (*tasks > 1 || gpus == 1)) return JudgeDevices(per_node);
    if (gpus == 1) return;
    if (launch_->launcher == Launcher::kTorchrun) {
      conflicts_.push_back({"torchrun starts one process unless told otherwise",
                            std::to_string(per_node),
                            "write --nproc_per_node={gpus_per_node} after torchrun"});
    } else if (StartsOneProcess(*launch_)) {
      const bool python = launch_->launcher == Launcher::kPython;
      Missing(fmt::format("the number of GPUs ({} starts one process)",
                          python ? "python" : ProgramOf(*launch_)),
              gpus, kGpusPerNode, nullptr, false);
    }
  }

  std::string ProgramName() const {
    const std::string& word = launch_->words[launch_->launcher_at].raw;
    return word.substr(word.rfind('/') + 1);
  }

  // A command that reaches all nodes itself, started on each of them, would do so many times.
  void JudgeNodes() {
    if (strategy_.nodes == 1) return;
    if (!RunsOnEachNode(spec_)) {
      if (text_.find("{node_rank}") == std::string::npos) return;
      conflicts_.push_back({"{node_rank} is 0 on every node with run_on: first_node", "",
                            "write \\$SLURM_NODEID where srun's tasks expand it"});
      return;
    }
    const bool mpi = launch_->launcher == Launcher::kMpi;
    if (!launch_->srun && !mpi) return;
    conflicts_.push_back({fmt::format("{} starts the other nodes itself, and the job starts the "
                                      "command on each node",
                                      mpi ? ProgramName() : "srun"),
                          "", "write run_on: first_node into the training file"});
  }

  // Of the command's own srun or mpirun, where each is a process of the program.
  std::optional<int64_t> TasksOfLauncher() const {
    if (launch_->launcher == Launcher::kMpi) return ProcessesOfMpi();
    if (!launch_->srun || launch_->launcher != Launcher::kPython) return {};
    const auto tasks = WholeNumber(launch_->srun->options.Get("ntasks"));
    return tasks ? tasks : TasksOfJob();
  }

  std::optional<int64_t> ProcessesOfMpi() const {
    for (size_t i = launch_->launcher_at + 1; i + 1 < launch_->program_at; ++i) {
      if (!IsOneOf(launch_->words[i].raw, {"-np", "--np", "-n"})) continue;
      return WholeNumber(launch_->words[i + 1].value);
    }
    return TasksOfJob();
  }

  // As slurm.extra asks for them.
  std::optional<int64_t> TasksOfJob() const {
    constexpr std::string_view kOption = "--ntasks-per-node=";
    for (const std::string& option : RawTexts(ObjectOf(spec_, "slurm"), "extra")) {
      if (!option.starts_with(kOption)) continue;
      const auto tasks = WholeNumber(FillPlaceholders(option.substr(kOption.size()), words_));
      if (tasks) return *tasks * strategy_.nodes;
    }
    return {};
  }

  // Lightning compares its devices with the tasks; without a flag a file of settings says them.
  void JudgeDevices(int64_t per_node) {
    const bool lightning =
        std::any_of(launch_->words.begin(), launch_->words.end(), [](const LaunchWord& word) {
          return word.raw.starts_with("trainer=") || word.raw.starts_with("trainer.") ||
                 word.raw.starts_with("strategy=");
        });
    if (!lightning) return;
    conflicts_.push_back({"the command does not say the devices of its trainer",
                          std::to_string(per_node),
                          "add trainer.devices={gpus_per_node} to it, unless the trainer takes all "
                          "that a task sees",
                          false});
  }

  // Different steps change the run time only.
  void JudgeSteps() {
    const auto steps = flags_.Number("max_steps");
    const int64_t counted = IntOf(training_, "max_steps");
    if (!steps || counted == 0 || *steps == counted) return;
    conflicts_.push_back({fmt::format("the command has {} {}, the training file {} steps",
                                      flags_.Find("max_steps")->spelling, *steps, counted),
                          "",
                          "use {steps} in the command so that they agree, or leave it where its "
                          "steps are not those of the optimizer",
                          false});
  }

  void JudgePrecision() {
    const std::string& needed = strategy_.precision;
    const std::string said = HalfPrecisionOf(flags_);
    if (said.empty() && needed == "fp16" && NamesBf16()) {
      conflicts_.push_back({"the command names bf16", needed,
                            "write {precision} there, or bf16: true in the training file", false});
      return;
    }
    if (said.empty()) return JudgeUsualPrecision();
    if (needed == said || needed.empty()) return;
    conflicts_.push_back({"the command trains in " + said, needed,
                          "write {precision} there, or " + said + ": true in the training file"});
  }

  // "--my_bf16 True", not "bf16=False", and not beside fp16.
  bool NamesBf16() const {
    if (!launch_ || Mentions({"fp16", "float16", "{precision}", "GPUADVISE_PRECISION"}))
      return false;
    const std::string text = LowerCase(TextOf(*launch_));
    for (const char* name : {"bf16", "bfloat16"}) {
      for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        const std::string_view rest = std::string_view(text).substr(at + std::strlen(name));
        const size_t value = rest.find_first_not_of(" =");
        const bool off = value != std::string_view::npos && rest.substr(value).starts_with("false");
        if (!off) return true;
      }
    }
    return false;
  }

  // Trainers that take fp32 where nothing is said need more memory and time than was counted.
  void JudgeUsualPrecision() {
    if (!launch_ || strategy_.precision == "fp32" || strategy_.precision.empty()) return;
    if (Mentions({"bf16", "fp16", "float16", "precision", "dtype", "autocast", "--amp"})) return;
    const json& deepspeed = ObjectOf(training_, "deepspeed");
    if (deepspeed.contains("bf16") || deepspeed.contains("fp16")) return;
    const auto usual = DefaultsOfTrainer(*launch_, flags_);
    if (!usual || !usual->fp32 || launch_->launcher == Launcher::kAccelerate) return;
    conflicts_.push_back(
        {fmt::format("the command trains in fp32, the default of {}", usual->trainer),
         strategy_.precision,
         fmt::format("add --{} True to it, or write bf16: false and fp16: false into the training "
                     "file",
                     strategy_.precision),
         false});
  }

  // What the command says of memory and run time is in the training file, or other figures were
  // counted than the job will have.
  void JudgeSettings() {
    if (!launch_) return;
    const json said = SettingsOfCommand(*launch_, flags_);
    for (const auto& [key, value] : said.items()) {
      if (!value.is_object()) JudgeSetting(key, value, training_);
    }
    for (const auto& [key, value] : ObjectOf(said, "lora").items()) {
      if (key != "lora_alpha") JudgeSetting("lora." + key, value, ObjectOf(training_, "lora"));
    }
  }

  // Without gradient checkpointing a batch that counts with it runs out of memory.
  void JudgeCheckpointing() {
    if (!launch_ || !strategy_.gradient_checkpointing.value_or(false)) return;
    if (flags_.Find("gradient_checkpointing") != nullptr) {
      if (flags_.Switch("gradient_checkpointing") != false) return;
    } else if (Mentions({"gradient_checkpoint", "gradient-checkpoint", "grad_checkpoint",
                         "activation_checkpoint", "activation-checkpoint", "recompute"})) {
      return;  // in a way of its own; saved checkpoints are none
    }
    const auto usual = DefaultsOfTrainer(*launch_, flags_);
    if (usual && usual->gradient_checkpointing) return;
    const bool whole = flags_.Find("config") == nullptr && IsWholeCommandKnown(*launch_);
    conflicts_.push_back({"the command does not turn on gradient checkpointing", "it",
                          "turn it on there, or write gradient_checkpointing: false into the "
                          "training file",
                          usual && whole});
  }

  // As a variable, a config's key or an option that no table has.
  bool Mentions(std::initializer_list<std::string_view> names) const {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return text_.find(name) != std::string::npos;
    });
  }

  // `path`: of a key below `training`, the last part of which stands in `section`.
  void JudgeSetting(const std::string& path, const json& said, const json& section) {
    const std::string key = path.substr(path.rfind('.') + 1);
    const std::string value = TextOfValue(said);
    const auto found = section.find(key);
    if (found == section.end()) {
      if (IsMeasured() || IsUsual(path, value)) return;
      conflicts_.push_back(
          {fmt::format("the command has {}: {}, the training file does not say it", path, value),
           "",
           fmt::format("write {}: {} into the training file, so that it is counted", path, value)});
      return;
    }
    const bool is_list = said.is_array();
    if (found->is_object() || (!is_list && found->is_array())) return;
    const bool same =
        is_list ? json(RawTexts(section, key.c_str())) == said : TextOfValue(*found) == value;
    if (same) return;
    conflicts_.push_back({fmt::format("the command has {}: {}, the training file {}", path, value,
                                      TextOfValue(*found)),
                          "", "write the same in both"});
  }

  // Memory and run time are known without the settings.
  bool IsMeasured() const {
    return ObjectOf(spec_, "model").contains("memory") && training_.contains("measured");
  }

  static bool IsUsual(const std::string& path, const std::string& value) {
    const TrainKey* row = FindTrainKey("training." + path);
    return row != nullptr && row->usual == value;
  }

  static std::string TextOfValue(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  // Checks a DeepSpeed file for fixed figures.
  void JudgeDeepspeed() {
    const json& config = ObjectOf(training_, "deepspeed");
    const auto judge = [&](const char* key, int64_t needed) {
      const auto found = config.find(key);
      if (found == config.end() || !found->is_number_integer() || *found == needed) return;
      conflicts_.push_back({fmt::format("the DeepSpeed file has {} {}", key, found->dump()),
                            std::to_string(needed), "write \"auto\" there"});
    };
    judge("train_micro_batch_size_per_gpu", strategy_.micro_batch);
    judge("gradient_accumulation_steps", strategy_.accumulation);
    judge("train_batch_size", strategy_.effective_batch_size);
  }

  const json& spec_;
  const api::Strategy& strategy_;
  const json& training_;
  std::string text_;
  std::string own_text_;  // of it, what is not srun's
  Placeholders words_;
  ScriptVariables variables_;
  std::optional<LaunchCommand> launch_;
  TrainingFlags flags_;
  std::vector<CommandConflict> conflicts_;
};

}  // namespace

std::vector<CommandConflict> ConflictsOf(const json& spec, const api::Strategy& strategy) {
  if (RawText(spec, "command").empty()) return {};
  return Judge(spec, strategy).Conflicts();
}

std::string SentenceOf(const CommandConflict& conflict) {
  const std::string need =
      conflict.needed.empty() ? "" : ", this strategy needs " + conflict.needed;
  return conflict.cause + need + "; " + conflict.remedy;
}

std::vector<api::CommandConflict> ConflictsOf(const json& spec, const api::Advice& advice) {
  std::vector<api::CommandConflict> all;
  for (const api::Strategy& strategy : advice.strategies) {
    for (const CommandConflict& conflict : ConflictsOf(spec, strategy)) {
      auto same = std::find_if(all.begin(), all.end(),
                               [&](const auto& each) { return each.cause == conflict.cause; });
      if (same == all.end()) {
        api::CommandConflict& added = all.emplace_back();
        added.cause = conflict.cause;
        added.remedy = conflict.remedy;
        added.certain = conflict.certain;
        same = all.end() - 1;
      }
      same->ranks.push_back(strategy.rank);
    }
  }
  return all;
}

bool CanFollow(int64_t rank, const std::vector<api::CommandConflict>& conflicts) {
  return std::none_of(conflicts.begin(), conflicts.end(), [&](const auto& conflict) {
    return conflict.certain &&
           std::find(conflict.ranks.begin(), conflict.ranks.end(), rank) != conflict.ranks.end();
  });
}

bool CanFollowSweep(const api::Advice& advice, const std::vector<api::CommandConflict>& conflicts) {
  return !advice.sweep || std::all_of(advice.sweep->shares.begin(), advice.sweep->shares.end(),
                                      [&](const api::SweepShare& share) {
                                        return CanFollow(share.rank, conflicts);
                                      });
}

int64_t FirstFollowed(const api::Advice& advice,
                      const std::vector<api::CommandConflict>& conflicts) {
  for (const api::Strategy& strategy : advice.strategies) {
    if (CanFollow(strategy.rank, conflicts)) return strategy.rank;
  }
  return 0;
}

}  // namespace gpuadvise::client
