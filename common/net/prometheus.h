// Instant queries of a Prometheus (GET /api/v1/query,
// https://prometheus.io/docs/prometheus/latest/querying/api/).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise {

// One series of an answer: its labels, and its value at the time of the query.
struct PrometheusSample {
  std::map<std::string, std::string> labels;
  std::optional<double> value;  // nullopt: no finite number
};

// The body of a GET of `target` from the server at the URL `place`. Errors: kUnavailable with the
// end of a sentence.
using PrometheusGet =
    std::function<Result<std::string>(const std::string& place, const std::string& target)>;

// Waits 5 s at most and reads 4 MiB at most. Blocking; from any thread.
Result<std::string> GetFromPrometheus(const std::string& place, const std::string& target);

// The target of an instant `query`.
std::string PrometheusTarget(std::string_view query);

// The samples of an answer; a scalar is one without labels. Errors: kUnavailable with Prometheus's
// own words, or that the answer has another form (a range of values, a text).
Result<std::vector<PrometheusSample>> SamplesOf(std::string_view answer);

}  // namespace gpuadvise
