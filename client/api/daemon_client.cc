#include "client/api/daemon_client.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/api/answer_reader.h"
#include "client/api/http_client.h"
#include "client/api/https_client.h"
#include "client/terminal/printable.h"
#include "client/terminal/users_language.h"
#include "common/base/json_text.h"

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

std::string TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Error FirstErrorOf(const json& answer, int status) {
  const auto errors = answer.is_object() ? answer.find("errors") : answer.end();
  if (!answer.is_object() || errors == answer.end() || !errors->is_array() || errors->empty() ||
      !errors->front().is_object()) {
    const std::string cause = answer.is_object() ? TextOf(answer, "cause") : "";
    if (!cause.empty())
      return {CodeFromWord("", status), "no data yet: " + Shortened(cause, kMostTextBytes), ""};
    return {CodeFromWord("", status),
            "gpuadvised answered with HTTP status " + std::to_string(status) +
                (status < 400 ? "; does gpuadvised listen on this socket?" : "; its log says why"),
            ""};
  }
  const json& first = errors->front();
  return {CodeFromWord(TextOf(first, "code"), status),
          Shortened(TextOf(first, "message"), kMostTextBytes), TextOf(first, "pointer")};
}

constexpr const char* kStartIt =
    ". Start it with `systemctl start gpuadvised` (or `gpuadvised --config FILE`), "
    "or name another socket with --socket or GPUADVISE_SOCKET";

void Say(const std::string& sentence) {
  std::fputs(("gpuadvise: " + InUsersLanguage(sentence) + "\n").c_str(), stderr);
}

// Where a standby sends to; nullopt: to nowhere that this client reaches.
std::optional<DaemonAddress> Elsewhere(const HttpAnswer& answer, const DaemonAddress& asked) {
  if (answer.status != 303 && answer.status != 307) return std::nullopt;
  DaemonAddress first = asked;
  first.place = SocketOfLocation(answer.location);
  if (first.place.empty() && answer.location.starts_with("https://")) {
    first.place = answer.location.substr(0, answer.location.find('/', std::strlen("https://")));
  }
  if (first.place.empty() || first.place == asked.place) return std::nullopt;
  // The user's token is for daemons that the site has named, or whose certificate its own authority
  // has signed: an answer may name any other.
  first.as_nobody = first.IsRemote() && first.ca_file.empty();
  return first;
}

}  // namespace

json ErrorDocument(const Error& error) {
  return {{"errors",
           {{{"code", ToWord(error.code)},
             {"message", error.message},
             {"pointer", error.pointer.empty() ? json() : json(error.pointer)}}}}};
}

Result<json> ReadApiAnswer(int status, const std::string& body) {
  json answer =
      SizeOfJson(body).depth > kDeepestAnswer ? json() : json::parse(body, nullptr, false);
  if (status >= 200 && status < 300) {
    if (answer.is_object()) return answer;
    return Fail(ErrorCode::kInternal,
                "gpuadvised did not answer with a JSON object; client and daemon may be different "
                "versions");
  }
  return tl::unexpected<Error>(FirstErrorOf(answer, status));
}

void DaemonClient::SayOnce(const std::string& sentence) {
  if (!std::exchange(said_, true)) Say(sentence);
}

Result<HttpAnswer> DaemonClient::AskAt(const DaemonAddress& daemon, const HttpRequest& request) {
  if (!daemon.IsRemote()) return AskOverUnixSocket(daemon.place, request, patience_);
  return AskOverHttps(daemon, request, patience_,
                      [this](const std::string& sentence) { SayOnce(sentence); });
}

Result<json> DaemonClient::Ask(const HttpRequest& request) {
  Result<HttpAnswer> answer = AskAt(daemon_, request);
  if (const auto first = answer ? Elsewhere(*answer, daemon_) : std::nullopt) {
    SayOnce(fmt::format("{} is a standby; the first daemon is asked, at {}",
                        Shortened(daemon_.place, kMostTextBytes),
                        Shortened(Printable(first->place), kMostTextBytes)));
    if (first->as_nobody) {
      Say("no token is sent there, because client.yaml has no ca_file: what everybody may see is "
          "shown");
    }
    answer = AskAt(*first, request);
  }
  if (answer) return ReadApiAnswer(answer->status, answer->body);
  Error error = answer.error();
  const bool is_own = remedy_ == Remedy::kStartIt && !daemon_.IsRemote();
  if (error.code == ErrorCode::kUnavailable && is_own) error.message += kStartIt;
  return tl::unexpected<Error>(error);
}

Result<json> DaemonClient::Get(const std::string& target) { return Ask({"GET", target, ""}); }

Result<json> DaemonClient::Post(const std::string& target, const json& body) {
  return Ask({"POST", target, body.dump(-1, ' ', false, json::error_handler_t::replace)});
}

}  // namespace gpuadvise::client
