// Nodes, partitions, reservations and the configuration are few and their structures change with
// every release, so libslurm prints them into memory in the text that all releases share, and
// scontrol.h reads it. Jobs are many, and the text costs a look-up of the group of each: they are
// taken from the structures, as are associations and QOS, whose text is cut to two digits.
#include "daemon/collect/slurm_api.h"

#include <pwd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "common/base/text.h"
#include "daemon/collect/scontrol.h"
#include "daemon/collect/scontrol_jobs.h"
#include "daemon/collect/slurm_api_policy.h"
#include "daemon/collect/slurm_compat.h"
#include "daemon/collect/slurm_conf.h"
#include "daemon/collect/slurm_values.h"
#include "daemon/collect/source.h"

namespace gpuadvise::collect {
namespace {

constexpr uint16_t kShow = SHOW_ALL | SHOW_DETAIL | SHOW_LOCAL | SHOW_MIXED;

std::string_view DaemonState(const char* text) {
  return text == nullptr ? std::string_view() : text;
}

// What `print` writes to a stream.
template <typename Print>
std::string Printed(Print print) {
  char* data = nullptr;
  size_t size = 0;
  FILE* stream = ::open_memstream(&data, &size);
  if (stream == nullptr) return {};
  print(stream);
  std::fclose(stream);
  std::string text(data, size);
  std::free(data);
  return text;
}

std::optional<UnixSeconds> Moment(time_t time) {
  return time > 0 ? std::optional<UnixSeconds>(time) : std::nullopt;
}

std::vector<std::string> ListOf(std::string_view text) {
  std::vector<std::string> items;
  for (std::string_view item : SplitAt(OrNothing(text), ',')) {
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

// ---- jobs ----------------------------------------------------------------------------------

std::optional<JobState> StateOf(uint32_t state) {
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
  // `snapshot` has the nodes and the configuration.
  explicit JobReader(const Snapshot& snapshot)
      : tracks_memory_(snapshot.config.select_type_parameters.find("MEMORY") != std::string::npos) {
    for (const Node& node : snapshot.nodes) {
      nodes_[node.name] = {node.memory_mib, node.threads_per_core};
    }
  }

  std::vector<Job> Read(const job_info_msg_t& message) {
    std::vector<Job> jobs;
    for (uint32_t i = 0; i < message.record_count; ++i) {
      const std::optional<JobState> state = StateOf(message.job_array[i].job_state);
      if (state) jobs.push_back(ReadJob(message.job_array[i], *state));
    }
    return jobs;
  }

 private:
  Job ReadJob(const slurm_job_info_t& info, JobState state);
  void ReadIdentity(const slurm_job_info_t& info, Job& job);
  static void ReadQueueing(const slurm_job_info_t& info, Job& job);
  static JobRequest ReadRequest(const slurm_job_info_t& info);
  std::vector<Allocation> ReadAllocations(const slurm_job_info_t& info) const;
  int64_t MemoryOn(const slurm_job_info_t& info, int index, const Allocation& allocation) const;
  const std::string& UserName(uint32_t uid);

  struct NodeFacts {
    int64_t memory_mib = 0;
    int64_t threads_per_core = 1;
  };
  NodeFacts FactsOf(const std::string& node) const {
    const auto found = nodes_.find(node);
    return found == nodes_.end() ? NodeFacts() : found->second;
  }

  bool tracks_memory_;
  std::unordered_map<std::string, NodeFacts> nodes_;
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
  job.name = OrNothing(DaemonState(info.name));
  job.uid = info.user_id;
  job.user = info.user_name != nullptr ? info.user_name : UserName(info.user_id);
  job.account = OrNothing(DaemonState(info.account));
  job.qos = OrNothing(DaemonState(info.qos));
}

void JobReader::ReadQueueing(const slurm_job_info_t& info, Job& job) {
  const std::string_view words = DaemonState(info.state_desc);
  job.reason = ReasonWord(words.empty() ? slurm_compat::ReasonString(info.state_reason) : words);
  job.priority = info.priority;
  job.nice = static_cast<int64_t>(info.nice) - NICE_OFFSET;
  job.dependency = OrNothing(DaemonState(info.dependency));
  job.submit_time = Moment(info.submit_time);
  job.eligible_time = Moment(info.eligible_time);
  job.start_time = Moment(info.start_time);
  const bool endless = info.time_limit == INFINITE && info.end_time > std::time(nullptr);
  if (job.state != JobState::kPending && !endless) job.end_time = Moment(info.end_time);
  job.requeue = info.requeue != 0;
}

JobRequest JobReader::ReadRequest(const slurm_job_info_t& info) {
  JobRequest request;
  request.partitions = ListOf(DaemonState(info.partition));
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
  FillTres({DaemonState(info.tres_per_job), DaemonState(info.tres_per_node),
            DaemonState(info.tres_per_socket), DaemonState(info.tres_per_task),
            DaemonState(info.mem_per_tres), Or(info.sockets_per_node, 1)},
           request);
  request.features = OrNothing(DaemonState(info.features));
  request.required_nodes = Hosts(DaemonState(info.req_nodes));
  request.excluded_nodes = Hosts(DaemonState(info.exc_nodes));
  request.exclusive = info.shared == 0;
  request.time_limit_seconds = MinutesToSeconds(info.time_limit);
  request.reservation = OrNothing(DaemonState(info.resv_name));
  return request;
}

// As slurmctld fills job_resources: per GPU, per CPU, per node, or all that the node has.
int64_t JobReader::MemoryOn(const slurm_job_info_t& info, int index,
                            const Allocation& allocation) const {
  if (!tracks_memory_) return 0;
  const std::string_view per_gpu = OrNothing(DaemonState(info.mem_per_tres));
  if (!per_gpu.empty()) return MemoryPerGpuMib(per_gpu) * TotalGpus(allocation.gpus);
  const auto memory = static_cast<int64_t>(info.pn_min_memory & ~MEM_PER_CPU);
  if ((info.pn_min_memory & MEM_PER_CPU) != 0) {
    return memory * slurm_job_cpus_allocated_on_node_id(info.job_resrcs, index);
  }
  return memory > 0 ? memory : FactsOf(allocation.node).memory_mib;
}

std::vector<Allocation> JobReader::ReadAllocations(const slurm_job_info_t& info) const {
  std::vector<Allocation> allocations;
  if (info.job_resrcs == nullptr) return allocations;
  std::vector<char> ids(64 * 1024);
  int index = 0;
  for (std::string& name : Hosts(DaemonState(info.nodes))) {
    Allocation& allocation = allocations.emplace_back();
    allocation.node = std::move(name);
    if (slurm_job_cpus_allocated_str_on_node_id(ids.data(), ids.size(), info.job_resrcs, index) ==
        0) {  // it names cores; all threads of a core are taken
      allocation.cpus = CountCpuIds(ids.data()) * FactsOf(allocation.node).threads_per_core;
    }
    if (static_cast<uint32_t>(index) < info.gres_detail_cnt) {
      const Gres gres = GresOf(OrNothing(DaemonState(info.gres_detail_str[index])));
      allocation.gpus = gres.gpus;
      allocation.shards = gres.shards;
    }
    allocation.memory_mib = MemoryOn(info, index, allocation);
    ++index;
  }
  return allocations;
}

Job JobReader::ReadJob(const slurm_job_info_t& info, JobState state) {
  Job job;
  job.state = state;
  ReadIdentity(info, job);
  ReadQueueing(info, job);
  job.request = ReadRequest(info);
  if (state == JobState::kPending) {
    job.array_task_count = CountArrayTasks(job.array_tasks);
    if (job.reason == "BeginTime") job.request.begin_time = job.eligible_time;
  } else {
    job.request.nodes_max = 0;
    job.allocations = ReadAllocations(info);
  }
  return job;
}

// ---- the source ----------------------------------------------------------------------------

Error CannotAsk(const char* what) {
  return {ErrorCode::kUnavailable,
          std::string("slurmctld does not tell its ") + what + ": " + slurm_strerror(errno), ""};
}

// One table: asks with the time of the last answer, reads only what changed.
template <typename Message>
class UpdatedTable {
 public:
  // `load(time, &message)` and `free(message)` are libslurm's; `read(message)` is called for news.
  template <typename Load, typename Free, typename Read>
  Result<void> Poll(const char* what, Load load, Free free, Read read) {
    Message* message = nullptr;
    if (load(updated_, &message) != SLURM_SUCCESS) {
      if (errno == SLURM_NO_CHANGE_IN_DATA) return {};
      return tl::unexpected(CannotAsk(what));
    }
    updated_ = message->last_update;
    read(*message);
    free(message);
    return {};
  }
  void Forget() { updated_ = 0; }

 private:
  time_t updated_ = 0;
};

class SlurmApiSource : public Source {
 public:
  explicit SlurmApiSource(const SlurmApiOptions& options) : options_(options) {}

  Result<Poll> Step() override;

 private:
  Result<void> LoadNodes(Snapshot& snapshot);
  Result<void> LoadJobs(Snapshot& snapshot);
  Result<void> LoadPartitions(Snapshot& snapshot);
  Result<void> LoadReservations(Snapshot& snapshot);
  Result<void> LoadPolicy(Snapshot& snapshot);
  Result<void> LoadAll(Snapshot& snapshot);

  const SlurmApiOptions options_;
  Snapshot last_;
  bool has_last_ = false;
  std::optional<std::chrono::steady_clock::time_point> policy_time_;
  UpdatedTable<node_info_msg_t> nodes_;
  UpdatedTable<job_info_msg_t> jobs_;
  UpdatedTable<partition_info_msg_t> partitions_;
  UpdatedTable<reserve_info_msg_t> reservations_;
};

Result<void> SlurmApiSource::LoadNodes(Snapshot& snapshot) {
  return nodes_.Poll(
      "nodes", [](time_t since, node_info_msg_t** m) { return slurm_load_node(since, m, kShow); },
      slurm_free_node_info_msg,
      [&](node_info_msg_t& message) {
        snapshot.nodes = ParseNodes(
            Printed([&](FILE* stream) { slurm_print_node_info_msg(stream, &message, 0); }));
      });
}

Result<void> SlurmApiSource::LoadJobs(Snapshot& snapshot) {
  return jobs_.Poll(
      "jobs", [](time_t since, job_info_msg_t** m) { return slurm_load_jobs(since, m, kShow); },
      slurm_free_job_info_msg,
      [&](job_info_msg_t& message) { snapshot.jobs = JobReader(snapshot).Read(message); });
}

Result<void> SlurmApiSource::LoadPartitions(Snapshot& snapshot) {
  return partitions_.Poll(
      "partitions",
      [](time_t since, partition_info_msg_t** m) { return slurm_load_partitions(since, m, kShow); },
      slurm_free_partition_info_msg,
      [&](partition_info_msg_t& message) {
        snapshot.partitions = ParsePartitions(
            Printed([&](FILE* stream) { slurm_print_partition_info_msg(stream, &message, 0); }));
      });
}

Result<void> SlurmApiSource::LoadReservations(Snapshot& snapshot) {
  return reservations_.Poll("reservations", slurm_load_reservations,
                            slurm_free_reservation_info_msg, [&](reserve_info_msg_t& message) {
                              snapshot.reservations = ParseReservations(Printed([&](FILE* stream) {
                                slurm_print_reservation_info_msg(stream, &message, 0);
                              }));
                            });
}

Result<void> SlurmApiSource::LoadPolicy(Snapshot& snapshot) {
  const auto now = std::chrono::steady_clock::now();
  if (policy_time_ && now - *policy_time_ < options_.policy_interval) return {};
  slurm_conf_t* conf = nullptr;
  if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS)
    return tl::unexpected(CannotAsk("configuration"));
  ClusterConfig config =
      ParseConfig(Printed([&](FILE* stream) { slurm_print_ctl_conf(stream, conf); }));
  slurm_free_ctl_conf(conf);
  snapshot.cluster = std::move(config.cluster);
  snapshot.config = std::move(config.config);
  if (config.has_accounting) LoadAccounting(snapshot);
  policy_time_ = now;
  return {};
}

Result<void> SlurmApiSource::LoadAll(Snapshot& snapshot) {
  if (auto loaded = LoadPolicy(snapshot); !loaded) return loaded;
  if (auto loaded = LoadNodes(snapshot); !loaded) return loaded;
  if (auto loaded = LoadPartitions(snapshot); !loaded) return loaded;
  if (auto loaded = LoadReservations(snapshot); !loaded) return loaded;
  return LoadJobs(snapshot);
}

Result<Poll> SlurmApiSource::Step() {
  Poll poll;
  poll.snapshot = last_;
  poll.snapshot.source = "slurm-api";
  if (auto loaded = LoadAll(poll.snapshot); !loaded) {
    nodes_.Forget();  // what was read for this step is dropped with it
    partitions_.Forget();
    reservations_.Forget();
    jobs_.Forget();
    policy_time_.reset();
    return tl::unexpected(loaded.error());
  }
  poll.snapshot.taken_at = std::time(nullptr);
  SortCanonically(poll.snapshot);
  DropDoubles(poll.snapshot, poll.left_out);
  poll.changed = has_last_ ? ChangedTables(last_, poll.snapshot) : TableSet::All();
  last_ = poll.snapshot;
  has_last_ = true;
  return poll;
}

}  // namespace

SourceResult MakeSlurmApiSource(const SlurmApiOptions& options) {
  const auto conf = FindSlurmConf();
  if (!conf) return tl::unexpected(conf.error());
  slurm_init(conf->empty() ? nullptr : conf->c_str());
  return std::make_unique<SlurmApiSource>(options);
}

}  // namespace gpuadvise::collect
