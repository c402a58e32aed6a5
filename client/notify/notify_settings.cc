#include "client/notify/notify_settings.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/base/words.h"
#include "yaml/yaml_file.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr WebhookFormat kFormats[] = {WebhookFormat::kSlack, WebhookFormat::kTeams,
                                      WebhookFormat::kDiscord, WebhookFormat::kMattermost,
                                      WebhookFormat::kJson};
constexpr size_t kMostWebhooks = 8;

// The address goes into a header and onto a command line.
bool IsAddress(std::string_view text) {
  const size_t at = text.find('@');
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("@._%+-").find(c) != std::string_view::npos;
  });
  return plain && at != std::string_view::npos && at > 0 && at + 1 < text.size() &&
         text.front() != '-' && text.find('@', at + 1) == std::string_view::npos;
}

// Without encryption only to this machine: the URL is a secret.
bool IsWebhookUrl(std::string_view url) {
  const bool clean = std::all_of(url.begin(), url.end(), [](char c) { return c > ' ' && c < 127; });
  if (!clean || url.size() > 2048) return false;
  for (const std::string_view start : {"https://", "http://127.0.0.1:", "http://localhost:"}) {
    if (url.starts_with(start) && url.size() > start.size()) return true;
  }
  return false;
}

Result<void> TakeWebhook(const json& value, const std::string& at, NotifySettings& into) {
  if (!value.is_object() || value.size() != 1) {
    return BadInput("a webhook is no mapping of one format; write \"- slack: URL\"", at);
  }
  const std::string name = value.begin().key();
  const auto* format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                    [&](WebhookFormat each) { return name == NameOf(each); });
  if (format == std::end(kFormats)) {
    return BadInput(
        "unknown format " + Quoted(name) + "; there are slack, teams, discord, mattermost and json",
        at);
  }
  const json& url = value.begin().value();
  if (!url.is_string() || !IsWebhookUrl(url.get_ref<const std::string&>())) {
    return BadInput(fmt::format("the URL of {} must begin with https://", name), at);
  }
  into.webhooks.push_back({*format, url.get<std::string>()});
  return {};
}

Result<void> TakeEvents(const json& value, NotifySettings& into) {
  if (!value.is_array()) return BadInput("events is no list", "/events");
  into.events.clear();
  for (const json& each : value) {
    const std::string event = each.is_string() ? each.get<std::string>() : "";
    if (std::find(std::begin(kNotifyEvents), std::end(kNotifyEvents), event) ==
        std::end(kNotifyEvents)) {
      return BadInput("unknown event " + Quoted(event) +
                          "; there are started, moved, better, hang, idle, limit and ended",
                      "/events");
    }
    into.events.insert(event);
  }
  return {};
}

Result<void> TakeKey(const std::string& key, const json& value, NotifySettings& into) {
  if (key == "email") {
    if (!value.is_string() || !IsAddress(value.get_ref<const std::string&>())) {
      return BadInput("email is no address such as ann@example.org", "/email");
    }
    into.email = value.get<std::string>();
    return {};
  }
  if (key == "desktop") {
    if (!value.is_boolean()) return BadInput("desktop is neither true nor false", "/desktop");
    into.desktop = value.get<bool>();
    return {};
  }
  if (key == "events") return TakeEvents(value, into);
  if (key != "webhooks") {
    return BadInput(
        "unknown key " + Quoted(key) + "; there are email, webhooks, desktop and events",
        "/" + key);
  }
  if (!value.is_array() || value.size() > kMostWebhooks) {
    return BadInput(fmt::format("webhooks is no list of at most {}", kMostWebhooks), "/webhooks");
  }
  for (size_t i = 0; i < value.size(); ++i) {
    const Result<void> taken = TakeWebhook(value[i], fmt::format("/webhooks/{}", i), into);
    if (!taken) return taken;
  }
  return {};
}

}  // namespace

const char* NameOf(WebhookFormat format) {
  switch (format) {
    case WebhookFormat::kSlack:
      return "slack";
    case WebhookFormat::kTeams:
      return "teams";
    case WebhookFormat::kDiscord:
      return "discord";
    case WebhookFormat::kMattermost:
      return "mattermost";
    case WebhookFormat::kJson:
      return "json";
  }
  return "json";
}

Result<NotifySettings> ReadNotifySettings(const std::string& path) {
  const Result<YamlDocument> document = LoadYamlFile(path, EmptyYaml::kEmptyMap);
  if (!document) return tl::unexpected<Error>(document.error());
  NotifySettings settings;
  for (const auto& entry : document->root.items()) {
    const Result<void> taken = TakeKey(entry.key(), entry.value(), settings);
    if (!taken) return BadInput(Describe(taken.error(), path, *document));
  }
  if (settings.email.empty() && settings.webhooks.empty() && !settings.desktop) {
    return BadInput(path + " names nobody to tell; write email, webhooks or desktop");
  }
  struct stat about {};
  if (::stat(path.c_str(), &about) == 0 && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    settings.warning = path + " is open to others; run: chmod 600 " + path;
  }
  return settings;
}

}  // namespace gpuadvise::client
