// A console whose words and answers a test reads and sets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/terminal/console.h"

namespace gpuadvise::client {

class FakeConsole : public Console {
 public:
  bool OutputIsTerminal() const override { return is_terminal; }
  bool CanAsk() const override { return can_ask; }
  TerminalStyle style() const override { return shown; }
  int64_t now() const override { return clock; }

  std::string printed;
  std::string complained;
  bool asked = false;
  bool can_ask = false;
  bool answer = false;
  TerminalStyle shown{120, false};
  bool is_terminal = false;    // standard output
  int64_t clock = 1790000000;  // Mon 21 Sep 2026 14:13:20 UTC

 protected:
  void Write(Stream stream, std::string_view bytes) override {
    (stream == Stream::kOutput ? printed : complained) += bytes;
  }
  bool ReadYes() override {
    asked = true;
    return answer;
  }
};

}  // namespace gpuadvise::client
