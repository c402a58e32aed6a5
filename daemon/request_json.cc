#include "daemon/request_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace gpuadvise {
namespace {

using nlohmann::json;

/// Deepest nesting of brackets outside strings; cheap, and before anything is built.
int NestingOf(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

/// Where the parser stopped: accepts everything, keeps the first error.
class ErrorPlace : public nlohmann::json_sax<json> {
 public:
  size_t position = 0;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string&, const json::exception&) override {
    position = at;
    return false;
  }
};

}  // namespace

Result<json> ParseRequestJson(std::string_view body) {
  if (NestingOf(body) > kMaxJsonDepth) {
    return BadInput(fmt::format("the request is nested more than {} deep", kMaxJsonDepth));
  }
  json document = json::parse(body.begin(), body.end(), nullptr, false);
  if (document.is_discarded()) {
    ErrorPlace place;
    json::sax_parse(body.begin(), body.end(), &place);
    return BadInput(fmt::format("the request is no JSON: byte {} of {} cannot stand there",
                                place.position, body.size()));
  }
  if (!document.is_object()) return BadInput("the request is no JSON object; send {...}");
  return document;
}

}  // namespace gpuadvise
