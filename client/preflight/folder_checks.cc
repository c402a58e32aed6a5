// Checks the folders that a job needs before it starts: its working folder, its output folder and
// the folders of its logs. Pure functions.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "client/preflight/preflight.h"

namespace gpuadvise::client {
namespace {

using Kind = PathFacts::Kind;

// Words for messages about a folder: its key and who creates it.
struct Wording {
  const char* subject;
  const char* key;
  const char* maker;
};

constexpr Wording kOutput = {"output", "output.dir", "the job makes it"};
constexpr Wording kLog = {"log", "--output", "it is created on submission"};

Check Warn(const char* subject, std::string finding) {
  return {Health::kWarning, subject, std::move(finding)};
}
Check Refuse(const char* subject, std::string finding) {
  return {Health::kError, subject, std::move(finding)};
}

// Problems of a path that are visible in its text.
std::optional<Check> TroubleWithWords(const char* subject, const JobPath& path) {
  if (path.has_command) {
    return Warn(
        subject,
        path.name +
            ": command substitution does not run in a path; write a plain name or a variable");
  }
  if (!path.not_set.empty()) {
    return Warn(subject, fmt::format("{}: ${} has no value here, so it would be {}; set it, or "
                                     "write the path out",
                                     path.name, path.not_set, path.found.path));
  }
  if (!path.found.trouble.empty()) {
    return Refuse(subject,
                  fmt::format("{} cannot be inspected: {}; use another folder, or ask its owner",
                              path.found.path, path.found.trouble));
  }
  return {};
}

bool IsRoot(const std::string& path) {
  return std::filesystem::path(path).lexically_normal() == "/";
}

std::string ShownName(const JobPath& path) {
  return path.only_in_job.empty() ? path.found.path : path.name;
}

Check ExistingFolder(const JobPath& path, const Wording& wording) {
  const PathFacts& found = path.found;
  if (found.kind != Kind::kFolder) {
    return Refuse(wording.subject,
                  fmt::format("{} is not a folder; give {} another name", found.path, wording.key));
  }
  if (!found.writable) {
    return Refuse(
        wording.subject,
        fmt::format("{} is not writable; ask its owner, or set {} to a folder of your own",
                    found.path, wording.key));
  }
  if (path.only_in_job.empty()) return {Health::kOk, wording.subject, found.path + ", writable"};
  return {Health::kOk, wording.subject,
          fmt::format("{}: {} is writable; the rest is known at run time", path.name, found.path)};
}

Check MissingFolder(const JobPath& path, const Wording& wording) {
  const PathFacts& found = path.found;
  if (found.above_writable) {
    return {Health::kOk, wording.subject,
            fmt::format("{} does not exist yet: {}", ShownName(path), wording.maker)};
  }
  return Refuse(wording.subject, fmt::format("{} does not exist and cannot be created: {} is not "
                                             "writable; set {} to a folder of your own",
                                             found.path, found.above, wording.key));
}

Check FolderCheck(const JobPath& path, const Wording& wording) {
  if (const auto trouble = TroubleWithWords(wording.subject, path)) return *trouble;
  return path.found.exists() ? ExistingFolder(path, wording) : MissingFolder(path, wording);
}

bool IsDevice(const JobPath& log) { return log.name.starts_with("/dev/"); }

Check LogFolderCheck(const JobPath& log) {
  // A folder with %j in its name cannot be created before the job runs.
  if (!log.only_in_job.empty()) {
    return Refuse("log", fmt::format("{}: Slurm creates no folders, and {} is known only at run "
                                     "time; put it into the file name",
                                     log.name, log.only_in_job));
  }
  return FolderCheck(log, kLog);
}

}  // namespace

Check OutputFolderCheck(const JobPlan& plan, const JobFacts& facts) {
  if (!facts.output && plan.output_dir.empty()) {
    return {Health::kOk, "output",
            "no output folder given (output.dir, or --output_dir in the command): not checked"};
  }
  if (!facts.output) {
    return {Health::kOk, "output",
            plan.output_dir + " is in a folder known only at run time: not checked"};
  }
  if (IsRoot(facts.output->found.path) && facts.output->only_in_job.empty()) {
    return Refuse("output",
                  "/ is the root of the file system; set output.dir to a folder of your own");
  }
  return FolderCheck(*facts.output, kOutput);
}

std::vector<Check> LogFolderChecks(const JobFacts& facts) {
  std::vector<Check> checks;
  for (const JobPath& log : facts.logs) {
    if (!IsDevice(log)) checks.push_back(LogFolderCheck(log));
  }
  return checks;
}

std::vector<Check> WorkdirChecks(const JobFacts& facts) {
  if (!facts.workdir) return {};
  const JobPath& workdir = *facts.workdir;
  if (const auto trouble = TroubleWithWords("workdir", workdir)) return {*trouble};
  if (!workdir.only_in_job.empty()) {
    return {{Health::kOk, "workdir",
             fmt::format("{} is known only at run time: not checked", workdir.name)}};
  }
  const PathFacts& found = workdir.found;
  if (!found.exists()) {
    return {Refuse(
        "workdir",
        found.path +
            " does not exist, so the job would fail at once; create it, or correct workdir:")};
  }
  if (found.kind != Kind::kFolder) return {Refuse("workdir", found.path + " is not a folder")};
  if (!found.executable) {
    return {Refuse("workdir", found.path + " is not accessible; ask its owner")};
  }
  return {{Health::kOk, "workdir", found.path}};
}

std::vector<std::string> LogFoldersToMake(const JobFacts& facts) {
  std::vector<std::string> folders;
  for (const JobPath& log : facts.logs) {
    const PathFacts& found = log.found;
    if (found.exists() || !found.above_writable || !log.only_in_job.empty()) continue;
    if (!found.trouble.empty() || IsDevice(log)) continue;
    if (std::find(folders.begin(), folders.end(), found.path) == folders.end()) {
      folders.push_back(found.path);
    }
  }
  return folders;
}

}  // namespace gpuadvise::client
