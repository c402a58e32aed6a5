#include "client/commands/option_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

constexpr double kMostPrice = 1e9;
constexpr size_t kMostDigits = 12;  // of a job's number

// Whether `word` is a number from `least` to `most`; "nan" and "inf" are none.
bool IsNumberFrom(double least, double most, const std::string& word) {
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  return !word.empty() && *end == '\0' && std::isfinite(number) && number >= least &&
         number <= most;
}

bool IsJobNumber(std::string_view word) {
  return !word.empty() && word.size() <= kMostDigits &&
         std::all_of(word.begin(), word.end(), IsDigit);
}

}  // namespace

std::string CheckObjective(const std::string& word) {
  if (IsOneOf(word, {"finish", "start", "cost", "deadline"})) return {};
  return "'" + word + "' is not an objective; use finish, start, cost or deadline";
}

CLI::Validator NumberFrom(double least, double most) {
  const auto check = [least, most](const std::string& word) {
    return IsNumberFrom(least, most, word)
               ? std::string()
               : fmt::format("'{}' is not a number from {:.12g} to {:.12g}", word, least, most);
  };
  return CLI::Validator(check, "", "");
}

std::string CheckPrice(const std::string& word) {
  return IsNumberFrom(0, kMostPrice, word)
             ? ""
             : "'" + word + "' is not a price; write a number such as 2.50";
}

std::string CheckJobId(const std::string& word) {
  if (IsJobNumber(word)) return "";
  return "'" + word + "' is not a job id; write the number that squeue shows";
}

std::string CheckJobOrTask(const std::string& word) {
  const size_t bar = std::min(word.find('_'), word.size());
  const bool task = bar == word.size() || IsJobNumber(word.substr(bar + 1));
  if (IsJobNumber(word.substr(0, bar)) && task) return "";
  return "'" + word +
         "' is not a job id; write the number that squeue shows, such as 4711 or 4711_3";
}

}  // namespace gpuadvise::client
