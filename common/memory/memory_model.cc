#include "common/memory/memory_model.h"

#include <algorithm>
#include <cmath>

#include "common/memory/activations.h"
#include "common/memory/adapters.h"
#include "common/memory/media_work.h"
#include "common/memory/memory_range.h"
#include "common/models/optimizer_bytes.h"

namespace gpuadvise {
namespace {

constexpr int64_t kEnoughBatch = 8;  // no recomputation for a larger micro-batch

// Bytes per trained parameter.
struct TrainedBytes {
  double weights = 4;
  double copies = 0;  // made by autocast, until the backward pass ends
  double gradients = 4;
  double states = 8;
  double table_states = 8;  // of embeddings
  double step = 0;          // during the optimizer step
  bool keeps_gradients = true;
};

// AdamW of PyTorch or of old Transformers without a kernel of its own. DeepSpeed has one.
bool IsUnfusedAdam(const std::string& optim) {
  return optim == "adamw_torch" || optim == "adamw_hf";
}

// Copies of each weight that exist at once in the optimizer step: one with AdamW over all weights
// at once ("foreach"), two in PyTorch before 2.1.
double TemporariesOfStep(const TrainingSetup& setup) {
  constexpr double kPyTorch21 = 2023.75;
  if (setup.optim != "adamw_torch") return 0;
  return setup.software_year > 0 && setup.software_year < kPyTorch21 ? 2 : 1;
}

TrainedBytes TrainedBytesOf(const TrainingSetup& setup, double hidden_size) {
  const bool whole = setup.method == Method::kFull;
  const OptimizerBytes optimizer = LookUpOptimizerBytes(setup.optim, setup.pure_half, hidden_size);
  TrainedBytes bytes;
  bytes.states = optimizer.states;
  bytes.table_states = optimizer.table_states;
  bytes.keeps_gradients = optimizer.gradients && !setup.optimizer_in_backward;
  if (setup.pure_half) {
    bytes.weights = bytes.gradients = 2;
  } else if (setup.deepspeed && whole && setup.precision != Precision::kFp32) {
    bytes.weights = bytes.gradients = 2;
    bytes.states += 4;  // masters
    bytes.table_states += 4;
    // Gradients in fp32, and their flattened copy.
    bytes.step = setup.zero_stage == 3 ? 4 : 8;
  } else if (whole && setup.precision != Precision::kFp32 && setup.zero_stage < 3) {
    bytes.copies = 2;  // FSDP gathers weights in half precision instead
  }
  if (bytes.keeps_gradients && bytes.step == 0) {
    bytes.step = bytes.weights * TemporariesOfStep(setup);
  }
  if (optimizer.paged) bytes.states = bytes.table_states = 0;
  return bytes;
}

// Bytes per parameter of layers frozen by adapters.
double BaseBytes(const TrainingSetup& setup) {
  switch (BaseOf(setup)) {
    case BaseWeights::kNf4:
      return 0.5 + Nf4ScaleBytes(setup);
    case BaseWeights::kGptq4:
      return kGptqBytes;
    case BaseWeights::kInt8:
      return 1;
    case BaseWeights::kFp32:
      return 4;
    case BaseWeights::kAuto:
      break;
  }
  return setup.kbit_prepared ? 4 : NumberBytes(setup);
}

// Whether frozen weights that are not quantised are in fp32.
bool HasFp32Rest(const TrainingSetup& setup) {
  return setup.kbit_prepared || BaseOf(setup) == BaseWeights::kFp32;
}

// Autocast copies frozen fp32 weights in each product, which keeps the copy for the backward pass.
// FSDP gathers them in half precision instead.
bool CopiesFrozenWeights(const TrainingSetup& setup) {
  const bool fp32 = BaseOf(setup) == BaseWeights::kFp32 ||
                    (BaseOf(setup) == BaseWeights::kAuto && setup.kbit_prepared);
  return setup.method != Method::kFull && fp32 && setup.precision != Precision::kFp32 &&
         !setup.pure_half && !setup.deepspeed && setup.zero_stage < 3 &&
         setup.checkpointing != Checkpointing::kFull;
}

// Models that a trainer holds in addition to the trained one. Sources: TRL's documentation of each
// trainer.
struct Cast {
  double trained = 1;   // trained models of this shape
  double frozen = 0;    // frozen models of this shape, for scoring
  bool lm_head = true;  // otherwise one score per sequence
};

Cast CastOf(const TrainingSetup& setup) {
  // With adapters the reference is the model itself with adapters disabled.
  const double reference = setup.method == Method::kFull ? 1 : 0;
  switch (setup.trainer) {
    case Trainer::kDpo:
    case Trainer::kKto:
    case Trainer::kGrpo:
      return {.frozen = reference};
    case Trainer::kReward:
      return {.lm_head = false};
    case Trainer::kPpo:  // plus a reward model, and a value model trained like the policy
      return setup.method == Method::kFull ? Cast{.trained = 2, .frozen = 2} : Cast{.frozen = 2};
    case Trainer::kOrpo:
    case Trainer::kSft:
      break;
  }
  return {};
}

double ExpertParameters(const TransformerStack& stack) {
  const double each = (stack.gated_mlp ? 3.0 : 2.0) * static_cast<double>(stack.hidden_size) *
                      static_cast<double>(stack.moe_intermediate_size);
  return static_cast<double>(stack.num_experts) * each *
         static_cast<double>(stack.num_hidden_layers - stack.num_dense_layers);
}

// Position of a GPU in a pipeline.
enum class StageOfPipeline { kWhole, kFirst, kLast };

// Parameters of one GPU's part of the model, before sharding by ZeRO or FSDP.
struct ModelPart {
  double linear = 0;  // of layers, including an encoder's
  double tables = 0;  // embeddings and LM head
  double tower = 0;
  double other = 0;
  double extra = 0;
  double layers = 0;  // of the decoder
  double layer = 0;   // parameters of one layer
  double largest_matrix = 0;
};

ModelPart PartOf(const ModelShape& model, const TrainingSetup& setup, StageOfPipeline stage) {
  const auto tensor = static_cast<double>(setup.tensor_parallel);
  const auto pipeline = static_cast<double>(setup.pipeline_parallel);
  const auto expert = static_cast<double>(setup.expert_parallel);
  const auto table =
      static_cast<double>(model.vocab_size) * static_cast<double>(model.layers.hidden_size);
  const double of_experts = model.layers.num_experts > 0 ? std::min(ExpertParameters(model.layers),
                                                                    model.layers.Parameters())
                                                         : 0;
  const double linear = (model.layers.Parameters() - of_experts + of_experts / expert) / tensor;
  ModelPart part;
  part.layers = static_cast<double>(model.layers.num_hidden_layers) / pipeline;
  part.linear = linear / pipeline;
  part.layer = linear / std::max(static_cast<double>(model.layers.num_hidden_layers), 1.0);
  part.tables = stage == StageOfPipeline::kWhole ? model.EmbeddingParameters() : table;
  part.tables /= tensor;
  part.other = static_cast<double>(model.other_params) / tensor / pipeline;
  part.extra = static_cast<double>(model.extra_params) / tensor / pipeline;
  if (stage != StageOfPipeline::kLast) {
    if (model.media) part.linear += MediaParameters(*model.media) / tensor;
    if (model.encoder) part.linear += model.encoder->Parameters() / tensor;
    if (model.vision) part.tower = model.vision->layers.Parameters() / tensor;
  }
  for (const LinearLayer& each : ListLinearLayers(model.layers)) {
    const double size = static_cast<double>(each.in) * static_cast<double>(each.out);
    part.largest_matrix = std::max(part.largest_matrix, size / tensor);
  }
  return part;
}

// Activations and logits of one GPU.
struct Passing {
  StackActivations layers;
  LossBytes loss;
};

Passing PassingOf(const ModelShape& model, const TrainingSetup& setup, const Cast& cast,
                  const ModelPart& part, StageOfPipeline stage, const MemoryConstants& constants) {
  const auto tensor = static_cast<double>(setup.tensor_parallel);
  const double samples = static_cast<double>(SequencesOfASample(setup)) *
                         static_cast<double>(setup.micro_batch) /
                         static_cast<double>(setup.context_parallel);
  int64_t in_row = InputTokens(model, setup);
  if (model.vision) in_row += setup.images * model.vision->tokens_per_image;
  const TextRow row = RowOfLayers(model, setup, in_row);
  Passing passing;
  StackActivations& kept = passing.layers;
  kept = CountActivations(model.layers, setup, row, samples, part.layers, constants);
  if (stage == StageOfPipeline::kFirst) {
    // One forward, one backward: the first stage runs one micro-batch ahead per later stage.
    kept.kept *= static_cast<double>(setup.pipeline_parallel);
  }
  if (stage != StageOfPipeline::kLast && model.encoder) {
    const StackActivations more =
        CountActivations(*model.encoder, setup, {in_row}, samples,
                         static_cast<double>(model.encoder->num_hidden_layers), constants);
    kept.kept += more.kept;
    kept.at_work = std::max(kept.at_work, more.at_work);
  }
  if (stage != StageOfPipeline::kLast && model.vision && setup.images > 0) {
    const int64_t of_image = model.vision->tokens_per_image * model.vision->patches_per_token;
    const StackActivations more = CountActivations(
        model.vision->layers, setup, {of_image}, samples * static_cast<double>(setup.images),
        static_cast<double>(model.vision->layers.num_hidden_layers), constants);
    if (TrainsTower(model, setup)) kept.kept += more.kept;
    kept.at_work = std::max(kept.at_work, more.at_work);
  }
  if (stage != StageOfPipeline::kLast && model.media) {
    const MediaActivations seen =
        CountMediaActivations(CountMediaWork(model, setup), setup.checkpointing, setup.micro_batch);
    kept.kept += seen.kept;
    kept.at_work = std::max(kept.at_work, seen.at_work);
  }
  // Sequence parallelism (Korthikanti et al. 2022) splits the inputs of layers, too.
  constexpr double kSequenceParallelism = 2022.4;
  const bool splits_inputs =
      setup.software_year == 0 || setup.software_year >= kSequenceParallelism;
  if (splits_inputs || setup.checkpointing != Checkpointing::kFull) kept.kept /= tensor;
  kept.at_work /= tensor;
  if (HasFourBitBase(setup)) kept.at_work += 2 * part.largest_matrix;  // unpacked for use
  if (cast.lm_head && stage != StageOfPipeline::kFirst) {
    const double tokens = samples * static_cast<double>(row.tokens);
    passing.loss = CountLossBytes(model, setup, tokens / tensor, constants);
    // The LM head in fp32 is cast for its product.
    if (setup.kbit_prepared) {
      passing.loss.in_use += NumberBytes(setup) * static_cast<double>(model.vocab_size) *
                             static_cast<double>(model.layers.hidden_size) / tensor;
    }
  }
  return passing;
}

// Memory kept between steps or needed by the step, without activations.
struct Standing {
  double weights = 0;
  double copies = 0;  // of weights, for forward and backward pass
  double gradients = 0;
  double buckets = 0;  // of gradients, permanent
  double optimizer = 0;
  double workspace = 0;
  double step = 0;
};

// Bytes gathered by ZeRO-3 and FSDP: this layer, the next, and one embedding table. DeepSpeed keeps
// parameters that are used again soon, and gathers ahead, up to 10^9 of them
// (stage3_max_reuse_distance and stage3_max_live_parameters, which Transformers' "auto" leaves
// alone).
double GatheredBytes(const TrainingSetup& setup, const ModelPart& part, double shards) {
  constexpr double kLiveParameters = 1e9;
  const bool full = setup.method == Method::kFull;
  const bool four_bit = !full && HasFourBitBase(setup);  // without scales, which are not sharded
  const double of_layer = (four_bit ? 0.5 : NumberBytes(setup)) * part.layer;
  const double table = NumberBytes(setup) * part.tables / 2;
  double bytes = 2 * of_layer + table;
  if (setup.deepspeed) {
    const double live = std::min(kLiveParameters + part.layer, part.linear + part.tables);
    bytes = std::max(bytes, (four_bit ? 0.5 : NumberBytes(setup)) * live);
  }
  if (full) bytes += NumberBytes(setup) * part.layer;  // gradients before they are scattered
  if (setup.offload == Offload::kAll) {
    // The shards of both layers arrive from the host as they are kept there.
    const double kept = full && !setup.pure_half && !setup.deepspeed ? 4 : NumberBytes(setup);
    bytes += 2 * kept * part.layer / shards;
    // FSDP gathers one layer further ahead meanwhile.
    if (!setup.deepspeed) bytes += of_layer;
  }
  return bytes;
}

// What each GPU holds in addition to its shard: NF4's scales are attributes of the module, not part
// of the parameter that is sharded (bitsandbytes' Params4bit.quant_state). They are not offloaded
// either.
double UnshardedBytes(const TrainingSetup& setup, const ModelPart& part, double shards) {
  if (BaseOf(setup) != BaseWeights::kNf4) return 0;
  const double counted = setup.offload == Offload::kAll ? 0 : 1 / shards;
  return part.linear * Nf4ScaleBytes(setup) * (1 - counted);
}

Standing StandingOf(const ModelShape& model, const TrainingSetup& setup, const Cast& cast,
                    const ModelPart& part, const MemoryConstants& constants) {
  const bool full = setup.method == Method::kFull;
  const double hidden = static_cast<double>(model.layers.hidden_size);
  const TrainedBytes bytes = TrainedBytesOf(setup, hidden);
  const double half = NumberBytes(setup);
  const auto split = static_cast<double>(setup.tensor_parallel * setup.pipeline_parallel);
  const double data_parallel = std::max(static_cast<double>(setup.gpus) / split, 1.0);
  const double shards = setup.zero_stage > 0 ? static_cast<double>(ShardingGpus(setup)) : 1;

  // What is frozen and not quantised, and modules that are trained whole next to adapters.
  const double rest = HasFp32Rest(setup) ? 4 : half;
  const double saved = full ? 0 : SavedModules(model, setup) / split;
  const SampleWork media = CountMediaWork(model, setup);
  double trained = part.extra;
  double of_tables = 0;  // of the trained tables
  double frozen = 0;     // bytes
  if (full) {
    of_tables = part.tables;
    const double of_tower = TrainsTower(model, setup) ? part.tower : 0;
    trained += part.linear + part.tables + part.other + of_tower - media.frozen_parameters;
    frozen = half * (part.tower - of_tower + media.frozen_parameters);
  } else {
    double adapters = TextAdapterParameters(model, setup);
    adapters += media.adapter_parameters_per_rank * static_cast<double>(setup.lora_rank);
    trained += adapters / split;
    frozen = part.linear * BaseBytes(setup) + (part.tables + part.tower + part.other) * rest;
  }
  const double matrices = trained - of_tables;
  // A scoring model is held like the trained one.
  const double scoring = (full ? trained * bytes.weights : 0) + frozen;
  trained *= cast.trained;
  const double of_gradients = setup.zero_stage >= 2 ? shards : 1;
  const double of_weights = setup.zero_stage >= 3 ? shards : 1;

  Standing standing;
  standing.weights =
      (frozen * cast.trained + trained * bytes.weights + saved * rest + scoring * cast.frozen) /
      of_weights;
  standing.copies = trained * bytes.copies / of_weights;
  if (CopiesFrozenWeights(setup)) standing.copies += 2 * part.linear;
  // Frozen text encoders and VAE, and an EMA copy: whole on each GPU.
  const double companions = media.companion_bytes + (setup.media.use_ema ? 4 * trained : 0);
  standing.gradients = (trained * bytes.gradients + saved * rest) / of_gradients;
  if (!bytes.keeps_gradients) {
    const double largest = std::max(full ? part.layer : 0.0, of_tables / 2);
    standing.gradients = std::min(standing.gradients, largest * bytes.gradients);
  }
  const bool ddp = data_parallel > 1 && setup.zero_stage == 0 && !setup.deepspeed;
  if (ddp) standing.buckets = trained * bytes.gradients;
  // States have the number format of their parameters.
  const OptimizerBytes of_saved = LookUpOptimizerBytes(setup.optim, rest == 2, hidden);
  const double saved_states = of_saved.paged ? 0 : of_saved.states;
  standing.optimizer = (cast.trained * (matrices * bytes.states + of_tables * bytes.table_states) +
                        saved * saved_states) /
                       shards;
  standing.step = (trained * bytes.step + saved * rest * TemporariesOfStep(setup)) / shards;
  standing.workspace = setup.deepspeed ? constants.deepspeed_bucket_bytes : 0;
  if (setup.zero_stage >= 3) standing.workspace += GatheredBytes(setup, part, shards);
  if (setup.offload != Offload::kNone) {
    standing.optimizer = 0;
    standing.step = 0;
    if (setup.deepspeed) standing.gradients = 0;  // moved to the host bucket by bucket
  }
  if (setup.zero_stage >= 3) {
    if (setup.offload == Offload::kAll) standing.weights = 0;
    standing.weights += (cast.trained + cast.frozen) * UnshardedBytes(setup, part, of_weights);
  }
  standing.weights += companions;
  return standing;
}

// FSDP registers a hook on the inputs of each frozen unit, which holds them and their gradients
// until the whole backward pass ends; with reentrant checkpointing these are the checkpoints of all
// layers (torch/distributed/fsdp/_runtime_utils.py, _register_post_backward_reshard_only_hook).
bool HoldsCheckpoints(const TrainingSetup& setup) {
  return setup.zero_stage >= 2 && !setup.deepspeed && setup.method != Method::kFull &&
         setup.checkpointing == Checkpointing::kFull && setup.reentrant;
}

// What the caching allocator cannot use. Weights and states are allocated once; so are the
// temporaries of the optimizer step, whose sizes are those of the weights.
double FragmentationBytes(const MemoryParts& parts, double copies, const TrainingSetup& setup,
                          const MemoryConstants& constants) {
  constexpr double kOfWeights = 0.005;
  const bool fsdp = setup.zero_stage >= 3 && !setup.deepspeed;
  const double share = constants.fragmentation_share + (fsdp ? constants.fsdp_share : 0);
  const double passing =
      copies + parts.activations + parts.logits + (parts.in_step ? 0 : parts.workspace);
  return share * passing + kOfWeights * (parts.total() - passing);
}

MemoryParts PeakOfStage(const ModelShape& model, const TrainingSetup& setup, StageOfPipeline stage,
                        const MemoryConstants& constants) {
  const Cast cast = CastOf(setup);
  const ModelPart part = PartOf(model, setup, stage);
  Standing standing = StandingOf(model, setup, cast, part, constants);
  Passing passing = PassingOf(model, setup, cast, part, stage, constants);
  if (model.media && setup.checkpointing == Checkpointing::kFull) {
    // A recomputed block makes its copies again, so they do not all exist at once.
    passing.layers.at_work = std::max(passing.layers.at_work, standing.copies);
    standing.copies = 0;
  }
  // The micro-batches of a pipeline accumulate, too.
  const double waiting = setup.accumulates || setup.pipeline_parallel > 1 ? standing.gradients : 0;
  MemoryParts resident;
  resident.weights = standing.weights;
  resident.optimizer = standing.optimizer;
  resident.workspace = standing.workspace;
  resident.gradients = standing.buckets;
  resident.framework = ContextBytes(setup, constants);

  MemoryParts start = resident;
  start.weights += standing.copies;
  start.gradients += waiting;
  start.activations = passing.layers.kept;
  // Logits are freed before the last layer is processed.
  MemoryParts loss = start;
  loss.logits = passing.loss.in_use;
  loss.framework +=
      passing.loss.freed + FragmentationBytes(loss, standing.copies, setup, constants);
  start.workspace += passing.layers.at_work;
  start.framework += FragmentationBytes(start, standing.copies, setup, constants);

  MemoryParts end = resident;  // copies are freed with the activations that need them
  end.gradients += standing.gradients;
  end.activations = HoldsCheckpoints(setup) ? 2 * passing.layers.checkpoints : 0;
  end.workspace += passing.layers.at_work;
  end.framework += FragmentationBytes(end, 0, setup, constants);

  MemoryParts step = resident;
  step.in_step = true;
  if (setup.offload == Offload::kNone) {  // otherwise the step is the host's
    step.gradients += standing.gradients;
    step.workspace += standing.step;
  }
  step.framework += FragmentationBytes(step, 0, setup, constants);
  const auto smaller = [](const MemoryParts& a, const MemoryParts& b) {
    return a.total() < b.total();
  };
  return std::max({loss, start, end, step}, smaller);
}

}  // namespace

SampleWork CountMediaWork(const ModelShape& model, const TrainingSetup& setup) {
  if (!model.media) return {};
  MediaTraining training;
  training.samples = setup.media;
  training.number_bytes = NumberBytes(setup);
  // In pure half precision, norms keep half-precision numbers.
  training.norm_bytes = setup.pure_half || setup.deepspeed ? training.number_bytes : 4;
  training.weights = setup.method == Method::kFull;
  training.flash_attention = setup.flash_attention;
  if (!training.weights) ReadAdapterTargets(*model.media, setup.target_modules, training);
  return CountSampleWork(*model.media, training);
}

double StepTrafficBytes(const TrainingSetup& setup) {
  const TrainedBytes bytes = TrainedBytesOf(setup, 0);
  if (IsUnfusedAdam(setup.optim) && !setup.deepspeed) {
    // A kernel for each operation (torch/optim/adamw.py): decay, average of the gradient, decay and
    // square for the other average, root, correction, epsilon, update.
    return 4 * bytes.weights + 2 * bytes.gradients + 7 * bytes.states;
  }
  return bytes.gradients + 2 * (bytes.weights + bytes.states);
}

double StateBytesPerParameter(const TrainingSetup& setup) {
  TrainingSetup kept = setup;
  if (kept.optim.starts_with("paged_")) kept.optim = kept.optim.substr(6);  // same size
  return TrainedBytesOf(kept, 0).states;
}

double TrainedParameters(const ModelShape& model, const TrainingSetup& setup) {
  const auto extra = static_cast<double>(model.extra_params);
  if (setup.method != Method::kFull) {
    double adapters = TextAdapterParameters(model, setup);
    adapters += CountMediaWork(model, setup).adapter_parameters_per_rank *
                static_cast<double>(setup.lora_rank);
    return adapters + SavedModules(model, setup) + extra;
  }
  auto all = model.Parameters();
  if (model.vision && !TrainsTower(model, setup)) all -= model.vision->layers.Parameters();
  if (model.media) all -= CountMediaWork(model, setup).frozen_parameters;
  return all;
}

double ContextBytes(const TrainingSetup& setup, const MemoryConstants& constants) {
  return constants.context_bytes + (setup.gpus > 1 ? constants.nccl_bytes : 0);
}

double HighestBytes(const MemoryParts& parts, const TrainingSetup& setup,
                    const MemoryConstants& constants) {
  const bool varies =
      setup.mean_seq_length > 0 && setup.mean_seq_length < static_cast<double>(setup.seq_length);
  return parts.total() + (varies ? constants.varying_logits * parts.logits : 0);
}

MemoryParts PeakMemory(const ModelShape& model, const TrainingSetup& setup,
                       const MemoryConstants& constants) {
  if (setup.pipeline_parallel <= 1) {
    return PeakOfStage(model, setup, StageOfPipeline::kWhole, constants);
  }
  const MemoryParts first = PeakOfStage(model, setup, StageOfPipeline::kFirst, constants);
  const MemoryParts last = PeakOfStage(model, setup, StageOfPipeline::kLast, constants);
  return first.total() > last.total() ? first : last;
}

int64_t LargestMicroBatch(const ModelShape& model, TrainingSetup setup, double bytes,
                          double highest) {
  const auto fits = [&](int64_t batch) {
    setup.micro_batch = batch;
    const MemoryParts parts = PeakMemory(model, setup);
    return parts.total() <= bytes && HighestBytes(parts, setup) <= highest;
  };
  int64_t low = 0;
  int64_t high = 1;
  while (high <= kMaxModelledBatch && fits(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return std::min(low, kMaxModelledBatch);
}

TrainingSetup SetupOn(const GpuModel& gpu, const ModelShape& model, const TrainingSpec& training,
                      Precision precision, int64_t gpus) {
  TrainingSetup setup = SetupFrom(training, precision, gpus);
  if (training.gradient_checkpointing) return setup;
  int64_t enough = kEnoughBatch;
  if (training.effective_batch_size) {
    enough = std::min(
        enough,
        std::max<int64_t>(training.effective_batch_size->high / DataParallelGpus(setup), 1));
  }
  const auto largest = [&](const TrainingSetup& with, double left_free) {
    return LargestMicroBatch(model, with, UsableBytes(gpu) * (1 - left_free));
  };
  const double margin = SafetyMargin(setup, false);
  if (largest(setup, margin) >= enough) return setup;
  TrainingSetup checkpointed = setup;
  checkpointed.checkpointing = Checkpointing::kFull;
  const bool more = largest(checkpointed, margin) > largest(setup, margin) ||
                    largest(checkpointed, 0) > largest(setup, 0);
  if (!more && largest(setup, 0) == 0) {  // nothing fits: use the closest
    const bool less = PeakMemory(model, checkpointed).total() < PeakMemory(model, setup).total();
    return less ? checkpointed : setup;
  }
  return more ? checkpointed : setup;
}

double UsableBytes(const GpuModel& gpu) {
  if (gpu.usable_memory_bytes > 0) return static_cast<double>(gpu.usable_memory_bytes);
  const auto nominal = static_cast<double>(gpu.memory_bytes);
  return kMemoryConstants.usable_share * nominal -
         std::min(kMemoryConstants.driver_bytes, 0.02 * nominal);
}

}  // namespace gpuadvise
