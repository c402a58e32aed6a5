#include "common/forecast/array_starts.h"

#include <algorithm>
#include <utility>

#include "common/history/forecast_history.h"
#include "common/scheduler/simulation.h"
#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

// Limit on simulated jobs over all samples: cost grows with the length of the queue. A task of the
// array costs as much as sixteen existing jobs: it starts during the simulation and delays the jobs
// behind it. The more tasks, the less the samples differ.
constexpr size_t kMaxSimulatedJobs = 64'000;
constexpr size_t kTaskCosts = 16;

// The array as a queued job.
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
  job.priority = std::max<int64_t>(first.priority, 1);  // 0 means held
  job.submit_time = job.eligible_time = snapshot.taken_at;
  job.request = request;
  if (request.partitions.empty()) job.request.partitions = {first.partition};
  return job;
}

std::shared_ptr<const QueueModel> WithJob(const QueueModel& queue, Job job, int64_t tasks,
                                          size_t most_samples) {
  auto snapshot = std::make_shared<Snapshot>(queue.snapshot());
  snapshot->jobs.push_back(std::move(job));
  if (queue.past() == nullptr) return PrepareQueue(std::move(snapshot));
  SimulationOptions options = queue.options();
  options.simulate_once_from = 0;
  const size_t samples =
      kMaxSimulatedJobs / (queue.pending().size() + kTaskCosts * static_cast<size_t>(tasks));
  options.samples =
      std::clamp(static_cast<int>(std::min(samples, most_samples)), 1, options.samples);
  return PrepareQueue(std::move(snapshot), *queue.past(), options);
}

// Seconds from the first to the last start of the array's tasks, by sample, ascending.
std::vector<int64_t> SecondsToLast(const QueueModel& queue, int64_t id, int64_t tasks) {
  std::vector<int64_t> spans;
  const int samples = queue.by_time_limit() ? 1 : queue.options().samples;
  for (int sample = 0; sample < samples; ++sample) {
    int64_t first = kNever, last = 0, started = 0;
    for (const SimulatedJob& played : SimulateQueue(queue, sample)) {
      if (queue.pending()[played.pending].id != id) continue;
      first = std::min(first, played.start);
      last = std::max(last, played.start);
      ++started;
    }
    if (started < tasks) last = queue.options().horizon_seconds;  // some start after it
    spans.push_back(started == 0 ? last : std::max<int64_t>(last - first, 0));
  }
  std::sort(spans.begin(), spans.end());
  return spans;
}

}  // namespace

Result<ArrayStarts> StartOfArray(const QueueModel& queue, const JobRequest& request,
                                 const ArrayShape& array, const Submitter& submitter,
                                 size_t most_samples) {
  Result<StartSamples> first = StartOf(queue, request, submitter, most_samples);
  if (!first) return tl::unexpected<Error>(first.error());
  ArrayStarts starts{*first, std::move(*first), std::min(array.tasks, kMaxTasks), false};
  const Job job = ArrayJob(queue.snapshot(), request, array, submitter, starts.first);
  const std::vector<int64_t> spans = SecondsToLast(
      *WithJob(queue, job, starts.tasks_played, most_samples), job.id, starts.tasks_played);
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
