#include "daemon/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gpuadvise {
namespace {

/// Beyond every list, and a number that JSON readers can hold.
constexpr size_t kLargest = 1'000'000'000;

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

/// Sets `number` when `name` is `wanted`; what is too large for any number is the largest.
Result<void> TakeNumber(const std::string& name, const char* wanted, const std::string& value,
                        size_t& number) {
  if (name != wanted) return {};
  const char* end = value.data() + value.size();
  const auto [rest, status] = std::from_chars(value.data(), end, number);
  if (rest != end || status == std::errc::invalid_argument) {
    return BadInput(fmt::format("{} is '{}'; write a whole number", wanted, value));
  }
  number = status == std::errc() ? std::min(number, kLargest) : kLargest;
  return {};
}

/// What the queries of pages have in common.
template <typename Filter>
Result<void> TakePage(const std::string& name, const std::string& value, Filter& filter) {
  if (name == "partition") filter.partition = value;
  if (name == "gpu") filter.gpu = value;
  if (name == "search") filter.search = value;
  Result<void> taken = TakeNumber(name, "offset", value, filter.offset);
  if (taken) taken = TakeNumber(name, "limit", value, filter.limit);
  return taken;
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
    const Result<void> taken = TakePage(name, value, filter);
    if (!taken) return tl::unexpected<Error>(taken.error());
    if (name == "user") filter.user = value;
    if (name != "state" || value.empty()) continue;
    if (value != "pending" && value != "running") {
      return BadInput(fmt::format("state is '{}'; write pending or running", value));
    }
    filter.running = value == "running";
  }
  return filter;
}

Result<NodesFilter> NodesFilterFrom(std::string_view target) {
  NodesFilter filter;
  for (const auto& [name, value] : QueryOf(target)) {
    const Result<void> taken = TakePage(name, value, filter);
    if (!taken) return tl::unexpected<Error>(taken.error());
    if (name != "condition" || value.empty()) continue;
    filter.condition = NodeUseNamed(value);
    if (!filter.condition) {
      return BadInput(fmt::format(
          "condition is '{}'; write free, partly, busy, promised, drained or down", value));
    }
  }
  return filter;
}

}  // namespace gpuadvise
