// GPU metrics of a finished job from a site's Prometheus, by two queries in client.yaml.
//
// The default queries read NVIDIA's dcgm-exporter with its job mapping (label hpc_job,
// https://github.com/NVIDIA/dcgm-exporter, "--hpc-job-mapping-dir").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/records/job_efficiency.h"
#include "common/base/error.h"
#include "common/net/prometheus.h"

namespace gpuadvise::client {

struct GpuMetrics {
  std::string prometheus;    // its URL; "": the site has none
  std::string use_query;     // percent, mean over a job's GPUs; has {job}, {elapsed}
  std::string memory_query;  // bytes, maximum over GPUs
};

extern const char* const kUsualUseQuery;
extern const char* const kUsualMemoryQuery;

// `query` with {job} and {elapsed} (seconds, at least 1) filled in.
std::string FilledQuery(std::string_view query, const JobEfficiency& job);

// The number in an answer of a query: a scalar or a vector of one sample; nullopt if the query
// found nothing or NaN. Errors: as SamplesOf(), or several series.
Result<std::optional<double>> NumberOfQuery(std::string_view answer);

// Adds mean utilisation and peak memory to `jobs` that had GPUs and lack a mean, for the first 50
// at most. Stops at the first error and returns it as a sentence for the user; else "".
std::string AddGpuMetrics(const GpuMetrics& metrics, const PrometheusGet& get,
                          std::vector<JobEfficiency>* jobs);

}  // namespace gpuadvise::client
