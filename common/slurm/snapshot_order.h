// The canonical order of a snapshot, which makes two views of one cluster comparable.
//
// Nodes, partitions, reservations and QOS ascend by name (byte order), jobs and associations by id.
// Node lists and allocations keep Slurm's own order and are not touched.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// The records that could not be taken: one bad record costs itself and never the snapshot.
// Of any number the count and why the first was left out.
struct LeftOut {
  int64_t records = 0;
  std::string first;  // a sentence without a full stop

  void Add(std::string why);
  void Add(LeftOut more);
  // "3 records are left out: job 7 is there twice; the first counts"; "" where none is.
  std::string InWords() const;
  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

// Sorts every table. What compares equal keeps its order.
void SortCanonically(Snapshot& snapshot);

// Takes out what is there twice, but for the first of each. REQUIRES: sorted.
void DropDoubles(Snapshot& snapshot, LeftOut& left_out);

// An error that names the first thing that is there twice. REQUIRES: sorted.
Result<void> CheckUnique(const Snapshot& snapshot);

}  // namespace gpuadvise
