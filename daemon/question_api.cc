#include "daemon/question_api.h"

#include <utility>

#include "common/answer_select.h"
#include "common/answer_training.h"
#include "daemon/asked_spec.h"
#include "daemon/frame.h"
#include "daemon/request_json.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

/// `answer` of the request's body, in the frame; `asked`: the body as it was understood.
using AnswerFunction = Result<json> (*)(const json&, const ClusterView&, const Submitter&);

Result<json> AnswerBody(const Call& call, AnswerFunction answer, json* asked = nullptr) {
  if (!call.view) return tl::unexpected<Error>(NoSnapshotYet(call.freshness));
  Result<json> body = ParseRequestJson(call.request.body);
  if (!body) return body;
  const Result<Explain> explain = TakeSpecText(*body, call.view->snapshot->taken_at);
  if (!explain) return tl::unexpected<Error>(explain.error());
  if (asked != nullptr) *asked = *body;
  Result<json> answered = answer(*body, ViewFor(call), CallerOf(call));
  return answered ? std::move(answered) : tl::unexpected<Error>((*explain)(answered.error()));
}

}  // namespace

ApiResponse Advise(Call& call) {
  json asked;
  Result<json> answer = AnswerBody(call, AnswerAdvise, &asked);
  if (!answer) return Refuse(call, answer.error());
  if (!call.peer.anonymous) {
    (*answer)["advice_id"] = call.state.advice.Add(call.peer.uid, {Text(asked), Text(*answer)});
    const std::string& folder = call.state.outcomes_dir;
    (*answer)["outcomes_dir"] = folder.empty() ? json() : json(folder);
  }
  return Reply(call, std::move(*answer));
}

ApiResponse When(Call& call) { return ReplyOrRefuse(call, AnswerBody(call, AnswerWhen)); }

ApiResponse Select(Call& call) {
  Result<json> answer = AnswerBody(call, AnswerSelect);
  if (!answer) return Refuse(call, answer.error());
  if (!call.peer.anonymous && answer->contains("strategies")) {
    (*answer)["advice_id"] =
        call.state.advice.Add(call.peer.uid, {call.request.body, Text(*answer)});
  }
  return Reply(call, std::move(*answer));
}

ApiResponse Fit(Call& call) { return ReplyOrRefuse(call, AnswerBody(call, AnswerFitHere)); }

ApiResponse Scale(Call& call) { return ReplyOrRefuse(call, AnswerBody(call, AnswerScaleHere)); }

}  // namespace gpuadvise
