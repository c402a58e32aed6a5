#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/report.h"
#include "client/commands/script_source.h"
#include "client/commands/shared_options.h"
#include "client/commands/submission.h"
#include "client/preflight/preflight.h"
#include "client/questions/job_question.h"
#include "client/records/job_log.h"
#include "client/sbatch/job_choice.h"
#include "client/sbatch/job_words.h"
#include "client/script/command_conflicts.h"
#include "client/sweep/sweep_folder.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/views/advice_view.h"
#include "client/views/check_view.h"
#include "client/views/sweep_view.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/array_tasks.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kSubmitFooter =
    "\n"
    "Arguments after -- go to sbatch unchanged and override the advice:\n"
    "  gpuadvise submit train.yaml -- --mail-type=END --time=12:00:00\n";

struct SubmitCommand {
  AdviceQuestion question;  // `fixed` holds the flags and what follows `--`
  FromScript from;
  std::optional<double> max_age_seconds;
  std::vector<std::string> passed_on;  // what follows `--`, as written
  int64_t pick = 0;                    // 0: the first
  std::string sweep_dir;               // folder to make for the sweep; "" none
  std::string same_as;                 // file of the script that was agreed to; "-"; "" none
  bool yes = false;
  bool dry_run = false;
  bool force = false;  // also where a check failed
};

constexpr const char* kCheckFailed =
    "a check failed, so nothing was submitted; --force submits anyway";

// " on cluster b" where several were asked.
std::string OnCluster(const api::Strategy& strategy) {
  return strategy.cluster.empty() ? "" : " on cluster " + strategy.cluster;
}

std::string ChoiceText(const Choice& choice, const SubmitCommand& command, const json& spec,
                       const Console& console) {
  const api::Strategy& strategy = choice.strategy;
  std::vector<std::string> lines = {
      fmt::format("{} {} in {}{}: batch {} × {} × {} = {}, {}", strategy.rank,
                  StrategyName(strategy), strategy.partition, OnCluster(strategy),
                  strategy.micro_batch, strategy.accumulation, GpusOf(strategy),
                  strategy.effective_batch_size, strategy.precision),
      PromiseSentence(strategy, console.now())};
  for (const std::string& note : strategy.notes) lines.push_back(note);
  for (const std::string& each : choice.advice.assumed) lines.push_back("assumed: " + each);
  const auto& limit = choice.advice.limit_advice;
  if (limit && limit->rank == strategy.rank && !limit->words.empty()) lines.push_back(limit->words);
  SbatchOptions fixed = command.question.fixed;
  if (const auto tasks = choice.script.options.Get("array")) fixed.Set("array", *tasks);
  if (!fixed.empty()) {
    lines.push_back("fixed by you: " + Printable(Join(fixed.ToArguments(), " ")));
  }
  if (const auto uncounted = UncountedOptions(spec, command.question); !uncounted.empty()) {
    lines.push_back("not in the forecast: " + Printable(Join(uncounted, " ")));
  }
  std::string text;
  for (const std::string& line : lines) {
    const char* lead = text.empty() ? "✔ " : "  ";
    text += lead + Clipped(line, std::max(20, console.style().width - 2)) + "\n";
  }
  return text;
}

using Choices = std::vector<Choice>;

// The scripts of all jobs, as --dry-run prints them.
std::string ScriptsText(const Choices& choices) {
  if (choices.size() == 1) return choices.front().script.text;
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i) {
    text += fmt::format("{}# ---- gpuadvise: job {} of {}\n{}\n", text.empty() ? "" : "\n", i + 1,
                        choices.size(), WithoutTrailingNewlines(choices[i].script.text));
  }
  return text;
}

// A script without the line that names the advice: each advice has its own.
std::string WithoutAdvice(std::string_view script) {
  std::string kept;
  while (!script.empty()) {
    const std::string line(TakeLine(script));
    if (!line.starts_with("export GPUADVISE_ADVICE=")) kept += line + "\n";
  }
  return kept;
}

// Whether the scripts are still those that somebody read.
Result<void> CheckSame(const SubmitCommand& command, const Choices& choices) {
  if (command.same_as.empty()) return {};
  const Result<std::string> agreed =
      command.same_as == "-" ? ReadStandardInput("standard input") : ReadTextFile(command.same_as);
  if (!agreed) return tl::unexpected<Error>(agreed.error());
  if (WithoutAdvice(*agreed) == WithoutAdvice(ScriptsText(choices))) return {};
  return Fail(ErrorCode::kInternal,
              fmt::format("--same-as: the job script is no longer the one in {}, so nothing was "
                          "submitted; look at it again with --dry-run",
                          command.same_as == "-" ? "standard input" : command.same_as));
}

// The absolute path of --sweep-dir; "" without. Errors: no array; several clusters; a folder that
// is there.
Result<std::string> SweepDirOf(const SubmitCommand& command, const api::Advice& advice,
                               const json& spec) {
  if (command.sweep_dir.empty()) return std::string();
  if (ArrayAsked(spec, command.question.fixed).empty()) {
    return BadInput("--sweep-dir is for many runs: say which with -a 1-80");
  }
  if (!advice.strategies.front().cluster.empty() || command.question.fixed.Has("clusters")) {
    return BadInput("--sweep-dir is for one cluster: give it without -M, on that cluster");
  }
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::absolute(command.sweep_dir, ignored);
  if (std::filesystem::exists(path, ignored)) {
    return BadInput("--sweep-dir: " + Quoted(command.sweep_dir) +
                    " exists already; each sweep has a folder of its own");
  }
  return path.lexically_normal().string();
}

// Whether anybody can agree; said before Slurm is asked anything.
Result<void> CanAgree(const SubmitCommand& command, const Console& console) {
  if (command.yes || console.CanAsk()) return {};
  return BadInput(
      "cannot ask for confirmation (not a terminal); use --yes to submit, or --dry-run to print "
      "the script only");
}

bool Agreed(const SubmitCommand& command, size_t jobs, Console& console) {
  const std::string what = jobs == 1 ? "this job" : fmt::format("these {} arrays", jobs);
  if (command.yes || console.Ask("Submit " + what + "? [y/N] ")) return true;
  console.Complain("Nothing was submitted.");
  return false;
}

// Warnings and errors; what is well needs no words here.
std::string TroubleText(const std::vector<Check>& checks, const TerminalStyle& style) {
  std::string text;
  for (const Check& check : checks) {
    if (check.health != Health::kOk) text += CheckText(check, style);
  }
  return text;
}

// False where an error stops the submission.
bool MayGoOn(const SubmitCommand& command, const std::vector<Check>& checks, Console& console) {
  if (!console.style().json) {
    const std::string text = TroubleText(checks, console.style());
    if (!text.empty()) console.Print(text + "\n");
  }
  if (!HasError(checks) || command.force) return true;
  for (const Check& check : checks) {
    if (!console.style().json || check.health != Health::kError) continue;
    console.Complain("gpuadvise: " + check.subject + ": " + Printable(check.finding));
  }
  console.Complain(std::string("gpuadvise: ") + kCheckFailed);
  return false;
}

// A job with its checks.
struct CheckedJob {
  const Choice& choice;
  JobChecks checks;
};

json SubmissionJson(const json& job_id, const CheckedJob& job) {
  return {{"job_id", job_id},
          {"strategy", job.choice.row},
          {"script", job.choice.script.text},
          {"checks", ChecksJson(job.checks.checks)}};
}

// Of one job, or of an array's `jobs`. `ids`: of those that were submitted.
json SubmissionJson(const std::vector<CheckedJob>& jobs, const std::vector<int64_t>& ids,
                    bool is_array) {
  json all = json::array();
  for (size_t i = 0; i < jobs.size(); ++i) {
    all.push_back(SubmissionJson(i < ids.size() ? json(ids[i]) : json(), jobs[i]));
  }
  return is_array ? json{{"jobs", all}} : all.front();
}

// The job's log, and the commands that follow the job.
std::string WhereToLook(const Choice& choice, int64_t job_id) {
  const std::optional<std::string> pattern = choice.script.options.Get("output");
  std::string text;
  if (pattern) {
    LogNames names;
    names.job_id = job_id;
    names.name = choice.script.options.Get("job-name").value_or("");
    text = "Log: " + ExpandedLogPath(*pattern, names) + "\n";
  }
  const std::string there = OnCluster(choice.strategy);  // where its daemon is asked without -M
  return text +
         fmt::format("Follow it{1}: gpuadvise watch {0}, gpuadvise logs {0} -f\n", job_id, there);
}

// Cancels jobs that were submitted before an error; says which could not be.
Error Cancelled(Error error, const std::vector<int64_t>& ids, const std::string& cluster,
                JobRunner& runner, bool& all) {
  std::string left;
  for (const int64_t id : ids) {
    if (!runner.Cancel(id, cluster)) left += " " + std::to_string(id);
  }
  all = left.empty();
  error.message += left.empty()
                       ? "; nothing was submitted"
                       : "; jobs submitted before it could not be cancelled: scancel" + left;
  return error;
}

// Submits all jobs or none: what was submitted before an error is cancelled. `folder`: of the
// sweep, whose record gets each job at once.
Result<std::vector<int64_t>> SubmitAll(const std::vector<CheckedJob>& jobs,
                                       std::optional<SweepFolder>& folder, JobRunner& runner) {
  std::vector<int64_t> ids;
  bool is_clean = true;  // nothing may run of which the folder is needed
  std::optional<Error> error;
  for (const CheckedJob& job : jobs) {
    if (const Result<void> made = MakeFolders(job.checks.log_folders); !made) {
      error = made.error();
      break;
    }
    const Result<std::string> printed = runner.Submit(job.choice.arguments, job.choice.script.text);
    const Result<int64_t> id = printed ? JobIdFrom(*printed) : tl::unexpected(printed.error());
    if (!id) {
      error = id.error();
      is_clean = !printed;
      break;
    }
    ids.push_back(*id);
    if (!folder) continue;
    AddJob(job.choice, *id, folder->record());
    if (const Result<void> saved = folder->Save(); !saved) {
      error = saved.error();
      break;
    }
  }
  if (!error) return ids;
  bool all = true;
  Error told = Cancelled(*error, ids, jobs.front().choice.strategy.cluster, runner, all);
  if (folder && all && is_clean) folder->Remove();
  return tl::unexpected<Error>(std::move(told));
}

SweepRecord RecordOf(const SubmitCommand& command, const TrainFile& file) {
  SweepRecord record;
  std::error_code ignored;
  record.source = file.path();
  record.work_folder = std::filesystem::current_path(ignored).string();
  record.array = ArrayAsked(file.spec(), command.question.fixed);
  record.spec = file.spec();
  record.fixed = command.question.fixed;
  record.fixed.Erase("array");
  record.objective = command.question.objective;
  record.passed_on = WithoutArray(command.passed_on);
  record.environment = ProgramVariables();
  return record;
}

// The option that keeps a job from starting when the advice says, which does not count it; "":
// none.
std::string HeldBy(const SbatchOptions& options) {
  for (const char* name : {"hold", "begin", "dependency"}) {
    if (options.Has(name)) return std::string("--") + name;
  }
  return "";
}

// `array`: of the whole sweep; "": one job.
int Submit(const std::vector<CheckedJob>& jobs, std::optional<SweepFolder>& folder,
           const std::string& array, Api& api, JobRunner& runner, Console& console) {
  const Result<std::vector<int64_t>> ids = SubmitAll(jobs, folder, runner);
  if (!ids) return Report(ids.error(), console);
  SweepPart sweep;
  if (const Result<ArrayTasks> all = ParseArrayTasks(array); all && !array.empty()) {
    sweep = {ids->front(), static_cast<int64_t>(all->numbers.size()), 0};
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    TellDaemon(api, jobs[i].choice, (*ids)[i], jobs[i].checks.outcome_folder, sweep, console);
  }
  if (console.style().json) {
    json document = SubmissionJson(jobs, *ids, !array.empty());
    if (folder) document["sweep_dir"] = folder->path();
    PrintJson(document, console);
    return kExitOk;
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Choice& choice = jobs[i].choice;
    if (jobs.size() > 1) {
      console.Print(fmt::format("Submitted job {}: runs {} on {}\n", (*ids)[i],
                                choice.script.options.Get("array").value_or(""),
                                StrategyName(choice.strategy)));
    } else {
      const std::string held = HeldBy(choice.script.options);
      console.Print(fmt::format(
          "Submitted job {}{}: {}\n", (*ids)[i], OnCluster(choice.strategy),
          held.empty() ? PromiseSentence(choice.strategy, console.now())
                       : fmt::format("not before {} allows it; gpuadvise why {} says when", held,
                                     (*ids)[i])));
      console.Print(WhereToLook(choice, (*ids)[i]));
    }
  }
  const std::optional<api::Sweep>& plan = jobs.front().choice.advice.sweep;
  if (jobs.size() > 1 && plan) console.Print(SweepSentence(*plan, console.now()) + "\n");
  if (jobs.size() > 1)
    console.Print(fmt::format("Follow them: gpuadvise watch {}\n", ids->front()));
  if (folder) {
    console.Print(
        fmt::format("How far it is: gpuadvise sweep {}; with --keep its runs move to "
                    "where they end first\n",
                    ShellQuoted(folder->path())));
  }
  return kExitOk;
}

std::string ChoicesText(const SubmitCommand& command, const json& spec, const Choices& choices,
                        const Console& console) {
  std::string text;
  if (choices.size() > 1) {
    text = SweepText(choices.front().advice, console.now(), console.style()) + "\n";
  }
  for (const Choice& choice : choices) text += ChoiceText(choice, command, spec, console);
  return text;
}

// The checks of all jobs, each once.
std::vector<Check> ChecksOf(const std::vector<CheckedJob>& jobs) {
  std::vector<Check> checks;
  for (const CheckedJob& job : jobs) {
    for (const Check& check : job.checks.checks) {
      const bool is_news = std::none_of(checks.begin(), checks.end(), [&](const Check& told) {
        return told.subject == check.subject && told.finding == check.finding;
      });
      if (is_news) checks.push_back(check);
    }
  }
  return checks;
}

int ShowDryRun(const SubmitCommand& command, const json& spec, const Choices& choices,
               const std::vector<CheckedJob>& jobs, Console& console) {
  if (console.style().json) {
    const bool is_array = !ArrayAsked(spec, command.question.fixed).empty();
    PrintJson(SubmissionJson(jobs, {}, is_array), console);
    return kExitOk;
  }
  std::string text =
      ChoicesText(command, spec, choices, console) + TroubleText(ChecksOf(jobs), console.style());
  text.pop_back();
  console.Complain(text);  // so that `submit --dry-run > job.sh` is just the script
  console.PrintDocument(ScriptsText(choices));
  return kExitOk;
}

// The choice is made: look at everything, ask, submit.
int CheckAndSubmit(const SubmitCommand& command, const TrainFile& file, const Choices& choices,
                   Api& api, const JobSubmission& submission, Console& console) {
  const json& spec = file.spec();
  JobRunner* runner = command.dry_run ? nullptr : &submission.runner;
  if (!command.dry_run && !console.style().json) {
    console.Print(ChoicesText(command, spec, choices, console) + "\n" + ScriptsText(choices) +
                  "\n");
  }
  const Result<void> asks = CanAgree(command, console);
  if (!command.dry_run && !asks) return Report(asks.error(), console);
  std::vector<CheckedJob> jobs;
  for (const Choice& choice : choices) {
    jobs.push_back({choice, CheckJob(spec, choice, submission.site, runner, console.now())});
  }
  if (command.dry_run) return ShowDryRun(command, spec, choices, jobs, console);
  const std::string array = ArrayAsked(spec, command.question.fixed);
  const bool is_array = !array.empty();
  if (!MayGoOn(command, ChecksOf(jobs), console)) {
    if (console.style().json) {
      json document = SubmissionJson(jobs, {}, is_array);
      document.update(ErrorDocument({ErrorCode::kInfeasible, kCheckFailed, ""}));
      PrintJson(document, console);
    }
    return kExitError;
  }
  if (!Agreed(command, jobs.size(), console)) {  // a choice and no error
    if (console.style().json) PrintJson(SubmissionJson(jobs, {}, is_array), console);
    return kExitError;
  }
  std::optional<SweepFolder> folder;
  if (!command.sweep_dir.empty()) {
    Result<SweepFolder> made = SweepFolder::Create(command.sweep_dir, RecordOf(command, file));
    if (!made) return Report(made.error(), console);
    folder.emplace(*std::move(made));
    if (const Result<void> locked = folder->Lock(); !locked) {  // a keeper would find runs lost
      return Report(locked.error(), console);
    }
  }
  return Submit(jobs, folder, array, api, submission.runner, console);
}

// Whether it has more than one task.
bool IsArray(const std::string& array) {
  const Result<ArrayTasks> tasks = ParseArrayTasks(array);
  return tasks && tasks->numbers.size() > 1;
}

// Runs that name their array go to the best single row.
void KeepTogether(SubmitCommand& command, const json& spec, const api::Advice& advice,
                  Console& console) {
  if (command.pick != 0 || !advice.sweep || advice.sweep->shares.size() < 2) return;
  const std::string word = NeedsOneArray(spec, command.question.fixed);
  if (word.empty()) return;
  const std::vector<api::CommandConflict> conflicts = ConflictsOf(spec, advice);
  command.pick = advice.sweep->single_rank;
  const int64_t followed = FirstFollowed(advice, conflicts);
  if (followed != 0 && !CanFollow(command.pick, conflicts)) command.pick = followed;
  console.Complain(fmt::format(
      "gpuadvise: {} is of one array, so that all runs go to row {} instead of {} arrays", word,
      command.pick, advice.sweep->shares.size()));
}

// Without --pick: the first row that the command can follow, where it cannot follow the plan.
void PickWhatIsFollowed(SubmitCommand& command, const json& spec, const api::Advice& advice,
                        Console& console) {
  const std::vector<api::CommandConflict> conflicts = ConflictsOf(spec, advice);
  const int64_t followed = FirstFollowed(advice, conflicts);
  const int64_t first = advice.strategies.front().rank;
  const bool can = advice.sweep ? CanFollowSweep(advice, conflicts) : CanFollow(first, conflicts);
  if (followed == 0 || can) return;
  command.pick = followed;
  for (const api::CommandConflict& conflict : conflicts) {
    if (!conflict.certain) continue;
    const bool of_plan = advice.sweep || conflict.ranks.front() == first;
    if (!of_plan) continue;
    console.Complain(Printable(fmt::format("gpuadvise: row {}, not {}: {}; {}", followed,
                                           advice.sweep ? "the split" : std::to_string(first),
                                           conflict.cause, conflict.remedy)));
  }
}

int Run(SubmitCommand& command, const CommandContext& context) {
  Api& api = context.api;
  Console& console = context.console;
  const Result<JobSubmission> submission = FindSubmission(context);
  if (!submission) return Report(submission.error(), console);
  const AdviceQuestion& question = command.question;
  const int64_t now = console.now();
  const Result<TrainFile> file = LoadTraining(question, command.from, console);
  if (!file) return Report(file.error(), console);
  const Result<json> answer = AskForAdvice(api, *file, question, now);
  if (!answer) return Report(answer.error(), console);
  const auto advice = ReadAnswer<api::Advice>(*answer);
  if (const Result<void> young = CheckAge(advice.frame, command.max_age_seconds); !young) {
    return Report(young.error(), console);
  }
  if (advice.strategies.empty()) {
    PrintAnswer<api::Advice>(answer, console, [&](const auto& none, const auto& style) {
      return AdviceText(none, {.all = true, .now = now, .style = style});
    });
    return kExitInfeasible;
  }
  if (command.pick == 0 && !advice.sweep && IsArray(ArrayAsked(file->spec(), question.fixed))) {
    console.Complain("gpuadvise: the array is not planned as a whole: all runs go to row 1");
  }
  if (command.pick == 0) PickWhatIsFollowed(command, file->spec(), advice, console);
  KeepTogether(command, file->spec(), advice, console);
  const Result<std::string> sweep_dir = SweepDirOf(command, advice, file->spec());
  if (!sweep_dir) return Report(sweep_dir.error(), console);
  ChoiceRequest request{command.pick, question.fixed, command.passed_on};
  request.sweep_folder = *sweep_dir;
  const Result<Choices> choices = ChooseAll(request, *file, *answer, submission->job_template);
  if (!choices) return Report(choices.error(), console);
  if (const Result<void> same = CheckSame(command, *choices); !same) {
    return Report(same.error(), console);
  }
  return CheckAndSubmit(command, *file, *choices, api, *submission, console);
}

void AddOptions(SubmitCommand& command, Options& options) {
  AddAdviceQuestion(options, command.question);
  AddFromScript(options, command.from, "Use this job script instead of FILE");
  AddMaxAge(options, command.max_age_seconds);
  options.Number("--pick N", command.pick, 1, 1e6, "Use row N of `advise`");
  options.Flag("-y,--yes", command.yes, "Submit without asking for confirmation");
  options.Flag("--dry-run", command.dry_run, "Print the script; submit nothing");
  options.Value("--same-as FILE", command.same_as,
                "Submit only if the script is still the one in FILE, from --dry-run");
  options.Value("--sweep-dir DIR", command.sweep_dir,
                "With -a: make this folder, in which each run notes its begin and end, for "
                "`gpuadvise sweep DIR --keep`");
  options.Flag("--force", command.force, "Submit even if a check fails");
  options.Clusters();
  options.JsonAndPlace();
  options.Footer(kSubmitFooter);
}

// What follows `--` joins what the flags fix, and wins over it.
Result<void> Take(SubmitCommand& submit, const std::vector<std::string>& passed_on) {
  if (Result<void> source = CheckSource(submit.question, submit.from); !source) return source;
  const Result<ParsedArguments> parsed = ParseSbatchArguments(passed_on);
  if (!parsed) return BadInput("after --: " + parsed.error().message);
  if (!parsed->rest.empty()) {
    return BadInput("after --: '" + parsed->rest.front() +
                    "' is not an sbatch option; gpuadvise writes the script itself");
  }
  submit.question.fixed.OverrideWith(parsed->options);
  submit.passed_on = passed_on;
  return {};
}

}  // namespace

Command MakeSubmitCommand() {
  return MakeCommand<SubmitCommand>("submit", "Submit the best strategy, or the one you pick",
                                    AddOptions, Run, Take, ForeignWords::kAfterDashes);
}

}  // namespace gpuadvise::client
