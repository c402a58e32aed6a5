#include "common/time/step_time_model.h"

#include <algorithm>
#include <cmath>

#include "common/memory/activations.h"
#include "common/memory/adapters.h"
#include "common/time/step_work.h"

namespace gpuadvise {
namespace {

constexpr double kUnsharedGpus = 6.5;
constexpr double kTf32Capability = 8;         // Ampere; TF32 runs at half the half-precision rate
constexpr double kOldSoftwareUntil = 2020.8;  // NVIDIA's containers 20.01 to 20.10,
constexpr double kNewSoftwareFrom = 2022.8;   // and 22.09; 24.10 is equally fast
constexpr double kGiga = 1e9;

struct Rates {
  double operations_per_s = 0;
  double bytes_per_s = 0;
};

// Slowdown of GPU work with the software of `year` relative to today's.
double SlownessOf(double year, const StepTimeConstants& constants) {
  if (year <= 0) return 1;
  const double age = (kNewSoftwareFrom - year) / (kNewSoftwareFrom - kOldSoftwareUntil);
  return 1 + constants.old_software * std::clamp(age, 0.0, 1.0);
}

// Bytes per second of kernels that read and write. Faster memories reach a smaller share: each
// kernel has to start and drain.
double BandwidthOf(const GpuModel& gpu, const StepTimeConstants& constants) {
  const double rate = gpu.memory_bandwidth_gb_per_s;
  return rate * kGiga * constants.bandwidth_share / (1 + rate / constants.bandwidth_knee_gb_per_s);
}

Rates RatesOf(const GpuModel& gpu, const TrainingSetup& setup, const StepTimeConstants& constants) {
  const bool tensor_cores = gpu.dense_tflops > gpu.fp32_tflops;
  const bool fp32 = setup.precision == Precision::kFp32;
  const bool tf32 = setup.tf32 && gpu.compute_capability >= kTf32Capability;
  if (!tensor_cores || (fp32 && !tf32)) {
    // Any product keeps these units busy, even with old software.
    return {gpu.efficiency * gpu.fp32_tflops * gpu.fp32_share * 1e12,
            gpu.efficiency * BandwidthOf(gpu, constants)};
  }
  const double speed = gpu.efficiency / SlownessOf(setup.software_year, constants);
  const double reached = gpu.dense_tflops * gpu.matrix_share * (fp32 ? 0.5 : 1);
  return {speed * reached * 1e12 * constants.product_share, speed * BandwidthOf(gpu, constants)};
}

// Time of products and attention.
double ComputeSeconds(const MicroBatchWork& work, const TrainingSetup& setup, const GpuModel& gpu,
                      const Rates& rates, const StepTimeConstants& constants) {
  const double products =
      (work.layer_operations + work.idle_operations) / (setup.fp8 ? constants.fp8_gain : 1) +
      work.head_operations;
  const double fused = setup.flash_attention ? gpu.flash_share / constants.product_share : 1;
  return (products + work.attention_operations / fused) / rates.operations_per_s;
}

// Layers for which the host launches kernels, counted in passes.
double LayersOf(const ModelShape& model, const TrainingSetup& setup,
                const StepTimeConstants& constants) {
  auto layers = static_cast<double>(model.layers.num_hidden_layers);
  if (model.encoder) layers += static_cast<double>(model.encoder->num_hidden_layers);
  if (model.vision && setup.images > 0) {
    layers += static_cast<double>(model.vision->layers.num_hidden_layers) *
              (TrainsTower(model, setup) ? 1 : 1.0 / 3);
  }
  const bool again = setup.checkpointing == Checkpointing::kFull;
  return layers + CountMediaWork(model, setup).layers_to_launch *
                      (again ? constants.checkpointed_launches : 1);
}

// Host time to launch a micro-batch's kernels.
double LaunchSecondsOf(const ModelShape& model, const TrainingSetup& setup,
                       const StepTimeConstants& constants) {
  const bool adapters = setup.method != Method::kFull;
  if (setup.deepspeed && setup.zero_stage >= 2 && !adapters) {
    return LayersOf(model, setup, constants) * constants.zero_launch_seconds;
  }
  double passes = setup.checkpointing == Checkpointing::kFull ? 4 : 3;
  double of_pass = constants.launch_seconds * (adapters ? constants.adapter_launches : 1);
  if (setup.compiled) of_pass *= constants.compiled_launches;
  if (setup.zero_stage >= 2 && !setup.deepspeed) of_pass += constants.fsdp_launch_seconds;
  return LayersOf(model, setup, constants) * of_pass * passes;
}

// Bytes of weights and gradients that one GPU sends per step.
double SentBytes(const ModelShape& model, const TrainingSetup& setup, int64_t accumulation) {
  const auto gpus = static_cast<double>(ShardingGpus(setup));
  if (gpus <= 1) return 0;
  const double others = (gpus - 1) / gpus / ModelParallel(setup);
  const double trained = TrainedParameters(model, setup);
  const bool half = setup.pure_half || setup.deepspeed;
  const auto micro_batches = static_cast<double>(accumulation);
  if (setup.zero_stage < 2) return 2 * others * trained * (half ? 2 : 4);
  const double weights =
      LinearParameters(model) * WeightBytes(setup) + 2 * model.EmbeddingParameters();
  const double gradients = 2 * trained;
  if (setup.zero_stage == 2) {
    // DeepSpeed gathers what the step changed; FSDP all weights before each forward pass.
    const double gathered = setup.deepspeed ? 2 * trained : weights * micro_batches;
    return others * (gathered + gradients * micro_batches);
  }
  return others * (2 * weights + gradients) * micro_batches;
}

// Bytes of activations that one GPU sends per micro-batch with shared layers or rows: tensor
// parallelism sums each half of a layer forward and back (Megatron-LM, Shoeybi et al. 2019),
// context parallelism rotates keys and values (ring attention), expert parallelism sends tokens to
// their experts and back.
double SentActivations(const ModelShape& model, const TrainingSetup& setup) {
  const TransformerStack& stack = model.layers;
  const double number = NumberBytes(setup);
  const TextRow text = RowOfLayers(model, setup, CountRowTokens(model, setup));
  const double tokens = static_cast<double>(setup.micro_batch * text.tokens) /
                        static_cast<double>(setup.context_parallel);
  const double layers =
      static_cast<double>(stack.num_hidden_layers) / static_cast<double>(setup.pipeline_parallel);
  const double again = setup.checkpointing == Checkpointing::kFull ? 1.5 : 1;
  const auto others = [](int64_t gpus) {
    return static_cast<double>(gpus - 1) / static_cast<double>(gpus);
  };
  const double row = tokens * layers * number * again;
  double bytes =
      row * static_cast<double>(stack.hidden_size) * 4 * 2 * others(setup.tensor_parallel);
  bytes += row * static_cast<double>(2 * stack.key_size()) * 3 *
           static_cast<double>(setup.context_parallel - 1);
  if (stack.num_experts > 0) {
    bytes += row * static_cast<double>(stack.hidden_size * stack.num_experts_per_tok) * 4 *
             others(setup.expert_parallel);
  }
  return bytes;
}

double SlowestLink(const GpuModel& gpu, const StepLayout& shape,
                   const StepTimeConstants& constants) {
  const double within = LinkRate(gpu, shape.gpus_per_node, shape.interconnect, constants);
  if (shape.nodes <= 1) return within;
  const double given = shape.interconnect.network_gb_per_s;
  const double between = constants.nvlink_share * (given > 0 ? given : kAssumedNetworkGbPerS);
  // All GPUs of a node share its network cards, in as many rings.
  return shape.gpus_per_node > 1 ? std::min(within, between) : between;
}

// Seconds of sending weights and gradients per step.
double SendingSeconds(const ModelShape& model, const TrainingSetup& setup, const GpuModel& gpu,
                      const StepLayout& shape, const StepTimeConstants& constants) {
  const double bytes = SentBytes(model, setup, shape.accumulation);
  const double between = SlowestLink(gpu, shape, constants) * kGiga;
  if (!setup.hybrid_shard || shape.nodes <= 1) return bytes / between;
  // Shards stay within a node; nodes sum gradients once per step.
  const double within = LinkRate(gpu, shape.gpus_per_node, shape.interconnect, constants) * kGiga;
  const double others = static_cast<double>(shape.nodes - 1) / static_cast<double>(shape.nodes);
  const double gradients = 2 * others * 2 * TrainedParameters(model, setup) / ModelParallel(setup) /
                           static_cast<double>(ShardingGpus(setup));
  return bytes / within + gradients / between;
}

// Sending time not hidden by `busy` seconds of computing: a fixed share, plus what exceeds the
// computing.
double ExposedSeconds(double sending, double busy, double share) {
  return share * sending + (1 - share) * std::max(0.0, sending - busy);
}

double OptimizerSeconds(const ModelShape& model, const TrainingSetup& setup, double bytes_per_s,
                        const StepTimeConstants& constants) {
  const double shards = setup.zero_stage > 0 ? static_cast<double>(ShardingGpus(setup)) : 1;
  const double trained = TrainedParameters(model, setup) / ModelParallel(setup) / shards;
  const double bytes = trained * StepTrafficBytes(setup);
  if (setup.offload == Offload::kNone) return bytes / bytes_per_s;
  return trained * 4 / (constants.host_gb_per_s * kGiga) +
         bytes / (constants.host_step_gb_per_s * kGiga);
}

// Weights fetched from the host for each micro-batch, in their stored format.
double OffloadedSeconds(const ModelShape& model, const TrainingSetup& setup,
                        const StepTimeConstants& constants) {
  if (setup.offload != Offload::kAll || setup.zero_stage < 3) return 0;
  const double weights =
      WeightBytes(setup) * LinearParameters(model) + 2 * model.EmbeddingParameters();
  return 2 * weights / static_cast<double>(setup.gpus) / (constants.host_gb_per_s * kGiga);
}

}  // namespace

double LinkRate(const GpuModel& gpu, int64_t gpus, const Interconnect& interconnect,
                const StepTimeConstants& constants) {
  const double given = interconnect.link_gb_per_s;
  if (given > 0) return given;
  if (gpu.link == GpuLink::kNvlink && gpu.nvlink_gb_per_s > 0) {
    return constants.nvlink_share * gpu.nvlink_gb_per_s;
  }
  // Bridges between pairs of cards are often absent: assume PCIe unless configured.
  const double rate =
      gpu.link == GpuLink::kPcieNoP2p ? constants.no_p2p_gb_per_s : constants.pcie_gb_per_s;
  return rate * std::min(1.0, kUnsharedGpus / static_cast<double>(gpus));
}

double InParallel(double gpu, double host) {
  return std::pow(std::pow(gpu, 4) + std::pow(host, 4), 0.25);
}

double HostSeconds(double gpu, double together) {
  return std::pow(std::max(0.0, std::pow(together, 4) - std::pow(gpu, 4)), 0.25);
}

StepSeconds ComputeStepSeconds(const ModelShape& model, const TrainingSetup& setup,
                               const GpuModel& gpu, const StepLayout& shape,
                               const StepTimeConstants& constants) {
  const Rates rates = RatesOf(gpu, setup, constants);
  const MicroBatchWork work = CountMicroBatchWork(model, setup, constants);
  const auto micro_batches = static_cast<double>(shape.accumulation);
  StepSeconds step;
  step.compute = micro_batches * ComputeSeconds(work, setup, gpu, rates, constants);
  step.traffic = micro_batches * work.bytes / rates.bytes_per_s;
  const double busy = step.compute + step.traffic;
  const double host = micro_batches * LaunchSecondsOf(model, setup, constants) /
                      static_cast<double>(setup.pipeline_parallel);
  step.launches = InParallel(busy, host) - busy;
  step.unpacking = micro_batches * work.unpacked_bytes / rates.bytes_per_s;
  step.traffic += step.unpacking;
  const double sending = SendingSeconds(model, setup, gpu, shape, constants);
  const bool fetched_ahead = setup.zero_stage >= 3 && !setup.deepspeed;
  step.communication =
      ExposedSeconds(sending, busy, fetched_ahead ? constants.fsdp_exposed : constants.ddp_exposed);
  step.communication += micro_batches * SentActivations(model, setup) /
                        (LinkRate(gpu, shape.gpus_per_node, shape.interconnect, constants) * kGiga);
  // A pipeline fills and drains once per step (GPipe, Huang et al. 2019).
  step.communication +=
      static_cast<double>(setup.pipeline_parallel - 1) / micro_batches * (busy + step.launches);
  step.communication += micro_batches * OffloadedSeconds(model, setup, constants);
  step.communication +=
      constants.jitter * std::log2(static_cast<double>(setup.gpus)) * (busy + step.launches);
  step.optimizer = OptimizerSeconds(model, setup, BandwidthOf(gpu, constants), constants);
  const auto samples = static_cast<double>(setup.micro_batch * shape.accumulation);
  const double loading = samples * shape.loader_seconds_per_sample /
                         static_cast<double>(std::max<int64_t>(shape.loader_workers, 1));
  step.loader = std::max(0.0, loading - step.total());
  return step;
}

double RooflineSeconds(const ModelShape& model, const TrainingSetup& setup, const GpuModel& gpu) {
  // Some cards clock higher than their data sheets.
  const double dense = gpu.dense_tflops * std::max(gpu.matrix_share, 1.0);
  const double peak = std::max(dense, gpu.fp32_tflops) * 1e12;
  const MicroBatchWork work = CountMicroBatchWork(model, setup, kStepTimeConstants);
  const double eight_bits = setup.fp8 ? 2 : 1;
  return (work.layer_operations + work.head_operations + work.attention_operations) /
         (peak * eight_bits);
}

ModelShape GenericTransformer(double parameters) {
  constexpr double kWidthPerLayer = 85;  // of common models: 4,096 wide, 32 to 48 deep
  constexpr double kHeadDim = 64;
  const double width = std::cbrt(std::max(parameters, 1e6) * kWidthPerLayer / 12);
  TransformerStack stack;
  stack.num_attention_heads = std::max<int64_t>(1, std::llround(width / kHeadDim));
  stack.num_key_value_heads = stack.num_attention_heads;
  stack.head_dim = static_cast<int64_t>(kHeadDim);
  stack.hidden_size = stack.num_attention_heads * stack.head_dim;
  stack.intermediate_size = 4 * stack.hidden_size;
  stack.num_hidden_layers =
      std::max<int64_t>(1, std::llround(static_cast<double>(stack.hidden_size) / kWidthPerLayer));
  stack.gated_mlp = false;
  ModelShape shape;
  shape.layers = stack;
  shape.lm_head = false;
  return shape;
}

std::span<const StepTimeConstant> StepTimeConstantTable() {
  using C = StepTimeConstants;
  static constexpr StepTimeConstant kTable[] = {
      {"product_share", &C::product_share, 0.7, 1.1, "", true,
       "a training's products are smaller than the best ones", "all"},
      {"wave_numbers", &C::wave_numbers, 0, 1.8e+06, "numbers", true,
       "the last wave of tiles leaves processors idle", "Qwen, litgpt"},
      {"bandwidth_share", &C::bandwidth_share, 0.7, 1.1, "", true,
       "of the data sheet's, in kernels that read and write", "all"},
      {"bandwidth_knee_gb_per_s", &C::bandwidth_knee_gb_per_s, 2000, 14000, "GB/s", true,
       "kernels start and drain", "lambdal"},
      {"passes_over_written", &C::passes_over_written, 4, 9, "", true,
       "written, read, read back, and its gradient", "all"},
      {"convolution_passes", &C::convolution_passes, 4, 18, "", false,
       "with their norms and activations; chosen by ResNet-50, an architecture of cards left out",
       ""},
      {"checkpointed_launches", &C::checkpointed_launches, 1, 2, "", false,
       "hooks of every block that is computed again", ""},
      {"normalisation_bytes", &C::normalisation_bytes, 0, 40, "bytes of each h", true,
       "RMSNorm in fp32 and rotary positions", "all but BERT"},
      {"score_bytes", &C::score_bytes, 20, 40, "bytes", false,
       "scores, upcast, softmax and gradient", ""},
      {"adapter_bytes", &C::adapter_bytes, 10, 50, "bytes of each number in and out", true,
       "dropout, two thin products, their sum", "Qwen, unsloth"},
      {"dropout_bytes", &C::dropout_bytes, 0, 30, "bytes of each number in and out", true,
       "a mask is drawn and used twice", "Qwen, fsdp_qlora"},
      {"alibi_share", &C::alibi_share, 0.4, 1, "", true,
       "positions are added to the scores in the kernel", "llm-foundry"},
      {"fp8_gain", &C::fp8_gain, 1.2, 1.8, "", true, "scales are computed on the way",
       "torchtitan"},
      {"nf4_bytes", &C::nf4_bytes, 2, 14, "bytes", true,
       "unpacked into half precision before each use", "litgpt, fsdp_qlora, unsloth"},
      {"gptq_bytes", &C::gptq_bytes, 4, 24, "bytes", true, "the same, by GPTQ's kernels", "Qwen"},
      {"launch_seconds", &C::launch_seconds, 0.0004, 0.0014, "s", true,
       "a host thread starts a layer's kernels", "Qwen, litgpt"},
      {"adapter_launches", &C::adapter_launches, 1, 2, "", true, "two small products beside each",
       "Qwen, litgpt"},
      {"fsdp_launch_seconds", &C::fsdp_launch_seconds, 0, 0.002, "s", true,
       "FSDP's hooks on a layer", "litgpt"},
      {"zero_launch_seconds", &C::zero_launch_seconds, 0, 0.012, "s", true,
       "DeepSpeed's hooks on a layer's parameters", "Qwen"},
      {"ddp_exposed", &C::ddp_exposed, 0.4, 1, "", true, "buckets follow the backward pass",
       "lambdal"},
      {"fsdp_exposed", &C::fsdp_exposed, 0, 1, "", true, "a layer is fetched ahead",
       "llm-foundry, fsdp_qlora, litgpt"},
      {"jitter", &C::jitter, 0, 0.04, "for each doubling", true, "all wait for the slowest GPU",
       "lambdal, llm-foundry"},
      {"pcie_gb_per_s", &C::pcie_gb_per_s, 6, 18, "GB/s", true, "all-reduce over PCIe", "lambdal"},
      {"no_p2p_gb_per_s", &C::no_p2p_gb_per_s, 3, 7, "GB/s", true, "copies through the host",
       "lambdal"},
      {"old_software", &C::old_software, 0, 0.4, "", true,
       "containers of 2020 against 2022 on the same cards", "lambdal"},
  };
  return kTable;
}

}  // namespace gpuadvise
