#include "common/training/memory_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/training/media_work.h"

namespace gpuadvise {
namespace {

constexpr double kContextBytes = 1.3e9;  // CUDA context, cuBLAS and cuDNN workspaces
constexpr double kNcclBytes = 0.3e9;
constexpr double kDeepspeedBuckets = 2e9;  // reduce and all-gather: 5e8 numbers of 2 bytes each
constexpr double kLogitsBytes = 16;        // 2 + 4 upcast + 4 shifted + 4 softmax + 2 gradient
constexpr double kCompiledLogitsBytes = 8;
constexpr double kHalfLogitsBytes = 8;  // DeepSpeed's fp16 upcasts nothing
constexpr double kNf4Inputs = 12;  // bytes: hidden sizes that 4-bit layers keep besides, measured
constexpr double kChunkedLogitsBytes = 2;  // the largest chunk and what stays of all
constexpr double kSelectiveShare = 0.5;    // of a layer's activations that are kept
constexpr double kLayerAtWork = 1.3;       // a layer recomputed, and its gradients
constexpr double kLayerInBackward = 0.3;
constexpr double kUsableShare = 0.985;
constexpr int64_t kEnoughBatch = 8;  // a larger micro-batch is not worth recomputing for
constexpr double kDoraShare = 1.25;  // it keeps the merged direction of each weight

// Bytes for each parameter that is trained.
struct TrainedBytes {
  double weights = 4;
  double copies = 0;  // that autocast makes, until the backward pass is over
  double gradients = 4;
  double states = 8;
  double step = 0;  // for the time of the optimizer's step
};

double StateBytes(const std::string& optim, bool half) {
  const auto has = [&](const char* word) { return optim.find(word) != std::string::npos; };
  if (has("adafactor") || optim == "sgd") return 0.02;
  if (has("8bit")) return has("lion") ? 1 : 2;
  const double number = half ? 2 : 4;
  return (has("lion") || has("rmsprop") || has("adagrad") ? 1 : 2) * number;
}

TrainedBytes TrainedBytesOf(const TrainingSetup& setup) {
  const bool whole = setup.method == Method::kFull;
  TrainedBytes bytes;
  bytes.states = StateBytes(setup.optim, setup.pure_half);
  if (setup.pure_half) {
    bytes.weights = bytes.gradients = 2;
  } else if (setup.deepspeed && whole && setup.precision != Precision::kFp32) {
    bytes.weights = bytes.gradients = 2;
    bytes.states += 4;  // masters
    bytes.step =
        setup.zero_stage == 3 ? 4 : 8;  // gradients in fp32, and once more as they are flattened
  } else if (whole && setup.precision != Precision::kFp32) {
    bytes.copies = 2;
  }
  if (setup.optim == "adamw_torch" && bytes.step == 0) bytes.step = bytes.weights;  // foreach
  if (setup.optim.starts_with("paged")) bytes.states = 0;  // moves to the host when it is short
  return bytes;
}

struct Linear {
  const char* name;
  int64_t in;
  int64_t out;
};

std::vector<Linear> LinearsOf(const TransformerStack& stack) {
  const int64_t h = stack.hidden_size;
  std::vector<Linear> linears = {
      {"q_proj", h, stack.query_size()},       {"k_proj", h, stack.key_size()},
      {"v_proj", h, stack.key_size()},         {"o_proj", stack.query_size(), h},
      {"up_proj", h, stack.intermediate_size}, {"down_proj", stack.intermediate_size, h}};
  if (stack.gated_mlp) linears.push_back({"gate_proj", h, stack.intermediate_size});
  return linears;
}

// Whether a name of target_modules means the linear layer: "q_proj", "q", "query".
bool Means(const std::string& target, const std::string& linear) {
  if (target == "all-linear" || target == linear) return true;
  const std::string first = linear.substr(0, linear.find('_'));
  static constexpr std::array<std::pair<const char*, const char*>, 9> kSpellings = {
      {{"query", "q"},
       {"key", "k"},
       {"value", "v"},
       {"wi", "up"},
       {"wo", "down"},
       {"fc1", "up"},
       {"fc2", "down"},
       {"out_proj", "o"},
       {"dense", "o"}}};
  if (target == "qkv_proj" || target == "query_key_value" || target == "c_attn") {
    return first == "q" || first == "k" || first == "v";
  }
  return target == first ||
         std::any_of(kSpellings.begin(), kSpellings.end(), [&](const auto& each) {
           return target == each.first && first == each.second;
         });
}

double AdapterParameters(const TransformerStack& stack, const TrainingSetup& setup) {
  double parameters = 0;
  for (const Linear& linear : LinearsOf(stack)) {
    const auto& targets = setup.target_modules;
    const bool target = targets.empty() ||
                        std::any_of(targets.begin(), targets.end(), [&](const std::string& name) {
                          return Means(name, linear.name);
                        });
    if (!target) continue;
    parameters += static_cast<double>(setup.lora_rank * (linear.in + linear.out));
    if (setup.method == Method::kDora) parameters += static_cast<double>(linear.out);
  }
  return parameters * static_cast<double>(stack.num_hidden_layers);
}

double SavedModules(const ModelShape& model, const TrainingSetup& setup) {
  const auto table = static_cast<double>(model.vocab_size * model.layers.hidden_size);
  double parameters = 0;
  for (const std::string& name : setup.modules_to_save) {
    const bool known =
        name == "embed_tokens" || name == "lm_head" || name == "wte" || name == "embeddings";
    if (known) parameters += table;
  }
  return parameters;
}

struct StackActivations {
  double kept = 0;
  double at_work = 0;
};

StackActivations ActivationsOf(const TransformerStack& stack, const TrainingSetup& setup,
                               int64_t tokens_in_row, double tokens) {
  const double layer = KeptBytesOfLayer(stack, setup, tokens_in_row) * tokens;
  const auto layers = static_cast<double>(stack.num_hidden_layers);
  const double c = setup.precision == Precision::kFp32 ? 4 : 2;
  switch (setup.checkpointing) {
    case Checkpointing::kFull:
      return {layers * c * static_cast<double>(stack.hidden_size) * tokens, kLayerAtWork * layer};
    case Checkpointing::kSelective:
      return {layers * layer * kSelectiveShare, kLayerInBackward * layer};
    case Checkpointing::kNone:
      break;
  }
  return {layers * layer, kLayerInBackward * layer};
}

// The scores of every word for every token, those of images as well, at the moment of the loss.
double LogitsBytes(const ModelShape& model, const TrainingSetup& setup, double tokens) {
  if (!model.lm_head) return 0;
  double each = kLogitsBytes;
  if (setup.deepspeed && setup.precision == Precision::kFp16) each = kHalfLogitsBytes;
  if (setup.compiled) each = std::min(each, kCompiledLogitsBytes);
  if (setup.chunked_cross_entropy) each = kChunkedLogitsBytes;
  return each * static_cast<double>(model.vocab_size) * tokens;
}

}  // namespace

SampleWork MediaWorkOf(const ModelShape& model, const TrainingSetup& setup) {
  if (!model.media) return {};
  MediaTraining training;
  training.samples = setup.media;
  training.number_bytes = setup.precision == Precision::kFp32 ? 4 : 2;
  // Trained in half precision altogether, norms keep numbers of half precision.
  training.norm_bytes = setup.pure_half || setup.deepspeed ? training.number_bytes : 4;
  training.weights = setup.method == Method::kFull;
  training.flash_attention = setup.flash_attention;
  if (!training.weights) ReadAdapterTargets(*model.media, setup.target_modules, training);
  return WorkOfSample(*model.media, training);
}

double KeptBytesOfLayer(const TransformerStack& stack, const TrainingSetup& setup,
                        int64_t tokens_in_row) {
  const double c = setup.precision == Precision::kFp32 ? 4 : 2;
  const auto h = static_cast<double>(stack.hidden_size);
  const auto q = static_cast<double>(stack.query_size());
  const auto k = static_cast<double>(stack.key_size());
  const auto i = static_cast<double>(stack.intermediate_size);
  double numbers = 4 * h + (q + 2 * k) + (stack.rotary ? q + k : 0) + q;
  numbers += stack.gated_mlp ? 4 * i : 3 * i;
  double bytes = c * numbers;
  if (stack.cross_attention) bytes += c * (2 * h + 2 * q + 2 * k);
  if (stack.dropout) bytes += 2 * c * h + 2 * h;  // what is dropped, and the masks
  if (!setup.flash_attention) {
    const auto scores = static_cast<double>(stack.num_attention_heads * tokens_in_row);
    bytes += scores * (stack.dropout ? 2 * c + 1 : 2 * c) * (stack.cross_attention ? 2 : 1);
  }
  if (setup.method == Method::kQlora) bytes += kNf4Inputs * h;
  return setup.method == Method::kDora ? bytes * kDoraShare : bytes;
}

double StepTrafficBytes(const TrainingSetup& setup) {
  const TrainedBytes bytes = TrainedBytesOf(setup);
  return bytes.gradients + 2 * (bytes.weights + bytes.states);
}

double StateBytesPerParameter(const TrainingSetup& setup) {
  TrainingSetup kept = setup;
  if (kept.optim.starts_with("paged_")) kept.optim = kept.optim.substr(6);  // where does not matter
  return TrainedBytesOf(kept).states;
}

double TrainedParameters(const ModelShape& model, const TrainingSetup& setup) {
  const auto extra = static_cast<double>(model.extra_params);
  if (setup.method != Method::kFull) {
    double adapters = AdapterParameters(model.layers, setup);
    if (model.encoder) adapters += AdapterParameters(*model.encoder, setup);
    adapters += MediaWorkOf(model, setup).adapter_parameters_per_rank *
                static_cast<double>(setup.lora_rank);
    return adapters + SavedModules(model, setup) + extra;
  }
  auto all = model.Parameters();
  if (model.vision && model.vision->frozen) {
    all -= model.vision->layers.Parameters();
  }
  if (model.media) all -= MediaWorkOf(model, setup).frozen_parameters;
  return all;
}

MemoryParts PeakMemory(const ModelShape& model, const TrainingSetup& setup) {
  // Modules that are trained whole beside adapters are copies in half precision.
  const double saved = setup.method == Method::kFull ? 0 : SavedModules(model, setup);
  const double trained = TrainedParameters(model, setup) - saved;
  TrainedBytes bytes = TrainedBytesOf(setup);
  // Computed again, a block makes its copies again: those of all are there after the forward pass.
  const double copies = bytes.copies;
  if (model.media && setup.checkpointing == Checkpointing::kFull) bytes.copies = 0;
  const double half = setup.precision == Precision::kFp32 ? 4 : 2;
  const auto embeddings = model.EmbeddingParameters();
  auto linear = model.layers.Parameters();
  if (model.encoder) linear += model.encoder->Parameters();
  const SampleWork media = MediaWorkOf(model, setup);
  linear += media.parameters;
  const auto tower = model.vision ? model.vision->layers.Parameters() : 0;

  double frozen = 0;
  if (setup.method != Method::kFull) {
    frozen = linear * (setup.method == Method::kQlora ? kNf4Bytes : half) +
             (embeddings + tower + static_cast<double>(model.other_params)) * half;
  } else if (model.vision && model.vision->frozen) {
    frozen = tower * half;
  }
  const double shards = setup.zero_stage > 0 ? static_cast<double>(setup.gpus) : 1;
  const double of_states = shards;
  const double of_gradients = setup.zero_stage >= 2 ? shards : 1;
  const double of_weights = setup.zero_stage >= 3 ? shards : 1;
  MemoryParts parts;
  parts.weights =
      (frozen + trained * bytes.weights) / of_weights + trained * bytes.copies / of_weights;
  parts.weights += saved * half / of_weights;
  parts.gradients = (trained * bytes.gradients + saved * half) / of_gradients;
  if (setup.gpus > 1 && setup.zero_stage == 0) parts.gradients *= 2;  // DDP's buckets
  parts.optimizer = (trained + saved) * bytes.states / of_states;
  double step = trained * bytes.step / of_states;
  double workspace = setup.deepspeed ? kDeepspeedBuckets : 0;
  if (setup.zero_stage >= 3) {  // layers gathered ahead, and the embeddings
    const auto layer = model.layers.LayerParameters();
    workspace += half * (2 * layer + embeddings);
  }
  if (setup.offload != Offload::kNone) {
    parts.optimizer = 0;
    step = 0;
  }
  if (setup.offload == Offload::kAll && setup.zero_stage >= 3) {
    parts.weights = 0;
    parts.gradients = 0;
  }

  // Frozen text encoders and VAE, and a moving average: whole on each GPU.
  parts.weights += media.companion_bytes + (setup.media.use_ema ? 4 * trained : 0);

  const auto batch = static_cast<double>(setup.micro_batch);
  int64_t in_row = setup.seq_length;
  if (model.vision) in_row += setup.images * model.vision->tokens_per_image;
  const double tokens = batch * static_cast<double>(in_row);
  StackActivations kept = ActivationsOf(model.layers, setup, in_row, tokens);
  if (model.encoder) {
    const StackActivations more = ActivationsOf(*model.encoder, setup, in_row, tokens);
    kept.kept += more.kept;
    kept.at_work = std::max(kept.at_work, more.at_work);
  }
  if (model.vision && setup.images > 0) {
    const int64_t of_image = model.vision->tokens_per_image * model.vision->patches_per_token;
    const double patches = batch * static_cast<double>(setup.images * of_image);
    const StackActivations more = ActivationsOf(model.vision->layers, setup, of_image, patches);
    const bool trains = setup.method == Method::kFull && !model.vision->frozen;
    if (trains) kept.kept += more.kept;
    kept.at_work = std::max(kept.at_work, more.at_work);
  }
  const MediaActivations seen = MediaActivationsOf(media, setup.checkpointing, setup.micro_batch);
  kept.kept += seen.kept;
  kept.at_work = std::max(kept.at_work, seen.at_work);
  kept.at_work = std::max(kept.at_work, trained * (copies - bytes.copies) / of_weights);
  const double logits = LogitsBytes(model, setup, tokens);

  // The scores are gone when the first layer is worked on: the larger of the two counts.
  const double backward =
      parts.weights + parts.optimizer + kept.kept + workspace + std::max(logits, kept.at_work);
  const double in_step = parts.weights - trained * bytes.copies / of_weights + parts.gradients +
                         parts.optimizer + step + workspace;
  parts.in_step = in_step > backward;
  if (parts.in_step) {
    parts.weights -= trained * bytes.copies / of_weights;
    parts.workspace = workspace + step;
  } else {
    parts.gradients = 0;
    parts.activations = kept.kept;
    parts.logits = logits > kept.at_work ? logits : 0;
    parts.workspace = workspace + (logits > kept.at_work ? 0 : kept.at_work);
  }
  parts.framework =
      kFragmentationShare * parts.total() + kContextBytes + (setup.gpus > 1 ? kNcclBytes : 0);
  return parts;
}

int64_t LargestMicroBatch(const ModelShape& model, TrainingSetup setup, double bytes) {
  const auto fits = [&](int64_t batch) {
    setup.micro_batch = batch;
    return PeakMemory(model, setup).total() <= bytes;
  };
  int64_t low = 0;
  int64_t high = 1;
  while (high <= kMostModelledBatch && fits(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return std::min(low, kMostModelledBatch);
}

TrainingSetup SetupFrom(const TrainingSpec& training, Precision precision, int64_t gpus) {
  TrainingSetup setup;
  setup.precision = precision;
  setup.checkpointing = training.gradient_checkpointing.value_or(Checkpointing::kNone);
  setup.micro_batch = training.micro_batch.value_or(1);
  setup.seq_length = training.max_seq_length.value_or(kUsualSeqLength);
  setup.images = training.images_per_sample.value_or(0);
  setup.gpus = gpus;
  setup.pure_half = training.pure_bf16 && precision == Precision::kBf16;
  setup.deepspeed = training.zero_stage.has_value();
  setup.zero_stage = static_cast<int>(training.zero_stage.value_or(0));
  if (training.fsdp) setup.zero_stage = *training.fsdp == Fsdp::kFullShard ? 3 : 2;
  setup.offload = training.offload;
  setup.method = training.method;
  setup.lora_rank = training.lora.r;
  setup.target_modules = training.lora.target_modules;
  setup.modules_to_save = training.lora.modules_to_save;
  setup.optim = training.optim;
  setup.flash_attention = training.attn_implementation != Attention::kEager;
  setup.tf32 = training.tf32;
  setup.compiled = training.torch_compile.value_or(false);
  setup.chunked_cross_entropy = training.chunked_cross_entropy;
  setup.use_liger_kernel = training.use_liger_kernel;
  setup.lora_dropout = training.lora.dropout;
  setup.base_weights = training.base_weights;
  setup.activation_offload = training.activation_offload;
  setup.optimizer_in_backward = training.optimizer_in_backward;
  setup.trainer = training.trainer;
  setup.tensor_parallel = training.tensor_parallel_size.value_or(1);
  setup.pipeline_parallel = training.pipeline_parallel_size.value_or(1);
  setup.context_parallel = training.context_parallel_size.value_or(1);
  setup.expert_parallel = training.expert_parallel_size.value_or(1);
  setup.mean_seq_length = training.mean_seq_length.value_or(0);
  setup.fp8 = training.fp8;
  setup.software_year = training.software_year.value_or(0);
  setup.media = training.media;
  return setup;
}

TrainingSetup SetupOn(const GpuModel& gpu, const ModelShape& model, const TrainingSpec& training,
                      Precision precision, int64_t gpus, double margin) {
  TrainingSetup setup = SetupFrom(training, precision, gpus);
  if (training.gradient_checkpointing) return setup;
  int64_t enough = kEnoughBatch;
  if (training.effective_batch_size) {
    enough = std::min(enough, std::max<int64_t>(training.effective_batch_size->high / gpus, 1));
  }
  const auto largest = [&](const TrainingSetup& with, double left_free) {
    return LargestMicroBatch(model, with, UsableBytes(gpu) * (1 - left_free));
  };
  if (largest(setup, margin) >= enough) return setup;
  TrainingSetup checkpointed = setup;
  checkpointed.checkpointing = Checkpointing::kFull;
  const bool more = largest(checkpointed, margin) > largest(setup, margin) ||
                    largest(checkpointed, 0) > largest(setup, 0);
  if (!more && largest(setup, 0) == 0) {  // nothing fits: what comes nearest
    const bool less = PeakMemory(model, checkpointed).total() < PeakMemory(model, setup).total();
    return less ? checkpointed : setup;
  }
  return more ? checkpointed : setup;
}

double UsableBytes(const GpuModel& gpu) {
  return kUsableShare * static_cast<double>(gpu.memory_bytes);
}

}  // namespace gpuadvise
