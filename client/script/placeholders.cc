#include "client/script/placeholders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "client/sbatch/option_values.h"
#include "client/script/launch_program.h"
#include "client/script/script_text.h"
#include "client/script/script_variables.h"
#include "client/shell/shell_text.h"
#include "client/shell/shell_words.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

// Keeps the list that Slurm has set.
constexpr std::string_view kSlurms = "${CUDA_VISIBLE_DEVICES-}";

// "0,1,2,3" of four GPUs.
constexpr std::string_view kListOfGpus = "$(seq -s , 0 $(({gpus_per_node} - 1)))";

// What a variable of a script counts, by its name: NGPUS, num_gpus_per_node, WORLD_SIZE,
// SLURM_NTASKS; not GPU, which is a number of one.
struct Counted {
  std::string_view placeholder;  // "": neither GPUs nor nodes
  bool is_named = false;         // that figure and no other, if it is a number
};

Counted CountedBy(std::string_view name) {
  std::string plain = LowerCase(std::string(name));
  std::erase(plain, '_');
  if (plain == "worldsize") return {"{gpus}", true};
  const auto take = [&plain](std::string_view end) {
    if (!plain.ends_with(end)) return false;
    plain.erase(plain.size() - end.size());
    return true;
  };
  if (plain.starts_with("slurm")) plain.erase(0, 5);
  const bool per_node = take("pernode") || take("onnode");
  bool is_number = per_node || take("count");
  for (const std::string_view count : {"numberof", "num", "total", "n"}) {
    if (!plain.starts_with(count) || plain.starts_with("node")) continue;
    plain.erase(0, count.size());
    is_number = true;
    break;
  }
  const bool may_be_list = !is_number;  // GPUS, nodes
  if (!take("s") && !is_number) return {};
  if (IsOneOf(plain, {"node", "machine", "host"})) {
    return {per_node ? "" : "{nodes}", !may_be_list};
  }
  const bool tasks = plain == "task" && !LowerCase(std::string(name)).starts_with("num");
  if (!tasks && !IsOneOf(plain, {"gpu", "device", "proc", "processe", "rank"})) return {};
  return {"{gpus_per_node}", per_node || (plain == "gpu" && !may_be_list)};
}

bool IsLocal(std::string_view host) { return IsOneOf(host, {"localhost", "127.0.0.1", "0.0.0.0"}); }

class Writer {
 public:
  Writer(ScriptTraining& training, ScriptReport& report)
      : training_(training),
        launch_(training.launch),
        flags_(training.flags),
        kept_(training.kept),
        report_(report) {}

  void Write() {
    Put("per_device_train_batch_size", "{micro_batch}");
    Put("effective_batch_size", "{effective_batch_size}");
    PutAccumulation();
    Put("gpus_per_node", "{gpus_per_node}");
    Put("gpus", "{gpus}");
    Put("nodes", "{nodes}");
    if (kept_) {
      PutTasksOfLauncher();
    } else {
      PutRendezvous();
    }
    TakeOutGpuLists();
    AddProcesses();
    AddAccumulationOfLauncher();
    DoubtOneTask();
    if (kept_) return EndText();
    DropScriptArguments();
    if (!added_.empty()) launch_.words.push_back({added_.substr(1), std::nullopt});
  }

 private:
  void Put(std::string_view setting, const std::string& placeholder) {
    const FlagUse* use = flags_.Find(setting);
    if (use == nullptr || use->bare || IsSwept(*use)) return;
    if (setting == "effective_batch_size" && flags_.BatchIsInTokens()) return;
    const bool counts = IsOneOf(setting, {"gpus_per_node", "gpus"});
    if (counts && UsesName(use->raw, "CUDA_VISIBLE_DEVICES")) return;  // ids, as Slurm gives them
    if (use->in_config && counts && training_.layout.one_process) return;
    if (use->in_config) return PutOverride(*use, placeholder);
    PutUse(*use, placeholder);
    for (const auto& [also, second] : flags_.also) {
      if (also == setting && !second.bare) PutUse(second, placeholder);
    }
  }

  // A figure that each task of an array has for itself stays.
  bool IsSwept(const FlagUse& use) {
    constexpr std::string_view kTask = "SLURM_ARRAY_TASK_ID";
    const std::string variable = ScriptVariables::OnlyVariable(use.raw);
    const bool swept = use.raw.find(kTask) != std::string::npos ||
                       std::any_of(training_.setup.lines.begin(), training_.setup.lines.end(),
                                   [&](const SetupLine& line) {
                                     return !variable.empty() && line.assigns == variable &&
                                            line.text.find(kTask) != std::string::npos;
                                   });
    if (!swept && ConditionAssigns(variable)) {
      if (training_.options.Has("array")) {
        report_.unclear.push_back(fmt::format(
            "{} {} has another value in some tasks of the array: it stays, and the advice is for "
            "the batch that you write into the file",
            use.spelling, use.raw));
        return true;
      }
      report_.unclear.push_back(
          fmt::format("{} {}: a condition of the script gives it another value, which no longer "
                      "counts",
                      use.spelling, use.raw));
    }
    if (swept) {
      report_.unclear.push_back(
          fmt::format("{} {} differs from task to task of the array: it stays, and the advice is "
                      "for the batch that you write into the file",
                      use.spelling, use.raw));
    }
    return swept;
  }

  // Whether a kept block, as of an if or a case, assigns the variable.
  bool ConditionAssigns(const std::string& variable) const {
    if (variable.empty()) return false;
    return std::any_of(training_.setup.lines.begin(), training_.setup.lines.end(),
                       [&](const SetupLine& line) {
                         if (!line.assigns.empty() || line.text.starts_with("export "))
                           return false;
                         for (const char* before : {"\n", " ", ";", "\t"}) {
                           if (line.text.find(before + variable + "=") != std::string::npos)
                             return true;
                         }
                         return false;
                       });
  }

  // Overrides a figure of the config file on the command line if the program allows it.
  void PutOverride(const FlagUse& use, const std::string& placeholder) {
    const std::string& file = use.file.empty() ? training_.config.path : use.file;
    if (const auto added = OverrideOf(launch_, training_.config, use.spelling, placeholder)) {
      added_ += *added;
      report_.changed.push_back(
          fmt::format("{} {} in {} → {}", use.spelling, use.raw, file, placeholder));
      return;
    }
    report_.unclear.push_back(fmt::format(
        "{} {} is set in {}: let the command take {}, or the advice cannot be submitted",
        use.spelling, use.raw, file, placeholder));
  }

  void PutUse(const FlagUse& use, const std::string& placeholder) {
    const std::string variable = ScriptVariables::OnlyVariable(use.raw);
    Replace(launch_, use, placeholder);
    const bool follows = !variable.empty() && !IsUsedForOthers(variable, placeholder);
    if (kept_) {
      const bool of_position = use.spelling == use.raw;  // "dist_train.sh CONFIG 4"
      const int places = of_position ? static_cast<int>(kept_->Replace(use.raw, placeholder))
                                     : kept_->Put(use.spelling, use.raw, placeholder);
      const bool assigned = follows && kept_->Assign(variable, placeholder);
      if (places == 0 && !assigned) return SayUnplaced(use, placeholder);
    }
    report_.changed.push_back(fmt::format("{} {} → {}", use.spelling, use.raw, placeholder));
    if (!follows) return;
    for (SetupLine& line : training_.setup.lines) {
      if (line.assigns == variable) line.text = variable + "=" + placeholder;
    }
  }

  // A batch's variable that the rest of the command uses too, as for the evaluation's, keeps its
  // value there.
  bool IsUsedForOthers(const std::string& variable, const std::string& placeholder) const {
    if (placeholder != "{micro_batch}" && placeholder != "{accumulation}") return false;
    return std::any_of(launch_.words.begin(), launch_.words.end(), [&](const LaunchWord& word) {
      return word.raw.find("$" + variable) != std::string::npos ||
             word.raw.find("${" + variable) != std::string::npos;
    });
  }

  void SayUnplaced(const FlagUse& use, const std::string& placeholder) {
    report_.unclear.push_back(
        fmt::format("{} {}: where the script writes it cannot be told: write {} there, or the "
                    "advice cannot be submitted",
                    use.spelling, use.raw, placeholder));
  }

  // The tasks of srun and mpirun, and what srun asks for them.
  void PutTasksOfLauncher() {
    const std::string gpus = std::to_string(training_.layout.gpus());
    if (launch_.launcher == Launcher::kMpi) {
      for (const char* count : {"-np", "--np", "-n"}) PutTasksOf(count, gpus, "{gpus}");
    }
    if (!launch_.srun) return;
    const SbatchOptions& asked = launch_.srun->options;
    const auto put = [&](const char* option, const char* letter, const std::string& now) {
      const auto value = asked.Get(option);
      if (!value || now.empty()) return;
      PutTasksOf(std::string("--") + option, *value, now);
      if (letter == nullptr) return;
      PutTasksOf(letter, *value, now);
      if (kept_->Replace(letter + *value, std::string(letter) + " " + now)) {
        report_.changed.push_back(fmt::format("srun's {}{} → {}", letter, *value, now));
      }
    };
    const auto tasks = WholeNumber(asked.Get("ntasks"));
    const bool of_nodes = tasks && *tasks == training_.layout.nodes;
    put("ntasks", "-n", of_nodes ? "{nodes}" : "{gpus}");
    const auto per_node = WholeNumber(asked.Get("ntasks-per-node"));
    put("ntasks-per-node", nullptr, per_node && *per_node > 1 ? "{gpus_per_node}" : "");
    put("nodes", "-N", "{nodes}");
    put("gpus-per-node", nullptr, "{gpus_per_node}");
    put("gpus", "-G", "{gpus}");
    put("gres", nullptr, "gpu:{gpus_per_node}");
    put("cpus-per-task", "-c", "${SLURM_CPUS_PER_TASK:-1}");
    put("mem", nullptr, "0");
  }

  void PutTasksOf(const std::string& option, const std::string& value, const std::string& now) {
    if (kept_->PutOfTraining(option, value, now) == 0) return;
    report_.changed.push_back(fmt::format("{} {} → {}", option, value, now));
  }

  // Adds to the text what the command gets, and reads it once more: a figure of the advice that it
  // does not carry is said.
  void EndText() {
    if (!added_.empty() && !kept_->Append(launch_, added_)) {
      report_.unclear.push_back("add" + added_ + " to the training's command");
    }
    const auto statements = ReadStatements(kept_->text());
    if (!statements) {
      report_.missing.push_back("command: the changed text no longer reads (" +
                                statements.error().message + "); compare it with the script");
      return;
    }
    ScriptVariables variables(training_.options);
    const std::vector<LaunchCommand> found = FindLaunches(*statements, variables);
    bool is_there = false, accumulates = false;
    for (const LaunchCommand& launch : found) {
      if (ProgramOf(launch) != ProgramOf(launch_)) continue;
      is_there = true;
      const TrainingFlags now = ReadTrainingFlags(launch);
      accumulates = accumulates || now.Find("gradient_accumulation_steps") != nullptr;
      for (const std::string_view setting :
           {"per_device_train_batch_size", "effective_batch_size", "gradient_accumulation_steps",
            "gpus_per_node", "gpus", "nodes"}) {
        const FlagUse* use = now.Find(setting);
        if (use == nullptr || use->in_config || !use->value || !now.Number(setting)) continue;
        if (said_.insert(std::string(setting)).second) {
          report_.unclear.push_back(fmt::format("line {}: {} {} stays as it is", launch.line,
                                                use->spelling, *use->value));
        }
      }
    }
    const bool adds = added_.find("{accumulation}") != std::string::npos;
    if (adds && !accumulates)
      report_.unclear.push_back("add" + added_ + " to the training's command");
    if (!is_there && !found.empty()) {
      report_.unclear.push_back(ProgramOf(launch_) +
                                ": the training is not found in the changed text; compare command "
                                "with the script");
    }
  }

  void PutAccumulation() {
    const FlagUse* own = flags_.Find("gradient_accumulation_steps");
    if (flags_.accelerate_accumulation > 0 && (own == nullptr || own->in_config)) {
      return;  // the launcher has it
    }
    if (flags_.Find("gradient_accumulation_steps") != nullptr) {
      return Put("gradient_accumulation_steps", "{accumulation}");
    }
    const FlagUse* batch = flags_.Find("per_device_train_batch_size");
    if (batch == nullptr || batch->in_config || !TakesAccumulation(flags_)) return;
    added_ += batch->spelling.starts_with("--") ? " --gradient_accumulation_steps {accumulation}"
                                                : " gradient_accumulation_steps={accumulation}";
    report_.changed.push_back("added" + added_);
  }

  // Replaces a single node's rank and address by those of the job.
  void PutRendezvous() {
    const FlagUse* rank = flags_.Find("node_rank");
    if (rank != nullptr && rank->value == "0") PutUse(*rank, "{node_rank}");
    const FlagUse* address = flags_.Find("master_address");
    if (address != nullptr && IsThisHost(*address)) PutUse(*address, "{master_addr}");
    const FlagUse* meeting = flags_.Find("rendezvous");
    if (meeting != nullptr && IsThisHost(*meeting)) {
      PutUse(*meeting, "{master_addr}:{master_port}");
    }
  }

  // localhost, or $(hostname): each node would name itself.
  static bool IsThisHost(const FlagUse& use) {
    if (use.raw.find("$(hostname") != std::string::npos) return true;
    if (use.raw.find("`hostname") != std::string::npos) return true;
    return use.value && IsLocal(use.value->substr(0, use.value->find(':')));
  }

  // Removes GPU numbers: Slurm assigns the GPUs, and the script's list could hide some.
  void TakeOutGpuLists() {
    std::erase_if(launch_.env, [&](const auto& variable) {
      if (variable.first != "CUDA_VISIBLE_DEVICES") return false;
      report_.changed.push_back("CUDA_VISIBLE_DEVICES=" + variable.second + " → Slurm sets it");
      if (kept_) kept_->Put("CUDA_VISIBLE_DEVICES", variable.second, kSlurms);
      return true;
    });
    if (kept_) {
      PutCountsInText();
    } else {
      for (auto& [name, value] : launch_.env) PutCount(name, value);
      for (auto& [name, value] : training_.setup.env) PutCount(name, value);
      for (SetupLine& line : training_.setup.lines) PutCounts(line);
    }
    const FlagUse* list = flags_.Find("gpu_list");
    if (list == nullptr || list->in_config || list->bare) return;
    const bool of_program = list->word > launch_.program_at;
    if (of_program) {
      if (UsesName(list->raw, "CUDA_VISIBLE_DEVICES")) return;
      const bool closes = list->raw.find(",'") != std::string::npos || list->raw.ends_with(",\"") ||
                          list->raw.ends_with(',');
      const bool is_list = list->raw.find(',') != std::string::npos;
      return PutUse(*list,
                    is_list ? std::string(kListOfGpus) + (closes ? "," : "") : "{gpus_per_node}");
    }
    report_.changed.push_back(list->spelling + " " + list->raw + " → Slurm gives the GPUs");
    if (kept_ && kept_->PutOfTraining(list->spelling, list->raw, "") == 0) {
      report_.unclear.push_back(list->spelling + " " + list->raw + ": take it out of the command");
    }
    const bool joined = launch_.words[list->word].raw.find('=') != std::string::npos;
    for (size_t at = list->word - (joined ? 0 : 1); at <= list->word; ++at) {
      launch_.words[at].raw.clear();
    }
  }

  // A list of GPUs that the script sets, and its counts of GPUs.
  void PutCountsInText() {
    const std::string& list = launch_.visible_devices;
    if (!list.empty() && kept_->Put("CUDA_VISIBLE_DEVICES", list, kSlurms) +
                                 kept_->Put("CUDA_VISIBLE_DEVICES", "\"" + list + "\"", kSlurms) >
                             0) {
      report_.changed.push_back("CUDA_VISIBLE_DEVICES=" + list + " → Slurm sets it");
    }
    for (const std::string& name : kept_->AssignedNames()) {
      const std::string value = kept_->Assigned(name);
      const std::string placeholder = PlaceholderOfCount(name, value);
      if (placeholder.empty()) continue;
      kept_->Assign(name, placeholder);
      report_.changed.push_back(fmt::format("{}={} → {}", name, value, placeholder));
    }
    const std::string slots = std::to_string(training_.layout.gpus_per_node);
    if (kept_->PutAnywhere("slots", slots, "{gpus_per_node}") > 0) {
      report_.changed.push_back("slots=" + slots + " → {gpus_per_node}");
    }
    if (launch_.launcher == Launcher::kMpi && kept_->PutSlotsOfHosts(slots) > 0) {
      report_.changed.push_back("HOST:" + slots + " → HOST:{gpus_per_node}");
    }
    PutListsOfAmd();
  }

  // Slurm gives an AMD job its GPUs by ROCR_VISIBLE_DEVICES; what the others list are places there.
  void PutListsOfAmd() {
    constexpr int64_t kMostOfNode = 64;
    if (training_.layout.gpus_per_node > kMostOfNode) return;
    std::string list;
    for (int64_t i = 0; i < training_.layout.gpus_per_node; ++i) {
      list += (i == 0 ? "" : ",") + std::to_string(i);
    }
    for (const std::string name : {"HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}) {
      const std::string fallback = "${" + name + ":-" + list + "}";
      const int places = kept_->PutAnywhere(name, list, kListOfGpus) +
                         kept_->PutAnywhere(name, fallback, kListOfGpus);
      if (places > 0) report_.changed.push_back(name + "=" + list + " → as many as the row has");
    }
  }

  // The placeholder for a variable that holds a number of GPUs or nodes; "": another variable, or
  // another number than the script's, which is told.
  std::string PlaceholderOfCount(const std::string& name, const std::string& value) {
    const auto [usual, is_named] = CountedBy(name);
    if (usual.empty() || value.empty()) return "";
    const ScriptLayout& layout = training_.layout;
    const size_t fallback = value.find(":-");  // "${NGPUS:-4}"
    const std::optional<int64_t> number =
        fallback == std::string::npos || !value.ends_with('}')
            ? WholeNumber(value)
            : WholeNumber(value.substr(fallback + 2, value.size() - fallback - 3));
    const bool of_nodes = usual == "{nodes}";
    if (!number) {  // a sum, or what somebody else says; NODES=$(…) may be their names
      const bool counts = is_named || (of_nodes && value.starts_with("$(("));
      return counts && !value.starts_with('(') ? std::string(usual) : "";
    }
    if (of_nodes && *number == layout.nodes) return "{nodes}";
    if (!of_nodes && layout.gpus_per_node == 0) return std::string(usual);
    if (!of_nodes && usual == "{gpus}" && *number == layout.gpus()) return "{gpus}";
    if (!of_nodes && *number == layout.gpus_per_node) return "{gpus_per_node}";
    if (!of_nodes && *number == layout.gpus()) return "{gpus}";
    report_.unclear.push_back(
        fmt::format("{}={} stays: the script has {} on {}; where it counts these, write {{gpus}}, "
                    "{{gpus_per_node}} or {{nodes}}",
                    name, value, Plural(layout.gpus(), "GPU"), Plural(layout.nodes, "node")));
    return "";
  }

  // WORLD_SIZE=8 before the command, or exported: a program that reads it would wait for others.
  void PutCount(const std::string& name, std::string& value) {
    if (!WholeNumber(value)) return;
    const std::string placeholder = PlaceholderOfCount(name, value);
    if (placeholder.empty()) return;
    report_.changed.push_back(fmt::format("{}={} → {}", name, value, placeholder));
    value = placeholder;
  }

  // "export WORLD_SIZE=$((SLURM_NNODES * 4))", and the slots of a host file.
  void PutCounts(SetupLine& line) {
    const std::string name = line.text.starts_with("export ")
                                 ? line.text.substr(7, line.text.find('=') - 7)
                                 : line.text.substr(0, line.text.find('='));
    const std::string begin = line.text.substr(0, line.text.find('=') + 1);
    std::string value = line.text.substr(begin.size());
    std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
    // "GPUS_PER_NODE=0,1" is a list.
    const bool plain = line.text.find_first_of("\n{,") == std::string::npos;
    const std::string placeholder = plain ? PlaceholderOfCount(name, value) : "";
    if (!placeholder.empty()) {
      report_.changed.push_back(fmt::format("{} → {}{}", line.text, begin, placeholder));
      line.text = begin + placeholder;
    }
    ReplaceSaid(line.text, "slots=" + std::to_string(training_.layout.gpus_per_node),
                "slots={gpus_per_node}");
  }

  // Replaces whole words and says so.
  void ReplaceSaid(std::string& text, const std::string& old, const std::string& now) {
    for (size_t at = text.find(old); at != std::string::npos;
         at = text.find(old, at + now.size())) {
      const size_t end = at + old.size();
      if (end < text.size() && IsNamePart(text[end]) && old.back() != '}') continue;
      text.replace(at, old.size(), now);
      const std::string change = fmt::format("{} → {}", old, now);
      if (!IsOneOf(change, report_.changed)) report_.changed.push_back(change);
    }
  }

  // Adds the number of processes: by default torchrun starts one, and accelerate as many as its
  // config file says.
  void AddProcesses() {
    const bool counted = flags_.Find("gpus_per_node") != nullptr || flags_.Find("gpus") != nullptr;
    if (counted) return;
    if (launch_.launcher == Launcher::kSwift) {
      launch_.env.insert(launch_.env.begin(), {"NPROC_PER_NODE", "{gpus_per_node}"});
      launch_.env_values.insert(launch_.env_values.begin(), std::nullopt);
      const std::string& launcher = launch_.words[launch_.launcher_at].raw;
      const bool placed =
          !kept_ || kept_->Replace(launcher, "NPROC_PER_NODE={gpus_per_node} " + launcher);
      (placed ? report_.changed : report_.unclear)
          .push_back(std::string(placed ? "added" : "add") + " NPROC_PER_NODE={gpus_per_node}");
    }
    if (launch_.program_at <= launch_.launcher_at) return;
    std::string option;
    const bool distributed = ProgramOf(launch_).find("distributed") != std::string::npos;
    if (launch_.launcher == Launcher::kTorchrun) option = "--nproc_per_node={gpus_per_node}";
    if (launch_.launcher == Launcher::kAccelerate) option = "--num_processes={gpus}";
    if (launch_.launcher == Launcher::kTune && distributed) {
      option = "--nproc_per_node={gpus_per_node}";
    }
    if (!option.empty()) AddToLauncher(option);
  }

  // accelerate's file fixes the accumulation; its option wins over the file.
  void AddAccumulationOfLauncher() {
    if (launch_.launcher == Launcher::kAccelerate) TakeOutMultiGpu();
    if (flags_.accelerate_accumulation == 0) return;
    report_.unclear.push_back(
        flags_.accelerate_config +
        " sets gradient_accumulation_steps: before accelerate 1.5 that wins over the command; "
        "write auto there");
    AddToLauncher("--gradient_accumulation_steps={accumulation}");
  }

  // With one process accelerate refuses it, with several it is the default.
  void TakeOutMultiGpu() {
    for (LaunchWord& word : launch_.words) {
      if (word.raw != "--multi_gpu" && word.raw != "--multi-gpu") continue;
      report_.changed.push_back(word.raw + " → accelerate's default for several processes");
      if (kept_) kept_->Replace(word.raw, "");
      word.raw.clear();
    }
  }

  void AddToLauncher(const std::string& option) {
    const size_t at = launch_.program_at - (launch_.is_module ? 1 : 0);
    if (kept_) {
      const std::string& program = launch_.words[launch_.program_at].raw;
      const std::string place = launch_.is_module ? launch_.words[at].raw + " " + program : program;
      if (!kept_->Replace(place, option + " " + place)) {
        report_.unclear.push_back("add " + option + " before " + place);
        return;
      }
    }
    launch_.words.insert(launch_.words.begin() + static_cast<long>(at), {option, std::nullopt});
    ++launch_.program_at;
    report_.changed.push_back("added " + option);
  }

  // Lightning compares its devices with the tasks on a node, of which the job has one.
  void DoubtOneTask() {
    const FlagUse* use = flags_.Find("gpus_per_node");
    if (use == nullptr || launch_.srun || launch_.launcher != Launcher::kPython) return;
    if (training_.layout.one_process) return;
    if (use->spelling.find("devices") == std::string::npos) return;
    report_.unclear.push_back(fmt::format(
        "{}: the job has one task on a node; Lightning wants one for each device: write srun "
        "--ntasks={{gpus}} --ntasks-per-node={{gpus_per_node}} before the command",
        use->spelling));
  }

  // Replaces arguments of the script ("$1") by their defaults. One without a default stays, and is
  // asked for; "$@" is left out, as nobody need give any.
  void DropScriptArguments() {
    for (LaunchWord& word : launch_.words) {
      const std::string argument = ScriptArgumentIn(word.raw);
      if (argument.empty()) continue;
      if (word.value) {
        report_.changed.push_back(fmt::format("{} → {}", word.raw, *word.value));
        word.raw = ShellQuoted(*word.value);
        continue;
      }
      if (argument == "$@" || argument == "$*") {
        report_.unclear.push_back(
            fmt::format("{} in the command is what you write after the script's name, and nothing "
                        "here: add it to command:",
                        word.raw));
        word.raw.clear();
        continue;
      }
      report_.missing.push_back(
          fmt::format("{} in the command is what you write after the script's name, which a job "
                      "does not get: write its value into command:",
                      word.raw));
    }
  }

  ScriptTraining& training_;
  LaunchCommand& launch_;
  const TrainingFlags& flags_;
  std::optional<KeptScript>& kept_;
  ScriptReport& report_;
  std::string added_;           // appended to the command
  std::set<std::string> said_;  // settings that stay
};

}  // namespace

bool TakesAccumulation(const TrainingFlags& flags) {
  if (flags.accelerate_accumulation > 0) return true;
  if (flags.Find("gradient_accumulation_steps") != nullptr) return true;
  const FlagUse* batch = flags.Find("per_device_train_batch_size");
  return batch != nullptr &&
         batch->spelling.find("per_device_train_batch_size") != std::string::npos;
}

void PutPlaceholders(ScriptTraining& training, ScriptReport& report) {
  Writer(training, report).Write();
}

}  // namespace gpuadvise::client
