#include "common/gpu_naming.h"

#include <algorithm>

#include "common/host_list.h"

namespace gpuadvise {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// A rule whose host list cannot be read matches nothing; the settings check says so at start.
bool Matches(const SiteGpuNames::UntypedRule& rule, const Node& node,
             const std::vector<std::string>& partitions) {
  if (!rule.partition.empty()) return Contains(partitions, rule.partition);
  if (!rule.feature.empty()) return Contains(node.features, rule.feature);
  const auto nodes = ExpandHostList(rule.node);
  return nodes && Contains(*nodes, node.name);
}

}  // namespace

GpuNaming::GpuNaming(GpuCatalogue catalogue, SiteGpuNames names)
    : catalogue_(std::move(catalogue)), names_(std::move(names)) {}

const GpuModel* GpuNaming::ModelOf(const Node& node, const std::vector<std::string>& partitions,
                                   std::string_view type) const {
  for (const auto& [alias, gpu] : names_.aliases) {
    if (alias == type) return catalogue_.Resolve(gpu);
  }
  if (!type.empty()) return catalogue_.Resolve(type);
  const auto rule = std::find_if(
      names_.untyped.begin(), names_.untyped.end(),
      [&](const SiteGpuNames::UntypedRule& r) { return Matches(r, node, partitions); });
  return rule == names_.untyped.end() ? nullptr : catalogue_.Resolve(rule->gpu);
}

}  // namespace gpuadvise
