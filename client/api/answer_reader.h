// Reading the daemon's answers without trusting them: missing members have defaults, text that goes
// to a terminal is made printable. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/api/frame.h"

namespace gpuadvise::api {

// An answer as it arrives: its own members and the frame's.
template <HasFields T>
struct Answer : T {
  Frame frame;
};

}  // namespace gpuadvise::api

namespace gpuadvise::client {

// An answer of the API as a struct of common/api: what is missing or of another type has its
// default, and all text is printable and of at most kMostTextBytes.
template <typename T>
api::Answer<T> ReadAnswer(const nlohmann::json& json);

// JSON that has no struct: a training file, or what is passed on as it is. A whole number, or
// `other` when it is missing or none.
int64_t IntOf(const nlohmann::json& object, const char* key, int64_t other = 0);
// No sentence or name of an answer is shown longer than this.
inline constexpr size_t kMostTextBytes = 8'000;
// Printable text of at most kMostTextBytes, "" when missing.
std::string TextOf(const nlohmann::json& object, const char* key);
// An array or object member; an empty one of that kind when missing.
const nlohmann::json& ListOf(const nlohmann::json& object, const char* key);
const nlohmann::json& ObjectOf(const nlohmann::json& object, const char* key);

// The text as it may be shown.
std::string ShownText(const std::string& text);

template <typename T>
api::Answer<T> ReadAnswer(const nlohmann::json& json) {
  api::Answer<T> answer;
  static_cast<T&>(answer) = FromJson<T>(json, ShownText);
  answer.frame = FromJson<api::Frame>(json, ShownText);
  return answer;
}

// "seed, 12 s old" and, while the collector is in trouble, why: for the head of every answer.
std::string ClusterAndAge(const api::Frame& frame);
// A sentence when the data is stale or not all of the cluster is seen, "" otherwise.
std::string DataDoubt(const api::Frame& frame);

}  // namespace gpuadvise::client
