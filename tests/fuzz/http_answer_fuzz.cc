// Bytes of whatever listens on the socket: an answer that is whole stays the same when more
// follows, and what the API's reader makes of its body can be printed and read again.
#include <nlohmann/json.hpp>

#include "client/api/daemon_client.h"
#include "client/api/http_client.h"
#include "client/terminal/printable.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::client;
  const std::string bytes(AsText(data, size));
  const auto part = ParseHttpAnswer(bytes, false);
  const auto whole = ParseHttpAnswer(bytes, true);
  Require(part.has_value() == whole.has_value(), "the end of the bytes is no error");
  if (!part) {
    Require(part.error().code == ErrorCode::kUnavailable, "no HTTP is a daemon's trouble");
    return 0;
  }
  if (part->complete) {
    const auto more = ParseHttpAnswer(bytes + "HTTP/1.1 200 OK\r\n\r\n", true);
    Require(more && more->complete, "what follows is not looked at");
    Require(more->answer.body == part->answer.body, "the body is the same");
    Require(whole->complete && whole->answer.body == part->answer.body, "the end adds nothing");
  }
  if (!whole->complete) return 0;
  Require(whole->answer.status >= 100 && whole->answer.status < 600, "a status of HTTP");
  const auto answer = ReadApiAnswer(whole->answer.status, whole->answer.body);
  using nlohmann::json;
  const json document = answer ? *answer : ErrorDocument(answer.error());
  const std::string text = document.dump(1, ' ', false, json::error_handler_t::replace);
  const std::string printed = PrintableJson(text);
  Require(json::parse(printed) == json::parse(text), "the same JSON");
  Require(PrintableOutput(printed, false) == printed, "nothing in it steers a terminal");
  return 0;
}
