// Reads job logs in CSV with a header line.
#include <fmt/format.h>

#include <array>

#include "backtest/job_log.h"
#include "common/host_list.h"

namespace gpuadvise {
namespace {

constexpr std::array<const char*, 8> kNeeded = {"job_id", "submit", "start", "end",
                                                "limit",  "nodes",  "user",  "partition"};

std::optional<LogJob> JobOf(const Row& row) {
  LogJob job;
  const auto id = row.Number("job_id");
  const auto submit = row.Number("submit");
  const auto nodes = row.Number("nodes");
  if (!id || !submit || !nodes) return std::nullopt;
  job.id = *id;
  job.submit = *submit;
  job.nodes = *nodes;
  job.eligible = row.Number("eligible").value_or(*submit);
  job.start = row.Number("start");
  job.end = row.Number("end");
  if (job.start && *job.start <= 0) job.start.reset();
  if (job.end && *job.end <= 0) job.end.reset();
  if (const auto limit = row.Number("limit")) job.limit_seconds = *limit;
  job.cpus_per_node = row.Number("cpus_per_node").value_or(1);
  job.gpus_per_node = row.Number("gpus_per_node").value_or(0);
  job.gpu = row.Text("gpu");
  job.user = row.Text("user");
  job.account = row.Text("account");
  job.qos = row.Text("qos");
  job.name = row.Text("name");
  job.partition = row.Text("partition");
  job.test_only = row.Number("test_only");
  if (auto names = ExpandHostList(row.Text("nodelist"))) job.node_list = std::move(*names);
  return job;
}

}  // namespace

Result<JobLog> ParseCsvLog(std::string_view text, const std::string& file) {
  static const LogForm kForm = {',',
                                {kNeeded.begin(), kNeeded.end()},
                                fmt::format("a log needs {}", fmt::join(kNeeded, ", ")),
                                "job_id, submit or nodes is no number",
                                JobOf};
  return ParseRows(text, file, kForm);
}

}  // namespace gpuadvise
