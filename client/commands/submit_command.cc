#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/report.h"
#include "client/commands/script_source.h"
#include "client/commands/shared_options.h"
#include "client/preflight/preflight.h"
#include "client/questions/job_question.h"
#include "client/records/job_log.h"
#include "client/sbatch/job_choice.h"
#include "client/sbatch/job_words.h"
#include "client/script/command_conflicts.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/views/advice_view.h"
#include "client/views/check_view.h"
#include "common/base/text.h"
#include "common/base/words.h"
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
  const SbatchOptions& fixed = command.question.fixed;
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

// "4711" or "4711;cluster".
Result<int64_t> JobIdFrom(const std::string& printed) {
  const size_t line = printed.find_last_not_of(" \n\r\t");
  const size_t start = line == std::string::npos ? 0 : printed.rfind('\n', line) + 1;
  int64_t id = 0;
  const auto code = std::from_chars(printed.data() + start, printed.data() + printed.size(), id).ec;
  if (code == std::errc() && id > 0) return id;
  return Fail(ErrorCode::kInternal, "sbatch printed no job id; check with `squeue --me`");
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

// Whether the script is still the one that somebody read.
Result<void> CheckSame(const SubmitCommand& command, const Choice& choice) {
  if (command.same_as.empty()) return {};
  const Result<std::string> agreed =
      command.same_as == "-" ? ReadStandardInput("standard input") : ReadTextFile(command.same_as);
  if (!agreed) return tl::unexpected<Error>(agreed.error());
  if (WithoutAdvice(*agreed) == WithoutAdvice(choice.script.text)) return {};
  return Fail(ErrorCode::kInternal,
              fmt::format("--same-as: the job script is no longer the one in {}, so nothing was "
                          "submitted; look at it again with --dry-run",
                          command.same_as == "-" ? "standard input" : command.same_as));
}

// Whether anybody can agree; said before Slurm is asked anything.
Result<void> CanAgree(const SubmitCommand& command, const Console& console) {
  if (command.yes || console.CanAsk()) return {};
  return BadInput(
      "cannot ask for confirmation (not a terminal); use --yes to submit, or --dry-run to print "
      "the script only");
}

bool Agreed(const SubmitCommand& command, Console& console) {
  if (command.yes || console.Ask("Submit this job? [y/N] ")) return true;
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

// The daemon looks at the queue soon and knows the job's advice. Not being able to say so spoils
// nothing.
void TellDaemon(Api& api, const Choice& choice, int64_t job_id, const std::string& outcome_folder,
                Console& console) {
  const std::string& advice = choice.advice.advice_id;
  const api::Strategy& strategy = choice.strategy;
  json became = {{"job_id", job_id}, {"rank", strategy.cluster_rank.value_or(strategy.rank)}};
  if (!outcome_folder.empty()) became["output_dir"] = outcome_folder;
  const Result<json> told = api.Post("/v1/advice/" + advice + "/submitted", became);
  if (!told) {
    console.Complain("gpuadvise: the job was submitted, but gpuadvised could not be informed: " +
                     told.error().message);
    return;
  }
  for (const std::string& warning : FromJson<api::Frame>(*told, ShownText).warnings) {
    console.Complain("gpuadvise: " + Printable(warning));
  }
}

json SubmissionJson(const json& job_id, const Choice& choice, const std::vector<Check>& checks) {
  return {{"job_id", job_id},
          {"strategy", choice.row},
          {"script", choice.script.text},
          {"checks", ChecksJson(checks)}};
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

int SubmitChoice(const Choice& choice, const JobChecks& job, Api& api, JobRunner& runner,
                 Console& console) {
  if (const Result<void> made = MakeFolders(job.log_folders); !made) {
    return Report({made.error().code, made.error().message + "; nothing was submitted", ""},
                  console);
  }
  const Result<std::string> printed = runner.Submit(choice.arguments, choice.script.text);
  if (!printed) {
    return Report({printed.error().code, printed.error().message + "; nothing was submitted", ""},
                  console);
  }
  const Result<int64_t> job_id = JobIdFrom(*printed);
  if (!job_id) return Report(job_id.error(), console);
  TellDaemon(api, choice, *job_id, job.outcome_folder, console);
  if (console.style().json) {
    PrintJson(SubmissionJson(*job_id, choice, job.checks), console);
  } else {
    console.Print(fmt::format("Submitted job {}{}: {}\n", *job_id, OnCluster(choice.strategy),
                              PromiseSentence(choice.strategy, console.now())));
    console.Print(WhereToLook(choice, *job_id));
  }
  return kExitOk;
}

int ShowDryRun(const SubmitCommand& command, const json& spec, const Choice& choice,
               const JobChecks& job, Console& console) {
  if (console.style().json) {
    PrintJson(SubmissionJson(nullptr, choice, job.checks), console);
    return kExitOk;
  }
  std::string text =
      ChoiceText(choice, command, spec, console) + TroubleText(job.checks, console.style());
  text.pop_back();
  console.Complain(text);  // so that `submit --dry-run > job.sh` is just the script
  console.PrintDocument(choice.script.text);
  return kExitOk;
}

// The choice is made: look at everything, ask, submit.
int CheckAndSubmit(const SubmitCommand& command, const json& spec, const Choice& choice, Api& api,
                   const JobSubmission& submission, Console& console) {
  if (command.dry_run) {
    const JobChecks job = CheckJob(spec, choice, submission.site, nullptr, console.now());
    return ShowDryRun(command, spec, choice, job, console);
  }
  if (!console.style().json) {
    console.Print(ChoiceText(choice, command, spec, console) + "\n" + choice.script.text + "\n");
  }
  if (const Result<void> asks = CanAgree(command, console); !asks) {
    return Report(asks.error(), console);
  }
  const JobChecks job = CheckJob(spec, choice, submission.site, &submission.runner, console.now());
  if (!MayGoOn(command, job.checks, console)) {
    if (console.style().json) {
      json document = SubmissionJson(nullptr, choice, job.checks);
      document.update(ErrorDocument({ErrorCode::kInfeasible, kCheckFailed, ""}));
      PrintJson(document, console);
    }
    return kExitError;
  }
  if (!Agreed(command, console)) {  // a choice and no error
    if (console.style().json) PrintJson(SubmissionJson(nullptr, choice, job.checks), console);
    return kExitError;
  }
  return SubmitChoice(choice, job, api, submission.runner, console);
}

// Without --pick: the first row that the command can follow, where that is not row 1.
void PickWhatIsFollowed(SubmitCommand& command, const json& spec, const api::Advice& advice,
                        Console& console) {
  const std::vector<api::CommandConflict> conflicts = ConflictsOf(spec, advice);
  const int64_t first = advice.strategies.front().rank;
  const int64_t followed = FirstFollowed(advice, conflicts);
  if (followed == 0 || followed == first) return;
  command.pick = followed;
  for (const api::CommandConflict& conflict : conflicts) {
    if (!conflict.certain || conflict.ranks.front() != first) continue;
    console.Complain(Printable(fmt::format("gpuadvise: row {}, not {}: {}; {}", followed, first,
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
  if (command.pick == 0) PickWhatIsFollowed(command, file->spec(), advice, console);
  const Result<Choice> choice = Choose({command.pick, question.fixed, command.passed_on}, *file,
                                       *answer, submission->job_template);
  if (!choice) return Report(choice.error(), console);
  if (const Result<void> same = CheckSame(command, *choice); !same) {
    return Report(same.error(), console);
  }
  return CheckAndSubmit(command, file->spec(), *choice, api, *submission, console);
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
