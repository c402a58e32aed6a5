#include "common/forecast/array_starts.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
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

int64_t LastId(const Snapshot& snapshot) {
  int64_t last = 0;
  for (const Job& job : snapshot.jobs) last = std::max(last, job.id);
  return last;
}

// The array as a queued job.
Job ArrayJob(const Snapshot& snapshot, const PlayedArray& array, int64_t id) {
  const Submitter& submitter = array.submitter;
  const Association* association = FindAssociation(snapshot, submitter, array.first.partition);
  Job job;
  job.id = job.array_job_id = id;
  job.array_task_count = array.shape.tasks;
  job.array_throttle = array.shape.throttle;
  job.user = submitter.user;
  job.uid = submitter.uid;
  job.account = association != nullptr ? association->account : submitter.account;
  job.qos = EffectiveQos(snapshot, submitter, association);
  const int64_t priority = array.priority > 0 ? array.priority : array.first.priority;
  job.priority = std::max<int64_t>(priority, 1);  // 0 means held
  job.submit_time = job.eligible_time = snapshot.taken_at;
  job.request = array.request;
  if (array.request.partitions.empty()) job.request.partitions = {array.first.partition};
  return job;
}

// With fewer samples the longer the queue and the arrays.
SimulationOptions OptionsFor(const QueueModel& queue, const std::vector<PlayedArray>& arrays,
                             size_t most_samples) {
  SimulationOptions options = queue.options();
  constexpr int kLeastOfKnown = 4;  // where runs are as long as said, quantiles are wanted
  size_t tasks = 0;
  int least = 1;
  for (const PlayedArray& array : arrays) {
    tasks = std::max(tasks, static_cast<size_t>(array.shape.tasks));
    if (array.run_seconds) least = std::min(kLeastOfKnown, options.samples);
  }
  options.simulate_once_from = 0;
  const size_t samples = kMaxSimulatedJobs / (queue.pending().size() + kTaskCosts * tasks);
  options.samples =
      std::clamp(static_cast<int>(std::min(samples, most_samples)), least, options.samples);
  return options;
}

}  // namespace

Result<ArrayStarts> StartOfArray(const QueueModel& queue, const JobRequest& request,
                                 const ArrayShape& array, const Submitter& submitter,
                                 size_t most_samples) {
  Result<StartSamples> first = StartOf(queue, request, submitter, most_samples);
  if (!first) return tl::unexpected<Error>(first.error());
  ArrayStarts starts{*first, std::move(*first), std::min(array.tasks, kMaxTasks), false};
  const int64_t horizon_seconds = queue.options().horizon_seconds;
  std::vector<int64_t> spans;  // from the first to the last start, by sample
  const PlayedArray played{request, starts.first, submitter, array, {}};
  for (const auto& sample : PlayArrays(queue, {played}, most_samples)) {
    const TaskStarts& tasks = sample.front();
    const bool all = static_cast<int64_t>(tasks.size()) == starts.tasks_played;
    const int64_t to = all ? tasks.back() : horizon_seconds;  // some start after it
    spans.push_back(tasks.empty() ? to : to - tasks.front());
  }
  std::sort(spans.begin(), spans.end());
  std::vector<int64_t>& last = starts.last.wait_seconds;
  last.clear();
  for (const int64_t wait : starts.first.wait_seconds) {
    for (const int64_t span : spans) {
      last.push_back(std::min(wait + span, horizon_seconds));
    }
  }
  std::sort(last.begin(), last.end());
  starts.last_is_later = starts.last.Quantile(.5) >= static_cast<double>(horizon_seconds);
  return starts;
}

PlayedArrays::PlayedArrays(const QueueModel& queue, const std::vector<PlayedArray>& arrays,
                           size_t most_samples) {
  auto snapshot = std::make_shared<Snapshot>(queue.snapshot());
  tells_delays_ = !queue.by_time_limit() && queue.played() == nullptr;
  first_id_ = LastId(*snapshot) + 1;
  if (const auto* known = queue.options().known_run_times) run_times_ = *known;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const int64_t id = first_id_ + static_cast<int64_t>(i);
    if (arrays[i].run_seconds) run_times_[id] = *arrays[i].run_seconds;
    snapshot->jobs.push_back(ArrayJob(*snapshot, arrays[i], id));
  }
  SimulationOptions options = OptionsFor(queue, arrays, most_samples);
  samples_ = queue.by_time_limit() ? 1 : options.samples;
  if (!run_times_.empty()) options.known_run_times = &run_times_;
  queue_ = std::make_unique<QueueModel>(std::move(snapshot), queue.past(), options);
  queue_->Settle(queue.past() == nullptr ? nullptr : &queue.past()->held);
}

ArrayPlay PlayedArrays::Play(const std::vector<int64_t>& tasks) const {
  ArrayPlay play;
  for (const auto& jobs : SimulateArrays(*queue_, samples_, {first_id_, tasks})) {
    std::vector<TaskStarts>& starts = play.emplace_back(tasks.size());
    for (const SimulatedJob& job : jobs) {
      const int64_t id = queue_->pending()[job.pending].id;
      if (id >= first_id_) starts[static_cast<size_t>(id - first_id_)].push_back(job.start);
    }
    for (TaskStarts& each : starts) std::sort(each.begin(), each.end());
  }
  return play;
}

std::optional<CausedDelay> PlayedArrays::DelayOf(const std::vector<int64_t>& tasks,
                                                 double seconds) const {
  if (!tells_delays_) return {};
  return SimulateArraysDelay(*queue_, {first_id_, tasks}, std::llround(seconds),
                             std::min(samples_, kDelaySamples));
}

ArrayPlay PlayArrays(const QueueModel& queue, const std::vector<PlayedArray>& arrays,
                     size_t most_samples) {
  std::vector<int64_t> tasks;
  for (const PlayedArray& array : arrays) tasks.push_back(array.shape.tasks);
  return PlayedArrays(queue, arrays, most_samples).Play(tasks);
}

}  // namespace gpuadvise
