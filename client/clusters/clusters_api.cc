#include "client/clusters/clusters_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/api/answer_reader.h"
#include "client/clusters/merged_answer.h"
#include "common/api/advice.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr std::string_view kAdvicePath = "/v1/advice/";

// One daemon's answer; a silent one is found out before it is asked what takes time.
Result<json> AskOne(const Cluster& cluster, const std::function<Result<json>(Api&)>& ask) {
  DaemonClient probe(cluster.daemon, ClustersApi::kProbe, DaemonClient::Remedy::kNone);
  const Result<json> lives = probe.Get("/healthz");
  if (!lives && lives.error().code == ErrorCode::kUnavailable) return lives;
  DaemonClient daemon(cluster.daemon, std::chrono::seconds(30), DaemonClient::Remedy::kNone);
  return ask(daemon);
}

}  // namespace

ClustersApi::ClustersApi(std::vector<Cluster> clusters, Say say)
    : clusters_(std::move(clusters)), say_(std::move(say)) {}

Result<json> ClustersApi::AskAll(const std::string& target, const Ask& ask) {
  std::vector<std::future<Result<json>>> asked;
  for (const Cluster& cluster : clusters_) {
    asked.push_back(std::async(std::launch::async, AskOne, std::cref(cluster), std::cref(ask)));
  }
  std::vector<ClusterAnswer> answers;
  for (size_t i = 0; i < clusters_.size(); ++i) {
    answers.push_back({clusters_[i].name, asked[i].get()});
  }
  const Error* problem = nullptr;
  bool any = false;
  for (const auto& [cluster, answer] : answers) {
    any = any || answer;
    if (answer || (problem != nullptr && problem->code == ErrorCode::kUnavailable)) continue;
    if (problem == nullptr || answer.error().code == ErrorCode::kUnavailable) {
      problem = &answer.error();
    }
  }
  for (const auto& [cluster, answer] : answers) {
    if (!any || answer) continue;  // where nobody answers the error says it
    std::string& said = said_[cluster];
    if (std::exchange(said, answer.error().message) == answer.error().message) continue;
    say_(fmt::format("cluster {} is left out: {}", cluster, said));
  }
  if (!any) {
    Error error = *problem;
    for (const auto& [cluster, answer] : answers) {
      if (&answer.error() == problem) error.message = cluster + ": " + error.message;
    }
    return tl::unexpected<Error>(std::move(error));
  }
  for (const auto& [cluster, answer] : answers) {
    const std::string id = answer ? FromJson<api::Advice>(*answer, ShownText).advice_id : "";
    if (!id.empty()) advice_of_[id] = cluster;
  }
  return MergedAnswer(target, answers);
}

Result<json> ClustersApi::Get(const std::string& target) {
  return AskAll(target, [&](Api& api) { return api.Get(target); });
}

const Cluster* ClustersApi::GaveAdvice(const std::string& target) const {
  if (!target.starts_with(kAdvicePath)) return nullptr;
  const std::string id =
      target.substr(kAdvicePath.size(), target.find('/', kAdvicePath.size()) - kAdvicePath.size());
  const auto known = advice_of_.find(id);
  if (known == advice_of_.end()) return nullptr;
  return &*std::find_if(clusters_.begin(), clusters_.end(),
                        [&](const Cluster& one) { return one.name == known->second; });
}

Result<json> ClustersApi::Post(const std::string& target, const json& body) {
  if (const Cluster* cluster = GaveAdvice(target)) {
    return DaemonClient(cluster->daemon).Post(target, body);
  }
  return AskAll(target, [&](Api& api) { return api.Post(target, body); });
}

}  // namespace gpuadvise::client
