#include "client/api/daemon_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/base/words.h"
#include "common/munge/munge.h"
#include "common/process/files.h"

namespace gpuadvise::client {
namespace {

constexpr size_t kMaxTokenBytes = 8192;
constexpr int kUnauthorized = 401;
constexpr size_t kMostReasonBytes = 300;

// "eyJ…", or as `scontrol token` prints it: "SLURM_JWT=eyJ…".
std::string TokenIn(std::string text) {
  constexpr std::string_view kName = "SLURM_JWT=";
  if (text.starts_with(kName)) text.erase(0, kName.size());
  std::erase_if(text, [](char c) { return c <= ' ' || c > '~'; });
  return text;
}

// "": there is none.
Result<std::string> FindToken(const std::string& token_file) {
  const char* variable = std::getenv("SLURM_JWT");
  if (variable != nullptr && *variable != '\0') return TokenIn(variable);
  if (token_file.empty()) return std::string();
  const Result<OpenedFile> file =
      OpenRegularFile(token_file, {kMaxTokenBytes, "token", std::nullopt});
  if (!file) return BadInput(fmt::format("token_file {}: {}", token_file, file.error().message));
  const auto text = ReadAll(file->descriptor, kMaxTokenBytes);
  return text ? TokenIn(*text) : std::string();
}

// Shows that this process's user makes the request, now and this once.
Result<void> Sign(const std::string& munge_socket, HttpCall& call) {
  std::array<unsigned char, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return Fail(ErrorCode::kUnavailable, "the kernel gives no random numbers");
  }
  const std::string nonce = fmt::format("{:02x}", fmt::join(random, ""));
  const Result<std::string> credential = MungeCredential(
      MungePayload(call.method, call.place.prefix + call.target, nonce, call.body), munge_socket);
  if (!credential) return tl::unexpected<Error>(credential.error());
  call.fields = {{"Authorization", "Munge " + *credential}, {"Gpuadvise-Nonce", nonce}};
  return {};
}

Result<HttpAnswer> Call(const std::string& place, const HttpCall& call) {
  Result<HttpAnswer> answer = CallHttp(call);
  if (answer) return answer;
  const bool of_trust = answer.error().message.find("certificate is not") != std::string::npos;
  return Fail(answer.error().code,
              fmt::format("cannot reach gpuadvised at {}: {}{}", place, answer.error().message,
                          of_trust ? "; name the site's CA, or this certificate, as ca: in "
                                     "client.yaml"
                                   : ""));
}

// The daemon's own sentence.
std::string WhyRefused(const std::string& body) {
  const auto answer = nlohmann::json::parse(body, nullptr, false);
  const nlohmann::json::json_pointer message("/errors/0/message");
  const bool says = answer.is_object() && answer.contains(message) && answer[message].is_string();
  return says ? Shortened(answer[message].get<std::string>(), kMostReasonBytes) : "HTTP 401";
}

}  // namespace

Result<HttpAnswer> AskPlace(const std::string& place, const DaemonAddress& daemon,
                            const DaemonRequest& request, std::chrono::milliseconds patience,
                            const std::function<void(const std::string&)>& say) {
  Result<HttpPlace> at = ReadHttpPlace(place);
  if (!at) return tl::unexpected<Error>(std::move(at.error()));
  HttpCall call{.place = std::move(*at),
                .method = request.method,
                .target = request.target,
                .body = request.body,
                .ca = daemon.ca,
                .deadline = patience};
  if (call.place.kind != HttpPlace::Kind::kHttps) return Call(place, call);
  const Result<std::string> token = FindToken(daemon.token_file);
  if (!token) return tl::unexpected<Error>(token.error());
  if (!token->empty()) {
    call.fields.emplace_back("Authorization", "Bearer " + *token);
    return Call(place, call);
  }
  if (!Sign(daemon.munge_socket, call)) return Call(place, call);
  Result<HttpAnswer> answer = Call(place, call);
  if (!answer) return answer;
  const std::string uid = answer->Field("gpuadvise-uid");
  if (!uid.empty() && uid != std::to_string(::geteuid())) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("gpuadvised at {} answered as uid {}, but you are uid {} here: users "
                            "need the same uid on both hosts, or a token (scontrol token)",
                            place, Shortened(uid, 20), ::geteuid()));
  }
  if (answer->status != kUnauthorized) return answer;
  say(
      fmt::format("{} did not take the munge credential ({}): what everybody may see is shown; set "
                  "SLURM_JWT to a token (scontrol token) to be known",
                  place, WhyRefused(answer->body)));
  call.fields.clear();
  return Call(place, call);
}

}  // namespace gpuadvise::client
