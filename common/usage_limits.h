// Limits on what a user, an account or a QOS may use at the same time, played forward: the request
// has to wait until enough of what counts against the same limit has ended.
//
// What counts now comes from the running jobs themselves, not from the usage that Slurm's policy
// tables state, because those are polled minutes apart; pending jobs count from their planned
// start. Pure; safe from any thread. Times are seconds from the snapshot.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/access.h"
#include "common/node_timeline.h"
#include "common/snapshot.h"

namespace gpuadvise {

/// Names as small numbers.
class NameTable {
 public:
  int32_t Add(const std::string& name);
  int32_t Find(const std::string& name) const;  // -1: never added

 private:
  std::unordered_map<std::string, int32_t> ids_;
};

/// What one job counts for, and when.
struct JobUse {
  int32_t user = -1;
  int32_t account = -1;
  int32_t qos = -1;
  int32_t partition_qos = -1;
  int64_t start = 0;
  int64_t end = kNever;
  TresCounts tres;
};

class UsageBook {
 public:
  explicit UsageBook(const Snapshot& snapshot);

  /// A job of `owner` in `partition` that uses `tres` during [start, end).
  JobUse UseOf(const Job& owner, const Partition* partition, int64_t start, int64_t end,
               TresCounts tres);

  /// Running jobs, and planned ones in the order of the plan. Nothing is kept where no limits are
  /// enforced.
  void AddRunning(JobUse use);
  void AddPlanned(JobUse use, size_t position);
  bool keeps_books() const { return keeps_books_; }

  /// The first time from `from` on at which a job with `wanted` stays within all limits that apply,
  /// when the first `position` jobs of the plan come before it; kNever when none is known.
  int64_t FirstAllowed(const Authority& authority, const Submitter& submitter,
                       const TresCounts& wanted, size_t position, int64_t from) const;

 private:
  struct Cap;
  std::vector<Cap> CapsOf(const Authority& authority, const Submitter& submitter) const;
  bool Counts(const Cap& cap, const JobUse& use) const;
  int64_t FirstBelow(const Cap& cap, const TresCounts& wanted, size_t position, int64_t from) const;

  bool keeps_books_ = false;
  NameTable names_;
  std::unordered_map<int32_t, std::vector<int32_t>> ancestors_;  // account -> it and its parents
  std::vector<JobUse> running_;
  std::vector<std::pair<size_t, JobUse>> planned_;
};

}  // namespace gpuadvise
