#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "client/advice_view.h"
#include "client/answer_reader.h"
#include "client/commands.h"
#include "client/display.h"
#include "client/exit_code.h"
#include "client/job_question.h"
#include "client/sbatch_script.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

struct Choice {
  json answer;
  json strategy;
  JobScript script;
  std::vector<std::string> arguments;  // of sbatch
};

Result<json> PickedStrategy(const json& answer, int64_t pick) {
  const json& strategies = ListOf(answer, "strategies");
  for (const json& strategy : strategies) {
    if (pick == 0 || IntOf(strategy, "rank") == pick) return strategy;
  }
  std::vector<std::string> ranks;
  for (const json& strategy : strategies) ranks.push_back(std::to_string(IntOf(strategy, "rank")));
  return BadInput(fmt::format("--pick {}: there is no such row; `advise --all` shows {}", pick,
                              JoinNames(ranks)));
}

// The options on the command line too: SBATCH_* variables would win over #SBATCH lines.
std::vector<std::string> SbatchArguments(const SbatchOptions& options,
                                         const std::vector<std::string>& passed_on) {
  SbatchOptions ours = options;
  if (const auto parsed = ParseSbatchArguments(passed_on)) {
    for (const auto& [name, value] : parsed->options.values()) ours.Erase(name);
  }
  std::vector<std::string> arguments = {"--parsable"};
  for (std::string& argument : ours.ToArguments()) arguments.push_back(std::move(argument));
  arguments.insert(arguments.end(), passed_on.begin(), passed_on.end());
  return arguments;
}

std::string JoinedWith(const std::vector<std::string>& words, const char* separator) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : separator) + word;
  return joined;
}

std::string ChoiceText(const Choice& choice, const SubmitCommand& command, const Console& console) {
  const json& strategy = choice.strategy;
  const int64_t gpus = IntOf(strategy, "gpus_per_node", 1) * IntOf(strategy, "nodes", 1);
  std::vector<std::string> lines = {
      fmt::format("{} {} in {}: batch {} × {} × {} = {}, {}", IntOf(strategy, "rank"),
                  StrategyName(strategy), TextOf(strategy, "partition"),
                  IntOf(strategy, "micro_batch"), IntOf(strategy, "accumulation"), gpus,
                  IntOf(strategy, "effective_batch_size"), TextOf(strategy, "precision")),
      PromiseSentence(strategy, console.now())};
  for (const std::string& note : TextsOf(strategy, "notes")) lines.push_back(note);
  const SbatchOptions& fixed = command.question.fixed;
  if (!fixed.empty()) {
    lines.push_back("kept as you said: " + Printable(JoinedWith(fixed.ToArguments(), " ")));
  }
  if (const auto unseen = UnseenByForecast(fixed); !unseen.empty()) {
    lines.push_back("not in the forecast: " + Printable(JoinedWith(unseen, " ")));
  }
  std::string text;
  for (const std::string& line : lines) {
    const char* lead = text.empty() ? "✔ " : "  ";
    text += lead + Clipped(line, std::max(20, console.look().width - 2)) + "\n";
  }
  return text;
}

// "gpu:l40s:6" and "gpu:a100:1,gpu:l40s:2", but not "gpu:1,lustre:1".
bool AsksForGpusOnly(const std::string& gres) {
  for (size_t start = 0; start <= gres.size();) {
    const size_t comma = std::min(gres.find(',', start), gres.size());
    const std::string part = gres.substr(start, comma - start);
    if (part != "gpu" && !part.starts_with("gpu:")) return false;
    start = comma + 1;
  }
  return true;
}

// The strategy already has what flags say about GPUs and nodes: GPUs in Slurm's words, not the
// catalogue's, features and excluded nodes together with its own. What follows `--` stays.
SbatchOptions FixedInScript(const SubmitCommand& command) {
  SbatchOptions fixed = command.question.fixed;
  const auto passed_on = ParseSbatchArguments(command.passed_on);
  for (const char* name : {"gres", "gpus", "gpus-per-node", "constraint", "exclude"}) {
    if (!passed_on || passed_on->options.Has(name)) continue;
    if (name == std::string_view("gres") && !AsksForGpusOnly(fixed.Get(name).value_or("")))
      continue;
    fixed.Erase(name);
  }
  return fixed;
}

Result<Choice> Choose(const SubmitCommand& command, const TrainFile& file, json answer,
                      const std::string& job_template) {
  Choice choice;
  Result<json> strategy = PickedStrategy(answer, command.pick);
  if (!strategy) return tl::unexpected<Error>(strategy.error());
  Result<JobScript> script = MakeJobScript(
      job_template, file.spec(), *strategy,
      {TextOf(answer, "advice_id"), TextOf(answer, "outcomes_dir")}, FixedInScript(command));
  if (!script) return Fail(script.error().code, file.Explain(script.error()));
  choice.answer = std::move(answer);
  choice.strategy = *std::move(strategy);
  choice.script = *std::move(script);
  choice.arguments = SbatchArguments(choice.script.options, command.passed_on);
  return choice;
}

// "4711" or "4711;cluster".
Result<int64_t> JobIdFrom(const std::string& printed) {
  const size_t line = printed.find_last_not_of(" \n\r\t");
  const size_t start = line == std::string::npos ? 0 : printed.rfind('\n', line) + 1;
  int64_t id = 0;
  const auto code = std::from_chars(printed.data() + start, printed.data() + printed.size(), id).ec;
  if (code == std::errc() && id > 0) return id;
  return Fail(ErrorCode::kInternal,
              "sbatch printed no job id; `squeue --me` shows whether the job "
              "was taken");
}

bool Agreed(const SubmitCommand& command, Console& console, int* exit_code) {
  *exit_code = kExitOk;
  if (command.yes) return true;
  if (!console.CanAsk()) {
    console.Complain(
        "gpuadvise: not a terminal, so nobody can agree; add --yes to submit, or "
        "--dry-run to print the script only");
    *exit_code = kExitUsage;
    return false;
  }
  if (console.Ask("Submit this job? [y/N] ")) return true;
  console.Complain("Nothing was submitted.");
  *exit_code = kExitError;
  return false;
}

// The daemon counts the job as pending from now on. Not being able to say so spoils nothing.
void TellDaemon(Api& api, const Choice& choice, int64_t job_id, Console& console) {
  const std::string advice = TextOf(choice.answer, "advice_id");
  const Result<json> told =
      api.Post("/v1/advice/" + advice + "/submitted",
               {{"job_id", job_id}, {"rank", IntOf(choice.strategy, "rank")}});
  if (!told) {
    console.Complain("gpuadvise: the job was submitted, but gpuadvised was not told: " +
                     told.error().message);
  }
}

int SubmitChoice(const SubmitCommand& command, const Choice& choice, Api& api, JobRunner& runner,
                 Console& console) {
  const Result<std::string> printed = runner.Submit(choice.arguments, choice.script.text);
  if (!printed) {
    return Report({printed.error().code, printed.error().message + "; nothing was submitted", ""},
                  console);
  }
  const Result<int64_t> job_id = JobIdFrom(*printed);
  if (!job_id) return Report(job_id.error(), console);
  TellDaemon(api, choice, *job_id, console);
  if (command.json) {
    PrintJson({{"job_id", *job_id}, {"strategy", choice.strategy}, {"script", choice.script.text}},
              console);
  } else {
    console.Print(fmt::format("Submitted job {}: {}\n", *job_id,
                              PromiseSentence(choice.strategy, console.now())));
  }
  return kExitOk;
}

int ShowDryRun(const SubmitCommand& command, const Choice& choice, Console& console) {
  if (command.json) {
    PrintJson({{"job_id", nullptr}, {"strategy", choice.strategy}, {"script", choice.script.text}},
              console);
    return kExitOk;
  }
  std::string text = ChoiceText(choice, command, console);
  text.pop_back();
  console.Complain(text);  // so that `submit --dry-run > job.sh` is just the script
  console.Print(choice.script.text);
  return kExitOk;
}

}  // namespace

int RunSubmit(const SubmitCommand& command, Api& api, JobRunner& runner,
              const std::string& job_template, Console& console) {
  const AdviceQuestion& question = command.question;
  const int64_t now = console.now();
  const Result<TrainFile> file = TrainFile::Load(question.file, question.section, now);
  if (!file) return Report(file.error(), console);
  const Result<json> answer = AskForAdvice(api, *file, question, now);
  if (!answer) return Report(answer.error(), console);
  if (const int aged = CheckAge(*answer, command.max_age_seconds, console); aged != kExitOk) {
    return aged;
  }
  if (ListOf(*answer, "strategies").empty()) {
    console.Print(AdviceText(*answer, {.all = true, .now = now, .look = console.look()}));
    return kExitInfeasible;
  }
  const Result<Choice> choice = Choose(command, *file, *answer, job_template);
  if (!choice) return Report(choice.error(), console);
  if (command.dry_run) return ShowDryRun(command, *choice, console);
  if (!command.json) {
    console.Print(ChoiceText(*choice, command, console) + "\n" +
                  PrintableLines(choice->script.text) + "\n");
  }
  int exit_code = kExitOk;
  if (!Agreed(command, console, &exit_code)) return exit_code;
  return SubmitChoice(command, *choice, api, runner, console);
}

}  // namespace gpuadvise
