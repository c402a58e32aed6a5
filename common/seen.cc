#include "common/seen.h"

#include <algorithm>
#include <iterator>

namespace gpuadvise {

Seen::Seen(const Snapshot& snapshot, const Submitter& caller) : all_(caller.uid >= 0) {
  for (const Partition& partition : snapshot.partitions) {
    if (!partition.hidden) open_.insert(partition.name);
  }
}

bool Seen::SeesOneOf(const std::vector<std::string>& partitions) const {
  return all_ || std::any_of(partitions.begin(), partitions.end(),
                             [&](const std::string& name) { return open_.contains(name); });
}

std::vector<std::string> Seen::SeenOf(const std::vector<std::string>& partitions) const {
  std::vector<std::string> seen;
  std::copy_if(partitions.begin(), partitions.end(), std::back_inserter(seen),
               [&](const std::string& name) { return SeesNamed(name); });
  return seen;
}

}  // namespace gpuadvise
