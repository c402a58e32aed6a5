// What systemd is told (sd_notify(3)); without a service manager every call does nothing.
#pragma once

#include <chrono>
#include <optional>

namespace gpuadvise {

void NotifyReady();
void NotifyReloading();
void NotifyStopping();
void NotifyWatchdog();

/// How often NotifyWatchdog() has to be called (half the limit); nullopt: nobody watches.
std::optional<std::chrono::microseconds> WatchdogInterval();

}  // namespace gpuadvise
