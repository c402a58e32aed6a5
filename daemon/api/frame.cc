#include "daemon/api/frame.h"

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/base/json_text.h"
#include "common/base/version.h"
#include "common/slurm/policy.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

api::Meta MetaOf(const DaemonState* state, const Freshness& freshness) {
  api::Meta meta;
  meta.version = kVersion;
  if (state != nullptr) {
    meta.cluster = state->snapshot->cluster;
    meta.source = state->snapshot->source;
    meta.snapshot_taken_at = state->snapshot->taken_at;
    meta.unseen = DescribeHiddenData(state->snapshot->config);
  }
  meta.stale_cause = freshness.cause;
  return meta;
}

}  // namespace

namespace {

// The part of the frame that changes by the second.
void AddAge(const DaemonState* state, const Freshness& freshness, json& answer) {
  answer["meta"] = ToJson(MetaOf(state, freshness));
  answer["snapshot_age_seconds"] = state != nullptr ? json(freshness.age_seconds) : json(nullptr);
}

void AddErrorsAndWarnings(json& answer) {
  answer.emplace("errors", json::array());
  answer.emplace("warnings", json::array());
}

}  // namespace

json Framed(json answer, const DaemonState* state, const Freshness& freshness) {
  AddAge(state, freshness, answer);
  AddErrorsAndWarnings(answer);
  return answer;
}

FramedAnswer FramedText(json answer, const DaemonState* state, const Freshness& freshness) {
  AddErrorsAndWarnings(answer);
  std::string rest = Text(answer);
  rest.front() = ',';  // behind the frame
  // Weak: the same answer may come compressed or not.
  std::string tag = fmt::format("W/\"{:016x}\"", std::hash<std::string_view>{}(rest));
  return Reframed({std::make_shared<const std::string>(std::move(rest)), 0, std::move(tag)}, state,
                  freshness);
}

FramedAnswer Reframed(const FramedAnswer& framed, const DaemonState* state,
                      const Freshness& freshness) {
  json frame = json::object();
  AddAge(state, freshness, frame);
  std::string text = Text(frame);
  text.pop_back();  // the frame's own brace
  const size_t at = text.size();
  text.append(*framed.text, framed.answer_at);
  return {std::make_shared<const std::string>(std::move(text)), at, framed.tag};
}

json FramedError(const Error& error, const DaemonState* state, const Freshness& freshness) {
  json errors = json::array();
  const auto add = [&](const Error& each) {
    errors.push_back(ToJson(ErrorEntryFor(ToWord(each.code), each.message, each.pointer)));
  };
  add(error);
  for (const Error& each : error.further) add(each);
  json answer = {{"errors", std::move(errors)}};
  return Framed(std::move(answer), state, freshness);
}

int StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kBadInput:
      return 400;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kInfeasible:
      return 422;
    case ErrorCode::kUnavailable:
    case ErrorCode::kStale:
      return 503;
    case ErrorCode::kInternal:
      return 500;
  }
  return 500;
}

}  // namespace gpuadvise::daemon
