#include "client/sweep/sweep_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "common/base/json_fields.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/process/files.h"
#include "common/slurm/array_tasks.h"

namespace gpuadvise::client {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMaxRecordBytes = 64 << 20;

tl::unexpected<Error> Cannot(const std::string& what, const std::error_code& code) {
  return Fail(ErrorCode::kUnavailable, what + ": " + code.message());
}

std::string RecordPath(const std::string& folder) { return folder + "/sweep.json"; }

json JsonOf(const SweepRecord& record) {
  json jobs = json::array();
  for (const SweepJob& job : record.jobs) {
    const ArrayTasks tasks{job.tasks, 0};
    jobs.push_back({{"id", job.id},
                    {"gpu", job.gpu},
                    {"partition", job.partition},
                    {"gpus_per_node", job.gpus_per_node},
                    {"nodes", job.nodes},
                    {"tasks", tasks.Slice(0, tasks.numbers.size(), 0)}});
  }
  const auto by_run = [](const std::map<int64_t, int64_t>& counts) {
    json object = json::object();
    for (const auto& [run, count] : counts) object[std::to_string(run)] = count;
    return object;
  };
  return {{"version", 1},
          {"source", record.source},
          {"work_folder", record.work_folder},
          {"array", record.array},
          {"objective", record.objective},
          {"fixed", record.fixed.values()},
          {"passed_on", record.passed_on},
          {"jobs", jobs},
          {"retries", by_run(record.retries)},
          {"placed", by_run(record.placed)},
          {"moving", record.moving},
          {"environment", record.environment},
          {"spec", record.spec}};
}

// Throws where the document is not one of ours.
SweepRecord RecordOf(const json& document) {
  SweepRecord record;
  record.source = document.at("source");
  record.work_folder = document.at("work_folder");
  record.array = document.at("array");
  record.objective = document.at("objective");
  record.passed_on = document.at("passed_on");
  record.spec = document.at("spec");
  for (const auto& [name, value] : document.at("fixed").items()) record.fixed.Set(name, value);
  for (const json& job : document.at("jobs")) {
    const Result<ArrayTasks> tasks = ParseArrayTasks(job.at("tasks").get<std::string>());
    if (!tasks) continue;
    record.jobs.push_back({job.at("id"), job.at("gpu"), job.at("partition"),
                           job.at("gpus_per_node"), job.at("nodes"), tasks->numbers});
  }
  const auto by_run = [&](const char* name, std::map<int64_t, int64_t>& counts) {
    for (const auto& [run, count] : document.at(name).items()) {
      if (const auto number = WholeNumber(run)) counts[*number] = count;
    }
  };
  by_run("retries", record.retries);
  by_run("placed", record.placed);
  record.moving = document.value("moving", std::set<int64_t>());
  record.environment = document.at("environment");
  return record;
}

// The links of a folder: number and number.
Result<std::map<int64_t, int64_t>> LinksIn(const std::string& folder) {
  std::error_code code;
  std::map<int64_t, int64_t> links;
  fs::directory_iterator files(folder, code);
  for (; !code && files != fs::directory_iterator(); files.increment(code)) {
    std::error_code ignored;
    const auto run = WholeNumber(files->path().filename().string());
    const auto to = WholeNumber(fs::read_symlink(files->path(), ignored).string());
    if (run && to) links[*run] = *to;
  }
  if (code) return Cannot(folder + " cannot be read", code);
  return links;
}

}  // namespace

std::map<std::string, std::string> ProgramVariables() {
  std::map<std::string, std::string> found;
  for (const char* name : {"PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) found[name] = value;
  }
  return found;
}

void AddJob(const Choice& choice, int64_t id, SweepRecord& record) {
  const auto tasks = ParseArrayTasks(choice.script.options.Get("array").value_or(""));
  const api::Strategy& strategy = choice.strategy;
  record.jobs.push_back({id, strategy.gpu, strategy.partition, strategy.gpus_per_node,
                         strategy.nodes, tasks ? tasks->numbers : std::vector<int64_t>()});
}

Result<SweepFolder> SweepFolder::Create(const std::string& path, SweepRecord record) {
  std::error_code code;
  const std::string absolute = fs::absolute(path, code).lexically_normal().string();
  if (fs::exists(absolute, code)) {
    return BadInput(fmt::format(
        "--sweep-dir: {} exists already; each sweep has a folder of its own", Quoted(path)));
  }
  SweepFolder folder(absolute, std::move(record));
  fs::create_directories(fs::path(absolute).parent_path(), code);
  for (const char* part : {"", "/taken", "/ended"}) {
    if (fs::create_directory(absolute + part, code)) continue;
    if (!code) code = std::make_error_code(std::errc::file_exists);
    return Cannot("--sweep-dir: " + Quoted(path) + " cannot be made", code);
  }
  if (const Result<void> saved = folder.Save(); !saved) {
    folder.Remove();
    return tl::unexpected<Error>(saved.error());
  }
  return folder;
}

bool SweepFolder::IsOne(const std::string& path) {
  std::error_code code;
  return fs::is_regular_file(RecordPath(path), code);
}

Result<SweepFolder> SweepFolder::Open(const std::string& path) {
  if (!IsOne(path)) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{} is not the folder of a sweep: it has no sweep.json", Quoted(path)));
  }
  Result<OpenedFile> file = OpenRegularFile(
      RecordPath(path), {.max_bytes = kMaxRecordBytes, .kind = "sweep.json", .owner = geteuid()});
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  const auto text = ReadAll(file->descriptor, kMaxRecordBytes);
  try {
    if (text) {
      std::error_code code;
      return SweepFolder(fs::absolute(path, code).lexically_normal().string(),
                         RecordOf(json::parse(*text)));
    }
  } catch (const json::exception&) {
    // Falls through: not ours.
  }
  return BadInput(fmt::format("{} cannot be read as a sweep", Quoted(RecordPath(path))));
}

Result<void> SweepFolder::Save() const {
  return ReplaceFile(RecordPath(path_), JsonOf(record_).dump(1) + "\n", 0600);
}

Result<void> SweepFolder::Lock() {
  lock_ =
      Descriptor(open((path_ + "/lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) {
    return Cannot(path_ + "/lock cannot be opened", {errno, std::generic_category()});
  }
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return {};  // a file system without locks: runs are still taken once
  return Fail(ErrorCode::kUnavailable, "another `gpuadvise sweep --keep` is at work on " + path_);
}

Result<std::map<int64_t, TakenRun>> SweepFolder::Taken() const {
  // Ends first: what ends meanwhile counts as running.
  const auto ended = LinksIn(path_ + "/ended");
  if (!ended) return tl::unexpected<Error>(ended.error());
  const auto taken = LinksIn(path_ + "/taken");
  if (!taken) return tl::unexpected<Error>(taken.error());
  std::map<int64_t, TakenRun> runs;
  for (const auto& [run, job] : *taken) runs[run].job = job;
  for (const auto& [run, status] : *ended) runs[run].status = static_cast<int>(status);
  return runs;
}

std::optional<int> SweepFolder::StatusOf(int64_t run) const {
  std::error_code ignored;
  const fs::path link = path_ + "/ended/" + std::to_string(run);
  const auto status = WholeNumber(fs::read_symlink(link, ignored).string());
  return status ? std::optional<int>(static_cast<int>(*status)) : std::nullopt;
}

Result<void> SweepFolder::Forget(int64_t run) const {
  for (const char* part : {"/taken/", "/ended/"}) {
    std::error_code code;
    fs::remove(path_ + part + std::to_string(run), code);
    if (code) return Cannot(path_ + " cannot be written", code);
  }
  return {};
}

void SweepFolder::Remove() const {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace gpuadvise::client
