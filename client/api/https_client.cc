#include "client/api/https_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/https/https_call.h"
#include "common/base/words.h"
#include "munge/munge.h"
#include "process/files.h"

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
Result<std::string> FindToken(const DaemonAddress& address) {
  if (address.token_file.empty()) {
    const char* variable = std::getenv("SLURM_JWT");
    return TokenIn(variable == nullptr ? "" : variable);
  }
  const Result<OpenedFile> file =
      OpenRegularFile(address.token_file, {kMaxTokenBytes, "token", std::nullopt});
  if (!file) {
    return BadInput(fmt::format("token_file {}: {}", address.token_file, file.error().message));
  }
  const auto text = ReadAll(file->descriptor, kMaxTokenBytes);
  return text ? TokenIn(*text) : std::string();
}

Result<HttpAnswer> Call(const DaemonAddress& address, const HttpRequest& request,
                        std::chrono::milliseconds timeout, const std::string& authorization) {
  HttpsRequest call;
  call.url = address.place.substr(0, address.place.find_last_not_of('/') + 1) + request.target;
  if (request.method == "POST") call.body = request.body;
  if (!authorization.empty()) call.fields.push_back("Authorization: " + authorization);
  call.ca_file = address.ca_file;
  call.patience = timeout;
  call.most_answer_bytes = kMaxAnswerBytes;
  const Result<HttpsAnswer> answer = CallHttps(call);
  if (answer) return HttpAnswer{static_cast<int>(answer->status), answer->body, answer->location};
  const bool of_trust = answer.error().message.find("certificate") != std::string::npos;
  return Fail(ErrorCode::kUnavailable,
              fmt::format("gpuadvised at {}: {}{}", address.place, answer.error().message,
                          of_trust ? "; copy its authority's ca.crt here and name it as ca_file in "
                                     "client.yaml"
                                   : ""));
}

// The daemon's own sentence.
std::string WhyRefused(const std::string& body) {
  const auto answer = nlohmann::json::parse(body, nullptr, false);
  const nlohmann::json::json_pointer message("/errors/0/message");
  const bool told = answer.is_object() && answer.contains(message) && answer[message].is_string();
  return told ? Shortened(answer[message].get<std::string>(), kMostReasonBytes) : "HTTP 401";
}

}  // namespace

Result<HttpAnswer> AskOverHttps(const DaemonAddress& address, const HttpRequest& request,
                                std::chrono::milliseconds timeout,
                                const std::function<void(const std::string&)>& say) {
  if (address.as_nobody) return Call(address, request, timeout, "");
  const Result<std::string> token = FindToken(address);
  if (!token) return tl::unexpected<Error>(token.error());
  if (!token->empty()) return Call(address, request, timeout, "Bearer " + *token);
  const Result<std::string> credential = MungeCredential(
      fmt::format("gpuadvise {} {}", request.method, request.target), address.munge_socket);
  if (!credential) return Call(address, request, timeout, "");
  Result<HttpAnswer> answer = Call(address, request, timeout, "Munge " + *credential);
  if (!answer || answer->status != kUnauthorized) return answer;
  say(
      fmt::format("{} did not take the munge credential ({}): what everybody may see is shown; set "
                  "SLURM_JWT to a token (scontrol token) to be known",
                  address.place, WhyRefused(answer->body)));
  return Call(address, request, timeout, "");
}

}  // namespace gpuadvise::client
