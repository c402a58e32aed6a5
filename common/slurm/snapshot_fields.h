// Members of all snapshot values with their JSON names: the one list used by both writer and
// reader.
//
// VisitFields(static_cast<const Node*>(nullptr), f) calls f(name, pointer to member, FieldKind) for
// each. Internal to snapshot_json.cc.
#pragma once

#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

enum class FieldKind {
  kPlain,
  kKey,     // identifies the object: always written, required
  kSigned,  // an integer that may be negative
  kHosts,   // a list of node names, written as a host list expression
};

template <typename F>
void VisitFields(const Node*, F&& f) {
  f("name", &Node::name, FieldKind::kKey);
  f("state", &Node::state, FieldKind::kPlain);
  f("reason", &Node::reason, FieldKind::kPlain);
  f("reason_user", &Node::reason_user, FieldKind::kPlain);
  f("reason_time", &Node::reason_time, FieldKind::kPlain);
  f("cpus", &Node::cpus, FieldKind::kPlain);
  f("cpus_allocated", &Node::cpus_allocated, FieldKind::kPlain);
  f("threads_per_core", &Node::threads_per_core, FieldKind::kPlain);
  f("memory_mib", &Node::memory_mib, FieldKind::kPlain);
  f("memory_allocated_mib", &Node::memory_allocated_mib, FieldKind::kPlain);
  f("gpus", &Node::gpus, FieldKind::kPlain);
  f("gpus_allocated", &Node::gpus_allocated, FieldKind::kPlain);
  f("shards", &Node::shards, FieldKind::kPlain);
  f("shards_allocated", &Node::shards_allocated, FieldKind::kPlain);
  f("mps", &Node::mps, FieldKind::kPlain);
  f("mps_allocated", &Node::mps_allocated, FieldKind::kPlain);
  f("gpus_idle", &Node::gpus_idle, FieldKind::kPlain);
  f("features", &Node::features, FieldKind::kPlain);
  f("weight", &Node::weight, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const JobRequest*, F&& f) {
  f("partitions", &JobRequest::partitions, FieldKind::kPlain);
  f("nodes_min", &JobRequest::nodes_min, FieldKind::kPlain);
  f("nodes_max", &JobRequest::nodes_max, FieldKind::kPlain);
  f("cpus", &JobRequest::cpus, FieldKind::kPlain);
  f("cpus_per_task", &JobRequest::cpus_per_task, FieldKind::kPlain);
  f("tasks", &JobRequest::tasks, FieldKind::kPlain);
  f("memory_per_node_mib", &JobRequest::memory_per_node_mib, FieldKind::kPlain);
  f("memory_per_cpu_mib", &JobRequest::memory_per_cpu_mib, FieldKind::kPlain);
  f("gpus_per_node", &JobRequest::gpus_per_node, FieldKind::kPlain);
  f("gpus_total", &JobRequest::gpus_total, FieldKind::kPlain);
  f("shards_per_node", &JobRequest::shards_per_node, FieldKind::kPlain);
  f("mps_per_node", &JobRequest::mps_per_node, FieldKind::kPlain);
  f("features", &JobRequest::features, FieldKind::kPlain);
  f("required_nodes", &JobRequest::required_nodes, FieldKind::kHosts);
  f("excluded_nodes", &JobRequest::excluded_nodes, FieldKind::kHosts);
  f("exclusive", &JobRequest::exclusive, FieldKind::kPlain);
  f("exclusive_to", &JobRequest::exclusive_to, FieldKind::kPlain);
  f("over_subscribe", &JobRequest::over_subscribe, FieldKind::kPlain);
  f("licenses", &JobRequest::licenses, FieldKind::kPlain);
  f("any_license", &JobRequest::any_license, FieldKind::kPlain);
  f("switches", &JobRequest::switches, FieldKind::kPlain);
  f("switches_wait_seconds", &JobRequest::switches_wait_seconds, FieldKind::kPlain);
  f("segment_nodes", &JobRequest::segment_nodes, FieldKind::kPlain);
  f("time_limit_seconds", &JobRequest::time_limit_seconds, FieldKind::kPlain);
  f("begin_time", &JobRequest::begin_time, FieldKind::kPlain);
  f("reservation", &JobRequest::reservation, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const JobRecord*, F&& f) {
  f("id", &JobRecord::id, FieldKind::kKey);
  f("array_job_id", &JobRecord::array_job_id, FieldKind::kPlain);
  f("name", &JobRecord::name, FieldKind::kPlain);
  f("user", &JobRecord::user, FieldKind::kPlain);
  f("account", &JobRecord::account, FieldKind::kPlain);
  f("qos", &JobRecord::qos, FieldKind::kPlain);
  f("partition", &JobRecord::partition, FieldKind::kPlain);
  f("gpu", &JobRecord::gpu, FieldKind::kPlain);
  f("nodes", &JobRecord::nodes, FieldKind::kPlain);
  f("cpus", &JobRecord::cpus, FieldKind::kPlain);
  f("gpus", &JobRecord::gpus, FieldKind::kPlain);
  f("limit_seconds", &JobRecord::limit_seconds, FieldKind::kPlain);
  f("submit", &JobRecord::submit, FieldKind::kKey);
  f("eligible", &JobRecord::eligible, FieldKind::kPlain);
  f("start", &JobRecord::start, FieldKind::kPlain);
  f("end", &JobRecord::end, FieldKind::kPlain);
  f("state", &JobRecord::state, FieldKind::kPlain);
}

// Without `node`: equal allocations on several nodes share one entry.
template <typename F>
void VisitFields(const Allocation*, F&& f) {
  f("cpus", &Allocation::cpus, FieldKind::kPlain);
  f("memory_mib", &Allocation::memory_mib, FieldKind::kPlain);
  f("gpus", &Allocation::gpus, FieldKind::kPlain);
  f("shards", &Allocation::shards, FieldKind::kPlain);
  f("mps", &Allocation::mps, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const Job*, F&& f) {
  f("id", &Job::id, FieldKind::kKey);
  f("array_job_id", &Job::array_job_id, FieldKind::kPlain);
  f("array_tasks", &Job::array_tasks, FieldKind::kPlain);
  f("array_task_count", &Job::array_task_count, FieldKind::kPlain);
  f("array_throttle", &Job::array_throttle, FieldKind::kPlain);
  f("het_job_id", &Job::het_job_id, FieldKind::kPlain);
  f("name", &Job::name, FieldKind::kPlain);
  f("user", &Job::user, FieldKind::kPlain);
  f("uid", &Job::uid, FieldKind::kSigned);
  f("account", &Job::account, FieldKind::kPlain);
  f("qos", &Job::qos, FieldKind::kPlain);
  f("state", &Job::state, FieldKind::kKey);
  f("reason", &Job::reason, FieldKind::kPlain);
  f("priority", &Job::priority, FieldKind::kPlain);
  f("nice", &Job::nice, FieldKind::kSigned);
  f("dependency", &Job::dependency, FieldKind::kPlain);
  f("submit_time", &Job::submit_time, FieldKind::kPlain);
  f("eligible_time", &Job::eligible_time, FieldKind::kPlain);
  f("start_time", &Job::start_time, FieldKind::kPlain);
  f("end_time", &Job::end_time, FieldKind::kPlain);
  f("requeue", &Job::requeue, FieldKind::kPlain);
  f("expedited_requeue", &Job::expedited_requeue, FieldKind::kPlain);
  f("request", &Job::request, FieldKind::kPlain);
  f("allocations", &Job::allocations, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const Partition*, F&& f) {
  f("name", &Partition::name, FieldKind::kKey);
  f("state", &Partition::state, FieldKind::kPlain);
  f("is_default", &Partition::is_default, FieldKind::kPlain);
  f("hidden", &Partition::hidden, FieldKind::kPlain);
  f("root_only", &Partition::root_only, FieldKind::kPlain);
  f("nodes", &Partition::nodes, FieldKind::kHosts);
  f("max_time_seconds", &Partition::max_time_seconds, FieldKind::kPlain);
  f("default_time_seconds", &Partition::default_time_seconds, FieldKind::kPlain);
  f("max_nodes", &Partition::max_nodes, FieldKind::kPlain);
  f("min_nodes", &Partition::min_nodes, FieldKind::kPlain);
  f("max_cpus_per_node", &Partition::max_cpus_per_node, FieldKind::kPlain);
  f("max_cpus_per_socket", &Partition::max_cpus_per_socket, FieldKind::kPlain);
  f("default_memory_per_node_mib", &Partition::default_memory_per_node_mib, FieldKind::kPlain);
  f("default_memory_per_cpu_mib", &Partition::default_memory_per_cpu_mib, FieldKind::kPlain);
  f("max_memory_per_node_mib", &Partition::max_memory_per_node_mib, FieldKind::kPlain);
  f("max_memory_per_cpu_mib", &Partition::max_memory_per_cpu_mib, FieldKind::kPlain);
  f("allow_accounts", &Partition::allow_accounts, FieldKind::kPlain);
  f("deny_accounts", &Partition::deny_accounts, FieldKind::kPlain);
  f("allow_qos", &Partition::allow_qos, FieldKind::kPlain);
  f("deny_qos", &Partition::deny_qos, FieldKind::kPlain);
  f("allow_groups", &Partition::allow_groups, FieldKind::kPlain);
  f("alloc_nodes", &Partition::alloc_nodes, FieldKind::kPlain);
  f("qos", &Partition::qos, FieldKind::kPlain);
  f("priority_tier", &Partition::priority_tier, FieldKind::kPlain);
  f("priority_job_factor", &Partition::priority_job_factor, FieldKind::kPlain);
  f("exclusive", &Partition::exclusive, FieldKind::kPlain);
  f("exclusive_to", &Partition::exclusive_to, FieldKind::kPlain);
  f("over_subscribe", &Partition::over_subscribe, FieldKind::kPlain);
  f("preempt_mode", &Partition::preempt_mode, FieldKind::kPlain);
  f("billing_weights", &Partition::billing_weights, FieldKind::kPlain);
  f("topology", &Partition::topology, FieldKind::kPlain);
  f("resume_timeout_seconds", &Partition::resume_timeout_seconds, FieldKind::kPlain);
  f("suspend_time_seconds", &Partition::suspend_time_seconds, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const Reservation*, F&& f) {
  f("name", &Reservation::name, FieldKind::kKey);
  f("start_time", &Reservation::start_time, FieldKind::kPlain);
  f("end_time", &Reservation::end_time, FieldKind::kPlain);
  f("nodes", &Reservation::nodes, FieldKind::kHosts);
  f("users", &Reservation::users, FieldKind::kPlain);
  f("accounts", &Reservation::accounts, FieldKind::kPlain);
  f("groups", &Reservation::groups, FieldKind::kPlain);
  f("allowed_partitions", &Reservation::allowed_partitions, FieldKind::kPlain);
  f("allowed_qos", &Reservation::allowed_qos, FieldKind::kPlain);
  f("flags", &Reservation::flags, FieldKind::kPlain);
  f("partition", &Reservation::partition, FieldKind::kPlain);
  f("node_count", &Reservation::node_count, FieldKind::kPlain);
  f("tres", &Reservation::tres, FieldKind::kPlain);
  f("licenses", &Reservation::licenses, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const PriorityWeights*, F&& f) {
  f("age", &PriorityWeights::age, FieldKind::kPlain);
  f("association", &PriorityWeights::association, FieldKind::kPlain);
  f("fair_share", &PriorityWeights::fair_share, FieldKind::kPlain);
  f("job_size", &PriorityWeights::job_size, FieldKind::kPlain);
  f("partition", &PriorityWeights::partition, FieldKind::kPlain);
  f("qos", &PriorityWeights::qos, FieldKind::kPlain);
  f("tres", &PriorityWeights::tres, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const License*, F&& f) {
  f("name", &License::name, FieldKind::kKey);
  f("total", &License::total, FieldKind::kPlain);
  f("used", &License::used, FieldKind::kPlain);
  f("reserved", &License::reserved, FieldKind::kPlain);
  f("remote", &License::remote, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const SchedulerCycles*, F&& f) {
  f("last_us", &SchedulerCycles::last_us, FieldKind::kPlain);
  f("mean_us", &SchedulerCycles::mean_us, FieldKind::kPlain);
  f("max_us", &SchedulerCycles::max_us, FieldKind::kPlain);
  f("cycles", &SchedulerCycles::cycles, FieldKind::kPlain);
  f("mean_depth", &SchedulerCycles::mean_depth, FieldKind::kPlain);
  f("queue_length", &SchedulerCycles::queue_length, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const SchedulerHealth*, F&& f) {
  f("read_at", &SchedulerHealth::read_at, FieldKind::kPlain);
  f("since", &SchedulerHealth::since, FieldKind::kPlain);
  f("main", &SchedulerHealth::main, FieldKind::kPlain);
  f("backfill", &SchedulerHealth::backfill, FieldKind::kPlain);
  f("backfilled_jobs", &SchedulerHealth::backfilled_jobs, FieldKind::kPlain);
  f("rpcs", &SchedulerHealth::rpcs, FieldKind::kPlain);
  f("rpc_us", &SchedulerHealth::rpc_us, FieldKind::kPlain);
  f("server_threads", &SchedulerHealth::server_threads, FieldKind::kPlain);
  f("agent_queue", &SchedulerHealth::agent_queue, FieldKind::kPlain);
  f("problem", &SchedulerHealth::problem, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const SchedulerConfig*, F&& f) {
  using C = SchedulerConfig;
  f("slurm_version", &C::slurm_version, FieldKind::kPlain);
  f("scheduler_type", &C::scheduler_type, FieldKind::kPlain);
  f("scheduler_parameters", &C::scheduler_parameters, FieldKind::kPlain);
  f("select_type", &C::select_type, FieldKind::kPlain);
  f("select_type_parameters", &C::select_type_parameters, FieldKind::kPlain);
  f("priority_type", &C::priority_type, FieldKind::kPlain);
  f("priority_flags", &C::priority_flags, FieldKind::kPlain);
  f("weights", &C::weights, FieldKind::kPlain);
  f("priority_max_age_seconds", &C::priority_max_age_seconds, FieldKind::kPlain);
  f("priority_decay_half_life_seconds", &C::priority_decay_half_life_seconds, FieldKind::kPlain);
  f("priority_calc_period_seconds", &C::priority_calc_period_seconds, FieldKind::kPlain);
  f("priority_favor_small", &C::priority_favor_small, FieldKind::kPlain);
  f("preempt_type", &C::preempt_type, FieldKind::kPlain);
  f("preempt_mode", &C::preempt_mode, FieldKind::kPlain);
  f("enforce", &C::enforce, FieldKind::kPlain);
  f("private_data", &C::private_data, FieldKind::kPlain);
  f("hidden", &C::hidden, FieldKind::kPlain);
  f("topology_plugin", &C::topology_plugin, FieldKind::kPlain);
  f("topology_param", &C::topology_param, FieldKind::kPlain);
  f("licenses", &C::licenses, FieldKind::kPlain);
  f("suspend_time_seconds", &C::suspend_time_seconds, FieldKind::kPlain);
  f("suspend_timeout_seconds", &C::suspend_timeout_seconds, FieldKind::kPlain);
  f("resume_timeout_seconds", &C::resume_timeout_seconds, FieldKind::kPlain);
  f("default_memory_per_node_mib", &C::default_memory_per_node_mib, FieldKind::kPlain);
  f("default_memory_per_cpu_mib", &C::default_memory_per_cpu_mib, FieldKind::kPlain);
  f("over_time_limit_seconds", &C::over_time_limit_seconds, FieldKind::kPlain);
  f("kill_wait_seconds", &C::kill_wait_seconds, FieldKind::kPlain);
  f("min_job_age_seconds", &C::min_job_age_seconds, FieldKind::kPlain);
  f("health", &C::health, FieldKind::kPlain);
  f("counts_idle_gpus", &C::counts_idle_gpus, FieldKind::kPlain);
  f("idle_gpus_problem", &C::idle_gpus_problem, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const Limits*, F&& f) {
  f("group_tres", &Limits::group_tres, FieldKind::kPlain);
  f("group_tres_used", &Limits::group_tres_used, FieldKind::kPlain);
  f("group_jobs", &Limits::group_jobs, FieldKind::kPlain);
  f("group_jobs_used", &Limits::group_jobs_used, FieldKind::kPlain);
  f("group_submit_jobs", &Limits::group_submit_jobs, FieldKind::kPlain);
  f("max_jobs", &Limits::max_jobs, FieldKind::kPlain);
  f("max_submit_jobs", &Limits::max_submit_jobs, FieldKind::kPlain);
  f("max_tres_per_job", &Limits::max_tres_per_job, FieldKind::kPlain);
  f("max_tres_per_node", &Limits::max_tres_per_node, FieldKind::kPlain);
  f("max_tres_per_user", &Limits::max_tres_per_user, FieldKind::kPlain);
  f("max_tres_per_account", &Limits::max_tres_per_account, FieldKind::kPlain);
  f("min_tres_per_job", &Limits::min_tres_per_job, FieldKind::kPlain);
  f("max_wall_seconds", &Limits::max_wall_seconds, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const Association*, F&& f) {
  f("id", &Association::id, FieldKind::kKey);
  f("account", &Association::account, FieldKind::kPlain);
  f("user", &Association::user, FieldKind::kPlain);
  f("parent_account", &Association::parent_account, FieldKind::kPlain);
  f("partition", &Association::partition, FieldKind::kPlain);
  f("shares", &Association::shares, FieldKind::kPlain);
  f("shares_normalised", &Association::shares_normalised, FieldKind::kPlain);
  f("usage_raw", &Association::usage_raw, FieldKind::kPlain);
  f("usage_effective", &Association::usage_effective, FieldKind::kPlain);
  f("fair_share", &Association::fair_share, FieldKind::kPlain);
  f("priority", &Association::priority, FieldKind::kPlain);
  f("default_qos", &Association::default_qos, FieldKind::kPlain);
  f("qos", &Association::qos, FieldKind::kPlain);
  f("is_default", &Association::is_default, FieldKind::kPlain);
  f("limits", &Association::limits, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const Qos*, F&& f) {
  f("name", &Qos::name, FieldKind::kKey);
  f("priority", &Qos::priority, FieldKind::kPlain);
  f("usage_factor", &Qos::usage_factor, FieldKind::kPlain);
  f("flags", &Qos::flags, FieldKind::kPlain);
  f("preempt", &Qos::preempt, FieldKind::kPlain);
  f("preempt_mode", &Qos::preempt_mode, FieldKind::kPlain);
  f("limits", &Qos::limits, FieldKind::kPlain);
}

template <typename F>
void VisitFields(const Snapshot*, F&& f) {
  f("cluster", &Snapshot::cluster, FieldKind::kPlain);
  f("source", &Snapshot::source, FieldKind::kPlain);
  f("taken_at", &Snapshot::taken_at, FieldKind::kKey);
  f("requests", &Snapshot::requests, FieldKind::kPlain);
  f("nodes", &Snapshot::nodes, FieldKind::kPlain);
  f("jobs", &Snapshot::jobs, FieldKind::kPlain);
  f("partitions", &Snapshot::partitions, FieldKind::kPlain);
  f("reservations", &Snapshot::reservations, FieldKind::kPlain);
  f("config", &Snapshot::config, FieldKind::kPlain);
  f("associations", &Snapshot::associations, FieldKind::kPlain);
  f("qos", &Snapshot::qos, FieldKind::kPlain);
}

}  // namespace gpuadvise
