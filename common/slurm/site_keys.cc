#include "common/slurm/site_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/policy.h"
#include "common/slurm/scheduler_options.h"

namespace gpuadvise {
namespace {

constexpr Treatment kSimulated = Treatment::kSimulated;
constexpr Treatment kNear = Treatment::kApproximated;
constexpr Treatment kUnknown = Treatment::kNotKnown;

constexpr size_t kMostNamed = 4;  // partitions or reservations in one cell

// "a: VALUE, b: VALUE" for the items of `all` with a non-empty `value`.
template <typename T, typename Value>
std::string Named(const std::vector<T>& all, const Value& value) {
  std::string text;
  size_t count = 0;
  for (const T& each : all) {
    const std::string own = value(each);
    if (own.empty()) continue;
    if (count++ >= kMostNamed) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", each.name, own);
  }
  if (count > kMostNamed) text += fmt::format(" and {} more", count - kMostNamed);
  return text;
}

std::string NumberText(SlurmNumber number) {
  return number.has_value() ? std::to_string(number.value()) : "";
}

std::string SecondsText(SlurmNumber seconds) {
  return seconds.has_value() ? DurationInWords(static_cast<double>(seconds.value())) : "";
}

std::string Count(int64_t count, const char* noun) { return count > 0 ? Plural(count, noun) : ""; }

std::string Flagged(const Snapshot& s, std::string_view flag) {
  return Named(s.reservations, [&](const Reservation& r) {
    return std::string(HasFlag(r.flags, flag) ? "yes" : "");
  });
}

bool HoldsPart(const Snapshot& s, const Reservation& reservation) {
  const auto cpus = reservation.tres.find("cpu");
  if (reservation.tres.empty()) return false;
  const std::set<std::string> names(reservation.nodes.begin(), reservation.nodes.end());
  int64_t all = 0;
  for (const Node& node : s.nodes) all += names.contains(node.name) ? node.cpus : 0;
  return cpus == reservation.tres.end() || cpus->second < all;
}

constexpr std::string_view kParameters = "SchedulerParameters";

// clang-format off
const std::array kKeys = {
    SiteKey{kParameters, "assoc_limit_stop", kNear, "a job over a limit holds back its partition in the main loop; backfill does not plan for it"},
    SiteKey{kParameters, "batch_sched_delay", kUnknown, "a batch job may start seconds later"},
    SiteKey{kParameters, "bf_allow_magnetic_slot", kSimulated, "nodes of magnetic reservations are kept for jobs that wait"},
    SiteKey{kParameters, "bf_busy_nodes", kNear, "nodes in use are filled first with or without it"},
    SiteKey{kParameters, "bf_continue", kNear, "each pass runs to its end"},
    SiteKey{kParameters, "bf_hetjob_immediate", kUnknown, "parts of a heterogeneous job are simulated as separate jobs"},
    SiteKey{kParameters, "bf_hetjob_prio", kUnknown, "parts of a heterogeneous job are simulated as separate jobs"},
    SiteKey{kParameters, "bf_interval", kSimulated, "seconds between backfill passes"},
    SiteKey{kParameters, "bf_job_part_count_reserve", kSimulated, "nodes are kept for so many jobs of each partition"},
    SiteKey{kParameters, "bf_licenses", kNear, "jobs wait for licences, but none are kept for them ahead of time"},
    SiteKey{kParameters, "bf_max_job_array_resv", kSimulated, "nodes are kept for so many tasks of an array (20)"},
    SiteKey{kParameters, "bf_max_job_assoc", kSimulated, "a pass looks at so many jobs of an association"},
    SiteKey{kParameters, "bf_max_job_part", kSimulated, "a pass looks at so many jobs of a partition"},
    SiteKey{kParameters, "bf_max_job_start", kSimulated, "a pass starts so many jobs"},
    SiteKey{kParameters, "bf_max_job_test", kSimulated, "a pass looks at so many jobs; an array counts once"},
    SiteKey{kParameters, "bf_max_job_user", kSimulated, "a pass looks at so many jobs of a user"},
    SiteKey{kParameters, "bf_max_job_user_part", kSimulated, "a pass looks at so many jobs of a user in a partition"},
    SiteKey{kParameters, "bf_max_time", kUnknown, "a pass that takes longer ends early: jobs far down a long queue may start later"},
    SiteKey{kParameters, "bf_min_age_reserve", kSimulated, "nodes are kept only for jobs that have waited so long"},
    SiteKey{kParameters, "bf_min_prio_reserve", kSimulated, "nodes are kept only for jobs of such a priority"},
    SiteKey{kParameters, "bf_node_space_size", kUnknown, "Slurm's plan may have fewer steps: jobs far down a long queue may start later"},
    SiteKey{kParameters, "bf_one_resv_per_job", kSimulated, "nodes are kept in one partition of a job and not in each"},
    SiteKey{kParameters, "bf_resolution", kSimulated, "the grid of backfill's plan"},
    SiteKey{kParameters, "bf_running_job_reserve", kNear, "ends of jobs on whole nodes are planned to the second"},
    SiteKey{kParameters, "bf_topopt_enable", kUnknown, "Slurm may delay jobs for a better place in the topology"},
    SiteKey{kParameters, "bf_topopt_iterations", kUnknown, "Slurm may delay jobs for a better place in the topology"},
    SiteKey{kParameters, "bf_window", kSimulated, "how far backfill plans ahead"},
    SiteKey{kParameters, "bf_window_linear", kSimulated, "how exactly backfill looks at the ends of running jobs"},
    SiteKey{kParameters, "bf_yield_interval", kUnknown, "a pass may take longer on a busy controller"},
    SiteKey{kParameters, "bf_yield_rpc_cnt", kUnknown, "a pass may take longer on a busy controller"},
    SiteKey{kParameters, "bf_yield_sleep", kUnknown, "a pass may take longer on a busy controller"},
    SiteKey{kParameters, "default_queue_depth", kSimulated, "the main loop looks at so many jobs"},
    SiteKey{kParameters, "defer", kNear, "a job is simulated as if considered on arrival: up to a minute early"},
    SiteKey{kParameters, "defer_batch", kNear, "a job is simulated as if considered on arrival: up to a minute early"},
    SiteKey{kParameters, "delay_boot", kUnknown, "Slurm may wait for nodes that need no reboot"},
    SiteKey{kParameters, "extra_constraints", kUnknown, "--extra is not looked at"},
    SiteKey{kParameters, "max_array_tasks", kNear, "tasks behind the first 2,000 of an array are not simulated"},
    SiteKey{kParameters, "max_rpc_cnt", kUnknown, "no pass runs while the controller is this busy"},
    SiteKey{kParameters, "max_sched_time", kUnknown, "a main loop that takes longer ends early"},
    SiteKey{kParameters, "max_switch_wait", kUnknown, "how long --switches may wait"},
    SiteKey{kParameters, "pack_serial_at_end", kUnknown, "jobs of one CPU go to other nodes than forecast"},
    SiteKey{kParameters, "partition_job_depth", kSimulated, "the main loop looks at so many jobs of a partition"},
    SiteKey{kParameters, "preempt_reorder_count", kUnknown, "which of several weaker jobs lose their nodes"},
    SiteKey{kParameters, "preempt_strict_order", kUnknown, "which of several weaker jobs lose their nodes"},
    SiteKey{kParameters, "preempt_youngest_first", kSimulated, "the youngest of weaker jobs lose their nodes"},
    SiteKey{kParameters, "reduce_completing_frag", kUnknown, "Slurm waits for nodes to be cleaned up before it looks at more jobs"},
    SiteKey{kParameters, "requeue_delay", kNear, "a job that lost its nodes waits 121 s"},
    SiteKey{kParameters, "sched_interval", kNear, "the main loop runs when something happens; -1: never"},
    SiteKey{kParameters, "sched_max_job_start", kUnknown, "a burst of starts is spread over more main loops"},
    SiteKey{kParameters, "sched_min_interval", kUnknown, "a start may come a moment later"},
    SiteKey{kParameters, "time_min_as_soft_limit", kUnknown, "--time-min is not looked at: such jobs may start earlier"},
    SiteKey{kParameters, "whole_hetjob", kUnknown, "parts of a heterogeneous job are simulated as separate jobs"},

    SiteKey{"slurm.conf", "Licenses", kSimulated, "jobs wait for them; what other clusters use of remote ones is not seen",
            [](const Snapshot& s) {
              return Named(s.config.licenses, [](const License& l) { return std::to_string(l.total) + (l.remote ? " (remote)" : ""); });
            }},
    SiteKey{"slurm.conf", "OverTimeLimit", kSimulated, "jobs may run so much longer than their limit",
            [](const Snapshot& s) { return s.config.over_time_limit_seconds.value_or(0) > 0 ? SecondsText(s.config.over_time_limit_seconds) : ""; }},
    SiteKey{"slurm.conf", "PreemptMode", kNear, "CANCEL, REQUEUE, SUSPEND, PRIORITY and WITHIN are simulated; GANG, GraceTime and PreemptExemptTime are not",
            [](const Snapshot& s) { return EqualIgnoringCase(s.config.preempt_mode, "OFF") ? "" : s.config.preempt_mode; }},
    SiteKey{"slurm.conf", "PreemptType", kSimulated, "by QOS or by PriorityTier",
            [](const Snapshot& s) { return ContainsIgnoringCase(s.config.preempt_type, "none") ? "" : s.config.preempt_type; }},
    SiteKey{"slurm.conf", "PrivateData", kNear, "what the collector's own user does not see is missing in the forecast (hidden)",
            [](const Snapshot& s) { return s.config.private_data == "none" ? "" : s.config.private_data; }},
    SiteKey{"slurm.conf", "hidden by PrivateData", kUnknown, "jobs that are not seen count as of usual length: make gpuadvised's user an operator",
            [](const Snapshot& s) { return s.config.hidden.empty() ? "" : JoinNames(s.config.hidden); }},
    SiteKey{"slurm.conf", "PriorityType", kNear, "priorities as multifactor counts them; fair share follows what runs, in a queue of at most 2,000 jobs",
            [](const Snapshot& s) { return s.config.priority_type; }},
    SiteKey{"slurm.conf", "ResumeTimeout", kSimulated, "a powered-down node starts a job so much later, at the latest",
            [](const Snapshot& s) { return SecondsText(s.config.resume_timeout_seconds); }},
    SiteKey{"slurm.conf", "SchedulerType", kSimulated, "backfill, or builtin without it", [](const Snapshot& s) { return s.config.scheduler_type; }},
    SiteKey{"slurm.conf", "SelectType", kSimulated, "cons_tres and cons_res; linear hands out whole nodes", [](const Snapshot& s) { return s.config.select_type; }},
    SiteKey{"slurm.conf", "SelectTypeParameters", kNear, "CPUs in whole cores, memory; CR_Socket is counted by core and not by socket",
            [](const Snapshot& s) { return s.config.select_type_parameters; }},
    SiteKey{"slurm.conf", "SuspendTime", kSimulated, "idle nodes are powered down and stay usable",
            [](const Snapshot& s) { return SecondsText(s.config.suspend_time_seconds); }},
    SiteKey{"slurm.conf", "SuspendTimeout", kSimulated, "a node that is powering down ends that first",
            [](const Snapshot& s) { return SecondsText(s.config.suspend_timeout_seconds); }},
    SiteKey{"slurm.conf", "TopologyParam", kUnknown, "nodes are chosen without the topology", [](const Snapshot& s) { return s.config.topology_param; }},
    SiteKey{"slurm.conf", "TopologyPlugin", kUnknown, "nodes are chosen without the topology: --switches, --segment and jobs of several blocks may wait longer",
            [](const Snapshot& s) { return ContainsIgnoringCase(s.config.topology_plugin, "tree") || ContainsIgnoringCase(s.config.topology_plugin, "block") ? s.config.topology_plugin : ""; }},

    SiteKey{"partition", "AllowAccounts, AllowQos, DenyAccounts, DenyQos", kSimulated, "who may run there",
            [](const Snapshot& s) {
              return Named(s.partitions, [](const Partition& p) {
                const bool any = !p.allow_accounts.empty() || !p.allow_qos.empty() || !p.deny_accounts.empty() || !p.deny_qos.empty();
                return std::string(any ? "yes" : "");
              });
            }},
    SiteKey{"partition", "Exclusive", kNear, "NODE: whole nodes; USER and TOPO: counted as whole nodes, so jobs of one user wait for each other too long",
            [](const Snapshot& s) { return Named(s.partitions, [](const Partition& p) { return p.exclusive ? std::string("node") : p.exclusive_to; }); }},
    SiteKey{"partition", "MaxCPUsPerNode", kSimulated, "bounds all jobs of the partition on a node; of two such partitions on one node, the first",
            [](const Snapshot& s) { return Named(s.partitions, [](const Partition& p) { return NumberText(p.max_cpus_per_node); }); }},
    SiteKey{"partition", "MaxCPUsPerSocket", kUnknown, "jobs may get fewer CPUs of a node, and wait longer",
            [](const Snapshot& s) { return Named(s.partitions, [](const Partition& p) { return NumberText(p.max_cpus_per_socket); }); }},
    SiteKey{"partition", "MaxNodes", kSimulated, "a job for more nodes is refused",
            [](const Snapshot& s) { return Named(s.partitions, [](const Partition& p) { return NumberText(p.max_nodes); }); }},
    SiteKey{"partition", "OverSubscribe", kNear, "FORCE:n: n jobs share each CPU and no GPU, where all partitions of a node have it; YES:n: jobs with -s do not share",
            [](const Snapshot& s) { return Named(s.partitions, [](const Partition& p) { return p.over_subscribe == "NO" ? "" : p.over_subscribe; }); }},
    SiteKey{"partition", "PriorityTier", kSimulated, "jobs of a higher tier come first",
            [](const Snapshot& s) { return Named(s.partitions, [](const Partition& p) { return p.priority_tier == 1 ? "" : std::to_string(p.priority_tier); }); }},
    SiteKey{"partition", "ResumeTimeout", kSimulated, "as the cluster's, for its nodes",
            [](const Snapshot& s) { return Named(s.partitions, [](const Partition& p) { return SecondsText(p.resume_timeout_seconds); }); }},
    SiteKey{"partition", "Topology", kUnknown, "nodes are chosen without the topology",
            [](const Snapshot& s) { return Named(s.partitions, [](const Partition& p) { return p.topology; }); }},

    SiteKey{"reservation", "part of a node", kNear, "only what it holds is withheld; over several nodes it is spread evenly",
            [](const Snapshot& s) { return Named(s.reservations, [&](const Reservation& r) { return std::string(HoldsPart(s, r) ? "yes" : ""); }); }},
    SiteKey{"reservation", "FLEX", kUnknown, "its jobs may start before it, and outside: earlier than forecast", [](const Snapshot& s) { return Flagged(s, "FLEX"); }},
    SiteKey{"reservation", "Groups", kUnknown, "who is in a group is not known: it counts as admitted",
            [](const Snapshot& s) { return Named(s.reservations, [](const Reservation& r) { return r.groups.empty() ? "" : JoinNames(r.groups); }); }},
    SiteKey{"reservation", "Licenses", kNear, "kept for its jobs while it lasts; not ahead of its begin",
            [](const Snapshot& s) { return Named(s.reservations, [](const Reservation& r) { return std::string(r.licenses.empty() ? "" : "yes"); }); }},
    SiteKey{"reservation", "MAGNETIC", kSimulated, "attracts the jobs that it admits", [](const Snapshot& s) { return Flagged(s, "MAGNETIC"); }},
    SiteKey{"reservation", "nodes not chosen yet", kUnknown, "it takes nodes that are counted as free",
            [](const Snapshot& s) { return Named(s.reservations, [](const Reservation& r) { return r.nodes.empty() ? Count(r.node_count, "node") : ""; }); }},
    SiteKey{"reservation", "TIME_FLOAT", kSimulated, "longer jobs never get its nodes", [](const Snapshot& s) { return Flagged(s, "TIME_FLOAT"); }},

    SiteKey{"node", "power saving", kSimulated, "nodes that are down to save power start jobs after ResumeTimeout",
            [](const Snapshot& s) {
              return Count(std::count_if(s.nodes.begin(), s.nodes.end(), [](const Node& n) { return n.state.Has(NodeFlag::kPoweredDown); }), "powered-down node");
            }},
    SiteKey{"node", "gres/mps", kSimulated, "a GPU is handed out whole or as mps",
            [](const Snapshot& s) { return Count(std::count_if(s.nodes.begin(), s.nodes.end(), [](const Node& n) { return n.mps > 0; }), "node"); }},
    SiteKey{"node", "gres/shard", kSimulated, "a GPU is handed out whole or as shards",
            [](const Snapshot& s) { return Count(std::count_if(s.nodes.begin(), s.nodes.end(), [](const Node& n) { return n.shards > 0; }), "node"); }},

    SiteKey{"job", "--requeue=expedite", kUnknown, "when such a job fails, it starts again before all others",
            [](const Snapshot& s) { return Count(std::count_if(s.jobs.begin(), s.jobs.end(), [](const Job& j) { return j.expedited_requeue && HoldsNodes(j); }), "running job"); }},
    SiteKey{"job", "--switches, --segment", kUnknown, "such jobs may wait longer",
            [](const Snapshot& s) { return Count(std::count_if(s.jobs.begin(), s.jobs.end(), [](const Job& j) { return j.request.switches > 0 || j.request.segment_nodes > 0; }), "job"); }},
};
// clang-format on

// Value of a word in SchedulerParameters, "yes" without a value, "" if missing.
std::string WordValue(std::string_view parameters, std::string_view name) {
  for (const std::string_view part : SplitAt(parameters, ',')) {
    const std::string_view word = Trim(part);
    const size_t equals = word.find('=');
    if (!EqualIgnoringCase(word.substr(0, equals), name)) continue;
    return equals == std::string_view::npos ? "yes" : std::string(word.substr(equals + 1));
  }
  return "";
}

}  // namespace

std::string_view ToWords(Treatment treatment) {
  switch (treatment) {
    case Treatment::kSimulated:
      return "simulated";
    case Treatment::kApproximated:
      return "approximated";
    case Treatment::kNotKnown:
      return "not known";
  }
  return "not known";
}

std::span<const SiteKey> SiteKeys() { return kKeys; }

std::vector<SiteSetting> FindSiteSettings(const Snapshot& snapshot) {
  std::vector<SiteSetting> settings;
  const std::string& parameters = snapshot.config.scheduler_parameters;
  for (const SiteKey& key : kKeys) {
    const std::string value =
        key.value == nullptr ? WordValue(parameters, key.key) : key.value(snapshot);
    if (value.empty()) continue;
    settings.push_back({std::string(key.place), std::string(key.key), value, key.treatment,
                        std::string(key.effect)});
  }
  for (const std::string_view part : SplitAt(parameters, ',')) {
    const std::string_view word = Trim(part);
    const std::string_view name = word.substr(0, word.find('='));
    if (name.empty() || name == "(null)") continue;
    const bool known = std::any_of(kKeys.begin(), kKeys.end(), [&](const SiteKey& key) {
      return key.value == nullptr && EqualIgnoringCase(key.key, name);
    });
    if (known) continue;
    settings.push_back({std::string(kParameters), std::string(name), WordValue(parameters, name),
                        Treatment::kNotKnown, "gpuadvise does not know this word"});
  }
  return settings;
}

std::string SiteKeysAsMarkdown() {
  std::string text = "| where | key | forecast | effect |\n|---|---|---|---|\n";
  for (const SiteKey& key : kKeys) {
    text += fmt::format("| {} | `{}` | {} | {} |\n", key.place, key.key, ToWords(key.treatment),
                        key.effect);
  }
  return text;
}

}  // namespace gpuadvise
