#include "common/forecast/free_gpus.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "common/scheduler/queue_trajectories.h"
#include "common/scheduler/simulation.h"

namespace gpuadvise {
namespace {

// Steps of which the beginning lies within so many seconds.
constexpr size_t StepsOf(int64_t seconds) {
  return static_cast<size_t>(seconds / kFreeStepSeconds) + 1;
}

constexpr size_t kSteps = StepsOf(kFreeSeconds);

// The GPUs of one group and slot, which count for one type.
struct CountedGpus {
  size_t slot = 0;
  size_t type = 0;
};

// Counts one future after the other.
class FreeGpuCounter {
 public:
  FreeGpuCounter(const QueueModel& queue, const TypeOfGpus& type_of);

  void Add(const SimulatedSample& future);

  FreeForecast Quantiles(size_t steps, int samples);

 private:
  struct Change {
    int64_t time = 0;
    bool takes = false;
    const HeldNodes* held = nullptr;
  };

  void AddChanges(HeldSpan nodes, int64_t start, int64_t end, bool runs);
  Resources LeftOf(size_t group, int64_t time) const;
  void CountStep(size_t step);

  const QueueModel& queue_;
  std::vector<std::string> names_;                         // by type
  std::vector<std::vector<CountedGpus>> counted_;          // by group
  std::vector<std::vector<std::vector<int64_t>>> counts_;  // by type, step and future
  std::vector<Change> changes_;
  std::vector<Resources> free_;  // by group
};

FreeGpuCounter::FreeGpuCounter(const QueueModel& queue, const TypeOfGpus& type_of)
    : queue_(queue), counted_(queue.groups().groups().size()) {
  std::map<std::string, size_t> known;
  for (size_t group = 0; group < counted_.size(); ++group) {
    const auto first = static_cast<size_t>(queue.groups().groups()[group].nodes.front());
    const PoolNode& node = queue.pool().nodes()[first];
    for (size_t slot = 0; node.usable && slot < node.gpu_types.size(); ++slot) {
      const auto gres = static_cast<size_t>(node.gpu_types[slot]);
      const std::string type = type_of(node.name, queue.pool().gpu_types()[gres]);
      if (type.empty()) continue;
      const auto [found, added] = known.try_emplace(type, names_.size());
      if (added) names_.push_back(type);
      counted_[group].push_back({slot, found->second});
    }
  }
  counts_.assign(names_.size(), std::vector<std::vector<int64_t>>(kSteps));
}

void FreeGpuCounter::AddChanges(HeldSpan nodes, int64_t start, int64_t end, bool runs) {
  for (const HeldNodes& held : nodes) {
    if (!runs) changes_.push_back({start, true, &held});
    if (end < kNever) changes_.push_back({end, false, &held});
  }
}

// What reservations hold is nobody's.
Resources FreeGpuCounter::LeftOf(size_t group, int64_t time) const {
  const NodeGroup& of = queue_.groups().groups()[group];
  const bool reserved =
      std::any_of(of.reserved.begin(), of.reserved.end(), [&](const ReservedWindow& window) {
        return !window.floats && window.start <= time && time < window.end;
      });
  if (reserved) return {};
  Resources left = of.parts.empty() ? free_[group] : free_[group] - SetAside(of, -1, time, 1);
  const bool starved = left.cpus < 1 || (queue_.pool().memory_is_counted() && left.memory_mib < 1);
  return starved ? Resources() : left;
}

void FreeGpuCounter::CountStep(size_t step) {
  std::vector<int64_t> sums(names_.size());
  const int64_t time = static_cast<int64_t>(step) * kFreeStepSeconds;
  for (size_t group = 0; group < counted_.size(); ++group) {
    if (counted_[group].empty()) continue;
    const Resources left = LeftOf(group, time);
    for (const CountedGpus& gpus : counted_[group]) {
      sums[gpus.type] += std::max(std::min(left.gpus[gpus.slot], left.any_gpus), 0);
    }
  }
  for (size_t type = 0; type < sums.size(); ++type) counts_[type][step].push_back(sums[type]);
}

void FreeGpuCounter::Add(const SimulatedSample& future) {
  changes_.clear();
  for (const SimulatedJob& job : future.jobs) {
    AddChanges(future.Held(job.held), job.start, job.end, false);
  }
  for (const SimulatedOther& other : future.others) {
    AddChanges(future.Held(other.held), other.start, other.end, other.runs);
  }
  std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
    return std::tie(a.time, a.takes) < std::tie(b.time, b.takes);
  });
  free_ = queue_.free_now();
  CountStep(0);  // as the snapshot has it
  size_t next = 0;
  for (size_t step = 1; step < kSteps; ++step) {
    const int64_t time = static_cast<int64_t>(step) * kFreeStepSeconds;
    for (; next < changes_.size() && changes_[next].time <= time; ++next) {
      const HeldNodes& held = *changes_[next].held;
      Resources& free = free_[static_cast<size_t>(held.group)];
      if (changes_[next].takes) {
        free -= held.amount();
      } else {
        free += held.amount();
      }
    }
    CountStep(step);
  }
}

FreeForecast FreeGpuCounter::Quantiles(size_t steps, int samples) {
  FreeForecast forecast;
  forecast.samples = samples;
  forecast.watched_seconds = queue_.watched_seconds();
  for (size_t type = 0; type < names_.size(); ++type) {
    std::vector<FreeCount>& series = forecast.types[names_[type]];
    for (size_t step = 0; step < steps; ++step) {
      std::vector<int64_t>& counts = counts_[type][step];
      std::sort(counts.begin(), counts.end());
      const auto at = [&](double share) {
        const double rank = std::ceil(share * static_cast<double>(counts.size()));
        return counts[static_cast<size_t>(std::max(rank, 1.0)) - 1];
      };
      series.push_back({at(0.1), at(0.5), at(0.9)});
    }
  }
  return forecast;
}

// Seconds for which a future is known that ends when its last waiting job has started.
int64_t KnownSeconds(const SimulatedSample& future, const QueueModel& queue) {
  std::vector<bool> started(queue.pending().size());
  int64_t last = 0;
  for (const SimulatedJob& job : future.jobs) {
    started[job.pending] = true;
    last = std::max(last, job.start);
  }
  const bool all = std::find(started.begin(), started.end(), false) == started.end();
  return all ? last : kFreeSeconds;
}

}  // namespace

FreeForecast ForecastFreeGpus(const QueueModel& queue, const TypeOfGpus& type_of,
                              const std::function<double()>& spent) {
  FreeGpuCounter counter(queue, type_of);
  if (queue.by_time_limit() || queue.played() == nullptr) {
    const int samples = queue.by_time_limit() ? 1 : queue.options().samples;
    const PlayedFutures played =
        SimulateFutures(queue, {samples, kFreeSeconds}, spent,
                        [&](const SimulatedSample& future) { counter.Add(future); });
    return counter.Quantiles(StepsOf(played.seconds), played.samples);
  }
  int64_t known = kFreeSeconds;
  for (const SimulatedSample& future : queue.played()->samples()) {
    known = std::min(known, KnownSeconds(future, queue));
    counter.Add(future);
  }
  return counter.Quantiles(StepsOf(known), static_cast<int>(queue.played()->samples().size()));
}

}  // namespace gpuadvise
