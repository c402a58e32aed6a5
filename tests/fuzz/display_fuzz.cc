// Text of anybody's on a terminal: no control, no bidirectional or invisible character is left,
// every line fits, nothing else is lost, and JSON means the same.
#include <nlohmann/json.hpp>

#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "common/base/words.h"
#include "common/yaml/text_check.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::client;
  using nlohmann::json;
  const std::string_view text = AsText(data, size);
  const std::string shown = Printable(text);
  Require(!FirstInvalidUtf8(shown), "it is UTF-8");
  for (const char c : shown) {
    Require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "it has no control character");
  }
  for (const char* hidden :
       {"\u009b", "\u061c", "\u200b", "\u202e", "\u2028", "\u2066", "\u3164"}) {
    Require(shown.find(hidden) == std::string::npos, "nothing is hidden in it");
  }
  Require(Printable(shown) == shown, "it stays so");
  Require(PrintableLines(shown) == shown && PrintableOutput(shown, true) == shown, "everywhere");
  const int width = 2 + static_cast<int>(size % 60);
  Require(DisplayWidth(Clipped(shown, width)) <= width, "what is clipped fits");
  std::string joined;
  for (const std::string& line : Wrapped(shown, width)) {
    Require(DisplayWidth(line) <= width, "each line fits");
    for (const char c : line) joined += c == ' ' ? "" : std::string(1, c);
  }
  std::string all;
  for (const char c : shown) all += c == ' ' ? "" : std::string(1, c);
  Require(joined == all, "no text is lost");
  Require(!FirstInvalidUtf8(Shortened(shown, size / 2)), "it is cut between characters");
  const std::string dumped =
      json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
  const std::string printed = PrintableJson(dumped);
  Require(PrintableOutput(printed, false) == printed, "JSON is shown as it is");
  Require(json::parse(printed) == json::parse(dumped), "and means the same");
  return 0;
}
