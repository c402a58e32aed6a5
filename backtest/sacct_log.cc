// Reads a site's own accounting, as sacct prints it with -P.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "backtest/job_log.h"
#include "common/gres.h"
#include "common/host_list.h"
#include "common/slurm_time.h"

namespace gpuadvise {
namespace {

constexpr std::array<const char*, 7> kNeeded = {"JobIDRaw", "Submit", "Start",    "End",
                                                "NNodes",   "User",   "Partition"};

std::optional<UnixSeconds> TimeOf(const Row& row, const char* column) {
  const auto time = ParseTimestamp(row.Text(column));
  return time ? *time : std::nullopt;
}

/// The number behind "cpu=" in "billing=8,cpu=8,mem=32G,node=1".
int64_t CpusOf(std::string_view tres, int64_t otherwise) {
  const size_t at = tres.starts_with("cpu=") ? 0 : tres.find(",cpu=");
  if (at == std::string_view::npos) return otherwise;
  const std::string_view digits = tres.substr(tres.find('=', at) + 1);
  int64_t cpus = otherwise;
  std::from_chars(digits.data(), digits.data() + digits.size(), cpus);
  return cpus;
}

SlurmNumber LimitOf(const Row& row) {
  if (const auto minutes = row.Number("TimelimitRaw")) return *minutes * 60;
  const auto limit = ParseTimeLimit(row.Text("Timelimit"));
  return limit && limit->has_value() ? *limit : SlurmNumber::Absent();
}

std::optional<LogJob> JobOf(const Row& row) {
  LogJob job;
  const auto id = row.Number("JobIDRaw");
  const auto submit = TimeOf(row, "Submit");
  if (!id || !submit) return std::nullopt;
  job.id = *id;
  job.submit = *submit;
  job.eligible = TimeOf(row, "Eligible").value_or(*submit);
  job.start = TimeOf(row, "Start");
  job.end = TimeOf(row, "End");
  job.nodes = std::max<int64_t>(row.Number("NNodes").value_or(1), 1);
  const std::string_view tres =
      row.Text("ReqTRES").empty() ? row.Text("AllocTRES") : row.Text("ReqTRES");
  const int64_t cpus = CpusOf(tres, row.Number("ReqCPUS").value_or(1));
  job.cpus_per_node = (cpus + job.nodes - 1) / job.nodes;
  if (const auto gres = ParseGres(tres)) {
    for (const GpuCount& gpu : gres->gpus) {
      job.gpus_per_node += (gpu.count + job.nodes - 1) / job.nodes;
      if (!gpu.type.empty()) job.gpu = gpu.type;
    }
  }
  job.limit_seconds = LimitOf(row);
  job.user = row.Text("User");
  job.account = row.Text("Account");
  job.qos = row.Text("QOS");
  job.name = row.Text("JobName");
  const std::string_view partitions = row.Text("Partition");
  job.partition = partitions.substr(0, partitions.find(','));
  const std::string_view nodes = row.Text("NodeList");
  if (nodes != "None assigned") {
    if (auto names = ExpandHostList(nodes)) job.node_list = std::move(*names);
  }
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
