#include "common/gpu_naming.h"

#include <algorithm>

#include "common/host_list.h"

namespace gpuadvise {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// A host list that cannot be read matches nothing; the settings check says so at start.
bool Matches(const NodeCondition& where, const Node& node,
             const std::vector<std::string>& partitions) {
  if (!where.partition.empty()) return Contains(partitions, where.partition);
  if (!where.feature.empty()) return Contains(node.features, where.feature);
  const auto nodes = ExpandHostList(where.node);
  return nodes && Contains(*nodes, node.name);
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
  for (const auto& [alias, gpu] : site_.aliases) {
    if (alias == type) return catalogue_.Resolve(gpu);
  }
  if (!type.empty()) return catalogue_.Resolve(type);
  const auto* rule = FirstFor(site_.untyped, node, partitions);
  return rule == nullptr ? nullptr : catalogue_.Resolve(rule->gpu);
}

Interconnect GpuNaming::InterconnectOf(const Node& node,
                                       const std::vector<std::string>& partitions) const {
  const auto* rule = FirstFor(site_.interconnects, node, partitions);
  return rule == nullptr ? Interconnect{} : rule->interconnect;
}

}  // namespace gpuadvise
