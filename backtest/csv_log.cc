// Reads job logs in CSV with a header line.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "backtest/job_log.h"
#include "common/host_list.h"
#include "common/words.h"

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
  JobLog log;
  std::map<std::string, size_t> columns;
  int64_t line_number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    ++line_number;
    const std::vector<std::string> values = SplitLine(line, ',');
    if (values.size() == 1 && values.front().empty()) continue;
    if (columns.empty()) {
      for (size_t i = 0; i < values.size(); ++i) columns.emplace(values[i], i);
      for (const char* name : kNeeded) {
        if (columns.contains(name)) continue;
        return BadInput(fmt::format("{}:{}: the header has no column '{}'{}; a log needs {}", file,
                                    line_number, name, DidYouMean(name, values),
                                    fmt::join(kNeeded, ", ")));
      }
      continue;
    }
    if (values.size() < columns.size()) {
      log.LeaveOut("has fewer values than the header (cut off?)", line_number);
      continue;
    }
    auto job = JobOf(Row(columns, values));
    if (!job) {
      log.LeaveOut("job_id, submit or nodes is no number", line_number);
      continue;
    }
    AddJob(std::move(*job), line_number, log);
  }
  FinishLog(log);
  if (log.jobs.empty()) return BadInput(fmt::format("{}: no row can be used", file));
  return log;
}

}  // namespace gpuadvise
