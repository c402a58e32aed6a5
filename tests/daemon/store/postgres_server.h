// A PostgreSQL server of a test: in a private folder, on a Unix socket, ended with the test.
#pragma once

#include <sys/types.h>

#include <string>

#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {

class PostgresServer {
 public:
  // One for all tests of this program; it must be installed (initdb).
  static PostgresServer& Shared();

  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  void Start();
  void Stop(int signal);  // SIGINT: at once; SIGQUIT: as if it had crashed

  // Stops it and the processes that serve its connections in the middle of what they do.
  void StopAll() const;
  void GoOn() const;

  // To a schema of its own, which is not made; "": public.
  std::string UrlOf(const std::string& schema) const;

 private:
  bool Answers() const;
  void SendToAll(int signal) const;

  const TempFolder folder_;
  std::string programs_;  // their folder
  pid_t process_ = 0;     // 0: it does not run
};

}  // namespace gpuadvise::daemon
