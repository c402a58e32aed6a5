#include "daemon/http/plain_error.h"

#include <nlohmann/json.hpp>

#include "common/base/version.h"
#include "common/base/words.h"

namespace gpuadvise::daemon {

api::ErrorEntry ErrorEntryFor(const std::string& code, const std::string& message,
                              const std::string& pointer) {
  constexpr size_t kMaxMessageBytes = 4096;
  constexpr size_t kMaxPointerBytes = 1024;
  return {code, Shortened(message, kMaxMessageBytes), Shortened(pointer, kMaxPointerBytes)};
}

ApiResponse PlainError(int status, const char* code, const std::string& message) {
  api::Frame frame;
  frame.meta.version = kVersion;
  frame.errors = {ErrorEntryFor(code, message, "")};
  return {status, Text(ToJson(frame)), ""};
}

ApiResponse NotBelieved(const Error& error) {
  if (error.code != ErrorCode::kBadInput) return PlainError(503, "unavailable", error.message);
  ApiResponse refusal = PlainError(401, "unauthorized", error.message);
  refusal.fields.emplace_back("WWW-Authenticate", "Bearer");
  return refusal;
}

std::string Text(const nlohmann::json& document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace gpuadvise::daemon
