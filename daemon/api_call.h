// One request on its way through the API: what handlers are given, and how they answer.
//
// The picture that a request is answered from never changes under it. Safe from any thread: a Call
// belongs to one.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/answers.h"
#include "common/error.h"
#include "daemon/handlers.h"

namespace gpuadvise {

/// One request on its way: the picture it is answered from never changes under it.
struct Call {
  const ApiRequest& request;
  const Peer& peer;
  ApiState& state;
  std::shared_ptr<const View> view;
  Freshness freshness;
  std::string id;  // the {id} of the path
  std::shared_ptr<const LearnedRuns> learned;
};

/// `answer` in the frame.
ApiResponse Reply(const Call& call, nlohmann::json answer, int status = 200);

/// `error` in the frame.
ApiResponse Refuse(const Call& call, const Error& error);

/// Either of both.
ApiResponse ReplyOrRefuse(const Call& call, Result<nlohmann::json> answer);

/// What `make` gives for the request: for callers without a name once for each view.
ApiResponse ReplyOnce(const Call& call, const std::function<Result<nlohmann::json>()>& make);

/// Why nothing can be answered before the first snapshot.
Error NoSnapshotYet(const Freshness& freshness);

/// REQUIRES: call.view.
ClusterView ViewFor(const Call& call);

Submitter CallerOf(const Call& call);

}  // namespace gpuadvise
