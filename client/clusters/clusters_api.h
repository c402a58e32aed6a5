// Several daemons behind the one Api: each question goes to all of them at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/api/daemon_client.h"
#include "client/clusters/cluster.h"

namespace gpuadvise::client {

class ClustersApi : public Api {
 public:
  using Say = std::function<void(const std::string& sentence)>;
  // A daemon that does not say within this that it lives is silent, and not waited for.
  static constexpr std::chrono::milliseconds kProbe{1000};

  // `say` is told of each cluster that gives no answer, once.
  ClustersApi(std::vector<Cluster> clusters, Say say);

  // The merged answer (merged_answer.h) of those that answer. Errors: that of the first where none
  // does; kUnavailable before others.
  Result<nlohmann::json> Get(const std::string& target) override;

  // The same; what follows from an advice goes to the cluster that gave it.
  Result<nlohmann::json> Post(const std::string& target, const nlohmann::json& body) override;

 private:
  using Ask = std::function<Result<nlohmann::json>(Api& api)>;

  Result<nlohmann::json> AskAll(const std::string& target, const Ask& ask);
  const Cluster* GaveAdvice(const std::string& target) const;

  const std::vector<Cluster> clusters_;
  const Say say_;
  std::map<std::string, std::string> advice_of_;  // id of an advice -> its cluster
  std::map<std::string, std::string> said_;       // cluster -> problem
};

}  // namespace gpuadvise::client
