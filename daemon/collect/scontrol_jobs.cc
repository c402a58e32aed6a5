#include "daemon/collect/scontrol_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "daemon/collect/licenses.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise::collect {
namespace {

std::optional<UnixSeconds> ParseTime(const TextRecord& record, std::string_view key) {
  return ParseTimestamp(record.Get(key)).value_or(std::nullopt);
}

// "lab1(1001)": the name may contain parentheses; the number is in the last pair.
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
  job.submit_time = ParseTime(record, "SubmitTime");
  job.eligible_time = ParseTime(record, "EligibleTime");
  job.start_time = ParseTime(record, "StartTime");
  if (job.state != JobState::kPending) job.end_time = ParseTime(record, "EndTime");
  job.requeue = record.Integer("Requeue", 1) != 0;
  job.expedited_requeue = record.IsYes("ExpeditedRequeue");
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

void ParsePlacement(const TextRecord& record, JobRequest& request) {
  request.switches = record.Integer("ReqSwitch");
  if (request.switches > 0)
    request.switches_wait_seconds = DurationOf(record, "Wait4Switch").value_or(0);
  request.segment_nodes = record.Integer("SegmentSize");
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
  FillSharing(record.Raw("OverSubscribe"), record.Raw("Exclusive"), request);
  ParsePlacement(record, request);
  const std::string_view held = record.Get("LicensesAlloc");
  FillLicenses(held.empty() ? record.Get("Licenses") : held, request);
  request.time_limit_seconds = DurationOf(record, "TimeLimit");
  request.reservation = record.Get("Reservation");
  return request;
}

// The detail lines "Nodes=n[1-2] CPU_IDs=0-3 Mem=8000 GRES=gpu:a100:2(IDX:0-1)", one for each
// group of nodes with equal allocations.
std::vector<Allocation> ParseAllocations(const TextRecord& record) {
  std::vector<Allocation> allocations;
  size_t group = 0;  // index of the current line's first node
  const auto on_each = [&](auto change) {
    for (size_t i = group; i < allocations.size(); ++i) change(allocations[i]);
  };
  for (const auto& [key, value] : record.fields()) {
    if (key == "Nodes") {
      group = allocations.size();
      for (std::string& name : Hosts(value)) {
        allocations.push_back({.node = std::move(name), .gpus = {}});
      }
    } else if (key == "CPU_IDs") {
      on_each([n = CountCpuIds(value)](Allocation& a) { a.cpus = n; });
    } else if (key == "Mem") {
      on_each([n = ToMib(value)](Allocation& a) { a.memory_mib = n; });
    } else if (key == "GRES") {
      const Gres gres = GresOf(OrNothing(value));
      on_each([&gres](Allocation& a) {
        a.gpus = gres.gpus;
        a.shards = gres.shards;
        a.mps = gres.mps;
      });
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

// ---- squeue's list -----------------------------------------------------------------------------

struct Column {
  std::string_view squeue;
  std::string_view scontrol;
  bool counts = false;  // read from the list, not from scontrol's text
};
// First the identity of the record, then user-written texts before the last field that is read from
// scontrol, then fields that scontrol prints only after that.
constexpr std::array kColumns = {
    Column{"JobID", "JobId"},
    Column{"ArrayJobID", "array"},
    Column{"UserID", "uid"},
    Column{"State", "JobState"},
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
    Column{"Licenses", "Licenses", true},
    Column{"ReqSwitch", "ReqSwitch", true},
    Column{"Wait4Switch", "Wait4Switch", true},
};

// A user id; squeue prints ids of 2^31 and above as negative numbers.
std::optional<uint32_t> UserNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return static_cast<uint32_t>(value);
}

std::optional<uint32_t> ListedUser(const TextRecord& listed) {
  return UserNumber(listed.Raw("uid"));
}

// ---- records of scontrol -----------------------------------------------------------------------

// Keys at which reading a record word by word ends: Network, and user-written texts after it.
constexpr std::array<std::string_view, 9> kEndsFields = {"Network", "Command", "SubmitLine",
                                                         "WorkDir", "Comment", "AdminComment",
                                                         "StdErr",  "StdOut",  "MailUser"};

// End of the line at `at`, without its newline.
size_t LineEnd(std::string_view text, size_t at) {
  return std::min(text.find('\n', at), text.size());
}

// Reads fields that Slurm prints after users' texts and older squeue lacks. Users can fake such
// lines only for their own jobs; the last SegmentSize counts, which is Slurm's if there is one.
void ReadBehindTexts(std::string_view text, TextRecord& record) {
  constexpr std::string_view kSegment = "   SegmentSize=";
  constexpr std::string_view kExpedited = "ExpeditedRequeue=Yes";
  std::string_view segment;
  bool expedited = false;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (Trim(line).empty()) break;
    if (line.starts_with(kSegment)) segment = line.substr(kSegment.size());
    expedited = expedited || (line.starts_with("   ") && line.ends_with(kExpedited));
  }
  record.Add("SegmentSize", segment);
  record.Add("ExpeditedRequeue", expedited ? "Yes" : "");
}

// Reads the fields of the record at `at`. `listed`: its fields in squeue's list.
TextRecord ReadFields(std::string_view text, size_t at, const TextRecord& listed) {
  TextRecord record;
  while (at < text.size()) {
    const size_t end = LineEnd(text, at);
    const size_t key_length = KeyLength(text.substr(at, end - at));
    if (key_length > 0) {
      const std::string_view key = text.substr(at, key_length);
      if (IsOneOf(key, kEndsFields)) {
        ReadBehindTexts(text.substr(std::min(end + 1, text.size())), record);
        break;
      }
      const size_t begin = at + key_length + 1;
      const std::string_view known = listed.Raw(key);
      const bool is_there = !known.empty() && text.substr(begin).starts_with(known);
      at = begin + (is_there ? known.size() : 0);
      const std::string_view rest = text.substr(at, LineEnd(text, at) - at);
      at += key == "JobName" ? rest.size() : ValueLength(rest);
      record.Add(key, Trim(text.substr(begin, at - begin)));
    } else {
      at = end;
    }
    while (at < text.size() && text[at] == ' ') ++at;
    // Slurm indents further lines; a line without indentation is part of a user's text.
    while (at < text.size() && text[at] == '\n') {
      const size_t next = LineEnd(text, at + 1);
      const std::string_view line = text.substr(at + 1, next - at - 1);
      if (Trim(line).empty()) return record;
      at = line.starts_with("   ") ? at + 1 + line.find_first_not_of(' ') : next;
    }
  }
  return record;
}

std::optional<uint32_t> ReadUserId(const TextRecord& record) {
  const std::string_view user = record.Raw("UserId");
  const size_t open = user.rfind('(');
  return open == std::string_view::npos ? std::nullopt : UserNumber(user.substr(open + 1));
}

bool IsOfListedUser(const TextRecord& record, const TextRecord& listed) {
  const std::optional<uint32_t> user = ReadUserId(record);
  return user && user == ListedUser(listed);
}

// `record`, with squeue's values of the columns that are read from the list.
TextRecord WithListed(const TextRecord& record, const TextRecord& listed) {
  TextRecord whole;
  for (const Column& column : kColumns) {
    if (column.counts) whole.Add(column.scontrol, listed.Raw(column.scontrol));
  }
  for (const auto& [key, value] : record.fields()) whole.Add(key, value);
  return whole;
}

// Adds the job of a verified record unless it has ended.
void AddJob(const TextRecord& record, const TextRecord& listed, ReadJobs& read) {
  const std::optional<JobState> state = JobStateFromWord(record.Get("JobState"));
  if (state) read.jobs.push_back(ParseJob(WithListed(record, listed), *state));
  if (record.Raw("JobState").empty()) {
    read.left_out.Add(fmt::format("job {} cannot be read", listed.Raw("JobId")));
  }
}

// The job id if `line` looks like the first line of a record, else 0.
int64_t ReadJobId(std::string_view line) {
  constexpr std::string_view kFirst = "JobId=";
  if (!line.starts_with(kFirst)) return 0;
  line.remove_prefix(kFirst.size());
  if (line.starts_with('0')) return 0;  // never printed by Slurm
  return WholeNumber(line.substr(0, line.find(' '))).value_or(0);
}

// An apparent record: Slurm's own, or user-written text after an empty line.
struct Found {
  int64_t id = 0;
  TextRecord record;
  const TextRecord* listed = nullptr;  // null: squeue lists no such job
};

std::vector<Found> SplitRecords(std::string_view text, const JobList& list) {
  static const TextRecord kNothing;
  std::vector<Found> records;
  bool may_start = true;
  for (size_t at = 0; at < text.size();) {
    const size_t end = LineEnd(text, at);
    const std::string_view line = text.substr(at, end - at);
    if (const int64_t id = may_start ? ReadJobId(line) : 0; id > 0) {
      const auto known = list.find(id);
      const TextRecord* listed = known != list.end() ? &known->second : nullptr;
      records.push_back({id, ReadFields(text, at, listed != nullptr ? *listed : kNothing), listed});
    }
    may_start = Trim(line).empty();
    at = end + 1;
  }
  return records;
}

// Verifies the records of one text.
class JobTextReader {
 public:
  explicit JobTextReader(const JobList& list) {
    for (const auto& [id, listed] : list) {
      arrays_.emplace(WholeNumber(listed.Raw("array")).value_or(0), ListedUser(listed));
    }
  }

  ReadJobs Read(const std::vector<Found>& records) {
    for (const Found& found : records) {
      if (found.listed != nullptr && IsOfListedUser(found.record, *found.listed))
        ++times_[found.id];
    }
    for (const Found& found : records) Take(found);
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::unordered_set<int64_t> seen;
    for (const auto& [turn, id] : tasks_) {
      if (seen.insert(id).second) read_.unlisted_tasks.push_back(id);
    }
    return std::move(read_);
  }

 private:
  void Take(const Found& found) {
    if (found.listed == nullptr) return TakeUnlisted(found);
    if (!IsOfListedUser(found.record, *found.listed)) {
      return Complain("job {} has another user than in squeue's list", found.id);
    }
    if (times_[found.id] == 1) {
      AddJob(found.record, *found.listed, read_);
      holder_ = &found;
      turn_ = 0;
      return;
    }
    holder_ = nullptr;
    if (!doubled_.insert(found.id).second) return;
    read_.doubled.push_back(found.id);
    read_.left_out.Add(fmt::format(
        "job {} has {} records, of which others' texts may hold some; what Slurm says of it alone "
        "counts",
        found.id, times_[found.id]));
  }

  void TakeUnlisted(const Found& found) {
    if (!JobStateFromWord(found.record.Get("JobState"))) return;  // the job has ended
    const int64_t array = found.record.Integer("ArrayJobId");
    const bool may_be_task = array > 0 && arrays_.contains({array, ReadUserId(found.record)});
    if (may_be_task) tasks_.emplace_back(turn_++, found.id);
    Complain("job {} is not in squeue's list", found.id);
  }

  // Reports `what` with the id and, if unambiguous, the job whose text may contain the record.
  void Complain(fmt::format_string<const int64_t&> what, const int64_t& id) {
    std::string why = fmt::format(what, id);
    if (holder_ != nullptr) {
      why += fmt::format("; it follows job {} of user id {}, whose text may contain it",
                         holder_->id, ListedUser(*holder_->listed).value_or(0));
    }
    read_.left_out.Add(std::move(why));
  }

  std::set<std::pair<int64_t, std::optional<uint32_t>>> arrays_;  // listed arrays and their users
  ReadJobs read_;
  std::unordered_map<int64_t, int64_t> times_;  // records per job with the right user
  std::unordered_set<int64_t> doubled_;
  // Numbered after each record that is certainly Slurm's own: the first of each come first, then
  // the second, so that a text with thousands does not crowd out others.
  std::vector<std::pair<int64_t, int64_t>> tasks_;  // turn, id
  int64_t turn_ = 0;
  const Found* holder_ = nullptr;  // the last certain record; null: ambiguous
};

}  // namespace

std::string JobListFormat(std::string_view mark) {
  std::string format;
  for (const Column& column : kColumns) {
    // Width 0 means unlimited; by default squeue truncates fields.
    format += fmt::format("{}{}:0{}", format.empty() ? "" : ",", column.squeue, mark);
  }
  return format;
}

Result<void> AddListedJobs(std::string_view text, std::string_view mark, JobList& list) {
  while (!Trim(text).empty() && text != "\n") {
    // A warning after the last job; a truncated list does not end in a complete line.
    if (text.find(mark) == std::string_view::npos && text.ends_with('\n')) break;
    TextRecord row;
    for (const Column& column : kColumns) {
      const size_t end = text.find(mark);
      if (end == std::string_view::npos) {
        return Fail(ErrorCode::kUnavailable,
                    "squeue's list of jobs is cut off or not valid; is it Slurm's own squeue?");
      }
      row.Add(column.scontrol, text.substr(0, end));
      text.remove_prefix(end + mark.size());
    }
    if (text.starts_with('\n')) text.remove_prefix(1);
    const std::string_view first = row.Raw("JobId");  // warnings may precede it
    const int64_t id = WholeNumber(first.substr(first.rfind('\n') + 1)).value_or(0);
    if (id > 0) list.try_emplace(id, std::move(row));
  }
  return {};
}

ReadJobs ParseJobs(std::string_view text, const JobList& list) {
  return JobTextReader(list).Read(SplitRecords(text, list));
}

void AddJobShownAlone(std::string_view text, int64_t id, const JobList& list, ReadJobs& read) {
  const auto listed = list.find(id);
  if (listed == list.end() || ReadJobId(text.substr(0, LineEnd(text, 0))) != id) return;
  const TextRecord record = ReadFields(text, 0, listed->second);
  if (IsOfListedUser(record, listed->second)) AddJob(record, listed->second, read);
}

bool IsListedAs(const Job& job, const JobList& list) {
  const auto listed = list.find(job.id);
  return listed != list.end() && ListedUser(listed->second) == static_cast<uint32_t>(job.uid) &&
         JobStateFromWord(listed->second.Raw("JobState")) == job.state;
}

int64_t CountCpuIds(std::string_view ids) {
  constexpr int64_t kMostCpus = 65'535;  // of a node; Slurm's maximum
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
