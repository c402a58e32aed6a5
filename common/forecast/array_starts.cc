#include "common/forecast/array_starts.h"

#include <algorithm>
#include <utility>

#include "common/history/forecast_history.h"
#include "common/scheduler/simulation.h"
#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

// A play costs by the length of the queue: so many jobs are played in all samples together. A task
// costs sixteen jobs that are there already: it starts in the play and moves those behind it. The
// more tasks, the less one play differs from the next.
constexpr size_t kMostPlayedJobs = 64'000;
constexpr size_t kTaskCosts = 16;

// The array as the queue would show it.
Job ArrayJob(const Snapshot& snapshot, const JobRequest& request, const ArrayShape& array,
             const Submitter& submitter, const StartSamples& first) {
  const Association* association = FindAssociation(snapshot, submitter, first.partition);
  Job job;
  job.id = 1;
  for (const Job& other : snapshot.jobs) job.id = std::max(job.id, other.id + 1);
  job.array_job_id = job.id;
  job.array_task_count = array.tasks;
  job.array_throttle = array.throttle;
  job.user = submitter.user;
  job.uid = submitter.uid;
  job.account = association != nullptr ? association->account : submitter.account;
  job.qos = EffectiveQos(snapshot, submitter, association);
  job.priority = std::max<int64_t>(first.priority, 1);  // 0 is a job that is held
  job.submit_time = job.eligible_time = snapshot.taken_at;
  job.request = request;
  if (request.partitions.empty()) job.request.partitions = {first.partition};
  return job;
}

std::shared_ptr<const QueueModel> WithJob(const QueueModel& queue, Job job, int64_t tasks) {
  auto snapshot = std::make_shared<Snapshot>(queue.snapshot());
  snapshot->jobs.push_back(std::move(job));
  if (queue.past() == nullptr) return PrepareQueue(std::move(snapshot));
  SimulationOptions options = queue.options();
  options.play_once_from = 0;
  const size_t samples =
      kMostPlayedJobs / (queue.pending().size() + kTaskCosts * static_cast<size_t>(tasks));
  options.samples = std::clamp(static_cast<int>(samples), 1, options.samples);
  return PrepareQueue(std::move(snapshot), *queue.past(), options);
}

// Seconds from the start of the array's first task to that of its last, of each sample, ascending.
std::vector<int64_t> SecondsToLast(const QueueModel& queue, int64_t id, int64_t tasks) {
  std::vector<int64_t> spans;
  const int samples = queue.by_time_limit() ? 1 : queue.options().samples;
  for (int sample = 0; sample < samples; ++sample) {
    int64_t first = kNever, last = 0, started = 0;
    for (const PlayedJob& played : SimulateQueue(queue, sample)) {
      if (queue.pending()[played.pending].id != id) continue;
      first = std::min(first, played.start);
      last = std::max(last, played.start);
      ++started;
    }
    if (started < tasks) last = queue.options().horizon_seconds;  // not all before it
    spans.push_back(started == 0 ? last : std::max<int64_t>(last - first, 0));
  }
  std::sort(spans.begin(), spans.end());
  return spans;
}

}  // namespace

Result<ArrayStarts> StartOfArray(const QueueModel& queue, const JobRequest& request,
                                 const ArrayShape& array, const Submitter& submitter) {
  Result<StartSamples> first = StartOf(queue, request, submitter);
  if (!first) return tl::unexpected<Error>(first.error());
  ArrayStarts starts{*first, std::move(*first), std::min(array.tasks, kMaxTasks), false};
  const Job job = ArrayJob(queue.snapshot(), request, array, submitter, starts.first);
  const std::vector<int64_t> spans =
      SecondsToLast(*WithJob(queue, job, starts.tasks_played), job.id, starts.tasks_played);
  std::vector<int64_t>& last = starts.last.wait_seconds;
  last.clear();
  for (const int64_t wait : starts.first.wait_seconds) {
    for (const int64_t span : spans) {
      last.push_back(std::min(wait + span, queue.options().horizon_seconds));
    }
  }
  std::sort(last.begin(), last.end());
  const auto horizon = static_cast<double>(queue.options().horizon_seconds);
  starts.last_is_later = starts.last.Quantile(.5) >= horizon;
  return starts;
}

}  // namespace gpuadvise
