#include "client/api/answer_reader.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "client/terminal/printable.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

const json* Member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

}  // namespace

std::string ShownText(const std::string& text) {
  return Printable(Shortened(text, kMostTextBytes));
}

int64_t IntOf(const json& object, const char* key, int64_t other) {
  const json* member = Member(object, key);
  if (member == nullptr || !member->is_number()) return other;
  const auto number = member->get<double>();
  return std::abs(number) > 9e15 ? other : std::llround(number);
}

std::string TextOf(const json& object, const char* key) {
  const json* member = Member(object, key);
  if (member == nullptr || !member->is_string()) return {};
  return ShownText(member->get_ref<const std::string&>());
}

const json& ListOf(const json& object, const char* key) {
  static const json kEmpty = json::array();
  const json* member = Member(object, key);
  return member != nullptr && member->is_array() ? *member : kEmpty;
}

const json& ObjectOf(const json& object, const char* key) {
  static const json kEmpty = json::object();
  const json* member = Member(object, key);
  return member != nullptr && member->is_object() ? *member : kEmpty;
}

std::string ClusterAndAge(const api::Frame& frame) {
  const std::string cluster = frame.meta.cluster.value_or("");
  const std::string age = DurationInWords(frame.snapshot_age_seconds.value_or(0));
  return "cluster " + (cluster.empty() ? "?" : cluster) + ", " + age + " old";
}

std::string DataDoubt(const api::Frame& frame) {
  const std::string cause = frame.meta.stale_cause.value_or("");
  const std::string& unseen = frame.meta.unseen;
  if (cause.empty()) return unseen;
  const auto& age = frame.snapshot_age_seconds;
  return (age ? "The data is " + DurationInWords(*age) + " old: " : "") + cause +
         (unseen.empty() ? "" : "; " + unseen);
}

}  // namespace gpuadvise::client
