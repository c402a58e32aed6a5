// What metric families are made of: label values that Prometheus takes, gauges that add up, text.
//
// Names of accounts, partitions and reasons come from Slurm. One value that is not UTF-8, or one
// series that is there twice, would cost the whole scrape or a warning at every one: values are
// made valid, and those that are then the same are one series. Pure.
#pragma once

#include <prometheus/metric_family.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuadvise::daemon {

using MetricFamilies = std::vector<prometheus::MetricFamily>;

// Of a longer label value the beginning.
inline constexpr size_t kMostLabelBytes = 128;

// `text` as valid UTF-8 without control characters, at most kMostLabelBytes. Quotes and
// backslashes stay: the serializer escapes them.
std::string LabelValue(std::string_view text);

// One gauge with its series by label values.
class Gauges {
 public:
  // `labels`: names, in the order in which Add() is given values.
  Gauges(const char* name, const char* help, std::vector<std::string> labels = {});

  // The series of `values` counts `value` more; a new one begins at 0.
  // REQUIRES: as many values as labels.
  void Add(const std::vector<std::string>& values, double value);

  // The gauge without labels.
  void Set(double value) { series_[{}] = value; }

  void MoveTo(MetricFamilies& families) &&;

 private:
  const char* name_;
  const char* help_;
  std::vector<std::string> labels_;
  std::map<std::vector<std::string>, double> series_;
};

// A gauge without labels.
void AddGauge(const char* name, const char* help, double value, MetricFamilies& families);

// The text format (version 0.0.4). A family without series keeps its HELP and TYPE lines.
std::string MetricText(const MetricFamilies& families);

}  // namespace gpuadvise::daemon
