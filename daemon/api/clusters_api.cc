#include "daemon/api/clusters_api.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/clusters/other_clusters.h"

namespace gpuadvise::daemon {

using nlohmann::json;

ApiResponse GetClusters(RequestContext& call) {
  json clusters = call.api.clusters == nullptr ? json::array() : call.api.clusters->Waits();
  return Reply(call, {{"clusters", std::move(clusters)}});
}

// The other daemon's own answer, whatever its status.
ApiResponse PostClusterAdvise(RequestContext& call) {
  if (call.api.clusters == nullptr) {
    return Refuse(call, {ErrorCode::kNotFound, "this daemon knows no other cluster", ""});
  }
  Result<LinkAnswer> answer = call.api.clusters->Ask(call.id, "/v1/advise", call.request.body);
  if (!answer) return Refuse(call, answer.error());
  ApiResponse response;
  response.status = answer->status;
  response.body = std::move(answer->body);
  return response;
}

}  // namespace gpuadvise::daemon
