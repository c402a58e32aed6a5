#include "client/sweep/sweep_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/array_tasks.h"

namespace gpuadvise::client {

Result<std::vector<QueuedTask>> QueuedTasks(SlurmQuery& slurm, const std::string& user) {
  const Result<std::string> printed =
      slurm.Ask("squeue", {"--noheader", "--array", "--user=" + user, "--format=%F|%K|%t"});
  if (!printed) return tl::unexpected<Error>(printed.error());
  std::vector<QueuedTask> tasks;
  std::string_view text = *printed;
  while (!text.empty()) {
    const auto cells = SplitAt(TakeLine(text), '|');
    if (cells.size() < 3) continue;
    const auto array = WholeNumber(Trim(cells[0])), task = WholeNumber(Trim(cells[1]));
    if (array && task) tasks.push_back({*array, *task, Trim(cells[2]) == "PD"});
  }
  return tasks;
}

std::vector<SweepRun> RunsOf(const SweepRecord& record, const std::vector<QueuedTask>& queued,
                             const std::map<int64_t, TakenRun>& taken) {
  std::set<int64_t> arrays;
  for (const SweepJob& job : record.jobs) arrays.insert(job.id);
  std::map<int64_t, QueuedTask> in_queue;  // where it runs rather than where it waits
  for (const QueuedTask& task : queued) {
    if (!arrays.contains(task.array)) continue;
    const auto [known, is_new] = in_queue.emplace(task.task, task);
    if (!is_new && known->second.waits) known->second = task;
  }
  std::vector<SweepRun> runs;
  const Result<ArrayTasks> all = ParseArrayTasks(record.array);
  if (!all) return runs;
  for (const int64_t number : all->numbers) {
    SweepRun run{number, RunState::kLost, 0, {}};
    const auto begun = taken.find(number);
    const auto queue = in_queue.find(number);
    if (begun != taken.end() && begun->second.status == 0) {
      run.state = RunState::kDone;
    } else if (queue != in_queue.end()) {
      run.state = queue->second.waits ? RunState::kWaiting : RunState::kRunning;
      run.array = queue->second.array;
    } else if (begun != taken.end()) {
      run.state = RunState::kFailed;
      run.status = begun->second.status;
    }
    runs.push_back(run);
  }
  return runs;
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
