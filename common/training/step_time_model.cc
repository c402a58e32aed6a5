#include "common/training/step_time_model.h"

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

constexpr double kFlashPasses = 3.5;  // forward, and a backward that repeats it
constexpr double kCausalShare = 0.5;
constexpr double kUnsharedGpus = 6.5;
constexpr double kTf32Capability = 8;         // Ampere; its rate is half of half precision's
constexpr double kOldSoftwareUntil = 2020.8;  // NVIDIA's containers 20.01 to 20.10,
constexpr double kNewSoftwareFrom = 2022.8;   // and 22.09; 24.10 is as fast
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

// How much longer everything on the GPU takes with the software of `year` than with today's.
double SlownessOf(double year, const StepTimeConstants& constants) {
  if (year <= 0) return 1;
  const double age = (kNewSoftwareFrom - year) / (kNewSoftwareFrom - kOldSoftwareUntil);
  return 1 + constants.old_software * std::clamp(age, 0.0, 1.0);
}

Rates RatesOf(const GpuModel& gpu, const TrainingSetup& setup, const StepTimeConstants& constants) {
  const double speed = gpu.efficiency / SlownessOf(setup.software_year, constants);
  const bool tensor_cores = gpu.dense_tflops > gpu.fp32_tflops;
  const bool fp32 = setup.precision == Precision::kFp32;
  const bool tf32 = setup.tf32 && gpu.compute_capability >= kTf32Capability;
  Rates rates;
  rates.bytes_per_s = speed * gpu.memory_bandwidth_gb_per_s * kGiga * constants.bandwidth_share;
  double tflops = gpu.fp32_tflops * gpu.fp32_share;
  if (tensor_cores && (!fp32 || tf32)) {
    tflops = gpu.dense_tflops * gpu.matrix_share * (fp32 ? 0.5 : 1);
  }
  rates.operations_per_s = speed * tflops * 1e12 * constants.product_share;
  return rates;
}

struct MicroBatchWork {
  double layer_operations = 0;      // of products in layers, which fp8 makes faster
  double attention_operations = 0;  // in fused kernels, or in products without them
  double head_operations = 0;
  double bytes = 0;
};

// How frozen weights are kept while adapters train.
BaseWeights BaseOf(const TrainingSetup& setup) {
  if (setup.base_weights != BaseWeights::kAuto) return setup.base_weights;
  return setup.method == Method::kQlora ? BaseWeights::kNf4 : BaseWeights::kAuto;
}

// Bytes of a layer's weight as it is sent or fetched.
double WeightBytes(const TrainingSetup& setup) {
  switch (BaseOf(setup)) {
    case BaseWeights::kNf4:
    case BaseWeights::kGptq4:
      return kNf4Bytes;
    case BaseWeights::kInt8:
      return 1;
    case BaseWeights::kAuto:
      break;
  }
  return setup.precision == Precision::kFp32 ? 4 : 2;
}

// Bytes moved for a weight to be used once: read, or unpacked first.
double UseBytes(const TrainingSetup& setup, const StepTimeConstants& constants) {
  switch (BaseOf(setup)) {
    case BaseWeights::kNf4:
      return constants.nf4_bytes;
    case BaseWeights::kGptq4:
      return constants.gptq_bytes;
    case BaseWeights::kInt8:
      return constants.int8_bytes;
    case BaseWeights::kAuto:
      break;
  }
  return setup.precision == Precision::kFp32 ? 4 : 2;
}

// The layers of a stack over `tokens` tokens in rows of `in_row`.
void AddStack(const TransformerStack& stack, const TrainingSetup& setup, const Passes& passes,
              int64_t in_row, double tokens, bool causal, const StepTimeConstants& constants,
              MicroBatchWork& work) {
  const auto layers = static_cast<double>(stack.num_hidden_layers);
  const double scores =
      4 * static_cast<double>(in_row) * static_cast<double>(stack.query_size()) * layers;
  double kept = KeptBytesOfLayer(stack, setup, in_row);
  if (stack.rotary) {
    kept += constants.normalisation_bytes * static_cast<double>(stack.hidden_size);
  }
  work.layer_operations += tokens * 2 * stack.ActiveParameters() * passes.matrices;
  work.attention_operations +=
      tokens * scores * passes.attention * (setup.flash_attention && causal ? kCausalShare : 1);
  work.bytes += tokens * kept * layers * constants.passes_over_kept * passes.kept *
                (setup.compiled ? constants.compiled_traffic : 1);
}

double LinearParameters(const ModelShape& model) {
  return model.layers.Parameters() + (model.encoder ? model.encoder->Parameters() : 0);
}

// Tokens of a text that are worked on.
int64_t TokensOfText(const TrainingSetup& setup) {
  if (setup.mean_seq_length <= 0) return setup.seq_length;
  return std::max<int64_t>(1, std::llround(setup.mean_seq_length));
}

// One micro-batch, forward and back.
MicroBatchWork WorkOfMicroBatch(const ModelShape& model, const TrainingSetup& setup,
                                const StepTimeConstants& constants) {
  const auto batch = static_cast<double>(setup.micro_batch);
  int64_t in_row = TokensOfText(setup);
  if (model.vision) in_row += setup.images * model.vision->tokens_per_image;
  const double tokens = batch * static_cast<double>(in_row);
  const Passes passes = PassesOf(setup, true);
  const bool decoder = model.lm_head;
  MicroBatchWork work;
  AddStack(model.layers, setup, passes, in_row, tokens, decoder, constants, work);
  if (model.encoder) {
    AddStack(*model.encoder, setup, passes, in_row, tokens, false, constants, work);
  }
  if (model.vision && setup.images > 0) {
    const int64_t patches = model.vision->tokens_per_image * model.vision->patches_per_token;
    const bool trains = setup.method == Method::kFull && !model.vision->frozen;
    AddStack(model.vision->layers, setup, PassesOf(setup, trains), patches,
             batch * static_cast<double>(setup.images * patches), false, constants, work);
  }
  const double number = setup.precision == Precision::kFp32 ? 4 : 2;
  const bool full = setup.method == Method::kFull;
  if (model.lm_head) {
    const auto vocabulary = static_cast<double>(model.vocab_size);
    const auto hidden = static_cast<double>(model.layers.hidden_size);
    work.head_operations = 2 * vocabulary * hidden * (full ? 3 : 2) * tokens;
    work.bytes += constants.score_bytes * vocabulary * tokens;
  }
  const double linear = LinearParameters(model);
  const double embeddings = model.EmbeddingParameters();
  work.bytes += (linear * UseBytes(setup, constants) + embeddings * number) * passes.matrices;
  if (full) work.bytes += (linear + embeddings) * 8;  // gradients are added up
  return work;
}

// Seconds of its products and attention.
double ComputeSeconds(const MicroBatchWork& work, const TrainingSetup& setup, const GpuModel& gpu,
                      const Rates& rates, const StepTimeConstants& constants) {
  const double products =
      work.layer_operations / (setup.fp8 ? constants.fp8_gain : 1) + work.head_operations;
  const double fused = setup.flash_attention ? gpu.flash_share / constants.product_share : 1;
  return (products + work.attention_operations / fused) / rates.operations_per_s;
}

// Layers that the host starts kernels for, in passes forward and back.
double LayersOf(const ModelShape& model, const TrainingSetup& setup) {
  auto layers = static_cast<double>(model.layers.num_hidden_layers);
  if (model.encoder) layers += static_cast<double>(model.encoder->num_hidden_layers);
  if (model.vision && setup.images > 0) {
    const bool trains = setup.method == Method::kFull && !model.vision->frozen;
    layers += static_cast<double>(model.vision->layers.num_hidden_layers) * (trains ? 1 : 1.0 / 3);
  }
  return layers;
}

// What the host needs to start a micro-batch's kernels.
double LaunchSecondsOf(const ModelShape& model, const TrainingSetup& setup,
                       const StepTimeConstants& constants) {
  const bool adapters = setup.method != Method::kFull;
  if (setup.deepspeed && setup.zero_stage >= 2 && !adapters) {
    return LayersOf(model, setup) * constants.zero_launch_seconds;
  }
  double passes = setup.checkpointing == Checkpointing::kFull ? 4 : 3;
  if (adapters) passes *= constants.adapter_launches;
  if (setup.compiled) passes *= constants.compiled_launches;
  return LayersOf(model, setup) * constants.launch_seconds * passes;
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
  const double weights =
      LinearParameters(model) * WeightBytes(setup) + 2 * model.EmbeddingParameters();
  const double gradients = 2 * trained;
  if (setup.zero_stage == 2) {
    // DeepSpeed gathers what the step has changed, FSDP all weights before each forward pass.
    const double gathered = setup.deepspeed ? 2 * trained : weights * micro_batches;
    return others * (gathered + gradients * micro_batches);
  }
  return others * (2 * weights + gradients) * micro_batches;
}

double SlowestLink(const GpuModel& gpu, const StepLayout& shape,
                   const StepTimeConstants& constants) {
  const double within = LinkRate(gpu, shape.gpus_per_node, shape.interconnect, constants);
  if (shape.nodes <= 1) return within;
  const double given = shape.interconnect.network_gb_per_s;
  const double between = constants.nvlink_share * (given > 0 ? given : kAssumedNetworkGbPerS);
  // All GPUs of a node send through its network cards together, in as many rings.
  return shape.gpus_per_node > 1 ? std::min(within, between) : between;
}

// Seconds of sending that computing for `busy` seconds does not hide: a share of it in any case,
// and all that takes longer than the computing.
double ExposedSeconds(double sending, double busy, double share) {
  return share * sending + (1 - share) * std::max(0.0, sending - busy);
}

double OptimizerSeconds(const ModelShape& model, const TrainingSetup& setup, double bytes_per_s,
                        const StepTimeConstants& constants) {
  const double shards = setup.zero_stage > 0 ? static_cast<double>(setup.gpus) : 1;
  const double trained = TrainedParameters(model, setup) / shards;
  const double bytes = trained * StepTrafficBytes(setup);
  if (setup.offload == Offload::kNone) return bytes / bytes_per_s;
  return trained * 4 / (constants.host_gb_per_s * kGiga) +
         bytes / (constants.host_step_gb_per_s * kGiga);
}

// Weights that come from the host for each micro-batch, as they are kept.
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
  // Bridges between two cards are often not there: PCIe, until a site says otherwise.
  const double rate =
      gpu.link == GpuLink::kPcieNoP2p ? constants.no_p2p_gb_per_s : constants.pcie_gb_per_s;
  return rate * std::min(1.0, kUnsharedGpus / static_cast<double>(gpus));
}

StepSeconds SecondsOfStep(const ModelShape& model, const TrainingSetup& setup, const GpuModel& gpu,
                          const StepLayout& shape, const StepTimeConstants& constants) {
  const Rates rates = RatesOf(gpu, setup, constants);
  const MicroBatchWork work = WorkOfMicroBatch(model, setup, constants);
  const auto micro_batches = static_cast<double>(shape.accumulation);
  StepSeconds step;
  step.compute = micro_batches * ComputeSeconds(work, setup, gpu, rates, constants);
  step.traffic = micro_batches * work.bytes / rates.bytes_per_s;
  const double busy = step.compute + step.traffic;
  const double host = micro_batches * LaunchSecondsOf(model, setup, constants);
  step.launches = std::pow(std::pow(busy, 4) + std::pow(host, 4), 0.25) - busy;
  const double sending =
      SentBytes(model, setup, shape.accumulation) / (SlowestLink(gpu, shape, constants) * kGiga);
  const bool fetched_ahead = setup.zero_stage >= 3 && !setup.deepspeed;
  step.communication =
      ExposedSeconds(sending, busy, fetched_ahead ? constants.fsdp_exposed : constants.ddp_exposed);
  step.communication += micro_batches * OffloadedSeconds(model, setup, constants);
  step.communication +=
      constants.jitter * std::log2(static_cast<double>(setup.gpus)) * (busy + step.launches);
  step.optimizer = OptimizerSeconds(
      model, setup, gpu.memory_bandwidth_gb_per_s * kGiga * constants.bandwidth_share, constants);
  const auto samples = static_cast<double>(setup.micro_batch * shape.accumulation);
  const double loading = samples * shape.loader_seconds_per_sample /
                         static_cast<double>(std::max<int64_t>(shape.loader_workers, 1));
  step.loader = std::max(0.0, loading - step.total());
  return step;
}

double RooflineSeconds(const ModelShape& model, const TrainingSetup& setup, const GpuModel& gpu) {
  const double peak = std::max(gpu.dense_tflops, gpu.fp32_tflops) * 1e12;
  const MicroBatchWork work = WorkOfMicroBatch(model, setup, kStepTimeConstants);
  const double eight_bits = setup.fp8 ? 2 : 1;
  return (work.layer_operations + work.head_operations + work.attention_operations) /
         (peak * eight_bits);
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

std::span<const StepTimeConstant> StepTimeConstantTable() {
  using C = StepTimeConstants;
  static constexpr StepTimeConstant kTable[] = {
      {"product_share", &C::product_share, 0.6, 1.1, true, "all"},
      {"bandwidth_share", &C::bandwidth_share, 0.4, 0.95, true, "all"},
      {"passes_over_kept", &C::passes_over_kept, 3, 12, true, "BERT in half precision and TF32"},
      {"normalisation_bytes", &C::normalisation_bytes, 0, 40, true, "Llama's kind against BERT's"},
      {"score_bytes", &C::score_bytes, 10, 60, true, "large vocabularies"},
      {"nf4_bytes", &C::nf4_bytes, 2, 30, true, "litgpt's and fsdp_qlora's NF4"},
      {"gptq_bytes", &C::gptq_bytes, 4, 60, true, "Qwen's Q-LoRA"},
      {"launch_seconds", &C::launch_seconds, 0.2e-3, 3e-3, true, "small batches"},
      {"adapter_launches", &C::adapter_launches, 1, 3, true, "small batches with adapters"},
      {"zero_launch_seconds", &C::zero_launch_seconds, 1e-3, 30e-3, true, "Qwen's full training"},
      {"ddp_exposed", &C::ddp_exposed, 0, 1, true, "BERT on several cards"},
      {"fsdp_exposed", &C::fsdp_exposed, 0, 1, true, "llm-foundry, fsdp_qlora"},
      {"jitter", &C::jitter, 0, 0.06, true, "BERT and llm-foundry on several cards"},
      {"pcie_gb_per_s", &C::pcie_gb_per_s, 5, 25, true, "BERT on several cards"},
      {"no_p2p_gb_per_s", &C::no_p2p_gb_per_s, 2, 15, true, "BERT on several cards"},
      {"old_software", &C::old_software, 0, 0.6, true, "BERT on cards in two containers"},
  };
  return kTable;
}

}  // namespace gpuadvise
