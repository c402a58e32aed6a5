// The terminal of `gpuadvise top`: ncurses.
//
// One at a time. Its object puts the terminal back in order when it goes, whatever ended the view;
// SIGINT, SIGTERM and SIGHUP are asked for with Ended().
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
  // The next key within so many milliseconds; kNone when none came, or the size has changed.
  virtual TopKey Next(int milliseconds) = 0;
  // The signal that came to end the view; 0: none.
  virtual int Ended() const = 0;
};

// Errors: standard output is no terminal, its kind (TERM) is not known, or this program was built
// without ncurses.
Result<std::unique_ptr<TopScreen>> OpenTopScreen();

}  // namespace gpuadvise::client
