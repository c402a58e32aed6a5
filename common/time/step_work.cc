#include "common/time/step_work.h"

#include <algorithm>
#include <cmath>

#include "common/memory/activations.h"
#include "common/memory/adapters.h"
#include "common/memory/memory_model.h"

namespace gpuadvise {
namespace {

constexpr double kFlashPasses = 3.5;  // forward, and a backward pass that repeats it
constexpr double kCausalShare = 0.5;
// Beside the one of a fused GELU: 0.5 * x * (1 + tanh(c * (x + 0.044715 * x ** 3))) writes each
// power, product, sum and tanh.
constexpr double kKernelsOfGeluNew = 7;

// Whether a frozen reference model also scores each answer.
bool HasReference(const TrainingSetup& setup) {
  return setup.trainer == Trainer::kDpo || setup.trainer == Trainer::kKto ||
         setup.trainer == Trainer::kGrpo || setup.trainer == Trainer::kPpo;
}

// Passes over the layers, in units of forward passes.
struct Passes {
  double matrices = 3;  // forward, gradients of inputs, gradients of weights
  double attention = kFlashPasses;
  double kept = 1;  // of the traffic of one forward and backward pass
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
  if (HasReference(setup)) {  // a forward pass of the reference model
    passes.matrices += 1;
    passes.attention += 1;
    passes.kept += 1.0 / 3;
  }
  return passes;
}

// Bytes moved to unpack a weight before use.
double UnpackBytes(const TrainingSetup& setup, const StepTimeConstants& constants) {
  switch (BaseOf(setup)) {
    case BaseWeights::kNf4:
      return constants.nf4_bytes;
    case BaseWeights::kGptq4:
      return constants.gptq_bytes;
    case BaseWeights::kInt8:
      return constants.int8_bytes;
    case BaseWeights::kFp32:
    case BaseWeights::kAuto:
      break;
  }
  return 0;
}

// Bytes per token written by a layer's forward pass: norms, projections, MLP, residual sums, and
// attention scores if materialised.
double WrittenBytesOfLayer(const TransformerStack& stack, const TrainingSetup& setup,
                           const TextRow& row) {
  // After prepare_model_for_kbit_training norms give fp32, and bitsandbytes' layers give back the
  // type that they get (Linear4bit.forward).
  const bool wide = setup.kbit_prepared && BaseOf(setup) == BaseWeights::kNf4;
  const double number = wide ? 4 : NumberBytes(setup);
  const auto h = static_cast<double>(stack.hidden_size);
  const auto q = static_cast<double>(stack.query_size());
  const auto k = static_cast<double>(stack.key_size());
  double numbers = 4 * h + 2 * q + 2 * k + (stack.rotary ? q + k : 0);
  const auto i = static_cast<double>(stack.active_intermediate_size());
  numbers += (stack.gated_mlp ? 4 : 3) * i;
  if (stack.gelu_new && !setup.compiled) numbers += kKernelsOfGeluNew * i;
  if (stack.cross_attention) numbers += 2 * h + 2 * q + 2 * k * row.SeenPerToken();
  if (stack.expert_layers() > 0) {  // a token's copy per expert, and the experts' results
    numbers += 2 * h * static_cast<double>(stack.num_experts_per_tok * stack.expert_layers()) /
               static_cast<double>(stack.num_hidden_layers);
  }
  double bytes = number * numbers;
  if (stack.dropout) bytes += 2 * number * h + 2 * h;  // dropped values and masks
  if (!setup.flash_attention) {
    const auto scores = static_cast<double>(stack.num_attention_heads * row.tokens);
    bytes += scores * (stack.dropout ? 2 * number + 1 : 2 * number) *
             (stack.cross_attention ? 1 + row.SeenPerToken() : 1);
  }
  return bytes;
}

// Total input and output width of a layer's adapted products.
double AdaptedWidth(const TransformerStack& stack, const TrainingSetup& setup) {
  double width = 0;
  for (const LinearLayer& linear : ListLinearLayers(stack)) {
    if (!IsAdapted(linear, setup)) continue;
    auto passed = static_cast<double>(linear.count);
    if (linear.count > stack.num_hidden_layers) {  // one per expert
      passed *=
          static_cast<double>(stack.num_experts_per_tok) / static_cast<double>(stack.num_experts);
    }
    width += static_cast<double>(linear.in + linear.out) * passed;
  }
  return width / static_cast<double>(stack.num_hidden_layers);
}

// Adds the layers of a stack over `rows` rows.
void AddStack(const TransformerStack& stack, const TrainingSetup& setup, const Passes& passes,
              const TextRow& row, double rows, bool causal, const StepTimeConstants& constants,
              MicroBatchWork& work) {
  if (stack.num_hidden_layers == 0) return;
  const auto layers = static_cast<double>(stack.num_hidden_layers);
  const double tokens = rows * static_cast<double>(row.tokens);
  const double scores =
      4 * static_cast<double>(row.tokens) * static_cast<double>(stack.query_size()) * layers;
  double written = WrittenBytesOfLayer(stack, setup, row);
  if (stack.rotary && !setup.use_liger_kernel) {
    written += constants.normalisation_bytes * static_cast<double>(stack.hidden_size);
  }
  double parameters = stack.ActiveParameters();  // for each token
  if (stack.cross_attention) {
    // Keys and values come from the tokens that are seen.
    parameters += (row.SeenPerToken() - 1) * layers *
                  static_cast<double>(2 * stack.hidden_size * stack.key_size());
  }
  const double products = tokens * 2 * parameters * passes.matrices;
  work.layer_operations += products;
  work.idle_operations +=
      products * constants.wave_numbers / (tokens * static_cast<double>(stack.hidden_size));
  double attention = 1;
  if (setup.flash_attention) {
    attention = (causal ? kCausalShare : 1) / (stack.alibi ? constants.alibi_share : 1);
  }
  if (stack.cross_attention) attention += row.SeenPerToken();
  work.attention_operations += tokens * scores * passes.attention * attention;
  if (setup.method != Method::kFull) {
    const double each =
        constants.adapter_bytes + (setup.lora_dropout > 0 ? constants.dropout_bytes : 0);
    work.bytes += tokens * layers * AdaptedWidth(stack, setup) * each * passes.kept;
  }
  work.bytes += tokens * written * layers * constants.passes_over_written * passes.kept *
                (setup.compiled ? constants.compiled_traffic : 1);
}

// Adds the image, video or audio network.
void AddMedia(const ModelShape& model, const TrainingSetup& setup, const Passes& passes,
              const StepTimeConstants& constants, MicroBatchWork& work) {
  const SampleWork sample = CountMediaWork(model, setup);
  const auto batch = static_cast<double>(setup.micro_batch);
  work.layer_operations +=
      batch * ((sample.matrix_operations + sample.convolution_operations) * passes.matrices +
               sample.frozen_operations);
  work.attention_operations += batch * sample.attention_operations *
                               (setup.flash_attention ? passes.attention : passes.matrices);
  work.bytes += batch *
                (sample.passing_bytes * constants.passes_over_written +
                 sample.convolution_passing_bytes * constants.convolution_passes) *
                passes.kept * (setup.compiled ? constants.compiled_traffic : 1);
}

}  // namespace

// Format of frozen weights while adapters train.
double WeightBytes(const TrainingSetup& setup) {
  const double half = NumberBytes(setup);
  switch (BaseOf(setup)) {
    case BaseWeights::kNf4:
      return 0.5 + Nf4ScaleBytes(setup);
    case BaseWeights::kGptq4:
      return kGptqBytes;
    case BaseWeights::kInt8:
      return 1;
    case BaseWeights::kFp32:
      return setup.zero_stage >= 3 ? half : 4;  // FSDP gathers in half precision
    case BaseWeights::kAuto:
      break;
  }
  return half;
}

double ModelParallel(const TrainingSetup& setup) {
  return static_cast<double>(setup.tensor_parallel * setup.pipeline_parallel);
}

int64_t CountRowTokens(const ModelShape& model, const TrainingSetup& setup) {
  int64_t in_row = InputTokens(model, setup);
  if (setup.mean_seq_length > 0) {
    in_row = std::max<int64_t>(1, std::llround(setup.mean_seq_length));
  }
  return in_row + (model.vision ? setup.images * model.vision->tokens_per_image : 0);
}

double LinearParameters(const ModelShape& model) {
  return model.layers.Parameters() + (model.encoder ? model.encoder->Parameters() : 0) +
         (model.media ? MediaParameters(*model.media) : 0);
}

MicroBatchWork CountMicroBatchWork(const ModelShape& model, const TrainingSetup& setup,
                                   const StepTimeConstants& constants) {
  const double batch =
      static_cast<double>(setup.micro_batch) * static_cast<double>(SequencesOfASample(setup));
  const int64_t in_row = CountRowTokens(model, setup);
  const TextRow row = RowOfLayers(model, setup, in_row);
  const double tokens = batch * static_cast<double>(row.tokens);
  const Passes passes = PassesOf(setup, true);
  const bool decoder = model.lm_head;
  MicroBatchWork work;
  AddStack(model.layers, setup, passes, row, batch, decoder, constants, work);
  if (model.media) AddMedia(model, setup, passes, constants, work);
  if (model.encoder) {
    AddStack(*model.encoder, setup, passes, {in_row}, batch, false, constants, work);
  }
  if (model.vision && setup.images > 0) {
    const int64_t patches = model.vision->tokens_per_image * model.vision->patches_per_token;
    AddStack(model.vision->layers, setup, PassesOf(setup, TrainsTower(model, setup)), {patches},
             batch * static_cast<double>(setup.images), false, constants, work);
  }
  const double number = NumberBytes(setup);
  const bool full = setup.method == Method::kFull;
  if (model.lm_head) {
    const auto vocabulary = static_cast<double>(model.vocab_size);
    const auto hidden = static_cast<double>(model.layers.hidden_size);
    work.head_operations = 2 * vocabulary * hidden * (full ? 3 : 2) * tokens;
    work.bytes += constants.score_bytes * vocabulary * tokens;
  }
  // Each GPU holds a part of the layers, of a layer, or of the tokens.
  const double parts = ModelParallel(setup) * static_cast<double>(setup.context_parallel);
  for (double* shared : {&work.layer_operations, &work.idle_operations, &work.attention_operations,
                         &work.head_operations, &work.bytes}) {
    *shared /= parts;
  }
  const double linear = LinearParameters(model) / ModelParallel(setup);
  const double embeddings = model.EmbeddingParameters() / ModelParallel(setup);
  if (BaseOf(setup) == BaseWeights::kAuto || BaseOf(setup) == BaseWeights::kFp32) {
    work.bytes += linear * number * passes.matrices;
  } else {
    work.unpacked_bytes = linear * UnpackBytes(setup, constants) * passes.matrices;
  }
  work.bytes += embeddings * number * passes.matrices;
  if (full) work.bytes += (linear + embeddings) * 8;  // gradients are accumulated
  return work;
}

}  // namespace gpuadvise
