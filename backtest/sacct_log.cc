// Reads a site's own accounting, as sacct prints it with -P.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "backtest/job_log.h"
#include "common/accounted_job.h"

namespace gpuadvise {
namespace {

constexpr std::array<const char*, 7> kNeeded = {"JobIDRaw", "Submit", "Start",    "End",
                                                "NNodes",   "User",   "Partition"};

std::optional<LogJob> JobOf(const Row& row) {
  auto accounted = AccountedJobOf([&](const char* column) { return row.Text(column); });
  if (!accounted) return std::nullopt;
  JobRecord& record = accounted->record;
  LogJob job;
  job.id = record.id;
  job.submit = record.submit;
  job.eligible = record.eligible;
  job.start = record.start;
  job.end = record.end;
  job.nodes = record.nodes;
  job.cpus_per_node = (record.cpus + record.nodes - 1) / record.nodes;
  job.gpus_per_node = (record.gpus + record.nodes - 1) / record.nodes;
  job.gpu = std::move(record.gpu);
  job.limit_seconds = record.limit_seconds;
  job.user = std::move(record.user);
  job.account = std::move(record.account);
  job.qos = std::move(record.qos);
  job.name = std::move(record.name);
  job.partition = std::move(record.partition);
  job.node_list = std::move(accounted->nodes);
  return job;
}

}  // namespace

Result<JobLog> ParseSacctLog(std::string_view text, const std::string& file) {
  static const LogForm kForm = {'|',
                                {kNeeded.begin(), kNeeded.end()},
                                fmt::format("run {}", kSacctCommand),
                                "its job id or submission time cannot be read",
                                JobOf};
  return ParseRows(text, file, kForm);
}

}  // namespace gpuadvise
