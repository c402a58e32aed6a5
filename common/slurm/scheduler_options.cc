#include "common/slurm/scheduler_options.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "common/base/text.h"
#include "common/base/unix_time.h"

namespace gpuadvise {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();  // Slurm stores ints
constexpr int64_t kMostArrayResv = 1'000;  // Slurm replaces larger values with its default

// Removes the first word from `parameters`, without leading blanks.
std::string_view TakeWord(std::string_view& parameters) {
  const size_t comma = parameters.find(',');
  std::string_view word = parameters.substr(0, comma);
  parameters = comma == std::string_view::npos ? "" : parameters.substr(comma + 1);
  while (word.starts_with(' ')) word.remove_prefix(1);
  return word;
}

}  // namespace

bool HasWord(std::string_view parameters, std::string_view name) {
  while (!parameters.empty()) {
    const std::string_view word = TakeWord(parameters);
    if (EqualIgnoringCase(word.substr(0, word.find('=')), name)) return true;
  }
  return false;
}

int64_t NumberOf(std::string_view parameters, std::string_view name, int64_t otherwise) {
  while (!parameters.empty()) {
    std::string_view word = TakeWord(parameters);
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
  options.max_job_assoc = number("bf_max_job_assoc", 0);
  if (options.max_job_assoc > 0) options.max_job_user = 0;
  options.max_job_user_part = number("bf_max_job_user_part", 0);
  options.part_count_reserve = number("bf_job_part_count_reserve", 0);
  options.partition_depth = number("partition_job_depth", 0);
  options.window_linear_seconds = number("bf_window_linear", 0);
  const auto has = [&](std::string_view name) {
    return HasWord(config.scheduler_parameters, name);
  };
  options.one_resv_per_job = has("bf_one_resv_per_job");
  options.magnetic_slot = has("bf_allow_magnetic_slot");
  options.plans_licenses = has("bf_licenses");
  options.running_job_reserve = options.plans_licenses || has("bf_running_job_reserve");
  options.assoc_limit_stop = has("assoc_limit_stop");
  options.youngest_first = has("preempt_youngest_first");
  options.main_loop = !(has("sched_interval") &&
                        config.scheduler_parameters.find("sched_interval=-1") != std::string::npos);
  return options;
}

}  // namespace gpuadvise
