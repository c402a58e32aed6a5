// A long queue, simulated once for all questions: where would a request have been placed?
//
// See queue_trajectories.cc for the idea and its loss of accuracy. Built once per snapshot, then
// immutable; safe from any thread. Times are seconds from the snapshot.
#pragma once

#include <cstdint>
#include <vector>

#include "common/scheduler/group_plan.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"

namespace gpuadvise {

class QueueTrajectories {
 public:
  // Simulates every sample of `queue`. REQUIRES: `queue` outlives it.
  explicit QueueTrajectories(const QueueModel& queue);

  const std::vector<SimulatedSample>& samples() const { return samples_; }

  // Planned start of each queued job: with limits, or with each user's last two run times.
  const std::vector<int64_t>& planned(Durations durations) const {
    return plans_[durations == Durations::kLimits ? 0 : 1].starts;
  }

  // Whether a request can be inserted without a new simulation: no dependencies, no preemption
  // either way, no usage limit that could hold it back.
  bool Takes(const PendingJob& request) const;

  // Start in each of the first `most_samples` samples; kNever: not before the horizon. REQUIRES:
  // Takes(request).
  std::vector<int64_t> StartsOf(const PendingJob& request, size_t most_samples = SIZE_MAX) const;

  // Its slot in the backfill plan, behind all jobs of higher rank, as PlanNow.
  SimulatedStart Plan(const PendingJob& request, Durations durations) const;

 private:
  // One change of a group. There are millions of them: no larger than it must be.
  struct Change {
    int64_t time = 0;
    uint32_t holder = 0;     // index in queue.pending(); from its size on, in the sample's others
    uint32_t held : 31 = 0;  // index in the sample's held nodes
    uint32_t takes : 1 = 0;  // else releases; releases come first at equal times
  };
  // Free resources of a component's groups before its change `next`.
  struct Mark {
    size_t next = 0;
    int64_t time = 0;             // of the previous change
    std::vector<Resources> free;  // parallel to members_[component]
  };
  struct Followed {
    std::vector<Change> changes;  // in order
    std::vector<Mark> marks;
  };
  // Queued jobs equal in all but rank.
  struct Kind {
    const PartitionOption* option = nullptr;  // their only option
    std::vector<size_t> jobs;                 // ascending indices in queue.pending()
  };
  struct Planned {
    std::vector<int64_t> starts;         // parallel to queue.pending()
    std::vector<GroupPlan> checkpoints;  // before every plan_every_-th job, and behind the last
  };

  int32_t ComponentOf(const GroupDemand& demand) const;
  void Follow(const SimulatedSample& sample);
  void AddMarks(const SimulatedSample& sample, size_t component, Followed& followed) const;
  void FindRecords();
  void FindKinds();
  void PlanAll(Durations durations, Planned& planned) const;
  int64_t LookedAtFrom(size_t sample, const PendingJob& request) const;
  int64_t StartIn(size_t sample, const PendingJob& request, const std::vector<size_t>& easier,
                  const std::vector<size_t>& harder) const;
  const Rank& RankOf(const SimulatedSample& sample, const Change& change) const;
  bool IsOfReplaced(const PendingJob& request, const Change& change) const;
  static void Apply(const SimulatedSample& sample, const Change& change,
                    std::vector<Resources>& free);
  bool FitsAt(const PendingJob& request, const std::vector<Resources>& free, int64_t time) const;

  const QueueModel& queue_;
  const size_t plan_every_;
  std::vector<SimulatedSample> samples_;
  std::vector<std::vector<int32_t>> members_;    // groups by component
  std::vector<std::vector<Followed>> followed_;  // by sample and component
  std::vector<std::vector<int64_t>> starts_;     // by sample and queued job
  std::vector<size_t> records_;                  // first index of each record in queue.pending()
  std::vector<std::vector<int64_t>> left_;       // by sample and record: start of its last task
  std::vector<std::vector<int64_t>> in_order_;   // the same times, ascending
  std::vector<Kind> kinds_;                      // of all jobs with one option
  Planned plans_[2];
  std::vector<int64_t> cap_wanted_;  // by cap: used, plus wanted by waiting jobs
};

}  // namespace gpuadvise
