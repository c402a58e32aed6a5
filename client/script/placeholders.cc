#include "client/script/placeholders.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "client/script/script_variables.h"
#include "client/shell/shell_text.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

bool IsLocal(std::string_view host) { return IsOneOf(host, {"localhost", "127.0.0.1", "0.0.0.0"}); }

class Writer {
 public:
  Writer(ScriptTraining& training, ScriptReport& report)
      : training_(training), launch_(training.launch), flags_(training.flags), report_(report) {}

  void Write() {
    Put(Meaning::kMicroBatch, "{micro_batch}");
    Put(Meaning::kGlobalBatch, "{effective_batch_size}");
    PutAccumulation();
    Put(Meaning::kGpusPerNode, "{gpus_per_node}");
    Put(Meaning::kGpus, "{gpus}");
    Put(Meaning::kNodes, "{nodes}");
    PutRendezvous();
    TakeOutGpuLists();
    AddProcesses();
    if (training_.layout.task_per_gpu) RunTaskPerGpu();
    DropScriptArguments();
    if (!added_.empty()) launch_.words.push_back({added_.substr(1), std::nullopt});
  }

 private:
  void Put(Meaning meaning, const std::string& placeholder) {
    const FlagUse* use = flags_.Find(meaning);
    if (use == nullptr || use->bare) return;
    if (use->in_config) return PutOverride(*use, placeholder);
    PutUse(*use, placeholder);
    for (const auto& [also, second] : flags_.also) {
      if (also == meaning && !second.bare) PutUse(second, placeholder);
    }
  }

  // A figure of the config file, where the program takes it on its command line, too.
  void PutOverride(const FlagUse& use, const std::string& placeholder) {
    const std::string& file = training_.config.path;
    if (const auto added = OverrideOf(launch_, use.spelling, placeholder)) {
      added_ += *added;
      report_.changed.push_back(
          fmt::format("{} {} in {} → {}", use.spelling, use.raw, file, placeholder));
      return;
    }
    report_.unclear.push_back(fmt::format(
        "{} {} stands in {}: let the command take {}, or the advice cannot be submitted",
        use.spelling, use.raw, file, placeholder));
  }

  void PutUse(const FlagUse& use, const std::string& placeholder) {
    report_.changed.push_back(fmt::format("{} {} → {}", use.spelling, use.raw, placeholder));
    const std::string variable = ScriptVariables::OnlyVariable(use.raw);
    for (SetupLine& line : training_.setup.lines) {
      if (!variable.empty() && line.assigns == variable) line.text = variable + "=" + placeholder;
    }
    Replace(launch_, use, placeholder);
  }

  void PutAccumulation() {
    if (flags_.Find(Meaning::kAccumulation) != nullptr) {
      return Put(Meaning::kAccumulation, "{accumulation}");
    }
    const FlagUse* batch = flags_.Find(Meaning::kMicroBatch);
    if (batch == nullptr || batch->in_config || !TakesAccumulation(flags_)) return;
    added_ += batch->spelling.starts_with("--") ? " --gradient_accumulation_steps {accumulation}"
                                                : " gradient_accumulation_steps={accumulation}";
    report_.changed.push_back("added" + added_);
  }

  // What a script for one node writes for its only node.
  void PutRendezvous() {
    const FlagUse* rank = flags_.Find(Meaning::kNodeRank);
    if (rank != nullptr && rank->value == "0") PutUse(*rank, "{node_rank}");
    const FlagUse* address = flags_.Find(Meaning::kMasterAddress);
    if (address != nullptr && address->value && IsLocal(*address->value)) {
      PutUse(*address, "{master_addr}");
    }
    const FlagUse* meeting = flags_.Find(Meaning::kRendezvous);
    if (meeting == nullptr || !meeting->value) return;
    const std::string host = meeting->value->substr(0, meeting->value->find(':'));
    if (IsLocal(host)) PutUse(*meeting, "{master_addr}:{master_port}");
  }

  // Slurm gives the job its GPUs; numbers of the script's own would hide some of them.
  void TakeOutGpuLists() {
    std::erase_if(launch_.env, [&](const auto& variable) {
      if (variable.first != "CUDA_VISIBLE_DEVICES") return false;
      report_.changed.push_back("CUDA_VISIBLE_DEVICES=" + variable.second + " → Slurm sets it");
      return true;
    });
    const FlagUse* list = flags_.Find(Meaning::kGpuList);
    if (list == nullptr || list->in_config || list->bare) return;
    const bool of_program = list->word > launch_.program_at;
    if (of_program) return PutUse(*list, "{gpus_per_node}");
    report_.changed.push_back(list->spelling + " " + list->raw + " → Slurm gives the GPUs");
    const bool joined = launch_.words[list->word].raw.find('=') != std::string::npos;
    for (size_t at = list->word - (joined ? 0 : 1); at <= list->word; ++at) {
      launch_.words[at].raw.clear();
    }
  }

  // torchrun starts one process, and accelerate as many as its config file says, where nothing
  // else does.
  void AddProcesses() {
    const bool counted =
        flags_.Find(Meaning::kGpusPerNode) != nullptr || flags_.Find(Meaning::kGpus) != nullptr;
    if (counted || launch_.program_at <= launch_.launcher_at) return;
    std::string option;
    const bool distributed = ProgramOf(launch_).find("distributed") != std::string::npos;
    if (launch_.launcher == Launcher::kTorchrun) option = "--nproc_per_node={gpus_per_node}";
    if (launch_.launcher == Launcher::kAccelerate) option = "--num_processes={gpus}";
    if (launch_.launcher == Launcher::kTune && distributed) {
      option = "--nproc_per_node={gpus_per_node}";
    }
    if (option.empty()) return;
    const size_t at = launch_.program_at - (launch_.is_module ? 1 : 0);
    launch_.words.insert(launch_.words.begin() + static_cast<long>(at), {option, std::nullopt});
    ++launch_.program_at;
    report_.changed.push_back("added " + option);
  }

  // srun with a task for each GPU, as Lightning wants it.
  void RunTaskPerGpu() {
    std::string srun = "srun --ntasks={gpus} --ntasks-per-node={gpus_per_node}";
    if (const auto cpus = WholeNumber(training_.options.Get("cpus-per-task"))) {
      srun += fmt::format(" --cpus-per-task={}", *cpus);
    }
    launch_.words.insert(launch_.words.begin(), {std::move(srun), std::nullopt});
    report_.changed.push_back("srun → a task for each GPU, on one node");
  }

  // "$@" and "$1" are what somebody wrote behind the script's name.
  void DropScriptArguments() {
    for (LaunchWord& word : launch_.words) {
      const std::string argument = ScriptArgumentIn(word.raw);
      if (argument.empty()) continue;
      if (word.value) {
        report_.changed.push_back(fmt::format("{} → {}", word.raw, *word.value));
        word.raw = ShellQuoted(*word.value);
        continue;
      }
      report_.left.push_back(
          fmt::format("{} in the command: it is what you write behind the script's name; add that "
                      "to command:",
                      word.raw));
      word.raw.clear();
    }
  }

  ScriptTraining& training_;
  LaunchCommand& launch_;
  const TrainingFlags& flags_;
  ScriptReport& report_;
  std::string added_;  // to the command's end
};

}  // namespace

bool TakesAccumulation(const TrainingFlags& flags) {
  if (flags.Find(Meaning::kAccumulation) != nullptr) return true;
  const FlagUse* batch = flags.Find(Meaning::kMicroBatch);
  return batch != nullptr &&
         batch->spelling.find("per_device_train_batch_size") != std::string::npos;
}

void PutPlaceholders(ScriptTraining& training, ScriptReport& report) {
  Writer(training, report).Write();
}

}  // namespace gpuadvise::client
