#include "client/commands/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

constexpr size_t kMostDigits = 12;  // of a job's number

// Whether `word` is a number from `least` to `most`; "nan" and "inf" are none.
bool IsNumberFrom(double least, double most, const std::string& word) {
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  return !word.empty() && *end == '\0' && std::isfinite(number) && number >= least &&
         number <= most;
}

bool IsDigits(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), IsDigit);
}

template <class T>
constexpr bool kIsWhole = std::is_same_v<T, int64_t> || std::is_same_v<T, std::optional<int64_t>> ||
                          std::is_same_v<T, std::vector<int64_t>>;

template <class T>
WordCheck NumberFrom(double least, double most) {
  return [least, most](const std::string& word) {
    const bool good = IsNumberFrom(least, most, word) && (!kIsWhole<T> || IsDigits(word));
    return good ? std::string()
                : fmt::format("'{}' is not a {}number from {:.12g} to {:.12g}", word,
                              kIsWhole<T> ? "whole " : "", least, most);
  };
}

bool IsJobNumber(std::string_view word) { return IsDigits(word) && word.size() <= kMostDigits; }

}  // namespace

CLI::Option* Options::Flag(const char* name, bool& given, const char* help) {
  return app_.add_flag(name, given, help);
}

template <class T>
CLI::Option* Options::Value(const char* name, T& value, const char* help, WordCheck check) {
  const std::string whole = name;
  const size_t blank = std::min(whole.find(' '), whole.size());
  CLI::Option* const option = app_.add_option(whole.substr(0, blank), value, help);
  if (blank < whole.size()) option->option_text(whole.substr(blank + 1));
  if (check) option->check(CLI::Validator(std::move(check), "", ""));
  return option;
}

template <class T>
CLI::Option* Options::Number(const char* name, T& value, double least, double most,
                             const char* help) {
  return Value(name, value, help, NumberFrom<T>(least, most));
}

template CLI::Option* Options::Value(const char*, std::string&, const char*, WordCheck);
template CLI::Option* Options::Value(const char*, std::vector<std::string>&, const char*,
                                     WordCheck);
template CLI::Option* Options::Value(const char*, std::optional<double>&, const char*, WordCheck);
template CLI::Option* Options::Number(const char*, int64_t&, double, double, const char*);
template CLI::Option* Options::Number(const char*, double&, double, double, const char*);
template CLI::Option* Options::Number(const char*, std::optional<int64_t>&, double, double,
                                      const char*);
template CLI::Option* Options::Number(const char*, std::optional<double>&, double, double,
                                      const char*);
template CLI::Option* Options::Number(const char*, std::vector<int64_t>&, double, double,
                                      const char*);

void Options::Required(const char* name, std::string& value, const char* help, WordCheck check) {
  Value(name, value, help, std::move(check))->required();
}

void Options::Json(const char* help) { Flag("--json", common_.json, help); }

void Options::Place() {
  Value("--socket PATH", common_.place.socket, "Socket of gpuadvised");
  Value("--daemon URL,...", common_.place.daemon, "gpuadvised of other hosts, asked in this order");
}

void Options::JsonAndPlace() {
  Json();
  Place();
}

void Options::Clusters() {
  Value("-M,--clusters NAME,...", common_.clusters, "Ask these clusters of client.yaml, or all");
}

void Options::Footer(const char* text) { app_.footer(text); }

std::string CheckObjective(const std::string& word) {
  if (IsOneOf(word, {"finish", "start", "cost", "deadline"})) return {};
  return "'" + word + "' is not an objective; use finish, start, cost or deadline";
}

std::string CheckJobId(const std::string& word) {
  if (IsJobNumber(word)) return "";
  return "'" + word + "' is not a job id; write the number that squeue shows";
}

std::string CheckAnyJobId(const std::string& word) {
  const size_t mark = std::min(word.find_first_of("_+"), word.size());
  const bool tasks = word.compare(mark, 2, "_[") == 0 && word.ends_with(']');  // that wait
  if (tasks && IsJobNumber(word.substr(0, mark))) return "";
  const bool part = mark == word.size() || IsJobNumber(word.substr(mark + 1));
  if (IsJobNumber(word.substr(0, mark)) && part) return "";
  return "'" + word +
         "' is not a job id; write what squeue shows, such as 4711, 4711_3, 4711_[4-9] or "
         "4711+1";
}

std::string CheckJobOrTask(const std::string& word) {
  const size_t bar = std::min(word.find('_'), word.size());
  const bool task = bar == word.size() || IsJobNumber(word.substr(bar + 1));
  if (IsJobNumber(word.substr(0, bar)) && task) return "";
  return "'" + word +
         "' is not a job id; write the number that squeue shows, such as 4711 or 4711_3";
}

}  // namespace gpuadvise::client
