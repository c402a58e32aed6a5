#include "common/scheduler/bursts_and_components.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>

#include "common/slurm/job_record.h"

namespace gpuadvise {
namespace {

int32_t RootOf(std::vector<int32_t>& up, int32_t group) {
  int32_t& above = up[static_cast<size_t>(group)];
  if (above != group) above = RootOf(up, above);
  return above;
}

}  // namespace

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
    const JobRecord record = RecordOf(*job->second);
    alike[MakeBurstKey(record)].push_back({record.submit, &burst});
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

std::vector<int32_t> ComponentsOf(const NodeGroups& groups,
                                  const std::vector<PendingJob>& pending) {
  std::vector<int32_t> up(groups.groups().size());
  std::iota(up.begin(), up.end(), 0);
  const GroupRequirements* last = nullptr;
  for (const PendingJob& job : pending) {
    int32_t first = -1;
    for (const PartitionOption& option : job.options) {
      if (option.requirements.get() == last && job.options.size() == 1) continue;
      last = option.requirements.get();
      for (const GroupDemand& demand : option.requirements->demands) {
        const int32_t root = RootOf(up, demand.group);
        if (first < 0) first = root;
        up[static_cast<size_t>(root)] = RootOf(up, first);
      }
    }
  }
  for (size_t i = 0; i < up.size(); ++i) RootOf(up, static_cast<int32_t>(i));
  return up;
}

}  // namespace gpuadvise
