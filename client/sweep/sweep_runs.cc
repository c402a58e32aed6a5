#include "client/sweep/sweep_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/array_tasks.h"

namespace gpuadvise::client {

Result<std::vector<QueuedTask>> QueuedTasks(SlurmQuery& slurm, const std::string& user) {
  // %A is the task's own job id once it has begun.
  const Result<std::string> printed =
      slurm.Ask("squeue", {"--noheader", "--all", "-r", "--user=" + user, "--format=%A|%F|%K|%t"});
  if (!printed) return tl::unexpected<Error>(printed.error());
  std::vector<QueuedTask> tasks;
  std::string_view text = *printed;
  while (!text.empty()) {
    const auto cells = SplitAt(TakeLine(text), '|');
    if (cells.size() < 4) continue;
    const auto job = WholeNumber(Trim(cells[0])), array = WholeNumber(Trim(cells[1])),
               task = WholeNumber(Trim(cells[2]));
    if (job && array && task) tasks.push_back({*job, *array, *task, Trim(cells[3]) == "PD"});
  }
  return tasks;
}

std::vector<SweepRun> RunsOf(const SweepRecord& record, const std::vector<QueuedTask>& queued,
                             const std::map<int64_t, TakenRun>& taken) {
  std::set<int64_t> arrays;
  for (const SweepJob& job : record.jobs) arrays.insert(job.id);
  std::map<std::pair<int64_t, int64_t>, const QueuedTask*> by_job;  // and run
  std::map<int64_t, const QueuedTask*> by_run;  // where it runs rather than where it waits
  for (const QueuedTask& task : queued) {
    by_job[{task.job, task.task}] = &task;
    if (!arrays.contains(task.array)) continue;
    const auto [known, is_new] = by_run.emplace(task.task, &task);
    if (!is_new && known->second->waits) known->second = &task;
  }
  std::vector<SweepRun> runs;
  const Result<ArrayTasks> all = ParseArrayTasks(record.array);
  if (!all) return runs;
  for (const int64_t number : all->numbers) {
    SweepRun run{number, RunState::kLost, 0, false, {}};
    const QueuedTask* in_queue = nullptr;
    if (const auto found = by_run.find(number); found != by_run.end()) in_queue = found->second;
    if (const auto found = taken.find(number); found != taken.end()) {
      run.taken = true;
      run.status = found->second.status;
      const auto owner = by_job.find({found->second.job, number});
      in_queue = owner == by_job.end() ? nullptr : owner->second;  // others have nothing to do
    }
    // A queue shows jobs for a while that have ended; one that waits was requeued after its end.
    const bool has_ended = run.status == 0 && in_queue != nullptr && !in_queue->waits;
    if (in_queue != nullptr && !has_ended) {
      run.state = in_queue->waits ? RunState::kWaiting : RunState::kRunning;
      run.array = in_queue->array;
    } else if (run.taken) {
      run.state = run.status == 0 ? RunState::kDone : RunState::kFailed;
    }
    runs.push_back(run);
  }
  return runs;
}

void CountEnded(const std::map<int64_t, TakenRun>& taken, api::SweepProgress& progress) {
  int64_t done = 0, failed = 0;
  for (const auto& [run, one] : taken) {
    if (one.status) ++(*one.status == 0 ? done : failed);
  }
  int64_t& left = progress.unknown;
  const auto add = [&](int64_t known, int64_t& count) {
    const int64_t more = std::clamp<int64_t>(known - count, 0, left);
    count += more;
    left -= more;
  };
  add(done, progress.done);
  add(failed, progress.failed);
}

int64_t CountRuns(const std::vector<SweepRun>& runs, RunState state) {
  return std::count_if(runs.begin(), runs.end(),
                       [&](const SweepRun& run) { return run.state == state; });
}

std::string RunsInWords(const std::vector<SweepRun>& runs) {
  constexpr size_t kMostNames = 8;
  std::string words = fmt::format("{} of {} done", CountRuns(runs, RunState::kDone), runs.size());
  const auto add = [&](RunState state, const char* word, bool names) {
    const int64_t count = CountRuns(runs, state);
    if (count == 0) return;
    words += fmt::format(", {} {}", count, word);
    if (!names) return;
    std::vector<std::string> numbers;
    for (const SweepRun& run : runs) {
      if (run.state == state) numbers.push_back(std::to_string(run.run));
    }
    words += " (" + JoinNames(numbers, kMostNames) + ")";
  };
  add(RunState::kRunning, "running", false);
  add(RunState::kWaiting, "waiting", false);
  add(RunState::kFailed, "failed", true);
  add(RunState::kLost, "neither begun nor queued", true);
  return words;
}

}  // namespace gpuadvise::client
