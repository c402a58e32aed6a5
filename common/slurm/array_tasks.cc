#include "common/slurm/array_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/base/text.h"

namespace gpuadvise {
namespace {

struct TaskRange {
  int64_t low = 0;
  int64_t high = 0;
  int64_t step = 1;
  int64_t count() const { return (high - low) / step + 1; }
};

// "7", "1-40" or "0-30:2"; nullopt: none of these.
std::optional<TaskRange> ParseRange(std::string_view text) {
  TaskRange range;
  const size_t dash = text.find('-');
  const auto low = WholeNumber(text.substr(0, dash));
  if (!low || *low > kMostArrayTasks) return std::nullopt;
  range.low = range.high = *low;
  if (dash == std::string_view::npos) return range;
  std::string_view high = text.substr(dash + 1);
  if (const size_t colon = high.find(':'); colon != std::string_view::npos) {
    const auto step = WholeNumber(high.substr(colon + 1));
    if (!step || *step < 1) return std::nullopt;
    range.step = *step;
    high = high.substr(0, colon);
  }
  const auto last = WholeNumber(high);
  if (!last || *last < range.low || *last > kMostArrayTasks) return std::nullopt;
  range.high = *last;
  return range;
}

}  // namespace

std::string ArrayTasks::Slice(size_t first, size_t count, int64_t most_at_a_time) const {
  std::string text;
  const size_t end = first + count;
  for (size_t i = first; i < end;) {
    size_t last = std::min(i + 1, end - 1);
    const int64_t step = numbers[last] - numbers[i];
    while (last + 1 < end && numbers[last + 1] - numbers[last] == step) ++last;
    if (last < i + 2 && step != 1) last = i;  // two apart are no range
    text += text.empty() ? "" : ",";
    text += std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    if (last > i && step != 1) text += ":" + std::to_string(step);
    i = last + 1;
  }
  return most_at_a_time > 0 ? fmt::format("{}%{}", text, most_at_a_time) : text;
}

std::string ArrayTasks::Ranges() const {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

Result<ArrayTasks> ParseArrayTasks(std::string_view text, int64_t most) {
  const std::string quoted = "\"" + std::string(text.substr(0, 40)) + "\"";
  const auto bad = [&] {
    return BadInput(quoted + " is not a list of tasks such as 1-40, 1-40%4 or 0,5,7");
  };
  ArrayTasks array;
  const size_t percent = text.find('%');
  if (percent != std::string_view::npos) {
    const auto throttle = WholeNumber(text.substr(percent + 1));
    if (!throttle) return bad();
    array.throttle = *throttle;
  }
  std::vector<int64_t>& numbers = array.numbers;
  for (const std::string_view part : SplitAt(text.substr(0, percent), ',')) {
    const auto range = ParseRange(part);
    if (!range) return bad();
    if (range->count() + static_cast<int64_t>(numbers.size()) > most) {
      return BadInput(quoted + " has more than " + std::to_string(most) +
                      " tasks: ask for fewer at a time");
    }
    for (int64_t task = range->low; task <= range->high; task += range->step) {
      numbers.push_back(task);
    }
  }
  if (numbers.empty()) return bad();
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return array;
}

}  // namespace gpuadvise
