// Bytes of whatever listens on the socket: an answer that is whole stays the same when more
// follows or when it comes in pieces, and what the API's reader makes of its body can be printed
// and read again.
#include <nlohmann/json.hpp>

#include "client/api/daemon_client.h"
#include "client/terminal/printable.h"
#include "common/net/http_call.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

// `bytes` in pieces of `size`.
gpuadvise::Result<gpuadvise::HttpAnswer> Read(const std::string& bytes, size_t size) {
  size_t at = 0;
  return gpuadvise::ReadHttpAnswer(
      [&]() -> gpuadvise::Result<std::string> {
        const std::string piece = bytes.substr(at, size);
        at += piece.size();
        return piece;
      },
      1 << 20);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::client;
  using nlohmann::json;
  const std::string bytes(AsText(data, size));
  const auto whole = Read(bytes, bytes.size() + 1);
  const auto pieces = Read(bytes, 7);
  Require(whole.has_value() == pieces.has_value(), "the way they come is no matter");
  if (!whole) {
    Require(whole.error().code == ErrorCode::kUnavailable, "no HTTP is a daemon's trouble");
    return 0;
  }
  Require(whole->body == pieces->body && whole->fields == pieces->fields, "the same answer");
  Require(whole->status >= 200 && whole->status < 600, "a status of HTTP");
  const auto answer = ReadApiAnswer(whole->status, whole->body);
  const json document = answer ? *answer : ErrorDocument(answer.error());
  const std::string text = document.dump(1, ' ', false, json::error_handler_t::replace);
  const std::string printed = PrintableJson(text);
  Require(json::parse(printed) == json::parse(text), "the same JSON");
  Require(PrintableOutput(printed, false) == printed, "nothing in it steers a terminal");
  return 0;
}
