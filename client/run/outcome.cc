#include "client/run/outcome.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace gpuadvise {
namespace {

using nlohmann::json;

template <typename T>
void Add(json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

json GpuJson(const GpuUse& use) {
  json gpu = {{"peak_memory_bytes", use.peak_memory_bytes},
              {"memory_total_bytes", use.memory_total_bytes}};
  Add(gpu, "mean_utilisation", use.MeanUtilisation());
  Add(gpu, "mean_watts", use.MeanWatts());
  return gpu;
}

json AttemptJson(const Attempt& attempt) {
  json one = {{"began", attempt.began},
              {"seconds", attempt.seconds},
              {"exit_code", attempt.exit_code},
              {"signal", attempt.signal},
              {"out_of_memory", attempt.out_of_memory}};
  Add(one, "micro_batch", attempt.micro_batch);
  Add(one, "accumulation", attempt.accumulation);
  Add(one, "steps", attempt.steps);
  Add(one, "total_steps", attempt.total_steps);
  Add(one, "seconds_per_step", attempt.seconds_per_step);
  Add(one, "loss", attempt.loss);
  one["gpus"] = json::array();
  for (const GpuUse& use : attempt.gpus) one["gpus"].push_back(GpuJson(use));
  return one;
}

}  // namespace

json OutcomeJson(const Outcome& outcome) {
  json attempts = json::array();
  for (const Attempt& attempt : outcome.attempts) attempts.push_back(AttemptJson(attempt));
  return {{"version", kOutcomeVersion},     {"job_id", outcome.job_id},
          {"advice_id", outcome.advice_id}, {"host", outcome.host},
          {"gpu_names", outcome.gpu_names}, {"attempts", std::move(attempts)}};
}

Result<void> WriteOutcome(const Outcome& outcome, const std::string& folder) {
  const std::string path = folder + "/" + kOutcomeFile;
  const std::string beside = fmt::format("{}.{}", path, ::getpid());
  // Names from a machine may be no UTF-8: replaced, never a reason to lose the rest.
  const std::string text =
      OutcomeJson(outcome).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file.good() && std::rename(beside.c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  std::remove(beside.c_str());
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{} cannot be written: {}", path, std::strerror(error)));
}

}  // namespace gpuadvise
