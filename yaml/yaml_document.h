// A YAML file that a person wrote, as JSON plus the line of every value.
//
// Only what can be answered with a line is accepted: one document whose root is a map, at most
// 1 MiB, nested at most 64 deep, at most 100,000 values once aliases are expanded, valid UTF-8
// without NUL, no key twice. Everything else is a kBadInput error whose message already starts with
// "FILE:LINE: ". Plain scalars are typed by YAML 1.2's core rules (true/false, null, integers,
// floats); quoted and all other ones are strings, so `12:00:00` and `yes` stay as written.
// Pure functions, safe from any thread.
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

  // The line of the value at `pointer`, or of its nearest parent that exists; 0 for none.
  int LineOf(std::string_view pointer) const;
};

// Whether a file without any value is an error or an empty map.
enum class EmptyYaml { kRefused, kEmptyMap };

// `file` is the name that messages start with; nothing is opened.
Result<YamlDocument> ParseYaml(std::string_view text, const std::string& file,
                               EmptyYaml empty = EmptyYaml::kRefused);

// "train.yaml:7: message" for an error about `document`; without a known line "train.yaml:
// message".
std::string Describe(const Error& error, const std::string& file, const YamlDocument& document);

}  // namespace gpuadvise
