#include "daemon/collect/rest_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/base/text.h"
#include "common/slurm/gres.h"
#include "common/slurm/node_state.h"
#include "daemon/collect/accounting_text.h"
#include "daemon/collect/licenses.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise::collect {
namespace {

// Number of allocated cores in a list of {index, status: [ALLOCATED, …]}.
int64_t HeldCores(const RestJson& cores) {
  return std::count_if(cores.begin(), cores.end(), [](const RestJson& core) {
    return RestHasWord(core, "status", "ALLOCATED");
  });
}

bool IsListOfCores(const RestJson& value) {
  return value.is_array() && !value.empty() && value.front().is_object() &&
         value.front().contains("status") && value.front().contains("index");
}

// Above all counts, times and MiB in Slurm; products with threads fit in 64 bits.
constexpr int64_t kMostCount = int64_t{1} << 48;

std::optional<int64_t> Whole(const RestJson& value) {
  if (!value.is_number()) return std::nullopt;
  const auto most = static_cast<double>(kMostCount);
  return static_cast<int64_t>(std::clamp(value.get<double>(), -most, most));
}

std::optional<UnixSeconds> Moment(const RestJson& object, std::string_view path) {
  const int64_t seconds = RestCount(object, path);
  return seconds > 0 ? std::optional<UnixSeconds>(seconds) : std::nullopt;
}

SlurmNumber MinutesAsSeconds(const RestJson& object, std::string_view path) {
  const SlurmNumber minutes = RestNumber(object, path);
  return minutes.has_value() ? SlurmNumber(minutes.value() * 60) : minutes;
}

}  // namespace

Result<RestJson> ReadRestJson(std::string_view text) {
  const auto shorten = [](int, RestJson::parse_event_t event, RestJson& value) {
    if (event == RestJson::parse_event_t::array_end && IsListOfCores(value)) {
      value = HeldCores(value);
    }
    return true;
  };
  try {
    RestJson document = RestJson::parse(text, shorten);
    if (document.is_object()) return document;
    return Fail(ErrorCode::kUnavailable, "its answer is not a JSON object; is it slurmrestd?");
  } catch (const RestJson::exception& error) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("its answer is not JSON: {}", OneLine(error.what(), 120)));
  }
}

const RestJson* RestValue(const RestJson& object, std::string_view path) {
  const RestJson* at = &object;
  for (std::string_view key : SplitAt(path, '/')) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

SlurmNumber RestNumber(const RestJson& object, std::string_view path) {
  const RestJson* value = RestValue(object, path);
  if (value == nullptr) return SlurmNumber::Absent();
  if (value->is_object()) {
    const auto is = [&](const char* key) {
      const auto found = value->find(key);
      return found != value->end() && found->is_boolean() && found->get<bool>();
    };
    if (is("infinite")) return SlurmNumber::Infinite();
    if (!is("set") || !value->contains("number")) return SlurmNumber::Absent();
    value = &*value->find("number");
  }
  const std::optional<int64_t> whole = Whole(*value);
  return whole ? SlurmNumber(*whole) : SlurmNumber::Absent();
}

int64_t RestCount(const RestJson& object, std::string_view path, int64_t fallback) {
  return RestNumber(object, path).value_or(fallback);
}

double RestReal(const RestJson& object, std::string_view path, double fallback) {
  const RestJson* value = RestValue(object, path);
  if (value != nullptr && value->is_object()) {
    if (!RestNumber(object, path).has_value()) return fallback;
    value = &*value->find("number");
  }
  return value != nullptr && value->is_number() ? value->get<double>() : fallback;
}

std::string RestText(const RestJson& object, std::string_view path) {
  const RestJson* value = RestValue(object, path);
  return value != nullptr && value->is_string()
             ? std::string(OrNothing(value->get_ref<const std::string&>()))
             : std::string();
}

std::vector<std::string> RestList(const RestJson& object, std::string_view path) {
  std::vector<std::string> items;
  const RestJson* value = RestValue(object, path);
  if (value == nullptr) return items;
  if (value->is_array()) {
    for (const RestJson& item : *value) {
      if (item.is_string()) items.push_back(item.get<std::string>());
    }
  } else {
    const std::string text = RestText(object, path);
    for (std::string_view item : SplitAt(text, ',')) {
      if (!item.empty()) items.emplace_back(item);
    }
  }
  if (items.size() == 1 && items.front() == "ALL") items.clear();
  return items;
}

const RestJson& RestTable(const RestJson& object, std::string_view path) {
  static const RestJson kEmpty = RestJson::array();
  const RestJson* table = RestValue(object, path);
  return table != nullptr && table->is_array() ? *table : kEmpty;
}

bool RestIsTrue(const RestJson& object, std::string_view path, bool fallback) {
  const RestJson* value = RestValue(object, path);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : fallback;
}

bool RestHasWord(const RestJson& object, std::string_view path, std::string_view word) {
  const RestJson* value = RestValue(object, path);
  if (value == nullptr) return false;
  if (value->is_string()) return value->get_ref<const std::string&>() == word;
  return value->is_array() && std::find(value->begin(), value->end(), word) != value->end();
}

// ---- jobs --------------------------------------------------------------------------------------

namespace {

std::optional<JobState> RestJobState(const RestJson& record) {
  const std::vector<std::string> words = RestList(record, "job_state");
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (has("COMPLETING")) return JobState::kCompleting;
  if (has("REVOKED") || words.empty()) return std::nullopt;
  if (has("CONFIGURING") || has("POWER_UP_NODE")) return JobState::kConfiguring;
  return JobStateFromWord(words.front());  // the base state; flags follow
}

void ReadRestIdentity(const RestJson& record, Job& job) {
  job.id = RestCount(record, "job_id");
  job.array_job_id = RestCount(record, "array_job_id");
  job.array_tasks = ArrayTasks(RestText(record, "array_task_string"));
  const SlurmNumber task = RestNumber(record, "array_task_id");
  if (job.array_tasks.empty() && task.has_value()) job.array_tasks = std::to_string(task.value());
  job.array_throttle = RestCount(record, "array_max_tasks");
  job.het_job_id = RestCount(record, "het_job_id");
  job.name = RestText(record, "name");
  job.uid = RestCount(record, "user_id");
  job.user = RestText(record, "user_name");
  if (job.user.empty()) job.user = std::to_string(job.uid);
  job.account = RestText(record, "account");
  job.qos = RestText(record, "qos");
}

void ReadRestQueueing(const RestJson& record, UnixSeconds now, Job& job) {
  const std::string words = RestText(record, "state_description");
  job.reason = ReasonWord(words.empty() ? RestText(record, "state_reason") : words);
  job.priority = RestCount(record, "priority");
  job.nice = RestCount(record, "nice");
  job.dependency = RestText(record, "dependency");
  job.submit_time = Moment(record, "submit_time");
  job.eligible_time = Moment(record, "eligible_time");
  job.start_time = Moment(record, "start_time");
  const std::optional<UnixSeconds> end = Moment(record, "end_time");
  const bool endless = RestNumber(record, "time_limit").infinite() && end.value_or(0) > now;
  if (job.state != JobState::kPending && !endless) job.end_time = end;
  job.requeue = RestIsTrue(record, "requeue", true);
  job.expedited_requeue = RestHasWord(record, "flags", "EXPEDITED_REQUEUE");
}

void ReadRestSharing(const RestJson& record, JobRequest& request) {
  const auto is = [&](const char* word) { return RestHasWord(record, "shared", word); };
  request.exclusive = is("none");
  request.over_subscribe = is("oversubscribe");
  for (const char* whom : {"user", "mcs", "topo"}) {
    if (is(whom)) request.exclusive_to = whom;
  }
  if (request.exclusive_to == "topo") request.exclusive = true;
}

JobRequest ReadRestRequest(const RestJson& record) {
  JobRequest request;
  request.partitions = RestList(record, "partition");
  request.nodes_min = RestCount(record, "node_count", 1);
  const int64_t most = RestCount(record, "max_nodes");
  request.nodes_max = most > request.nodes_min ? most : 0;
  request.cpus = RestCount(record, "cpus", 1);
  request.cpus_per_task = RestCount(record, "cpus_per_task", 1);
  request.tasks = RestCount(record, "tasks", 1);
  request.memory_per_cpu_mib = RestNumber(record, "memory_per_cpu");
  request.memory_per_node_mib = RestNumber(record, "memory_per_node");
  const std::string per_job = RestText(record, "tres_per_job");
  const std::string per_node = RestText(record, "tres_per_node");
  const std::string per_socket = RestText(record, "tres_per_socket");
  const std::string per_task = RestText(record, "tres_per_task");
  const std::string memory_per_tres = RestText(record, "memory_per_tres");
  FillTres({per_job, per_node, per_socket, per_task, memory_per_tres,
            RestCount(record, "sockets_per_node", 1)},
           request);
  request.features = RestText(record, "features");
  request.required_nodes = Hosts(RestText(record, "required_nodes"));
  request.excluded_nodes = Hosts(RestText(record, "excluded_nodes"));
  ReadRestSharing(record, request);
  request.time_limit_seconds = MinutesAsSeconds(record, "time_limit");
  request.reservation = RestText(record, "resv_name");
  const std::string held = RestText(record, "licenses_allocated");
  FillLicenses(held.empty() ? RestText(record, "licenses") : held, request);
  request.switches = RestCount(record, "required_switches");
  if (request.switches > 0) {
    request.switches_wait_seconds = RestCount(record, "maximum_switch_wait_time");
  }
  request.segment_nodes = RestCount(record, "segment_size");
  return request;
}

// Allocated cores of one node's `sockets`: a list with counts, or {0: {cores: {1: allocated}}}
// (v0.0.40).
std::optional<int64_t> CountAllocatedCores(const RestJson& sockets) {
  if (!sockets.is_structured() || sockets.empty()) return std::nullopt;
  int64_t held = 0;
  for (const RestJson& socket : sockets) {
    const RestJson* cores = RestValue(socket, "cores");
    if (cores == nullptr) return std::nullopt;
    held += cores->is_object() ? static_cast<int64_t>(cores->size()) : Whole(*cores).value_or(0);
  }
  return held;
}

bool Has(const Node& node, const Gres& gres) {
  return node.shards >= gres.shards && node.mps >= gres.mps &&
         std::all_of(gres.gpus.begin(), gres.gpus.end(), [&](const GpuCount& gpu) {
           return GpusOfType(node.gpus, gpu.type) >= gpu.count;
         });
}

// GRES of a job by node. Slurm lists them in node order and skips nodes without GRES.
class RestGresDetails {
 public:
  RestGresDetails(const RestJson& record, size_t nodes)
      : details_(RestList(record, "gres_detail")), nodes_left_(nodes) {}

  // GRES on the next node; `node`: null if unknown.
  Gres Next(const Node* node) {
    const size_t left = details_.size() - next_;
    const size_t nodes = nodes_left_--;
    if (left == 0) return {};
    Gres gres = GresOf(OrNothing(details_[next_]));
    if (left < nodes && node != nullptr && !Has(*node, gres)) return {};
    ++next_;
    return gres;
  }

 private:
  const std::vector<std::string> details_;
  size_t next_ = 0;
  size_t nodes_left_;
};

class RestJobReader {
 public:
  RestJobReader(const RestJobsContext& context, LeftOut& left_out)
      : context_(context), left_out_(left_out) {
    for (const Node& node : context.nodes) nodes_[node.name] = &node;
  }

  Job Read(const RestJson& record, JobState state) {
    Job job;
    job.state = state;
    ReadRestIdentity(record, job);
    ReadRestQueueing(record, context_.now, job);
    job.request = ReadRestRequest(record);
    if (state != JobState::kPending) {
      job.request.nodes_max = 0;
      job.allocations = Allocations(record);
      return job;
    }
    if (job.array_tasks.ends_with("...")) {
      left_out_.Add(
          fmt::format("slurmrestd cuts the tasks of array {} short, so that some are not "
                      "counted; set SLURM_BITSTR_LEN=0 in its environment",
                      job.id));
    }
    job.array_task_count = CountArrayTasks(job.array_tasks);
    if (job.reason == "BeginTime") job.request.begin_time = job.eligible_time;
    return job;
  }

 private:
  std::vector<Allocation> Allocations(const RestJson& record) const {
    std::vector<Allocation> allocations;
    const RestJson* held = RestValue(record, "job_resources/nodes/allocation");
    if (held == nullptr) held = RestValue(record, "job_resources/allocated_nodes");  // v0.0.40
    if (held == nullptr || !held->is_array()) return allocations;
    RestGresDetails details(record, held->size());
    for (const RestJson& node : *held) {
      Allocation allocation;
      allocation.node = RestText(node, "name");
      if (allocation.node.empty()) allocation.node = RestText(node, "nodename");
      allocation.cpus = CpusOn(node, allocation.node);
      allocation.memory_mib =
          RestCount(node, "memory/allocated", RestCount(node, "memory_allocated"));
      Gres gres = details.Next(NodeNamed(allocation.node));
      allocation.gpus = std::move(gres.gpus);
      allocation.shards = gres.shards;
      allocation.mps = gres.mps;
      allocations.push_back(std::move(allocation));
    }
    return allocations;
  }

  // An allocated core counts all its threads.
  int64_t CpusOn(const RestJson& node, const std::string& name) const {
    const RestJson* sockets = RestValue(node, "sockets");
    const std::optional<int64_t> cores =
        sockets != nullptr ? CountAllocatedCores(*sockets) : std::nullopt;
    if (!cores) return RestCount(node, "cpus/count");
    const Node* known = NodeNamed(name);
    return *cores * (known == nullptr ? 1 : known->threads_per_core);
  }

  const Node* NodeNamed(const std::string& name) const {
    const auto found = nodes_.find(name);
    return found == nodes_.end() ? nullptr : found->second;
  }

  const RestJobsContext& context_;
  LeftOut& left_out_;
  std::unordered_map<std::string, const Node*> nodes_;
};

}  // namespace

std::vector<Job> RestJobs(const RestJson& answer, const RestJobsContext& context,
                          LeftOut& left_out) {
  std::vector<Job> jobs;
  RestJobReader reader(context, left_out);
  for (const RestJson& record : RestTable(answer, "jobs")) {
    const std::optional<JobState> state = RestJobState(record);
    if (!state) continue;
    Job job = reader.Read(record, *state);
    if (job.id > 0) jobs.push_back(std::move(job));
  }
  return jobs;
}

std::string DefaultPartitionOf(const RestJson& jobs_answer) {
  std::set<std::string> named;
  for (const RestJson& record : RestTable(jobs_answer, "jobs")) {
    if (RestHasWord(record, "flags", "USING_DEFAULT_PARTITION")) {
      named.insert(RestText(record, "partition"));
    }
  }
  const bool is_clear = named.size() == 1 && named.begin()->find(',') == std::string::npos;
  return is_clear ? *named.begin() : "";
}

// ---- nodes -------------------------------------------------------------------------------------

namespace {

constexpr int64_t kMostThreads = 1024;  // per core

// Joins the words of a list, as scontrol prints them.
std::string Joined(const RestJson& record, std::string_view path, char separator) {
  std::string joined;
  for (const std::string& word : RestList(record, path)) {
    if (!joined.empty()) joined += separator;
    joined += word;
  }
  return joined;
}

Node ReadRestNode(const RestJson& record) {
  Node node;
  node.name = RestText(record, "name");
  node.state = ParseNodeState(Joined(record, "state", '+'));
  node.reason = Trim(RestText(record, "reason"));
  if (!node.reason.empty()) {
    node.reason_user = RestText(record, "reason_set_by_user");
    node.reason_time = Moment(record, "reason_changed_at");
  }
  const int64_t threads = std::clamp<int64_t>(RestCount(record, "threads", 1), 1, kMostThreads);
  const int64_t all = RestCount(record, "cpus") - RestCount(record, "specialized_cores") * threads;
  node.cpus = RestCount(record, "effective_cpus", all);
  node.cpus_allocated = RestCount(record, "alloc_cpus");
  node.threads_per_core = threads;
  node.memory_mib = RestCount(record, "real_memory") - RestCount(record, "specialized_memory");
  node.memory_allocated_mib = RestCount(record, "alloc_memory");
  const Gres gres = GresOf(RestText(record, "gres"));
  const Gres used = GresOf(RestText(record, "gres_used"));
  node.gpus = gres.gpus;
  node.gpus_allocated = used.gpus;
  node.shards = gres.shards;
  node.shards_allocated = used.shards;
  node.mps = gres.mps;
  node.mps_allocated = used.mps;
  node.features = RestList(record, "active_features");
  node.weight = RestCount(record, "weight", 1);
  return node;
}

}  // namespace

std::vector<Node> RestNodes(const RestJson& answer) {
  std::vector<Node> nodes;
  for (const RestJson& record : RestTable(answer, "nodes")) {
    Node node = ReadRestNode(record);
    if (!node.name.empty()) nodes.push_back(std::move(node));
  }
  return nodes;
}

// ---- partitions, reservations, licences --------------------------------------------------------

namespace {

PartitionState RestPartitionState(const RestJson& record) {
  const auto is = [&](const char* word) { return RestHasWord(record, "partition/state", word); };
  if (is("DOWN")) return PartitionState::kDown;
  if (is("DRAIN")) return PartitionState::kDrain;
  if (is("INACTIVE")) return PartitionState::kInactive;
  return PartitionState::kUp;
}

// Memory at `path`; `none` if 0, which means not set.
SlurmNumber MemoryOr(const RestJson& record, std::string_view path, SlurmNumber none) {
  const SlurmNumber memory = RestNumber(record, path);
  if (memory.has_value() && memory.value() == 0) return none;
  return memory.has_value() ? memory : SlurmNumber::Absent();
}

void ReadRestLimits(const RestJson& record, Partition& partition) {
  partition.max_time_seconds = MinutesAsSeconds(record, "maximums/time");
  partition.default_time_seconds = MinutesAsSeconds(record, "defaults/time");
  partition.max_nodes = RestNumber(record, "maximums/nodes");
  partition.min_nodes = RestCount(record, "minimums/nodes", 1);
  partition.max_cpus_per_node = RestNumber(record, "maximums/cpus_per_node");
  partition.max_cpus_per_socket = RestNumber(record, "maximums/cpus_per_socket");
  const SlurmNumber none = SlurmNumber::Absent();
  const SlurmNumber endless = SlurmNumber::Infinite();
  partition.default_memory_per_node_mib =
      MemoryOr(record, "defaults/partition_memory_per_node", none);
  partition.default_memory_per_cpu_mib =
      MemoryOr(record, "defaults/partition_memory_per_cpu", none);
  partition.max_memory_per_node_mib =
      MemoryOr(record, "maximums/partition_memory_per_node", endless);
  partition.max_memory_per_cpu_mib = MemoryOr(record, "maximums/partition_memory_per_cpu", endless);
}

// v0.0.45 uses the words of `scontrol show partition`; it keeps the numbers of older versions, but
// all zero, which would read as EXCLUSIVE.
void ReadRestSharing(const RestJson& record, Partition& partition) {
  if (RestValue(record, "partition/exclusive") != nullptr) {
    FillSharing(RestText(record, "partition/oversubscribe"),
                RestText(record, "partition/exclusive"), false, false, partition);
    return;
  }
  const SlurmNumber jobs = RestNumber(record, "maximums/oversubscribe/jobs");
  if (!jobs.has_value()) return;
  std::string words = jobs.value() == 1 ? "NO" : fmt::format("YES:{}", jobs.value());
  if (RestHasWord(record, "maximums/oversubscribe/flags", "force")) {
    words = fmt::format("FORCE:{}", jobs.value());
  } else if (jobs.value() == 0) {
    words = "EXCLUSIVE";
  }
  FillSharing(words, "", false, false, partition);
}

Partition ReadRestPartition(const RestJson& record) {
  Partition partition;
  partition.name = RestText(record, "name");
  partition.state = RestPartitionState(record);
  partition.is_default = RestHasWord(record, "flags", "DEFAULT");
  partition.hidden = RestHasWord(record, "flags", "HIDDEN");
  partition.root_only = RestHasWord(record, "flags", "ROOT_ONLY");
  partition.nodes = Hosts(RestText(record, "nodes/configured"));
  ReadRestLimits(record, partition);
  partition.allow_accounts = RestList(record, "accounts/allowed");
  partition.deny_accounts = RestList(record, "accounts/deny");
  partition.allow_qos = RestList(record, "qos/allowed");
  partition.deny_qos = RestList(record, "qos/deny");
  partition.allow_groups = RestList(record, "groups/allowed");
  const std::string hosts = RestText(record, "nodes/allowed_allocation");
  if (hosts != "ALL") partition.alloc_nodes = Hosts(hosts);
  partition.qos = RestText(record, "qos/assigned");
  partition.priority_tier = RestCount(record, "priority/tier", 1);
  partition.priority_job_factor = RestCount(record, "priority/job_factor", 1);
  ReadRestSharing(record, partition);
  partition.preempt_mode = Joined(record, "preempt_mode", ',');
  partition.billing_weights = RestText(record, "tres/billing_weights");
  partition.topology = RestText(record, "topology");
  partition.resume_timeout_seconds = RestNumber(record, "timeouts/resume");
  partition.suspend_time_seconds = RestNumber(record, "suspend_time");
  return partition;
}

Reservation ReadRestReservation(const RestJson& record) {
  Reservation reservation;
  reservation.name = RestText(record, "name");
  reservation.start_time = Moment(record, "start_time");
  reservation.end_time = Moment(record, "end_time");
  reservation.nodes = Hosts(RestText(record, "node_list"));
  reservation.users = RestList(record, "users");
  reservation.accounts = RestList(record, "accounts");
  reservation.groups = RestList(record, "groups");
  reservation.allowed_partitions = RestList(record, "allowed_partitions");
  reservation.allowed_qos = RestList(record, "qos");
  reservation.flags = RestList(record, "flags");
  reservation.partition = RestText(record, "partition");
  reservation.node_count = RestCount(record, "node_count");
  reservation.tres = ParseTresCounts(RestText(record, "tres"));
  reservation.licenses = LicensesOf(RestText(record, "licenses"));
  return reservation;
}

}  // namespace

std::vector<Partition> RestPartitions(const RestJson& answer) {
  std::vector<Partition> partitions;
  for (const RestJson& record : RestTable(answer, "partitions")) {
    Partition partition = ReadRestPartition(record);
    if (!partition.name.empty()) partitions.push_back(std::move(partition));
  }
  return partitions;
}

std::vector<Reservation> RestReservations(const RestJson& answer) {
  std::vector<Reservation> reservations;
  for (const RestJson& record : RestTable(answer, "reservations")) {
    Reservation reservation = ReadRestReservation(record);
    if (!reservation.name.empty()) reservations.push_back(std::move(reservation));
  }
  return reservations;
}

std::vector<License> RestLicenses(const RestJson& answer) {
  std::vector<License> licenses;
  for (const RestJson& record : RestTable(answer, "licenses")) {
    License license;
    license.name = RestText(record, "LicenseName");
    license.total = RestCount(record, "Total");
    license.used = RestCount(record, "Used");
    license.reserved = RestCount(record, "Reserved");
    license.remote = RestIsTrue(record, "Remote");
    if (!license.name.empty()) licenses.push_back(std::move(license));
  }
  std::sort(licenses.begin(), licenses.end(),
            [](const License& a, const License& b) { return a.name < b.name; });
  return licenses;
}

}  // namespace gpuadvise::collect
