// notify.yaml: where and of what a user wants to be told (docs/notify.md), and one such message.
//
// A webhook's URL is a secret: who has it can write into the channel. No error has it.
#pragma once

#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

// Words of `events:` and of payloads.
inline constexpr const char* kNotifyEvents[] = {"started", "moved", "better", "hang",
                                                "idle",    "limit", "ended"};

// What a user is told.
struct Notice {
  std::string event;  // of kNotifyEvents
  int64_t job_id = 0;
  std::string title;  // "Job 4711 started"
  std::string text;   // printable
};

enum class WebhookFormat { kSlack, kTeams, kDiscord, kMattermost, kJson };

struct WebhookSettings {
  WebhookFormat format = WebhookFormat::kJson;
  std::string url;
};

struct NotifySettings {
  std::string email;  // "": none
  std::vector<WebhookSettings> webhooks;
  bool desktop = false;
  std::set<std::string> events = {std::begin(kNotifyEvents), std::end(kNotifyEvents)};
  std::string warning;  // that others can read the file; ""
};

// "slack", "teams", "discord", "mattermost", "json".
const char* NameOf(WebhookFormat format);

// Errors: one sentence that names the file, its line and the remedy.
Result<NotifySettings> ReadNotifySettings(const std::string& path);

}  // namespace gpuadvise::client
