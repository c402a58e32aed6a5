#include "client/api/daemon_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "client/api/answer_reader.h"
#include "client/terminal/printable.h"
#include "common/api/accounts.h"
#include "common/api/frame.h"
#include "common/base/json_text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// Answers are no deeper than this by far; what reads and prints them calls itself once a level.
constexpr int kDeepestAnswer = 100;

ErrorCode CodeFromWord(const std::string& word, int status) {
  if (word == "bad_input") return ErrorCode::kBadInput;
  if (word == "not_found") return ErrorCode::kNotFound;
  if (word == "infeasible") return ErrorCode::kInfeasible;
  if (word == "unavailable") return ErrorCode::kUnavailable;
  if (word == "stale") return ErrorCode::kStale;
  if (status == 404) return ErrorCode::kNotFound;
  if (status == 408 || status == 429 || status == 503) return ErrorCode::kUnavailable;
  if (status < 400) return ErrorCode::kUnavailable;  // the API never says so: no gpuadvised
  return status >= 500 ? ErrorCode::kInternal : ErrorCode::kBadInput;
}

Error ErrorOf(const json& answer, int status) {
  const auto frame = FromJson<api::Frame>(answer);
  if (!frame.errors.empty()) {
    std::vector<Error> errors;
    for (const api::ErrorEntry& each : frame.errors) {
      errors.push_back(
          {CodeFromWord(each.code, status), Shortened(each.message, kMostTextBytes), each.pointer});
    }
    Error first = std::move(errors.front());
    errors.erase(errors.begin());
    first.further = std::move(errors);
    return first;
  }
  const std::string cause = FromJson<api::Health>(answer).cause;
  if (!cause.empty()) {
    return {CodeFromWord("", status), "no data yet: " + Shortened(cause, kMostTextBytes), ""};
  }
  return {CodeFromWord("", status),
          "gpuadvised answered with HTTP status " + std::to_string(status) +
              (status < 400 ? "; does gpuadvised listen on this socket?" : "; its log says why"),
          ""};
}

// A daemon takes over from another within this.
constexpr std::chrono::milliseconds kStandbyPatience{20'000};
constexpr std::chrono::milliseconds kStandbyPause{1'000};

constexpr const char* kStartIt =
    ". Start it with `systemctl start gpuadvised` (or `gpuadvised --config FILE`), "
    "or name another socket with --socket or GPUADVISE_SOCKET";

void Say(const std::string& sentence) {
  std::fputs(("gpuadvise: " + Printable(sentence) + "\n").c_str(), stderr);
}

bool IsStandby(const HttpAnswer& answer) {
  if (answer.status != 503) return false;
  const auto frame = FromJson<api::Frame>(json::parse(answer.body, nullptr, false));
  return !frame.errors.empty() && frame.errors.front().code == "standby";
}

}  // namespace

json ErrorDocument(const Error& error) {
  json errors = json::array();
  const auto add = [&](const Error& each) {
    errors.push_back({{"code", ToWord(each.code)},
                      {"message", each.message},
                      {"pointer", each.pointer.empty() ? json() : json(each.pointer)}});
  };
  add(error);
  for (const Error& each : error.further) add(each);
  return {{"errors", std::move(errors)}};
}

Result<json> ReadApiAnswer(int status, const std::string& body) {
  json answer =
      MeasureJson(body).depth > kDeepestAnswer ? json() : json::parse(body, nullptr, false);
  if (status >= 200 && status < 300) {
    if (answer.is_object()) return answer;
    return Fail(ErrorCode::kInternal,
                "gpuadvised did not answer with a JSON object; client and daemon may be different "
                "versions");
  }
  return tl::unexpected<Error>(ErrorOf(answer, status));
}

void DaemonClient::SayOnce(const std::string& sentence) {
  if (!std::exchange(said_, true)) Say(sentence);
}

std::optional<Result<json>> DaemonClient::AskEach(const DaemonRequest& request, Error& problem,
                                                  bool& has_standby) {
  problem = {ErrorCode::kUnavailable, "", ""};
  has_standby = false;
  const size_t count = daemon_.places.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t at = (first_ + i) % count;
    const Result<HttpAnswer> answer =
        AskPlace(daemon_.places[at], daemon_, request, patience_,
                 [this](const std::string& sentence) { SayOnce(sentence); });
    const bool is_standby = answer && IsStandby(*answer);
    if (answer && !is_standby) {
      first_ = at;
      return ReadApiAnswer(answer->status, answer->body);
    }
    Error why = answer ? ErrorOf(json::parse(answer->body, nullptr, false), answer->status)
                       : answer.error();
    if (why.code != ErrorCode::kUnavailable) return tl::unexpected<Error>(std::move(why));
    has_standby = has_standby || is_standby;
    problem.message += (problem.message.empty() ? "" : "; ") + why.message;
  }
  return std::nullopt;
}

Result<json> DaemonClient::Ask(const DaemonRequest& request) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::min(kStandbyPatience, patience_);
  for (;;) {
    Error problem;
    bool has_standby = false;
    if (auto answer = AskEach(request, problem, has_standby)) return std::move(*answer);
    if (has_standby && Clock::now() + kStandbyPause < until) {
      std::this_thread::sleep_for(kStandbyPause);
      continue;
    }
    const bool is_own = remedy_ == Remedy::kStartIt && daemon_.places.size() == 1 &&
                        daemon_.places.front().starts_with('/');
    if (is_own && !has_standby) problem.message += kStartIt;
    return tl::unexpected<Error>(std::move(problem));
  }
}

Result<json> DaemonClient::Get(const std::string& target) { return Ask({"GET", target, ""}); }

Result<json> DaemonClient::Post(const std::string& target, const json& body) {
  return Ask({"POST", target, body.dump(-1, ' ', false, json::error_handler_t::replace)});
}

}  // namespace gpuadvise::client
