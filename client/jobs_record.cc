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

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string WaitPart(const json& jobs) {
  int64_t known = 0, held = 0;
  for (const json& job : jobs) {
    const auto wait_held = WaitHeld(job);
    if (!wait_held) continue;
    ++known;
    if (*wait_held) ++held;
  }
  return known == 0 ? "" : fmt::format(" · wait p90 held for {} of {}", held, known);
}

std::string ErrorPart(const char* words, const std::vector<double>& errors) {
  if (errors.empty()) return {};
  return fmt::format(" · {} {:.0f} % of {}", words, 100 * Median(errors), errors.size());
}

void AddError(std::optional<double> said, std::optional<double> real, std::vector<double>& errors) {
  if (said && real && *said > 0) errors.push_back(std::abs(ErrorOfSaid(*said, *real)));
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
