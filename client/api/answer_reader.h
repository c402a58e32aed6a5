// Reading the daemon's answers without trusting them: missing members have defaults, text that goes
// to a terminal is made printable. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace gpuadvise::client {

// A number, or `other` when it is missing or none.
double NumberOf(const nlohmann::json& object, const char* key, double other = 0);
int64_t IntOf(const nlohmann::json& object, const char* key, int64_t other = 0);
std::optional<double> OptionalNumber(const nlohmann::json& object, const char* key);
// No sentence or name of an answer is shown longer than this.
inline constexpr size_t kMostTextBytes = 8'000;
// Printable text of at most kMostTextBytes, "" when missing.
std::string TextOf(const nlohmann::json& object, const char* key);
std::vector<std::string> TextsOf(const nlohmann::json& object, const char* key);
// Only the JSON value true; false for anything else.
bool IsTrue(const nlohmann::json& object, const char* key);
// An array or object member; an empty one of that kind when missing.
const nlohmann::json& ListOf(const nlohmann::json& object, const char* key);
const nlohmann::json& ObjectOf(const nlohmann::json& object, const char* key);

// "seed, 12 s old" and, while the collector is in trouble, why: for the head of every answer.
std::string ClusterAndAge(const nlohmann::json& answer);
// A sentence when the data is stale or not all of the cluster is seen, "" otherwise.
std::string DataDoubt(const nlohmann::json& answer);

}  // namespace gpuadvise::client
