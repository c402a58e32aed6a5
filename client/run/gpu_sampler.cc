#include "client/run/gpu_sampler.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace gpuadvise::client {
namespace {

// From NVIDIA's nvml.h, which has a stable binary interface.
using Device = void*;
struct Memory {
  unsigned long long total, free, used;
};
struct Utilisation {
  unsigned int gpu, memory;
};
constexpr int kSuccess = 0;
constexpr unsigned int kNameSize = 96;

// The functions used of the library.
struct Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned int*) = nullptr;
  int (*by_index)(unsigned int, Device*) = nullptr;
  int (*name)(Device, char*, unsigned int) = nullptr;
  int (*uuid)(Device, char*, unsigned int) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*utilisation)(Device, Utilisation*) = nullptr;
  int (*power)(Device, unsigned int*) = nullptr;  // milliwatts
};

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(::dlsym(library, name));
  return *function != nullptr;
}

[[maybe_unused]] bool FindAll(void* library, Functions* functions) {
  return Find(library, "nvmlInit_v2", &functions->init) &&
         Find(library, "nvmlShutdown", &functions->shutdown) &&
         Find(library, "nvmlDeviceGetCount_v2", &functions->count) &&
         Find(library, "nvmlDeviceGetHandleByIndex_v2", &functions->by_index) &&
         Find(library, "nvmlDeviceGetName", &functions->name) &&
         Find(library, "nvmlDeviceGetUUID", &functions->uuid) &&
         Find(library, "nvmlDeviceGetMemoryInfo", &functions->memory) &&
         Find(library, "nvmlDeviceGetUtilizationRates", &functions->utilisation) &&
         Find(library, "nvmlDeviceGetPowerUsage", &functions->power);
}

std::vector<std::string> Entries(const std::string& visible) {
  std::vector<std::string> entries;
  for (size_t start = 0; start < visible.size();) {
    const size_t end = std::min(visible.find(',', start), visible.size());
    entries.push_back(visible.substr(start, end - start));
    start = end + 1;
  }
  return entries;
}

// Whether an entry of CUDA_VISIBLE_DEVICES is this GPU's index or a prefix of its UUID.
bool Means(const std::string& entry, unsigned int index, const std::string& uuid) {
  return entry == std::to_string(index) || (entry.size() > 4 && uuid.starts_with(entry));
}

class Nvml : public GpuSampler {
 public:
  Nvml(void* library, Functions functions, const std::string& visible)
      : library_(library), call_(functions) {
    const std::vector<std::string> entries = Entries(visible);
    unsigned int count = 0;
    if (call_.count(&count) != kSuccess) return;
    for (unsigned int index = 0; index < count; ++index) {
      Device device = nullptr;
      if (call_.by_index(index, &device) != kSuccess) continue;
      const std::string uuid = ReadText(call_.uuid, device);
      const bool ours = entries.empty() ||
                        std::any_of(entries.begin(), entries.end(),
                                    [&](const auto& entry) { return Means(entry, index, uuid); });
      if (ours) devices_.push_back(device);
    }
  }
  ~Nvml() override {
    call_.shutdown();
    ::dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::vector<GpuSample> Sample() override {
    std::vector<GpuSample> samples;
    for (Device device : devices_) {
      GpuSample sample;
      Memory memory{};
      if (call_.memory(device, &memory) == kSuccess) {
        sample.memory_used_bytes = static_cast<int64_t>(memory.used);
        sample.memory_total_bytes = static_cast<int64_t>(memory.total);
      }
      Utilisation busy{};
      if (call_.utilisation(device, &busy) == kSuccess) sample.utilisation = busy.gpu / 100.0;
      unsigned int milliwatts = 0;
      if (call_.power(device, &milliwatts) == kSuccess) sample.watts = milliwatts / 1000.0;
      samples.push_back(sample);
    }
    return samples;
  }

  std::vector<std::string> Names() override {
    std::vector<std::string> names;
    for (Device device : devices_) names.push_back(ReadText(call_.name, device));
    return names;
  }

 private:
  static std::string ReadText(int (*get)(Device, char*, unsigned int), Device device) {
    std::array<char, kNameSize> text{};
    if (get(device, text.data(), kNameSize) != kSuccess) return "";
    text.back() = '\0';
    return text.data();
  }

  void* library_;
  Functions call_;
  std::vector<Device> devices_;
};

}  // namespace

std::unique_ptr<GpuSampler> LoadNvml(const std::string& library, const std::string& visible) {
#ifdef GPUADVISE_STATIC  // a static program cannot load the machine's libraries
  (void)library;
  (void)visible;
  return nullptr;
#else
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  Functions functions;
  if (!FindAll(handle, &functions) || functions.init() != kSuccess) {
    ::dlclose(handle);
    return nullptr;
  }
  return std::make_unique<Nvml>(handle, functions, visible);
#endif
}

}  // namespace gpuadvise::client
