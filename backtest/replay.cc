#include "backtest/replay.h"

#include <algorithm>
#include <tuple>

namespace gpuadvise::backtest {
namespace {

constexpr int64_t kFirstPriority = int64_t{1} << 31;

// Order of events within one second.
int PhaseOf(const LogEvent& event, const LogJob& job) {
  switch (event.kind) {
    case LogEventKind::kEnd:
      return job.start == job.end ? 3 : 0;
    case LogEventKind::kVanish:
      return job.end == job.eligible ? 3 : 0;
    case LogEventKind::kStart:
      return job.start == job.eligible ? 2 : 1;
    case LogEventKind::kSubmit:
      break;
  }
  return 2;
}

int64_t GpusOn(const Node& node) { return node.gpus.empty() ? 0 : node.gpus.front().count; }

bool HasGpu(const Node& node, const LogJob& job) {
  if (job.gpus_per_node == 0) return true;
  return !node.gpus.empty() && (job.gpu.empty() || node.gpus.front().type == job.gpu);
}

}  // namespace

std::vector<LogEvent> ListEvents(const JobLog& log) {
  std::vector<LogEvent> events;
  for (size_t i = 0; i < log.jobs.size(); ++i) {
    const LogJob& job = log.jobs[i];
    events.push_back({job.eligible, LogEventKind::kSubmit, i});
    if (job.start) {
      events.push_back({*job.start, LogEventKind::kStart, i});
      if (job.end) events.push_back({*job.end, LogEventKind::kEnd, i});
    } else if (job.end) {
      events.push_back({std::max(*job.end, job.eligible), LogEventKind::kVanish, i});
    }
  }
  const auto key = [&](const LogEvent& event) {
    const int phase = PhaseOf(event, log.jobs[event.job]);
    const bool start = phase == 2 && event.kind == LogEventKind::kStart;
    return std::tuple(event.time, phase, event.job, start);
  };
  std::sort(events.begin(), events.end(),
            [&](const LogEvent& a, const LogEvent& b) { return key(a) < key(b); });
  return events;
}

JobRequest RequestOf(const LogJob& job) {
  JobRequest request;
  request.partitions = {job.partition};
  request.nodes_min = job.nodes;
  request.tasks = job.nodes;
  request.cpus_per_task = std::max<int64_t>(job.cpus_per_node, 1);
  request.cpus = request.cpus_per_task * job.nodes;
  if (job.gpus_per_node > 0) request.gpus_per_node = {{job.gpu, job.gpus_per_node}};
  request.time_limit_seconds = job.limit_seconds;
  return request;
}

Submitter SubmitterOf(const LogJob& job) {
  Submitter who;
  who.user = job.user;
  who.account = job.account;
  who.qos = job.qos;
  return who;
}

JobRecord RecordOf(const LogJob& job) {
  JobRecord record;
  record.id = job.id;
  record.name = job.name;
  record.user = job.user;
  record.account = job.account;
  record.qos = job.qos;
  record.partition = job.partition;
  record.gpu = job.gpu;
  record.nodes = job.nodes;
  record.cpus = std::max<int64_t>(job.cpus_per_node, 1) * job.nodes;
  record.gpus = job.gpus_per_node * job.nodes;
  record.limit_seconds = job.limit_seconds;
  record.submit = job.eligible;
  record.eligible = job.eligible;
  return record;
}

PastJob SubmissionWithForecast(const LogJob& job, const QueueModel& queue) {
  PastJob past;
  past.record = RecordOf(job);
  const auto start = StartOf(queue, RequestOf(job), SubmitterOf(job));
  if (start && start->forecast) {
    past.forecast_record =
        std::make_shared<const ForecastRecord>(MakeForecastRecord(*start->forecast));
  }
  return past;
}

Replay::Replay(const JobLog& log, Snapshot cluster) : log_(log), cluster_(std::move(cluster)) {
  for (size_t i = 0; i < cluster_.nodes.size(); ++i) {
    const Node& node = cluster_.nodes[i];
    node_index_[node.name] = i;
    free_cpus_.push_back(node.cpus);
    free_gpus_.push_back(GpusOn(node));
  }
  for (const Partition& partition : cluster_.partitions) {
    partition_index_[partition.name] = members_.size();
    std::vector<size_t>& nodes = members_.emplace_back();
    for (const std::string& name : partition.nodes) nodes.push_back(node_index_.at(name));
  }
}

void Replay::Apply(const LogEvent& event) {
  if (event.kind == LogEventKind::kSubmit) {
    place_[event.job] = present_.size();
    present_.push_back({event.job, false, {}});
    return;
  }
  const auto found = place_.find(event.job);
  if (found == place_.end()) return;
  Present& present = present_[found->second];
  if (event.kind == LogEventKind::kStart) {
    present.running = true;
    present.allocations = Allocate(log_.jobs[event.job]);
    return;
  }
  Free(present);
  const size_t hole = found->second;
  place_.erase(found);
  if (hole + 1 < present_.size()) {
    present_[hole] = std::move(present_.back());
    place_[present_[hole].job] = hole;
  }
  present_.pop_back();
}

void Replay::Give(const LogJob& job, size_t node, std::vector<Allocation>& allocations) {
  const int64_t cpus = std::max<int64_t>(job.cpus_per_node, 1);
  free_cpus_[node] -= cpus;
  free_gpus_[node] -= job.gpus_per_node;
  Allocation held{cluster_.nodes[node].name, cpus, 0, {}, 0};
  if (job.gpus_per_node > 0) {
    held.gpus = {{cluster_.nodes[node].gpus.empty() ? job.gpu : cluster_.nodes[node].gpus[0].type,
                  job.gpus_per_node}};
  }
  allocations.push_back(std::move(held));
}

std::vector<Allocation> Replay::Allocate(const LogJob& job) {
  std::vector<Allocation> allocations;
  for (const std::string& name : job.node_list) {
    const auto node = node_index_.find(name);
    if (node != node_index_.end()) Give(job, node->second, allocations);
  }
  if (!allocations.empty()) return allocations;
  const auto partition = partition_index_.find(job.partition);
  std::vector<std::pair<int64_t, size_t>> fits;  // free CPUs left, node
  const int64_t cpus = std::max<int64_t>(job.cpus_per_node, 1);
  if (partition != partition_index_.end()) {
    for (const size_t node : members_[partition->second]) {
      if (free_cpus_[node] < cpus || free_gpus_[node] < job.gpus_per_node) continue;
      if (!HasGpu(cluster_.nodes[node], job)) continue;
      fits.emplace_back(job.gpus_per_node > 0 ? free_gpus_[node] : free_cpus_[node], node);
    }
  }
  const size_t wanted = std::min(static_cast<size_t>(job.nodes), fits.size());
  if (wanted < static_cast<size_t>(job.nodes)) ++without_room_;
  std::partial_sort(fits.begin(), fits.begin() + static_cast<std::ptrdiff_t>(wanted), fits.end());
  fits.resize(wanted);
  std::sort(fits.begin(), fits.end(), [](auto& a, auto& b) { return a.second < b.second; });
  for (const auto& [left, node] : fits) Give(job, node, allocations);
  return allocations;
}

void Replay::Free(const Present& present) {
  for (const Allocation& held : present.allocations) {
    const size_t node = node_index_.at(held.node);
    free_cpus_[node] += held.cpus;
    for (const GpuCount& gpu : held.gpus) free_gpus_[node] += gpu.count;
  }
}

Job Replay::Waiting(size_t index) const {
  const LogJob& logged = log_.jobs[index];
  Job job;
  job.id = logged.id;
  job.name = logged.name;
  job.user = logged.user;
  job.account = logged.account;
  job.qos = logged.qos;
  job.priority = kFirstPriority - static_cast<int64_t>(index);
  job.submit_time = logged.eligible;
  job.eligible_time = logged.eligible;
  job.request = RequestOf(logged);
  job.reason = "Priority";
  return job;
}

Job Replay::JobOf(const Present& present, UnixSeconds now) const {
  const LogJob& logged = log_.jobs[present.job];
  Job job = Waiting(present.job);
  if (!present.running) return job;
  job.reason.clear();
  job.state = JobState::kRunning;
  job.start_time = logged.start;
  if (logged.limit_seconds.has_value()) {
    // A job past its limit may end at any moment. The end in the log is not known yet.
    job.end_time = std::max(*logged.start + logged.limit_seconds.value(), now + 1);
  }
  job.allocations = present.allocations;
  return job;
}

bool Replay::AnyWaits() const {
  return std::any_of(present_.begin(), present_.end(),
                     [](const Present& present) { return !present.running; });
}

Snapshot Replay::At(UnixSeconds now) const {
  Snapshot state = cluster_;
  state.taken_at = now;
  state.jobs.reserve(present_.size());
  for (const Present& present : present_) state.jobs.push_back(JobOf(present, now));
  std::sort(state.jobs.begin(), state.jobs.end(),
            [](const Job& a, const Job& b) { return a.id < b.id; });
  return state;
}

}  // namespace gpuadvise::backtest
