#include "common/one_job.h"

#include <algorithm>
#include <set>

#include "common/gres.h"

namespace gpuadvise {
namespace {

std::vector<std::string> PartitionsOf(const std::vector<const GpuPool*>& pools) {
  std::vector<std::string> names;
  for (const GpuPool* pool : pools) {
    const std::string& name = pool->partition->name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

bool OfOneType(const std::vector<const GpuPool*>& pools) {
  return std::all_of(pools.begin(), pools.end(), [&](const GpuPool* pool) {
    return pool->gres_type == pools.front()->gres_type && pool->model == pools.front()->model;
  });
}

GpuCounts Typed(GpuCounts counts, const std::string& type) {
  for (GpuCount& count : counts) count.type = type;
  return counts;
}

bool Has(const Node& node, const std::string& feature) {
  return std::find(node.features.begin(), node.features.end(), feature) != node.features.end();
}

// Brackets, operators and blanks mean something to -C, and features of Slurm have none.
bool IsPlainWord(const std::string& feature) {
  return !feature.empty() && feature.find_first_of("[](){}&|*,: \t") == std::string::npos;
}

}  // namespace

bool NamesAType(const GpuCounts& counts) {
  return std::any_of(counts.begin(), counts.end(),
                     [](const GpuCount& count) { return !count.type.empty(); });
}

Result<OneJob> OneJob::Of(const Snapshot& snapshot, const JobRequest& asked) {
  Result<FeatureExpression> features = FeatureExpression::Parse(asked.features);
  if (!features) return tl::unexpected<Error>(std::move(features.error()));
  return OneJob(snapshot, asked, std::move(*features));
}

OneJob::OneJob(const Snapshot& snapshot, const JobRequest& asked, FeatureExpression features)
    : asked_(asked),
      features_(std::move(features)),
      types_fixed_(NamesAType(asked.gpus_per_node) || NamesAType(asked.gpus_total)) {
  for (const Node& node : snapshot.nodes) nodes_[node.name] = &node;
  for (const Partition& partition : snapshot.partitions) partitions_[partition.name] = &partition;
}

bool OneJob::MayHaveSeveralTypes() const {
  return asked_.nodes_min <= 1 && asked_.tasks <= 1 && asked_.gpus_total.empty();
}

// Whether Slurm could place a part of the job there, as far as GPUs and what the user fixed say.
bool OneJob::CouldServe(const Node& node) const {
  const auto& excluded = asked_.excluded_nodes;
  const int64_t wanted = std::max<int64_t>(TotalGpus(asked_.gpus_per_node), 1);
  return TotalGpus(node.gpus) >= wanted && features_.Accepts(node.features) &&
         std::find(excluded.begin(), excluded.end(), node.name) == excluded.end();
}

bool OneJob::RunsOnlyOn(const std::vector<const GpuPool*>& pools, const JobOptions& options) const {
  const Result<FeatureExpression> wanted = FeatureExpression::Parse(options.constraint);
  if (!wanted) return false;
  std::set<std::pair<const Partition*, const Node*>> good;
  for (const GpuPool* pool : pools) {
    for (const Node* node : pool->nodes) good.emplace(pool->partition, node);
  }
  for (const std::string& name : options.partitions) {
    const auto named = partitions_.find(name);
    if (named == partitions_.end()) return false;
    const Partition* partition = named->second;
    for (const std::string& member : partition->nodes) {
      const auto found = nodes_.find(member);
      if (found == nodes_.end()) continue;
      const Node& node = *found->second;
      const bool matches =
          CouldServe(node) && wanted->Accepts(node.features) &&
          (options.gres_type.empty() || GpusOfType(node.gpus, options.gres_type) > 0);
      if (!matches) continue;
      const bool mixed = options.gres_type.empty() && node.gpus.size() > 1;
      if (mixed || !good.contains({partition, &node})) return false;
    }
  }
  return true;
}

// For each kind of GPU a feature that all its nodes have and no unwanted node of the partitions.
std::optional<std::string> OneJob::Constraint(const std::vector<const GpuPool*>& pools,
                                              const JobOptions& options) const {
  std::vector<std::string> chosen;
  for (const GpuPool* pool : pools) {
    std::string feature;
    for (const std::string& each : pool->nodes.front()->features) {
      JobOptions with = options;
      with.constraint = each;
      const bool of_all = std::all_of(pool->nodes.begin(), pool->nodes.end(),
                                      [&](const Node* node) { return Has(*node, each); });
      if (!IsPlainWord(each) || !of_all || !RunsOnlyOn(pools, with)) continue;
      feature = each;
      break;
    }
    if (feature.empty()) return std::nullopt;
    if (std::find(chosen.begin(), chosen.end(), feature) == chosen.end()) chosen.push_back(feature);
  }
  std::string joined;
  for (const std::string& feature : chosen) joined += (joined.empty() ? "" : "|") + feature;
  return joined;
}

std::optional<JobOptions> OneJob::For(const std::vector<const GpuPool*>& pools) const {
  JobOptions options{asked_.partitions, "", ""};
  if (options.partitions.empty()) options.partitions = PartitionsOf(pools);
  if (types_fixed_) return options;
  if (OfOneType(pools) && !pools.front()->gres_type.empty()) {
    options.gres_type = pools.front()->gres_type;
    return options;
  }
  if (!OfOneType(pools) && !MayHaveSeveralTypes()) return std::nullopt;
  if (RunsOnlyOn(pools, options)) return options;
  if (!asked_.features.empty()) return std::nullopt;
  const auto constraint = Constraint(pools, options);
  if (!constraint) return std::nullopt;
  options.constraint = *constraint;
  return options;
}

JobRequest OneJob::RequestWith(const JobOptions& options) const {
  JobRequest request = asked_;
  request.partitions = options.partitions;
  if (!options.constraint.empty()) request.features = options.constraint;
  if (!types_fixed_) {
    request.gpus_per_node = Typed(std::move(request.gpus_per_node), options.gres_type);
    request.gpus_total = Typed(std::move(request.gpus_total), options.gres_type);
  }
  return request;
}

}  // namespace gpuadvise
