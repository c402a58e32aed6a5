// Parses a user's YAML file into JSON plus the line of every value.
//
// Accepts one document with a map as root, at most 1 MiB, at most 64 levels, at most 100,000 values
// after alias expansion, valid UTF-8 without NUL, no duplicate keys. Otherwise a kBadInput error
// whose message starts with "FILE:LINE: ". Plain scalars follow YAML 1.2's core schema (true/false,
// null, integers, floats); quoted and all others are strings, so `12:00:00` and `yes` stay as
// written. Pure functions, safe from any thread.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise {

inline constexpr size_t kMaxYamlBytes = 1 << 20;
inline constexpr int kMaxYamlDepth = 64;
inline constexpr size_t kMaxYamlValues = 20'000;
inline constexpr size_t kMaxYamlExpandedBytes = 4 << 20;

struct YamlDocument {
  nlohmann::json root = nlohmann::json::object();  // always an object
  std::map<std::string, int> lines;                // JSON pointer -> line, counted from 1

  // Line of the value at `pointer` or its nearest existing parent; 0 if none.
  int LineOf(std::string_view pointer) const;
};

// What a file may be like: ours has values, and each key once; settings may be empty; of another
// program's file, which may be empty too, the last of equal keys counts, as with PyYAML.
enum class YamlRules { kStrict, kMayBeEmpty, kOfOthers };

// `file`: name for messages; not opened.
Result<YamlDocument> ParseYaml(std::string_view text, const std::string& file,
                               YamlRules rules = YamlRules::kStrict);

// "train.yaml:7: message" for an error about `document`; "train.yaml: message" without a known
// line.
std::string Describe(const Error& error, const std::string& file, const YamlDocument& document);

}  // namespace gpuadvise
