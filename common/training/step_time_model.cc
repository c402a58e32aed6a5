#include "common/training/step_time_model.h"

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

constexpr double kMatrixShare = 0.9;  // of the dense rate, in a large product of matrices
constexpr double kPlainShare = 0.65;  // the same without tensor cores
constexpr double kBandwidthShare = 0.75;
constexpr double kPassesOverKept = 6.8;       // bytes moved for each byte that autograd keeps
constexpr double kNormalisationBytes = 12.5;  // RMSNorm in fp32 and rotary positions, of each h
constexpr double kCompiledTraffic = 0.7;      // fused
constexpr double kScoreBytes = 28;            // moved for a word's score
constexpr double kFlashShare = 0.42;          // of the matrix rate that fused attention reaches
constexpr double kFlashPasses = 3.5;          // forward, and a backward that repeats it
constexpr double kCausalShare = 0.5;
constexpr double kLaunchSeconds = 0.9e-3;  // of one layer's forward pass
constexpr double kAdapterLaunches = 1.5;
constexpr double kCompiledLaunches = 0.4;
constexpr double kZeroLaunchSeconds = 11.5e-3;  // DeepSpeed's hooks on a layer's parameters
constexpr double kExposedShare = 0.8;
constexpr double kJitter = 0.015;  // of a step for each doubling: all wait for the slowest GPU
constexpr double kNvlinkShare = 0.8;
constexpr double kPcieGbPerS = 11;
constexpr double kNoP2pGbPerS = 4.3;
constexpr double kUnsharedGpus = 6.5;
constexpr double kHostGbPerS = 12;      // PCIe, for what is offloaded
constexpr double kHostStepGbPerS = 20;  // of host memory, for one GPU's share of the step
constexpr double kTf32Capability = 8;   // Ampere; its rate is half of half precision's
// Convolutions with their norms and activations are bound by memory. Chosen with ResNet-50 on one
// GPU of 18 cards; docs/models.md says how far the count is from them.
constexpr double kConvolutionPasses = 11;
constexpr double kCheckpointedLaunches = 1.3;  // hooks of every block that is computed again
constexpr double kGiga = 1e9;

// Passes over the layers, in forward passes.
struct Passes {
  double matrices = 3;  // forward, gradients of inputs, gradients of weights
  double attention = kFlashPasses;
  double kept = 1;  // of the traffic of a pass forward and back
};

Passes PassesOf(const TrainingSetup& setup, bool trains) {
  Passes passes;
  const bool adapters = setup.method != Method::kFull;
  if (adapters) passes.matrices = 2;
  const double again = setup.checkpointing == Checkpointing::kFull        ? 1
                       : setup.checkpointing == Checkpointing::kSelective ? 0.1
                                                                          : 0;
  if (!trains) return {1, 1, 1.0 / 3};
  passes.matrices += again;
  passes.attention += again;
  passes.kept += again / 3;
  return passes;
}

struct Rates {
  double operations_per_s = 0;
  double bytes_per_s = 0;
};

Rates RatesOf(const GpuModel& gpu, const TrainingSetup& setup) {
  const bool tensor_cores = gpu.dense_tflops > gpu.fp32_tflops;
  const bool tf32 = setup.tf32 && gpu.compute_capability >= kTf32Capability;
  const double bandwidth = gpu.memory_bandwidth_gb_per_s * kGiga * kBandwidthShare;
  if (setup.precision == Precision::kFp32 && !tf32) {
    // What a card loses in tensor cores to its power limit it does not lose here.
    return {gpu.fp32_tflops * 1e12 * kPlainShare, bandwidth};
  }
  const double peak = gpu.dense_tflops * 1e12 * (tensor_cores ? kMatrixShare : kPlainShare);
  return {gpu.efficiency * peak * (setup.precision == Precision::kFp32 ? 0.5 : 1),
          gpu.efficiency * bandwidth};
}

struct MicroBatchWork {
  double operations = 0;
  double bytes = 0;
};

// The layers of a stack over `tokens` tokens in rows of `in_row`.
MicroBatchWork WorkOfStack(const TransformerStack& stack, const TrainingSetup& setup,
                           const Passes& passes, int64_t in_row, double tokens, bool causal) {
  const auto layers = static_cast<double>(stack.num_hidden_layers);
  const double scores =
      4 * static_cast<double>(in_row) * static_cast<double>(stack.query_size()) * layers;
  double attention = 1;
  if (setup.flash_attention) attention = (causal ? kCausalShare : 1) / kFlashShare;
  double kept = KeptBytesOfLayer(stack, setup, in_row);
  if (stack.rotary) kept += kNormalisationBytes * static_cast<double>(stack.hidden_size);
  MicroBatchWork work;
  work.operations =
      tokens * (2 * stack.Parameters() * passes.matrices + scores * attention * passes.attention);
  work.bytes = tokens * kept * layers * kPassesOverKept * passes.kept *
               (setup.compiled ? kCompiledTraffic : 1);
  return work;
}

MicroBatchWork& operator+=(MicroBatchWork& sum, const MicroBatchWork& other) {
  sum.operations += other.operations;
  sum.bytes += other.bytes;
  return sum;
}

double LinearParameters(const ModelShape& model) {
  return model.layers.Parameters() + (model.encoder ? model.encoder->Parameters() : 0) +
         (model.media ? MediaParameters(*model.media) : 0);
}

// What sees or hears the samples.
MicroBatchWork WorkOfMedia(const ModelShape& model, const TrainingSetup& setup,
                           const Passes& passes) {
  const SampleWork sample = MediaWorkOf(model, setup);
  const auto batch = static_cast<double>(setup.micro_batch);
  const double attention = setup.flash_attention ? passes.attention / kFlashShare : passes.matrices;
  MicroBatchWork work;
  work.operations = batch * (sample.matrix_operations * passes.matrices +
                             sample.convolution_operations * passes.matrices +
                             sample.attention_operations * attention + sample.frozen_operations);
  work.bytes = batch *
               (sample.passing_bytes * kPassesOverKept +
                sample.convolution_passing_bytes * kConvolutionPasses) *
               passes.kept * (setup.compiled ? kCompiledTraffic : 1);
  return work;
}

// One micro-batch, forward and back.
MicroBatchWork WorkOfMicroBatch(const ModelShape& model, const TrainingSetup& setup) {
  const auto batch = static_cast<double>(setup.micro_batch);
  int64_t in_row = setup.seq_length;
  if (model.vision) in_row += setup.images * model.vision->tokens_per_image;
  const double tokens = batch * static_cast<double>(in_row);
  const Passes passes = PassesOf(setup, true);
  const bool decoder = model.lm_head;
  MicroBatchWork work = WorkOfStack(model.layers, setup, passes, in_row, tokens, decoder);
  if (model.media) work += WorkOfMedia(model, setup, passes);
  if (model.encoder) work += WorkOfStack(*model.encoder, setup, passes, in_row, tokens, false);
  if (model.vision && setup.images > 0) {
    const int64_t patches = model.vision->tokens_per_image * model.vision->patches_per_token;
    const bool trains = setup.method == Method::kFull && !model.vision->frozen;
    work += WorkOfStack(model.vision->layers, setup, PassesOf(setup, trains), patches,
                        batch * static_cast<double>(setup.images * patches), false);
  }
  const double number = setup.precision == Precision::kFp32 ? 4 : 2;
  const bool full = setup.method == Method::kFull;
  if (model.lm_head) {
    const auto vocabulary = static_cast<double>(model.vocab_size);
    const auto hidden = static_cast<double>(model.layers.hidden_size);
    work.operations += 2 * vocabulary * hidden * (full ? 3 : 2) * tokens;
    work.bytes += kScoreBytes * vocabulary * tokens;
  }
  const double weights = LinearParameters(model) + model.EmbeddingParameters();
  work.bytes += weights * number * passes.matrices;
  if (full) work.bytes += weights * 8;  // gradients are added up
  return work;
}

// Layers that the host starts kernels for, in passes forward and back.
double LayersOf(const ModelShape& model, const TrainingSetup& setup) {
  auto layers = static_cast<double>(model.layers.num_hidden_layers);
  if (model.encoder) layers += static_cast<double>(model.encoder->num_hidden_layers);
  if (model.vision && setup.images > 0) {
    const bool trains = setup.method == Method::kFull && !model.vision->frozen;
    layers += static_cast<double>(model.vision->layers.num_hidden_layers) * (trains ? 1 : 1.0 / 3);
  }
  const bool again = setup.checkpointing == Checkpointing::kFull;
  return layers + MediaWorkOf(model, setup).layers_to_launch * (again ? kCheckpointedLaunches : 1);
}

// What the host needs to start a micro-batch's kernels.
double LaunchSecondsOf(const ModelShape& model, const TrainingSetup& setup) {
  if (setup.deepspeed && setup.zero_stage >= 2) return LayersOf(model, setup) * kZeroLaunchSeconds;
  double passes = setup.checkpointing == Checkpointing::kFull ? 4 : 3;
  if (setup.method != Method::kFull) passes *= kAdapterLaunches;
  if (setup.compiled) passes *= kCompiledLaunches;
  return LayersOf(model, setup) * kLaunchSeconds * passes;
}

// Bytes that one GPU sends in a step.
double SentBytes(const ModelShape& model, const TrainingSetup& setup, int64_t accumulation) {
  if (setup.gpus <= 1) return 0;
  const auto gpus = static_cast<double>(setup.gpus);
  const double others = (gpus - 1) / gpus;
  const double trained = TrainedParameters(model, setup);
  const bool half = setup.pure_half || setup.deepspeed;
  const auto micro_batches = static_cast<double>(accumulation);
  if (setup.zero_stage < 2) return 2 * others * trained * (half ? 2 : 4);
  const double linear = LinearParameters(model) * (setup.method == Method::kQlora ? kNf4Bytes : 2);
  const double weights = linear + 2 * model.EmbeddingParameters();
  const double gradients = 2 * trained;
  if (setup.zero_stage == 2) {
    // DeepSpeed gathers what the step has changed, FSDP all weights before each forward pass.
    const double gathered = setup.deepspeed ? 2 * trained : weights * micro_batches;
    return others * (gathered + gradients * micro_batches);
  }
  return others * (2 * weights + gradients) * micro_batches;
}

double SlowestLink(const GpuModel& gpu, const StepLayout& shape) {
  const double within = LinkRate(gpu, shape.gpus_per_node, shape.interconnect);
  if (shape.nodes <= 1) return within;
  const double given = shape.interconnect.network_gb_per_s;
  const double between = kNvlinkShare * (given > 0 ? given : kAssumedNetworkGbPerS);
  // All GPUs of a node send through its network cards together, in as many rings.
  return shape.gpus_per_node > 1 ? std::min(within, between) : between;
}

double OptimizerSeconds(const ModelShape& model, const TrainingSetup& setup, double bytes_per_s) {
  const double shards = setup.zero_stage > 0 ? static_cast<double>(setup.gpus) : 1;
  const double trained = TrainedParameters(model, setup) / shards;
  const double bytes = trained * StepTrafficBytes(setup);
  if (setup.offload == Offload::kNone) return bytes / bytes_per_s;
  return trained * 4 / (kHostGbPerS * kGiga) + bytes / (kHostStepGbPerS * kGiga);
}

// Weights that come from the host for each micro-batch.
double OffloadedSeconds(const ModelShape& model, const TrainingSetup& setup) {
  if (setup.offload != Offload::kAll || setup.zero_stage < 3) return 0;
  const double weights = 2 * (LinearParameters(model) + model.EmbeddingParameters());
  return 2 * weights / static_cast<double>(setup.gpus) / (kHostGbPerS * kGiga);
}

}  // namespace

double LinkRate(const GpuModel& gpu, int64_t gpus, const Interconnect& interconnect) {
  const double given = interconnect.link_gb_per_s;
  if (given > 0) return given;
  if (gpu.link == GpuLink::kNvlink && gpu.nvlink_gb_per_s > 0) {
    return kNvlinkShare * gpu.nvlink_gb_per_s;
  }
  // Bridges between two cards are often not there: PCIe, until a site says otherwise.
  const double rate = gpu.link == GpuLink::kPcieNoP2p ? kNoP2pGbPerS : kPcieGbPerS;
  return rate * std::min(1.0, kUnsharedGpus / static_cast<double>(gpus));
}

StepSeconds SecondsOfStep(const ModelShape& model, const TrainingSetup& setup, const GpuModel& gpu,
                          const StepLayout& shape) {
  const Rates rates = RatesOf(gpu, setup);
  const MicroBatchWork work = WorkOfMicroBatch(model, setup);
  const auto micro_batches = static_cast<double>(shape.accumulation);
  StepSeconds step;
  step.compute = micro_batches * work.operations / rates.operations_per_s;
  step.traffic = micro_batches * work.bytes / rates.bytes_per_s;
  const double busy = step.compute + step.traffic;
  const double host = micro_batches * LaunchSecondsOf(model, setup);
  step.launches = std::pow(std::pow(busy, 4) + std::pow(host, 4), 0.25) - busy;
  step.communication = kExposedShare * SentBytes(model, setup, shape.accumulation) /
                       (SlowestLink(gpu, shape) * kGiga);
  step.communication += micro_batches * OffloadedSeconds(model, setup);
  step.communication +=
      kJitter * std::log2(static_cast<double>(setup.gpus)) * (busy + step.launches);
  step.optimizer =
      OptimizerSeconds(model, setup, gpu.memory_bandwidth_gb_per_s * kGiga * kBandwidthShare);
  const auto samples = static_cast<double>(setup.micro_batch * shape.accumulation);
  const double loading = samples * shape.loader_seconds_per_sample /
                         static_cast<double>(std::max<int64_t>(shape.loader_workers, 1));
  step.loader = std::max(0.0, loading - step.total());
  return step;
}

double RooflineSeconds(const ModelShape& model, const TrainingSetup& setup, const GpuModel& gpu) {
  const double peak = std::max(gpu.dense_tflops, gpu.fp32_tflops) * 1e12;
  return WorkOfMicroBatch(model, setup).operations / peak;
}

ModelShape GenericTransformer(double parameters) {
  constexpr double kWidthPerLayer = 85;  // of usual models: 4,096 wide and 32 to 48 deep
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
  stack.rotary = false;
  ModelShape shape;
  shape.layers = stack;
  shape.lm_head = false;
  return shape;
}

}  // namespace gpuadvise
