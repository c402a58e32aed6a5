// The workload of the simulated cluster: who submits what, when.
//
// Models real users. Each has a typical run time and a habit of overestimating it; limits are round
// numbers; some jobs crash in the first minutes; jobs come in bursts, more often in working hours;
// users submit nothing while the queue is long. Everything follows from one seed.
#pragma once

#include <string>
#include <vector>

#include "common/slurm/snapshot.h"
#include "daemon/collect/sim_random.h"

namespace gpuadvise::collect {

// A job with its actual run time, which Slurm cannot know.
struct SimJob {
  Job job;
  int64_t run_seconds = 0;  // if not ended before; 1 … the job's limit
};

struct SimUser {
  std::string name;
  int64_t uid = 0;
  std::string account;
  double run_scale = 1;     // of the user's runs, relative to the pool's median
  double run_spread = 0.5;  // sigma of the log of run times
  double over_ask = 2;      // requested limit / typical run time
  double crash_share = 0;
  double weight = 1;  // submission rate, relative to other users
};

// Usage of one GPU type.
struct PoolHabits {
  std::string gpu_type;
  double arrivals_per_hour = 1;  // bursts, at the busiest hour
  double median_run_minutes = 60;
  int64_t max_limit_minutes = 2880;
  // Backlog above which users submit nothing: pending GPU-hours at time limits per GPU.
  double patience_hours = 0;
  std::vector<int64_t> gpus;  // per node, equally likely
  double two_node_share = 0;  // among jobs that use whole nodes
  std::vector<int64_t> cpus_per_gpu;
};

// The habits for the GPU types of SeedCluster().
const std::vector<PoolHabits>& SeedHabits();

// Eighteen users, drawn from `seed`.
std::vector<SimUser> SeedUsers(uint64_t seed);

// Activity at `t` (UTC): from 0.4 at night to 1 in the early afternoon.
double HourFactor(UnixSeconds t);

// One to five identical jobs submitted together at `t` for nodes like `node`. The caller assigns
// ids and priorities.
std::vector<SimJob> DrawBurst(const PoolHabits& habits, const std::vector<SimUser>& users,
                              const Node& node, UnixSeconds t, Rng& rng);

}  // namespace gpuadvise::collect
