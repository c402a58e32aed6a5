#include "daemon/collect/scontrol_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise::collect {
namespace {

std::optional<UnixSeconds> TimeIn(const TextRecord& record, std::string_view key) {
  return ParseTimestamp(record.Get(key)).value_or(std::nullopt);
}

// "lab1(1001)": the name may hold parentheses, the number is in the last ones.
void ParseUser(std::string_view text, Job& job) {
  const size_t open = text.rfind('(');
  job.user = OrNothing(text.substr(0, open));
  if (open != std::string_view::npos) job.uid = ToInteger(text.substr(open + 1));
}

void ParseIdentity(const TextRecord& record, Job& job) {
  job.id = record.Integer("JobId");
  job.array_job_id = record.Integer("ArrayJobId");
  job.array_tasks = ArrayTasks(record.Get("ArrayTaskId"));
  job.array_throttle = record.Integer("ArrayTaskThrottle");
  job.het_job_id = record.Integer("HetJobId");
  job.name = record.Get("JobName");
  ParseUser(record.Raw("UserId"), job);
  job.account = record.Get("Account");
  job.qos = record.Get("QOS");
}

void ParseQueueing(const TextRecord& record, Job& job) {
  job.reason = ReasonWord(record.Raw("Reason"));
  job.priority = record.Integer("Priority");
  job.nice = record.Integer("Nice");
  job.dependency = record.Get("Dependency");
  job.submit_time = TimeIn(record, "SubmitTime");
  job.eligible_time = TimeIn(record, "EligibleTime");
  job.start_time = TimeIn(record, "StartTime");
  if (job.state != JobState::kPending) job.end_time = TimeIn(record, "EndTime");
  job.requeue = record.Integer("Requeue", 1) != 0;
}

// "2" or "2-4".
void ParseNodeRange(std::string_view text, JobRequest& request) {
  const size_t dash = text.find('-');
  request.nodes_min = ToInteger(text, 1);
  const int64_t high =
      dash == std::string_view::npos ? 0 : ToCount(text.substr(dash + 1)).value_or(0);
  request.nodes_max = high > request.nodes_min ? high : 0;
}

void ParseMemory(const TextRecord& record, JobRequest& request) {
  if (!record.Get("MinMemoryCPU").empty()) {
    request.memory_per_cpu_mib = ToMib(record.Get("MinMemoryCPU"));
  } else if (!record.Get("MinMemoryNode").empty()) {
    request.memory_per_node_mib = ToMib(record.Get("MinMemoryNode"));
  }
}

JobRequest ParseRequest(const TextRecord& record) {
  JobRequest request;
  request.partitions = record.List("Partition");
  ParseNodeRange(record.Get("NumNodes"), request);
  request.cpus = record.Integer("NumCPUs", 1);
  request.cpus_per_task = record.Integer("CPUs/Task", 1);
  request.tasks = record.Integer("NumTasks", 1);
  ParseMemory(record, request);
  FillTres({record.Get("TresPerJob"), record.Get("TresPerNode"), record.Get("TresPerSocket"),
            record.Get("TresPerTask"), record.Get("MemPerTres"), record.Integer("Socks/Node", 1)},
           request);
  request.features = record.Get("Features");
  request.required_nodes = Hosts(record.Get("ReqNodeList"));
  request.excluded_nodes = Hosts(record.Get("ExcNodeList"));
  request.exclusive = record.Raw("OverSubscribe") == "NO";
  request.time_limit_seconds = DurationOf(record, "TimeLimit");
  request.reservation = record.Get("Reservation");
  return request;
}

// The detail lines "Nodes=n[1-2] CPU_IDs=0-3 Mem=8000 GRES=gpu:a100:2(IDX:0-1)", one for each
// group of nodes on which the job holds the same.
std::vector<Allocation> ParseAllocations(const TextRecord& record) {
  std::vector<Allocation> allocations;
  size_t group = 0;  // where the current line's nodes begin
  const auto on_each = [&](auto change) {
    for (size_t i = group; i < allocations.size(); ++i) change(allocations[i]);
  };
  for (const auto& [key, value] : record.fields()) {
    if (key == "Nodes") {
      group = allocations.size();
      for (std::string& name : Hosts(value)) {
        allocations.push_back({.node = std::move(name), .cpus = 0, .memory_mib = 0, .gpus = {}});
      }
    } else if (key == "CPU_IDs") {
      on_each([n = CountCpuIds(value)](Allocation& a) { a.cpus = n; });
    } else if (key == "Mem") {
      on_each([n = ToMib(value)](Allocation& a) { a.memory_mib = n; });
    } else if (key == "GRES") {
      const Gres gres = GresOf(OrNothing(value));
      on_each([&gres](Allocation& a) { a.gpus = gres.gpus, a.shards = gres.shards; });
    }
  }
  return allocations;
}

Job ParseJob(const TextRecord& record, JobState state) {
  Job job;
  job.state = state;
  ParseIdentity(record, job);
  ParseQueueing(record, job);
  job.request = ParseRequest(record);
  if (state == JobState::kPending) {
    job.array_task_count = CountArrayTasks(job.array_tasks);
    if (job.reason == "BeginTime") job.request.begin_time = job.eligible_time;
  } else {
    job.request.nodes_max = 0;
    job.allocations = ParseAllocations(record);
  }
  return job;
}

// ---- what squeue lists -------------------------------------------------------------------------

struct Column {
  std::string_view squeue;
  std::string_view scontrol;
  bool counts = false;  // it is read from the list, not from scontrol's text
};
// First what tells two records of one id apart; then what people write before the last field that
// is read, what scontrol prints only behind that, and what they write there. Only such
// as scontrol prints of each job that has them: BehindListedText relies on it.
constexpr std::array kColumns = {
    Column{"JobID", "JobId"},
    Column{"UserID", "uid"},
    Column{"State", "JobState"},
    Column{"Partition", "Partition"},
    Column{"NodeList", "NodeList"},
    Column{"NumCPUs", "NumCPUs"},
    Column{"TimeLimit", "TimeLimit"},
    Column{"Name", "JobName", true},
    Column{"MCSLabel", "MCS_label"},
    Column{"Account", "Account", true},
    Column{"QOS", "QOS", true},
    Column{"WCKey", "WCKey"},
    Column{"AllocNodes", "AllocNode:Sid"},
    Column{"Reservation", "Reservation", true},
    Column{"tres-per-job", "TresPerJob", true},
    Column{"tres-per-node", "TresPerNode", true},
    Column{"tres-per-socket", "TresPerSocket", true},
    Column{"tres-per-task", "TresPerTask", true},
    Column{"mem-per-tres", "MemPerTres", true},
    Column{"Command", "Command"},
    Column{"WorkDir", "WorkDir"},
    Column{"Comment", "Comment"},
};

// All of `text` as a positive number; 0 when it is none.
int64_t WholeNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::max<int64_t>(value, 0) : 0;
}

// ---- records of scontrol -----------------------------------------------------------------------

// Where what is read of a record ends: the licences, and all that people write behind them.
constexpr std::array<std::string_view, 9> kEndsFields = {"Licenses", "Command", "SubmitLine",
                                                         "WorkDir",  "Comment", "AdminComment",
                                                         "StdErr",   "StdOut",  "MailUser"};

// The end of the line in which `at` is, without its newline.
size_t LineEnd(std::string_view text, size_t at) {
  return std::min(text.find('\n', at), text.size());
}

struct Fields {
  TextRecord record;
  size_t end = 0;  // in the text
};

// Reads the fields of the record that begins at `at`. `listed`: what squeue lists of it.
Fields FieldsAt(std::string_view text, size_t at, const TextRecord& listed) {
  Fields fields;
  while (at < text.size()) {
    const size_t end = LineEnd(text, at);
    const size_t key_length = KeyLength(text.substr(at, end - at));
    if (key_length > 0) {
      const std::string_view key = text.substr(at, key_length);
      if (IsOneOf(key, kEndsFields)) break;
      const size_t begin = at + key_length + 1;
      const std::string_view known = listed.Raw(key);
      const bool is_there = !known.empty() && text.substr(begin).starts_with(known);
      at = begin + (is_there ? known.size() : 0);
      const std::string_view rest = text.substr(at, LineEnd(text, at) - at);
      at += key == "JobName" ? rest.size() : ValueLength(rest);
      fields.record.Add(key, Trim(text.substr(begin, at - begin)));
    } else {
      at = end;
    }
    while (at < text.size() && text[at] == ' ') ++at;
    // A field may stand on the next line, behind blanks; what does not was written by somebody.
    while (at < text.size() && text[at] == '\n') {
      const size_t next = LineEnd(text, at + 1);
      const std::string_view line = text.substr(at + 1, next - at - 1);
      if (Trim(line).empty()) {
        fields.end = at;
        return fields;
      }
      at = line.starts_with("   ") ? at + 1 + line.find_first_not_of(' ') : next;
    }
  }
  fields.end = at;
  return fields;
}

// How many fields of `record`, each counted once, are as squeue lists them.
int64_t CountSame(const TextRecord& record, const TextRecord& listed) {
  return std::count_if(kColumns.begin(), kColumns.end(), [&](const Column& column) {
    const std::string_view value = record.Raw(column.scontrol);
    return !value.empty() && value == Trim(listed.Raw(column.scontrol));
  });
}

// `record` with what is read from the list in its place.
TextRecord WithListed(const TextRecord& record, const TextRecord& listed) {
  TextRecord whole;
  for (const Column& column : kColumns) {
    if (column.counts) whole.Add(column.scontrol, listed.Raw(column.scontrol));
  }
  for (const auto& [key, value] : record.fields()) whole.Add(key, value);
  return whole;
}

// The records of a text, one by one.
class JobTextReader {
 public:
  JobTextReader(std::string_view text, const JobList& list) : text_(text), list_(list) {}

  ReadJobs Read() {
    bool may_start = true;
    for (size_t at = 0; at < text_.size();) {
      const size_t end = LineEnd(text_, at);
      const std::string_view line = text_.substr(at, end - at);
      const int64_t id = may_start ? IdOf(line) : 0;
      may_start = Trim(line).empty();
      at = id > 0 ? Take(id, at, end) : BehindListedText(at, line);
      at = std::min(LineEnd(text_, at) + 1, text_.size());
    }
    for (const TextRecord& record : records_) {
      const std::optional<JobState> state = JobStateFromWord(record.Get("JobState"));
      const int64_t id = record.Integer("JobId");
      if (state) read_.jobs.push_back(ParseJob(WithListed(record, list_.at(id)), *state));
      if (record.Raw("JobState").empty()) {
        read_.left_out.Add(fmt::format("job {} cannot be read", id));
      }
    }
    return std::move(read_);
  }

 private:
  // The id of a line that looks like the first of a record, else 0.
  static int64_t IdOf(std::string_view line) {
    constexpr std::string_view kFirst = "JobId=";
    if (!line.starts_with(kFirst)) return 0;
    line.remove_prefix(kFirst.size());
    return WholeNumber(line.substr(0, line.find(' ')));
  }

  // Behind the text of the last job that `line`, at `at`, begins and that squeue lists; else `at`.
  // Each once: what lies before a text cannot hold it, but what lies behind could name it again.
  size_t BehindListedText(size_t at, std::string_view line) {
    const auto listed = list_.find(before_);
    const size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const size_t key_length = KeyLength(line.substr(begin));
    if (key_length == 0 || listed == list_.end()) return at;
    const std::string_view key = line.substr(begin, key_length);
    if (IsOneOf(key, skipped_)) return at;
    const std::string_view known = listed->second.Raw(key);
    const size_t value = at + begin + key_length + 1;
    if (known.empty() || !text_.substr(value).starts_with(known)) return at;
    skipped_.push_back(key);
    return value + known.size();
  }

  // Takes the record at `at`, whose first line ends at `line_end`. Where to look for the next.
  size_t Take(int64_t id, size_t at, size_t line_end) {
    const auto listed = list_.find(id);
    if (listed == list_.end()) {
      TakeUnlisted(id, at);
      return line_end;
    }
    Fields fields = FieldsAt(text_, at, listed->second);
    const std::string_view user = fields.record.Raw("UserId");
    const int64_t uid = WholeNumber(listed->second.Raw("uid"));
    if (ToInteger(user.substr(std::min(user.rfind('(') + 1, user.size())), -1) != uid) {
      Complain("job {} says another user than squeue does", id);
      return line_end;
    }
    const auto [known, added] = index_.try_emplace(id, records_.size());
    if (added) {
      records_.push_back(std::move(fields.record));
    } else {
      Complain("job {} is there twice; that one counts which says what squeue says", id);
      TextRecord& other = records_[known->second];
      if (CountSame(fields.record, listed->second) > CountSame(other, listed->second)) {
        other = std::move(fields.record);
      }
    }
    before_ = id;
    skipped_.clear();
    return fields.end;
  }

  void TakeUnlisted(int64_t id, size_t at) {
    const Fields fields = FieldsAt(text_, at, TextRecord());
    if (!JobStateFromWord(fields.record.Get("JobState"))) return;  // it ended and is gone
    if (fields.record.Integer("ArrayJobId") > 0) read_.unlisted_tasks.push_back(id);
    Complain("job {} is not in squeue's list", id);
  }

  // `what` with the id, and whose text it may be.
  void Complain(fmt::format_string<int64_t&> what, int64_t id) {
    std::string why = fmt::format(what, id);
    const auto holder = list_.find(before_);
    if (holder != list_.end()) {
      why += fmt::format("; it stands behind job {} of user id {}, whose text may hold it", before_,
                         WholeNumber(holder->second.Raw("uid")));
    }
    read_.left_out.Add(std::move(why));
  }

  const std::string_view text_;
  const JobList& list_;
  ReadJobs read_;
  std::vector<TextRecord> records_;
  std::unordered_map<int64_t, size_t> index_;  // of records_, by id
  int64_t before_ = 0;                         // the job whose record was last taken
  std::vector<std::string_view> skipped_;      // its texts that have been passed over
};

}  // namespace

std::string JobListFormat(std::string_view mark) {
  std::string format;
  for (const Column& column : kColumns) {
    // Of any width: by itself squeue cuts a field off.
    format += fmt::format("{}{}:0{}", format.empty() ? "" : ",", column.squeue, mark);
  }
  return format;
}

Result<void> AddListedJobs(std::string_view text, std::string_view mark, JobList& list) {
  while (!Trim(text).empty() && text != "\n") {
    TextRecord row;
    for (const Column& column : kColumns) {
      const size_t end = text.find(mark);
      if (end == std::string_view::npos) {
        return Fail(
            ErrorCode::kUnavailable,
            "squeue's list of jobs ends inside a job or is none; is it Slurm's own squeue?");
      }
      row.Add(column.scontrol, text.substr(0, end));
      text.remove_prefix(end + mark.size());
    }
    if (text.starts_with('\n')) text.remove_prefix(1);
    const int64_t id = WholeNumber(row.Raw("JobId"));
    if (id > 0) list.try_emplace(id, std::move(row));
  }
  return {};
}

ReadJobs ParseJobs(std::string_view text, const JobList& list) {
  return JobTextReader(text, list).Read();
}

int64_t CountCpuIds(std::string_view ids) {
  constexpr int64_t kMostCpus = 65'535;  // of a node, in Slurm
  int64_t count = 0;
  for (std::string_view range : SplitAt(ids, ',')) {
    const size_t dash = range.find('-');
    if (dash == std::string_view::npos) {
      count += range.empty() ? 0 : 1;
    } else {
      const int64_t low = std::max<int64_t>(ToInteger(range.substr(0, dash)), 0);
      const int64_t high = std::min(ToInteger(range.substr(dash + 1)), kMostCpus);
      count += std::max<int64_t>(high - low + 1, 0);
    }
  }
  return std::min(count, kMostCpus);
}

}  // namespace gpuadvise::collect
