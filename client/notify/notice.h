// One message to the user about a job, and its ways: e-mail, webhooks, desktop.
//
// Sent as the user, by the client, never by the daemon. Each way has its own deadline, and its
// failure is a sentence that stops nothing. Blocking; not thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "client/notify/notify_settings.h"

namespace gpuadvise::client {

struct NotifyTools {
  std::string path;  // where sendmail and notify-send are looked for, "a:b"
  std::chrono::milliseconds patience = std::chrono::seconds(10);  // for each way
};

// The process's PATH, and the folders where sendmail usually is.
NotifyTools ToolsOfThisProcess();

// The message of `event` of a job. `text` may be anybody's.
Notice NoticeOf(const std::string& event, const std::string& job_id, const std::string& text);

// Sends it every way that `settings` name, where they name its event. Returns what went wrong, a
// sentence each.
std::vector<std::string> SendNotice(const NotifySettings& settings, const Notice& notice,
                                    const NotifyTools& tools);

}  // namespace gpuadvise::client
