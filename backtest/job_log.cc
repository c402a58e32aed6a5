#include "backtest/job_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/host_list.h"
#include "common/base/words.h"
#include "common/slurm/accounted_job.h"

namespace gpuadvise::backtest {
namespace {

// Longer run times come from a wrong clock.
constexpr int64_t kLongestSeconds = int64_t{5} * 365 * 86'400;
constexpr size_t kMostBytes = size_t{4} << 30;  // of a log, decompressed

}  // namespace

void JobLog::LeaveOut(const std::string& why, int64_t line) {
  LogIssue& issue = left_out[why];
  if (issue.rows++ == 0) issue.first_line = line;
}

void JobLog::Repair(const std::string& what, int64_t line) {
  LogIssue& issue = mended[what];
  if (issue.rows++ == 0) issue.first_line = line;
}

std::string_view Row::Text(const std::string& column) const {
  const auto found = columns_.find(column);
  if (found == columns_.end() || found->second >= values_.size()) return "";
  return values_[found->second];
}

std::optional<int64_t> Row::Number(const std::string& column) const {
  const std::string_view text = Text(column);
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size()) return whole;
  double number = 0;  // some tools write "1200.0"
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(number) || std::abs(number) > 9e15) return std::nullopt;
  return static_cast<int64_t>(number);
}

std::vector<std::string> SplitLine(std::string_view line, char separator) {
  std::vector<std::string> values(1);
  bool quoted = false;
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  for (const char c : line) {
    if (c == '"' && separator == ',') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      values.emplace_back();
    } else {
      values.back() += c;
    }
  }
  return values;
}

void AddJob(LogJob job, int64_t line, JobLog& log) {
  if (job.nodes <= 0 || job.cpus_per_node < 0 || job.gpus_per_node < 0) {
    return log.LeaveOut("asks for no nodes", line);
  }
  if (job.limit_seconds.has_value() && job.limit_seconds.value() <= 0) {
    job.limit_seconds = SlurmNumber::Absent();
    log.Repair("a limit of 0 counts as none", line);
  }
  job.eligible = std::max(job.eligible, job.submit);
  if (!job.start && job.end && *job.end < job.submit) {
    return log.LeaveOut("ended before it was submitted", line);
  }
  if (job.start) {
    if (!job.end) job.end = *job.start + job.limit_seconds.value_or(kLongestSeconds);
    if (*job.end < *job.start) return log.LeaveOut("ended before it started", line);
    if (*job.end - *job.start > kLongestSeconds || *job.start - job.submit > kLongestSeconds) {
      return log.LeaveOut("ran or waited for more than five years", line);
    }
    if (*job.start < job.submit) return log.LeaveOut("started before it was submitted", line);
    if (*job.start < job.eligible) {
      job.eligible = job.submit;
      log.Repair("started before it was eligible: counted from its submission", line);
    }
  }
  log.jobs.push_back(std::move(job));
}

void FinishLog(JobLog& log) {
  const auto by_time = [](const LogJob& a, const LogJob& b) {
    return std::tuple(a.eligible, a.id) < std::tuple(b.eligible, b.id);
  };
  if (!std::is_sorted(log.jobs.begin(), log.jobs.end(), by_time)) {
    std::stable_sort(log.jobs.begin(), log.jobs.end(), by_time);
  }
  std::set<int64_t> seen;
  std::erase_if(log.jobs, [&](const LogJob& job) {
    if (seen.insert(job.id).second) return false;
    log.LeaveOut("repeats the job id of another row", 0);
    return true;
  });
}

namespace {

Result<std::map<std::string, size_t>> IndexColumns(const std::vector<std::string>& names,
                                                   const std::string& place, const LogForm& form) {
  std::map<std::string, size_t> columns;
  for (size_t i = 0; i < names.size(); ++i) columns.emplace(names[i], i);
  for (const std::string& name : form.needed) {
    if (columns.contains(name)) continue;
    return BadInput(fmt::format("{}: the header has no column '{}'{}; {}", place, name,
                                DidYouMean(name, names), form.remedy));
  }
  return columns;
}

}  // namespace

Result<JobLog> ParseRows(std::string_view text, const std::string& file, const LogForm& form) {
  JobLog log;
  std::map<std::string, size_t> columns;
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::vector<std::string> values = SplitLine(text.substr(0, end), form.separator);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (values.size() == 1 && values.front().empty()) continue;
    if (columns.empty()) {
      auto read = IndexColumns(values, fmt::format("{}:{}", file, number), form);
      if (!read) return tl::unexpected(read.error());
      columns = std::move(*read);
      continue;
    }
    if (values.size() < columns.size()) {
      log.LeaveOut("has fewer values than the header (cut off?)", number);
    } else if (auto job = form.job_of(Row(columns, values, number))) {
      AddJob(std::move(*job), number, log);
    } else {
      log.LeaveOut(form.unreadable, number);
    }
  }
  FinishLog(log);
  if (log.jobs.empty()) return BadInput(fmt::format("{}: no row can be used", file));
  return log;
}

namespace {

constexpr std::array<const char*, 8> kCsvNeeded = {"job_id", "submit", "start", "end",
                                                   "limit",  "nodes",  "user",  "partition"};

std::optional<LogJob> ParseCsvJob(const Row& row) {
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
                                {kCsvNeeded.begin(), kCsvNeeded.end()},
                                fmt::format("a log needs {}", fmt::join(kCsvNeeded, ", ")),
                                "job_id, submit or nodes is not a number",
                                ParseCsvJob};
  return ParseRows(text, file, kForm);
}

namespace {

constexpr std::array<const char*, 7> kSacctNeeded = {"JobIDRaw", "Submit", "Start",    "End",
                                                     "NNodes",   "User",   "Partition"};

std::optional<LogJob> ParseSacctJob(const Row& row) {
  auto accounted = ParseAccountedJob([&](const char* column) { return row.Text(column); });
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
                                {kSacctNeeded.begin(), kSacctNeeded.end()},
                                fmt::format("run {}", kSacctCommand),
                                "its job id or submission time cannot be read",
                                ParseSacctJob};
  return ParseRows(text, file, kForm);
}

// zlib also reads uncompressed files.
Result<LogText> ReadLogFile(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
  LogText read;
  std::vector<char> block(1 << 20);
  int count = 0;
  while ((count = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()))) > 0) {
    read.text.append(block.data(), static_cast<size_t>(count));
    if (read.text.size() > kMostBytes) {
      return BadInput(fmt::format("{}: more than 4 GiB once unpacked; cut it into parts", path));
    }
  }
  int error = Z_OK;
  const char* words = gzerror(file.get(), &error);
  if (error != Z_OK && error != Z_STREAM_END) {
    read.cut_off = error == Z_ERRNO ? std::strerror(errno) : words;
    if (read.text.empty()) {
      return BadInput(fmt::format("{}: cannot be unpacked: {}", path, read.cut_off));
    }
  }
  return read;
}

}  // namespace gpuadvise::backtest
