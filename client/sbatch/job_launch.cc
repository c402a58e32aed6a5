#include "client/sbatch/job_launch.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "client/api/answer_reader.h"
#include "client/sbatch/array_items.h"
#include "client/sbatch/job_words.h"
#include "client/shell/shell_text.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kMostStartsPerLink = 2;  // of a chain: allows for half of the predicted speed

// `apptainer exec` reads singularity's image format; --nv adds the driver.
std::string InContainer(const std::string& image, const std::string& command) {
  return "apptainer exec --nv " + ShellExpanding(image) + " bash -c " + ShellQuoted(command);
}

// torchrun reads PET_*, so a command without --nnodes still forms one job of all nodes.
std::string NodesOfTorchrun(const api::Strategy& strategy) {
  return "export PET_NNODES=" + std::to_string(strategy.nodes) +
         " PET_MASTER_ADDR=$MASTER_ADDR PET_MASTER_PORT=$MASTER_PORT\n";
}

// A number that is drawn once for all nodes: each would draw one of its own.
std::string WithOneRandomNumber(const std::string& command) {
  constexpr std::string_view kRandom = "$RANDOM";
  std::string drawn = ReplaceAll(command, "${RANDOM}", "${GPUADVISE_RANDOM}");
  for (size_t at = drawn.find(kRandom); at != std::string::npos; at = drawn.find(kRandom, at + 1)) {
    const size_t end = at + kRandom.size();
    if (end < drawn.size() && IsNamePart(drawn[end])) continue;
    drawn.replace(at, kRandom.size(), "${GPUADVISE_RANDOM}");
  }
  return drawn;
}

std::string LaunchOnEachNode(const api::Strategy& strategy, const std::string& command) {
  const std::string per_node = "export PET_NODE_RANK=$SLURM_NODEID\n" + command;
  return "srun --nodes=" + std::to_string(strategy.nodes) +
         " --ntasks-per-node=1 --kill-on-bad-exit=1 bash -c " + ShellQuoted(per_node);
}

// Placeholders filled in when the command starts, not when the script is written, with their
// variables.
using LateWords = std::vector<std::pair<std::string, std::string>>;

Result<LateWords> FindLateWords(const json& spec) {
  LateWords late;
  if (RetriesOnOom(spec)) {
    late.emplace_back("micro_batch", "GPUADVISE_MICRO_BATCH");
    late.emplace_back("accumulation", "GPUADVISE_ACCUMULATION");
  }
  const bool has_place = RawText(spec, "command").find("{resume}") != std::string::npos;
  const std::string words = ResumeWords(spec);
  if (has_place && words.empty()) {
    return BadInput(
        "command has {resume}, so training.resume must give the words to insert on a restart, such "
        "as `resume: --resume_from_checkpoint latest`",
        "/command");
  }
  if (!has_place && !words.empty()) {
    return BadInput(
        "training.resume gives words for the command, but command has no {resume}; add {resume} to "
        "it, or write `resume: true` if the program finds its checkpoint itself",
        "/training/resume");
  }
  if (has_place) late.emplace_back("resume", "GPUADVISE_RESUME");
  return late;
}

// The command under `gpuadvise run` if the node has it.
// `replaces`: in place of the job's shell, so that signals for that shell reach the command.
std::string Watched(const std::string& command, const LateWords& late, bool replaces) {
  std::string text = "command=" + ShellQuoted(command) +
                     "\nrun=(gpuadvise run --)\n"
                     "if ! command -v gpuadvise > /dev/null; then  # not on this node: unwatched\n"
                     "  run=()\n";
  for (const auto& [word, variable] : late) {
    if (variable == "GPUADVISE_RESUME") {
      text += "  [ \"${SLURM_RESTART_COUNT:-0}\" -gt 0 ] || GPUADVISE_RESUME=\n";
    }
    text += "  command=${command//'{" + word + "}'/\"$" + variable + "\"}\n";
  }
  return text + "fi\n" + (replaces ? "exec " : "") +
         "\"${run[@]}\" bash -e -o pipefail -c \"$command\"";
}

// Five minutes before its time limit, ends the training and requeues the job, which resumes from
// its checkpoint.
std::string Resumed(const std::string& watched, int64_t most_starts) {
  return "again=no training=\n"
         "end_training() { kill -TERM -- \"-$training\" 2> /dev/null || :; }\n"
         "trap 'again=yes; [ -z \"$training\" ] || end_training' USR1\n"
         "set -m  # the training gets a process group of its own\n" +
         watched +
         " &\n"
         "training=$!\n"
         "[ $again = no ] || end_training  # the signal came before it was known whom to end\n"
         "status=0\n"
         "wait \"$training\" || status=$?\n"
         "while [ $again = yes ] && kill -0 \"$training\" 2> /dev/null; do\n"
         "  wait \"$training\" || status=$?  # the signal had ended the first wait\n"
         "done\n"
         "if [ $again = yes ]; then\n"
         "  if [ \"${SLURM_RESTART_COUNT:-0}\" -lt " +
         std::to_string(most_starts - 1) +
         " ]; then\n"
         "    scontrol requeue \"$SLURM_JOB_ID\"\n"
         "  else\n"
         "    echo \"gpuadvise: started " +
         std::to_string(most_starts) +
         " times and still not done; check that it makes progress\" >&2\n"
         "  fi\n"
         "fi\n"
         "exit \"$status\"";
}

// The value of the training, else of its first stage that has one; "" for false.
std::string ResumeSetting(const json& spec) {
  std::vector<std::string> said = {RawText(ObjectOf(spec, "training"), "resume")};
  for (const json& stage : ListOf(spec, "stages")) {
    said.push_back(RawText(ObjectOf(stage, "training"), "resume"));
  }
  for (const std::string& resume : said) {
    if (!resume.empty() && resume != "false") return resume;
  }
  return "";
}

}  // namespace

std::string Rendezvous(const api::Strategy& strategy) {
  if (strategy.nodes <= 1) return "";
  return "export MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
         "export MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))\n"
         "export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}\n";
}

bool RunsOnEachNode(const json& spec) { return RawText(spec, "run_on") != "first_node"; }

bool RetriesOnOom(const json& spec) {
  return RawText(ObjectOf(spec, "training"), "retry_on_oom") == "true";
}

bool Resumes(const json& spec) { return !ResumeSetting(spec).empty(); }

std::string ResumeWords(const json& spec) {
  const std::string resume = ResumeSetting(spec);
  return resume != "true" && resume != "auto" ? resume : "";
}

Result<std::string> CommandText(const json& spec, const Placeholders& words) {
  if (const Result<void> arrays = CheckArrays(spec); !arrays) {
    return tl::unexpected<Error>(arrays.error());
  }
  std::string command = WithoutLineEnd(
      FillPlaceholders(WithItems(RawText(spec, "command"), FindArrayItems(spec)), words));
  if (command.empty()) {
    return BadInput(
        "command: is missing; add one, such as `command: torchrun --nproc_per_node={gpus_per_node} "
        "train.py`");
  }
  const std::string image = RawText(spec, "container");
  return image.empty() ? command : InContainer(image, command);
}

Result<std::string> LaunchLines(const json& spec, const api::Strategy& strategy,
                                const Placeholders& words, bool takes_signals) {
  const Result<LateWords> late = FindLateWords(spec);
  if (!late) return tl::unexpected<Error>(late.error());
  Placeholders now = words;
  for (const auto& [word, variable] : *late) now[word] = "{" + word + "}";
  const Result<std::string> text = CommandText(spec, now);
  if (!text) return text;
  std::string command = *text;
  const bool on_each = strategy.nodes > 1 && RunsOnEachNode(spec);
  const bool quoted_again = on_each || !RawText(spec, "container").empty();
  if (quoted_again && ResumeWords(spec).find_first_of("'\"") != std::string::npos) {
    return BadInput(
        "training.resume contains a quote, which a command for several nodes or in a container "
        "cannot have; use a path without spaces",
        "/training/resume");
  }
  std::string rendezvous;
  if (on_each) {
    rendezvous = NodesOfTorchrun(strategy);
    const std::string drawn = WithOneRandomNumber(command);
    if (drawn != command) rendezvous += "export GPUADVISE_RANDOM=$RANDOM\n";
    command = LaunchOnEachNode(strategy, drawn);
  }
  if (!Resumes(spec)) return rendezvous + Watched(command, *late, takes_signals);
  return rendezvous +
         Resumed(Watched(command, *late, false), kMostStartsPerLink * strategy.links + 1);
}

}  // namespace gpuadvise::client
