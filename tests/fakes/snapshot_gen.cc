#include "tests/fakes/snapshot_gen.h"

#include "common/slurm/gres.h"
#include "common/slurm/snapshot_order.h"

namespace gpuadvise {
namespace {

constexpr int64_t kMost = int64_t{1} << 53;

std::string Text() {
  return *rc::gen::oneOf(rc::gen::element<std::string>("", "normal", "gpu4090", "a\"b\\c", "n[1-2]",
                                                       "한국어", "tab\there", "a,b", "~x/y"),
                         rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '~')));
}

std::vector<std::string> Texts() {
  std::vector<std::string> texts(*rc::gen::inRange<size_t>(0, 3));
  for (std::string& text : texts) text = Text();
  return texts;
}

std::vector<std::string> Hosts() {
  if (*rc::gen::inRange(0, 8) == 0) return Texts();
  std::vector<std::string> hosts;
  const int first = *rc::gen::inRange(0, 12);
  const int count = *rc::gen::inRange(0, 12);
  for (int i = 0; i < count; ++i) hosts.push_back("n" + std::to_string(first + i));
  return hosts;
}

int64_t Count() {
  return *rc::gen::oneOf(rc::gen::inRange<int64_t>(0, 100), rc::gen::inRange<int64_t>(0, kMost),
                         rc::gen::just(kMost));
}

int64_t Signed() {
  return *rc::gen::oneOf(rc::gen::just(-kMost), rc::gen::inRange<int64_t>(-9, 9));
}

bool Bool() { return *rc::gen::arbitrary<bool>(); }

double Real() {
  return *rc::gen::oneOf(
      rc::gen::element(0.0, 1.0, 0.1, -1e300, 5e-324),
      rc::gen::map(rc::gen::inRange(0, 1'000'000), [](int n) { return n / 7.0; }));
}

SlurmNumber Number() {
  const int kind = *rc::gen::inRange(0, 3);
  if (kind == 0) return SlurmNumber::Absent();
  return kind == 1 ? SlurmNumber::Infinite() : SlurmNumber(Count());
}

std::optional<UnixSeconds> Time() { return Bool() ? std::optional(Count()) : std::nullopt; }

GpuCounts Gpus() {
  GpuCounts gpus(*rc::gen::inRange<size_t>(0, 3));
  for (GpuCount& gpu : gpus) gpu = {Text(), *rc::gen::inRange<int64_t>(0, 9)};
  return CanonicalGpus(std::move(gpus));
}

TresCounts Tres() {
  TresCounts tres;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) tres[Text()] = Count();
  return tres;
}

NodeState State() {
  return {static_cast<NodeBase>(*rc::gen::inRange(0, 7)), *rc::gen::inRange<uint32_t>(0, 1u << 20)};
}

Node ArbitraryNode() {
  Node n;
  n.name = Text();
  n.state = State();
  n.reason = Text();
  n.cpus = Count();
  n.cpus_allocated = Count();
  n.threads_per_core = Count();
  n.memory_mib = Count();
  n.memory_allocated_mib = Count();
  n.gpus = Gpus();
  n.gpus_allocated = Gpus();
  n.shards = Count();
  n.shards_allocated = Count();
  n.mps = Count();
  n.mps_allocated = Count();
  n.features = Texts();
  n.weight = Count();
  return n;
}

JobRequest Request() {
  JobRequest r;
  r.partitions = Texts();
  r.nodes_min = Count();
  r.nodes_max = Count();
  r.cpus = Count();
  r.cpus_per_task = Count();
  r.tasks = Count();
  r.memory_per_node_mib = Number();
  r.memory_per_cpu_mib = Number();
  r.gpus_per_node = Gpus();
  r.gpus_total = Gpus();
  r.shards_per_node = Count();
  r.mps_per_node = Count();
  r.features = Text();
  r.required_nodes = Hosts();
  r.excluded_nodes = Hosts();
  r.exclusive = Bool();
  r.exclusive_to = Text();
  r.over_subscribe = Bool();
  r.licenses = Tres();
  r.any_license = Bool();
  r.switches = Count();
  r.switches_wait_seconds = Count();
  r.segment_nodes = Count();
  r.time_limit_seconds = Number();
  r.begin_time = Time();
  r.reservation = Text();
  return r;
}

std::vector<Allocation> Allocations() {
  std::vector<Allocation> allocations;
  for (int group = *rc::gen::inRange(0, 3); group > 0; --group) {
    Allocation same{"", Count(), Count(), Gpus(), Count(), Count()};
    for (std::string& host : Hosts()) {
      same.node = std::move(host);
      allocations.push_back(same);
    }
  }
  return allocations;
}

Job ArbitraryJob() {
  Job j;
  j.id = Count();
  j.array_job_id = Count();
  j.array_tasks = Text();
  j.array_task_count = Count();
  j.array_throttle = Count();
  j.het_job_id = Count();
  j.name = Text();
  j.user = Text();
  j.uid = Signed();
  j.account = Text();
  j.qos = Text();
  j.state = static_cast<JobState>(*rc::gen::inRange(0, 5));
  j.reason = Text();
  j.priority = Count();
  j.nice = Signed();
  j.dependency = Text();
  j.submit_time = Time();
  j.eligible_time = Time();
  j.start_time = Time();
  j.end_time = Time();
  j.requeue = Bool();
  j.expedited_requeue = Bool();
  j.request = Request();
  j.allocations = Allocations();
  return j;
}

Partition ArbitraryPartition() {
  Partition p;
  p.name = Text();
  p.state = static_cast<PartitionState>(*rc::gen::inRange(0, 4));
  p.is_default = Bool();
  p.hidden = Bool();
  p.root_only = Bool();
  p.nodes = Hosts();
  for (SlurmNumber* number :
       {&p.max_time_seconds, &p.default_time_seconds, &p.max_nodes, &p.max_cpus_per_node,
        &p.default_memory_per_node_mib, &p.default_memory_per_cpu_mib, &p.max_memory_per_node_mib,
        &p.max_memory_per_cpu_mib, &p.max_cpus_per_socket, &p.resume_timeout_seconds,
        &p.suspend_time_seconds}) {
    *number = Number();
  }
  p.min_nodes = Count();
  p.allow_accounts = Texts();
  p.deny_accounts = Texts();
  p.allow_qos = Texts();
  p.deny_qos = Texts();
  p.allow_groups = Texts();
  p.alloc_nodes = Texts();
  p.qos = Text();
  p.priority_tier = Count();
  p.priority_job_factor = Count();
  p.exclusive = Bool();
  p.over_subscribe = Text();
  p.preempt_mode = Text();
  p.billing_weights = Text();
  p.exclusive_to = Text();
  p.topology = Text();
  return p;
}

Limits ArbitraryLimits() {
  Limits l;
  for (TresCounts* tres :
       {&l.group_tres, &l.group_tres_used, &l.max_tres_per_job, &l.max_tres_per_node,
        &l.max_tres_per_user, &l.max_tres_per_account, &l.min_tres_per_job}) {
    *tres = Tres();
  }
  for (SlurmNumber* number : {&l.group_jobs, &l.group_submit_jobs, &l.max_jobs, &l.max_submit_jobs,
                              &l.max_wall_seconds}) {
    *number = Number();
  }
  l.group_jobs_used = Count();
  return l;
}

// Up to two rows of different keys.
template <typename T, typename Key>
std::vector<T> Rows(T (*row)(), Key T::*key) {
  std::vector<T> rows(*rc::gen::inRange<size_t>(0, 3));
  for (T& r : rows) r = row();
  if (rows.size() == 2 && rows[0].*key == rows[1].*key) rows.pop_back();
  return rows;
}

License ArbitraryLicense() { return {Text(), Count(), Count(), Count(), Bool()}; }

SchedulerConfig Config() {
  SchedulerConfig c;
  for (std::string* text :
       {&c.slurm_version, &c.scheduler_type, &c.scheduler_parameters, &c.select_type_parameters,
        &c.priority_type, &c.priority_flags, &c.preempt_type, &c.preempt_mode, &c.enforce,
        &c.private_data, &c.select_type, &c.topology_plugin, &c.topology_param}) {
    *text = Text();
  }
  c.weights = {Count(), Count(), Count(), Count(), Count(), Count(), {}};
  if (Bool()) c.weights.tres[Text()] = Real();
  c.priority_max_age_seconds = Count();
  c.priority_calc_period_seconds = Count();
  c.priority_decay_half_life_seconds = Count();
  c.priority_favor_small = Bool();
  c.default_memory_per_node_mib = Number();
  c.default_memory_per_cpu_mib = Number();
  c.over_time_limit_seconds = Number();
  c.kill_wait_seconds = Count();
  c.min_job_age_seconds = Count();
  c.hidden = Texts();
  c.suspend_time_seconds = Number();
  c.suspend_timeout_seconds = Number();
  c.resume_timeout_seconds = Number();
  c.licenses = Rows(ArbitraryLicense, &License::name);
  return c;
}

Association ArbitraryAssociation() {
  Association a;
  a.id = Count();
  for (std::string* text : {&a.account, &a.user, &a.parent_account, &a.partition, &a.default_qos}) {
    *text = Text();
  }
  a.shares = Count();
  a.shares_normalised = Real();
  a.usage_raw = Real();
  a.usage_effective = Real();
  a.fair_share = Real();
  a.priority = Count();
  a.qos = Texts();
  a.is_default = Bool();
  a.limits = ArbitraryLimits();
  return a;
}

Reservation ArbitraryReservation() {
  return {Text(),  Time(),  Time(),  Hosts(), Texts(), Texts(), Texts(),
          Texts(), Texts(), Texts(), Text(),  Count(), Tres(),  Tres()};
}

Qos ArbitraryQos() {
  return {Text(), Count(), Real(), Texts(), Texts(), Text(), ArbitraryLimits()};
}

}  // namespace

rc::Gen<Snapshot> ArbitrarySnapshot() {
  return rc::gen::exec([] {
    Snapshot s;
    s.cluster = Text();
    s.source = Text();
    s.taken_at = Count();
    s.nodes = Rows(ArbitraryNode, &Node::name);
    s.jobs = Rows(ArbitraryJob, &Job::id);
    s.partitions = Rows(ArbitraryPartition, &Partition::name);
    s.reservations = Rows(ArbitraryReservation, &Reservation::name);
    s.config = Config();
    s.associations = Rows(ArbitraryAssociation, &Association::id);
    s.qos = Rows(ArbitraryQos, &Qos::name);
    SortCanonically(s);
    return s;
  });
}

}  // namespace gpuadvise
