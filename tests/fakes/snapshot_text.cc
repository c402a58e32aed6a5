#include "tests/fakes/snapshot_text.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "common/slurm/node_state.h"
#include "tests/fakes/snapshot_grammar.h"

namespace gpuadvise {

using namespace snapshot_text;  // NOLINT(google-build-using-namespace): the words of this file

namespace {

class Reader {
 public:
  void Line(const std::string& line);
  Snapshot Finish();

 private:
  void NodeLine(const Words& words);
  void PartitionLine(const Words& words);
  void RunLine(const Words& words);
  void PendLine(const Words& words);
  void ReserveLine(const Words& words);
  void QosLine(const Words& words);
  void AssocLine(const Words& words);
  void ConfigLine(const Words& words);
  void LicenceLine(const Words& words);
  Job NewJob(const Words& words) const;
  void AddOwner(Grammar& grammar, Job& job) const;
  void HoldOnHosts(Job& job, const std::vector<std::string>& hosts);

  Snapshot snapshot_;
  int64_t next_priority_ = 10'000;
};

void Reader::NodeLine(const Words& words) {
  Node node;
  node.cpus = 32;
  node.memory_mib = 128'000;
  node.state.base = NodeBase::kIdle;
  Grammar grammar;
  grammar.gpu = [&node](const GpuCount& gpu) { AddGpu(node.gpus, gpu); };
  grammar.keys = {
      {"cpus", [&](const std::string& w) { node.cpus = Number(w); }},
      {"mem", [&](const std::string& w) { node.memory_mib = Mebibytes(w); }},
      {"threads", [&](const std::string& w) { node.threads_per_core = Number(w); }},
      {"shards", [&](const std::string& w) { node.shards = Number(w); }},
      {"mps", [&](const std::string& w) { node.mps = Number(w); }},
      {"weight", [&](const std::string& w) { node.weight = Number(w); }},
      {"features", [&](const std::string& w) { node.features = Split(w, ','); }},
      {"reason", [&](const std::string& w) { node.reason = w; }},
      {"state",
       [&](const std::string& w) {
         node.state = ParseNodeState(w);
         if (node.state.base == NodeBase::kUnknown) node.state.base = NodeBase::kIdle;
       }},
  };
  Parse(words, 2, grammar);
  for (const std::string& name : Hosts(Word(words, 1))) {
    node.name = name;
    snapshot_.nodes.push_back(node);
  }
}

void Reader::PartitionLine(const Words& words) {
  Partition part;
  part.name = Word(words, 1);
  if (Word(words, 2) != "ALL") part.nodes = Hosts(words[2]);
  part.max_time_seconds = SlurmNumber::Infinite();
  part.max_nodes = SlurmNumber::Infinite();
  part.is_default = snapshot_.partitions.empty();
  Grammar grammar;
  grammar.keys = {
      {"max", [&](const std::string& w) { part.max_time_seconds = Duration(w); }},
      {"default-time", [&](const std::string& w) { part.default_time_seconds = Duration(w); }},
      {"tier", [&](const std::string& w) { part.priority_tier = Number(w); }},
      {"preempt-mode", [&](const std::string& w) { part.preempt_mode = w; }},
      {"factor", [&](const std::string& w) { part.priority_job_factor = Number(w); }},
      {"mem-per-cpu",
       [&](const std::string& w) { part.default_memory_per_cpu_mib = Mebibytes(w); }},
      {"mem-per-node",
       [&](const std::string& w) { part.default_memory_per_node_mib = Mebibytes(w); }},
      {"max-mem", [&](const std::string& w) { part.max_memory_per_node_mib = Mebibytes(w); }},
      {"max-nodes", [&](const std::string& w) { part.max_nodes = Number(w); }},
      {"min-nodes", [&](const std::string& w) { part.min_nodes = Number(w); }},
      {"max-cpus-per-node", [&](const std::string& w) { part.max_cpus_per_node = Number(w); }},
      {"max-cpus-per-socket", [&](const std::string& w) { part.max_cpus_per_socket = Number(w); }},
      {"over-subscribe", [&](const std::string& w) { part.over_subscribe = w; }},
      {"exclusive-to", [&](const std::string& w) { part.exclusive_to = w; }},
      {"resume-timeout", [&](const std::string& w) { part.resume_timeout_seconds = SecondsOf(w); }},
      {"qos", [&](const std::string& w) { part.qos = w; }},
      {"allow-accounts", [&](const std::string& w) { part.allow_accounts = Split(w, ','); }},
      {"deny-accounts", [&](const std::string& w) { part.deny_accounts = Split(w, ','); }},
      {"allow-qos", [&](const std::string& w) { part.allow_qos = Split(w, ','); }},
      {"deny-qos", [&](const std::string& w) { part.deny_qos = Split(w, ','); }},
      {"state",
       [&](const std::string& w) {
         part.state = w == "DOWN"    ? PartitionState::kDown
                      : w == "DRAIN" ? PartitionState::kDrain
                                     : PartitionState::kInactive;
       }},
  };
  grammar.flags = {
      {"exclusive", [&] { part.exclusive = true; }},
      {"root-only", [&] { part.root_only = true; }},
      {"default", [&] { part.is_default = true; }},
  };
  Parse(words, 3, grammar);
  snapshot_.partitions.push_back(part);
}

Job Reader::NewJob(const Words& words) const {
  Job job;
  job.id = Number(Word(words, 1));
  job.name = "job" + std::to_string(job.id);
  job.user = "ann";
  job.uid = 1001;
  job.account = "lab";
  job.qos = "normal";
  job.submit_time = kSnapshotTime - 3600;
  job.eligible_time = job.submit_time;
  job.request.time_limit_seconds = 3600;
  return job;
}

void Reader::AddOwner(Grammar& grammar, Job& job) const {
  grammar.keys["user"] = [&job](const std::string& w) {
    job.user = w;
    job.uid = w == "ann" ? 1001 : 1002;
  };
  grammar.keys["account"] = [&job](const std::string& w) { job.account = w; };
  grammar.keys["qos"] = [&job](const std::string& w) { job.qos = w; };
  grammar.keys["array"] = [&job](const std::string& w) { job.array_job_id = Number(w); };
}

void Reader::HoldOnHosts(Job& job, const std::vector<std::string>& hosts) {
  const auto count = static_cast<int64_t>(hosts.size());
  for (const std::string& host : hosts) {
    auto node = std::find_if(snapshot_.nodes.begin(), snapshot_.nodes.end(),
                             [&](const Node& n) { return n.name == host; });
    if (node == snapshot_.nodes.end()) Bad("no such node: " + host);
    Allocation held{host,
                    job.request.cpus / count,
                    0,
                    job.request.gpus_per_node,
                    job.request.shards_per_node,
                    job.request.mps_per_node};
    if (job.request.exclusive) held.cpus = node->cpus;
    held.memory_mib = job.request.memory_per_node_mib.value_or(
        job.request.memory_per_cpu_mib.value_or(0) * held.cpus);
    node->cpus_allocated += held.cpus;
    node->memory_allocated_mib += held.memory_mib;
    node->shards_allocated += held.shards;
    node->mps_allocated += held.mps;
    for (const GpuCount& gpu : held.gpus) AddGpu(node->gpus_allocated, gpu);
    job.allocations.push_back(held);
  }
}

void Reader::RunLine(const Words& words) {
  Job job = NewJob(words);
  job.state = JobState::kRunning;
  job.start_time = kSnapshotTime - 600;
  const std::vector<std::string> hosts = Hosts(Word(words, 2));
  job.request.nodes_min = static_cast<int64_t>(hosts.size());
  bool cpus_given = false;
  Grammar grammar;
  AddRequest(grammar, job.request, cpus_given);
  AddOwner(grammar, job);
  grammar.keys["ends"] = [&job](const std::string& w) {
    job.request.time_limit_seconds = SlurmNumber::Infinite();
    if (w == "never") return;
    const int64_t left = w.starts_with("-") ? -SecondsOf(w.substr(1)) : SecondsOf(w);
    job.end_time = kSnapshotTime + left;
    job.request.time_limit_seconds = *job.end_time - *job.start_time;
  };
  grammar.keys["state"] = [&job](const std::string& w) {
    job.state = w == "COMPLETING"  ? JobState::kCompleting
                : w == "SUSPENDED" ? JobState::kSuspended
                                   : JobState::kRunning;
  };
  Parse(words, 3, grammar);
  FinishRequest(job.request, cpus_given);
  HoldOnHosts(job, hosts);
  snapshot_.jobs.push_back(job);
}

void Reader::PendLine(const Words& words) {
  Job job = NewJob(words);
  job.priority = next_priority_--;
  job.reason = "Priority";
  bool cpus_given = false;
  Grammar grammar;
  AddRequest(grammar, job.request, cpus_given);
  AddOwner(grammar, job);
  grammar.keys["priority"] = [&job](const std::string& w) { job.priority = Number(w); };
  grammar.keys["nice"] = [&job](const std::string& w) { job.nice = Number(w); };
  grammar.keys["reason"] = [&job](const std::string& w) { job.reason = w; };
  grammar.keys["dependency"] = [&job](const std::string& w) { job.dependency = w; };
  grammar.keys["throttle"] = [&job](const std::string& w) { job.array_throttle = Number(w); };
  grammar.keys["eligible"] = [&job](const std::string& w) {
    job.eligible_time = kSnapshotTime + SecondsOf(w);
  };
  grammar.keys["count"] = [&job](const std::string& w) {
    job.array_task_count = Number(w);
    job.array_job_id = job.id;
  };
  Parse(words, 2, grammar);
  FinishRequest(job.request, cpus_given);
  snapshot_.jobs.push_back(job);
}

void Reader::ReserveLine(const Words& words) {
  Reservation reservation;
  reservation.name = Word(words, 1);
  if (Word(words, 2) != "none") reservation.nodes = Hosts(words[2]);
  Grammar grammar;
  grammar.keys = {
      {"from",
       [&](const std::string& w) { reservation.start_time = kSnapshotTime + SecondsOf(w); }},
      {"to", [&](const std::string& w) { reservation.end_time = kSnapshotTime + SecondsOf(w); }},
      {"users", [&](const std::string& w) { reservation.users = Split(w, ','); }},
      {"accounts", [&](const std::string& w) { reservation.accounts = Split(w, ','); }},
      {"flags", [&](const std::string& w) { reservation.flags = Split(w, ','); }},
      {"groups", [&](const std::string& w) { reservation.groups = Split(w, ','); }},
      {"partitions", [&](const std::string& w) { reservation.allowed_partitions = Split(w, ','); }},
      {"qos", [&](const std::string& w) { reservation.allowed_qos = Split(w, ','); }},
      {"nodes", [&](const std::string& w) { reservation.node_count = Number(w); }},
      {"tres", [&](const std::string& w) { reservation.tres = Tres(w); }},
      {"licenses", [&](const std::string& w) { reservation.licenses = Tres(w); }},
  };
  Parse(words, 3, grammar);
  snapshot_.reservations.push_back(reservation);
}

void Reader::QosLine(const Words& words) {
  Qos qos;
  qos.name = Word(words, 1);
  Grammar grammar;
  grammar.keys["priority"] = [&](const std::string& w) { qos.priority = Number(w); };
  grammar.keys["flags"] = [&](const std::string& w) { qos.flags = Split(w, ','); };
  grammar.keys["preempts"] = [&](const std::string& w) { qos.preempt = Split(w, ','); };
  grammar.keys["preempt-mode"] = [&](const std::string& w) { qos.preempt_mode = w; };
  AddLimits(grammar, qos.limits);
  Parse(words, 2, grammar);
  snapshot_.qos.push_back(qos);
}

void Reader::AssocLine(const Words& words) {
  Association assoc;
  assoc.id = static_cast<int64_t>(snapshot_.associations.size()) + 1;
  assoc.account = Word(words, 1);
  Grammar grammar;
  grammar.keys = {
      {"user", [&](const std::string& w) { assoc.user = w; }},
      {"parent", [&](const std::string& w) { assoc.parent_account = w; }},
      {"in", [&](const std::string& w) { assoc.partition = w; }},
      {"fair", [&](const std::string& w) { assoc.fair_share = std::stod(w); }},
      {"shares", [&](const std::string& w) { assoc.shares = Number(w); }},
      {"usage", [&](const std::string& w) { assoc.usage_raw = std::stod(w); }},
      {"priority", [&](const std::string& w) { assoc.priority = Number(w); }},
      {"qos", [&](const std::string& w) { assoc.qos = Split(w, ','); }},
      {"default-qos", [&](const std::string& w) { assoc.default_qos = w; }},
  };
  grammar.flags["default"] = [&] { assoc.is_default = true; };
  AddLimits(grammar, assoc.limits);
  Parse(words, 2, grammar);
  snapshot_.associations.push_back(assoc);
}

void Reader::ConfigLine(const Words& words) {
  SchedulerConfig& config = snapshot_.config;
  Grammar grammar;
  grammar.keys = {
      {"priority", [&](const std::string& w) { config.priority_type = "priority/" + w; }},
      {"scheduler", [&](const std::string& w) { config.scheduler_type = "sched/" + w; }},
      {"parameters", [&](const std::string& w) { config.scheduler_parameters = w; }},
      {"select", [&](const std::string& w) { config.select_type_parameters = w; }},
      {"select-type", [&](const std::string& w) { config.select_type = "select/" + w; }},
      {"topology", [&](const std::string& w) { config.topology_plugin = "topology/" + w; }},
      {"hidden", [&](const std::string& w) { config.hidden = Split(w, ','); }},
      {"private", [&](const std::string& w) { config.private_data = w; }},
      {"resume-timeout",
       [&](const std::string& w) { config.resume_timeout_seconds = SecondsOf(w); }},
      {"suspend-timeout",
       [&](const std::string& w) { config.suspend_timeout_seconds = SecondsOf(w); }},
      {"enforce", [&](const std::string& w) { config.enforce = w; }},
      {"flags", [&](const std::string& w) { config.priority_flags = w; }},
      {"preempt", [&](const std::string& w) { config.preempt_type = "preempt/" + w; }},
      {"preempt-mode", [&](const std::string& w) { config.preempt_mode = w; }},
      {"age", [&](const std::string& w) { config.weights.age = Number(w); }},
      {"fairshare", [&](const std::string& w) { config.weights.fair_share = Number(w); }},
      {"size", [&](const std::string& w) { config.weights.job_size = Number(w); }},
      {"partition", [&](const std::string& w) { config.weights.partition = Number(w); }},
      {"qos", [&](const std::string& w) { config.weights.qos = Number(w); }},
      {"assoc", [&](const std::string& w) { config.weights.association = Number(w); }},
      {"half-life",
       [&](const std::string& w) { config.priority_decay_half_life_seconds = SecondsOf(w); }},
      {"calc-period",
       [&](const std::string& w) { config.priority_calc_period_seconds = SecondsOf(w); }},
      {"max-age", [&](const std::string& w) { config.priority_max_age_seconds = SecondsOf(w); }},
      {"favor-small", [&](const std::string& w) { config.priority_favor_small = w == "yes"; }},
      {"kill-wait", [&](const std::string& w) { config.kill_wait_seconds = SecondsOf(w); }},
      {"tres",
       [&](const std::string& w) {
         for (const auto& [name, weight] : Tres(w)) {
           config.weights.tres[name] = static_cast<double>(weight);
         }
       }},
      {"def-mem-per-cpu",
       [&](const std::string& w) { config.default_memory_per_cpu_mib = Mebibytes(w); }},
      {"def-mem-per-node",
       [&](const std::string& w) { config.default_memory_per_node_mib = Mebibytes(w); }},
  };
  Parse(words, 1, grammar);
}

void Reader::LicenceLine(const Words& words) {
  License licence;
  licence.name = Word(words, 1);
  licence.total = Number(Word(words, 2));
  Grammar grammar;
  grammar.keys["used"] = [&](const std::string& w) { licence.used = Number(w); };
  grammar.keys["reserved"] = [&](const std::string& w) { licence.reserved = Number(w); };
  grammar.flags["remote"] = [&] { licence.remote = true; };
  Parse(words, 3, grammar);
  snapshot_.config.licenses.push_back(licence);
}

void Reader::Line(const std::string& line) {
  const Words words = Split(line.substr(0, line.find('#')), ' ');
  if (words.empty()) return;
  static const std::map<std::string, void (Reader::*)(const Words&)> kLines = {
      {"node", &Reader::NodeLine},       {"partition", &Reader::PartitionLine},
      {"run", &Reader::RunLine},         {"pend", &Reader::PendLine},
      {"reserve", &Reader::ReserveLine}, {"qos", &Reader::QosLine},
      {"assoc", &Reader::AssocLine},     {"config", &Reader::ConfigLine},
      {"licence", &Reader::LicenceLine},
  };
  const auto found = kLines.find(words.front());
  if (found == kLines.end()) Bad("what is a '" + words.front() + "' line?");
  (this->*found->second)(words);
}

Snapshot Reader::Finish() {
  snapshot_.cluster = "test";
  snapshot_.source = "text";
  snapshot_.taken_at = kSnapshotTime;
  SchedulerConfig& config = snapshot_.config;
  if (config.priority_type.empty()) config.priority_type = "priority/basic";
  if (config.select_type_parameters.empty()) config.select_type_parameters = "CR_CORE_MEMORY";
  if (config.scheduler_type.empty()) config.scheduler_type = "sched/backfill";
  if (snapshot_.partitions.empty()) PartitionLine({"partition", "main", "ALL"});
  std::vector<std::string> all;
  for (const Node& node : snapshot_.nodes) all.push_back(node.name);
  std::string first;
  for (Partition& part : snapshot_.partitions) {
    if (part.nodes.empty()) part.nodes = all;
    if (part.is_default || first.empty()) first = part.name;
  }
  for (Job& job : snapshot_.jobs) {
    if (job.request.partitions.empty()) job.request.partitions = {first};
  }
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::sort(snapshot_.partitions.begin(), snapshot_.partitions.end(), by_name);
  std::sort(snapshot_.reservations.begin(), snapshot_.reservations.end(), by_name);
  std::sort(snapshot_.qos.begin(), snapshot_.qos.end(), by_name);
  std::sort(snapshot_.jobs.begin(), snapshot_.jobs.end(),
            [](const Job& a, const Job& b) { return a.id < b.id; });
  return std::move(snapshot_);
}

}  // namespace

Snapshot SnapshotOf(std::string_view text) {
  Reader reader;
  int number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++number;
    try {
      reader.Line(line);
    } catch (const std::invalid_argument& error) {
      Bad("line " + std::to_string(number) + " '" + line + "': " + error.what());
    }
  }
  return reader.Finish();
}

}  // namespace gpuadvise
