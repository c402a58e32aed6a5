// Slurm's words as values: counts are within bounds, whatever is written.
#include "common/base/host_list.h"
#include "daemon/collect/slurm_values.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::collect;
  const std::string_view text = AsText(data, size);
  JobStateFromWord(text);
  ReasonWord(text);
  const int64_t tasks = CountArrayTasks(text);
  Require(tasks >= 1 && tasks <= 4'000'001, "an array has as many tasks as Slurm allows");
  Require(CountArrayTasks(ArrayTasks(text)) == tasks, "the throttle counts for nothing");
  Require(Hosts(text).size() <= kMaxHostNames, "host lists are bounded");
  Require(MemoryPerGpuMib(text) >= 0, "memory is not negative");
  JobRequest request;
  request.tasks = 3;
  request.nodes_min = 2;
  FillTres({text, text, text, text, text, 2}, request);
  for (const GpuCount& gpu : request.gpus_per_node) Require(gpu.count >= 0, "GPUs are counted");
  for (const GpuCount& gpu : request.gpus_total) Require(gpu.count >= 0, "GPUs are counted");
  return 0;
}
