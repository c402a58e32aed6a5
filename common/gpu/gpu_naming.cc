#include "common/gpu/gpu_naming.h"

#include <algorithm>

#include "common/base/host_list.h"
#include "common/base/text.h"

namespace gpuadvise {
namespace {

// An invalid host list matches nothing; the settings check reports it at start.
bool Matches(const NodeCondition& where, const Node& node,
             const std::vector<std::string>& partitions) {
  if (!where.partition.empty()) return IsOneOf(where.partition, partitions);
  if (!where.feature.empty()) return IsOneOf(where.feature, node.features);
  const auto nodes = ExpandHostList(where.node);
  return nodes && IsOneOf(node.name, *nodes);
}

template <typename Rule>
const Rule* FirstFor(const std::vector<Rule>& rules, const Node& node,
                     const std::vector<std::string>& partitions) {
  const auto rule = std::find_if(rules.begin(), rules.end(),
                                 [&](const Rule& r) { return Matches(r.where, node, partitions); });
  return rule == rules.end() ? nullptr : &*rule;
}

}  // namespace

GpuNaming::GpuNaming(GpuCatalogue catalogue, SiteGpus site)
    : catalogue_(std::move(catalogue)), site_(std::move(site)) {}

const GpuModel* GpuNaming::ModelOf(const Node& node, const std::vector<std::string>& partitions,
                                   std::string_view type) const {
  const std::string_view name = ResolveAlias(type);
  if (!name.empty()) return catalogue_.Resolve(name);
  const auto* rule = FirstFor(site_.untyped, node, partitions);
  return rule == nullptr ? nullptr : catalogue_.Resolve(rule->gpu);
}

std::string_view GpuNaming::ResolveAlias(std::string_view type) const {
  for (const auto& [alias, gpu] : site_.aliases) {
    if (alias == type) return gpu;
  }
  return type;
}

Interconnect GpuNaming::FindInterconnect(const Node& node,
                                         const std::vector<std::string>& partitions) const {
  const auto* rule = FirstFor(site_.interconnects, node, partitions);
  return rule == nullptr ? Interconnect{} : rule->interconnect;
}

}  // namespace gpuadvise
