#include "common/forecast/doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

class Doubts {
 public:
  Doubts(const QueueModel& queue, const JobRequest& request, const PendingJob& job,
         const SimulatedStart& first)
      : queue_(queue), snapshot_(queue.snapshot()), request_(request), job_(job), first_(first) {}

  std::vector<std::string> Find() {
    AddBoot();
    AddLicences();
    AddTopology();
    AddSharing();
    AddReservations();
    AddExpedited();
    return std::move(found_);
  }

 private:
  const NodeGroup& GroupOf(const GroupDemand& demand) const {
    return queue_.groups().groups()[static_cast<size_t>(demand.group)];
  }

  bool MayUse(int32_t node) const {
    const int32_t group = queue_.groups().GroupOf(node);
    return std::any_of(
        job_.options.begin(), job_.options.end(), [&](const PartitionOption& option) {
          const std::vector<GroupDemand>& demands = option.requirements->demands;
          const auto at = std::lower_bound(
              demands.begin(), demands.end(), group,
              [](const GroupDemand& demand, int32_t wanted) { return demand.group < wanted; });
          return at != demands.end() && at->group == group;
        });
  }

  void AddBoot() {
    if (!queue_.pool().has_boots()) return;
    const GroupRequirements& requirements =
        *job_.options[static_cast<size_t>(first_.option)].requirements;
    int64_t longest = 0;
    for (const GroupAllocation& allocation : first_.nodes) {
      const NodeGroup& group =
          GroupOf(requirements.demands[static_cast<size_t>(allocation.demand)]);
      longest = std::max(longest, group.boot_seconds);
    }
    // Without known nodes, all of them must be down.
    if (first_.nodes.empty()) {
      longest = kNever;
      for (const GroupDemand& demand : requirements.demands) {
        longest = std::min(longest, GroupOf(demand).boot_seconds);
      }
    }
    if (longest <= 0 || longest >= kNever) return;
    found_.push_back(fmt::format("its node must power up first: up to {}",
                                 DurationInWords(static_cast<double>(longest))));
  }

  void AddLicences() {
    if (request_.licenses.empty()) return;
    const SchedulerConfig& config = snapshot_.config;
    if (config.licenses.empty()) {
      found_.push_back("this cluster's licences are not known: it may wait for one");
      return;
    }
    if (request_.any_license && request_.licenses.size() > 1) {
      found_.push_back("any one of its licences is enough: counted with the most plentiful");
    }
    for (const auto& [name, count] : request_.licenses) {
      const License* licence = FindLicence(config, name);
      if (licence != nullptr && licence->remote) {
        found_.push_back(fmt::format(
            "licence {} is shared with other clusters, whose use is not known", licence->name));
      }
    }
    if (queue_.scheduler().plans_licenses) {
      found_.push_back("Slurm reserves licences ahead here (bf_licenses): it may start later");
    }
  }

  void AddTopology() {
    if (request_.switches > 0) {
      found_.push_back("--switches is not simulated: it may wait longer");
    }
    if (request_.segment_nodes > 0) {
      found_.push_back("--segment is not simulated: it may wait longer");
    }
    const bool several = job_.options.front().requirements->nodes > 1;
    if (several && ContainsIgnoringCase(snapshot_.config.topology_plugin, "block")) {
      found_.push_back("topology/block is not simulated: it may wait longer");
    }
  }

  void AddSharing() {
    const Partition& partition =
        snapshot_.partitions[static_cast<size_t>(job_.options.front().partition)];
    const std::string& to =
        request_.exclusive_to.empty() ? partition.exclusive_to : request_.exclusive_to;
    if (to == "user" || to == "mcs") {
      found_.push_back(
          fmt::format("its node is shared only with jobs of the same {} but counted as whole: it "
                      "may start earlier next to such jobs",
                      to == "user" ? "user" : "label"));
    }
    if (to == "topo") {
      found_.push_back("whole blocks of nodes are not simulated: it may wait longer");
    }
    const bool yes = partition.over_subscribe.starts_with("YES") && request_.over_subscribe;
    const bool mixed =
        SharedBy(partition) > 1 &&
        std::any_of(queue_.Members(static_cast<size_t>(job_.options.front().partition)).begin(),
                    queue_.Members(static_cast<size_t>(job_.options.front().partition)).end(),
                    [&](int32_t n) {
                      const PoolNode& node = queue_.pool().nodes()[static_cast<size_t>(n)];
                      return node.capacity.cpus < node.cpus_of_a_job * SharedBy(partition);
                    });
    if (yes || mixed) {
      found_.push_back(
          fmt::format("CPUs may be shared here (OverSubscribe={}): it may start earlier",
                      partition.over_subscribe));
    }
    if (partition.max_cpus_per_socket.value_or(0) > 0) {
      found_.push_back("MaxCPUsPerSocket is not simulated: it may wait longer");
    }
    const bool by_socket =
        ContainsIgnoringCase(snapshot_.config.select_type_parameters, "CR_SOCKET");
    if (by_socket && !request_.exclusive && !partition.exclusive) {
      found_.push_back("CPUs are allocated by socket here but counted by core: it may wait longer");
    }
  }

  void AddReservations() {
    const int64_t end = first_.start >= kNever ? kNever : first_.start + kDaySeconds;
    for (size_t r = 0; r < snapshot_.reservations.size(); ++r) {
      const Reservation& each = snapshot_.reservations[r];
      const int64_t begin = each.start_time.value_or(snapshot_.taken_at) - snapshot_.taken_at;
      if (each.end_time && *each.end_time <= snapshot_.taken_at) continue;
      if (each.name == request_.reservation) {
        AddOwn(each);
        continue;
      }
      if (begin > end) continue;
      if (each.nodes.empty() && each.node_count > 0) {
        found_.push_back(fmt::format("reservation {} takes {} that Slurm has not selected yet",
                                     each.name, Plural(each.node_count, "node")));
      } else if (each.nodes.size() > 1 && HoldsPartOfMine(static_cast<int32_t>(r))) {
        found_.push_back(fmt::format("reservation {} holds part of {}: which part is not known",
                                     each.name,
                                     Plural(static_cast<int64_t>(each.nodes.size()), "node")));
      }
      for (const auto& [name, count] : request_.licenses) {
        if (begin <= 0 || !each.licenses.contains(name)) continue;
        found_.push_back(fmt::format(
            "reservation {} takes {} of licence {} in {}, which is not simulated", each.name,
            each.licenses.at(name), name, DurationInWords(static_cast<double>(begin))));
      }
    }
  }

  void AddOwn(const Reservation& own) {
    if (HasFlag(own.flags, "FLEX")) {
      found_.push_back(
          fmt::format("reservation {} is FLEX: the job may start before or outside it", own.name));
    }
    if (!own.groups.empty() && own.users.empty()) {
      found_.push_back(
          fmt::format("reservation {} is for groups; your membership is not known", own.name));
    }
  }

  bool HoldsPartOfMine(int32_t reservation) const {
    for (size_t n = 0; n < queue_.pool().nodes().size(); ++n) {
      const std::vector<ReservedPart>& parts = queue_.pool().nodes()[n].parts;
      const bool held = std::any_of(parts.begin(), parts.end(), [&](const ReservedPart& part) {
        return part.reservation == reservation;
      });
      if (held && MayUse(static_cast<int32_t>(n))) return true;
    }
    return false;
  }

  void AddExpedited() {
    int64_t count = 0;
    for (const Job* job : queue_.expedited()) {
      count +=
          std::any_of(job->allocations.begin(), job->allocations.end(), [&](const Allocation& a) {
            const int32_t node = queue_.pool().FindNode(a.node);
            return node >= 0 && MayUse(node);
          });
    }
    if (count == 0) return;
    found_.push_back(fmt::format("{} there would restart first on failure (--requeue=expedite)",
                                 Plural(count, "running job")));
  }

  const QueueModel& queue_;
  const Snapshot& snapshot_;
  const JobRequest& request_;
  const PendingJob& job_;
  const SimulatedStart& first_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> FindDoubts(const QueueModel& queue, const JobRequest& request,
                                    const PendingJob& job, const SimulatedStart& first) {
  return Doubts(queue, request, job, first).Find();
}

}  // namespace gpuadvise
