#include "common/scheduler/node_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "common/base/text.h"
#include "common/base/unix_time.h"
#include "common/slurm/node_state.h"
#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

constexpr int kRepeatedWindows = 32;  // planned windows of a recurring reservation

int32_t IndexOf(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int32_t>(found - names.begin());
  names.push_back(name);
  return static_cast<int32_t>(names.size()) - 1;
}

// Period of a recurring reservation; 0: not recurring.
int64_t RepeatSeconds(const Reservation& reservation) {
  for (const std::string& flag : reservation.flags) {
    if (flag == "HOURLY") return 3600;
    if (flag == "DAILY" || flag == "WEEKDAY" || flag == "WEEKEND") return kDaySeconds;
    if (flag == "WEEKLY") return 7 * kDaySeconds;
  }
  return 0;
}

Resources AtLeastZero(Resources amount) {
  amount.cpus = std::max<int64_t>(amount.cpus, 0);
  amount.memory_mib = std::max<int64_t>(amount.memory_mib, 0);
  amount.shards = std::max<int64_t>(amount.shards, 0);
  amount.any_gpus = std::max(amount.any_gpus, 0);
  amount.part_cpus = std::max(amount.part_cpus, 0);
  for (int32_t& gpus : amount.gpus) gpus = std::max(gpus, 0);
  return amount;
}

// A node that Slurm marks as reserved or in maintenance without a visible reservation belongs to a
// hidden one.
bool HiddenReservation(const Node& node, const PoolNode& pool) {
  if (!node.state.Has(NodeFlag::kMaintenance) && !node.state.Has(NodeFlag::kReserved)) return false;
  const auto has_begun = [](const auto& window) { return window.start <= 0; };
  return std::none_of(pool.reserved.begin(), pool.reserved.end(), has_begun) &&
         std::none_of(pool.parts.begin(), pool.parts.end(), has_begun);
}

}  // namespace

int64_t SharedBy(const Partition& partition) {
  constexpr int64_t kForceAlone = 4;  // OverSubscribe=FORCE without a number
  const std::string_view text = partition.over_subscribe;
  if (!text.starts_with("FORCE")) return 1;
  int64_t jobs = kForceAlone;
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), jobs);
  }
  return std::max<int64_t>(jobs, 1);
}

int64_t RunningUntil(const Job& job, UnixSeconds now, const SchedulerConfig& config) {
  if (job.state == JobState::kCompleting) return kReleaseSeconds;
  const SlurmNumber limit = job.request.time_limit_seconds;
  if (job.state == JobState::kSuspended && limit.has_value()) return limit.value();
  std::optional<UnixSeconds> end = job.end_time;
  if (!end && limit.has_value()) end = job.start_time.value_or(now) + limit.value();
  if (!end) return kNever;
  if (*end - now > 0) return *end - now;
  if (config.over_time_limit_seconds.infinite()) return kNever;
  const int64_t extra = config.over_time_limit_seconds.value_or(0);
  return std::max(kReleaseSeconds, *end + extra - now);
}

int PoolNode::SlotOf(int32_t type) const {
  const auto found = std::find(gpu_types.begin(), gpu_types.end(), type);
  return found == gpu_types.end() ? -1 : static_cast<int>(found - gpu_types.begin());
}

NodePool::NodePool(const Snapshot& snapshot) : reservations_(snapshot.reservations) {
  const std::string& select = snapshot.config.select_type_parameters;
  const bool parts = ContainsIgnoringCase(select, "CORE") || ContainsIgnoringCase(select, "CPU") ||
                     ContainsIgnoringCase(select, "SOCKET");
  memory_is_counted_ = select.empty() || ContainsIgnoringCase(select, "MEMORY");
  whole_cores_ = !ContainsIgnoringCase(select, "CPU");
  whole_nodes_only_ = EqualIgnoringCase(snapshot.config.select_type, "select/linear") ||
                      (!select.empty() && !parts);
  nodes_.reserve(snapshot.nodes.size());
  for (const Node& node : snapshot.nodes) AddNode(node);
  AddPartitions(snapshot);
  AddBootTimes(snapshot);
  NumberKinds();
  AddReservations(snapshot);
  if (has_parts_) GivePartsToRunning(snapshot);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].usable || !HiddenReservation(snapshot.nodes[i], nodes_[i])) continue;
    nodes_[i].usable = false;
    nodes_[i].why_unusable = "reserved";
  }
  AddUnexplained(snapshot);
}

void NodePool::AddNode(const Node& node) {
  PoolNode pool;
  pool.name = node.name;
  pool.capacity.cpus = node.cpus;
  pool.capacity.memory_mib = node.memory_mib;
  pool.cpus_of_a_job = node.cpus;
  pool.shards_are_mps = node.shards == 0 && node.mps > 0;
  pool.capacity.shards = pool.shards_are_mps ? node.mps : node.shards;
  for (const GpuCount& gpu : node.gpus) {
    if (pool.gpu_types.size() == kMaxGpuTypesPerNode) break;
    pool.capacity.gpus[pool.gpu_types.size()] = static_cast<int32_t>(gpu.count);
    pool.gpu_types.push_back(IndexOf(gpu_types_, gpu.type));
  }
  const int64_t gpus = pool.capacity.TotalGpus();
  pool.capacity.any_gpus = static_cast<int32_t>(gpus);
  if (gpus > 0) pool.shards_per_gpu = pool.capacity.shards / gpus;
  pool.threads_per_core = std::max<int64_t>(node.threads_per_core, 1);
  pool.weight = node.weight;
  pool.features = node.features;
  pool.usable = IsUsable(node.state);
  if (!pool.usable) {
    pool.why_unusable = ToWords(node.state);
    if (!node.reason.empty()) pool.why_unusable += fmt::format(" ({})", node.reason);
  }
  node_index_.emplace(node.name, static_cast<int32_t>(nodes_.size()));
  nodes_.push_back(std::move(pool));
}

// CPU limits from a node's partitions. Of several with MaxCPUsPerNode the first counts.
void NodePool::AddPartitions(const Snapshot& snapshot) {
  std::vector<int64_t> shared_by(nodes_.size(), 0);  // 0: no partition
  for (size_t p = 0; p < snapshot.partitions.size(); ++p) {
    const Partition& partition = snapshot.partitions[p];
    partition_index_.emplace(partition.name, static_cast<int32_t>(p));
    const int64_t share = SharedBy(partition);
    const int64_t most = partition.max_cpus_per_node.value_or(0);
    for (const std::string& name : partition.nodes) {
      const int32_t index = FindNode(name);
      if (index < 0) continue;
      const auto at = static_cast<size_t>(index);
      shared_by[at] = shared_by[at] == 0 ? share : std::min(share, shared_by[at]);
      PoolNode& node = nodes_[at];
      if (most <= 0 || most >= node.capacity.cpus || node.limited_partition >= 0) continue;
      node.limited_partition = static_cast<int32_t>(p);
      node.capacity.part_cpus = static_cast<int32_t>(most);
    }
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].capacity.cpus *= std::max<int64_t>(shared_by[i], 1);
  }
}

// Boot time of a node that is not up: the longest ResumeTimeout of its partitions.
void NodePool::AddBootTimes(const Snapshot& snapshot) {
  std::unordered_map<std::string, int64_t> own;  // by node
  for (const Partition& partition : snapshot.partitions) {
    if (!partition.resume_timeout_seconds.has_value()) continue;
    for (const std::string& name : partition.nodes) {
      int64_t& most = own[name];
      most = std::max(most, partition.resume_timeout_seconds.value());
    }
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const NodeState& state = snapshot.nodes[i].state;
    const bool boots = state.Has(NodeFlag::kPoweringUp) || state.Has(NodeFlag::kRebootIssued);
    const bool ends = state.Has(NodeFlag::kPoweringDown);
    if (!boots && !ends && !state.Has(NodeFlag::kPoweredDown)) continue;
    const auto found = own.find(nodes_[i].name);
    PoolNode& node = nodes_[i];
    node.boot_seconds = found != own.end()
                            ? found->second
                            : snapshot.config.resume_timeout_seconds.value_or(kResumeSeconds);
    if (ends) node.boot_seconds += snapshot.config.suspend_timeout_seconds.value_or(0);
    node.boots = boots;
    has_boots_ = true;
  }
}

void NodePool::NumberKinds() {
  using Hardware =
      std::tuple<Resources, std::vector<int32_t>, int64_t, int64_t, bool, int64_t, int32_t>;
  std::map<Hardware, int32_t> known;
  for (const PoolNode& node : nodes_) {
    kind_of_.push_back(
        known
            .try_emplace({node.capacity, node.gpu_types, node.shards_per_gpu, node.threads_per_core,
                          node.shards_are_mps, node.cpus_of_a_job, node.limited_partition},
                         static_cast<int32_t>(known.size()))
            .first->second);
  }
  kinds_ = static_cast<int32_t>(known.size());
}

void NodePool::AddReservations(const Snapshot& snapshot) {
  for (size_t r = 0; r < reservations_.size(); ++r) {
    const Reservation& reservation = reservations_[r];
    const UnixSeconds now = snapshot.taken_at;
    const int64_t start = reservation.start_time.value_or(now) - now;
    const int64_t end = reservation.end_time ? *reservation.end_time - now : kNever;
    std::vector<int32_t> nodes;
    for (const std::string& name : reservation.nodes) {
      if (const int32_t node = FindNode(name); node >= 0) nodes.push_back(node);
    }
    const bool floats = HasFlag(reservation.flags, "TIME_FLOAT");
    const std::vector<ReservedPart> parts = PartsOf(reservation, nodes);
    has_parts_ = has_parts_ || !parts.empty();
    const int64_t repeat = floats ? 0 : RepeatSeconds(reservation);
    for (int i = 0; i < (repeat > 0 ? kRepeatedWindows : 1); ++i) {
      const int64_t shift = i * repeat;
      if (end + shift <= 0) continue;
      const ReservedWindow window{start + shift, std::min(end + shift, kNever),
                                  static_cast<int32_t>(r), floats};
      for (size_t n = 0; n < nodes.size(); ++n) {
        PoolNode& node = nodes_[static_cast<size_t>(nodes[n])];
        if (parts.empty()) {
          node.reserved.push_back(window);
        } else {
          node.parts.push_back({window.start, window.end, window.reservation, parts[n].held});
        }
      }
    }
  }
  for (PoolNode& node : nodes_) {
    std::sort(node.reserved.begin(), node.reserved.end(),
              [](const auto& a, const auto& b) { return a.start < b.start; });
  }
}

// What a reservation holds on each of `nodes`; empty if it holds whole nodes. Totals are spread
// evenly, as Slurm gives no detail.
std::vector<ReservedPart> NodePool::PartsOf(const Reservation& reservation,
                                            const std::vector<int32_t>& nodes) const {
  if (reservation.tres.empty() || nodes.empty()) return {};
  Resources all;
  int64_t all_cpus = 0;
  for (const int32_t n : nodes) {
    all += nodes_[static_cast<size_t>(n)].capacity;
    all_cpus += nodes_[static_cast<size_t>(n)].cpus_of_a_job;
  }
  const auto amount = [&](const std::string& name) {
    const auto found = reservation.tres.find(name);
    return found == reservation.tres.end() ? int64_t{0} : found->second;
  };
  const int64_t cpus = amount("cpu");
  if (cpus >= all_cpus) return {};
  const auto share = [](int64_t held, int64_t own, int64_t of_all) {
    return held <= 0 || of_all <= 0 ? 0 : std::min(own, (held * own + of_all - 1) / of_all);
  };
  std::vector<ReservedPart> parts;
  for (const int32_t n : nodes) {
    const PoolNode& node = nodes_[static_cast<size_t>(n)];
    Resources& held = parts.emplace_back().held;
    held.cpus = WholeCores(node, share(cpus, node.cpus_of_a_job, all_cpus));
    held.any_gpus =
        static_cast<int32_t>(share(amount("gres/gpu"), node.capacity.any_gpus, all.any_gpus));
    int64_t typed = 0;
    for (size_t slot = 0; slot < node.gpu_types.size(); ++slot) {
      const int32_t type = node.gpu_types[slot];
      int64_t of_type = 0;
      for (const int32_t other : nodes) {
        const PoolNode& each = nodes_[static_cast<size_t>(other)];
        if (const int at = each.SlotOf(type); at >= 0) {
          of_type += each.capacity.gpus[static_cast<size_t>(at)];
        }
      }
      const int64_t asked = amount("gres/gpu:" + gpu_types_[static_cast<size_t>(type)]);
      held.gpus[slot] = static_cast<int32_t>(share(asked, node.capacity.gpus[slot], of_type));
      typed += held.gpus[slot];
    }
    if (typed == 0 && node.gpu_types.size() == 1) held.gpus[0] = held.any_gpus;
    held.any_gpus = std::max(held.any_gpus, static_cast<int32_t>(typed));
    held.shards = held.any_gpus * node.shards_per_gpu;
  }
  return parts;
}

// Avoids counting a reservation's resources twice where its own jobs run.
void NodePool::GivePartsToRunning(const Snapshot& snapshot) {
  for (const Job& job : snapshot.jobs) {
    if (!HoldsNodes(job) || job.request.reservation.empty()) continue;
    const int32_t reservation = FindReservation(job.request.reservation);
    for (const NodeShare& share : HeldBy(job)) {
      for (ReservedPart& part : nodes_[static_cast<size_t>(share.node)].parts) {
        if (part.reservation != reservation) continue;
        part.held -= share.held;
        part.held = AtLeastZero(part.held);
      }
    }
  }
}

Resources NodePool::Held(const PoolNode& node, const Allocation& allocation,
                         int32_t partition) const {
  Resources held;
  held.cpus = WholeCores(node, allocation.cpus);
  if (partition >= 0 && partition == node.limited_partition) {
    held.part_cpus = static_cast<int32_t>(held.cpus);
  }
  held.memory_mib = allocation.memory_mib;
  held.shards = node.shards_are_mps ? allocation.mps : allocation.shards;
  for (const GpuCount& gpu : allocation.gpus) {
    int slot = node.SlotOf(FindGpuType(gpu.type));
    if (slot < 0 && gpu.type.empty() && !node.gpu_types.empty()) slot = 0;
    if (slot < 0) continue;
    held.gpus[static_cast<size_t>(slot)] += static_cast<int32_t>(gpu.count);
    held.any_gpus += static_cast<int32_t>(gpu.count);
    held.shards += gpu.count * node.shards_per_gpu;  // a GPU is allocated whole or as shards
  }
  return held;
}

std::vector<NodeShare> NodePool::HeldBy(const Job& job) const {
  std::vector<NodeShare> shares;
  const auto in = job.request.partitions.empty()
                      ? partition_index_.end()
                      : partition_index_.find(job.request.partitions.front());
  const int32_t partition = in == partition_index_.end() ? -1 : in->second;
  for (const Allocation& allocation : job.allocations) {
    const int32_t node = FindNode(allocation.node);
    if (node < 0) continue;
    shares.push_back({node, Held(nodes_[static_cast<size_t>(node)], allocation, partition)});
  }
  return shares;
}

// Use without a visible job. Where jobs are hidden: other users' jobs, up to the longest limit.
// Elsewhere: a job that ended between two tables, released at once.
void NodePool::AddUnexplained(const Snapshot& snapshot) {
  std::vector<Resources> left(nodes_.size());  // the node's allocation minus its jobs
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = snapshot.nodes[i];
    left[i] = Held(nodes_[i],
                   {node.name, node.cpus_allocated, node.memory_allocated_mib, node.gpus_allocated,
                    node.shards_allocated, node.mps_allocated},
                   -1);
  }
  for (const Job& job : snapshot.jobs) {
    if (!HoldsNodes(job)) continue;
    for (const NodeShare& share : HeldBy(job)) left[static_cast<size_t>(share.node)] -= share.held;
  }
  const bool hidden = ContainsIgnoringCase(snapshot.config.private_data, "jobs");
  for (const Partition& partition : snapshot.partitions) {
    if (!hidden) break;
    unexplained_until_ = std::max(unexplained_until_, partition.max_time_seconds.value_or(kNever));
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Resources more = AtLeastZero(left[i]);
    more.part_cpus = 0;
    if (more != Resources{}) unexplained_.push_back({static_cast<int32_t>(i), more});
  }
}

int32_t NodePool::FindNode(std::string_view name) const {
  const auto found = node_index_.find(std::string(name));
  return found == node_index_.end() ? -1 : found->second;
}

int32_t NodePool::FindGpuType(std::string_view type) const {
  const auto found = std::find(gpu_types_.begin(), gpu_types_.end(), type);
  return found == gpu_types_.end() ? -1 : static_cast<int32_t>(found - gpu_types_.begin());
}

int32_t NodePool::FindReservation(std::string_view name) const {
  for (size_t i = 0; i < reservations_.size(); ++i) {
    if (reservations_[i].name == name) return static_cast<int32_t>(i);
  }
  return -1;
}

int64_t NodePool::WholeCores(const PoolNode& node, int64_t cpus) const {
  if (!whole_cores_ || node.threads_per_core == 1) return cpus;
  return (cpus + node.threads_per_core - 1) / node.threads_per_core * node.threads_per_core;
}

}  // namespace gpuadvise
