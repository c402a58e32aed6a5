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

// REQUIRES: `text` is a string.
std::string ShownText(const json& text) {
  return Printable(Shortened(text.get_ref<const std::string&>(), kMostTextBytes));
}

}  // namespace

double NumberOf(const json& object, const char* key, double other) {
  return OptionalNumber(object, key).value_or(other);
}

int64_t IntOf(const json& object, const char* key, int64_t other) {
  const auto number = OptionalNumber(object, key);
  if (!number || std::abs(*number) > 9e15) return other;
  return std::llround(*number);
}

std::optional<double> OptionalNumber(const json& object, const char* key) {
  const json* member = Member(object, key);
  if (member == nullptr || !member->is_number()) return std::nullopt;
  return member->get<double>();
}

std::string TextOf(const json& object, const char* key) {
  const json* member = Member(object, key);
  if (member == nullptr || !member->is_string()) return {};
  return ShownText(*member);
}

std::vector<std::string> TextsOf(const json& object, const char* key) {
  std::vector<std::string> texts;
  for (const json& item : ListOf(object, key)) {
    if (item.is_string()) texts.push_back(ShownText(item));
  }
  return texts;
}

bool IsTrue(const json& object, const char* key) {
  const auto member = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && member != object.end() && *member == true;
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

std::string ClusterAndAge(const json& answer) {
  const std::string cluster = TextOf(ObjectOf(answer, "meta"), "cluster");
  const double age = NumberOf(answer, "snapshot_age_seconds");
  const std::string words =
      age < 30 ? std::to_string(std::llround(std::max(age, 0.0))) + " s" : DurationInWords(age);
  return "cluster " + (cluster.empty() ? "?" : cluster) + ", " + words + " old";
}

std::string DataDoubt(const json& answer) {
  const json& meta = ObjectOf(answer, "meta");
  const std::string cause = TextOf(meta, "stale_cause");
  const std::string unseen = TextOf(meta, "unseen");
  if (cause.empty()) return unseen;
  return "The data is " +
         DurationInWords(std::max(30.0, NumberOf(answer, "snapshot_age_seconds"))) +
         " old: " + cause + (unseen.empty() ? "" : "; " + unseen);
}

}  // namespace gpuadvise::client
