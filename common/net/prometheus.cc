#include "common/net/prometheus.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/words.h"
#include "common/net/http_call.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kPatience{5};
constexpr size_t kMostAnswerBytes = 4u << 20;
constexpr size_t kMostErrorBytes = 200;

// Prometheus writes numbers as strings: "93.5", "NaN", "+Inf".
std::optional<double> NumberOf(const json& sample) {
  if (!sample.is_array() || sample.size() != 2 || !sample[1].is_string()) return std::nullopt;
  const auto& text = sample[1].get_ref<const std::string&>();
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::map<std::string, std::string> LabelsOf(const json& series) {
  std::map<std::string, std::string> labels;
  const json metric = series.value("metric", json::object());
  if (!metric.is_object()) return labels;
  for (const auto& [name, value] : metric.items()) {
    if (value.is_string()) labels[name] = value.get<std::string>();
  }
  return labels;
}

}  // namespace

Result<std::string> GetFromPrometheus(const std::string& place, const std::string& target) {
  Result<HttpPlace> at = ReadHttpPlace(place);
  if (!at) return tl::unexpected<Error>(std::move(at.error()));
  Result<HttpAnswer> answer = CallHttp({.place = std::move(*at),
                                        .target = target,
                                        .deadline = kPatience,
                                        .most_body_bytes = kMostAnswerBytes});
  if (!answer) return tl::unexpected<Error>(std::move(answer.error()));
  const bool speaks = answer->status == 200 || answer->body.starts_with('{');  // 400, 422: reason
  if (!speaks) return Fail(ErrorCode::kUnavailable, fmt::format("HTTP {}", answer->status));
  return std::move(answer->body);
}

std::string PrometheusTarget(std::string_view query) {
  return "/api/v1/query?query=" + QueryEncoded(query);
}

Result<std::vector<PrometheusSample>> SamplesOf(std::string_view answer) {
  const json body = json::parse(answer, nullptr, false);
  if (!body.is_object()) return Fail(ErrorCode::kUnavailable, "the answer is not JSON");
  if (body.value("status", json()) != "success") {
    const json words = body.value("error", json());
    return Fail(ErrorCode::kUnavailable, words.is_string()
                                             ? Shortened(words.get<std::string>(), kMostErrorBytes)
                                             : "the query failed");
  }
  const json data = body.value("data", json::object());
  const json result = data.is_object() ? data.value("result", json()) : json();
  if (!result.is_array()) return Fail(ErrorCode::kUnavailable, "the answer has no result");
  const json kind = data.value("resultType", json());
  std::vector<PrometheusSample> samples;
  if (kind == "scalar") {
    samples.push_back({{}, NumberOf(result)});
    return samples;
  }
  if (kind != "vector") {
    return Fail(ErrorCode::kUnavailable, "the query gives no number of this moment");
  }
  for (const json& series : result) {
    if (!series.is_object()) return Fail(ErrorCode::kUnavailable, "the answer has no series");
    samples.push_back({LabelsOf(series), NumberOf(series.value("value", json()))});
  }
  return samples;
}

}  // namespace gpuadvise
