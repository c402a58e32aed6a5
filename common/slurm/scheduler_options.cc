#include "common/slurm/scheduler_options.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "common/base/unix_time.h"

namespace gpuadvise {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();  // Slurm's own numbers are ints
constexpr int64_t kMostArrayResv = 1'000;  // more is a mistake to Slurm, which then takes its own

}  // namespace

int64_t NumberOf(std::string_view parameters, std::string_view name, int64_t otherwise) {
  while (!parameters.empty()) {
    const size_t comma = parameters.find(',');
    std::string_view word = parameters.substr(0, comma);
    parameters = comma == std::string_view::npos ? "" : parameters.substr(comma + 1);
    while (word.starts_with(' ')) word.remove_prefix(1);
    if (!word.starts_with(name)) continue;
    word.remove_prefix(name.size());
    if (!word.starts_with('=')) continue;
    word.remove_prefix(1);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc() && value >= 0 && value <= kLargest) return value;
  }
  return otherwise;
}

SchedulerOptions OptionsOf(const SchedulerConfig& config) {
  SchedulerOptions options;
  const auto number = [&](std::string_view name, int64_t otherwise) {
    return NumberOf(config.scheduler_parameters, name, otherwise);
  };
  options.backfill = config.scheduler_type != "sched/builtin";
  options.queue_depth = number("default_queue_depth", options.queue_depth);
  options.interval_seconds = std::max<int64_t>(number("bf_interval", options.interval_seconds), 1);
  options.window_seconds =
      kMinuteSeconds * number("bf_window", options.window_seconds / kMinuteSeconds);
  options.resolution_seconds =
      std::max<int64_t>(number("bf_resolution", options.resolution_seconds), 1);
  options.max_job_test = number("bf_max_job_test", options.max_job_test);
  const int64_t array_resv = number("bf_max_job_array_resv", options.max_job_array_resv);
  if (array_resv <= kMostArrayResv) options.max_job_array_resv = array_resv;
  options.max_job_user = number("bf_max_job_user", 0);
  options.max_job_part = number("bf_max_job_part", 0);
  options.max_job_start = number("bf_max_job_start", 0);
  options.min_age_reserve_seconds = number("bf_min_age_reserve", 0);
  options.min_priority_reserve = number("bf_min_prio_reserve", 0);
  return options;
}

}  // namespace gpuadvise
