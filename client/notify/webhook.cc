#include "client/notify/webhook.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/https/https_call.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr size_t kMostAnswerBytes = 64u << 10;

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
  HttpsRequest request;
  request.url = webhook.url;
  request.body = WebhookPayload(webhook.format, notice);
  request.patience = patience;
  request.most_answer_bytes = kMostAnswerBytes;
  const Result<HttpsAnswer> answer = CallHttps(request);
  if (!answer) return Failed(webhook, answer.error().message);
  return JudgedBy(answer->status, webhook);
}

}  // namespace gpuadvise::client
