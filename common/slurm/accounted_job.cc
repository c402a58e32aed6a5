#include "common/slurm/accounted_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "common/base/host_list.h"
#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "common/slurm/gres.h"

namespace gpuadvise {
namespace {

std::optional<UnixSeconds> TimeIn(std::string_view text) {
  const auto time = ParseTimestamp(text);
  return time ? *time : std::nullopt;
}

// The number after "cpu=" in "billing=8,cpu=8,mem=32G,node=1".
int64_t CpusIn(std::string_view tres, int64_t otherwise) {
  const size_t at = tres.starts_with("cpu=") ? 0 : tres.find(",cpu=");
  if (at == std::string_view::npos) return otherwise;
  const std::string_view digits = tres.substr(tres.find('=', at) + 1);
  int64_t cpus = otherwise;
  std::from_chars(digits.data(), digits.data() + digits.size(), cpus);
  return cpus;
}

// "4711_17" and "4711_[20-80]" are of array 4711; 0: of none.
int64_t ArrayOf(std::string_view job_id) {
  const size_t underscore = job_id.find('_');
  if (underscore == std::string_view::npos) return 0;
  return WholeNumber(job_id.substr(0, underscore)).value_or(0);
}

SlurmNumber LimitOf(const SacctColumn& column) {
  if (const auto minutes = WholeNumber(column("TimelimitRaw"))) return *minutes * 60;
  const auto limit = ParseTimeLimit(column("Timelimit"));
  return limit && limit->has_value() ? *limit : SlurmNumber::Absent();
}

// ParseGres counts a total and its parts ("gres/gpu=4,gres/gpu:a100=4") once.
void ReadGpus(std::string_view tres, JobRecord& record) {
  const auto gres = ParseGres(tres);
  if (!gres) return;
  for (const GpuCount& gpu : gres->gpus) {
    record.gpus += gpu.count;
    if (!gpu.type.empty()) record.gpu = gpu.type;
  }
}

}  // namespace

std::optional<AccountedJob> ParseAccountedJob(const SacctColumn& column) {
  const auto id = WholeNumber(column("JobIDRaw"));
  const auto submit = TimeIn(column("Submit"));
  if (!id || !submit) return std::nullopt;
  AccountedJob job;
  JobRecord& record = job.record;
  record.id = *id;
  record.array_job_id = ArrayOf(column("JobID"));
  record.submit = *submit;
  record.eligible = std::max(TimeIn(column("Eligible")).value_or(*submit), *submit);
  record.start = TimeIn(column("Start"));
  record.end = TimeIn(column("End"));
  record.nodes = std::max<int64_t>(WholeNumber(column("NNodes")).value_or(1), 1);
  const std::string_view tres = column("ReqTRES").empty() ? column("AllocTRES") : column("ReqTRES");
  record.cpus = CpusIn(tres, WholeNumber(column("ReqCPUS")).value_or(1));
  ReadGpus(tres, record);
  record.limit_seconds = LimitOf(column);
  record.user = column("User");
  record.account = column("Account");
  record.qos = column("QOS");
  record.name = column("JobName");
  const std::string_view state = column("State");  // "CANCELLED by 1001"
  record.state = state.substr(0, state.find(' '));
  const std::string_view partitions = column("Partition");
  record.partition = partitions.substr(0, partitions.find(','));
  if (const std::string_view nodes = column("NodeList"); nodes != "None assigned") {
    if (auto names = ExpandHostList(nodes)) job.nodes = std::move(*names);
  } else {
    record.start.reset();  // cancelled while pending: sacct repeats the time as start
  }
  return job;
}

std::vector<AccountedJob> ParseSacct(std::string_view text, std::string_view mark,
                                     int64_t& unreadable) {
  const std::vector<std::string_view> names = SplitAt(kSacctColumns, ',');
  std::vector<AccountedJob> jobs;
  unreadable = 0;
  while (!Trim(text).empty() && text != "\n") {
    std::vector<std::string_view> values;
    while (values.size() < names.size()) {
      const size_t end = text.find(mark);
      if (end == std::string_view::npos) break;
      values.push_back(text.substr(0, end));
      text.remove_prefix(end + mark.size());
    }
    if (values.size() < names.size()) {  // truncated
      ++unreadable;
      break;
    }
    // The first value is preceded by the end of the previous line and any other output.
    values.front().remove_prefix(values.front().rfind('\n') + 1);
    auto job = ParseAccountedJob([&](const char* column) {
      const auto at = std::find(names.begin(), names.end(), column) - names.begin();
      const auto index = static_cast<size_t>(at);
      return index < values.size() ? values[index] : std::string_view();
    });
    if (job) {
      jobs.push_back(std::move(*job));
    } else {
      ++unreadable;
    }
  }
  return jobs;
}

std::string DescribeAccountingError(std::string_view error) {
  const auto says = [&](std::string_view words) {
    return error.find(words) != std::string_view::npos;
  };
  if (says("accounting storage is disabled")) return "Slurm keeps no accounting here";
  if (!says("persistent connection") && !says("PersistInit") && !says("talking to the database")) {
    return std::string(error);
  }
  const size_t cause = error.rfind(": ");
  return fmt::format(
      "slurmdbd, Slurm's accounting database, does not answer{}",
      cause == std::string_view::npos ? "" : fmt::format(" ({})", Trim(error.substr(cause + 2))));
}

std::string WithoutAccounting(std::string_view error) {
  const std::string words = DescribeAccountingError(error);
  if (words.empty() || words.starts_with("Slurm keeps no")) return {};
  return words +
         ": until then `eff` has no figures, and jobs that start and end between two snapshots are "
         "not learned; forecasts go on";
}

}  // namespace gpuadvise
