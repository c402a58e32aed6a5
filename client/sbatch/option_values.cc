#include "client/sbatch/option_values.h"

#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

constexpr int64_t kMostCounted = 1'000'000;

}  // namespace

tl::unexpected<Error> BadOption(const std::string& option, const std::string& sentence) {
  return BadInput("--" + option + ": " + sentence);
}

Result<int64_t> ParseCount(const std::string& option, const std::string& text) {
  const auto value = gpuadvise::WholeNumber(text);
  if (!value || *value < 1 || *value > kMostCounted) {
    return BadOption(option, "\"" + text.substr(0, 40) + "\" is not a whole number of 1 or more");
  }
  return *value;
}

Result<int64_t> ParseNodeCount(const std::string& text) {
  std::string smaller = text.substr(0, text.find('-'));
  int64_t factor = 1;
  if (smaller.ends_with('k') || smaller.ends_with('K')) {
    factor = 1024;
    smaller.pop_back();
  }
  const Result<int64_t> count = ParseCount("nodes", smaller);
  if (!count) return count;
  return *count * factor;
}

std::optional<int64_t> WholeNumber(const std::optional<std::string>& text) {
  if (!text || text->size() > 12) return {};
  const auto value = gpuadvise::WholeNumber(*text);
  return value == 0 ? std::nullopt : value;
}

}  // namespace gpuadvise::client
