// Jobs are read from libslurm's structures: there are many, and printing one looks up its group.
// Allocations per node are in a non-public structure, which is read in the layout of slurm_compat.h
// after a consistency check. If the check fails, jobs on one node use the totals that Slurm keeps
// for accounting; for jobs on several nodes this source is unusable.
#include "daemon/collect/slurm_api_jobs.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/base/text.h"
#include "daemon/collect/licenses.h"
#include "daemon/collect/scontrol_jobs.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise::collect {
namespace {

using slurm_compat::JobResources;

std::string_view TextOf(const char* text) { return text == nullptr ? std::string_view() : text; }

std::optional<UnixSeconds> Moment(time_t time) {
  return time > 0 ? std::optional<UnixSeconds>(time) : std::nullopt;
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> items;
  for (std::string_view item : SplitAt(OrNothing(text), ',')) {
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

std::optional<JobState> ToJobState(uint32_t state) {
  if ((state & JOB_COMPLETING) != 0) return JobState::kCompleting;
  if ((state & JOB_REVOKED) != 0) return std::nullopt;
  if ((state & JOB_CONFIGURING) != 0) return JobState::kConfiguring;
  switch (state & JOB_STATE_BASE) {
    case JOB_PENDING:
      return JobState::kPending;
    case JOB_RUNNING:
      return JobState::kRunning;
    case JOB_SUSPENDED:
      return JobState::kSuspended;
    default:
      return std::nullopt;
  }
}

SlurmNumber MinutesToSeconds(uint32_t minutes) {
  const SlurmNumber number = SlurmNumber::From32(minutes);
  return number.has_value() ? SlurmNumber(number.value() * 60) : number;
}

int64_t Or(uint16_t value, int64_t fallback) {
  return SlurmNumber::From16(value).value_or(fallback);
}
int64_t Or(uint32_t value, int64_t fallback) {
  return SlurmNumber::From32(value).value_or(fallback);
}

class JobReader {
 public:
  explicit JobReader(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) threads_per_core_[node.name] = node.threads_per_core;
  }

  Result<Job> Read(const slurm_job_info_t& info, JobState state);

 private:
  void ReadIdentity(const slurm_job_info_t& info, Job& job);
  static void ReadQueueing(const slurm_job_info_t& info, Job& job);
  static JobRequest ReadRequest(const slurm_job_info_t& info);
  static void ReadSharing(const slurm_job_info_t& info, JobRequest& request);
  Result<std::vector<Allocation>> ReadAllocations(const slurm_job_info_t& info) const;
  void ReadCores(const JobResources& resources, std::vector<Allocation>& allocations) const;
  const std::string& UserName(uint32_t uid);

  std::unordered_map<std::string, int64_t> threads_per_core_;
  std::unordered_map<uint32_t, std::string> users_;
};

const std::string& JobReader::UserName(uint32_t uid) {
  const auto [entry, is_new] = users_.try_emplace(uid);
  if (is_new) {
    const passwd* user = ::getpwuid(uid);
    entry->second = user != nullptr ? user->pw_name : std::to_string(uid);
  }
  return entry->second;
}

void JobReader::ReadIdentity(const slurm_job_info_t& info, Job& job) {
  job.id = info.job_id;
  job.array_job_id = info.array_job_id;
  if (info.array_task_str != nullptr) {
    job.array_tasks = ArrayTasks(info.array_task_str);
  } else if (info.array_task_id != NO_VAL) {
    job.array_tasks = std::to_string(info.array_task_id);
  }
  job.array_throttle = info.array_max_tasks;
  job.het_job_id = info.het_job_id;
  job.name = OrNothing(TextOf(info.name));
  job.uid = info.user_id;
  job.user = info.user_name != nullptr ? info.user_name : UserName(info.user_id);
  job.account = OrNothing(TextOf(info.account));
  job.qos = OrNothing(TextOf(info.qos));
}

void JobReader::ReadQueueing(const slurm_job_info_t& info, Job& job) {
  const std::string_view words = TextOf(info.state_desc);
  job.reason = ReasonWord(words.empty() ? slurm_compat::ReasonString(info.state_reason) : words);
  job.priority = info.priority;
  job.nice = static_cast<int64_t>(info.nice) - NICE_OFFSET;
  job.dependency = OrNothing(TextOf(info.dependency));
  job.submit_time = Moment(info.submit_time);
  job.eligible_time = Moment(info.eligible_time);
  job.start_time = Moment(info.start_time);
  const bool endless = info.time_limit == INFINITE && info.end_time > std::time(nullptr);
  if (job.state != JobState::kPending && !endless) job.end_time = Moment(info.end_time);
  job.requeue = info.requeue != 0;
  job.expedited_requeue = slurm_compat::HasExpeditedRequeue(info);
}

void JobReader::ReadSharing(const slurm_job_info_t& info, JobRequest& request) {
  const slurm_compat::Sharing sharing = slurm_compat::SharingOf(info);
  request.exclusive = sharing.exclusive;
  request.exclusive_to = sharing.exclusive_to;
  request.over_subscribe = sharing.over_subscribe;
}

JobRequest JobReader::ReadRequest(const slurm_job_info_t& info) {
  JobRequest request;
  request.partitions = SplitList(TextOf(info.partition));
  request.nodes_min = info.num_nodes;
  request.nodes_max = info.max_nodes > info.num_nodes ? info.max_nodes : 0;
  request.cpus = info.num_cpus;
  request.cpus_per_task = Or(info.cpus_per_task, 1);
  request.tasks = Or(info.num_tasks, 1);
  const auto memory = static_cast<int64_t>(info.pn_min_memory & ~MEM_PER_CPU);
  if ((info.pn_min_memory & MEM_PER_CPU) != 0) {
    request.memory_per_cpu_mib = memory;
  } else {
    request.memory_per_node_mib = memory;
  }
  FillTres({TextOf(info.tres_per_job), TextOf(info.tres_per_node), TextOf(info.tres_per_socket),
            TextOf(info.tres_per_task), TextOf(info.mem_per_tres), Or(info.sockets_per_node, 1)},
           request);
  request.features = OrNothing(TextOf(info.features));
  request.required_nodes = Hosts(TextOf(info.req_nodes));
  request.excluded_nodes = Hosts(TextOf(info.exc_nodes));
  ReadSharing(info, request);
  request.time_limit_seconds = MinutesToSeconds(info.time_limit);
  request.reservation = OrNothing(TextOf(info.resv_name));
  FillLicenses(TextOf(slurm_compat::LicensesOf(info)), request);
  request.switches = Or(info.req_switch, 0);
  if (request.switches > 0) request.switches_wait_seconds = Or(info.wait4switch, 0);
  request.segment_nodes = Or(slurm_compat::SegmentOf(info), 0);
  return request;
}

// CPUs and memory of a one-node job from accounting's totals.
void ReadSums(std::string_view tres, Allocation& allocation) {
  for (std::string_view part : SplitAt(OrNothing(tres), ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view amount = part.substr(equals + 1);
    if (part.substr(0, equals) == "cpu") allocation.cpus = ToInteger(amount);
    if (part.substr(0, equals) == "mem") allocation.memory_mib = ToMib(amount);
  }
}

// The bits stand for cores; an allocated core counts all its threads. REQUIRES: `resources` pass
// IsWhole and have as many nodes as `allocations`.
void JobReader::ReadCores(const JobResources& resources,
                          std::vector<Allocation>& allocations) const {
  int64_t bit = 0;
  uint32_t group = 0;
  uint32_t in_group = 0;
  for (size_t i = 0; i < allocations.size(); ++i) {
    if (in_group == resources.sock_core_rep_count[group]) {
      ++group;
      in_group = 0;
    }
    ++in_group;
    int64_t cores = 0;
    const int64_t end =
        bit + int64_t{resources.sockets_per_node[group]} * resources.cores_per_socket[group];
    for (; bit < end; ++bit) cores += slurm_bit_test(resources.core_bitmap, bit) != 0 ? 1 : 0;
    const auto threads = threads_per_core_.find(allocations[i].node);
    allocations[i].cpus = cores * (threads == threads_per_core_.end() ? 1 : threads->second);
    if (resources.memory_allocated != nullptr)
      allocations[i].memory_mib = static_cast<int64_t>(resources.memory_allocated[i]);
  }
}

Result<std::vector<Allocation>> JobReader::ReadAllocations(const slurm_job_info_t& info) const {
  std::vector<Allocation> allocations;
  const JobResources* resources = slurm_compat::ResourcesOf(info);
  if (resources == nullptr) return allocations;
  const bool whole = IsWhole(*resources, info.num_cpus);
  // For a completing job, `info` has only the nodes still to be cleaned up.
  for (std::string& name : Hosts(TextOf(whole ? resources->nodes : info.nodes))) {
    const size_t index = allocations.size();
    Allocation& allocation = allocations.emplace_back();
    allocation.node = std::move(name);
    if (index < info.gres_detail_cnt) {
      const Gres gres = GresOf(OrNothing(TextOf(info.gres_detail_str[index])));
      allocation.gpus = gres.gpus;
      allocation.shards = gres.shards;
      allocation.mps = gres.mps;
    }
  }
  if (whole && resources->nhosts == allocations.size()) {
    ReadCores(*resources, allocations);
  } else if (allocations.size() == 1) {
    ReadSums(TextOf(info.tres_alloc_str), allocations.front());
  } else if (!allocations.empty()) {
    return Fail(
        ErrorCode::kUnavailable,
        fmt::format("this libslurm does not report what job {} holds on each of its nodes in "
                    "the form that slurm-api knows; set source: slurm-cli",
                    info.job_id));
  }
  return allocations;
}

Result<Job> JobReader::Read(const slurm_job_info_t& info, JobState state) {
  Job job;
  job.state = state;
  ReadIdentity(info, job);
  ReadQueueing(info, job);
  job.request = ReadRequest(info);
  if (state == JobState::kPending) {
    job.array_task_count = CountArrayTasks(job.array_tasks);
    if (job.reason == "BeginTime") job.request.begin_time = job.eligible_time;
    return job;
  }
  job.request.nodes_max = 0;
  Result<std::vector<Allocation>> allocations = ReadAllocations(info);
  if (!allocations) return tl::unexpected<Error>(std::move(allocations.error()));
  job.allocations = std::move(*allocations);
  return job;
}

// Whether the groups of like nodes add up to the job's nodes and cores.
bool GroupsAreWhole(const JobResources& resources) {
  if (resources.sock_core_rep_count == nullptr || resources.sockets_per_node == nullptr ||
      resources.cores_per_socket == nullptr || resources.core_bitmap == nullptr) {
    return false;
  }
  uint64_t nodes = 0;
  int64_t cores = 0;
  for (uint32_t group = 0; nodes < resources.nhosts; ++group) {
    const uint32_t count = resources.sock_core_rep_count[group];
    if (count == 0) return false;
    nodes += count;
    cores += int64_t{count} * resources.sockets_per_node[group] * resources.cores_per_socket[group];
  }
  return nodes == resources.nhosts && cores == slurm_bit_size(resources.core_bitmap);
}

}  // namespace

bool IsWhole(const JobResources& resources, uint32_t num_cpus) {
  constexpr uint32_t kMostNodes = 1u << 20;  // more than any cluster has; larger counts are invalid
  if (resources.cpu_array_cnt == 0 || resources.cpu_array_cnt > kMostNodes) return false;
  if (resources.cpu_array_reps == nullptr || resources.cpus == nullptr) return false;
  uint64_t nodes = 0;
  for (uint32_t i = 0; i < resources.cpu_array_cnt; ++i) nodes += resources.cpu_array_reps[i];
  if (nodes != resources.nhosts || nodes > kMostNodes) return false;
  uint64_t cpus = 0;
  for (uint64_t node = 0; node < nodes; ++node) cpus += resources.cpus[node];
  // `ncpus` has no exact rule: with overcommit it is less than the CPUs allocated.
  if (resources.ncpus == 0 || resources.ncpus > std::max<uint64_t>(cpus, num_cpus)) return false;
  return GroupsAreWhole(resources);
}

Result<std::vector<Job>> JobsOf(const job_info_msg_t& message, const std::vector<Node>& nodes) {
  JobReader reader(nodes);
  std::vector<Job> jobs;
  for (uint32_t i = 0; i < message.record_count; ++i) {
    const std::optional<JobState> state = ToJobState(message.job_array[i].job_state);
    if (!state) continue;
    Result<Job> job = reader.Read(message.job_array[i], *state);
    if (!job) return tl::unexpected<Error>(std::move(job.error()));
    jobs.push_back(std::move(*job));
  }
  return jobs;
}

}  // namespace gpuadvise::collect
