#include <algorithm>

#include "common/slurm_time.h"
#include "daemon/collect/scontrol.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise {
namespace {

std::optional<UnixSeconds> Moment(const TextRecord& record, std::string_view key) {
  return ParseTimestamp(record.Get(key)).value_or(std::nullopt);
}

SlurmNumber Limit(const TextRecord& record, std::string_view key) {
  return ParseSlurmDuration(record.Get(key)).value_or(SlurmNumber::Absent());
}

/// "lab1(1001)": the name may hold parentheses, the number is in the last ones.
void ParseUser(std::string_view text, Job& job) {
  const size_t open = text.rfind('(');
  job.user = OrNothing(text.substr(0, open));
  if (open != std::string_view::npos) job.uid = ToInteger(text.substr(open + 1));
}

void ParseIdentity(const TextRecord& record, Job& job) {
  job.id = record.Integer("JobId");
  job.array_job_id = record.Integer("ArrayJobId");
  job.array_tasks = ArrayTasks(record.Get("ArrayTaskId"));
  job.array_throttle = record.Integer("ArrayTaskThrottle");
  job.het_job_id = record.Integer("HetJobId");
  job.name = record.Get("JobName");
  ParseUser(record.Raw("UserId"), job);
  job.account = record.Get("Account");
  job.qos = record.Get("QOS");
}

void ParseQueueing(const TextRecord& record, Job& job) {
  job.reason = ReasonWord(record.Raw("Reason"));
  job.priority = record.Integer("Priority");
  job.nice = record.Integer("Nice");
  job.dependency = record.Get("Dependency");
  job.submit_time = Moment(record, "SubmitTime");
  job.eligible_time = Moment(record, "EligibleTime");
  job.start_time = Moment(record, "StartTime");
  if (job.state != JobState::kPending) job.end_time = Moment(record, "EndTime");
  job.requeue = record.Integer("Requeue", 1) != 0;
}

/// "2" or "2-4".
void ParseNodeRange(std::string_view text, JobRequest& request) {
  const size_t dash = text.find('-');
  request.nodes_min = ToInteger(text, 1);
  const int64_t high =
      dash == std::string_view::npos ? 0 : ToCount(text.substr(dash + 1)).value_or(0);
  request.nodes_max = high > request.nodes_min ? high : 0;
}

void ParseMemory(const TextRecord& record, JobRequest& request) {
  if (!record.Get("MinMemoryCPU").empty()) {
    request.memory_per_cpu_mib = ToMib(record.Get("MinMemoryCPU"));
  } else if (!record.Get("MinMemoryNode").empty()) {
    request.memory_per_node_mib = ToMib(record.Get("MinMemoryNode"));
  }
}

JobRequest ParseRequest(const TextRecord& record) {
  JobRequest request;
  request.partitions = record.List("Partition");
  ParseNodeRange(record.Get("NumNodes"), request);
  request.cpus = record.Integer("NumCPUs", 1);
  request.cpus_per_task = record.Integer("CPUs/Task", 1);
  request.tasks = record.Integer("NumTasks", 1);
  ParseMemory(record, request);
  FillTres({record.Get("TresPerJob"), record.Get("TresPerNode"), record.Get("TresPerSocket"),
            record.Get("TresPerTask"), record.Get("MemPerTres"), record.Integer("Socks/Node", 1)},
           request);
  request.features = record.Get("Features");
  request.required_nodes = Hosts(record.Get("ReqNodeList"));
  request.excluded_nodes = Hosts(record.Get("ExcNodeList"));
  request.exclusive = record.Raw("OverSubscribe") == "NO";
  request.time_limit_seconds = Limit(record, "TimeLimit");
  request.reservation = record.Get("Reservation");
  return request;
}

/// The detail lines "Nodes=n[1-2] CPU_IDs=0-3 Mem=8000 GRES=gpu:a100:2(IDX:0-1)", one for each
/// group of nodes on which the job holds the same.
std::vector<Allocation> ParseAllocations(const TextRecord& record) {
  std::vector<Allocation> allocations;
  size_t group = 0;  // where the current line's nodes begin
  const auto on_each = [&](auto change) {
    for (size_t i = group; i < allocations.size(); ++i) change(allocations[i]);
  };
  for (const auto& [key, value] : record.fields()) {
    if (key == "Nodes") {
      group = allocations.size();
      for (std::string& name : Hosts(value)) {
        allocations.push_back({.node = std::move(name), .cpus = 0, .memory_mib = 0, .gpus = {}});
      }
    } else if (key == "CPU_IDs") {
      on_each([n = CountCpuIds(value)](Allocation& a) { a.cpus = n; });
    } else if (key == "Mem") {
      on_each([n = ToMib(value)](Allocation& a) { a.memory_mib = n; });
    } else if (key == "GRES") {
      const Gres gres = GresOf(OrNothing(value));
      on_each([&gres](Allocation& a) { a.gpus = gres.gpus, a.shards = gres.shards; });
    }
  }
  return allocations;
}

Job ParseJob(const TextRecord& record, JobState state) {
  Job job;
  job.state = state;
  ParseIdentity(record, job);
  ParseQueueing(record, job);
  job.request = ParseRequest(record);
  if (state == JobState::kPending) {
    job.array_task_count = CountArrayTasks(job.array_tasks);
    if (job.reason == "BeginTime") job.request.begin_time = job.eligible_time;
  } else {
    job.request.nodes_max = 0;
    job.allocations = ParseAllocations(record);
  }
  return job;
}

}  // namespace

std::vector<Job> ParseJobs(std::string_view text) {
  std::vector<Job> jobs;
  for (const TextRecord& record : ParseRecords(text, "JobId")) {
    const std::optional<JobState> state = JobStateFromWord(record.Get("JobState"));
    if (state && record.Integer("JobId") > 0) jobs.push_back(ParseJob(record, *state));
  }
  return jobs;
}

int64_t CountCpuIds(std::string_view ids) {
  int64_t count = 0;
  for (std::string_view range : Split(ids, ',')) {
    const size_t dash = range.find('-');
    if (dash == std::string_view::npos) {
      count += range.empty() ? 0 : 1;
    } else {
      count += std::max<int64_t>(
          ToInteger(range.substr(dash + 1)) - ToInteger(range.substr(0, dash)) + 1, 0);
    }
  }
  return count;
}

}  // namespace gpuadvise
