// The columns of tables of a cluster's jobs and GPUs, of the API's rows.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/terminal/text_table.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// Which columns of the queue are wanted.
struct QueueShape {
  std::string names;  // squeue's -O names and those of the forecast: "jobid,name,starts"; "": usual
  bool start = false;    // Slurm's own estimate too
  bool is_long = false;  // all of them
};

// Of rows of GET /v1/queue, for a terminal of `width` columns. Errors: an unknown name.
Result<std::vector<AnswerColumn>> QueueColumns(const QueueShape& shape, int64_t now, int width);

// Of rows of GET /v1/gpus.
std::vector<AnswerColumn> GpusColumns();

// Puts the cluster before `columns` where `rows` are of several (-M).
void AddClusterColumn(const nlohmann::json& rows, std::vector<AnswerColumn>& columns);

}  // namespace gpuadvise::client
