#include "daemon/state/outcome_folder.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "common/base/words.h"
#include "common/process/files.h"

namespace gpuadvise::daemon {
namespace {

namespace fs = std::filesystem;

int64_t ChangedAt(const struct stat& about) {
  return static_cast<int64_t>(about.st_mtim.tv_sec) * 1'000'000'000 + about.st_mtim.tv_nsec;
}

}  // namespace

int64_t OutcomeFolder::PickUp() {
  if (folder_.empty()) return 0;
  int64_t taken = 0;
  size_t looked_at = 0;
  std::map<uid_t, size_t> files_of;
  std::map<std::string, int64_t> before = std::exchange(seen_, {});
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with("gpuadvise-outcome-") || !name.ends_with(".json")) continue;
    struct stat about {};
    if (::lstat(it->path().c_str(), &about) != 0) continue;
    if (++files_of[about.st_uid] > kMostFilesOfOne || ++looked_at > kMostFiles) continue;
    if (const auto seen = before.find(name); seen != before.end()) seen_.insert(*seen);
    if (PickUpFile(name)) ++taken;
  }
  if (error) spdlog::warn("outcomes_dir {} cannot be read: {}", folder_, error.message());
  if (taken > 0) spdlog::info("{} picked up from {}", Plural(taken, "outcome"), folder_);
  return taken;
}

bool OutcomeFolder::PickUpFile(const std::string& name) {
  const auto file = OpenRegularFile(folder_ + "/" + name, {kMaxOutcomeBytes, "outcome", {}});
  if (!file) return false;
  const struct stat& about = file->about;
  const auto seen = seen_.find(name);
  if (seen != seen_.end() && seen->second == ChangedAt(about)) return false;
  const auto text = ReadAll(file->descriptor, kMaxOutcomeBytes);
  Result<Outcome> outcome = ReadOutcomeText(text.value_or(""));
  const bool readable = outcome && outcome->job_id > 0;
  // One that is not taken may be of a job that is not known yet: it is tried again.
  const bool taken = readable && take_(std::move(*outcome), static_cast<int64_t>(about.st_uid));
  if (taken || !readable) seen_[name] = ChangedAt(about);
  return taken;
}

}  // namespace gpuadvise::daemon
