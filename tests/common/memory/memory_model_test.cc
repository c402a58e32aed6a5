#include "common/memory/memory_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

constexpr double kGib = 1 << 30;

const ModelShape& Shape(const char* preset) { return *ShippedModels().Find(preset)->shape; }

TrainingSetup Lora(int64_t seq_length) {
  TrainingSetup setup;
  setup.method = Method::kLora;
  setup.lora_rank = 64;
  setup.checkpointing = Checkpointing::kFull;
  setup.seq_length = seq_length;
  return setup;
}

double PeakGib(const char* preset, const TrainingSetup& setup) {
  return PeakMemory(Shape(preset), setup).total() / kGib;
}

// QwenLM/Qwen README, profiling: LoRA r = 64 on all linear layers, checkpointing, one A100.
TEST(PeakMemory, IsNearWhatWasMeasuredWithLora) {
  const auto peak = [](const char* preset, int64_t seq_length) {
    TrainingSetup setup = Lora(seq_length);
    setup.upcast_logits = false;  // Qwen's own code leaves that to autocast
    return PeakGib(preset, setup);
  };
  EXPECT_NEAR(peak("qwen-7b", 1024), 21.5, 0.10 * 21.5);
  EXPECT_NEAR(peak("qwen-7b", 4096), 29.7, 0.10 * 29.7);
  EXPECT_NEAR(peak("qwen-1.8b", 2048), 11.0, 0.12 * 11.0);
}

// pytorch/torchtune README, optimization flags: Llama 3.2 3B, 2 x 4096 tokens, bf16 throughout;
// active memory, so without what the framework and the allocator add.
TEST(PeakMemory, IsNearWhatWasMeasuredOfWholeModels) {
  TrainingSetup setup;
  setup.pure_half = true;
  setup.optim = "adamw_torch_fused";
  setup.micro_batch = 2;
  setup.seq_length = 4096;
  setup.repeats_key_values = true;
  setup.software_year = 2024.9;
  const auto active = [&] {
    const MemoryParts parts = PeakMemory(Shape("llama-3.2-3b"), setup);
    return (parts.total() - parts.framework) / kGib;
  };
  EXPECT_NEAR(active(), 60.0, 0.03 * 60.0);
  setup.compiled = true;
  EXPECT_NEAR(active(), 51.0, 0.03 * 51.0);
  setup.chunked_cross_entropy = true;
  EXPECT_NEAR(active(), 42.9, 0.03 * 42.9);
  setup.checkpointing = Checkpointing::kFull;
  EXPECT_NEAR(active(), 24.9, 0.03 * 24.9);
  setup.optimizer_in_backward = true;
  EXPECT_NEAR(active(), 23.1, 0.03 * 23.1);
  setup.activation_offload = true;
  EXPECT_NEAR(active(), 21.8, 0.03 * 21.8);
}

TEST(PeakMemory, OfLoraTrainsAdaptersAlone) {
  TrainingSetup setup = Lora(512);
  setup.lora_rank = 8;
  setup.target_modules = {"q_proj", "v_proj"};
  EXPECT_EQ(TrainedParameters(Shape("llama-2-7b"), setup), 4'194'304);  // PEFT's own count
  setup.target_modules = {"query", "value"};
  EXPECT_EQ(TrainedParameters(Shape("llama-2-7b"), setup), 4'194'304);
}

TEST(PeakMemory, OfFullTrainingIsSixteenBytesAParameterWithAutocast) {
  TrainingSetup setup;
  setup.optim = "adamw_torch_fused";
  const MemoryParts parts = PeakMemory(Shape("llama-2-7b"), setup);
  const double of_parameters = parts.weights + parts.gradients + parts.optimizer;
  EXPECT_LT(parts.activations + parts.logits, 1e6);  // of one token
  EXPECT_NEAR(of_parameters / 6.74e9, 16, 0.1);
}

// The loss comes while what a micro-batch before it has left waits.
TEST(PeakMemory, OfSeveralMicroBatchesHoldsTheirGradientsWhileScoresAreThere) {
  TrainingSetup setup;
  setup.pure_half = true;
  setup.optim = "adamw_torch_fused";
  setup.micro_batch = 8;
  setup.seq_length = 4096;
  const MemoryParts one = PeakMemory(Shape("llama-3.2-1b"), setup);
  setup.accumulates = true;
  const MemoryParts several = PeakMemory(Shape("llama-3.2-1b"), setup);
  EXPECT_EQ(one.gradients, 0);
  EXPECT_NEAR(several.gradients, 2 * Shape("llama-3.2-1b").Parameters(), 1);
}

TEST(PeakMemory, OfFsdpGathersFourBitLayersAsFourBits) {
  TrainingSetup setup;
  setup.method = Method::kLora;
  setup.zero_stage = 3;
  setup.gpus = 64;
  setup.checkpointing = Checkpointing::kFull;
  const double half = PeakMemory(Shape("llama-2-70b"), setup).workspace;
  setup.method = Method::kQlora;
  const double four_bits = PeakMemory(Shape("llama-2-70b"), setup).workspace;
  // Two layers gathered, less what is multiplied at a time and what 4-bit layers keep.
  const double layer = Shape("llama-2-70b").layers.LayerParameters();
  EXPECT_LT(four_bits, half - 2 * layer);
}

// One table of the vocabulary is gathered at a time, not both.
TEST(PeakMemory, OfFsdpGathersEmbeddingsAndScoresEachOnTheirOwn) {
  TrainingSetup setup;
  setup.method = Method::kLora;
  setup.zero_stage = 3;
  setup.gpus = 1'000'000;
  setup.seq_length = 1;
  ModelShape model = Shape("llama-3.1-8b");
  const double with_tables = PeakMemory(model, setup).workspace;
  const double table = static_cast<double>(model.vocab_size * model.layers.hidden_size);
  model.vocab_size = 0;
  EXPECT_NEAR(with_tables - PeakMemory(model, setup).workspace, 2 * table, 0.001 * table);
}

TEST(PeakMemory, OfDdpHoldsItsBucketsAllTheTime) {
  TrainingSetup setup;
  setup.optim = "adamw_torch_fused";
  setup.micro_batch = 32;
  setup.seq_length = 512;
  const double alone = PeakMemory(Shape("bert-large"), setup).gradients;
  setup.gpus = 2;
  const MemoryParts two = PeakMemory(Shape("bert-large"), setup);
  EXPECT_EQ(alone, 0);
  EXPECT_FALSE(two.in_step);
  EXPECT_NEAR(two.gradients, 4 * Shape("bert-large").Parameters(), 1);
}

TEST(PeakMemory, OfFrozenWeightsIsThatOfTheirFormat) {
  TrainingSetup setup = Lora(64);
  const auto weights = [&](BaseWeights base) {
    setup.base_weights = base;
    return PeakMemory(Shape("llama-2-7b"), setup).weights / 6.48e9;  // of the layers
  };
  const double half = weights(BaseWeights::kAuto);
  EXPECT_NEAR(half - weights(BaseWeights::kInt8), 1, 0.02);
  EXPECT_NEAR(half - weights(BaseWeights::kNf4), 2 - 0.5625, 0.02);
  EXPECT_NEAR(half - weights(BaseWeights::kGptq4), 2 - 0.535, 0.02);
}

// TRL: the reference is a second model, or the model itself with its adapters switched off; chosen
// and rejected answers go through in one pass.
TEST(PeakMemory, OfPreferencesHasTwoAnswersAndAReferenceWhereAllIsTrained) {
  const ModelShape& model = Shape("llama-3.2-1b");
  TrainingSetup setup;
  setup.pure_half = true;
  setup.optim = "adamw_torch_fused";
  setup.seq_length = 2048;
  setup.micro_batch = 2;
  const MemoryParts sft = PeakMemory(model, setup);
  setup.micro_batch = 1;
  setup.trainer = Trainer::kDpo;
  const MemoryParts dpo = PeakMemory(model, setup);
  EXPECT_EQ(dpo.activations, sft.activations);
  EXPECT_NEAR(dpo.weights - sft.weights, 2 * model.Parameters(), 1);
  setup.trainer = Trainer::kOrpo;
  EXPECT_EQ(PeakMemory(model, setup).weights, sft.weights);
  setup.trainer = Trainer::kReward;
  EXPECT_EQ(PeakMemory(model, setup).logits, 0);
  setup.trainer = Trainer::kPpo;
  EXPECT_NEAR(PeakMemory(model, setup).weights, 4 * sft.weights, 1);
  setup.method = Method::kLora;
  const double adapters = PeakMemory(model, setup).weights;
  setup.trainer = Trainer::kDpo;
  EXPECT_LT(PeakMemory(model, setup).weights, adapters);
}

TEST(PeakMemory, IsSplitByTensorPipelineAndContextParallelism) {
  const ModelShape& model = Shape("llama-2-70b");
  TrainingSetup setup;
  setup.optim = "adamw_torch_fused";
  setup.gpus = 8;
  setup.micro_batch = 4;
  setup.seq_length = 131'072;
  setup.zero_stage = 1;
  const MemoryParts whole = PeakMemory(model, setup);
  setup.tensor_parallel = 8;
  const MemoryParts tensor = PeakMemory(model, setup);
  EXPECT_NEAR(tensor.weights, whole.weights / 8, 0.001 * whole.weights);
  EXPECT_NEAR(tensor.activations, whole.activations / 8, 1);
  EXPECT_NEAR(tensor.optimizer, whole.optimizer, 1);  // eight shards either way
  setup.tensor_parallel = 1;
  setup.context_parallel = 8;
  EXPECT_NEAR(PeakMemory(model, setup).activations, whole.activations / 8, 1);
  EXPECT_EQ(PeakMemory(model, setup).weights, whole.weights);
  setup.context_parallel = 1;
  setup.pipeline_parallel = 8;
  // The first stage has an eighth of the layers, of eight micro-batches.
  EXPECT_NEAR(PeakMemory(model, setup).activations, whole.activations, 1);
  EXPECT_LT(PeakMemory(model, setup).weights, 0.2 * whole.weights);
}

TEST(PeakMemory, OfAnOffloadedOptimizerHasNoStatesNorGradientsOfDeepSpeed) {
  TrainingSetup setup;
  setup.deepspeed = true;
  setup.zero_stage = 2;
  setup.offload = Offload::kOptimizer;
  setup.accumulates = true;
  const MemoryParts parts = PeakMemory(Shape("llama-3.2-1b"), setup);
  EXPECT_EQ(parts.optimizer, 0);
  EXPECT_EQ(parts.gradients, 0);
}

// modelscope/ms-swift, Benchmark: LoRA of Qwen-7B over news of 3234 ± 2547 tokens, cut at 2048. One
// sample reserved 27.7 GiB, two 43.1.
// FSDP holds checkpoints and their gradients for its hooks, if checkpointing is reentrant.
TEST(PeakMemory, OfAdaptersUnderFsdpHoldsAllCheckpoints) {
  TrainingSetup setup = Lora(4096);
  setup.gpus = 2;
  setup.zero_stage = 3;
  setup.use_liger_kernel = true;
  const auto peak = [&](int64_t batch, bool reentrant) {
    setup.micro_batch = batch;
    setup.reentrant = reentrant;
    return PeakMemory(Shape("llama-3.1-8b"), setup);
  };
  const double held = 2.0 * 32 * 2 * 4096 * 4096;  // of a sample: copies × layers × bytes × h × T
  EXPECT_NEAR(peak(16, true).activations - peak(8, true).activations, 8 * held, 1);
  EXPECT_GT(peak(16, true).total(), peak(16, false).total());
  setup.deepspeed = true;
  EXPECT_EQ(peak(16, true).total(), peak(16, false).total());
}

// Params4bit.quant_state is no parameter, so each GPU has all of it.
TEST(PeakMemory, OfFourBitWeightsHasAllScalesOnEachGpu) {
  TrainingSetup setup = Lora(512);
  setup.method = Method::kQlora;
  setup.gpus = 8;
  setup.zero_stage = 3;
  const double linear = Shape("llama-2-70b").layers.Parameters();
  const double once = PeakMemory(Shape("llama-2-70b"), setup).weights;
  EXPECT_GT(once, linear * (0.5 / 8 + 4.0 / 64));
  setup.double_quantized = true;
  const double twice = PeakMemory(Shape("llama-2-70b"), setup).weights;
  EXPECT_NEAR(once - twice, linear * (4.0 / 64 - 1.0 / 64 - 4.0 / (64 * 256)), 1e6);
  setup.offload = Offload::kAll;
  EXPECT_GT(PeakMemory(Shape("llama-2-70b"), setup).weights, linear / 64);
}

// FlatParameter._saved_grad_shard is freed only after the whole backward pass.
TEST(PeakMemory, OfOffloadedFsdpHasTheGradientsOfAllLayers) {
  TrainingSetup setup;
  setup.gpus = 2;
  setup.zero_stage = 3;
  setup.offload = Offload::kAll;
  setup.checkpointing = Checkpointing::kFull;
  const ModelShape& llama = Shape("llama-2-7b");
  EXPECT_NEAR(PeakMemory(llama, setup).gradients, 4 * llama.Parameters() / 2, 1e6);
  setup.deepspeed = true;
  EXPECT_EQ(PeakMemory(llama, setup).gradients, 0);
}

// A pipeline works on several micro-batches at once, so each sample counts at its first stage.
TEST(PeakMemory, OfAPipelineGrowsWithTheMicroBatch) {
  TrainingSetup setup;
  setup.precision = Precision::kFp16;
  setup.gpus = 64;
  setup.tensor_parallel = 4;
  setup.pipeline_parallel = 16;
  setup.checkpointing = Checkpointing::kFull;
  setup.seq_length = 2048;
  setup.software_year = 2022;
  double before = 0;
  for (const int64_t batch : {4, 6, 8}) {
    setup.micro_batch = batch;
    const double peak = PeakMemory(Shape("llama-65b"), setup).total();
    EXPECT_GT(peak, 1.03 * before) << batch;
    before = peak;
  }
}

// peft/utils/other.py, prepare_model_for_kbit_training: embeddings, LM head and norms in fp32.
TEST(PeakMemory, OfAPreparedModelHasTablesInFp32) {
  TrainingSetup setup = Lora(2048);
  setup.method = Method::kQlora;
  const ModelShape& mistral = Shape("mistral-7b");
  const double without = PeakMemory(mistral, setup).weights;
  setup.kbit_prepared = true;
  EXPECT_NEAR(PeakMemory(mistral, setup).weights - without, 2.0 * 2 * 32000 * 4096, 2e6);
}

// Autocast does not keep copies of frozen weights, but each product keeps its own.
TEST(PeakMemory, OfAFrozenBaseInFp32HasCopiesInHalfPrecision) {
  TrainingSetup setup = Lora(512);
  setup.checkpointing = Checkpointing::kNone;
  const ModelShape& llama = Shape("llama-2-7b");
  const double half = PeakMemory(llama, setup).weights;
  setup.base_weights = BaseWeights::kFp32;
  const double full = PeakMemory(llama, setup).weights;
  EXPECT_NEAR(full - half, 4 * llama.layers.Parameters() + 2 * llama.EmbeddingParameters(), 1e7);
}

// "8 B in bf16 throughout with AdamW on 80 GB": ran in three sources.
TEST(PeakMemory, OfAnOptimizerStepFragmentsLittle) {
  TrainingSetup setup;
  setup.pure_half = true;
  setup.checkpointing = Checkpointing::kFull;
  setup.seq_length = 4096;
  const MemoryParts parts = PeakMemory(Shape("llama-3.1-8b"), setup);
  EXPECT_TRUE(parts.in_step);
  EXPECT_LT(parts.total(), UsableBytes(*ShippedGpus().catalogue().Resolve("a100-80gb")));
}

TEST(HighestBytes, ContainsWhatVaryingLengthsReserve) {
  TrainingSetup setup = Lora(2048);
  const auto highest = [&] {
    return HighestBytes(PeakMemory(Shape("qwen-7b"), setup), setup) / kGib;
  };
  EXPECT_EQ(highest(), PeakGib("qwen-7b", setup));  // of one length
  setup.mean_seq_length = 1730;
  EXPECT_LT(PeakGib("qwen-7b", setup), 27.7);
  EXPECT_GT(highest(), 27.7);
  setup.micro_batch = 2;
  EXPECT_LT(PeakGib("qwen-7b", setup), 43.1);
  EXPECT_GT(highest(), 43.1);
}

TEST(PeakMemory, AdaptersInAVisionTowerKeepItsActivations) {
  ModelShape shape = Shape("qwen2.5-vl-3b");
  TrainingSetup setup = Lora(1024);
  setup.images = 1;
  setup.checkpointing = Checkpointing::kNone;
  const auto peak = [&](std::optional<bool> frozen) {
    shape.vision->frozen = frozen;
    return PeakMemory(shape, setup).total();
  };
  EXPECT_EQ(peak({}), peak(true));
  EXPECT_GT(peak(false), 1.05 * peak(true));
  setup.method = Method::kFull;
  EXPECT_EQ(peak({}), peak(false));
  EXPECT_GT(peak(false), peak(true));
}

TEST(LargestMicroBatch, KeepsTheUpperEndBelowWhatIsAskedFor) {
  TrainingSetup setup = Lora(2048);
  setup.mean_seq_length = 700;
  const double bytes = 40 * kGib;
  const int64_t wide = LargestMicroBatch(Shape("qwen-7b"), setup, bytes);
  const int64_t narrow = LargestMicroBatch(Shape("qwen-7b"), setup, bytes, bytes);
  EXPECT_LT(narrow, wide);
  setup.micro_batch = narrow;
  EXPECT_LE(HighestBytes(PeakMemory(Shape("qwen-7b"), setup), setup), bytes);
}

TEST(UsableBytes, IsWhatPyTorchSeesOfACard) {
  const auto gib = [](const char* name) {
    return UsableBytes(*ShippedGpus().catalogue().Resolve(name)) / kGib;
  };
  EXPECT_NEAR(gib("l40s"), 44.42, 0.01);
  EXPECT_NEAR(gib("t4"), 14.75, 0.01);
  EXPECT_NEAR(gib("rtx4090"), 23.64, 0.01);
  EXPECT_LT(gib("rtx2080ti"), 10.75);  // nobody has read it: not above what there is
  EXPECT_GT(gib("rtx2080ti"), 10.5);
}

TEST(SetupFrom, AttentionBeforePyTorch2IsEager) {
  TrainingSpec training;
  EXPECT_TRUE(SetupFrom(training, Precision::kFp16, 1).flash_attention);
  training.software_year = 2022.5;
  EXPECT_FALSE(SetupFrom(training, Precision::kFp16, 1).flash_attention);
  training.attn_implementation = Attention::kFlashAttention2;
  EXPECT_TRUE(SetupFrom(training, Precision::kFp16, 1).flash_attention);
}

TEST(StepTraffic, OfPyTorchsAdamWIsThatOfItsKernels) {
  TrainingSetup setup;
  EXPECT_EQ(StepTrafficBytes(setup), 80);
  setup.optim = "adamw_torch_fused";
  EXPECT_EQ(StepTrafficBytes(setup), 28);
  setup.pure_half = true;
  EXPECT_EQ(StepTrafficBytes(setup), 14);
  setup.optim = "adamw_torch";
  EXPECT_EQ(StepTrafficBytes(setup), 40);
}

TEST(SetupFrom, AccumulatesWhereAStepTakesSeveralMicroBatches) {
  TrainingSpec training;
  EXPECT_FALSE(SetupFrom(training, Precision::kBf16, 4).accumulates);
  training.effective_batch_size = BatchRange{32, 32};
  training.micro_batch = 8;
  EXPECT_FALSE(SetupFrom(training, Precision::kBf16, 4).accumulates);
  EXPECT_TRUE(SetupFrom(training, Precision::kBf16, 2).accumulates);
  training.tensor_parallel_size = 4;
  EXPECT_TRUE(SetupFrom(training, Precision::kBf16, 4).accumulates);
}

TrainingSetup DrawSetup() {
  const auto draw = [](int low, int high) { return *rc::gen::inRange(low, high + 1); };
  TrainingSetup setup;
  setup.precision = draw(0, 2) == 0 ? Precision::kFp32 : Precision::kBf16;
  setup.checkpointing = static_cast<Checkpointing>(draw(0, 2));
  setup.micro_batch = draw(1, 64);
  setup.seq_length = draw(1, 8192);
  setup.gpus = draw(1, 8);
  setup.method = static_cast<Method>(draw(0, 3));
  setup.zero_stage = draw(0, 3);
  setup.deepspeed = setup.zero_stage > 0;
  setup.flash_attention = draw(0, 1) == 0;
  return setup;
}

const ModelShape& DrawModel() {
  static const char* const kNames[] = {"llama-3.2-1b", "t5-base", "bert-large", "qwen2.5-vl-3b",
                                       "gpt2"};
  return Shape(kNames[*rc::gen::inRange(0, 5)]);
}

RC_GTEST_PROP(PeakMemory, GrowsWithBatchAndLength, ()) {
  const ModelShape& model = DrawModel();
  TrainingSetup setup = DrawSetup();
  const double before = PeakMemory(model, setup).total();
  setup.micro_batch += 1;
  const double larger = PeakMemory(model, setup).total();
  setup.seq_length += 16;
  RC_ASSERT(before <= larger && larger <= PeakMemory(model, setup).total());
  RC_ASSERT(before > 0 && std::isfinite(before));
}

RC_GTEST_PROP(PeakMemory, IsNoHigherWithWhatSaves, ()) {
  const ModelShape& model = DrawModel();
  TrainingSetup setup = DrawSetup();
  const double before = PeakMemory(model, setup).total();
  TrainingSetup chunked = setup;
  chunked.chunked_cross_entropy = true;
  RC_ASSERT(PeakMemory(model, chunked).total() <= before);
  TrainingSetup eight = setup;
  eight.optim = "adamw_8bit";
  RC_ASSERT(PeakMemory(model, eight).total() <= before);
  if (setup.method == Method::kLora) {
    const double weights = PeakMemory(model, setup).weights;
    setup.method = Method::kQlora;
    RC_ASSERT(PeakMemory(model, setup).weights <= weights);
  }
}

RC_GTEST_PROP(LargestMicroBatch, IsTheLastThatFits, ()) {
  const ModelShape& model = DrawModel();
  TrainingSetup setup = DrawSetup();
  const double bytes = *rc::gen::inRange(1, 100) * 1e9;
  const int64_t largest = LargestMicroBatch(model, setup, bytes);
  if (largest > 0) {
    setup.micro_batch = largest;
    RC_ASSERT(PeakMemory(model, setup).total() <= bytes);
  }
  setup.micro_batch = largest + 1;
  RC_ASSERT(largest == kMaxModelledBatch || PeakMemory(model, setup).total() > bytes);
}

}  // namespace
}  // namespace gpuadvise
