// Which tables of a snapshot differ from the one before, so that the rest need not be sent again.
#pragma once

#include "common/snapshot.h"
#include "common/snapshot_records.h"

namespace gpuadvise {

/// The tables in which `after` differs from `before`. Cost: one comparison of both.
TableSet ChangedTables(const Snapshot& before, const Snapshot& after);

}  // namespace gpuadvise
