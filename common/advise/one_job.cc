#include "common/advise/one_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "common/slurm/gres.h"

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

Result<OneJob> OneJob::Build(const Snapshot& snapshot, const JobRequest& asked) {
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

// Nodes on which Slurm could start the job with `options` although they are in none of `pools`, or
// where it could mix kinds.
std::vector<const Node*> OneJob::Unwanted(const std::vector<const GpuPool*>& pools,
                                          const std::vector<std::string>& partitions) const {
  std::set<std::pair<const Partition*, const Node*>> good;
  for (const GpuPool* pool : pools) {
    for (const Node* node : pool->nodes) good.emplace(pool->partition, node);
  }
  std::vector<const Node*> unwanted;
  for (const std::string& name : partitions) {
    const auto partition = partitions_.find(name);
    if (partition == partitions_.end()) continue;  // Slurm refuses the job
    for (const std::string& member : partition->second->nodes) {
      const auto found = nodes_.find(member);
      if (found == nodes_.end() || !CouldServe(*found->second)) continue;
      const Node* node = found->second;
      if (node->gpus.size() > 1 || !good.contains({partition->second, node})) {
        unwanted.push_back(node);
      }
    }
  }
  return unwanted;
}

// For each kind of GPU a feature that all its nodes have and no unwanted one.
std::optional<std::string> OneJob::Constraint(const std::vector<const GpuPool*>& pools,
                                              const std::vector<const Node*>& unwanted) const {
  std::set<std::string> spoilt;
  for (const Node* node : unwanted) spoilt.insert(node->features.begin(), node->features.end());
  std::vector<std::string> chosen;
  for (const GpuPool* pool : pools) {
    const auto& features = pool->nodes.front()->features;
    const auto fits = std::find_if(features.begin(), features.end(), [&](const std::string& each) {
      return IsPlainWord(each) && !spoilt.contains(each) &&
             std::all_of(pool->nodes.begin(), pool->nodes.end(),
                         [&](const Node* node) { return Has(*node, each); });
    });
    if (fits == features.end()) return std::nullopt;
    if (std::find(chosen.begin(), chosen.end(), *fits) == chosen.end()) chosen.push_back(*fits);
  }
  return fmt::format("{}", fmt::join(chosen, "|"));
}

std::optional<JobOptions> OneJob::OptionsFor(const std::vector<const GpuPool*>& pools) const {
  JobOptions options{asked_.partitions, "", ""};
  if (options.partitions.empty()) options.partitions = PartitionsOf(pools);
  if (types_fixed_) return options;
  if (OfOneType(pools) && !pools.front()->gres_type.empty()) {
    options.gres_type = pools.front()->gres_type;
    return options;
  }
  if (!OfOneType(pools) && !MayHaveSeveralTypes()) return std::nullopt;
  const std::vector<const Node*> unwanted = Unwanted(pools, options.partitions);
  if (unwanted.empty()) return options;
  if (!asked_.features.empty()) return std::nullopt;
  const auto constraint = Constraint(pools, unwanted);
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
