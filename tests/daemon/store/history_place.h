// Where a history of a test lives, gone with the test: a folder (history_in_file.cc) or a schema of
// a server of its own (history_in_server.cc).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "daemon/store/history.h"

namespace gpuadvise::daemon {

class HistoryPlace {
 public:
  HistoryPlace();
  ~HistoryPlace();
  HistoryPlace(const HistoryPlace&) = delete;
  HistoryPlace& operator=(const HistoryPlace&) = delete;

  // Never null; a history that cannot be opened ends the test (it throws).
  std::unique_ptr<History> Open(const HistoryBounds& bounds = {}) const;
  Result<std::optional<HistoryInfo>> Info() const;

  // By another connection, as an administrator would.
  void Execute(const std::string& sql) const;
  std::string Cell(const std::string& sql) const;

 private:
  struct Home;
  const std::unique_ptr<Home> home_;
};

}  // namespace gpuadvise::daemon
