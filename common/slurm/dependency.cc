#include "common/slurm/dependency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/job_id.h"

namespace gpuadvise {
namespace {

constexpr std::array<std::string_view, 8> kTypes = {"after",     "afterany",   "afterburstbuffer",
                                                    "aftercorr", "afternotok", "afterok",
                                                    "expand",    "singleton"};

// "12", "65_4", "65_*" or, of type `after`, "12+30" (minutes).
std::optional<JobId> ReadNamed(std::string_view text) {
  text = text.substr(0, text.find('+'));
  if (text.ends_with("_*")) text.remove_suffix(2);
  return ParseJobId(text);
}

class Reader {
 public:
  Reader(const Submitter& submitter, std::string_view name, const Snapshot& snapshot)
      : submitter_(submitter), name_(name), snapshot_(snapshot) {}

  Result<Dependencies> Read(std::string_view text) {
    const bool any = text.find('?') != std::string_view::npos;
    for (const std::string_view part : SplitAt(text, any ? '?' : ',')) {
      if (!Take(part)) {
        return BadInput(fmt::format("{} is no dependency such as afterok:123",
                                    Quoted(std::string(part.substr(0, 40)))));
      }
    }
    if (any) {
      found_.doubts.emplace_back(
          "--dependency: one of the jobs suffices; the forecast waits for all of them");
    }
    return std::move(found_);
  }

 private:
  bool Take(std::string_view part) {
    std::vector<std::string_view> words;
    for (const std::string_view word : SplitAt(part, ':')) words.push_back(word);
    if (words.empty() || std::find(kTypes.begin(), kTypes.end(), words.front()) == kTypes.end()) {
      return false;
    }
    if (words.front() == "singleton") return words.size() == 1 && TakeSingleton();
    if (words.size() < 2) return false;
    for (size_t i = 1; i < words.size(); ++i) {
      const std::optional<JobId> named = ReadNamed(words[i]);
      if (!named) return false;
      TakeJob(words.front(), std::string(words[i]), *named);
    }
    return true;
  }

  void TakeJob(std::string_view type, const std::string& text, const JobId& named) {
    const size_t before = found_.after.size();
    for (const Job& job : snapshot_.jobs) {
      // Slurm starts the job when the other has started.
      if (type == "after" && HoldsNodes(job)) continue;
      if (IsOf(job, named)) found_.after.push_back(job.id);
    }
    if (found_.after.size() == before) {
      if (type == "after") return;
      found_.doubts.push_back(
          fmt::format("--dependency: job {} neither waits nor runs, so it counts as ended", text));
    } else if (type == "afterok" || type == "aftercorr" || type == "afternotok") {
      found_.doubts.push_back(fmt::format("--dependency: never starts if job {} {}", text,
                                          type == "afternotok" ? "succeeds" : "fails"));
    } else if (type == "after") {
      found_.doubts.push_back(fmt::format(
          "--dependency: starts when job {} has started; the forecast waits for its end", text));
    }
  }

  bool TakeSingleton() {
    for (const Job& job : snapshot_.jobs) {
      if (job.uid == submitter_.uid && job.name == name_) found_.after.push_back(job.id);
    }
    return true;
  }

  const Submitter& submitter_;
  const std::string_view name_;
  const Snapshot& snapshot_;
  Dependencies found_;
};

}  // namespace

Result<Dependencies> ReadDependencies(std::string_view text, const Submitter& submitter,
                                      std::string_view name, const Snapshot& snapshot) {
  return Reader(submitter, name, snapshot).Read(text);
}

}  // namespace gpuadvise
