// Priority of a new job as in Slurm 22.05.
//
// The formula is from the multifactor documentation; open points follow slurmctld: a floating-point
// sum truncated to a whole number, at least 1 (0 means held); partition factors divided by their
// maximum and by at least 1, QOS and association factors by their maximum; TRES divided by the
// partition's totals; job size is the mean of the shares of nodes and CPUs, inverted by
// PriorityFavorSmall; with SMALL_RELATIVE_TO_TIME, CPUs per minute of time limit over all CPUs
// instead. Age is 0: the job is new. A site plugin's own part (site factor) is unknown and counts
// 0.
//
// Limits: slurmctld recomputes job size and TRES after trying a job on real nodes, so rounded-up
// CPUs may shift it. Memory for the system (MemSpecLimit) counts in Slurm's partition total, but
// not here. The damping of classic fair share is taken as 1, and a TRES weight on billing as 0.
#include "common/slurm/priority.h"

#include <algorithm>
#include <cmath>

#include "common/slurm/policy.h"
#include "common/slurm/tres.h"

namespace gpuadvise {
namespace {

constexpr int64_t kTopBasicPriority = 0xffff0000 - 1;  // priority/basic's first value
constexpr double kHighestPriority = 4294967295.0;
constexpr double kNoUsageYet = 4294967294.0;  // NO_VAL

// Fair Tree factors are ranks divided by the number of users, printed with six digits. Restores the
// rank: otherwise a product just below a whole number would be truncated.
double ExactFairShare(double factor, int64_t users) {
  if (users <= 0) return factor;
  const double count = static_cast<double>(users);
  const double rank = std::round(factor * count);
  return std::abs(rank / count - factor) < 1e-6 ? rank / count : factor;
}

// The classic factor halves for each own share used. Slurm's tools do not print it.
double ClassicFairShare(const Association& association) {
  if (association.fair_share > 0) return association.fair_share;
  if (association.shares_normalised <= 0) return 0;
  const bool used = association.usage_effective < kNoUsageYet;
  return used ? std::exp2(-association.usage_effective / association.shares_normalised) : 1;
}

double SizeRelativeToTime(const PriorityScale& scale, const JobRequest& request,
                          const Partition& partition) {
  const auto cpus = static_cast<double>(scale.cpus);
  double size = static_cast<double>(request.nodes_min) * cpus / static_cast<double>(scale.nodes);
  size = std::max(size, static_cast<double>(request.cpus));
  SlurmNumber limit = request.time_limit_seconds;
  if (limit.absent()) limit = partition.max_time_seconds;
  const int64_t minutes = limit.has_value() ? (limit.value() + 59) / 60 : 0xffffffff;
  return size / static_cast<double>(std::max<int64_t>(minutes, 1)) / cpus;
}

double SizeFactor(const SchedulerConfig& config, const PriorityScale& scale,
                  const JobRequest& request, const Partition& partition) {
  if (scale.nodes == 0 || scale.cpus == 0) return 0;
  double factor = 0;
  if (HasFlag(config.priority_flags, "SMALL_RELATIVE_TO_TIME")) {
    factor = SizeRelativeToTime(scale, request, partition);
    if (config.priority_favor_small) factor = 1 - factor;
  } else {
    const auto nodes = static_cast<double>(scale.nodes);
    const auto cpus = static_cast<double>(scale.cpus);
    const auto my_nodes = static_cast<double>(request.nodes_min);
    const auto my_cpus = static_cast<double>(request.cpus);
    const bool small = config.priority_favor_small;
    factor = (small ? nodes - my_nodes : my_nodes) / nodes;
    if (request.cpus > 0) factor = (factor + (small ? cpus - my_cpus : my_cpus) / cpus) / 2;
  }
  return std::clamp(factor, 0.0, 1.0);
}

// Whether the factor of this flag is not normalised. Slurm prints all such flags as one word.
bool IsRaw(const SchedulerConfig& config, std::string_view flag) {
  return HasFlag(config.priority_flags, flag) || HasFlag(config.priority_flags, "NO_NORMAL_ALL");
}

double TresSum(const SchedulerConfig& config, const PriorityScale& scale, const JobRequest& request,
               const Partition& partition) {
  if (config.weights.tres.empty()) return 0;
  const TresCounts wanted = RequestTres(request, partition, config);
  const auto totals = scale.partition_tres.find(partition.name);
  const bool raw = IsRaw(config, "NO_NORMAL_TRES");
  double sum = 0;
  for (const auto& [name, weight] : config.weights.tres) {
    const std::string tres = CanonicalTres(name);
    const auto count = wanted.find(tres);
    if (count == wanted.end()) continue;
    double factor = static_cast<double>(count->second);
    if (!raw) {
      if (totals == scale.partition_tres.end()) continue;
      const auto total = totals->second.find(tres);
      if (total == totals->second.end() || total->second == 0) continue;
      factor /= static_cast<double>(total->second);
    }
    sum += factor * weight;
  }
  return sum;
}

double Share(int64_t value, int64_t most, bool raw) {
  if (raw) return static_cast<double>(value);
  return most > 0 ? static_cast<double>(value) / static_cast<double>(most) : 0;
}

PriorityFactors Basic(const PriorityScale& scale) {
  PriorityFactors factors;
  factors.total = scale.lowest_basic >= 2 ? scale.lowest_basic - 1 : kTopBasicPriority;
  if (scale.lowest_basic == 1) factors.total = 1;
  return factors;
}

}  // namespace

PriorityScale MakePriorityScale(const Snapshot& snapshot) {
  PriorityScale scale;
  scale.nodes = static_cast<int64_t>(snapshot.nodes.size());
  for (const Node& node : snapshot.nodes) scale.cpus += node.cpus;
  for (const Qos& qos : snapshot.qos) scale.most_qos = std::max(scale.most_qos, qos.priority);
  for (const Association& assoc : snapshot.associations) {
    scale.most_association = std::max(scale.most_association, assoc.priority);
    if (!assoc.user.empty()) ++scale.user_associations;
  }
  for (const Partition& partition : snapshot.partitions) {
    scale.most_partition = std::max(scale.most_partition, partition.priority_job_factor);
    if (!snapshot.config.weights.tres.empty()) {
      scale.partition_tres[partition.name] = PartitionTres(snapshot, partition);
    }
  }
  for (const Job& job : snapshot.jobs) {
    if (job.priority <= 0) continue;
    if (scale.lowest_basic == 0 || job.priority < scale.lowest_basic) {
      scale.lowest_basic = job.priority;
    }
  }
  return scale;
}

double FairShareOf(const Association& user, const SchedulerConfig& config, int64_t users) {
  return HasFlag(config.priority_flags, "NO_FAIR_TREE") ? ClassicFairShare(user)
                                                        : ExactFairShare(user.fair_share, users);
}

PriorityFactors PredictPriority(const Snapshot& snapshot, const PriorityScale& scale,
                                const JobRequest& request, const Partition& partition,
                                const Submitter& submitter) {
  const SchedulerConfig& config = snapshot.config;
  if (config.priority_type != "priority/multifactor") return Basic(scale);
  const PriorityWeights& weights = config.weights;
  const auto weighted = [](int64_t weight, double factor) {
    return static_cast<double>(weight) * factor;
  };
  const auto raw = [&](std::string_view flag) { return IsRaw(config, flag); };
  PriorityFactors factors;
  const Association* assoc = FindAssociation(snapshot, submitter, partition.name);
  if (assoc != nullptr) {
    factors.fair_share =
        weighted(weights.fair_share, FairShareOf(*assoc, config, scale.user_associations));
    factors.association =
        weighted(weights.association,
                 Share(assoc->priority, scale.most_association, raw("NO_NORMAL_ASSOC")));
  }
  if (const Qos* qos = FindQos(snapshot, EffectiveQos(snapshot, submitter, assoc))) {
    factors.qos = weighted(weights.qos, Share(qos->priority, scale.most_qos, raw("NO_NORMAL_QOS")));
  }
  factors.partition =
      weighted(weights.partition,
               Share(partition.priority_job_factor, scale.most_partition, raw("NO_NORMAL_PART")));
  if (weights.job_size != 0) {
    factors.job_size = weighted(weights.job_size, SizeFactor(config, scale, request, partition));
  }
  factors.tres = TresSum(config, scale, request, partition);
  factors.nice = request.nice;
  // Added in Slurm's order, for identical rounding.
  const double sum = factors.age + factors.association + factors.fair_share + factors.job_size +
                     factors.partition + factors.qos + factors.tres -
                     static_cast<double>(factors.nice);
  factors.total = static_cast<int64_t>(std::clamp(sum, 1.0, kHighestPriority));
  return factors;
}

PriorityFactors PredictPriority(const Snapshot& snapshot, const JobRequest& request,
                                const Partition& partition, const Submitter& submitter) {
  return PredictPriority(snapshot, MakePriorityScale(snapshot), request, partition, submitter);
}

}  // namespace gpuadvise
