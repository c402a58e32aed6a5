// What a site's Prometheus knows of the GPUs of a finished job, by two queries in client.yaml.
//
// The usual ones read NVIDIA's dcgm-exporter with its job mapping (label hpc_job,
// https://github.com/NVIDIA/dcgm-exporter, "--hpc-job-mapping-dir"). The HTTP API is Prometheus's
// own (GET /api/v1/query, https://prometheus.io/docs/prometheus/latest/querying/api/).
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
  std::string use_query;     // percent, the mean of a job's GPUs; {job}, {elapsed} are filled in
  std::string memory_query;  // bytes, the highest of one GPU
};

extern const char* const kUsualUseQuery;
extern const char* const kUsualMemoryQuery;

// `query` with {job} and {elapsed} (seconds, at least 1) filled in.
std::string FilledQuery(std::string_view query, const JobEfficiency& job);

// The number in an answer of /api/v1/query: a scalar, or a vector of one sample; nothing where the
// query found nothing or NaN. Errors: what Prometheus says is wrong; an answer of another form.
Result<std::optional<double>> NumberOfQuery(std::string_view answer);

// The body that a GET of this URL brings. Errors: kUnavailable with the end of a sentence.
using Get = std::function<Result<std::string>(const std::string& url)>;
Result<std::string> GetByHttps(const std::string& url);

// Puts mean use and highest memory into those `jobs` that had GPUs and lack a mean. It asks for the
// first 50 at most and stops at the first error, which is one sentence for the user; "" else.
std::string AddGpuMetrics(const GpuMetrics& metrics, const Get& get,
                          std::vector<JobEfficiency>* jobs);

}  // namespace gpuadvise::client
