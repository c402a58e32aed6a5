#include "client/script/command_conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/api/answer_reader.h"
#include "client/sbatch/job_words.h"
#include "client/script/launch_command.h"
#include "client/script/script_variables.h"
#include "client/script/training_flags.h"
#include "client/shell/shell_script.h"
#include "client/shell/shell_words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// A figure of the strategy: the placeholder and the variable that carry it into a command.
struct Figure {
  const char* placeholder;
  const char* variable;
};

constexpr Figure kMicroBatch = {"{micro_batch}", "GPUADVISE_MICRO_BATCH"};
constexpr Figure kAccumulation = {"{accumulation}", "GPUADVISE_ACCUMULATION"};
constexpr Figure kGpusPerNode = {"{gpus_per_node}", "GPUADVISE_GPUS_PER_NODE"};
constexpr Figure kNodes = {"{nodes}", "GPUADVISE_NODES"};
constexpr Figure kEffective = {"{effective_batch_size}", "GPUADVISE_EFFECTIVE_BATCH_SIZE"};

// Command, setup and env of the training file: where figures may come in.
std::string WholeText(const json& spec) {
  std::string text = RawText(spec, "command");
  for (const std::string& line : RawTexts(spec, "setup")) text += "\n" + line;
  const json& env = ObjectOf(spec, "env");
  for (const auto& [name, value] : env.items()) text += "\n" + RawText(env, name.c_str());
  return text;
}

class Judge {
 public:
  Judge(const json& spec, const json& strategy)
      : spec_(spec),
        strategy_(strategy),
        training_(ObjectOf(spec, "training")),
        text_(WholeText(spec)),
        variables_(SbatchOptions()) {
    const Placeholders words = StrategyWords(spec, strategy);
    const json& env = ObjectOf(spec, "env");
    for (const auto& [name, value] : env.items()) {
      variables_.AssignText(name, FillPlaceholders(RawText(env, name.c_str()), words));
    }
    for (const std::string& line : RawTexts(spec, "setup")) Assign(FillPlaceholders(line, words));
    launch_ = LaunchOf(FillPlaceholders(RawText(spec, "command"), words), variables_);
    if (launch_) flags_ = ReadTrainingFlags(*launch_);
  }

  std::vector<CommandConflict> Conflicts() {
    JudgeGpus();
    if (!spec_.contains("stages")) {
      JudgeBatch();
      JudgeSteps();
      JudgePrecision();
      JudgeDeepspeed();
    }
    return std::move(conflicts_);
  }

 private:
  // A line of setup that gives variables their values.
  void Assign(const std::string& line) {
    const auto statements = ReadStatements(line);
    if (!statements) return;
    for (const ScriptStatement& statement : *statements) {
      for (const ScriptCommand& command : statement.commands) {
        for (const std::string& word : command.words) {
          if (IsAssignment(word)) variables_.Assign(word, command.block == ScriptBlock::kNone);
        }
      }
    }
  }

  bool Carries(const Figure& figure) const {
    return text_.find(figure.placeholder) != std::string::npos ||
           text_.find(figure.variable) != std::string::npos;
  }

  bool IsGiven(const char* key) const { return training_.contains(key); }

  int64_t Needed(const char* key) const { return IntOf(strategy_, key, 1); }

  // Whether the flag's figure is another one than `needed`; said where it is.
  bool Contradicts(Meaning meaning, int64_t needed, const Figure& figure) {
    const auto number = flags_.Number(meaning);
    if (!number || *number == needed) return false;
    conflicts_.push_back(
        {fmt::format("the command has {} {}", flags_.Find(meaning)->spelling, *number),
         std::to_string(needed), fmt::format("write {} there", figure.placeholder)});
    return true;
  }

  void Missing(const std::string& what, int64_t needed, const Figure& figure, bool certain = true) {
    conflicts_.push_back({fmt::format("the command does not use {}", what), std::to_string(needed),
                          fmt::format("add {} to it", figure.placeholder),
                          certain && launch_.has_value()});
  }

  void JudgeBatch() {
    const int64_t effective = Needed("effective_batch_size");
    Contradicts(Meaning::kGlobalBatch, effective, kEffective);
    const bool whole = flags_.Find(Meaning::kGlobalBatch) != nullptr || Carries(kEffective);
    const int64_t micro = Needed("micro_batch");
    if (flags_.Find(Meaning::kMicroBatch) != nullptr) {
      Contradicts(Meaning::kMicroBatch, micro, kMicroBatch);
    } else if (!whole && !IsGiven("per_device_train_batch_size") && !Carries(kMicroBatch)) {
      Missing("the batch of one GPU", micro, kMicroBatch);
    }
    const int64_t accumulation = Needed("accumulation");
    if (flags_.Find(Meaning::kAccumulation) != nullptr) {
      Contradicts(Meaning::kAccumulation, accumulation, kAccumulation);
    } else if (!whole && accumulation > 1 && !IsGiven("gradient_accumulation_steps") &&
               !Carries(kAccumulation)) {
      Missing("gradient accumulation", accumulation, kAccumulation);
    }
  }

  void JudgeGpus() {
    const int64_t per_node = Needed("gpus_per_node");
    const int64_t nodes = Needed("nodes");
    const int64_t gpus = per_node * nodes;
    const bool counted = flags_.Find(Meaning::kGpusPerNode) != nullptr ||
                         flags_.Find(Meaning::kGpus) != nullptr ||
                         flags_.Find(Meaning::kGpuList) != nullptr;
    Contradicts(Meaning::kGpusPerNode, per_node, kGpusPerNode);
    Contradicts(Meaning::kGpus, gpus, {"{gpus}", "GPUADVISE_GPUS"});
    Contradicts(Meaning::kNodes, nodes, kNodes);
    if (counted || gpus == 1 || !launch_ || text_.find("{gpus") != std::string::npos ||
        Carries(kGpusPerNode)) {
      return;
    }
    if (launch_->launcher == Launcher::kTorchrun) {
      conflicts_.push_back({"torchrun starts one process unless told otherwise",
                            std::to_string(per_node),
                            "write --nproc_per_node={gpus_per_node} behind torchrun"});
    } else if (launch_->launcher == Launcher::kPython && !launch_->srun) {
      Missing("the number of GPUs (python starts one process)", gpus, kGpusPerNode, false);
    }
  }

  // The job runs all the same, but not for as long as was foretold.
  void JudgeSteps() {
    const auto steps = flags_.Number(Meaning::kMaxSteps);
    const int64_t counted = IntOf(training_, "max_steps");
    if (!steps || counted == 0 || *steps == counted) return;
    conflicts_.push_back({fmt::format("the command has {} {}, the training file {} steps",
                                      flags_.Find(Meaning::kMaxSteps)->spelling, *steps, counted),
                          "", "use {steps} in the command so that they agree", false});
  }

  void JudgePrecision() {
    const std::string precision = TextOf(strategy_, "precision");
    const std::string word = flags_.Text(Meaning::kPrecision);
    const bool bf16 =
        flags_.Switch(Meaning::kBf16).value_or(false) || word.find("bf16") != std::string::npos;
    if (!bf16 || precision == "bf16" || precision.empty()) return;
    conflicts_.push_back({"the command trains in bf16", precision,
                          "write {precision} there, or bf16: true in the training file"});
  }

  // A DeepSpeed file with figures of its own.
  void JudgeDeepspeed() {
    const json& config = ObjectOf(training_, "deepspeed");
    const auto judge = [&](const char* key, int64_t needed) {
      const auto found = config.find(key);
      if (found == config.end() || !found->is_number_integer() || *found == needed) return;
      conflicts_.push_back({fmt::format("the DeepSpeed file has {} {}", key, found->dump()),
                            std::to_string(needed), "write \"auto\" there"});
    };
    judge("train_micro_batch_size_per_gpu", Needed("micro_batch"));
    judge("gradient_accumulation_steps", Needed("accumulation"));
    judge("train_batch_size", Needed("effective_batch_size"));
  }

  const json& spec_;
  const json& strategy_;
  const json& training_;
  std::string text_;
  ScriptVariables variables_;
  std::optional<LaunchCommand> launch_;
  TrainingFlags flags_;
  std::vector<CommandConflict> conflicts_;
};

}  // namespace

std::vector<CommandConflict> ConflictsOf(const json& spec, const json& strategy) {
  if (RawText(spec, "command").empty()) return {};
  return Judge(spec, strategy).Conflicts();
}

std::string SentenceOf(const CommandConflict& conflict) {
  const std::string need =
      conflict.needed.empty() ? "" : ", this strategy needs " + conflict.needed;
  return conflict.cause + need + "; " + conflict.remedy;
}

void AddConflicts(const json& spec, json& answer) {
  json all = json::array();
  for (const json& strategy : ListOf(answer, "strategies")) {
    for (const CommandConflict& conflict : ConflictsOf(spec, strategy)) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const json& each) {
        return each["cause"] == conflict.cause;
      });
      if (same != all.end()) {
        (*same)["ranks"].push_back(IntOf(strategy, "rank"));
        continue;
      }
      all.push_back({{"cause", conflict.cause},
                     {"remedy", conflict.remedy},
                     {"certain", conflict.certain},
                     {"ranks", json::array({IntOf(strategy, "rank")})}});
    }
  }
  if (!all.empty()) answer["command_conflicts"] = std::move(all);
}

}  // namespace gpuadvise::client
