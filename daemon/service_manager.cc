#include "daemon/service_manager.h"

#include <systemd/sd-daemon.h>
#include <time.h>

#include <cstdint>

namespace gpuadvise {

void NotifyReady() { sd_notify(0, "READY=1"); }

void NotifyReloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t microseconds = int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
  sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", static_cast<long long>(microseconds));
}

void NotifyStopping() { sd_notify(0, "STOPPING=1"); }

void NotifyWatchdog() { sd_notify(0, "WATCHDOG=1"); }

std::optional<std::chrono::microseconds> WatchdogInterval() {
  uint64_t limit = 0;
  if (sd_watchdog_enabled(0, &limit) <= 0) return std::nullopt;
  return std::chrono::microseconds(limit / 2);
}

}  // namespace gpuadvise
