// What becomes of an exception that leaves a coroutine (for co_spawn).
#pragma once

#include <exception>

namespace gpuadvise::daemon {

// For a coroutine that the daemon cannot do without: the exception leaves the thread's io loop too
// and ends the process (common/process/last_words.h), which systemd starts again. A daemon that ran
// on without it would answer from its last snapshot for ever, or answer nobody.
inline void EndsTheDaemon(const std::exception_ptr& failure) {
  if (failure) std::rethrow_exception(failure);
}

}  // namespace gpuadvise::daemon
