// The real gpuadvised as a process, with a collector that is a script, told apart from a service
// manager's point of view: its notifications are the test's only clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/process/child_process.h"
#include "tests/daemon/http/http_peer.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {

class RunningDaemon {
 public:
  RunningDaemon();

  // The script that plays the collector; $BATCH names a file with one batch.
  void CollectorIs(const std::string& script);

  // Writes the settings: `more` lines after socket and collector.
  void SettingsAre(const std::string& more);

  // Starts it; true when it says that it is ready. `environment`: further "NAME=VALUE".
  bool Start(std::vector<std::string> environment = {});

  // Waits for the notification `what` ("READY=1"); false when it ends first.
  bool Await(const std::string& what);

  void Signal(int number) const;

  // Waits for the end: "exited with status 0". Its stderr is in log() then.
  std::string AwaitEnd();
  const std::string& log() const { return log_; }

  HttpPeer Connect() const { return HttpPeer(socket_path()); }
  std::string socket_path() const { return folder_.Path("s"); }
  pid_t pid() const { return process_->pid(); }

  // Asks until the body of the answer contains `text`; false when that takes unreasonably long.
  bool Shows(const std::string& path, const std::string& text) const;

  const TempFolder& folder() const { return folder_; }

 private:
  TempFolder folder_;
  Descriptor notifications_;
  std::optional<ChildProcess> process_;
  std::string log_;
};

}  // namespace gpuadvise::daemon
