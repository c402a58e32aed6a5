#include "common/gpu/gres_names.h"

#include <fmt/format.h>

#include <set>

#include "common/base/words.h"
#include "common/slurm/gres.h"

namespace gpuadvise {
namespace {

Result<std::string> SlurmTypeOf(const std::string& name, const std::string& partition,
                                const std::vector<GpuPool>& pools, const GpuCatalogue& catalogue) {
  std::set<std::string> accepted, all;
  for (const GpuPool& pool : pools) {
    if (!partition.empty() && pool.partition->name != partition) continue;
    if (pool.gres_type == name) return name;
    all.insert(pool.gres_type.empty() ? "gpu" : pool.gres_type);
    if (pool.model != nullptr && catalogue.Accepts(name, *pool.model))
      accepted.insert(pool.gres_type);
  }
  if (accepted.size() == 1) return *accepted.begin();
  if (all.empty()) return name;  // errors about the partition are reported by placement
  const std::set<std::string>& listed = accepted.empty() ? all : accepted;
  std::string types = JoinNames(std::vector<std::string>(listed.begin(), listed.end()), 30);
  std::string where = partition.empty() ? "this cluster" : "partition " + partition;
  if (accepted.empty()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{} has no GPU {}; it has {}", where, Quoted(name), types));
  }
  return BadInput(
      fmt::format("{} matches several GPU types; choose one of {}", Quoted(name), types));
}

}  // namespace

Result<GpuCounts> ToSlurmTypes(const GpuCounts& counts, const std::string& partition,
                               const std::vector<GpuPool>& pools, const GpuCatalogue& catalogue) {
  GpuCounts slurm_counts;
  for (const GpuCount& count : counts) {
    if (count.type.empty()) {
      slurm_counts.push_back(count);
      continue;
    }
    Result<std::string> type = SlurmTypeOf(count.type, partition, pools, catalogue);
    if (!type) return tl::unexpected<Error>(type.error());
    slurm_counts.push_back({*type, count.count});
  }
  return CanonicalGpus(std::move(slurm_counts));
}

}  // namespace gpuadvise
