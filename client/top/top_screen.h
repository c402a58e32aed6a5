// The terminal of `gpuadvise top`: ncurses.
//
// One at a time. The destructor restores the terminal, however the view ended. Ended() reports
// SIGINT, SIGTERM and SIGHUP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/top/top_view.h"
#include "common/base/error.h"

namespace gpuadvise::client {

class TopScreen {
 public:
  virtual ~TopScreen() = default;
  virtual TopSize size() const = 0;
  virtual void Show(const std::vector<TopLine>& lines) = 0;
  // The next key within `milliseconds`; kNone: none, or the size has changed.
  virtual TopKey Next(int milliseconds) = 0;
  // The signal received to end the view; 0: none.
  virtual int Ended() const = 0;
};

// Errors: standard output is not a terminal, TERM is unknown, or the program was built without
// ncurses.
Result<std::unique_ptr<TopScreen>> OpenTopScreen();

}  // namespace gpuadvise::client
