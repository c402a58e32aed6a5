// Whatever users write into a job, no other job appears, is hidden or changed, and no other field
// of their own is.
//
// The input is text between NULs: a name, a label, an account, a comment and the rest that scontrol
// prints behind it. Raw, it is a text of scontrol and a list of squeue as well.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/base/text.h"
#include "daemon/collect/scontrol_jobs.h"
#include "tests/fuzz/fuzz_input.h"

namespace gpuadvise::collect {
namespace {

constexpr std::string_view kMark = "@no-one-knows@";

struct Written {
  std::string name = "x";
  std::string label = "N/A";
  std::string account = "lab";
  std::string comment = "x";
  std::string rest = "x";
};

std::string RecordOf(const std::string& id, const std::string& uid, const Written& written) {
  return "JobId=" + id + " JobName=" + written.name + "\n   UserId=u(" + uid +
         ") GroupId=g(1) MCS_label=" + written.label +
         "\n   Priority=5 Nice=0 Account=" + written.account +
         " QOS=q\n   JobState=RUNNING Reason=None Dependency=(null)\n   TimeLimit=01:00:00\n"
         "   Partition=p AllocNode:Sid=l:1\n   NodeList=n1\n   NumNodes=1 NumCPUs=2 NumTasks=1\n"
         "     Nodes=n1 CPU_IDs=0-1 Mem=9 GRES=gpu:a:1(IDX:0)\n   MinCPUsNode=1 MinMemoryNode=9M\n"
         "   OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)\n   Command=(null)\n"
         "   WorkDir=/\n   Comment=" +
         written.comment + "\n   StdOut=" + written.rest + "\n   \n\n";
}

std::string ListedOf(const std::string& id, const std::string& uid, const Written& written) {
  std::string row;
  const std::string format = JobListFormat(kMark);
  for (const std::string_view column : SplitAt(format, ',')) {
    const std::string_view name = column.substr(0, column.find(':'));
    std::string value = "(null)";
    if (name == "JobID") value = id;
    if (name == "UserID") value = uid;
    if (name == "State") value = "RUNNING";
    if (name == "Name") value = written.name;
    if (name == "MCSLabel") value = written.label;
    if (name == "Account") value = written.account;
    if (name == "QOS") value = "q";
    if (name == "Comment") value = written.comment;
    row += value + std::string(kMark);
  }
  return row + "\n";
}

// As they are read when scontrol prints `records`, by their ids.
std::vector<Job> JobsOf(const std::map<int64_t, std::string>& records, const std::string& listed) {
  JobList list;
  Require(AddListedJobs(listed, kMark, list).has_value(), "the list can be read");
  std::string text;
  for (const auto& [id, record] : records) text += record;
  ReadJobs read = ParseJobs(text, list);
  for (const int64_t id : read.doubled) AddJobShownAlone(records.at(id), id, list, read);
  std::sort(read.jobs.begin(), read.jobs.end(),
            [](const Job& a, const Job& b) { return a.id < b.id; });
  return std::move(read.jobs);
}

void CheckWritten(std::string_view text) {
  Written written;
  std::string* const parts[] = {&written.name, &written.label, &written.account, &written.comment,
                                &written.rest};
  for (std::string* part : parts) {
    *part = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(part->size() + 1, text.size()));
  }
  // What has the mark was written by who knows it.
  if (ListedOf("", "", written).find(kMark) == std::string::npos) return;
  for (const std::string* part : parts) {
    if (part->find('@') != std::string::npos) return;
  }
  const Written plain;
  const Job mine = JobsOf({{7, RecordOf("7", "1001", plain)}}, ListedOf("7", "1001", plain)).at(0);
  const Job other = JobsOf({{8, RecordOf("8", "1002", plain)}}, ListedOf("8", "1002", plain)).at(0);
  const auto jobs = JobsOf({{7, RecordOf("7", "1001", written)}, {8, RecordOf("8", "1002", plain)}},
                           ListedOf("7", "1001", written) + ListedOf("8", "1002", plain));
  Require(jobs.size() == 2, "no job appears or is hidden");
  Job read = jobs[0];
  read.name = mine.name;
  read.account = mine.account;
  Require(read == mine, "what a user writes changes no other field");
  Require(jobs[1] == other, "nor another job");
}

}  // namespace
}  // namespace gpuadvise::collect

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::collect;
  const std::string_view text = AsText(data, size);
  CheckWritten(text);
  JobList list;
  if (const auto added = AddListedJobs(text, "|", list); !added) {
    Require(!added.error().message.empty(), "an error has a sentence");
  }
  std::string head;
  for (int64_t id = 1; id < 9; ++id) head += ListedOf(std::to_string(id), "1001", Written());
  JobList eight;
  Require(AddListedJobs(head, kMark, eight).has_value(), "the list can be read");
  const ReadJobs read = ParseJobs(text, eight);
  for (const Job& job : read.jobs) {
    Require(eight.contains(job.id) && job.uid == 1001, "only listed jobs of their users");
    Require(text.find("JobId=" + std::to_string(job.id)) != std::string_view::npos,
            "none invented");
  }
  Require(read.jobs.size() <= eight.size(), "each once");
  for (const Job& job : read.jobs) {
    Require(std::find(read.doubled.begin(), read.doubled.end(), job.id) == read.doubled.end(),
            "none that has two records");
  }
  ReadJobs alone;
  AddJobShownAlone(text, 3, eight, alone);
  Require(alone.jobs.empty() || (text.starts_with("JobId=3") && alone.jobs[0].id == 3),
          "alone, the first record counts");
  CountCpuIds(text);
  return 0;
}
