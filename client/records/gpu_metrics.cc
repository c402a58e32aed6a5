#include "client/records/gpu_metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"

namespace gpuadvise::client {

const char* const kUsualUseQuery =
    "avg(avg_over_time(DCGM_FI_DEV_GPU_UTIL{hpc_job=\"{job}\"}[{elapsed}s]))";
const char* const kUsualMemoryQuery =
    "max(max_over_time(DCGM_FI_DEV_FB_USED{hpc_job=\"{job}\"}[{elapsed}s])) * 1048576";

namespace {

constexpr size_t kMostJobsAsked = 50;

Result<std::optional<double>> Ask(const GpuMetrics& metrics, const std::string& query,
                                  const JobEfficiency& job, const PrometheusGet& get) {
  std::string target = PrometheusTarget(FilledQuery(query, job));
  if (job.ended_at) target += fmt::format("&time={}", *job.ended_at);
  const Result<std::string> answer = get(metrics.prometheus, target);
  if (!answer) return tl::unexpected<Error>(answer.error());
  return NumberOfQuery(*answer);
}

Result<void> AddTo(JobEfficiency& job, const GpuMetrics& metrics, const PrometheusGet& get) {
  const auto percent = Ask(metrics, metrics.use_query, job, get);
  if (!percent) return tl::unexpected<Error>(percent.error());
  if (*percent && (**percent < 0 || **percent > 100)) {
    return Fail(
        ErrorCode::kUnavailable,
        fmt::format("gpu_use_query gives {:.4g} where a percentage is expected", **percent));
  }
  if (*percent) {
    job.gpu_use = **percent / 100;
    job.gpu_use_is_mean = true;
  }
  const auto bytes = Ask(metrics, metrics.memory_query, job, get);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  if (*bytes && **bytes > 0 && **bytes < 1e15) job.gpu_memory_bytes = static_cast<int64_t>(**bytes);
  return {};
}

}  // namespace

std::string FilledQuery(std::string_view query, const JobEfficiency& job) {
  std::string filled = ReplaceAll(std::string(query), "{job}", std::to_string(job.raw_id));
  return ReplaceAll(std::move(filled), "{elapsed}",
                    std::to_string(std::max<int64_t>(1, job.elapsed_seconds)));
}

Result<std::optional<double>> NumberOfQuery(std::string_view answer) {
  const Result<std::vector<PrometheusSample>> samples = SamplesOf(answer);
  if (!samples) return tl::unexpected<Error>(samples.error());
  if (samples->empty()) return std::optional<double>();
  if (samples->size() > 1) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("the query gives {} series where one is expected; write avg(…) or "
                            "max(…) around it",
                            samples->size()));
  }
  return samples->front().value;
}

std::string AddGpuMetrics(const GpuMetrics& metrics, const PrometheusGet& get,
                          std::vector<JobEfficiency>* jobs) {
  if (metrics.prometheus.empty()) return "";
  size_t asked = 0;
  for (JobEfficiency& job : *jobs) {
    if (job.gpus < 1 || job.gpu_use_is_mean || job.elapsed_seconds < 1) continue;
    if (++asked > kMostJobsAsked) {
      return fmt::format("GPU use is shown for the first {} jobs; name a shorter period",
                         kMostJobsAsked);
    }
    if (Result<void> added = AddTo(job, metrics, get); !added) {
      return "Prometheus does not report the GPU use: " + added.error().message;
    }
  }
  return "";
}

}  // namespace gpuadvise::client
