#include "bench/made_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "common/base/job_random.h"

namespace gpuadvise {
namespace {

constexpr UnixSeconds kNow = 1'790'000'000;
constexpr int64_t kGpusPerNode = 8;
constexpr int64_t kTypes = 8;
constexpr int64_t kUsers = 500;
constexpr int64_t kFinishedJobs = 20'000;
constexpr int64_t kDaysArrivals = 1'000;

// One number after the other.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : seed_(seed) {}
  double Uniform() { return DrawUniform(seed_, 0, ++count_); }
  int64_t Below(int64_t end) { return static_cast<int64_t>(Uniform() * static_cast<double>(end)); }

 private:
  uint64_t seed_;
  uint64_t count_ = 0;
};

std::string TypeName(int64_t type) {
  static constexpr std::array<const char*, kTypes> kNames = {"a100", "h100", "l40s", "rtx4090",
                                                             "v100", "a40",  "a30",  "rtx3090"};
  return kNames[static_cast<size_t>(type)];
}

JobRequest RequestOf(Numbers& numbers, int64_t type) {
  JobRequest request;
  const int64_t gpus = int64_t{1} << numbers.Below(4);
  request.partitions = {"gpu"};
  request.gpus_per_node = {{TypeName(type), gpus}};
  request.cpus = request.cpus_per_task = 4 * gpus;
  request.memory_per_node_mib = 16'000 * gpus;
  request.time_limit_seconds = 3600 * (1 + numbers.Below(48));
  return request;
}

Job JobFor(Numbers& numbers, int64_t id, int64_t type) {
  Job job;
  job.id = id;
  job.user = fmt::format("u{:03}", numbers.Below(kUsers));
  job.account = "lab";
  job.qos = "normal";
  job.request = RequestOf(numbers, type);
  return job;
}

}  // namespace

Snapshot MadeCluster(const MadeSize& size, uint64_t seed) {
  Numbers numbers(seed);
  Snapshot cluster;
  cluster.taken_at = kNow;
  cluster.config.scheduler_type = "sched/backfill";
  cluster.config.priority_type = "priority/basic";
  cluster.config.select_type_parameters = "CR_CORE_MEMORY";
  Partition partition;
  partition.name = "gpu";
  partition.is_default = true;
  std::vector<int64_t> free(static_cast<size_t>(size.nodes), kGpusPerNode);
  for (int64_t i = 0; i < size.nodes; ++i) {
    Node node;
    node.name = fmt::format("n{:05}", i);
    node.state.base = NodeBase::kMixed;
    node.cpus = 64;
    node.memory_mib = 512'000;
    node.gpus = {{TypeName(i % kTypes), kGpusPerNode}};
    partition.nodes.push_back(node.name);
    cluster.nodes.push_back(std::move(node));
  }
  cluster.partitions = {partition};
  int64_t id = 1;
  int64_t running = 0;
  for (int64_t i = 0; i < size.nodes && running < size.running; ++i) {
    int64_t& left = free[static_cast<size_t>(i)];
    while (left > 0 && running < size.running) {
      Job job = JobFor(numbers, id, i % kTypes);
      const int64_t gpus = job.request.gpus_per_node.front().count;
      if (gpus > left) break;
      left -= gpus;
      ++id;
      ++running;
      job.state = JobState::kRunning;
      const int64_t limit = job.request.time_limit_seconds.value();
      job.start_time = kNow - numbers.Below(limit / 2);
      job.end_time = *job.start_time + limit;
      job.submit_time = *job.start_time - 600;
      job.allocations = {{cluster.nodes[static_cast<size_t>(i)].name, job.request.cpus,
                          job.request.memory_per_node_mib.value(), job.request.gpus_per_node, 0}};
      cluster.jobs.push_back(std::move(job));
    }
  }
  for (int64_t i = 0; i < size.pending; ++i) {
    Job job = JobFor(numbers, id++, numbers.Below(kTypes));
    job.priority = 4'000'000'000 - i;
    job.reason = "Priority";
    job.submit_time = job.eligible_time = kNow - 86'400 + i * 86'400 / size.pending;
    cluster.jobs.push_back(std::move(job));
  }
  return cluster;
}

void LetTimePass(Snapshot& cluster, int64_t seconds, int64_t changes, uint64_t seed) {
  Numbers numbers(seed);
  cluster.taken_at += seconds;
  int64_t next_id = 1 + cluster.jobs.back().id;
  for (int64_t i = 0; i < changes; ++i) {
    // One ends, and the first that waits for as many of the same starts in its place.
    const auto runs = [](const Job& job) { return job.state == JobState::kRunning; };
    const auto from =
        cluster.jobs.begin() + numbers.Below(static_cast<int64_t>(cluster.jobs.size()) / 3);
    const auto ends = std::find_if(from, cluster.jobs.end(), runs);
    if (ends == cluster.jobs.end()) continue;
    const Job ended = *ends;
    cluster.jobs.erase(ends);
    const auto next = std::find_if(cluster.jobs.begin(), cluster.jobs.end(), [&](const Job& job) {
      return !runs(job) && job.request.gpus_per_node == ended.request.gpus_per_node;
    });
    if (next != cluster.jobs.end()) {
      next->state = JobState::kRunning;
      next->reason.clear();
      next->start_time = cluster.taken_at - seconds / 2;
      next->end_time = *next->start_time + next->request.time_limit_seconds.value();
      next->allocations = ended.allocations;
    }
    Job arrives = JobFor(numbers, next_id++, numbers.Below(kTypes));
    arrives.priority = 4'000'000'000 - arrives.id;
    arrives.reason = "Priority";
    arrives.submit_time = arrives.eligible_time = cluster.taken_at - numbers.Below(seconds);
    cluster.jobs.push_back(std::move(arrives));
  }
}

ForecastHistory MadePast(const Snapshot& cluster, uint64_t seed) {
  Numbers numbers(seed);
  ForecastHistory past;
  for (int64_t i = 0; i < kFinishedJobs; ++i) {
    Job job = JobFor(numbers, -1 - i, numbers.Below(kTypes));
    job.submit_time = cluster.taken_at - 7 * 86'400 + i * 20;
    JobRecord record = RecordOf(job);
    record.start = record.submit + 600;
    const auto limit = static_cast<double>(record.limit_seconds.value());
    record.end = *record.start + 1 + std::llround(limit * std::pow(numbers.Uniform(), 3));
    past.run_times.Ended(record);
  }
  for (int64_t i = 0; i < kDaysArrivals; ++i) {
    past.arrivals.Arrived(JobFor(numbers, 1'000'000 + i, numbers.Below(kTypes)),
                          cluster.taken_at - 86'400 + i * 86'400 / kDaysArrivals);
  }
  return past;
}

}  // namespace gpuadvise
