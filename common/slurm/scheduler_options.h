// SchedulerParameters that decide which jobs Slurm tries and how far it plans. Defaults are
// Slurm's. Source: https://slurm.schedmd.com/slurm.conf.html#OPT_SchedulerParameters
#pragma once

#include <cstdint>
#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct SchedulerOptions {
  bool backfill = true;             // sched/backfill; sched/builtin never reorders
  int64_t queue_depth = 100;        // default_queue_depth: jobs tried by the main pass
  int64_t interval_seconds = 30;    // bf_interval
  int64_t window_seconds = 86'400;  // bf_window, which is in minutes
  int64_t resolution_seconds = 60;  // bf_resolution
  int64_t max_job_test = 500;       // bf_max_job_test; an array counts once
  int64_t max_job_array_resv = 20;  // bf_max_job_array_resv: tasks of an array with reservations
  int64_t max_job_user = 0;         // bf_max_job_user; 0: unlimited
  int64_t max_job_part = 0;         // bf_max_job_part
  int64_t max_job_start = 0;        // bf_max_job_start
  int64_t min_age_reserve_seconds = 0;  // bf_min_age_reserve
  int64_t min_priority_reserve = 0;     // bf_min_prio_reserve
  int64_t max_job_assoc = 0;            // bf_max_job_assoc; replaces bf_max_job_user
  int64_t max_job_user_part = 0;        // bf_max_job_user_part
  int64_t part_count_reserve = 0;       // bf_job_part_count_reserve; 0: all jobs
  int64_t partition_depth = 0;          // partition_job_depth; 0: queue_depth
  int64_t window_linear_seconds = 0;    // bf_window_linear; 0: strides double
  bool one_resv_per_job = false;        // bf_one_resv_per_job: not in each of its partitions
  bool magnetic_slot = false;           // bf_allow_magnetic_slot
  bool running_job_reserve = false;     // bf_running_job_reserve, bf_licenses
  bool plans_licenses = false;          // bf_licenses
  bool assoc_limit_stop = false;        // a job over a limit blocks its partition
  bool main_loop = true;                // sched_interval is not -1
  bool youngest_first = false;          // preempt_youngest_first
  friend bool operator==(const SchedulerOptions&, const SchedulerOptions&) = default;
};

// Skips unknown words; an invalid number leaves the default.
SchedulerOptions OptionsOf(const SchedulerConfig& config);

// Whether "a,b=5,c=x" contains the word `name`, with or without a value.
bool HasWord(std::string_view parameters, std::string_view name);

// Value of `name` in "a,b=5,c=x", or `otherwise`.
int64_t NumberOf(std::string_view parameters, std::string_view name, int64_t otherwise);

}  // namespace gpuadvise
