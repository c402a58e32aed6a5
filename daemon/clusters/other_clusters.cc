#include "daemon/clusters/other_clusters.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/base/words.h"
#include "daemon/tls/web_address.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

constexpr int kDeepest = 12;
constexpr size_t kMostGpus = 200;   // types of one cluster
constexpr size_t kMostShapes = 32;  // of one type, with their limits
constexpr size_t kLongestText = 200;

json ReadShallow(const std::string& text) {
  const json::parser_callback_t shallow = [](int depth, json::parse_event_t, json&) {
    return depth < kDeepest;
  };
  return json::parse(text, shallow, false);
}

json TextAt(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return "";
  return Shortened(found->get_ref<const std::string&>(), kLongestText);
}

json NumberAt(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? *found : json();
}

json CountAt(const json& object, const char* key) {
  const json number = NumberAt(object, key);
  return number.is_number_integer() && number >= 0 ? number : json(0);
}

const json& ListAt(const json& object, const char* key) {
  static const json kNone = json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kNone;
}

// Of GET /v1/waits what the page shows, in its form whatever the other daemon's version sends.
json GpusFrom(const json& waits) {
  json gpus = json::array();
  for (const json& from : ListAt(waits, "gpus")) {
    if (!from.is_object() || gpus.size() == kMostGpus) continue;
    json gpu = {{"gpu", TextAt(from, "gpu")},
                {"gpu_name", TextAt(from, "gpu_name")},
                {"total", CountAt(from, "total")},
                {"free", CountAt(from, "free")},
                {"waits", json::array()}};
    for (const json& shape : ListAt(from, "waits")) {
      if (!shape.is_object() || gpu["waits"].size() == kMostShapes) continue;
      gpu["waits"].push_back({{"gpus_per_node", CountAt(shape, "gpus_per_node")},
                              {"nodes", CountAt(shape, "nodes")},
                              {"time_limit_seconds", CountAt(shape, "time_limit_seconds")},
                              {"partition", TextAt(shape, "partition")},
                              {"wait_p50_seconds", NumberAt(shape, "wait_p50_seconds")},
                              {"wait_p90_seconds", NumberAt(shape, "wait_p90_seconds")}});
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace

Result<std::unique_ptr<OtherClusters>> OtherClusters::Make(
    const std::map<std::string, std::string>& addresses, const std::string& ca,
    std::chrono::milliseconds interval) {
  std::unique_ptr<OtherClusters> made(new OtherClusters());
  for (const auto& [name, address] : addresses) {
    const bool is_socket = address.starts_with('/');
    const Result<WebAddress> parsed = is_socket ? WebAddress() : ParseWebAddress(address);
    if (!parsed) return BadInput("clusters: " + name + ": " + parsed.error().message, "/clusters");
    made->clusters_.emplace(name, Cluster{DaemonLink(address, {ca, "", "", ""})});
  }
  if (!addresses.empty()) {
    made->thread_ = std::thread([others = made.get(), interval] { others->Run(interval); });
  }
  return made;
}

OtherClusters::~OtherClusters() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void OtherClusters::Run(std::chrono::milliseconds interval) {
  for (;;) {
    for (auto& [name, cluster] : clusters_) AskForWaits(cluster);
    std::unique_lock lock(mutex_);
    if (ends_.wait_for(lock, interval, [this] { return ending_; })) return;
  }
}

// Remembers whether it answered.
Result<LinkAnswer> OtherClusters::AskOne(Cluster& cluster, const std::string& method,
                                         const std::string& target, const std::string& body) {
  const auto begun = [&] {
    const std::lock_guard lock(mutex_);
    return cluster.asked.insert(Clock::now());
  }();
  Result<LinkAnswer> answer = cluster.link.Ask(method, target, body, kPatience);
  const std::lock_guard lock(mutex_);
  cluster.asked.erase(begun);
  if (answer) {
    cluster.failed.reset();
  } else {
    cluster.failed = Clock::now();
    cluster.problem = answer.error().message;
  }
  return answer;
}

void OtherClusters::AskForWaits(Cluster& cluster) {
  const Result<LinkAnswer> answer = AskOne(cluster, "GET", "/v1/waits", "");
  if (!answer) return;
  const json read = ReadShallow(answer->body);
  const std::lock_guard lock(mutex_);
  if (answer->status == 200 && read.is_object()) {
    cluster.gpus = GpusFrom(read);
    cluster.answered = Clock::now();
    cluster.problem.clear();
  } else {
    cluster.problem = fmt::format("it answers with HTTP status {}", answer->status);
  }
}

json OtherClusters::Waits() const {
  json clusters = json::array();
  const std::lock_guard lock(mutex_);
  for (const auto& [name, cluster] : clusters_) {
    json age;
    if (cluster.answered) {
      age = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - *cluster.answered)
                .count();
    }
    clusters.push_back({{"cluster", name},
                        {"gpus", cluster.gpus},
                        {"age_seconds", std::move(age)},
                        {"problem", cluster.problem.empty() ? json() : json(cluster.problem)}});
  }
  return clusters;
}

Result<LinkAnswer> OtherClusters::Ask(const std::string& cluster, const std::string& target,
                                      const std::string& body) {
  const auto found = clusters_.find(cluster);
  if (found == clusters_.end()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("this daemon knows no cluster {}; its site names them in clusters:",
                            Quoted(Shortened(cluster, kLongestText))));
  }
  {
    const std::lock_guard lock(mutex_);
    const Cluster& asked = found->second;
    if (asked.failed && Clock::now() - *asked.failed < kSilence) {
      return Fail(ErrorCode::kUnavailable, asked.problem);
    }
    if (!asked.asked.empty() && Clock::now() - *asked.asked.begin() > 2 * kPatience) {
      return Fail(ErrorCode::kUnavailable, "an earlier question waits for the name server still");
    }
  }
  return AskOne(found->second, "POST", target, body);
}

}  // namespace gpuadvise::daemon
