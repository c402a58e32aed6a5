#include "client/records/gpu_metrics.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/net/http_call.h"

namespace gpuadvise::client {

const char* const kUsualUseQuery =
    "avg(avg_over_time(DCGM_FI_DEV_GPU_UTIL{hpc_job=\"{job}\"}[{elapsed}s]))";
const char* const kUsualMemoryQuery =
    "max(max_over_time(DCGM_FI_DEV_FB_USED{hpc_job=\"{job}\"}[{elapsed}s])) * 1048576";

namespace {

using nlohmann::json;

constexpr size_t kMostJobsAsked = 50;
constexpr std::chrono::seconds kPrometheusPatience{5};
constexpr size_t kMostAnswerBytes = 64 << 10;

// Prometheus writes numbers as strings: "93.5", "NaN", "+Inf".
std::optional<double> ReadSample(const json& sample) {
  if (!sample.is_array() || sample.size() != 2 || !sample[1].is_string()) return std::nullopt;
  const auto& text = sample[1].get_ref<const std::string&>();
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !std::isfinite(number)) return std::nullopt;
  return number;
}

Result<std::optional<double>> Ask(const GpuMetrics& metrics, const std::string& query,
                                  const JobEfficiency& job, const Get& get) {
  std::string target = "/api/v1/query?query=" + QueryEncoded(FilledQuery(query, job));
  if (job.ended_at) target += fmt::format("&time={}", *job.ended_at);
  const Result<std::string> answer = get(metrics.prometheus, target);
  if (!answer) return tl::unexpected<Error>(answer.error());
  return NumberOfQuery(*answer);
}

Result<void> AddTo(JobEfficiency& job, const GpuMetrics& metrics, const Get& get) {
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
  const json body = json::parse(answer, nullptr, false);
  if (!body.is_object()) return Fail(ErrorCode::kUnavailable, "the answer is not JSON");
  if (body.value("status", json()) != "success") {
    const json words = body.value("error", json());
    return Fail(ErrorCode::kUnavailable,
                words.is_string() ? Shortened(words.get<std::string>(), 200) : "the query failed");
  }
  const json data = body.value("data", json::object());
  const json result = data.is_object() ? data.value("result", json()) : json();
  if (!result.is_array()) {
    return Fail(ErrorCode::kUnavailable, "the answer has no result");
  }
  if (data.value("resultType", json()) == "scalar") return ReadSample(result);
  if (result.empty()) return std::optional<double>();
  if (result.size() > 1) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("the query gives {} series where one is expected; write avg(…) or "
                            "max(…) around it",
                            result.size()));
  }
  return ReadSample(result.front().is_object() ? result.front().value("value", json()) : json());
}

Result<std::string> GetByHttp(const std::string& place, const std::string& target) {
  Result<HttpPlace> at = ReadHttpPlace(place);
  if (!at) return tl::unexpected<Error>(std::move(at.error()));
  Result<HttpAnswer> answer = CallHttp({.place = std::move(*at),
                                        .target = target,
                                        .deadline = kPrometheusPatience,
                                        .most_body_bytes = kMostAnswerBytes});
  if (!answer) return tl::unexpected<Error>(std::move(answer.error()));
  const bool speaks = answer->status == 200 || answer->body.starts_with('{');  // 400, 422: reason
  if (!speaks) return Fail(ErrorCode::kUnavailable, fmt::format("HTTP {}", answer->status));
  return std::move(answer->body);
}

std::string AddGpuMetrics(const GpuMetrics& metrics, const Get& get,
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
