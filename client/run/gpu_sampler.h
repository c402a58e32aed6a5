// Memory, utilisation and power of this process's GPUs, from NVIDIA's management library.
//
// Loads libnvidia-ml.so.1 at run time; without it (no driver, another vendor's GPU) there are no
// samples, and everything else works. Samples only the GPUs of CUDA_VISIBLE_DEVICES. Used by one
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpuadvise::client {

struct GpuSample {
  int64_t memory_used_bytes = 0;
  int64_t memory_total_bytes = 0;
  std::optional<double> utilisation;  // 0 … 1: share of the last second with a kernel running
  std::optional<double> watts;
};

class GpuSampler {
 public:
  virtual ~GpuSampler() = default;
  // One per GPU, in a fixed order; empty if none can be read.
  virtual std::vector<GpuSample> Sample() = 0;
  // Names, parallel to Sample().
  virtual std::vector<std::string> Names() = 0;
};

// Why there is none, for people.
#ifdef GPUADVISE_STATIC
inline constexpr const char* kNoNvml =
    "the portable gpuadvise cannot load NVIDIA's library; install gpuadvise's packages on the GPU "
    "nodes";
#else
inline constexpr const char* kNoNvml = "NVIDIA's libnvidia-ml.so.1 cannot be used here";
#endif

// `library`: a file name or a path; `visible`: the value of CUDA_VISIBLE_DEVICES ("": all).
// nullptr: the library is missing or fails to initialise, or this program is static.
std::unique_ptr<GpuSampler> LoadNvml(const std::string& library, const std::string& visible);

}  // namespace gpuadvise::client
