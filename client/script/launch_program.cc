#include "client/script/launch_program.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "client/script/script_text.h"
#include "client/script/script_variables.h"
#include "client/shell/shell_text.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

// Programs that run their remaining words as another program.
constexpr std::array<std::string_view, 21> kWrappers = {
    "exec",   "nohup",     "time",        "command", "env",     "uv",       "poetry",
    "pipenv", "conda",     "micromamba",  "mamba",   "numactl", "taskset",  "stdbuf",
    "nsys",   "apptainer", "singularity", "sudo",    "nice",    "unbuffer", "pixi"};

constexpr std::array<std::string_view, 14> kTrainers = {
    "fairseq-train", "fairseq-hydra-train", "xtuner",   "trl",       "litgpt", "composer",
    "lerobot-train", "colossalai",          "ns-train", "lightning", "mim",    "yolo",
    "nnUNet_train",  "nnUNetv2_train"};

bool IsPython(const std::string& name) {
  if (!name.starts_with("python")) return false;
  return std::all_of(name.begin() + 6, name.end(), [](char c) { return IsDigit(c) || c == '.'; });
}

// Options of torchrun, accelerate, deepspeed and mpirun without a value.
bool IsLauncherSwitch(const std::string& option) {
  return IsOneOf(option, {"--standalone",
                          "--no_python",
                          "--no-python",
                          "--multi_gpu",
                          "--multi-gpu",
                          "--use_deepspeed",
                          "--use_fsdp",
                          "--cpu",
                          "--tpu",
                          "--debug",
                          "--use_env",
                          "--no_ssh",
                          "--force_multi",
                          "--allow-run-as-root",
                          "--oversubscribe",
                          "--use-env",
                          "--same_network",
                          "--quiet",
                          "-q",
                          "--enable_each_rank_log",
                          "--mps",
                          "--rdzv_configs",
                          "--report-bindings",
                          "--save_pid",
                          "--no_local_rank"});
}

// Index of the first word from `at` on that is not an option of the launcher: the program.
size_t SkipOptions(const std::vector<LaunchWord>& words, size_t at, bool* is_module) {
  while (at < words.size()) {
    const std::string word = WordAt(words, at);
    if (word == "-m" || word == "--module") {
      *is_module = true;
      ++at;
      continue;
    }
    if (!word.starts_with('-')) return at;
    const bool has_value = word.find('=') != std::string::npos;
    at += has_value || IsLauncherSwitch(word) ? 1 : 2;
  }
  return at;
}

bool IsTorchDistributed(const std::string& module) {
  return IsOneOf(module, {"torch.distributed.run", "torch.distributed.launch",
                          "torch.distributed.elastic_launch"});
}

// Skips `python`'s own options: -u, -X dev, -W ignore.
size_t PastPythonOptions(const std::vector<LaunchWord>& words, size_t at, bool* is_module) {
  while (at < words.size()) {
    const std::string word = WordAt(words, at);
    if (word == "-m") {
      *is_module = true;
      return at + 1;
    }
    if (!word.starts_with('-') || word == "-" || word == "-c") return at;
    at += IsOneOf(word, {"-X", "-W"}) ? 2 : 1;
  }
  return at;
}

bool Mentions(const std::string& text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string::npos; });
}

}  // namespace

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string WordAt(const std::vector<LaunchWord>& words, size_t at) {
  if (at >= words.size()) return {};
  if (words[at].value) return *words[at].value;
  std::string_view raw = words[at].raw;
  constexpr std::string_view kWhich = "$(which ";  // $(which python) train.py
  if (!raw.starts_with(kWhich) || !raw.ends_with(')')) return words[at].raw;
  raw = raw.substr(kWhich.size(), raw.size() - kWhich.size() - 1);
  return std::string(Trim(raw));
}

bool IsShell(const std::string& name) { return IsOneOf(name, {"bash", "sh", "zsh"}); }

bool IsWrapper(const std::string& name) { return IsOneOf(name, kWrappers); }

bool IsTrainingScript(const std::string& name) {
  return IsOneOf(name, {"dist_train.sh", "slurm_train.sh", "distributed_train.sh"});
}

bool IsNamedTraining(const std::string& name) {
  return name.ends_with("-train") || name.ends_with("_train") || name.starts_with("train-") ||
         name.ends_with("-pretrain") || name.ends_with("_pretrain");
}

bool IsContainerWord(const std::string& word) {
  return IsOneOf(BaseName(word), {"singularity", "apptainer", "docker", "podman", "enroot"});
}

std::string ProgramOf(const LaunchCommand& command) {
  return WordAt(command.words, command.program_at);
}

std::optional<Launcher> LauncherAt(const std::vector<LaunchWord>& words, size_t at) {
  const std::string name = BaseName(WordAt(words, at));
  const std::string next = WordAt(words, at + 1);
  if (name == "torchrun" || name == "torch-run") return Launcher::kTorchrun;
  if (name == "accelerate") {
    return next == "launch" ? std::optional(Launcher::kAccelerate) : std::nullopt;
  }
  if (name == "accelerate-launch") return Launcher::kAccelerate;
  if (name == "deepspeed") return Launcher::kDeepspeed;
  if (IsOneOf(name, {"mpirun", "mpiexec", "horovodrun"})) return Launcher::kMpi;
  if (name == "tune") return next == "run" ? std::optional(Launcher::kTune) : std::nullopt;
  if (name == "llamafactory-cli") {
    return next == "train" ? std::optional(Launcher::kLlamaFactory) : std::nullopt;
  }
  if (name == "axolotl") return next == "train" ? std::optional(Launcher::kAxolotl) : std::nullopt;
  if (name == "swift" || name == "megatron") {
    return IsOneOf(next, {"sft", "pt", "rlhf"}) ? std::optional(Launcher::kSwift) : std::nullopt;
  }
  if (IsTrainingScript(name)) return Launcher::kTrainScript;
  if (IsOneOf(name, kTrainers)) return Launcher::kOther;
  if (IsPython(name)) return Launcher::kPython;
  if (name.ends_with(".py")) return Launcher::kPython;  // ./train.py
  // "$PY" train.py, where only the job knows the interpreter
  const bool interpreter = at < words.size() && !words[at].value &&
                           !ScriptVariables::OnlyVariable(words[at].raw).empty();
  if (interpreter && (next.ends_with(".py") || next == "-m")) return Launcher::kPython;
  return {};
}

void FindProgram(LaunchCommand& command) {
  const std::vector<LaunchWord>& words = command.words;
  const size_t at = command.launcher_at;
  switch (command.launcher) {
    case Launcher::kPython: {
      if (BaseName(WordAt(words, at)).ends_with(".py")) {
        command.program_at = at;
        return;
      }
      command.program_at = PastPythonOptions(words, at + 1, &command.is_module);
      const std::string program = WordAt(words, command.program_at);
      if (!command.is_module) return;
      if (IsTorchDistributed(program)) command.launcher = Launcher::kTorchrun;
      if (program == "accelerate.commands.launch") command.launcher = Launcher::kAccelerate;
      if (program == "deepspeed.launcher.runner") command.launcher = Launcher::kDeepspeed;
      if (command.launcher == Launcher::kPython) return;
      command.is_module = false;
      command.program_at = SkipOptions(words, command.program_at + 1, &command.is_module);
      return;
    }
    case Launcher::kMpi:
      command.program_at = at + 1;
      while (command.program_at < words.size() &&
             !LauncherAt(words, command.program_at).has_value()) {
        ++command.program_at;
      }
      if (command.program_at < words.size() &&
          IsPython(BaseName(WordAt(words, command.program_at)))) {
        command.program_at = PastPythonOptions(words, command.program_at + 1, &command.is_module);
      }
      return;
    case Launcher::kTune:
    case Launcher::kAccelerate: {
      const size_t skip = BaseName(WordAt(words, at)) == "accelerate-launch" ? 1 : 2;
      command.program_at = SkipOptions(words, at + skip, &command.is_module);
      return;
    }
    case Launcher::kTorchrun:
    case Launcher::kDeepspeed:
      command.program_at = SkipOptions(words, at + 1, &command.is_module);
      return;
    default:
      command.program_at = at;
      return;
  }
}

int CountTrainingFlags(const std::vector<LaunchWord>& words) {
  int count = 0;
  for (const LaunchWord& word : words) {
    const std::string name = LowerCase(word.value.value_or(word.raw));
    if (name.starts_with("--eval") || name.starts_with("--per_device_eval")) continue;
    const bool flag = name.starts_with('-') || name.find('=') != std::string::npos;
    count += flag && Mentions(name, {"batch", "epoch", "max_steps", "max-steps", "train_steps",
                                     "learning_rate", "learning-rate", "--lr", ".lr=", "warmup",
                                     "accum", "max_iters", "train-iters", "optim", "--devices",
                                     "--num_nodes", "--gpus"})
                 ? 1
                 : 0;
  }
  return std::min(count, 4);
}

int RateLikeness(const LaunchCommand& command) {
  const std::string program = LowerCase(BaseName(ProgramOf(command)));
  if (program == "-c" || program == "-" || program.empty()) return -10;
  if (command.is_module && IsOneOf(program, {"pip", "venv", "ensurepip", "http.server", "json.tool",
                                             "nltk.downloader", "wandb", "zipfile"})) {
    return -10;
  }
  int likeness = CountTrainingFlags(command.words) + (command.srun ? 1 : 0);
  const bool plain = command.launcher == Launcher::kPython || command.launcher == Launcher::kMpi;
  if (!plain) likeness += 3;
  const std::string folder = LowerCase(ProgramOf(command));
  if (folder.find("train") < folder.rfind('/')) ++likeness;  // "pretrain/tinyllama.py"
  if (Mentions(program, {"train", "finetune", "fine_tune", "fine-tune", "sft", "dpo", "grpo",
                         "dreambooth", "run_", "main", "lora", "learn"})) {
    likeness += 3;
  }
  if (Mentions(program,
               {"eval",    "test",  "infer",  "predict", "download", "preprocess", "prepare",
                "convert", "merge", "export", "generat", "tokeniz",  "install",    "plot",
                "serve",   "demo",  "setup",  "extract", "vllm",     "server"})) {
    likeness -= 5;
  }
  return likeness;
}

bool StartsOneProcess(const LaunchCommand& launch) {
  if (launch.launcher == Launcher::kPython) return true;
  if (launch.launcher != Launcher::kOther) return false;
  const std::string name = BaseName(ProgramOf(launch));
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return IsNamePart(c) || c == '.' || c == '-' || c == '+';
  });
  const bool runs_others =
      IsShell(name) || IsContainerWord(name) || IsWrapper(name) ||
      IsOneOf(name, {"srun", "mpirun", "eval", "make", "just", "invoke", "tail"});
  const bool starts_others = IsOneOf(name, kTrainers) && !name.starts_with("nnUNet");
  return plain && !name.empty() && !runs_others && !starts_others;
}

}  // namespace gpuadvise::client
