#include "daemon/query.h"

#include <fmt/format.h>

#include <charconv>

namespace gpuadvise {
namespace {

std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const bool coded = text[i] == '%' && i + 2 < text.size() &&
                       std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr ==
                           text.data() + i + 3;
    if (coded) {
      decoded += static_cast<char>(value);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

}  // namespace

std::map<std::string, std::string> QueryOf(std::string_view target) {
  std::map<std::string, std::string> query;
  const size_t mark = target.find('?');
  if (mark == std::string_view::npos) return query;
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value =
        equals < pair.size() ? pair.substr(equals + 1) : std::string_view();
    if (!pair.empty()) query[Decoded(pair.substr(0, equals))] = Decoded(value);
  }
  return query;
}

Result<QueueFilter> FilterFrom(std::string_view target) {
  QueueFilter filter;
  for (const auto& [name, value] : QueryOf(target)) {
    if (name == "user") filter.user = value;
    if (name == "partition") filter.partition = value;
    if (name == "state") {
      if (value != "pending" && value != "running") {
        return BadInput(fmt::format("state is '{}'; write pending or running", value));
      }
      filter.running = value == "running";
    }
    if (name == "limit") {
      const char* end = value.data() + value.size();
      const auto [rest, status] = std::from_chars(value.data(), end, filter.limit);
      if (status != std::errc() || rest != end) {
        return BadInput(fmt::format("limit is '{}'; write a whole number", value));
      }
    }
  }
  return filter;
}

}  // namespace gpuadvise
