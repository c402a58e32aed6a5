#include "daemon/api_call.h"

#include <utility>

#include "daemon/dashboard/answer_cache.h"
#include "daemon/frame.h"

namespace gpuadvise {

using nlohmann::json;

ApiResponse Reply(const Call& call, json answer, int status) {
  return {status, Text(Framed(std::move(answer), call.view.get(), call.freshness)), ""};
}

ApiResponse Refuse(const Call& call, const Error& error) {
  return {StatusOf(error.code), Text(FramedError(error, call.view.get(), call.freshness)), ""};
}

ApiResponse ReplyOrRefuse(const Call& call, Result<json> answer) {
  return answer ? Reply(call, std::move(*answer)) : Refuse(call, answer.error());
}

Error NoSnapshotYet(const Freshness& freshness) {
  std::string cause =
      freshness.cause.value_or("the first one is on its way; ask again in a moment");
  return {ErrorCode::kUnavailable, "no snapshot of the cluster yet: " + std::move(cause), ""};
}

ClusterView ViewFor(const Call& call) {
  const View& view = *call.view;
  return {*view.snapshot,         *view.queue,         *view.at_limits,   view.knowledge->gpus,
          view.knowledge->models, call.state.for_each, call.learned.get()};
}

Submitter CallerOf(const Call& call) {
  Submitter caller;
  if (call.peer.anonymous) return caller;
  caller.uid = call.peer.uid;
  caller.user = call.state.users.NameOf(call.peer.uid);
  return caller;
}

ApiResponse ReplyOnce(const Call& call, const std::function<Result<json>()>& make) {
  if (!call.view) return Refuse(call, NoSnapshotYet(call.freshness));
  if (!call.peer.anonymous || call.state.shared == nullptr) {
    return ReplyOrRefuse(call, make());
  }
  Result<SharedText> text =
      call.state.shared->Get(call.view, call.freshness, call.request.target, make);
  if (!text) return Refuse(call, text.error());
  ApiResponse response;
  response.shared_body = std::move(*text);
  return response;
}

}  // namespace gpuadvise
