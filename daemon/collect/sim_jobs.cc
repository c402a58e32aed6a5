#include "daemon/collect/sim_jobs.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/json_fields.h"
#include "common/process/files.h"

namespace gpuadvise::collect {
namespace {

constexpr size_t kMaxJobBytes = 64 << 10;
constexpr size_t kMostFiles = 20'000;
constexpr int64_t kMost = 1'000'000;  // maximum of each requested quantity

std::optional<std::string> ReadOwnFile(const std::string& path) {
  const auto file = OpenRegularFile(path, {kMaxJobBytes, "job", ::geteuid()});
  if (!file) return std::nullopt;
  const auto text = ReadAll(file->descriptor, kMaxJobBytes);
  if (!text) return std::nullopt;
  return *text;
}

std::optional<int64_t> NumberAtStart(const std::string& text) {
  int64_t number = 0;
  const auto code = std::from_chars(text.data(), text.data() + text.size(), number).ec;
  if (code != std::errc() || number < 0) return std::nullopt;
  return number;
}

// Names of files ending in ".job" or ".end"; job files first, so that each end finds its job.
std::vector<std::string> ListJobFiles(const std::string& folder) {
  std::set<std::string> jobs, ends;
  std::error_code trouble;
  std::filesystem::directory_iterator entries(folder, trouble);
  for (const auto& entry : trouble ? std::filesystem::directory_iterator() : entries) {
    std::string name = entry.path().filename().string();
    if (jobs.size() + ends.size() >= kMostFiles) break;
    if (name.ends_with(".job"))
      jobs.insert(std::move(name));
    else if (name.ends_with(".end"))
      ends.insert(std::move(name));
  }
  std::vector<std::string> names(jobs.begin(), jobs.end());
  names.insert(names.end(), ends.begin(), ends.end());
  return names;
}

}  // namespace

std::optional<SimJob> SimJobFrom(const std::string& text) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  DocumentErrors errors;
  FieldReader reader(document, "", &errors);
  const auto count = [&](const char* key) { return reader.Int(key, 1, kMost).value_or(0); };
  Job job;
  job.id = reader.Int("id", 1, INT64_C(1) << 40).value_or(0);
  if (const auto task = reader.Int("task", 0, kMost)) {  // the first has the array's number
    job.array_job_id = reader.Int("array", 1, INT64_C(1) << 40).value_or(job.id);
    job.array_tasks = std::to_string(*task);
  }
  job.name = reader.Text("name").value_or("");
  job.user = reader.Text("user").value_or("");
  job.uid = reader.Int("uid", 0, UINT32_MAX).value_or(-1);
  job.account = reader.Text("account").value_or("");
  job.qos = "normal";
  job.submit_time = reader.Int("submit", 1, INT64_C(1) << 40).value_or(0);
  job.eligible_time = job.submit_time;
  JobRequest& request = job.request;
  request.partitions = {reader.Text("partition").value_or("")};
  request.nodes_min = count("nodes");
  request.nodes_max = request.nodes_min;
  request.tasks = request.nodes_min;
  request.cpus_per_task = count("cpus");
  request.cpus = request.tasks * request.cpus_per_task;
  request.memory_per_node_mib = reader.Int("memory_mib", 1, INT64_C(1) << 40).value_or(0);
  request.gpus_per_node = {{reader.Text("gpu_type").value_or(""), count("gpus")}};
  request.time_limit_seconds = reader.Int("limit_seconds", 1, INT64_C(1) << 31).value_or(0);
  const bool whole = job.id > 0 && job.uid >= 0 && *job.submit_time > 0 && request.cpus > 0 &&
                     request.gpus_per_node.front().count > 0 &&
                     request.memory_per_node_mib.value() > 0 &&
                     request.time_limit_seconds.value() > 0;
  if (errors.failed() || !whole) return std::nullopt;
  const int64_t limit = request.time_limit_seconds.value();
  return SimJob{std::move(job), limit};
}

SimJobFolder::News SimJobFolder::Look() {
  News news;
  for (const std::string& name : ListJobFiles(path_)) {
    if (read_.contains(name)) continue;
    const auto text = ReadOwnFile(path_ + "/" + name);
    if (!text) continue;
    read_.insert(name);
    if (name.ends_with(".job")) {
      if (auto job = SimJobFrom(*text)) news.submitted.push_back(std::move(*job));
      continue;
    }
    const auto id = NumberAtStart(name);
    const auto at = NumberAtStart(*text);
    if (id && at) news.ended.push_back({*id, *at});
  }
  return news;
}

}  // namespace gpuadvise::collect
