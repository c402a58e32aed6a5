// A long queue, played once for all questions: where a request would have come in.
//
// See queue_trajectories.cc for the idea and what it costs in accuracy. Built once per snapshot,
// then immutable; safe from any thread. Times are seconds from the snapshot.
#pragma once

#include <cstdint>
#include <vector>

#include "common/scheduler/group_plan.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"

namespace gpuadvise {

class QueueTrajectories {
 public:
  // Plays every sample of `queue`. REQUIRES: `queue` outlives it.
  explicit QueueTrajectories(const QueueModel& queue);

  const std::vector<PlayedSample>& samples() const { return samples_; }

  // The plan at the limits of each job of the queue, and with each user's last two run times.
  const std::vector<int64_t>& planned(Durations durations) const {
    return plans_[durations == Durations::kLimits ? 0 : 1].starts;
  }

  // Whether a request can be put in without playing the queue again: it depends on no other job,
  // nobody may take its nodes or has his taken, and no limit on use can hold it back.
  bool Takes(const PendingJob& request) const;

  // When it would start in each sample; kNever: not before the horizon. REQUIRES: Takes(request).
  std::vector<int64_t> StartsOf(const PendingJob& request) const;

  // Where the backfill plan puts it, behind everything of higher rank: as PlanNow.
  SimulatedStart Plan(const PendingJob& request, Durations durations) const;

 private:
  // What changes on one group at one time.
  struct Change {
    int64_t time = 0;
    bool takes = false;  // else gives back; at equal times those that give come first
    int32_t group = 0;
    const Resources* held = nullptr;
    const Rank* rank = nullptr;  // of who takes it; null: it ran already
    int64_t id = 0;              // of a job of the queue; 0: another
  };
  // What is free on the groups of a component before its change `next`, now and again.
  struct Mark {
    size_t next = 0;
    int64_t time = 0;             // of the change before
    std::vector<Resources> free;  // parallel to members_[component]
  };
  struct Followed {
    std::vector<Change> changes;  // in order
    std::vector<Mark> marks;
  };
  // Jobs of the queue that are the same but for their place in it.
  struct Kind {
    const PartitionOption* option = nullptr;  // their only one
    std::vector<size_t> jobs;                 // ascending indices in queue.pending()
  };
  struct Planned {
    std::vector<int64_t> starts;         // of queue.pending()
    std::vector<GroupPlan> checkpoints;  // before every plan_every_-th job
  };

  int32_t ComponentOf(const GroupDemand& demand) const;
  void Follow(const PlayedSample& sample);
  void AddMarks(size_t component, Followed& followed) const;
  void FindRecords();
  void FindKinds();
  void PlanAll(Durations durations, Planned& planned) const;
  int64_t LookedAtFrom(size_t sample, const PendingJob& request) const;
  int64_t StartIn(size_t sample, const PendingJob& request, const std::vector<size_t>& easier,
                  const std::vector<size_t>& harder) const;
  static void Apply(const Change& change, std::vector<Resources>& free);
  bool FitsAt(const PendingJob& request, const std::vector<Resources>& free, int64_t time) const;

  const QueueModel& queue_;
  const size_t plan_every_;
  std::vector<PlayedSample> samples_;
  std::vector<std::vector<int32_t>> members_;    // groups by component
  std::vector<std::vector<Followed>> followed_;  // by sample and component
  std::vector<std::vector<int64_t>> starts_;     // by sample and job of the queue
  std::vector<size_t> records_;                  // where each begins in queue.pending()
  std::vector<std::vector<int64_t>> left_;       // by sample and record: when its last task starts
  std::vector<std::vector<int64_t>> in_order_;   // the same, ascending
  std::vector<Kind> kinds_;                      // of all that have one way
  Planned plans_[2];
  std::vector<int64_t> cap_wanted_;  // by cap: in use and wanted by all who wait
};

}  // namespace gpuadvise
