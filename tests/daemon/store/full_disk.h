// A disk that takes no more, for tests of the history.
#pragma once

#include <signal.h>
#include <sys/resource.h>

namespace gpuadvise::daemon {

// For as long as it lives no file of this process grows over `bytes`.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes = 0) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit none = before_;
    none.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &none);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace gpuadvise::daemon
