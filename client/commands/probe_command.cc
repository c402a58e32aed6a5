// `gpuadvise probe`: measure one GPU, put the figures into the training file, show what they
// change.
//
// Two steps. A process on the GPU (here with --local, else in a job) tries the command and leaves
// an outcome, as `gpuadvise run` does; then that outcome becomes lines of the file. So nothing but
// the first needs a GPU, and what is learned does not depend on where it ran.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/probe_job.h"
#include "client/commands/probe_trials.h"
#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/questions/advice_question.h"
#include "client/questions/training_question.h"
#include "client/run/batch_for_gpu.h"
#include "client/run/measured_facts.h"
#include "client/run/outcome_file.h"
#include "client/terminal/printable.h"
#include "client/views/advice_view.h"
#include "common/base/text.h"
#include "common/process/files.h"
#include "common/process/scratch_folder.h"
#include "common/yaml/yaml_edit.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kProbeFooter =
    "\n"
    "Runs the command of FILE for about 20 steps at two micro-batches, on one GPU: in a short job "
    "(srun),\n"
    "or on this machine with --local. Then writes a memory: line and a measured: line into FILE "
    "and shows\n"
    "the ranking before and after. The old file is kept as FILE.bak. {max_steps} in the command "
    "is\n"
    "replaced with the number of steps; without it the command is stopped (SIGTERM) after them.\n";

struct ProbeCommand {
  std::string file, section;
  std::vector<std::string> gpus;       // only one of these; empty: any that the file allows
  std::vector<int64_t> micro_batches;  // empty: chosen
  int64_t steps = 20;
  double minutes = 10;  // for all runs
  std::string pattern;
  std::string outcome;   // only measure here, and leave the outcome in this folder
  SbatchOptions fixed;   // of its job
  bool local = false;    // on a GPU of this machine
  bool dry_run = false;  // the file stays as it is
};

constexpr const char* kNoSteps =
    "no step was found in the log, so nothing was timed. Supported: Hugging Face Trainer, tqdm and "
    "Lightning progress bars, `step 50/1000` and `iter 50`; for others give --pattern 'it "
    "(?P<step>\\d+)'";

// Errors: what a probe cannot do with this file.
Result<void> CheckFile(const TrainingQuestion& question, const BatchWishes& wishes) {
  if (question.spec.stages.size() != 1) {
    return question.file.Refuse("has several stages; probe a file with one stage", "/stages");
  }
  if (!wishes.one_only || !wishes.said.empty()) return {};
  return question.file.Refuse(
      "the command has no {micro_batch}, so its batch is not known; add {micro_batch} to it, or "
      "set training.per_device_train_batch_size",
      "/command");
}

std::vector<std::string> WordsOfJob(const ProbeCommand& command, const std::string& own_path,
                                    const std::string& file, const std::string& folder) {
  std::vector<std::string> words = {own_path,    "probe",
                                    "--outcome", folder,
                                    "--steps",   std::to_string(command.steps),
                                    "--minutes", fmt::format("{:g}", command.minutes)};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  add("--section", command.section);
  add("--pattern", command.pattern);
  for (const int64_t batch : command.micro_batches) add("--micro-batch", std::to_string(batch));
  words.push_back(file);
  return words;
}

// What was measured, and on what.
struct Measured {
  Outcome outcome;
  const GpuModel* gpu = nullptr;  // nullptr: not known
  bool simulated = false;
};

const GpuModel* CardOfOutcome(const Outcome& outcome, const TrainingQuestion& question) {
  if (outcome.gpu_names.empty() || outcome.attempts.empty()) return nullptr;
  const std::vector<GpuUse>& gpus = outcome.attempts.front().gpus;
  return CardNamed(outcome.gpu_names.front(), gpus.empty() ? 0 : gpus.front().memory_total_bytes,
                   *question.catalogue);
}

Result<Measured> MeasureInJob(const ProbeCommand& command, const TrainingQuestion& question,
                              const std::string& own_path, Api& api, Console& console) {
  const std::string file = std::filesystem::absolute(command.file).string();
  const ScratchFolder folder(std::filesystem::path(file).parent_path() / ".gpuadvise-probe-XXXXXX");
  if (!folder.made()) {
    return Fail(ErrorCode::kInternal,
                folder.path() + " cannot be created; the folder of the file must be writable");
  }
  const auto job = ChooseProbeJob(question, command.fixed, command.minutes, api, console.now());
  if (!job) return tl::unexpected<Error>(job.error());
  console.Complain("gpuadvise: probing on " + job->said);
  const auto done =
      RunProbeJob(*job, WordsOfJob(command, own_path, file, folder.path()), api, console);
  if (!done) return tl::unexpected<Error>(done.error());
  Result<Outcome> outcome = ReadOutcomeFile(folder.path() + "/" + kOutcomeFile, ::geteuid());
  if (!outcome) {
    return Fail(ErrorCode::kInternal, "the probe job left no result: " + outcome.error().message);
  }
  const GpuModel* card = CardOfOutcome(*outcome, question);
  return Measured{*std::move(outcome), card != nullptr ? card : job->gpu, job->simulated};
}

Result<Measured> MeasureHere(const ProbeCommand& command, const TrainingQuestion& question,
                             const BatchWishes& wishes, Console& console) {
  const Result<TrainingLog> log = command.pattern.empty()
                                      ? Result<TrainingLog>(TrainingLog())
                                      : TrainingLog::WithPattern(command.pattern);
  if (!log) return tl::unexpected<Error>(log.error());
  ProbePlan plan{wishes, {}, command.minutes * 60};
  plan.trial.steps = command.steps;
  Result<Outcome> outcome = TryHere(question, plan, *log, console);
  if (!outcome) return tl::unexpected<Error>(outcome.error());
  const GpuModel* card = CardOfOutcome(*outcome, question);
  if (card == nullptr && command.gpus.size() == 1) card = question.gpus.front();
  return Measured{*std::move(outcome), card, false};
}

YamlPath PathIn(const TrainFile& file, const char* part, const char* key) {
  YamlPath path = {part, key};
  if (!file.section().empty()) path.insert(path.begin(), file.section());
  return path;
}

// The line of `measured:` that the same GPU and batch have already.
std::optional<size_t> SameLine(const TrainingQuestion& question, const MeasuredStep& step) {
  const std::vector<MeasuredStep>& lines = question.spec.stages.front().training.measured;
  for (size_t i = 0; i < lines.size(); ++i) {
    const GpuModel* gpu = question.catalogue->Resolve(lines[i].gpu);
    const bool same = gpu != nullptr && gpu->id == step.gpu && lines[i].gpus == step.gpus &&
                      lines[i].micro_batch == step.micro_batch;
    if (same) return i;
  }
  return {};
}

// The lines that differ, with - and + before them.
std::string Difference(const std::string& before, const std::string& after) {
  const auto old_lines = SplitAt(before, '\n');
  const auto new_lines = SplitAt(after, '\n');
  size_t first = 0;
  while (first < std::min(old_lines.size(), new_lines.size()) &&
         old_lines[first] == new_lines[first]) {
    ++first;
  }
  size_t last = 0;
  while (last + first < std::min(old_lines.size(), new_lines.size()) &&
         old_lines[old_lines.size() - 1 - last] == new_lines[new_lines.size() - 1 - last]) {
    ++last;
  }
  std::string text;
  for (size_t i = first; i + last < old_lines.size(); ++i)
    text += "- " + std::string(old_lines[i]) + "\n";
  for (size_t i = first; i + last < new_lines.size(); ++i)
    text += "+ " + std::string(new_lines[i]) + "\n";
  return text;
}

struct Change {
  std::string text;        // of the whole file
  std::string difference;  // in lines
};

// `old_text` with `findings` in it. Errors: it cannot be changed in place.
Result<Change> ChangedFile(const std::string& old_text, const TrainingQuestion& question,
                           const ProbeFindings& findings) {
  Change change{old_text, ""};
  const auto take = [&](Result<std::string> changed) -> Result<void> {
    if (!changed) return tl::unexpected<Error>(changed.error());
    change.difference += Difference(change.text, *changed);
    change.text = *std::move(changed);
    return {};
  };
  if (findings.memory) {
    const auto taken = take(WithYamlValue(change.text, PathIn(question.file, "model", "memory"),
                                          MemoryText(*findings.memory)));
    if (!taken) return tl::unexpected<Error>(taken.error());
  }
  if (findings.measured) {
    const auto taken = take(WithYamlItem(change.text, PathIn(question.file, "training", "measured"),
                                         MeasuredText(*findings.measured),
                                         SameLine(question, *findings.measured)));
    if (!taken) return tl::unexpected<Error>(taken.error());
  }
  return change;
}

// The advice for `file`. Errors: there is none, in a sentence.
Result<api::Advice> AdviceFor(const TrainFile& file, Api& api, const Console& console) {
  const Result<json> answer = AskForAdvice(api, file, {}, console.now());
  if (!answer) return tl::unexpected<Error>(answer.error());
  auto advice = FromJson<api::Advice>(*answer, ShownText);
  if (!advice.strategies.empty()) return advice;
  return Fail(ErrorCode::kInfeasible, "nothing on this cluster can run it");
}

// Its first rows, or why there are none.
std::string Ranking(const Result<api::Advice>& advice, const Console& console) {
  if (!advice) return "  no ranking: " + Printable(advice.error().message) + "\n";
  const AdviceTable table =
      MakeAdviceTable(RowsToShow(*advice, false), 0, console.now(), console.style().width);
  return Join(table.lines, "\n") + "\n";
}

void ShowRankings(const TrainFile& before, const TrainFile& after, Api& api, Console& console) {
  const Result<api::Advice> first = AdviceFor(before, api, console);
  if (!first && first.error().code == ErrorCode::kUnavailable) {
    console.Print("\nNo ranking: " + Printable(first.error().message) + "\n");
    return;
  }
  console.Print("\nBefore:\n" + Ranking(first, console));
  console.Print("After:\n" + Ranking(AdviceFor(after, api, console), console));
}

// `text` as it will be read. Errors: it would be refused.
Result<TrainFile> ReadBack(const std::string& text, const ProbeCommand& command, int64_t now) {
  Result<TrainFile> file = TrainFile::FromText(text, command.file, command.section, now);
  if (!file) return file;
  const Result<TrainSpec> spec = ParseTrainSpec(file->spec(), "");
  if (!spec) return tl::unexpected<Error>(file->Explained(spec.error()));
  return file;
}

int ExitUnwritten(const Error& error, const ProbeFindings& findings, Console& console) {
  console.Complain("gpuadvise: " + error.message + "; put these lines into it:");
  if (findings.memory) console.Print("model:\n  memory: " + MemoryText(*findings.memory) + "\n");
  if (findings.measured) {
    console.Print("training:\n  measured:\n    - " + MeasuredText(*findings.measured) + "\n");
  }
  return kExitError;
}

// The permissions of the file stay, and a link to it stays one.
Result<void> WriteBack(const std::string& path, const std::string& old_text,
                       const std::string& text) {
  std::error_code ignored;
  const std::string real = std::filesystem::canonical(path, ignored).string();
  struct stat about {};
  if (real.empty() || ::stat(real.c_str(), &about) != 0) {
    return Fail(ErrorCode::kUnavailable, path + " is no longer there");
  }
  if (auto kept = ReplaceFile(real + ".bak", old_text, about.st_mode & 0777); !kept) return kept;
  return ReplaceFile(real, text, about.st_mode & 0777);
}

int ShowAndWrite(const ProbeCommand& command, const TrainingQuestion& question,
                 const ProbeFindings& findings, Api& api, Console& console) {
  const Result<std::string> old_text = ReadTextFile(command.file);
  if (!old_text) return Report(old_text.error(), console);
  const Result<Change> change = ChangedFile(*old_text, question, findings);
  if (!change) {
    return ExitUnwritten({change.error().code, command.file + ": " + change.error().message, ""},
                         findings, console);
  }
  const Result<TrainFile> after = ReadBack(change->text, command, console.now());
  if (!after) return ExitUnwritten(after.error(), findings, console);
  console.Print("\n" + PrintableLines(change->difference));
  ShowRankings(question.file, *after, api, console);
  if (command.dry_run) {
    console.Print("\n" + command.file + " was not changed (--dry-run).\n");
    return kExitOk;
  }
  if (const auto done = WriteBack(command.file, *old_text, change->text); !done) {
    return ExitUnwritten(done.error(), findings, console);
  }
  console.Print(fmt::format("\nWritten to {0}; the previous version is {0}.bak.\n", command.file));
  return kExitOk;
}

bool RanWithoutSteps(const Outcome& outcome) {
  bool ran = false;
  for (const Attempt& attempt : outcome.attempts) {
    if (attempt.seconds_per_step) return false;
    ran = ran || !attempt.out_of_memory;
  }
  return ran;
}

// What `measured` means for the file, said and written.
int Conclude(const ProbeCommand& command, const TrainingQuestion& question,
             const Measured& measured, Api& api, Console& console) {
  ProbeFindings findings = FindingsOf(measured.outcome.attempts, measured.gpu);
  const ModelSpec& model = question.spec.stages.front().model;
  if (findings.memory && (!model.preset.empty() || model.shape)) {
    findings.memory.reset();
    findings.notes.emplace_back(
        "memory is still computed from the model in the file, corrected by the measured peak");
  }
  if (measured.simulated) {
    findings.notes.emplace_back(
        "the cluster is simulated: these times are of this machine, not of that GPU");
  }
  const std::string card =
      measured.gpu == nullptr ? "one GPU" : "one " + measured.gpu->display_name;
  console.Print("Measured on " + card + ":\n");
  for (const std::string& note : findings.notes) console.Print("  " + note + "\n");
  if (RanWithoutSteps(measured.outcome)) console.Print(std::string("  ") + kNoSteps + "\n");
  const bool ran = findings.measured || findings.memory;
  if (ran) return ShowAndWrite(command, question, findings, api, console);
  console.Complain("gpuadvise: nothing was measured, so nothing was written");
  return kExitError;
}

// This program, which the job runs.
std::string OwnPath() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

// Whether this process is in a job already, which has a GPU or has none.
bool IsInAJob() { return std::getenv("SLURM_JOB_ID") != nullptr; }

int Run(ProbeCommand& command, const CommandContext& context) {
  Api& api = context.api;
  Console& console = context.console;
  if (::access(command.file.c_str(), F_OK) != 0) {
    return Report(
        {ErrorCode::kNotFound,
         command.file + " does not exist; probe needs a training file with a command", ""},
        console);
  }
  const Result<TrainingQuestion> question = TrainingQuestion::Load(
      {command.file, command.section, command.gpus}, RunLength::kRequired, api, console.now());
  if (!question) return Report(question.error(), console);
  const BatchWishes wishes =
      WishesFor(question->spec, question->file.spec(), command.micro_batches);
  if (const auto good = CheckFile(*question, wishes); !good) return Report(good.error(), console);
  const bool here = command.local || !command.outcome.empty() || IsInAJob();
  const Result<Measured> measured = here
                                        ? MeasureHere(command, *question, wishes, console)
                                        : MeasureInJob(command, *question, OwnPath(), api, console);
  if (!measured) return Report(measured.error(), console);
  if (command.outcome.empty()) return Conclude(command, *question, *measured, api, console);
  const auto left = WriteOutcome(measured->outcome, command.outcome);
  return left ? kExitOk : Report(left.error(), console);
}

void AddOptions(ProbeCommand& command, Options& options) {
  options.Required("FILE", command.file, "The training file (train.yaml)");
  AddSection(options, command.section);
  options.Value("--gpu NAME", command.gpus, "Only on this GPU");
  options
      .Number("--micro-batch N", command.micro_batches, 1, 1e6,
              "Try this micro-batch; give it twice for two (default: chosen)")
      ->expected(1, 2);
  options.Number("--steps N", command.steps, 2, 10'000, "Steps per run (default 20)");
  options.Number("--minutes N", command.minutes, 0.05, 1'440,
                 "Total time limit in minutes (default 10)");
  AddLogPattern(options, command.pattern);
  options.Flag("--local", command.local, "Use a GPU of this machine, without Slurm");
  options.Flag("--dry-run", command.dry_run, "Measure and show; do not change FILE");
  options.Value("--outcome DIR", command.outcome, "Only measure here, write the result into DIR");
  AddSlurmFlags(options, command.fixed);
  options.Place();
  options.Footer(kProbeFooter);
}

}  // namespace

Command MakeProbeCommand() {
  return MakeCommand<ProbeCommand>(
      "probe", "Measure a few steps on one GPU and write the result into FILE", AddOptions, Run);
}

}  // namespace gpuadvise::client
