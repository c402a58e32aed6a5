// A libnvidia-ml.so.1 of two GPUs for tests: memory and use come from files in FAKE_NVML.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

long long Number(const char* name, long long without) {
  const char* folder = std::getenv("FAKE_NVML");
  if (folder == nullptr) return without;
  std::FILE* file = std::fopen((std::string(folder) + "/" + name).c_str(), "r");
  if (file == nullptr) return without;
  long long number = without;
  if (std::fscanf(file, "%lld", &number) != 1) number = without;
  std::fclose(file);
  return number;
}

std::string Text(const char* name, const char* without) {
  const char* folder = std::getenv("FAKE_NVML");
  std::FILE* file =
      folder == nullptr ? nullptr : std::fopen((std::string(folder) + "/" + name).c_str(), "r");
  if (file == nullptr) return without;
  char text[96] = "";
  if (std::fgets(text, sizeof text, file) == nullptr) text[0] = '\0';
  std::fclose(file);
  return text;
}

int gpus[2] = {0, 1};

}  // namespace

extern "C" {

int nvmlInit_v2() { return static_cast<int>(Number("init", 0)); }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  *device = &gpus[index];
  return 0;
}
int nvmlDeviceGetName(void*, char* name, unsigned int size) {
  std::snprintf(name, size, "%s", Text("name", "Fake GPU").c_str());
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned int size) {
  std::snprintf(uuid, size, "GPU-fake-%d", *static_cast<int*>(device));
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, void* memory) {
  auto* numbers = static_cast<unsigned long long*>(memory);
  numbers[0] = static_cast<unsigned long long>(Number("total_gib", 24)) << 30;
  numbers[2] = static_cast<unsigned long long>(Number("used", 1LL << 30));
  numbers[1] = numbers[0] - numbers[2];
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, void* rates) {
  auto* numbers = static_cast<unsigned int*>(rates);
  numbers[0] = static_cast<unsigned int>(Number("use", 90));
  numbers[1] = 10;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned int* milliwatts) {
  if (Number("no_power", 0) != 0) return 3;  // not supported
  *milliwatts = 250'000;
  return 0;
}
}
