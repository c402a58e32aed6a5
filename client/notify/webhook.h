// A message to a chat service: an HTTPS POST.
//
// Bounded: a deadline, no redirects, 64 KiB of an answer. Blocking; not thread-safe. No error names
// the URL.
#pragma once

#include <chrono>
#include <string>

#include "client/notify/notify_settings.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// The body that the service takes; what could mention people or format text is disarmed.
std::string WebhookPayload(WebhookFormat format, const Notice& notice);

// Errors: one sentence: "the slack webhook did not take the message: HTTP 404".
Result<void> SendWebhook(const WebhookSettings& webhook, const Notice& notice,
                         std::chrono::milliseconds patience);

}  // namespace gpuadvise::client
