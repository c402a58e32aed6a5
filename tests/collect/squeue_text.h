// What squeue would print of jobs, in the collector's format.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/text.h"
#include "daemon/collect/scontrol_jobs.h"

namespace gpuadvise::collect {

inline constexpr std::string_view kMark = "@mark@";

// A job by squeue's names of the fields; what is not given is as of an ordinary job of lab1.
using Listed = std::map<std::string, std::string>;

inline std::string SqueueText(const std::vector<Listed>& jobs) {
  const std::string format = JobListFormat(kMark);
  std::string text;
  for (const Listed& job : jobs) {
    for (const std::string_view column : SplitAt(format, ',')) {
      const std::string name(column.substr(0, column.find(':')));
      const auto given = job.find(name);
      std::string value = name.starts_with("tres") || name == "mem-per-tres" ? "N/A" : "(null)";
      if (name == "UserID") value = "1001";
      if (name == "ReqSwitch") value = "0";
      if (given != job.end()) value = given->second;
      text += value + std::string(kMark);
    }
    text += '\n';
  }
  return text;
}

// The same of the records of a text in which nobody wrote anything odd.
inline std::vector<Listed> ListedIn(std::string_view text) {
  std::vector<Listed> jobs;
  for (const TextRecord& record : ParseRecords(text, "JobId")) {
    Listed& job = jobs.emplace_back();
    const auto copy = [&](const char* squeue, const char* scontrol) {
      const std::string_view value = record.Raw(scontrol);
      if (!value.empty()) job[squeue] = value;
    };
    for (const char* same :
         {"JobName:Name", "JobId:JobID", "JobState:State", "Account:Account", "QOS:QOS",
          "Reservation:Reservation", "TresPerJob:tres-per-job", "TresPerNode:tres-per-node",
          "TresPerSocket:tres-per-socket", "TresPerTask:tres-per-task", "MemPerTres:mem-per-tres",
          "Licenses:Licenses"}) {
      const std::string pair = same;
      const size_t colon = pair.find(':');
      copy(pair.substr(colon + 1).c_str(), pair.substr(0, colon).c_str());
    }
    const std::string_view user = record.Raw("UserId");
    if (!user.empty()) job["UserID"] = std::to_string(ToInteger(user.substr(user.rfind('(') + 1)));
  }
  return jobs;
}

// The jobs of `text` where squeue lists `listed`.
inline ReadJobs JobsOf(std::string_view text, const std::vector<Listed>& listed) {
  const std::string printed = SqueueText(listed);
  JobList list;
  const auto added = AddListedJobs(printed, kMark, list);
  return added ? ParseJobs(text, list) : ReadJobs();
}

}  // namespace gpuadvise::collect
