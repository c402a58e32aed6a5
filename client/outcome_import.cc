#include "client/outcome_import.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "client/answer_reader.h"
#include "client/run/outcome_reader.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

namespace fs = std::filesystem;

constexpr size_t kMostFolders = 50;
constexpr size_t kMostEntries = 10'000;  // of a folder that is looked through

bool IsTrue(const json& job, const char* key) {
  const auto member = job.find(key);
  return member != job.end() && *member == true;
}

bool LacksOutcome(const json& job) {
  if (!job.is_object() || TextOf(job, "state") == "pending") return false;
  return !IsTrue(job, "has_outcome") || IsTrue(job, "outcome_running");
}

// The bytes of the path as they are: TextOf would replace some of them.
std::string OutputFolder(const json& job) {
  const auto member = job.find("output_dir");
  if (member == job.end() || !member->is_string()) return {};
  const auto& path = member->get_ref<const std::string&>();
  return path.starts_with('/') ? path : std::string();
}

// The folders in `folder` that have an outcome, by name.
std::vector<std::string> OutcomesBelow(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  size_t seen = 0;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (++seen > kMostEntries) break;
    const fs::path file = entry->path() / kOutcomeFile;
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(file, ignored))) files.push_back(file.string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string InFolder(const std::string& folder) {
  return folder + (folder.ends_with('/') ? "" : "/") + kOutcomeFile;
}

Result<void> Post(const FoundOutcome& found, Api& api) {
  if (found.outcome.job_id.empty()) {
    return BadInput("it was written outside of a Slurm job, so no job can be credited with it");
  }
  const Result<json> answer = api.Post("/v1/outcomes", found.document);
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
    const std::string own = InFolder(path);
    const std::vector<std::string> below = OutcomesBelow(path);
    // Its own also where there is none at all, so that this is said.
    if (fs::exists(fs::symlink_status(own, error)) || below.empty()) files.push_back(own);
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

std::vector<std::string> FoldersWithoutOutcome(const json& jobs) {
  std::vector<std::string> folders;
  std::set<std::string> seen;
  size_t lacking = 0;
  for (const json& job : jobs) {
    if (!LacksOutcome(job)) continue;
    if (++lacking > kMostFolders) break;
    const std::string folder = OutputFolder(job);
    if (!folder.empty() && seen.insert(folder).second) folders.push_back(folder);
  }
  return folders;
}

Result<std::vector<ImportedFile>> ImportOutcomes(const std::vector<std::string>& files, uid_t owner,
                                                 Api& api) {
  std::vector<ImportedFile> imported;
  for (const std::string& path : files) {
    ImportedFile& one = imported.emplace_back(ImportedFile{path, "", ""});
    const Result<FoundOutcome> found = ReadOutcomeFile(path, owner);
    const Result<void> posted = found ? Post(*found, api) : tl::unexpected<Error>(found.error());
    if (posted) {
      one.job_id = found->outcome.job_id;
    } else if (found && posted.error().code == ErrorCode::kUnavailable) {
      return tl::unexpected<Error>(posted.error());
    } else {
      one.sentence = posted.error().message;
    }
  }
  return imported;
}

size_t ImportOwnOutcomes(const json& jobs, uid_t owner, Api& api) {
  std::set<std::string> lacking;
  for (const json& job : jobs) {
    if (LacksOutcome(job)) lacking.insert(std::to_string(IntOf(job, "job_id")));
  }
  size_t taken = 0;
  for (const std::string& folder : FoldersWithoutOutcome(jobs)) {
    const Result<FoundOutcome> found = ReadOutcomeFile(InFolder(folder), owner);
    if (!found || !lacking.contains(found->outcome.job_id)) continue;
    const Result<void> posted = Post(*found, api);
    if (posted) ++taken;
    if (!posted && posted.error().code == ErrorCode::kUnavailable) break;
  }
  return taken;
}

}  // namespace gpuadvise
