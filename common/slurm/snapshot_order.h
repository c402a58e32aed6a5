// Canonical order of a snapshot, for comparing two views of one cluster.
//
// Nodes, partitions, reservations and QOS ascend by name (byte order), jobs and associations by id.
// Node lists and allocations keep Slurm's order.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Records left out, so that one bad record does not cost the snapshot: their number, and the reason
// for the first.
struct LeftOut {
  int64_t records = 0;
  std::string first;  // a sentence without a full stop

  void Add(std::string why);
  void Add(LeftOut more);
  // "3 records are left out: job 7 is there twice; the first counts"; "" if none.
  std::string InWords() const;
  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

// Sorts all tables; stable.
void SortCanonically(Snapshot& snapshot);

// Removes duplicates, keeping the first. REQUIRES: sorted.
void DropDuplicates(Snapshot& snapshot, LeftOut& left_out);

// An error naming the first duplicate. REQUIRES: sorted.
Result<void> CheckUnique(const Snapshot& snapshot);

}  // namespace gpuadvise
