#include "client/commands/sweep_keep.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/report.h"
#include "client/commands/submission.h"
#include "client/questions/advice_question.h"
#include "client/sbatch/job_words.h"
#include "client/sweep/sweep_moves.h"
#include "client/sweep/sweep_runs.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/array_tasks.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// What a folder on a network shows may be half a minute old, so that a run counts as failed or lost
// only after so many looks.
constexpr int kSettledLooks = 3;
constexpr int kLooksBetweenMoves = 5;
constexpr int kLooksForCancelled = 10;

// Queue and folder, in this order.
Result<std::vector<SweepRun>> LookAt(const SweepFolder& folder, const CommandContext& context) {
  const auto queued = QueuedTasks(context.slurm, context.user_name());
  if (!queued) return tl::unexpected<Error>(queued.error());
  const auto taken = folder.Taken();
  if (!taken) return tl::unexpected<Error>(taken.error());
  return RunsOf(folder.record(), *queued, *taken);
}

std::string TasksText(const std::vector<int64_t>& tasks) {
  return ArrayTasks{tasks, 0}.Slice(0, tasks.size(), 0);
}

// A request for where `tasks` would go; those of `runs` that wait are among them.
Result<json> RequestFor(const SweepRecord& record, const std::vector<SweepRun>& runs,
                        const std::vector<int64_t>& tasks, int64_t now) {
  AdviceQuestion question;
  question.fixed = record.fixed;
  question.fixed.Set("array", TasksText(tasks));
  question.objective = record.objective;
  Result<json> request =
      AdviceRequest(TrainFile::FromSpec(record.spec, record.source), question, now);
  if (!request) return request;
  json replaced = json::array(), waiting = json::array();
  for (const SweepJob& job : record.jobs) {
    const auto count = std::count_if(runs.begin(), runs.end(), [&](const SweepRun& run) {
      return run.state == RunState::kWaiting && run.array == job.id;
    });
    if (count == 0) continue;
    replaced.push_back(job.id);
    waiting.push_back({{"gpu", job.gpu},
                       {"partition", job.partition},
                       {"gpus_per_node", job.gpus_per_node},
                       {"nodes", job.nodes},
                       {"tasks", count}});
  }
  (*request)["replaces"] = replaced;
  (*request)["waiting"] = waiting;
  return request;
}

class Keeper {
 public:
  Keeper(SweepFolder& folder, const KeepOptions& options, const CommandContext& context,
         std::string job_template)
      : folder_(folder),
        record_(folder.record()),
        options_(options),
        context_(context),
        job_template_(std::move(job_template)) {}

  int Run() {
    for (;; context_.sleep(options_.every_seconds)) {
      const Result<std::vector<SweepRun>> runs = LookAt(folder_, context_);
      if (!runs) {  // nothing is known now, so nothing is done
        Complain(runs.error().message + "; looking again");
        continue;
      }
      complaint_.clear();
      Say(RunsInWords(*runs));
      CountLooks(*runs);
      std::vector<int64_t> unplaced = Lost(*runs);
      for (const int64_t run : Again(*runs)) {
        if (LetRunAgain(run)) unplaced.push_back(run);
      }
      if (unplaced.empty() && IsOver(*runs)) {
        return CountRuns(*runs, RunState::kDone) == static_cast<int64_t>(runs->size())
                   ? kExitOk
                   : kExitError;
      }
      Place(*runs, unplaced);
    }
  }

 private:
  // Each complaint once, until something else is said.
  void Complain(const std::string& sentence) {
    if (sentence != complaint_) context_.console.Complain("gpuadvise: " + Printable(sentence));
    complaint_ = sentence;
  }

  void Say(const std::string& words) {
    if (words == said_) return;
    said_ = words;
    context_.console.Print(ClockTime(context_.console.now(), context_.console.now()) + ": " +
                           words + "\n");
  }

  void CountLooks(const std::vector<SweepRun>& runs) {
    for (const SweepRun& run : runs) {
      const bool out = run.state == RunState::kFailed || run.state == RunState::kLost;
      if (!out) {
        looks_.erase(run.run);
      } else if (auto& [state, count] = looks_[run.run]; state == run.state) {
        ++count;
      } else {
        looks_[run.run] = {run.state, 1};
      }
    }
    ++looks_since_move_;
  }

  bool IsSettled(const SweepRun& run) const {
    const auto found = looks_.find(run.run);
    return found != looks_.end() && found->second.second >= kSettledLooks;
  }

  std::vector<int64_t> Lost(const std::vector<SweepRun>& runs) const {
    std::vector<int64_t> lost;
    for (const SweepRun& run : runs) {
      if (run.state == RunState::kLost && IsSettled(run)) lost.push_back(run.run);
    }
    return lost;
  }

  // Failed runs that may run again.
  std::vector<int64_t> Again(const std::vector<SweepRun>& runs) const {
    std::vector<int64_t> again;
    for (const SweepRun& run : runs) {
      if (run.state != RunState::kFailed || !IsSettled(run)) continue;
      const auto tried = record_.retries.find(run.run);
      if ((tried == record_.retries.end() ? 0 : tried->second) < options_.retry) {
        again.push_back(run.run);
      }
    }
    return again;
  }

  bool LetRunAgain(int64_t run) {
    ++record_.retries[run];
    Result<void> done = folder_.Save();
    if (done) done = folder_.Forget(run);
    if (!done) Complain(done.error().message);
    return done.has_value();
  }

  bool IsOver(const std::vector<SweepRun>& runs) const {
    return std::all_of(runs.begin(), runs.end(), [&](const SweepRun& run) {
      return run.state == RunState::kDone || (run.state == RunState::kFailed && IsSettled(run));
    });
  }

  void Place(const std::vector<SweepRun>& runs, const std::vector<int64_t>& unplaced) {
    std::vector<int64_t> tasks = unplaced;
    for (const SweepRun& run : runs) {
      if (run.state == RunState::kWaiting) tasks.push_back(run.run);
    }
    const Result<ArrayTasks> all = ParseArrayTasks(record_.array);
    const bool may_move = all && all->throttle == 0 && looks_since_move_ >= kLooksBetweenMoves;
    if (tasks.empty() || (unplaced.empty() && !may_move)) return;
    std::sort(tasks.begin(), tasks.end());
    const int64_t now = context_.console.now();
    const Result<json> request = RequestFor(record_, runs, tasks, now);
    if (!request) return Complain(request.error().message);
    const Result<json> answer = context_.api.Post("/v1/advise", *request);
    if (!answer) return Complain(answer.error().message + "; nothing is moved");
    const auto advice = ReadAnswer<api::Advice>(*answer);
    if (advice.strategies.empty()) return Complain("no strategy can run what is left now");
    const bool moving = may_move && advice.sweep && IsWorthMoving(*advice.sweep);
    SweepMoves moves = MovesTo(advice, record_, runs, unplaced, moving);
    if (!advice.sweep && !unplaced.empty()) {
      moves.submit = {{advice.strategies.front().rank, unplaced}};
    }
    if (moves.empty()) return;
    if (moving) {
      looks_since_move_ = 0;
      context_.console.Print(fmt::format(
          "where runs wait they are done by {}, moved by {}\n",
          ClockTime(now + advice.sweep->as_it_waits->p50_seconds, now),
          ClockTime(now + advice.sweep->makespan.p50_seconds, now)));
    }
    std::set<int64_t> free(unplaced.begin(), unplaced.end());
    for (const auto& [array, cancelled] : moves.cancel) {
      for (const int64_t task : CancelWaiting(array, cancelled)) free.insert(task);
    }
    for (NewArray& array : moves.submit) {
      std::erase_if(array.tasks, [&](int64_t task) { return !free.contains(task); });
      if (!array.tasks.empty()) SubmitArray(array, *answer);
    }
  }

  // Those of `tasks` that are out of the queue and have not begun.
  std::vector<int64_t> CancelWaiting(int64_t array, const std::vector<int64_t>& tasks) {
    const Result<std::string> done = context_.slurm.Ask(
        "scancel", {"--state=PENDING", fmt::format("{}_[{}]", array, TasksText(tasks))});
    if (!done) Complain(done.error().message);
    for (int look = 0; look < kLooksForCancelled; ++look) {
      const auto runs = LookAt(folder_, context_);
      if (!runs) {
        Complain(runs.error().message);
        return {};
      }
      std::vector<int64_t> gone;
      bool waits = false;
      for (const SweepRun& run : *runs) {
        if (!std::binary_search(tasks.begin(), tasks.end(), run.run)) continue;
        waits = waits || run.state == RunState::kWaiting;
        if (run.state == RunState::kLost) gone.push_back(run.run);
      }
      if (!waits || look + 1 == kLooksForCancelled) return gone;
      context_.sleep(.5);
    }
    return {};
  }

  void SubmitArray(const NewArray& array, const json& answer) {
    ChoiceRequest request{array.rank, record_.fixed, record_.passed_on};
    request.fixed.Set("array", TasksText(array.tasks));
    request.of_array = record_.array;
    request.sweep_folder = folder_.path();
    const Result<Choice> choice = Choose(
        request, TrainFile::FromSpec(record_.spec, record_.source), answer, job_template_);
    if (!choice) return Complain(choice.error().message);
    const Result<std::string> printed =
        context_.runner.Submit(choice->arguments, choice->script.text);
    if (!printed) return Complain(printed.error().message);
    const Result<int64_t> id = JobIdFrom(*printed);
    if (!id) return Complain(id.error().message);
    AddJob(*choice, *id, record_);
    if (const Result<void> saved = folder_.Save(); !saved) Complain(saved.error().message);
    TellDaemon(context_.api, *choice, *id, "", context_.console);
    context_.console.Print(fmt::format("submitted job {}: {} {} on {}\n", *id,
                                       array.tasks.size() == 1 ? "run" : "runs",
                                       TasksText(array.tasks), StrategyName(choice->strategy)));
  }

  SweepFolder& folder_;
  SweepRecord& record_;
  const KeepOptions& options_;
  const CommandContext& context_;
  const std::string job_template_;
  std::string complaint_, said_;
  std::map<int64_t, std::pair<RunState, int>> looks_;  // of failed and lost runs
  int looks_since_move_ = kLooksBetweenMoves;
};

const char* WordOf(RunState state) {
  switch (state) {
    case RunState::kWaiting:
      return "waiting";
    case RunState::kRunning:
      return "running";
    case RunState::kDone:
      return "done";
    case RunState::kFailed:
      return "failed";
    case RunState::kLost:
      break;
  }
  return "lost";
}

json JsonOf(const SweepFolder& folder, const std::vector<SweepRun>& runs) {
  json list = json::array();
  for (const SweepRun& run : runs) {
    json one = {{"run", run.run}, {"state", WordOf(run.state)}};
    if (run.array != 0) one["job_id"] = run.array;
    if (run.status) one["exit_status"] = *run.status;
    list.push_back(one);
  }
  json counts;
  for (const RunState state : {RunState::kDone, RunState::kRunning, RunState::kWaiting,
                               RunState::kFailed, RunState::kLost}) {
    counts[WordOf(state)] = CountRuns(runs, state);
  }
  return {{"sweep_dir", folder.path()}, {"counts", counts}, {"runs", list}};
}

// "  job 4711 on L40S × 1: 12 running, 20 waiting"
std::string JobsText(const SweepRecord& record, const std::vector<SweepRun>& runs) {
  std::string text;
  for (const SweepJob& job : record.jobs) {
    int64_t running = 0, waiting = 0;
    for (const SweepRun& run : runs) {
      if (run.array != job.id) continue;
      running += run.state == RunState::kRunning ? 1 : 0;
      waiting += run.state == RunState::kWaiting ? 1 : 0;
    }
    if (running + waiting == 0) continue;
    text += fmt::format("  job {} on {}: {} running, {} waiting\n", job.id,
                        StrategyName(job.gpu, job.gpus_per_node, job.nodes), running, waiting);
  }
  return text;
}

// When the waiting runs are done; "" where that is not known.
std::string WaitingText(const SweepFolder& folder, const std::vector<SweepRun>& runs,
                        const CommandContext& context) {
  std::vector<int64_t> tasks;
  for (const SweepRun& run : runs) {
    if (run.state == RunState::kWaiting) tasks.push_back(run.run);
  }
  if (tasks.empty()) return "";
  const int64_t now = context.console.now();
  const Result<json> request = RequestFor(folder.record(), runs, tasks, now);
  if (!request) return "";
  const Result<json> answer = context.api.Post("/v1/advise", *request);
  if (!answer) return "";
  const auto advice = ReadAnswer<api::Advice>(*answer);
  if (!advice.sweep || !advice.sweep->as_it_waits) return "";
  const api::Seconds& end = *advice.sweep->as_it_waits;
  std::string text =
      fmt::format("  those that wait are done by {}",
                  ClockRange(now + end.p50_seconds, now + end.p90_seconds, now));
  if (IsWorthMoving(*advice.sweep)) {
    text += fmt::format("; --keep would move some: {}",
                        ClockTime(now + advice.sweep->makespan.p50_seconds, now));
  }
  return text + "\n";
}

}  // namespace

int KeepSweep(SweepFolder& folder, const KeepOptions& options, const CommandContext& context) {
  Console& console = context.console;
  const Result<JobSubmission> submission = FindSubmission(context);
  if (!submission) return Report(submission.error(), console);
  if (const Result<void> locked = folder.Lock(); !locked) return Report(locked.error(), console);
  std::error_code code;
  std::filesystem::current_path(folder.record().work_folder, code);
  if (code) {
    return Report({ErrorCode::kUnavailable,
                   "the folder that the sweep was submitted from cannot be entered: " +
                       folder.record().work_folder + ": " + code.message(),
                   ""},
                  console);
  }
  return Keeper(folder, options, context, submission->job_template).Run();
}

int ShowSweep(const SweepFolder& folder, const CommandContext& context) {
  Console& console = context.console;
  const Result<std::vector<SweepRun>> runs = LookAt(folder, context);
  if (!runs) return Report(runs.error(), console);
  if (console.style().json) {
    PrintJson(JsonOf(folder, *runs), console);
    return kExitOk;
  }
  console.Print(RunsInWords(*runs) + "\n" + JobsText(folder.record(), *runs) +
                WaitingText(folder, *runs, context));
  return kExitOk;
}

}  // namespace gpuadvise::client
