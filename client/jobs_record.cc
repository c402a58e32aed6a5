#include "client/jobs_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "client/experiment_words.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr double kAtOnceSeconds = 60;  // polls and launching take as long

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string WaitPart(const json& jobs) {
  int64_t known = 0, held = 0;
  for (const json& job : jobs) {
    const auto late = SecondsOf(job, "wait_p90_seconds");
    const auto real = SecondsOf(job, "wait_seconds");
    if (!late || !real) continue;
    ++known;
    if (*real <= std::max(*late, kAtOnceSeconds)) ++held;
  }
  return known == 0 ? "" : fmt::format(" · wait p90 held for {} of {}", held, known);
}

std::string ErrorPart(const char* words, const std::vector<double>& errors) {
  if (errors.empty()) return {};
  return fmt::format(" · {} {:.0f} % of {}", words, 100 * Median(errors), errors.size());
}

void AddError(std::optional<double> said, std::optional<double> real, std::vector<double>& errors) {
  if (said && real && *real > 0) errors.push_back(std::abs(*real - *said) / *real);
}

}  // namespace

std::string JobsRecord(const json& jobs) {
  std::vector<double> run, memory;
  for (const json& job : jobs) {
    if (StateWords(job) != "ok") continue;
    AddError(SecondsOf(job, "run_p50_seconds"), SecondsOf(job, "run_seconds"), run);
    AddError(BytesOf(job, "memory_bytes"), BytesOf(job, "peak_memory_bytes"), memory);
  }
  return Plural(static_cast<int64_t>(jobs.size()), "job") + WaitPart(jobs) +
         ErrorPart("run time median error", run) + ErrorPart("peak memory", memory);
}

}  // namespace gpuadvise
