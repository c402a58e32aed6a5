// GPU metrics of a finished job from a site's Prometheus, by two queries in client.yaml.
//
// The default queries read NVIDIA's dcgm-exporter with its job mapping (label hpc_job,
// https://github.com/NVIDIA/dcgm-exporter, "--hpc-job-mapping-dir"). The HTTP API is Prometheus's
// (GET /api/v1/query, https://prometheus.io/docs/prometheus/latest/querying/api/).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/records/job_efficiency.h"
#include "common/base/error.h"

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

// The number in an answer of /api/v1/query: a scalar or a vector of one sample; nullopt if the
// query found nothing or NaN. Errors: Prometheus's own; an answer of another form.
Result<std::optional<double>> NumberOfQuery(std::string_view answer);

// The body of a GET of `target` from the server at the URL `place`. Errors: kUnavailable with the
// end of a sentence.
using Get = std::function<Result<std::string>(const std::string& place, const std::string& target)>;
Result<std::string> GetByHttp(const std::string& place, const std::string& target);

// Adds mean utilisation and peak memory to `jobs` that had GPUs and lack a mean, for the first 50
// at most. Stops at the first error and returns it as a sentence for the user; else "".
std::string AddGpuMetrics(const GpuMetrics& metrics, const Get& get,
                          std::vector<JobEfficiency>* jobs);

}  // namespace gpuadvise::client
