#include "common/slurm/pending_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace gpuadvise {
namespace {

struct Known {
  std::string_view word;
  std::string_view meaning;
  std::string_view clears;
};

// Sources: slurm.h (enum job_state_reason) and https://slurm.schedmd.com/resource_limits.html.
constexpr Known kKnown[] = {
    {"None", "Slurm has not considered it yet", "within seconds"},
    {"Priority", "other jobs are ahead of it", "when the jobs ahead have started"},
    {"Resources", "it is next in line and waits for free nodes", "when running jobs end"},
    {"Dependency", "it waits for other jobs to end (--dependency)",
     "when those jobs have ended as required"},
    {"DependencyNeverSatisfied", "a job it depends on did not end as required",
     "never; scancel it, or change --dependency with scontrol update"},
    {"BeginTime", "it was submitted to start later (--begin)", "at its begin time"},
    {"JobHeldUser", "its owner holds it", "scontrol release JOBID"},
    {"JobHeldAdmin", "an administrator holds it", "ask the administrators to release it"},
    {"JobHoldMaxRequeue", "it was requeued too often and is held", "scontrol release JOBID"},
    {"PartitionDown", "its partition is down", "when the administrators bring it up"},
    {"PartitionInactive", "its partition accepts no jobs now",
     "when the administrators activate it"},
    {"PartitionNodeLimit",
     "it asks for more or fewer nodes than the partition allows, or for nodes that do not exist",
     "scontrol update JobId=JOBID NumNodes=…, or when nodes come back"},
    {"PartitionTimeLimit", "its time limit exceeds the partition's",
     "scontrol update JobId=JOBID TimeLimit=…, or another partition"},
    {"Licenses", "licences it needs are in use", "when jobs with those licences end"},
    {"Reservation", "its reservation has not begun", "when the reservation begins"},
    {"ReservationDeleted", "its reservation is gone",
     "scontrol update JobId=JOBID ReservationName=…"},
    {"ReqNodeNotAvail", "nodes it needs are down, drained or reserved",
     "when they come back, or without --nodelist"},
    {"FrontEndDown", "no front end node can run it", "when the administrators bring one up"},
    {"SchedDefer", "the site has Slurm schedule in rounds only (SchedulerParameters=defer)",
     "at the next round"},
    {"DeadLine", "it can no longer meet its deadline", "scontrol update JobId=JOBID Deadline=…"},
    {"BadConstraints", "no node can ever satisfy its request",
     "scancel it and ask for less, or for other features"},
    {"InvalidAccount", "its account does not exist", "scontrol update JobId=JOBID Account=…"},
    {"InvalidQOS", "its QOS does not exist or is not allowed", "scontrol update JobId=JOBID QOS=…"},
    {"AccountNotAllowed", "its account may not use this partition",
     "another partition or account (scontrol update)"},
    {"QOSNotAllowed", "its QOS may not be used here", "another QOS or partition (scontrol update)"},
    {"QOSUsageThreshold", "its account is over the QOS's fair-share threshold",
     "as past usage decays"},
    {"Cleaning", "it was requeued and its last run is still being cleaned up", "within minutes"},
    {"Prolog", "its nodes are being prepared", "within minutes"},
    {"JobArrayTaskLimit", "its array runs its maximum number of tasks (%N)",
     "when tasks of it end; scontrol update JobId=JOBID ArrayTaskThrottle=… lets more run"},
    {"NodeDown", "a node that it needs is down", "when it comes back"},
    {"BurstBufferResources", "the burst buffer has no room for it", "when others free it"},
    {"BurstBufferStageIn", "its data is being staged in", "when that is done"},
    {"BurstBufferOperation", "a burst buffer operation failed",
     "scontrol show job JOBID says which"},
    {"PowerNotAvail", "there is not enough power for its nodes", "when others end"},
    {"PowerReserved", "power is reserved for others", "when that reservation ends"},
    {"MaxMemPerLimit", "it asks for more memory per CPU or node than is allowed",
     "scancel it and ask for less memory"},
    {"launch failed requeued held", "its start failed on a node; it is held",
     "scontrol release JOBID; the administrators should look at the node"},
    {"AssociationJobLimit", "its account or user is at the limit of running jobs",
     "when jobs of the same account end"},
    {"AssociationResourceLimit", "its account or user is at a resource limit",
     "when jobs of the same account end"},
    {"AssociationTimeLimit", "its account or user has used up its time",
     "when the administrators grant more, or as past usage decays"},
    {"QOSJobLimit", "its QOS is at its limit of running jobs", "when jobs of the same QOS end"},
    {"QOSResourceLimit", "its QOS is at a resource limit", "when jobs of the same QOS end"},
    {"Nodes_required_for_job_are_DOWN",
     "nodes it needs are down, drained or reserved for higher-priority partitions",
     "when enough nodes are back or free"},
    {"NvidiaImexChannels", "no NVIDIA IMEX channel is free", "when jobs that hold one end"},
    {"MaxPoweredUpNodes", "the site's limit of powered-up nodes is reached",
     "when some are powered down"},
    {"MpiPortsBusy", "the ports for MPI are in use on its nodes", "when jobs there end"},
    {"ReservationInvalid", "its reservation is no longer valid for it",
     "scontrol update JobId=JOBID ReservationName=…"},
    {"Constraints", "no free node has the features it asks for",
     "when nodes with these features become free"},
    {"PartitionConfig", "it exceeds what its partition allows",
     "scontrol update JobId=JOBID Partition=…, or ask for less"},
    {"AccountingPolicy", "an accounting limit holds it back", "when jobs of the same account end"},
    {"FedJobLock", "another cluster of the federation is about to start it", "within seconds"},
    {"QOSTimeLimit", "its QOS has used up its time",
     "when the administrators grant more, or as past usage decays"},
};

// Removes `prefix` from the front of `text`, if present.
bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

struct Resource {
  std::string_view word;
  std::string_view words;
};

constexpr Resource kResources[] = {
    {"CpuRunMins", "CPU minutes in running jobs"},
    {"GRESRunMins", "GPU minutes in running jobs"},
    {"MemoryRunMins", "memory minutes in running jobs"},
    {"NodeRunMins", "node minutes in running jobs"},
    {"BBRunMins", "burst buffer minutes in running jobs"},
    {"BillingRunMins", "billing minutes in running jobs"},
    {"EnergyRunMins", "energy"},
    {"LicenseRunMins", "licence minutes in running jobs"},
    {"UnknownRunMins", "a resource's minutes in running jobs"},
    {"CPURunMinutes", "CPU minutes in running jobs"},
    {"CpuRunMinutes", "CPU minutes in running jobs"},
    {"CPUMinutes", "CPU minutes"},
    {"CpuMinutes", "CPU minutes"},
    {"Cpu", "CPUs"},
    {"CPU", "CPUs"},
    {"GRESRunMinutes", "GPU minutes in running jobs"},
    {"GRESMinutes", "GPU minutes"},
    {"GRES", "GPUs"},
    {"MemRunMinutes", "memory minutes in running jobs"},
    {"MemMinutes", "memory minutes"},
    {"Memory", "memory"},
    {"Mem", "memory"},
    {"NodeRunMinutes", "node minutes in running jobs"},
    {"NodeMinutes", "node minutes"},
    {"Node", "nodes"},
    {"BBRunMinutes", "burst buffer minutes in running jobs"},
    {"BBMinutes", "burst buffer minutes"},
    {"BB", "burst buffer"},
    {"BillingRunMinutes", "billing minutes in running jobs"},
    {"BillingMinutes", "billing minutes"},
    {"Billing", "billing units"},
    {"EnergyMinutes", "energy"},
    {"Energy", "energy"},
    {"LicenseRunMinutes", "licence minutes in running jobs"},
    {"LicenseMinutes", "licence minutes"},
    {"License", "licences"},
    {"UnknownRunMinutes", "a resource's minutes in running jobs"},
    {"UnknownMinutes", "a resource's minutes"},
    {"Unknown", "a resource"},
    {"SubmitJobs", "submitted jobs"},
    {"SubmitJob", "submitted jobs"},
    {"Jobs", "jobs"},
    {"Wall", "time"},
    {"WallDuration", "time"},
};

// Explains "QOSMaxGRESPerUser", "AssocGrpCpuLimit" and similar by their parts.
std::optional<ReasonExplanation> LimitInWords(std::string_view reason) {
  std::string_view rest = reason;
  // Limits per account and user belong to QOS only; some lack the prefix: MaxCpuPerAccount.
  const bool qos =
      Take(rest, "QOS") ||
      (rest.starts_with("Max") && (rest.ends_with("PerAccount") || rest.ends_with("PerUser")));
  if (!qos && !Take(rest, "Assoc")) return std::nullopt;
  const std::string owner = qos ? "its QOS" : "its account";
  enum class Kind { kGroup, kMost, kLeast } kind = Kind::kGroup;
  if (Take(rest, "Max")) {
    kind = Kind::kMost;
  } else if (Take(rest, "Min")) {
    kind = Kind::kLeast;
  } else if (!Take(rest, "Grp")) {
    return std::nullopt;
  }
  std::string_view what = "a resource";
  size_t longest = 0;
  for (const Resource& resource : kResources) {
    if (!rest.starts_with(resource.word) || resource.word.size() < longest) continue;
    longest = resource.word.size();
    what = resource.words;
  }
  const bool amount = what == "memory" || what == "time" || what == "energy" ||
                      what == "burst buffer" || what == "a resource";
  const std::string how = fmt::format("how {} {}", amount ? "much" : "many", what);
  const auto has = [&](std::string_view part) { return rest.find(part) != std::string_view::npos; };
  if (kind == Kind::kLeast) {
    return ReasonExplanation{
        fmt::format("{} requires every job to ask for at least a minimum ({})", owner, what),
        "scancel it and ask for more, or another QOS"};
  }
  if (has("PerJob") || (what == "time" && kind == Kind::kMost)) {
    return ReasonExplanation{fmt::format("{} limits {} per job, and it asks for more", owner, how),
                             "ask for less (scontrol update), or another QOS"};
  }
  if (has("PerNode")) {
    return ReasonExplanation{fmt::format("{} limits {} per job on one node", owner, how),
                             "ask for less per node, or another QOS"};
  }
  const bool used_up = has("Minutes") || has("RunMins") || what == "time" || what == "energy";
  if (has("PerUser") || (kind == Kind::kMost && !has("PerAccount"))) {
    return ReasonExplanation{fmt::format("{} limits {} per user", owner, how),
                             used_up ? "as past usage decays" : "when jobs of the same user end"};
  }
  if (has("PerAccount")) {
    return ReasonExplanation{
        fmt::format("{} limits {} per account", owner, how),
        used_up ? "as past usage decays" : "when jobs of the same account end"};
  }
  return ReasonExplanation{
      fmt::format("{} limits {} in total", owner, how),
      used_up ? "as past usage decays, or when the administrators grant more"
              : fmt::format("when jobs of {} end", qos ? "the same QOS" : "the same account")};
}

}  // namespace

ReasonExplanation ExplainPendingReason(std::string_view reason) {
  while (!reason.empty() && (reason.front() == '(' || reason.front() == ' ')) {
    reason.remove_prefix(1);
  }
  std::string_view word = reason.substr(0, reason.find_first_of(",)"));
  while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
  if (word.empty()) word = "None";
  std::string joined(word);  // words are joined as squeue does
  std::replace(joined.begin(), joined.end(), ' ', '_');
  const auto* found = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& known) {
    return known.word == word || known.word == joined;
  });
  if (found != std::end(kKnown)) return {std::string(found->meaning), std::string(found->clears)};
  if (auto limit = LimitInWords(word)) return std::move(*limit);
  return {fmt::format("Slurm says {}", reason), "see the Slurm documentation of job reasons"};
}

}  // namespace gpuadvise
