#include "client/notify/webhook.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "common/base/version.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr size_t kMostAnswerBytes = 64u << 10;

// The soname has been this since 2006; its functions only ever grew in number.
constexpr const char* kLibrary = "libcurl.so.4";

struct Curl {
  decltype(&curl_easy_init) init = nullptr;
  decltype(&curl_easy_setopt) set = nullptr;
  decltype(&curl_easy_perform) perform = nullptr;
  decltype(&curl_easy_getinfo) info = nullptr;
  decltype(&curl_easy_cleanup) cleanup = nullptr;
  decltype(&curl_easy_strerror) words = nullptr;
  decltype(&curl_slist_append) append = nullptr;
  decltype(&curl_slist_free_all) free_list = nullptr;
};

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// nullptr: this machine has none. It stays loaded: libraries that it uses cannot be unloaded.
const Curl* LoadCurl() {
  static const std::unique_ptr<const Curl> loaded = []() -> std::unique_ptr<const Curl> {
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    auto curl = std::make_unique<Curl>();
    const bool all = Find(library, "curl_easy_init", curl->init) &&
                     Find(library, "curl_easy_setopt", curl->set) &&
                     Find(library, "curl_easy_perform", curl->perform) &&
                     Find(library, "curl_easy_getinfo", curl->info) &&
                     Find(library, "curl_easy_cleanup", curl->cleanup) &&
                     Find(library, "curl_easy_strerror", curl->words) &&
                     Find(library, "curl_slist_append", curl->append) &&
                     Find(library, "curl_slist_free_all", curl->free_list);
    return all ? std::move(curl) : nullptr;
  }();
  return loaded.get();
}

// libcurl's write function: counts, keeps nothing, and ends the transfer beyond the bound.
size_t CountBytes(char* /*bytes*/, size_t size, size_t count, void* total) {
  auto& so_far = *static_cast<size_t*>(total);
  so_far += size * count;
  return so_far > kMostAnswerBytes ? 0 : size * count;
}

std::string SlackText(std::string text) {
  text = ReplaceAll(std::move(text), "&", "&amp;");
  text = ReplaceAll(std::move(text), "<", "&lt;");
  return ReplaceAll(std::move(text), ">", "&gt;");
}

// A zero-width space behind it: "@channel" calls nobody.
std::string WithoutMentions(std::string text) {
  return ReplaceAll(std::move(text), "@", "@\u200b");
}

json TeamsCard(const Notice& notice) {
  const json title = {
      {"type", "TextBlock"}, {"text", notice.title}, {"weight", "Bolder"}, {"wrap", true}};
  const json text = {{"type", "TextBlock"}, {"text", notice.text}, {"wrap", true}};
  const json card = {{"$schema", "http://adaptivecards.io/schemas/adaptive-card.json"},
                     {"type", "AdaptiveCard"},
                     {"version", "1.4"},
                     {"body", {title, text}}};
  const json attachment = {{"contentType", "application/vnd.microsoft.card.adaptive"},
                           {"content", card}};
  return {{"type", "message"}, {"attachments", json::array({attachment})}};
}

json PayloadOf(WebhookFormat format, const Notice& notice) {
  const std::string both = notice.title + "\n" + notice.text;
  switch (format) {
    case WebhookFormat::kSlack:
      return {{"text", SlackText(both)}};
    case WebhookFormat::kMattermost:
      return {{"text", WithoutMentions(both)}};
    case WebhookFormat::kDiscord:
      return {{"content", both}, {"allowed_mentions", {{"parse", json::array()}}}};
    case WebhookFormat::kTeams:
      return TeamsCard(notice);
    case WebhookFormat::kJson:
      break;
  }
  return {{"event", notice.event},
          {"job_id", notice.job_id},
          {"title", notice.title},
          {"text", notice.text}};
}

Result<void> Failed(const WebhookSettings& webhook, const std::string& why) {
  return Fail(ErrorCode::kUnavailable, fmt::format("the {} webhook did not take the message: {}",
                                                   NameOf(webhook.format), why));
}

Result<void> JudgedBy(long status, const WebhookSettings& webhook) {
  if (status >= 200 && status < 300) return {};
  if (status >= 300 && status < 400) {
    return Failed(webhook, "it redirects, which is not followed; write the URL it leads to");
  }
  return Failed(webhook, fmt::format("HTTP {}", status));
}

}  // namespace

std::string WebhookPayload(WebhookFormat format, const Notice& notice) {
  return PayloadOf(format, notice).dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<void> SendWebhook(const WebhookSettings& webhook, const Notice& notice,
                         std::chrono::milliseconds patience) {
  const Curl* curl = LoadCurl();
  if (curl == nullptr) {
    return Failed(webhook,
                  fmt::format("{} cannot be loaded on this machine; install libcurl", kLibrary));
  }
  const std::unique_ptr<CURL, decltype(curl->cleanup)> call(curl->init(), curl->cleanup);
  const std::unique_ptr<curl_slist, decltype(curl->free_list)> headers(
      curl->append(nullptr, "Content-Type: application/json"), curl->free_list);
  const std::string body = WebhookPayload(webhook.format, notice);
  const std::string agent = std::string("gpuadvise/") + kVersion;
  size_t answered = 0;
  curl->set(call.get(), CURLOPT_URL, webhook.url.c_str());
  curl->set(call.get(), CURLOPT_HTTPHEADER, headers.get());
  curl->set(call.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  curl->set(call.get(), CURLOPT_POSTFIELDS, body.c_str());
  curl->set(call.get(), CURLOPT_USERAGENT, agent.c_str());
  curl->set(call.get(), CURLOPT_FOLLOWLOCATION, 0L);
  curl->set(call.get(), CURLOPT_NOSIGNAL, 1L);
  curl->set(call.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(patience.count()));
  curl->set(call.get(), CURLOPT_WRITEFUNCTION, CountBytes);
  curl->set(call.get(), CURLOPT_WRITEDATA, &answered);
  const CURLcode code = curl->perform(call.get());
  if (answered > kMostAnswerBytes) {
    return Failed(webhook, fmt::format("its answer is longer than {} KiB", kMostAnswerBytes >> 10));
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return Failed(webhook, fmt::format("no answer within {} s",
                                       static_cast<double>(patience.count()) / 1000));
  }
  if (code != CURLE_OK) return Failed(webhook, curl->words(code));
  long status = 0;
  curl->info(call.get(), CURLINFO_RESPONSE_CODE, &status);
  return JudgedBy(status, webhook);
}

}  // namespace gpuadvise::client
