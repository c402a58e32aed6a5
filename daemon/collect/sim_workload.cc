#include "daemon/collect/sim_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gpuadvise::collect {
namespace {

constexpr int kUsers = 18;
constexpr int64_t kFirstUid = 20001;

// The smallest round number of minutes that suffices, at most the pool's longest.
int64_t RoundLimitMinutes(double wanted, int64_t longest) {
  for (const int64_t limit : {10, 30, 60, 120, 240, 360, 720, 1440, 2880}) {
    if (static_cast<double>(limit) >= wanted) return std::min(limit, longest);
  }
  return longest;
}

int64_t DrawRunSeconds(const PoolHabits& habits, const SimUser& user, int64_t limit_seconds,
                       Rng& rng) {
  const double median = habits.median_run_minutes * 60 * user.run_scale;
  const double run =
      rng.Chance(user.crash_share) ? rng.Between(15, 300) : rng.LogNormal(median, user.run_spread);
  return std::clamp<int64_t>(std::llround(run), 15, limit_seconds);
}

JobRequest DrawRequest(const PoolHabits& habits, const SimUser& user, const Node& node, Rng& rng) {
  const int64_t gpus = rng.Pick(habits.gpus);
  const bool whole_node = gpus == node.gpus.front().count;
  JobRequest request;
  request.partitions = {"gpu_shared"};
  request.nodes_min = whole_node && rng.Chance(habits.two_node_share) ? 2 : 1;
  request.nodes_max = request.nodes_min;
  request.tasks = request.nodes_min;
  request.cpus_per_task = std::min(gpus * rng.Pick(habits.cpus_per_gpu), node.cpus);
  request.cpus = request.tasks * request.cpus_per_task;
  request.memory_per_node_mib =
      std::min(gpus * rng.Pick(std::vector<int64_t>{8000, 16000, 30000}), node.memory_mib);
  request.gpus_per_node = {{habits.gpu_type, gpus}};
  const double wanted = habits.median_run_minutes * user.run_scale * user.over_ask;
  request.time_limit_seconds = 60 * RoundLimitMinutes(wanted, habits.max_limit_minutes);
  return request;
}

}  // namespace

const std::vector<PoolHabits>& SeedHabits() {
  static const std::vector<PoolHabits> habits = {
      {"gpu2080", 8.0, 90, 2880, 0.5, {1, 1, 1, 2, 2, 4}, 0.1, {4, 8, 8, 8}},
      {"gpu4070", 0.5, 60, 720, 0.5, {1, 1, 2}, 0, {4, 8, 8, 16}},
      {"gpu4090", 16.0, 25, 60, 0.75, {1, 1, 2, 4}, 0, {4, 8, 8, 8}},
      {"gpul40s", 8.0, 150, 720, 8.0, {1, 1, 2, 3, 6}, 0.1, {4, 8, 8, 8}},
      {"h100_1g.11gb", 5.0, 120, 1440, 0.5, {1}, 0, {2, 4}},
  };
  return habits;
}

std::vector<SimUser> SeedUsers(uint64_t seed) {
  static const std::vector<std::string> accounts = {"lab", "robotics", "vision", "language"};
  Rng rng(seed);
  std::vector<SimUser> users;
  for (int i = 0; i < kUsers; ++i) {
    SimUser user;
    user.name = fmt::format("user{:02}", i + 1);
    user.uid = kFirstUid + i;
    user.account = rng.Pick(accounts);
    user.run_scale = std::clamp(rng.LogNormal(1, 0.5), 0.3, 3.0);
    user.run_spread = rng.Between(0.2, 1.1);
    user.over_ask = rng.Pick(std::vector<double>{1.3, 2, 4, 8, 20});
    user.crash_share = rng.Between(0, 0.3);
    user.weight = rng.Between(0.3, 2);
    users.push_back(user);
  }
  return users;
}

double HourFactor(UnixSeconds t) {
  const double hour = static_cast<double>(t % 86400) / 3600;
  const double day = std::sin(std::numbers::pi * (hour - 7) / 14);  // 7:00 to 21:00
  return 0.4 + 0.6 * std::max(0.0, day);
}

std::vector<SimJob> DrawBurst(const PoolHabits& habits, const std::vector<SimUser>& users,
                              const Node& node, UnixSeconds t, Rng& rng) {
  static const std::vector<std::string> names = {"train", "finetune", "sweep", "eval", "ablation"};
  static const std::vector<int> sizes = {1, 1, 1, 2, 3, 5};
  std::vector<double> weights;
  weights.reserve(users.size());
  for (const SimUser& user : users) weights.push_back(user.weight);
  const SimUser& user = users[rng.Weighted(weights)];

  Job job;
  job.name = rng.Pick(names);
  job.user = user.name;
  job.uid = user.uid;
  job.account = user.account;
  job.qos = "normal";
  job.submit_time = t;
  job.eligible_time = t;
  job.request = DrawRequest(habits, user, node, rng);
  const int64_t limit = job.request.time_limit_seconds.value();
  std::vector<SimJob> burst;
  for (int i = rng.Pick(sizes); i > 0; --i) {
    burst.push_back({job, DrawRunSeconds(habits, user, limit, rng)});
  }
  return burst;
}

}  // namespace gpuadvise::collect
