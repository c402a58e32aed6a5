#include "client/records/job_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "common/base/text.h"
#include "common/slurm/accounted_job.h"

namespace gpuadvise::client {
namespace {

constexpr int kMostZeros = 10;  // as in sbatch
constexpr const char* kPending = "PENDING";

int64_t ParseOr(const std::string& text, int64_t other) {
  return !text.empty() && text.size() < 19 && std::all_of(text.begin(), text.end(), IsDigit)
             ? std::stoll(text)
             : other;
}

// The first value of each key in a record of scontrol. File names (StdOut and others) extend to the
// end of the line, because they may contain blanks.
std::map<std::string, std::string> ReadFields(const std::string& record) {
  std::map<std::string, std::string> fields;
  for (const std::string_view line : SplitAt(record, '\n')) {
    const std::string text(Trim(line));
    const size_t first = text.find('=');
    if (first == std::string::npos) continue;
    const std::string key = text.substr(0, first);
    if (key == "StdOut" || key == "WorkDir" || key == "Command") {
      fields.emplace(key, text.substr(first + 1));
      continue;
    }
    for (const std::string_view word : SplitAt(text, ' ')) {
      const size_t equals = word.find('=');
      if (equals == std::string_view::npos) continue;
      fields.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return fields;
}

std::string FirstHost(const std::string& list) {  // "n[3-5],m1" -> "n3"
  const size_t end = list.find_first_of(",[");
  std::string host = list.substr(0, end);
  if (end != std::string::npos && list[end] == '[') {
    host += list.substr(end + 1, list.find_first_of(",-]", end) - end - 1);
  }
  return host == "(null)" ? "" : host;
}

bool HasEnded(const std::string& state) {
  return !(state == kPending || state == "RUNNING" || state == "SUSPENDED" ||
           state == "CONFIGURING" || state == "COMPLETING" || state == "REQUEUED");
}

Result<JobLog> FromAccounting(const std::string& job_id, SlurmQuery& slurm) {
  // sacct has the field StdOut since Slurm 24.05.
  const Result<std::string> rows = slurm.Ask(
      "sacct",
      {"-X", "-n", "-P", "-j", job_id, "-o", "JobIDRaw,JobID,State,User,NodeList,JobName,StdOut"});
  if (!rows && rows.error().message.find("nvalid field") == std::string::npos) {
    return Fail(rows.error().code, "job " + job_id + " is no longer in Slurm's memory, and " +
                                       DescribeAccountingError(rows.error().message));
  }
  if (!rows) {
    return Fail(ErrorCode::kBadInput,
                "job " + job_id +
                    " is no longer in Slurm's memory, and this Slurm's accounting does not keep "
                    "the name of its output file (24.05 and later do)");
  }
  for (const std::string_view row : SplitAt(*rows, '\n')) {
    std::vector<std::string> cells;
    for (const std::string_view cell : SplitAt(row, '|')) cells.emplace_back(cell);
    if (cells.size() < 7 || cells[6].empty()) continue;
    const size_t underscore = cells[1].find('_');
    LogNames names{ParseOr(cells[0], 0), 0, -1, cells[5], cells[3], FirstHost(cells[4])};
    if (underscore != std::string::npos) {
      names.array_job_id = ParseOr(cells[1].substr(0, underscore), 0);
      names.array_task_id = ParseOr(cells[1].substr(underscore + 1), -1);
    }
    const std::string state = cells[2].substr(0, cells[2].find(' '));
    return JobLog{ExpandedLogPath(cells[6], names), state, HasEnded(state)};
  }
  return Fail(ErrorCode::kBadInput, "Slurm knows no output file of job " + job_id + "; `sacct -j " +
                                        job_id + "` shows what it knows");
}

}  // namespace

std::string ExpandedLogPath(std::string_view pattern, const LogNames& names) {
  std::string path;
  if (pattern.find('\\') != std::string_view::npos) {  // as in sbatch: no replacement
    std::copy_if(pattern.begin(), pattern.end(), std::back_inserter(path),
                 [](char c) { return c != '\\'; });
    return path;
  }
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      path += pattern[at];
      continue;
    }
    size_t end = at + 1;
    int width = 0;
    while (end < pattern.size() && IsDigit(pattern[end]) && width < 100) {
      width = 10 * width + (pattern[end++] - '0');
    }
    const auto number = [&](int64_t value) {
      return fmt::format("{:0{}}", value, std::min(width, kMostZeros));
    };
    const char symbol = end < pattern.size() ? pattern[end] : '\0';
    switch (symbol) {
      case 'j':
      case 'J':
        path += number(names.job_id);
        break;
      case 'A':
        path += number(names.array_job_id > 0 ? names.array_job_id : names.job_id);
        break;
      case 'a':
        path += names.array_task_id < 0 ? "4294967294" : number(names.array_task_id);
        break;
      case 'n':
      case 't':
        path += number(0);
        break;
      case 's':
        path += "batch";
        break;
      case 'u':
        path += names.user;
        break;
      case 'x':
        path += names.name;
        break;
      case 'N':
        path += names.node;
        break;
      case '%':
        path += '%';
        break;
      default:
        path += std::string(pattern.substr(at, end - at + (symbol == '\0' ? 0 : 1)));
    }
    at = symbol == '\0' ? end - 1 : end;
  }
  return path;
}

Result<JobLog> FindJobLog(const std::string& job_id, SlurmQuery& slurm) {
  const Result<std::string> shown = slurm.Ask("scontrol", {"show", "job", job_id});
  if (!shown) {
    if (shown.error().message.find("nvalid job id") == std::string::npos) {
      return tl::unexpected<Error>(shown.error());
    }
    return FromAccounting(job_id, slurm);
  }
  // An array's id shows one record per task: uses the first.
  const std::map<std::string, std::string> fields =
      ReadFields(shown->substr(0, shown->find("\n\n")));
  const auto field = [&](const char* key) {
    const auto found = fields.find(key);
    return found == fields.end() || found->second == "(null)" ? std::string() : found->second;
  };
  std::string pattern = field("StdOut");
  if (pattern.empty()) {
    return Fail(ErrorCode::kBadInput,
                "job " + job_id +
                    " has no output file that Slurm knows: it was started by srun or salloc, whose "
                    "output goes to their terminal");
  }
  const std::string user = field("UserId");
  const LogNames names{ParseOr(field("JobId"), 0),        ParseOr(field("ArrayJobId"), 0),
                       ParseOr(field("ArrayTaskId"), -1), field("JobName"),
                       user.substr(0, user.find('(')),    FirstHost(field("NodeList"))};
  if (!pattern.starts_with('/')) pattern = field("WorkDir") + "/" + pattern;
  const std::string state = field("JobState");
  return JobLog{ExpandedLogPath(pattern, names), state, HasEnded(state)};
}

}  // namespace gpuadvise::client
