// Maps the GPUs of a node to catalogue entries, from GRES types and untyped GRES.
//
// Order: the site's alias of the GRES type, the catalogue's spellings, and for untyped GRES
// ("gpu:4") the site's rules by node, feature or partition. Immutable; safe from any thread.
#pragma once

#include <string_view>

#include "common/gpu/gpu_catalogue.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

class GpuNaming {
 public:
  GpuNaming(GpuCatalogue catalogue, SiteGpus site);

  // The model of GRES type `type` on `node`, which is in `partitions`; nullptr if unknown.
  const GpuModel* ModelOf(const Node& node, const std::vector<std::string>& partitions,
                          std::string_view type) const;

  // The name looked up for GRES type `type`: the site's alias, or the type itself.
  std::string_view ResolveAlias(std::string_view type) const;

  // The site's link and network rates for the node; 0 if not configured.
  Interconnect FindInterconnect(const Node& node, const std::vector<std::string>& partitions) const;

  const GpuCatalogue& catalogue() const { return catalogue_; }

 private:
  GpuCatalogue catalogue_;
  SiteGpus site_;
};

}  // namespace gpuadvise
