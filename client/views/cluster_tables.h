// Columns of the tables of jobs and of GPUs.
//
// Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/terminal/text_table.h"
#include "common/api/gpus.h"
#include "common/api/queue.h"
#include "common/base/error.h"

namespace gpuadvise::client {

using QueueColumn = ColumnOf<api::QueueJob>;

// Which columns of the queue to show.
struct QueueShape {
  std::string names;     // of squeue's -O and of the forecast: "jobid,name,starts"; "": the usual
  bool start = false;    // with Slurm's own estimate
  bool is_long = false;  // all of them
};

// For a terminal of `width` columns. Errors: an unknown name.
Result<std::vector<QueueColumn>> QueueColumns(const QueueShape& shape, int64_t now, int width);

std::vector<ColumnOf<api::GpuType>> GpusColumns();

// "48 GiB"; "–" where it is not known.
std::string MemoryCell(std::optional<int64_t> bytes);

// Puts the cluster first if `rows` come from several (-M).
template <typename Row>
void AddClusterColumn(const std::vector<Row>& rows, std::vector<ColumnOf<Row>>& columns) {
  if (std::ranges::all_of(rows, [](const Row& row) { return row.cluster.empty(); })) return;
  columns.insert(columns.begin(), TextMember("CLUSTER", &Row::cluster));
}

}  // namespace gpuadvise::client
