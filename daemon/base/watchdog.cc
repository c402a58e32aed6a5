#include "daemon/base/watchdog.h"

#include "daemon/base/system.h"

namespace gpuadvise::daemon {

void Watchdog::Start() {
  if (const auto interval = WatchdogInterval()) Feed(*interval);
}

void Watchdog::Feed(std::chrono::microseconds interval) {
  NotifyWatchdog();
  timer_.expires_after(interval);
  timer_.async_wait([this, interval](boost::system::error_code error) {
    if (!error) Feed(interval);
  });
}

}  // namespace gpuadvise::daemon
