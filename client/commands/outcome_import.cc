#include "client/commands/outcome_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "client/run/outcome_file.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

namespace fs = std::filesystem;

constexpr size_t kMostJobs = 50;
constexpr size_t kMostEntries = 10'000;  // of a folder that is looked through

bool LacksOutcome(const api::Experiment& job) {
  return job.state != "pending" && (!job.measured.has_outcome || job.measured.outcome_running);
}

std::string InFolder(const std::string& folder, const std::string& name) {
  return folder + (folder.ends_with('/') ? "" : "/") + name;
}

// The name that an outcome gets when a later job writes its own into the same folder.
std::string KeptName(int64_t job_id) { return fmt::format("gpuadvise-outcome-{}.json", job_id); }

bool IsOutcomeName(const std::string& name) {
  return name == kOutcomeFile ||
         (name.starts_with("gpuadvise-outcome-") && name.ends_with(".json"));
}

// The entries of `folder` by name; of what cannot be read none.
std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end;
       !error && entry != end && entries.size() < kMostEntries; entry.increment(error)) {
    entries.push_back(entry->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

void AddOutcomesIn(const fs::path& folder, std::vector<std::string>& files) {
  for (const fs::path& entry : EntriesOf(folder)) {
    if (IsOutcomeName(entry.filename().string())) files.push_back(entry.string());
  }
}

Result<void> Post(const Outcome& outcome, Api& api) {
  if (outcome.job_id == 0) {
    return BadInput("it was written outside a Slurm job, so it belongs to no job");
  }
  const Result<json> answer = api.Post("/v1/outcomes", ToJson(outcome));
  if (!answer) return tl::unexpected<Error>(answer.error());
  return {};
}

}  // namespace

std::vector<std::string> OutcomeFilesAt(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const size_t before = files.size();
    AddOutcomesIn(path, files);
    for (const fs::path& entry : EntriesOf(path)) {
      if (fs::is_directory(fs::symlink_status(entry, error))) AddOutcomesIn(entry, files);
    }
    if (files.size() == before) files.push_back(InFolder(path, kOutcomeFile));  // to be said
  }
  return files;
}

std::vector<std::string> OwnOutcomeFiles(const std::vector<api::Experiment>& jobs) {
  std::vector<std::string> files;
  std::set<std::string> seen;
  size_t lacking = 0;
  for (const api::Experiment& job : jobs) {
    if (!LacksOutcome(job)) continue;
    if (++lacking > kMostJobs) break;
    const std::string folder = job.output_dir.value_or("");
    if (!folder.starts_with('/')) continue;
    for (const std::string& name : {std::string(kOutcomeFile), KeptName(job.job_id)}) {
      std::string path = InFolder(folder, name);
      if (seen.insert(path).second) files.push_back(std::move(path));
    }
  }
  return files;
}

Result<std::vector<ImportedFile>> ImportOutcomes(const std::vector<std::string>& files, uid_t owner,
                                                 Api& api) {
  std::vector<ImportedFile> imported;
  for (const std::string& path : files) {
    ImportedFile& one = imported.emplace_back(ImportedFile{path, "", ""});
    const Result<Outcome> found = ReadOutcomeFile(path, owner);
    const Result<void> posted = found ? Post(*found, api) : tl::unexpected<Error>(found.error());
    if (posted) {
      one.job_id = std::to_string(found->job_id);
    } else if (found && posted.error().code == ErrorCode::kUnavailable) {
      return tl::unexpected<Error>(posted.error());
    } else {
      const Error& error = posted.error();
      one.sentence = (error.pointer.empty() ? "" : "at " + error.pointer + ": ") + error.message;
    }
  }
  return imported;
}

size_t ImportOwnOutcomes(const std::vector<api::Experiment>& jobs, uid_t owner, Api& api) {
  std::set<int64_t> lacking;
  for (const api::Experiment& job : jobs) {
    if (LacksOutcome(job)) lacking.insert(job.job_id);
  }
  size_t taken = 0;
  for (const std::string& path : OwnOutcomeFiles(jobs)) {
    const Result<Outcome> found = ReadOutcomeFile(path, owner);
    if (!found || !lacking.contains(found->job_id)) continue;
    const Result<void> posted = Post(*found, api);
    if (posted) ++taken;
    if (!posted && posted.error().code == ErrorCode::kUnavailable) break;
  }
  return taken;
}

}  // namespace gpuadvise::client
