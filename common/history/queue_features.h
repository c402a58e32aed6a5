// Statistics of the queue: number, size and age of jobs, by user, by account and by wanted nodes.
// Features of the wait forecast.
//
// Idea. A question needs sums over all similar jobs, and one snapshot gets many questions. Jobs are
// summed once by what they ask for; a question adds a few sums.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// log1p for heavy-tailed features; negative values count as 0.
float LogFeature(double value);

// GPUs wanted, or CPUs if none.
int64_t SizeOf(const JobRecord& job);

// Immutable; safe from any thread.
class QueueFeatures {
 public:
  explicit QueueFeatures(const Snapshot& state);

  UnixSeconds taken_at() const { return taken_at_; }

  // Number of waiting jobs of `user`.
  int64_t PendingOf(const std::string& user) const;

  // Appends features of jobs that want the same nodes as `job`, of its user's and account's jobs,
  // of smaller jobs and of young ones; heavy-tailed ones as log1p. Fixed number.
  void Append(const JobRecord& job, std::vector<float>& features) const;

 private:
  // Totals of one kind of jobs: number, size (GPUs, or CPUs), age (seconds).
  struct JobAggregate {
    double pending = 0;
    double pending_size = 0;
    double pending_work = 0;  // size × limit
    double oldest = 0;
    double age_sum = 0;
    double running = 0;
    double running_size = 0;
    double running_rest = 0;  // size × time left to the limit

    void Count(const Job& job, int64_t size, UnixSeconds now);
    void Add(const JobAggregate& other);
    void Append(std::vector<float>& features) const;
  };

  // Jobs that want the same partitions and GPU type.
  struct SimilarJobs {
    std::vector<std::string> partitions;
    std::string gpu;  // empty: any
    std::map<int64_t, JobAggregate> by_size;
    std::map<std::pair<int64_t, std::string>, JobAggregate> by_size_and_user;
    JobAggregate young;  // eligible for at most an hour
  };

  static bool WantsSame(const SimilarJobs& crowd, const JobRecord& job);
  static const JobAggregate& Find(const std::unordered_map<std::string, JobAggregate>& crowds,
                                  const std::string& name);

  UnixSeconds taken_at_ = 0;
  std::unordered_map<std::string, JobAggregate> users_;
  std::unordered_map<std::string, JobAggregate> accounts_;
  std::vector<SimilarJobs> alike_;
};

}  // namespace gpuadvise
