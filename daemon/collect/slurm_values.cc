#include "daemon/collect/slurm_values.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "common/base/host_list.h"
#include "common/base/text.h"

namespace gpuadvise::collect {
namespace {

constexpr std::array<std::pair<std::string_view, JobState>, 15> kLivingStates = {{
    {"PENDING", JobState::kPending},
    {"REQUEUED", JobState::kPending},
    {"REQUEUE_HOLD", JobState::kPending},
    {"REQUEUE_FED", JobState::kPending},
    {"SPECIAL_EXIT", JobState::kPending},
    {"RESV_DEL_HOLD", JobState::kPending},
    {"EXPEDITING", JobState::kPending},
    {"RUNNING", JobState::kRunning},
    {"RESIZING", JobState::kRunning},
    {"SIGNALING", JobState::kRunning},
    {"STOPPED", JobState::kRunning},
    {"SUSPENDED", JobState::kSuspended},
    {"COMPLETING", JobState::kCompleting},
    {"CONFIGURING", JobState::kConfiguring},
    {"POWER_UP_NODE", JobState::kConfiguring},
}};

constexpr int64_t kOperatorLevel = 2;      // slurmdb_admin_level_t
constexpr int64_t kMostTasks = 4'000'001;  // the largest MaxArraySize

// Count of numbers in "3-9:2" or "3".
int64_t CountRange(std::string_view range) {
  const size_t dash = range.find('-');
  if (dash == std::string_view::npos) return range.empty() ? 0 : 1;
  const size_t colon = range.find(':');
  const int64_t low = ToInteger(range.substr(0, dash));
  const int64_t high = ToInteger(range.substr(dash + 1));
  const int64_t step = colon == std::string_view::npos ? 1 : ToInteger(range.substr(colon + 1), 1);
  return high < low || low < 0 || step < 1 ? 0 : (high - low) / step + 1;
}

std::string_view WithoutThrottle(std::string_view expression) {
  return expression.substr(0, expression.find('%'));
}

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Slurm stores --mem-per-gpu as TRES; memory per node is that times the GPUs per node.
void FillMemoryPerGpu(std::string_view memory_per_tres, JobRequest& request) {
  const int64_t per_gpu = MemoryPerGpuMib(memory_per_tres);
  const int64_t per_node = TotalGpus(request.gpus_per_node);
  const int64_t nodes = std::max<int64_t>(request.nodes_min, 1);
  const int64_t gpus = per_node > 0 ? per_node : CeilDivide(TotalGpus(request.gpus_total), nodes);
  if (per_gpu <= 0 || gpus <= 0) return;
  request.memory_per_node_mib = per_gpu * gpus;
  request.memory_per_cpu_mib = SlurmNumber::Absent();
}

}  // namespace

std::optional<JobState> JobStateFromWord(std::string_view word) {
  for (const auto& [name, state] : kLivingStates) {
    if (name == word) return state;
  }
  return std::nullopt;
}

std::string ReasonWord(std::string_view text) {
  std::string word(OrNothing(text));
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
}

std::string ArrayTasks(std::string_view expression) {
  return std::string(WithoutThrottle(expression));
}

int64_t CountArrayTasks(std::string_view expression) {
  int64_t count = 0;
  for (std::string_view range : SplitAt(WithoutThrottle(expression), ',')) {
    count = std::min(count + std::min(CountRange(range), kMostTasks), kMostTasks);
  }
  return std::max<int64_t>(count, 1);
}

std::vector<std::string> Hosts(std::string_view expression) {
  return ExpandHostList(expression).value_or(std::vector<std::string>());
}

Gres GresOf(std::string_view text) { return ParseGres(text).value_or(Gres()); }

void FillTres(const TresRequest& tres, JobRequest& request) {
  const Gres node = GresOf(tres.per_node);
  const Gres socket = GresOf(tres.per_socket);
  const Gres task = GresOf(tres.per_task);
  request.gpus_per_node =
      AddGpus(node.gpus, MultiplyGpus(socket.gpus, std::max<int64_t>(tres.sockets_per_node, 1)));
  request.shards_per_node = node.shards;
  request.mps_per_node = node.mps;
  request.gpus_total = GresOf(tres.per_job).gpus;
  if (request.gpus_total.empty()) {
    request.gpus_total = MultiplyGpus(task.gpus, std::max<int64_t>(request.tasks, 1));
  }
  if (!OrNothing(tres.memory_per_tres).empty()) FillMemoryPerGpu(tres.memory_per_tres, request);
}

void SpellTypesAsNodes(Snapshot& snapshot) {
  std::map<std::string, std::string> spelled;  // "": nodes differ
  for (const Node& node : snapshot.nodes) {
    for (const GpuCount& gpu : node.gpus) {
      const auto [at, is_new] = spelled.emplace(LowerCase(gpu.type), gpu.type);
      if (!is_new && at->second != gpu.type) at->second.clear();
    }
  }
  const auto spell = [&](GpuCounts& gpus) {
    bool changed = false;
    for (GpuCount& gpu : gpus) {
      const auto found = spelled.find(LowerCase(gpu.type));
      if (found == spelled.end() || found->second.empty() || found->second == gpu.type) continue;
      gpu.type = found->second;
      changed = true;
    }
    if (changed) gpus = CanonicalGpus(std::move(gpus));
  };
  for (Node& node : snapshot.nodes) spell(node.gpus_allocated);
  for (Job& job : snapshot.jobs) {
    spell(job.request.gpus_per_node);
    spell(job.request.gpus_total);
    for (Allocation& allocation : job.allocations) spell(allocation.gpus);
  }
}

void FillSharing(std::string_view over_subscribe, std::string_view exclusive, JobRequest& request) {
  request.over_subscribe = over_subscribe == "YES";
  const std::string_view word = exclusive.empty() ? over_subscribe : exclusive;
  const bool whole = exclusive.empty() ? over_subscribe == "NO" : exclusive == "NODE";
  request.exclusive = whole || word == "TOPO";
  request.exclusive_to = word == "USER" || word == "MCS" || word == "TOPO" ? LowerCase(word) : "";
}

void FillSharing(std::string_view over_subscribe, std::string_view exclusive, bool user, bool topo,
                 Partition& partition) {
  partition.over_subscribe = over_subscribe;
  topo = topo || exclusive == "TOPO";
  user = user || exclusive == "USER";
  partition.exclusive = topo || exclusive == "NODE" || over_subscribe == "EXCLUSIVE";
  partition.exclusive_to = topo ? "topo" : user ? "user" : "";
}

std::vector<std::string> HiddenFrom(bool is_root_or_slurm_user, std::string_view admin_level,
                                    std::string_view private_data) {
  std::vector<std::string> hidden;
  const std::string level = LowerCase(admin_level);
  const bool operates = level.starts_with("oper") || level.starts_with("admin") ||
                        level.starts_with("super") || ToInteger(level) >= kOperatorLevel;
  if (is_root_or_slurm_user || operates) return hidden;
  for (std::string_view word : SplitAt(OrNothing(private_data), ',')) {
    // "cloud" shows more, not less: powered-down cloud nodes.
    if (!word.empty() && word != "none" && word != "cloud") hidden.emplace_back(word);
  }
  return hidden;
}

int64_t MemoryPerGpuMib(std::string_view memory_per_tres) {
  const size_t cut = memory_per_tres.find_last_of(":=");
  return ToMib(cut == std::string_view::npos ? memory_per_tres : memory_per_tres.substr(cut + 1));
}

}  // namespace gpuadvise::collect
