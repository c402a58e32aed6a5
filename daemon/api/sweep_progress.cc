#include "daemon/api/sweep_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/json_fields.h"
#include "common/forecast/job_ends.h"
#include "common/scheduler/node_pool.h"
#include "common/slurm/array_tasks.h"
#include "daemon/state/submitted_jobs.h"

namespace gpuadvise::daemon {
namespace {

// Tasks that end before the report of their array reaches the daemon have the array's submission.
constexpr int64_t kClockSlackSeconds = 300;

// What the queue shows of a sweep.
struct InQueue {
  std::set<int64_t> arrays;  // those that it shows
  std::vector<const Job*> running, waiting;
};

// The jobs of each sweep, by its place in `sweeps`.
std::vector<InQueue> FindInQueue(const std::vector<KnownSweep>& sweeps, const Snapshot& snapshot) {
  std::map<std::pair<int64_t, int64_t>, size_t> of_array;  // and owner
  for (size_t i = 0; i < sweeps.size(); ++i) {
    for (const int64_t array : sweeps[i].arrays) of_array[{array, sweeps[i].uid}] = i;
  }
  std::vector<InQueue> found(sweeps.size());
  for (const Job& job : snapshot.jobs) {
    const int64_t array = job.array_job_id == 0 ? job.id : job.array_job_id;
    const auto sweep = of_array.find({array, job.uid});
    if (sweep == of_array.end()) continue;
    InQueue& jobs = found[sweep->second];
    jobs.arrays.insert(array);
    (HoldsNodes(job) ? jobs.running : jobs.waiting).push_back(&job);
  }
  return found;
}

// The end of all `waiting` by sample; empty where one is not simulated.
std::vector<int64_t> LastEnds(const std::vector<const Job*>& waiting, const ArrayEnds& ends) {
  std::vector<int64_t> last;
  for (const Job* job : waiting) {
    const auto own = ends.find(job->id);
    if (own == ends.end()) return {};
    last.resize(own->second.size(), 0);
    for (size_t i = 0; i < last.size(); ++i) last[i] = std::max(last[i], own->second[i]);
  }
  std::sort(last.begin(), last.end());
  return last;
}

// When the last of the jobs ends: of what runs the latest p50 and p90, of what waits the quantiles
// over the samples, whichever is later.
void AddEnd(const InQueue& jobs, const DaemonState& state, api::SweepProgress& progress) {
  if (jobs.running.empty() && jobs.waiting.empty()) return;
  int64_t p50 = 0, p90 = 0;
  std::vector<int64_t> ids;
  for (const Job* job : jobs.running) ids.push_back(job->id);
  const JobEnds ends(*state.queue, ids);
  for (const int64_t id : ids) {
    const std::optional<JobEnd> end = ends.EndOf(id);
    if (!end) return;
    p50 = std::max(p50, end->p50);
    p90 = std::max(p90, end->p90);
  }
  if (!jobs.waiting.empty()) {
    const std::vector<int64_t> last = LastEnds(jobs.waiting, state.Ends());
    if (last.empty()) return;
    const auto at = [&](double q) {
      return last[static_cast<size_t>(std::ceil(q * static_cast<double>(last.size()))) - 1];
    };
    if (at(.9) == kNever) return;
    p50 = std::max(p50, state.snapshot->taken_at + at(.5));
    p90 = std::max(p90, state.snapshot->taken_at + at(.9));
  }
  progress.end_p50 = p50;
  progress.end_p90 = std::max(p50, p90);
}

int64_t TasksOf(const std::vector<const Job*>& jobs) {
  int64_t tasks = 0;
  for (const Job* job : jobs) tasks += HoldsNodes(*job) ? 1 : job->array_task_count;
  return tasks;
}

// Whether an array of it was submitted after the snapshot, which cannot show it.
bool IsNewerThan(const KnownSweep& sweep, const InQueue& jobs, UnixSeconds taken_at) {
  return sweep.submitted_at >= taken_at && jobs.arrays.empty();
}

void AddCounts(const InQueue& jobs, const History::EndedTasks& ended,
               api::SweepProgress& progress) {
  int64_t left = progress.runs;
  const auto take = [&](int64_t count) {
    const int64_t taken = std::min(count, left);
    left -= taken;
    return taken;
  };
  progress.running = take(TasksOf(jobs.running));
  progress.waiting = take(TasksOf(jobs.waiting));
  progress.done = take(ended.completed);
  progress.failed = take(ended.failed);
  progress.unknown = left;
}

}  // namespace

std::vector<api::SweepProgress> ProgressOf(const std::vector<SweepName>& sweeps,
                                           const RequestContext& call) {
  std::vector<KnownSweep> known;
  for (const auto& [job_id, uid] : std::set<SweepName>(sweeps.begin(), sweeps.end())) {
    if (auto sweep = call.api.experiments.FindSweep(job_id, uid)) {
      known.push_back(std::move(*sweep));
    }
  }
  std::ranges::stable_sort(known, std::greater(), &KnownSweep::submitted_at);
  std::vector<InQueue> in_queue(known.size());
  if (call.state) in_queue = FindInQueue(known, *call.state->snapshot);
  std::vector<api::SweepProgress> all;
  for (size_t i = 0; i < known.size(); ++i) {
    const KnownSweep& sweep = known[i];
    api::SweepProgress& progress = all.emplace_back();
    progress.job_id = sweep.job_id;
    progress.name = sweep.name;
    progress.user = sweep.user;
    progress.submitted_at = sweep.submitted_at;
    progress.arrays = sweep.arrays;
    progress.runs = sweep.runs;
    progress.moved = sweep.moved;
    if (!call.state || IsNewerThan(sweep, in_queue[i], call.state->snapshot->taken_at)) {
      progress.waiting = sweep.runs;
      continue;
    }
    const auto ended =
        call.api.history.EndedTasksOf(sweep.arrays, sweep.submitted_at - kClockSlackSeconds);
    AddCounts(in_queue[i], ended.value_or(History::EndedTasks()), progress);
    AddEnd(in_queue[i], *call.state, progress);
  }
  return all;
}

int64_t SweepOf(const Job& job, const ExperimentLog& log) {
  const int64_t own = log.SweepOf(job.id, job.uid);
  return own != 0 || job.array_job_id == 0 ? own : log.SweepOf(job.array_job_id, job.uid);
}

Result<SweepPart> SweepIn(const nlohmann::json& body, int64_t job_id, const RequestContext& call) {
  const auto member = body.find("sweep");
  if (member == body.end() || member->is_null()) return SweepPart();
  DocumentErrors errors;
  FieldReader reader(*member, "/sweep", &errors);
  SweepPart part;
  part.job_id = reader.Int("job_id", 1, INT64_MAX).value_or(0);
  part.runs = reader.Int("runs", 1, kMostArrayTasks).value_or(0);
  part.moved = reader.Int("moved", 0, std::max<int64_t>(part.runs, 0)).value_or(0);
  if (part.job_id == 0) reader.Refuse("job_id", "job_id of the sweep's first array is missing");
  if (part.runs == 0) reader.Refuse("runs", "runs, the number of runs of the sweep, is missing");
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());
  if (part.job_id == job_id) return part;
  ExperimentLog& log = call.api.experiments;
  if (log.Knows(part.job_id, call.peer.uid)) return part;
  const Snapshot& snapshot = *call.state->snapshot;
  const auto first = SubmissionOf(part.job_id, call.peer.uid, snapshot,
                                  snapshot.taken_at + call.freshness.age_seconds);
  if (first) return part;
  Error error = first.error();
  error.message = fmt::format("the sweep's first array: {}", error.message);
  error.pointer = "/sweep/job_id";
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace gpuadvise::daemon
