#include "client/sbatch/sbatch_script.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/api/answer_reader.h"
#include "client/sbatch/array_items.h"
#include "client/sbatch/job_launch.h"
#include "client/sbatch/option_values.h"
#include "client/shell/shell_text.h"
#include "client/shell/shell_words.h"
#include "common/base/json_fields.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/array_tasks.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

std::string Export(const std::string& name, const std::string& quoted_value) {
  return "export " + name + "=" + quoted_value + "\n";
}

Result<std::string> UserExports(const json& spec, const Placeholders& words) {
  const auto env = spec.find("env");
  if (env == spec.end() || env->is_null()) return std::string();
  if (!env->is_object()) return BadInput("env must be a map of NAME: value", "/env");
  std::string exports;
  for (const auto& [name, value] : env->items()) {
    if (!IsVariableName(name)) {
      return BadInput("'" + name.substr(0, 60) + "' is not a valid environment variable name",
                      PointerTo("/env", name));
    }
    exports += Export(name, ShellExpanding(FillPlaceholders(RawText(*env, name.c_str()), words)));
  }
  return exports;
}

// What Slurm tells a task of its array, of the whole sweep: programs divide their work by it.
std::string ExportsOfSweep(const std::string& array) {
  const Result<ArrayTasks> tasks = ParseArrayTasks(array);
  if (!tasks) return "";
  const std::vector<int64_t>& numbers = tasks->numbers;
  const int64_t step = numbers.size() > 1 ? numbers[1] - numbers[0] : 1;
  return Export("SLURM_ARRAY_TASK_STEP", std::to_string(step)) +
         Export("SLURM_ARRAY_TASK_COUNT", std::to_string(tasks->numbers.size())) +
         Export("SLURM_ARRAY_TASK_MIN", std::to_string(tasks->numbers.front())) +
         Export("SLURM_ARRAY_TASK_MAX", std::to_string(tasks->numbers.back()));
}

Result<std::string> Exports(const json& spec, const api::Strategy& strategy,
                            const AdviceOrigin& advice, const Placeholders& words) {
  std::string exports;
  for (const auto& [name, value] : StrategyEnvironment(strategy, advice.id)) {
    exports += Export(name, ShellQuoted(value));
  }
  const std::string directory = RawText(ObjectOf(spec, "output"), "dir");
  if (!directory.empty()) {
    exports += Export("GPUADVISE_OUTPUT_DIR", ShellExpanding(FillPlaceholders(directory, words)));
  }
  if (!advice.outcomes_dir.empty()) {
    exports += Export("GPUADVISE_OUTCOMES_DIR", ShellQuoted(advice.outcomes_dir));
  }
  if (RetriesOnOom(spec)) {
    exports += Export("GPUADVISE_RETRY_ON_OOM", "1");
  }
  if (const std::string resume = ResumeWords(spec); !resume.empty()) {
    exports += Export("GPUADVISE_RESUME", ShellQuoted(resume));
  }
  exports += ExportsOfSweep(advice.array);
  if (!advice.sweep_folder.empty()) {
    exports += Export("GPUADVISE_SWEEP", ShellQuoted(advice.sweep_folder));
  }
  const Result<std::string> user = UserExports(spec, words);
  if (!user) return user;
  exports += *user;
  return WithoutTrailingNewlines(exports);
}

std::string Workdir(const json& spec, const Placeholders& words) {
  const std::string workdir = RawText(spec, "workdir");
  if (workdir.empty()) return "";
  return "cd " + ShellExpanding(FillPlaceholders(workdir, words)) + "\n";
}

// Whether a line may end `set -a`: in its text, or in that of a file that it reads.
bool MayEndExports(std::string_view line) {
  for (const std::string_view word : {"set +a", "source ", ". ", "eval "}) {
    for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
      if (at == 0 || std::string_view("\n\t ;&|({").find(line[at - 1]) != std::string_view::npos) {
        return true;
      }
    }
  }
  return false;
}

// Takes the run of an array's task, which one job alone can, and notes its end.
constexpr const char* kTakeRun =
    "gpuadvise_taken=$GPUADVISE_SWEEP/taken/$SLURM_ARRAY_TASK_ID\n"
    "gpuadvise_ended=$GPUADVISE_SWEEP/ended/$SLURM_ARRAY_TASK_ID\n"
    "if ! ln -sT \"$SLURM_JOB_ID\" \"$gpuadvise_taken\" 2> /dev/null; then\n"
    "  gpuadvise_owner=$(readlink \"$gpuadvise_taken\") || {\n"
    "    echo \"gpuadvise: $GPUADVISE_SWEEP cannot be written on $(hostname)\" >&2\n"
    "    exit 1\n"
    "  }\n"
    "  if [ \"$gpuadvise_owner\" != \"$SLURM_JOB_ID\" ]; then\n"
    "    echo \"gpuadvise: this run is that of job $gpuadvise_owner: nothing to do\" >&2\n"
    "    exit 0\n"
    "  fi\n"
    "fi\n"
    "rm -f \"$gpuadvise_ended\"  # of a start before this one\n"
    "trap 'exit 143' TERM HUP INT\n"
    "trap 'ln -sfT \"$?\" \"$gpuadvise_ended\"' EXIT\n";

// The lines of `setup`, each with a newline.
std::string SetupLines(const json& spec, const Placeholders& words) {
  std::vector<std::string> lines = RawTexts(spec, "setup");
  if (lines.empty()) return "";
  for (const ArrayItem& item : FindArrayItems(spec)) {
    lines.push_back(item.variable + "=" + item.reference);
  }
  std::string setup = "set -a  # the command runs in a shell of its own\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    setup += FillPlaceholders(lines[i], words) + "\n";
    if (i + 1 < lines.size() && MayEndExports(lines[i])) setup += "set -a\n";
  }
  return setup + "set +a\n";
}

std::string Setup(const json& spec, const Placeholders& words) {
  std::string setup = Workdir(spec, words);
  const bool has_folder = !RawText(ObjectOf(spec, "output"), "dir").empty();
  if (has_folder) {
    // An absolute path, because setup and command may change the folder.
    setup +=
        "mkdir -p \"$GPUADVISE_OUTPUT_DIR\"\n"
        "GPUADVISE_OUTPUT_DIR=$(cd \"$GPUADVISE_OUTPUT_DIR\" && pwd)\n";
  }
  setup += has_folder ? "export GPUADVISE_OUTPUT=$GPUADVISE_OUTPUT_DIR\n"
                      : "export GPUADVISE_OUTPUT=$PWD\n";
  return WithoutTrailingNewlines(setup + SetupLines(spec, words));
}

// A temporary output folder for a trial, removed at its end. On a signal the command ends first, so
// that nothing is written after the removal.
constexpr const char* kTrialFolder =
    "mkdir -p \"${GPUADVISE_OUTPUT_DIR:=${TMPDIR:-/tmp}}\"\n"
    "GPUADVISE_OUTPUT_DIR=$(cd \"$GPUADVISE_OUTPUT_DIR\" && mktemp -d "
    "\"$PWD/gpuadvise-trial-XXXXXX\")\n"
    "export GPUADVISE_OUTPUT_DIR\n"
    "readonly gpuadvise_trial=$GPUADVISE_OUTPUT_DIR\n"
    "trap 'cd / && rm -rf -- \"$gpuadvise_trial\"' EXIT\n"
    "trap : TERM INT HUP\n";

std::string Directives(const SbatchOptions& options) {
  std::string lines;
  for (const auto& [name, value] : options.values()) {
    const bool bare = value.empty() && !NeedsValue(name);
    lines += "#SBATCH --" + name + (bare ? "" : "=" + DirectiveQuoted(value)) + "\n";
  }
  return WithoutTrailingNewlines(lines);
}

// Removes options that overlap with one fixed by the user.
void LeaveOutContradictions(const SbatchOptions& fixed, SbatchOptions* options) {
  const std::vector<std::vector<std::string>> groups = {
      {"gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket", "tres-per-task"},
      {"mem", "mem-per-cpu", "mem-per-gpu"},
      {"cpus-per-task", "cpus-per-gpu"},
      {"ntasks-per-node", "ntasks", "ntasks-per-gpu"},
  };
  for (const std::vector<std::string>& group : groups) {
    bool user_said = false;
    for (const std::string& name : group) user_said = user_said || fixed.Has(name);
    if (!user_said) continue;
    for (const std::string& name : group) options->Erase(name);
  }
}

// Whether an item of "gpu:l40s:4,lscratch:100" is GPUs.
bool IsGpu(std::string_view item) {
  return IsOneOf(item, {"gpu", "gres:gpu"}) || item.starts_with("gpu:") ||
         item.starts_with("gres:gpu:");
}

// Such without a type: "gpu", "gpu:4".
bool IsUntypedGpu(std::string_view item) {
  const size_t colon = item.rfind(':');
  const bool counted =
      colon != std::string_view::npos && WholeNumber(std::string(item.substr(colon + 1)));
  return IsOneOf(counted ? item.substr(0, colon) : item, {"gpu", "gres:gpu"});
}

// Whether the advice has counted the GPUs of options: then the row's are the same, by Slurm's name.
// It has not counted options behind `--`, and those with placeholders.
enum class Gpus { kCounted, kNotCounted };

// Options that the user fixed, in the form that the row counts with: its type of GPU where they
// give a number alone or another name of it; its GPUs beside other GRES; its number of nodes where
// they give a range.
SbatchOptions InFormOfTheRow(SbatchOptions fixed, Gpus gpus_are, const SbatchOptions& row) {
  if (const auto nodes = fixed.Get("nodes"); nodes && !WholeNumber(nodes)) fixed.Erase("nodes");
  const auto gpus = row.Get("gres");
  if (!gpus) return fixed;
  for (const char* name : {"gpus", "gpus-per-node"}) {
    if (gpus_are == Gpus::kCounted || WholeNumber(fixed.Get(name))) fixed.Erase(name);
  }
  const bool others = fixed.Has("gpus") || fixed.Has("gpus-per-node");
  const auto gres = fixed.Get("gres");
  if (!gres || others) return fixed;
  std::string items;
  bool typed = false;
  for (const std::string_view item : SplitAt(*gres, ',')) {
    if (gpus_are == Gpus::kCounted ? IsGpu(item) : IsUntypedGpu(item)) continue;
    typed = typed || IsGpu(item);
    items += "," + std::string(item);
  }
  if (typed) return fixed;
  fixed.Set("gres", *gpus + items);
  return fixed;
}

void TakeFixed(const SbatchOptions& fixed, Gpus gpus_are, SbatchOptions* options) {
  const SbatchOptions taken = InFormOfTheRow(fixed, gpus_are, *options);
  LeaveOutContradictions(taken, options);
  options->OverrideWith(taken);
}

// The CPUs that were planned for a node's one task are those of all its tasks.
void ShareCpus(SbatchOptions* options) {
  const auto tasks = WholeNumber(options->Get("ntasks-per-node"));
  const auto cpus = WholeNumber(options->Get("cpus-per-task"));
  if (!tasks || !cpus || *tasks == 1) return;
  options->Set("cpus-per-task", std::to_string(std::max<int64_t>(1, *cpus / *tasks)));
}

// Whether the shell's `trap` stands in `text`.
bool SetsATrap(const std::string& text) {
  for (size_t at = text.find("trap "); at != std::string::npos; at = text.find("trap ", at + 1)) {
    if (at == 0 || std::string_view(" \t\n;&|({").find(text[at - 1]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<SbatchOptions> ExtraOptions(const json& spec, const Placeholders& figures) {
  std::vector<std::string> words;
  for (const std::string& line : RawTexts(ObjectOf(spec, "slurm"), "extra")) {
    for (std::string& word : SplitDirective(FillPlaceholders(line, figures))) {
      words.push_back(std::move(word));
    }
  }
  const auto refuse = [](const std::string& why) {
    return BadInput("slurm.extra: " + why, "/slurm/extra");
  };
  const Result<ParsedArguments> extra = ParseSbatchArguments(words);
  if (!extra) return refuse(extra.error().message);
  if (!extra->rest.empty()) return refuse(Quoted(extra->rest[0]) + " is no option of sbatch");
  SbatchOptions options = extra->options;
  for (const std::string& word : extra->unknown) {  // sbatch knows its plugins'
    const size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.starts_with("--") ? word.substr(2, equals - 2) : "";
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return IsNamePart(c) || c == '-';
    });
    if (!plain) return refuse(Quoted(word) + " is no option of sbatch");
    options.Set(name, equals == word.size() ? "" : word.substr(equals + 1));
  }
  return options;
}

std::string ArrayAsked(const json& spec, const SbatchOptions& fixed) {
  if (const auto array = fixed.Get("array")) return *array;
  if (const auto array = ExtraOptions(spec, {}).value_or(SbatchOptions()).Get("array")) {
    return *array;
  }
  return RawText(ObjectOf(spec, "slurm"), "array");
}

std::string NeedsOneArray(const json& spec, const SbatchOptions& fixed) {
  const std::string text = spec.dump() + " " + Join(fixed.ToArguments(), " ");
  for (const char* word : {"SLURM_ARRAY_JOB_ID", "%A", "singleton"}) {
    if (text.find(word) != std::string::npos) return word;
  }
  return "";
}

namespace {

// Whether slurm.extra asks for GPUs with placeholders, "--gres=gpu:a100:{gpus_per_node}".
bool HasOpenGpus(const json& spec) {
  const SbatchOptions extra = ExtraOptions(spec, {}).value_or(SbatchOptions());
  return std::any_of(extra.values().begin(), extra.values().end(), [](const auto& option) {
    return IsOneOf(option.first, {"gres", "gpus", "gpus-per-node"}) &&
           option.second.find('{') != std::string::npos;
  });
}

}  // namespace

SbatchOptions StrategyOptions(const json& spec, const api::Strategy& strategy,
                              const SbatchOptions& fixed) {
  SbatchOptions options;
  const json ours = ToJson(strategy.sbatch);
  for (const auto& [key, value] : ours.items()) {
    if (value == 0) continue;  // no strategy is known
    options.Set(ReplaceAll(key, "_", "-"), RawText(ours, key.c_str()));
  }
  const std::string name = SafeName(TextOf(spec, "name"));
  options.Set("job-name", name);
  options.Set("output", name + "-%j.out");
  if (Resumes(spec)) {
    options.Set("requeue", "");
    options.Set("open-mode", "append");
    options.Set("signal", "B:USR1@300");
  }
  const auto extra = ExtraOptions(spec, StrategyWords(spec, strategy)).value_or(SbatchOptions());
  TakeFixed(extra, HasOpenGpus(spec) ? Gpus::kNotCounted : Gpus::kCounted, &options);
  const std::string array = RawText(ObjectOf(spec, "slurm"), "array");
  if (!array.empty()) options.Set("array", array);
  TakeFixed(fixed, Gpus::kNotCounted, &options);
  if (!extra.Has("cpus-per-task") && !fixed.Has("cpus-per-task")) ShareCpus(&options);
  return options;
}

Result<std::string> MakeTrialScript(const json& spec, const api::Strategy& strategy) {
  Placeholders words = StrategyWords(spec, strategy);
  words["resume"] = "";
  const Result<std::string> exports = Exports(spec, strategy, {}, words);
  if (!exports) return exports;
  const Result<std::string> command = CommandText(spec, words);
  if (!command) return command;
  return "set -e -o pipefail\n" + *exports + "\n" + Workdir(spec, words) + kTrialFolder +
         SetupLines(spec, words) + "bash -e -o pipefail -c " + ShellQuoted(*command) + "\n";
}

Result<JobScript> MakeJobScript(std::string_view job_template, const json& spec,
                                const api::Strategy& strategy, const AdviceOrigin& advice,
                                const SbatchOptions& fixed) {
  JobScript script{StrategyOptions(spec, strategy, fixed), {}};
  const Placeholders words = StrategyWords(spec, strategy);
  const Result<std::string> exports = Exports(spec, strategy, advice, words);
  if (!exports) return tl::unexpected<Error>(exports.error());
  // "B:USR1@300", "RB:TERM"; setup's own traps need the job's shell.
  const std::string signal = script.options.Get("signal").value_or("");
  const size_t colon = signal.find(':');
  const std::vector<std::string> lines = RawTexts(spec, "setup");
  const bool traps = std::any_of(lines.begin(), lines.end(), SetsATrap);
  const bool for_the_shell = colon != std::string::npos && signal.find('B') < colon;
  const bool waits_for_one = SetsATrap(RawText(spec, "command"));
  const bool takes_signals = (for_the_shell || waits_for_one) && !traps;
  if (!advice.sweep_folder.empty() && Resumes(spec)) {
    return BadInput(
        "a run of a sweep with --sweep-dir notes how it ended, which one with training.resume does "
        "not: it goes back into the queue; submit it without --sweep-dir",
        "/training/resume");
  }
  if (!advice.sweep_folder.empty() && (takes_signals || traps)) {
    return BadInput(
        "a run of a sweep with --sweep-dir notes how it ended, which it cannot with --signal=B:… "
        "or a trap in setup or command; submit it without --sweep-dir",
        traps ? "/setup" : "/command");
  }
  const Result<std::string> launch = LaunchLines(spec, strategy, words, takes_signals);
  if (!launch) return tl::unexpected<Error>(launch.error());
  const std::string taken = advice.sweep_folder.empty() ? "" : kTakeRun;
  script.text = FillPlaceholders(job_template, {{"sbatch", Directives(script.options)},
                                                {"exports", Rendezvous(strategy) + *exports},
                                                {"setup", taken + Setup(spec, words)},
                                                {"launch", *launch}});
  return script;
}

}  // namespace gpuadvise::client
