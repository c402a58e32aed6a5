#include "client/commands/train_yaml_writer.h"

#include <fmt/format.h>

#include "client/terminal/display.h"
#include "common/base/words.h"
#include "common/yaml/yaml_scalar.h"

namespace gpuadvise::client {
namespace {

std::string GpuComment(const api::GpuType& gpu) {
  const auto bytes = static_cast<double>(gpu.memory_bytes.value_or(0));
  return fmt::format("#   {:<14} {} × {}, {:.0f} GiB, {}\n", gpu.gpu, gpu.nodes, gpu.gpus_per_node,
                     bytes / (1 << 30), JoinNames(gpu.partitions, 4));
}

}  // namespace

std::string ExampleTrainYaml(const api::Gpus& cluster) {
  std::string text =
      "# What to train, for `gpuadvise advise` and `gpuadvise submit`.\n"
      "# GPUs of this cluster:\n";
  for (const api::GpuType& gpu : cluster.gpus) text += GpuComment(gpu);
  return text +
         "\n"
         "name: my-training\n"
         "\n"
         "model:\n"
         "  # GPU memory of one process: base + per_sample × micro-batch + overhead. Measure two\n"
         "  # batch sizes with nvidia-smi to get the line. Instead: `preset: NAME` for a known "
         "model.\n"
         "  memory: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}\n"
         "\n"
         "training:\n"
         "  max_steps: 10000\n"
         "  effective_batch_size: [120, 144]  # kept: micro-batch × accumulation × GPUs\n"
         "  bf16: auto                        # fp16 where the GPU has no bf16\n"
         "  # One timing on any GPU gives the run times; put your own here.\n"
         "  measured:\n"
         "    - {gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}\n"
         "\n"
         "resources:\n"
         "  cpus_per_gpu: 8\n"
         "  mem_per_gpu: 20G\n"
         "  # gpus: [rtx4090, l40s]           # only these\n"
         "  # max_nodes: 1\n"
         "\n"
         "# slurm: {account: lab, qos: normal, partition: gpu, time: 12:00:00}   # what you fix\n"
         "objective: finish                   # or start, cost, deadline\n"
         "\n"
         "setup:\n"
         "  - source ~/venv/bin/activate\n"
         "command: >-\n"
         "  torchrun --nproc_per_node={gpus_per_node} train.py\n"
         "  --per_device_train_batch_size {micro_batch}\n"
         "  --gradient_accumulation_steps {accumulation}\n";
}

}  // namespace gpuadvise::client
