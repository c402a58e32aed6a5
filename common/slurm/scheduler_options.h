// The part of SchedulerParameters that decides which jobs Slurm tries and how far ahead it plans.
// Defaults are Slurm's own. Source:
// https://slurm.schedmd.com/slurm.conf.html#OPT_SchedulerParameters
#pragma once

#include <cstdint>
#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct SchedulerOptions {
  bool backfill = true;                 // sched/backfill; sched/builtin never lets anyone overtake
  int64_t queue_depth = 100;            // default_queue_depth: jobs the main pass looks at
  int64_t interval_seconds = 30;        // bf_interval
  int64_t window_seconds = 86'400;      // bf_window, there in minutes
  int64_t resolution_seconds = 60;      // bf_resolution
  int64_t max_job_test = 500;           // bf_max_job_test; an array counts once
  int64_t max_job_array_resv = 20;      // bf_max_job_array_resv: tasks of an array with kept nodes
  int64_t max_job_user = 0;             // bf_max_job_user; 0: as many as there are
  int64_t max_job_part = 0;             // bf_max_job_part
  int64_t max_job_start = 0;            // bf_max_job_start
  int64_t min_age_reserve_seconds = 0;  // bf_min_age_reserve
  int64_t min_priority_reserve = 0;     // bf_min_prio_reserve
  int64_t max_job_assoc = 0;            // bf_max_job_assoc; takes the place of bf_max_job_user
  int64_t max_job_user_part = 0;        // bf_max_job_user_part
  int64_t part_count_reserve = 0;       // bf_job_part_count_reserve; 0: for all jobs
  int64_t partition_depth = 0;          // partition_job_depth; 0: as queue_depth says
  int64_t window_linear_seconds = 0;    // bf_window_linear; 0: strides double
  bool one_resv_per_job = false;        // bf_one_resv_per_job: not one in each of its partitions
  bool magnetic_slot = false;           // bf_allow_magnetic_slot
  bool running_job_reserve = false;     // bf_running_job_reserve, bf_licenses
  bool plans_licenses = false;          // bf_licenses
  bool assoc_limit_stop = false;        // who is over a limit holds back his partition
  bool main_loop = true;                // sched_interval is not -1
  bool youngest_first = false;          // preempt_youngest_first
  friend bool operator==(const SchedulerOptions&, const SchedulerOptions&) = default;
};

// Unknown words are skipped; a number that cannot be read leaves the default.
SchedulerOptions OptionsOf(const SchedulerConfig& config);

// Whether the word `name` is one of "a,b=5,c=x", with or without a value.
bool HasWord(std::string_view parameters, std::string_view name);

// One word of "a,b=5,c=x": the number behind `name`=, or `otherwise`.
int64_t NumberOf(std::string_view parameters, std::string_view name, int64_t otherwise);

}  // namespace gpuadvise
