// GPUs that do nothing, by the site's Prometheus: what Slurm does not know of a node.
//
// A query gives each node's number of GPUs that were idle in the last 30 minutes, allocated or not,
// as one series a node with one label, its name, with or without port and domain.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "common/net/prometheus.h"
#include "daemon/collect/source.h"

namespace gpuadvise::collect {

struct IdleGpusOptions {
  std::string prometheus;                    // its URL; "": the site has none
  std::string query;                         // see above
  std::chrono::milliseconds rest{60'000};    // between two queries
  std::chrono::milliseconds pause{300'000};  // after one that failed
};

// Node name to number, from an answer to the query. Errors: as SamplesOf(); kUnavailable for series
// that have not exactly one label.
Result<std::map<std::string, int64_t>> IdleGpusIn(std::string_view answer);

// `slurm` with Node::gpus_idle filled in; `slurm` itself if there is no Prometheus. A query that
// fails costs its answers nothing but that number, and SchedulerConfig says why.
std::unique_ptr<Source> WithIdleGpus(
    std::unique_ptr<Source> slurm, IdleGpusOptions options, PrometheusGet get = GetFromPrometheus,
    std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now);

}  // namespace gpuadvise::collect
