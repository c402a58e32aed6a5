#include "daemon/history_question.h"

#include <fmt/format.h>

#include <charconv>

#include "daemon/query.h"

namespace gpuadvise {

Result<HistoryQuestion> HistoryQuestionFrom(std::string_view target) {
  HistoryQuestion question;
  for (const auto& [name, value] : QueryOf(target)) {
    if (name == "gpu") question.gpu = value;
    if (name != "weeks") continue;
    const char* end = value.data() + value.size();
    const auto [rest, status] = std::from_chars(value.data(), end, question.weeks);
    if (status != std::errc() || rest != end || question.weeks < 1 || question.weeks > kMostWeeks) {
      return BadInput(
          fmt::format("weeks is '{}'; write a whole number from 1 to {}", value, kMostWeeks));
    }
  }
  return question;
}

}  // namespace gpuadvise
