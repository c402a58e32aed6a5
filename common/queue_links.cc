#include "common/queue_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace gpuadvise {

std::string ShapeKeyOf(const JobRequest& request, size_t partition) {
  const auto number = [](SlurmNumber n) { return n.has_value() ? n.value() : -1; };
  std::string key = fmt::format(
      "{} {} {} {} {} {} {} {} {} {} {} {}|", partition, request.nodes_min, request.nodes_max,
      request.cpus, request.cpus_per_task, number(request.memory_per_node_mib),
      number(request.memory_per_cpu_mib), request.shards_per_node, request.exclusive,
      request.reservation, request.features, request.tasks);
  for (const GpuCount& gpu : request.gpus_per_node)
    key += fmt::format("{}:{},", gpu.type, gpu.count);
  key += '|';
  for (const GpuCount& gpu : request.gpus_total) key += fmt::format("{}:{},", gpu.type, gpu.count);
  for (const std::string& node : request.required_nodes) key += "+" + node;
  for (const std::string& node : request.excluded_nodes) key += "-" + node;
  return key;
}

std::string BurstKeyOf(const Job& job) {
  if (job.array_job_id != 0) return fmt::format("{}", job.array_job_id);
  return fmt::format("{}|{}|{}|", job.user, job.name, job.request.time_limit_seconds.value_or(0)) +
         ShapeKeyOf(job.request, 0);
}

void FindBursts(const Snapshot& snapshot, std::vector<RunningJob>& running,
                std::vector<PendingJob>& pending) {
  struct Member {
    UnixSeconds submit;
    int32_t* burst;
  };
  std::map<std::string, std::vector<Member>> alike;
  std::unordered_map<int64_t, const Job*> jobs;
  for (const Job& job : snapshot.jobs) jobs.emplace(job.id, &job);
  const auto add = [&](int64_t id, int32_t& burst) {
    const auto job = jobs.find(id);
    if (job == jobs.end()) return;
    alike[BurstKeyOf(*job->second)].push_back({job->second->submit_time.value_or(0), &burst});
  };
  for (RunningJob& job : running) add(job.id, job.burst);
  for (PendingJob& job : pending) add(job.id, job.burst);
  int32_t next = 0;
  for (auto& [key, members] : alike) {
    if (members.size() < 2) continue;
    std::stable_sort(members.begin(), members.end(),
                     [](const Member& a, const Member& b) { return a.submit < b.submit; });
    for (size_t i = 0; i < members.size(); ++i) {
      if (i == 0 || members[i].submit - members[i - 1].submit > kBurstSeconds) ++next;
      *members[i].burst = next;
    }
  }
}

namespace {

int32_t RootOf(std::vector<int32_t>& up, int32_t group) {
  int32_t& above = up[static_cast<size_t>(group)];
  if (above != group) above = RootOf(up, above);
  return above;
}

}  // namespace

std::vector<int32_t> ComponentsOf(const NodeGroups& groups,
                                  const std::vector<PendingJob>& pending) {
  std::vector<int32_t> up(groups.groups().size());
  std::iota(up.begin(), up.end(), 0);
  const GroupShape* last = nullptr;
  for (const PendingJob& job : pending) {
    int32_t first = -1;
    for (const JobWay& way : job.ways) {
      if (way.shape.get() == last && job.ways.size() == 1) continue;
      last = way.shape.get();
      for (const Place& place : way.shape->places) {
        const int32_t root = RootOf(up, place.group);
        if (first < 0) first = root;
        up[static_cast<size_t>(root)] = RootOf(up, first);
      }
    }
  }
  for (size_t i = 0; i < up.size(); ++i) RootOf(up, static_cast<int32_t>(i));
  return up;
}

}  // namespace gpuadvise
