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
#include "client/script/command_conflicts.h"
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

// What a folder on a network shows may be a minute old: a run counts as failed or lost only after
// so many looks and KeepOptions::settle_seconds.
constexpr int kSettledLooks = 3;
constexpr int kLooksBetweenMoves = 5;
constexpr int64_t kMostPlaced = 3;  // submissions of a run that never begins
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

// Most runs at a time; 0: all.
int64_t ThrottleOf(const SweepRecord& record) {
  const Result<ArrayTasks> all = ParseArrayTasks(record.array);
  return all ? all->throttle : 0;
}

int64_t RunCount(const SweepRecord& record) {
  const Result<ArrayTasks> all = ParseArrayTasks(record.array);
  return all ? static_cast<int64_t>(all->numbers.size()) : 0;
}

// A request for where `tasks` would go; those of `runs` that wait are among them.
Result<json> RequestFor(const SweepRecord& record, const std::vector<SweepRun>& runs,
                        const std::vector<int64_t>& tasks, int64_t now) {
  AdviceQuestion question;
  question.fixed = record.fixed;
  question.fixed.Set("array", ArrayTasks{tasks, 0}.Slice(0, tasks.size(), ThrottleOf(record)));
  if (record.objective != "deadline") question.objective = record.objective;
  json spec = record.spec;  // the sweep as a whole has no deadline
  spec.erase("deadline");
  if (TextOf(spec, "objective") == "deadline") spec.erase("objective");
  Result<json> request = AdviceRequest(TrainFile::FromSpec(spec, record.source), question, now);
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
                       {"tasks", count},
                       {"job_id", job.id}});
  }
  (*request)["replaces"] = replaced;
  (*request)["waiting"] = waiting;
  return request;
}

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

class Keeper {
 public:
  Keeper(SweepFolder& folder, const KeepOptions& options, const CommandContext& context,
         std::string job_template)
      : folder_(folder),
        record_(folder.record()),
        options_(options),
        context_(context),
        job_template_(std::move(job_template)),
        needs_one_array_(!NeedsOneArray(folder.record().spec, folder.record().fixed).empty()) {}

  int Run() {
    if (ProgramVariables() != record_.environment) {
      context_.console.Complain(
          "gpuadvise: PATH, VIRTUAL_ENV, CONDA_PREFIX or LD_LIBRARY_PATH differs from when the "
          "sweep was submitted, and jobs that are submitted now get this shell's; load the same "
          "modules and environments, and start this again");
    }
    for (;; context_.sleep(options_.every_seconds)) {
      const Result<std::vector<SweepRun>> runs = LookAt(folder_, context_);
      if (!runs) {  // nothing is known now, so nothing is done
        Complain(runs.error().message + "; looking again");
        continue;
      }
      complaint_.clear();
      Say(RunsInWords(*runs));
      CountLooks(*runs);
      if (IsOver(*runs)) return End(*runs);
      if (CancelMoving(*runs)) continue;
      std::vector<int64_t> unplaced;
      for (const SweepRun& run : *runs) {
        if (MayBegin(run) && LetBegin(run)) unplaced.push_back(run.run);
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

  // What happens; beside an answer in JSON, which comes at the end.
  void Tell(const std::string& sentence) {
    Console& console = context_.console;
    console.style().json ? console.Complain(sentence) : console.Print(sentence + "\n");
  }

  void Say(const std::string& words) {
    if (words == said_) return;
    said_ = words;
    Tell(ClockTime(context_.console.now(), context_.console.now()) + ": " + words);
  }

  int End(const std::vector<SweepRun>& runs) {
    if (context_.console.style().json) PrintJson(JsonOf(folder_, runs), context_.console);
    const int64_t lost = CountRuns(runs, RunState::kLost);
    if (lost > 0) {
      Complain(
          fmt::format("{} never began although submitted {} times; the logs of their jobs say "
                      "why: is {} on the nodes?",
                      Plural(lost, "run"), kMostPlaced + 1, folder_.path()));
    }
    return CountRuns(runs, RunState::kDone) == static_cast<int64_t>(runs.size()) ? kExitOk
                                                                                 : kExitError;
  }

  void CountLooks(const std::vector<SweepRun>& runs) {
    const int64_t now = context_.console.now();
    for (const SweepRun& run : runs) {
      const bool out = run.state == RunState::kFailed || run.state == RunState::kLost;
      if (!out) {
        looks_.erase(run.run);
      } else if (Looks& looks = looks_[run.run]; looks.count > 0 && looks.state == run.state) {
        ++looks.count;
      } else {
        looks = {run.state, 1, now};
      }
    }
    ++looks_since_move_;
  }

  bool IsSettled(const SweepRun& run) const {
    const auto found = looks_.find(run.run);
    if (found == looks_.end()) return false;
    const auto seconds = static_cast<double>(context_.console.now() - found->second.since);
    return found->second.count >= kSettledLooks && seconds >= options_.settle_seconds;
  }

  static int64_t CountOf(const std::map<int64_t, int64_t>& counts, int64_t run) {
    const auto found = counts.find(run);
    return found == counts.end() ? 0 : found->second;
  }

  // Whether no more is done about a failed or lost run.
  bool IsGivenUp(const SweepRun& run) const {
    return run.state == RunState::kFailed ? CountOf(record_.retries, run.run) >= options_.retry
                                          : CountOf(record_.placed, run.run) >= kMostPlaced;
  }

  bool MayBegin(const SweepRun& run) const {
    const bool out = run.state == RunState::kFailed || run.state == RunState::kLost;
    return out && IsSettled(run) && !IsGivenUp(run);
  }

  // Removes what the last beginning left. Of a run that has not begun nothing is removed: a job
  // that nobody knows of, because its submitter was killed, may just have taken it.
  bool LetBegin(const SweepRun& run) {
    if (folder_.StatusOf(run.run) == 0) return false;  // seen late
    if (run.state == RunState::kFailed) failed_.insert(run.run);
    if (!run.taken) return true;
    const Result<void> done = folder_.Forget(run.run);
    if (!done) Complain(done.error().message);
    return done.has_value();
  }

  bool IsOver(const std::vector<SweepRun>& runs) const {
    return std::all_of(runs.begin(), runs.end(), [&](const SweepRun& run) {
      const bool out = run.state == RunState::kFailed || run.state == RunState::kLost;
      return run.state == RunState::kDone || (out && IsSettled(run) && IsGivenUp(run));
    });
  }

  void Place(const std::vector<SweepRun>& runs, const std::vector<int64_t>& unplaced) {
    std::vector<int64_t> tasks = unplaced;
    for (const SweepRun& run : runs) {
      if (run.state == RunState::kWaiting) tasks.push_back(run.run);
    }
    const int64_t throttle = ThrottleOf(record_);
    const bool may_move =
        throttle == 0 && !needs_one_array_ && looks_since_move_ >= kLooksBetweenMoves;
    if (tasks.empty() || (unplaced.empty() && !may_move)) return;
    std::sort(tasks.begin(), tasks.end());
    const int64_t now = context_.console.now();
    const Result<json> request = RequestFor(record_, runs, tasks, now);
    if (!request) return Complain(request.error().message);
    const Result<json> answer = context_.api.Post("/v1/advise", *request);
    if (!answer) return Complain(answer.error().message + "; nothing is moved");
    const auto advice = ReadAnswer<api::Advice>(*answer);
    if (advice.strategies.empty()) return Complain("no strategy can run what is left now");
    const std::vector<api::CommandConflict> conflicts = ConflictsOf(record_.spec, advice);
    const int64_t followed = FirstFollowed(advice, conflicts);
    const bool can_follow = CanFollowSweep(advice, conflicts);
    const bool moving = can_follow && may_move && advice.sweep && IsWorthMoving(*advice.sweep);
    SweepMoves moves = MovesTo(advice, record_, runs, unplaced, moving);
    int64_t room = 0;  // of the throttle
    if (throttle > 0) {
      room = throttle - CountRuns(runs, RunState::kRunning) - CountRuns(runs, RunState::kWaiting);
      if (room <= 0) return;  // as soon as others have ended
    }
    // Under a throttle one array: several would each have their own.
    const bool together = !advice.sweep || !can_follow || throttle > 0;
    if (together && !unplaced.empty()) {
      if (followed == 0) return Complain("the command can follow no row now");
      moves = {{}, {{followed, unplaced}}};
    }
    if (moves.empty()) return;
    if (moving) {
      looks_since_move_ = 0;
      Tell(fmt::format("where runs wait they are done by {}, moved by {}",
                       ClockTime(now + advice.sweep->as_it_waits->p50_seconds, now),
                       ClockTime(now + advice.sweep->makespan.p50_seconds, now)));
    }
    for (const auto& [array, cancelled] : moves.cancel) {
      record_.moving.insert(cancelled.begin(), cancelled.end());
    }
    if (const Result<void> saved = folder_.Save(); !saved) return Complain(saved.error().message);
    std::set<int64_t> free(unplaced.begin(), unplaced.end());
    std::set<int64_t> moved;
    for (const auto& [array, cancelled] : moves.cancel) {
      for (const int64_t task : CancelWaiting(array, cancelled)) moved.insert(task);
    }
    free.insert(moved.begin(), moved.end());
    for (NewArray& array : moves.submit) {
      std::erase_if(array.tasks, [&](int64_t task) { return !free.contains(task); });
      if (!array.tasks.empty()) SubmitArray(array, moved, room, *answer);
    }
  }

  // Cancels runs that wait although they were to be moved: whoever held them was killed. Whether
  // there were any; as lost ones they are placed later.
  bool CancelMoving(const std::vector<SweepRun>& runs) {
    std::map<int64_t, std::vector<int64_t>> by_array;
    for (const SweepRun& run : runs) {
      if (run.state == RunState::kWaiting && record_.moving.contains(run.run)) {
        by_array[run.array].push_back(run.run);
      }
    }
    for (const auto& [array, tasks] : by_array) CancelWaiting(array, tasks);
    return !by_array.empty();
  }

  // Those of the waiting `tasks` that are out of the queue without having done their run; they may
  // begin again. A held task cannot begin while it is cancelled. (`scancel --state=PENDING` cannot
  // take its place: in Slurm 22.05 it cancels all waiting tasks of the array.)
  std::vector<int64_t> CancelWaiting(int64_t array, const std::vector<int64_t>& tasks) {
    const auto id_of = [&](const std::vector<int64_t>& some) {
      return fmt::format("{}_[{}]", array, ArrayTasks{some, 0}.Ranges());
    };
    (void)context_.slurm.Ask("scontrol", {"hold", id_of(tasks)});  // fails where one has begun
    const Result<std::vector<SweepRun>> held = LookAt(folder_, context_);
    if (!held) {
      Complain(held.error().message);
      return {};
    }
    std::vector<int64_t> waiting;
    for (const SweepRun& run : *held) {
      const bool waits = run.state == RunState::kWaiting && run.array == array;
      if (waits && std::binary_search(tasks.begin(), tasks.end(), run.run)) {
        waiting.push_back(run.run);
      }
    }
    if (!waiting.empty()) {
      const Result<std::string> done = context_.slurm.Ask("scancel", {id_of(waiting)});
      if (!done) Complain(done.error().message);
    }
    std::vector<SweepRun> left;
    for (int look = 0; look < kLooksForCancelled; ++look) {
      Result<std::vector<SweepRun>> runs = LookAt(folder_, context_);
      if (!runs) {
        Complain(runs.error().message);
        return {};
      }
      left = *std::move(runs);
      std::erase_if(left, [&](const SweepRun& run) {
        return !std::binary_search(tasks.begin(), tasks.end(), run.run);
      });
      if (CountRuns(left, RunState::kWaiting) == 0) break;
      context_.sleep(.5);
    }
    std::vector<int64_t> gone;
    for (const SweepRun& run : left) {
      const bool out = run.state == RunState::kLost || run.state == RunState::kFailed;
      if (!out || folder_.StatusOf(run.run) == 0) continue;
      if (!run.taken || folder_.Forget(run.run)) gone.push_back(run.run);
    }
    return gone;
  }

  // `moved`: runs that waited in another array.
  void SubmitArray(const NewArray& array, const std::set<int64_t>& moved, int64_t throttle,
                   const json& answer) {
    ChoiceRequest request{array.rank, record_.fixed, record_.passed_on};
    request.fixed.Set("array", ArrayTasks{array.tasks, 0}.Slice(0, array.tasks.size(), throttle));
    request.of_array = record_.array;
    request.sweep_folder = folder_.path();
    const Result<Choice> choice =
        Choose(request, TrainFile::FromSpec(record_.spec, record_.source), answer, job_template_);
    if (!choice) return Complain(choice.error().message);
    const JobChecks checks =
        CheckJob(record_.spec, *choice, context_.site, nullptr, context_.console.now());
    if (const Result<void> made = MakeFolders(checks.log_folders); !made) {
      return Complain(made.error().message);
    }
    const Result<std::string> printed =
        context_.runner.Submit(choice->arguments, choice->script.text);
    if (!printed) return Complain(printed.error().message);
    const Result<int64_t> id = JobIdFrom(*printed);
    if (!id) return Complain(id.error().message);
    AddJob(*choice, *id, record_);
    for (const int64_t task : array.tasks) {
      // A run that was cancelled to be moved is not lost, also where its mover was killed.
      const bool was_moving = record_.moving.erase(task) > 0;
      if (failed_.erase(task) > 0) {
        ++record_.retries[task];
      } else if (!was_moving) {
        ++record_.placed[task];
      }
      looks_.erase(task);
    }
    if (const Result<void> saved = folder_.Save(); !saved) Complain(saved.error().message);
    const auto count =
        std::ranges::count_if(array.tasks, [&](int64_t task) { return moved.contains(task); });
    TellDaemon(context_.api, *choice, *id, "", {record_.jobs.front().id, RunCount(record_), count},
               context_.console);
    Tell(fmt::format("submitted job {}: {} {} on {}", *id, array.tasks.size() == 1 ? "run" : "runs",
                     TasksText(array.tasks), StrategyName(choice->strategy)));
  }

  SweepFolder& folder_;
  SweepRecord& record_;
  const KeepOptions& options_;
  const CommandContext& context_;
  const std::string job_template_;
  const bool needs_one_array_;
  std::string complaint_, said_;
  struct Looks {
    RunState state = RunState::kLost;
    int count = 0;
    int64_t since = 0;
  };
  std::map<int64_t, Looks> looks_;  // of failed and lost runs
  std::set<int64_t> failed_;        // runs that failed and are to begin again
  int looks_since_move_ = kLooksBetweenMoves;
};

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
  std::string text = fmt::format("  those that wait are done by {}",
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
