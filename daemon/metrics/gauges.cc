#include "daemon/metrics/gauges.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "common/base/text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Bytes that are no UTF-8 become U+FFFD.
std::string ValidUtf8(std::string_view text) {
  const std::string quoted =
      json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

}  // namespace

std::string LabelValue(std::string_view text) {
  if (IsPlain(text) && text.size() <= kMostLabelBytes) return std::string(text);
  // Cut first: what is cut within a character is mended with the rest.
  return OneLine(ValidUtf8(text.substr(0, 4 * kMostLabelBytes)), kMostLabelBytes);
}

Gauges::Gauges(const char* name, const char* help, std::vector<std::string> labels)
    : name_(name), help_(help), labels_(std::move(labels)) {}

void Gauges::Add(const std::vector<std::string>& values, double value) {
  assert(values.size() == labels_.size());
  std::vector<std::string> valid;
  valid.reserve(values.size());
  for (const std::string& each : values) valid.push_back(LabelValue(each));
  series_[std::move(valid)] += value;
}

void Gauges::MoveTo(MetricFamilies& families) && {
  prometheus::MetricFamily family{name_, help_, prometheus::MetricType::Gauge, {}};
  for (const auto& [values, value] : series_) {
    prometheus::ClientMetric metric;
    for (size_t i = 0; i < values.size(); ++i) metric.label.push_back({labels_[i], values[i]});
    metric.gauge.value = value;
    family.metric.push_back(std::move(metric));
  }
  families.push_back(std::move(family));
}

void AddGauge(const char* name, const char* help, double value, MetricFamilies& families) {
  Gauges gauge(name, help);
  gauge.Set(value);
  std::move(gauge).MoveTo(families);
}

std::string MetricText(const MetricFamilies& families) {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return std::move(text).str();
}

}  // namespace gpuadvise::daemon
