#include "common/time/step_time_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

const GpuModel& Gpu(const char* name) { return *ShippedGpus().catalogue().Resolve(name); }
const ModelShape& Preset(const char* name) { return *ShippedModels().Find(name)->shape; }

TrainingSetup Full(int64_t micro_batch, int64_t seq_length, int64_t gpus = 1) {
  TrainingSetup setup;
  setup.micro_batch = micro_batch;
  setup.seq_length = seq_length;
  setup.gpus = gpus;
  return setup;
}

StepLayout OneNode(int64_t gpus, int64_t accumulation = 1) {
  StepLayout shape;
  shape.gpus_per_node = gpus;
  shape.accumulation = accumulation;
  return shape;
}

// --- against single published measurements (bench/accuracy scores all of them) ---

TEST(RuntimeModel, BertLargeOnAnA100IsWithinATenthOfWhatWasMeasured) {
  TrainingSetup setup = Full(112, 384);
  setup.precision = Precision::kFp16;
  setup.pure_half = true;
  setup.flash_attention = false;
  const double seconds =
      ComputeStepSeconds(Preset("bert-large"), setup, Gpu("a100-80gb-sxm"), OneNode(1)).total();
  EXPECT_NEAR(112 / seconds, 152, 15);  // lambdal/deeplearning-benchmark: 152 sequences a second
}

TEST(RuntimeModel, SevenBillionParametersOnEightH100AreWithinATenth) {
  TrainingSetup setup = Full(6, 2048, 8);
  setup.zero_stage = 3;
  const double seconds =
      ComputeStepSeconds(Preset("mpt-7b"), setup, Gpu("h100-80gb-sxm"), OneNode(8)).total();
  EXPECT_NEAR(6 * 2048 / seconds, 10'643, 1'064);  // mosaicml/llm-foundry: tokens/s of each
}

// --- physics ---

TEST(RuntimeModel, PartsAreNeverNegativeAndAddUp) {
  EXPECT_TRUE(rc::check([] {
    TrainingSetup setup =
        Full(*rc::gen::inRange(1, 64), *rc::gen::inRange(16, 4096), *rc::gen::element(1, 2, 4, 8));
    setup.method = *rc::gen::element(Method::kFull, Method::kLora, Method::kQlora);
    setup.zero_stage = *rc::gen::element(0, 2, 3);
    setup.precision = *rc::gen::element(Precision::kBf16, Precision::kFp32);
    StepLayout shape = OneNode(setup.gpus, *rc::gen::inRange(1, 9));
    shape.loader_seconds_per_sample = *rc::gen::element(0.0, 0.5);
    const auto& gpus = ShippedGpus().catalogue().models();
    const GpuModel& gpu = gpus[*rc::gen::inRange<size_t>(0, gpus.size())];
    const StepSeconds step = ComputeStepSeconds(Preset("llama-3.2-1b"), setup, gpu, shape);
    for (const double part : {step.compute, step.traffic, step.launches, step.communication,
                              step.optimizer, step.loader}) {
      RC_ASSERT(part >= 0);
    }
    RC_ASSERT(std::isfinite(step.total()) && step.total() > 0);
  }));
}

TEST(RuntimeModel, NoStepIsCountedFasterThanTheRoofline) {
  for (const std::string& name : ShippedModels().Names()) {
    const ModelPreset& preset = *ShippedModels().Find(name);
    if (!preset.shape) continue;
    for (const GpuModel& gpu : ShippedGpus().catalogue().models()) {
      for (const Precision precision : {Precision::kBf16, Precision::kFp32}) {
        TrainingSetup setup = Full(4, 512);
        setup.precision = precision;
        EXPECT_GE(ComputeStepSeconds(*preset.shape, setup, gpu, OneNode(1)).total(),
                  RooflineSeconds(*preset.shape, setup, gpu))
            << preset.name << " on " << gpu.id;
      }
    }
  }
}

TEST(RuntimeModel, ALargerMicroBatchIsNeverSlowerForEachSample) {
  double before = 1e9;
  for (int64_t batch = 1; batch <= 64; batch *= 2) {
    const double seconds =
        ComputeStepSeconds(Preset("llama-3.2-1b"), Full(batch, 256), Gpu("rtx4090"), OneNode(1))
            .total();
    EXPECT_LE(seconds / static_cast<double>(batch), before);
    before = seconds / static_cast<double>(batch);
  }
}

TEST(RuntimeModel, SmallBatchesWaitForTheHost) {
  const StepSeconds small =
      ComputeStepSeconds(Preset("llama-3.2-1b"), Full(1, 64), Gpu("h100-80gb-sxm"), OneNode(1));
  EXPECT_GT(small.launches, small.compute);
  TrainingSetup compiled = Full(1, 64);
  compiled.compiled = true;
  EXPECT_LT(ComputeStepSeconds(Preset("llama-3.2-1b"), compiled, Gpu("h100-80gb-sxm"), OneNode(1))
                .total(),
            small.total());
}

TEST(RuntimeModel, CheckpointingCostsAFifthToAThird) {
  TrainingSetup setup = Full(4, 2048);
  const double without =
      ComputeStepSeconds(Preset("llama-3.2-3b"), setup, Gpu("a100-80gb"), OneNode(1)).total();
  setup.checkpointing = Checkpointing::kFull;
  const double with =
      ComputeStepSeconds(Preset("llama-3.2-3b"), setup, Gpu("a100-80gb"), OneNode(1)).total();
  EXPECT_GT(with / without, 1.2);
  EXPECT_LT(with / without, 1.34);
}

// README of the measurements: a 7 B LoRA with FSDP on two A100 over PCIe at .8 of one GPU's speed.
TEST(RuntimeModel, MoreGpusCanBeSlower) {
  TrainingSetup one = Full(1, 512);
  one.method = Method::kLora;
  TrainingSetup two = one;
  two.gpus = 2;
  two.zero_stage = 3;
  const GpuModel& gpu = Gpu("rtx3090");
  const double alone = ComputeStepSeconds(Preset("llama-2-7b"), one, gpu, OneNode(1)).total();
  const double sharded = ComputeStepSeconds(Preset("llama-2-7b"), two, gpu, OneNode(2)).total();
  EXPECT_GT(sharded, 2 * alone);  // for twice the samples
}

TEST(RuntimeModel, ASlowNetworkCostsMoreThanAFastOne) {
  TrainingSetup setup = Full(4, 1024, 16);
  StepLayout shape = OneNode(8);
  shape.nodes = 2;
  const auto seconds = [&](double network) {
    shape.interconnect.network_gb_per_s = network;
    return ComputeStepSeconds(Preset("llama-3.2-3b"), setup, Gpu("h100-80gb-sxm"), shape).total();
  };
  EXPECT_GT(seconds(0), seconds(12.5));
  EXPECT_GT(seconds(12.5), seconds(200));
}

TEST(RuntimeModel, BridgesAreCountedOnOnlyWhereTheSiteSaysSo) {
  const GpuModel& gpu = Gpu("rtx-a6000");
  EXPECT_LT(LinkRate(gpu, 2, {}), 15);
  EXPECT_DOUBLE_EQ(LinkRate(gpu, 2, {45, 0}), 45);
  EXPECT_DOUBLE_EQ(LinkRate(Gpu("a100-80gb-sxm"), 8, {}), 240);
}

TEST(RuntimeModel, Fp32UsesTf32OnlyWhereItIsAllowedAndThere) {
  TrainingSetup setup = Full(8, 512);
  setup.precision = Precision::kFp32;
  const auto seconds = [&](const char* gpu) {
    return ComputeStepSeconds(Preset("bert-base"), setup, Gpu(gpu), OneNode(1)).total();
  };
  const double plain = seconds("a100-80gb");
  const double turing = seconds("rtx2080ti");
  setup.tf32 = true;
  EXPECT_LT(seconds("a100-80gb"), plain / 2);
  EXPECT_DOUBLE_EQ(seconds("rtx2080ti"), turing);
}

TEST(RuntimeModel, OffloadedStatesMakeTheStepSlower) {
  TrainingSetup setup = Full(1, 512);
  setup.deepspeed = true;
  setup.zero_stage = 3;
  const auto optimizer = [&] {
    return ComputeStepSeconds(Preset("llama-3.2-1b"), setup, Gpu("rtx4090"), OneNode(1)).optimizer;
  };
  const double on_gpu = optimizer();
  setup.offload = Offload::kOptimizer;
  EXPECT_GT(optimizer(), 5 * on_gpu);
}

TEST(RuntimeModel, TheGuidesCardsRankAsTheyDoInPractice) {
  const ModelShape model = GenericTransformer(2.2e9);
  const auto rate = [&](const char* gpu, Precision precision) {
    TrainingSetup setup = Full(8, 512);
    setup.precision = precision;
    return 8 / ComputeStepSeconds(model, setup, Gpu(gpu), OneNode(1)).total();
  };
  EXPECT_GT(rate("l40s", Precision::kBf16) / rate("rtx4090", Precision::kBf16), 1.0);
  EXPECT_LT(rate("l40s", Precision::kBf16) / rate("rtx4090", Precision::kBf16), 1.5);
  EXPECT_LT(rate("rtx2080ti", Precision::kFp16) / rate("rtx4090", Precision::kBf16), 0.4);
}

double SecondsOn(const char* gpu, const char* preset, const TrainingSetup& setup,
                 StepLayout layout) {
  return ComputeStepSeconds(Preset(preset), setup, Gpu(gpu), layout).total();
}

TEST(RuntimeModel, TheRooflineKnowsNoIdleProcessors) {
  const auto roofline = [](int64_t tokens) {
    return RooflineSeconds(Preset("llama-3.2-1b"), Full(1, tokens), Gpu("a100-80gb"));
  };
  EXPECT_NEAR(roofline(32) / roofline(16), 2, 0.01) << "however short the text";
}

TEST(RuntimeModel, AnOldContainerIsSlowerOnItsNewCardsOnly) {
  TrainingSetup setup = Full(8, 512);
  setup.precision = Precision::kFp16;
  setup.optim = "adamw_torch_fused";
  const auto ratio = [&](const char* gpu) {
    TrainingSetup old = setup;
    old.software_year = 2020.8;
    return SecondsOn(gpu, "llama-3.2-1b", old, OneNode(1)) /
           SecondsOn(gpu, "llama-3.2-1b", setup, OneNode(1));
  };
  EXPECT_NEAR(ratio("a100-80gb"), 1.2, 0.03);
  EXPECT_NEAR(ratio("gtx1080ti"), 1, 0.01) << "no tensor cores";
  const TrainingSetup today = setup;
  setup.software_year = 2024.8;
  EXPECT_NEAR(SecondsOn("a100-80gb", "llama-3.2-1b", setup, OneNode(1)),
              SecondsOn("a100-80gb", "llama-3.2-1b", today, OneNode(1)), 1e-9)
      << "since 2022 as today";
}

TEST(RuntimeModel, FourBitWeightsCostTimeForEachMicroBatchWhateverItsLength) {
  TrainingSetup half = Full(1, 256);
  half.method = Method::kLora;
  TrainingSetup nf4 = half;
  nf4.method = Method::kQlora;
  TrainingSetup gptq = nf4;
  gptq.base_weights = BaseWeights::kGptq4;
  const auto more = [&](TrainingSetup setup, int64_t tokens) {
    TrainingSetup plain = half;
    plain.seq_length = setup.seq_length = tokens;
    return SecondsOn("a100-80gb", "llama-2-7b", setup, OneNode(1)) -
           SecondsOn("a100-80gb", "llama-2-7b", plain, OneNode(1));
  };
  EXPECT_GT(more(nf4, 256), 0.05);
  EXPECT_NEAR(more(nf4, 4096), more(nf4, 256), 0.05);
  EXPECT_GT(more(gptq, 256), more(nf4, 256));
}

TEST(RuntimeModel, EightBitProductsAreFasterThanHalfPrecisionAndNotTwice) {
  TrainingSetup half = Full(2, 8192);
  TrainingSetup fp8 = half;
  fp8.fp8 = true;
  const double gain = SecondsOn("h100-80gb-sxm", "llama-3.1-8b", half, OneNode(1)) /
                      SecondsOn("h100-80gb-sxm", "llama-3.1-8b", fp8, OneNode(1));
  EXPECT_GT(gain, 1.1);
  EXPECT_LT(gain, 1.6);
}

TEST(RuntimeModel, APreferenceTrainingWorksOnTwoAnswersAndAsksItsReference) {
  const TrainingSetup supervised = Full(16, 2048);
  const auto times = [&](Trainer trainer) {
    TrainingSetup setup = supervised;
    setup.trainer = trainer;
    return SecondsOn("a100-80gb", "llama-3.2-3b", setup, OneNode(1)) /
           SecondsOn("a100-80gb", "llama-3.2-3b", supervised, OneNode(1));
  };
  EXPECT_NEAR(times(Trainer::kOrpo), 2, 0.1);
  EXPECT_GT(times(Trainer::kDpo), 2.4);
  EXPECT_LT(times(Trainer::kDpo), 2.8);
}

TEST(RuntimeModel, LayersSharedByTensorParallelismAreFasterOverNvlinkThanOverPcie) {
  TrainingSetup alone = Full(1, 4096);
  TrainingSetup shared = alone;
  shared.gpus = shared.tensor_parallel = 4;
  const auto ratio = [&](const char* gpu) {
    return SecondsOn(gpu, "llama-3.1-8b", shared, OneNode(4)) /
           SecondsOn(gpu, "llama-3.1-8b", alone, OneNode(1));
  };
  EXPECT_LT(ratio("h100-80gb-sxm"), 0.45);
  EXPECT_GT(ratio("h100-80gb-sxm"), 0.25) << "what is sent is not free";
  EXPECT_GT(ratio("l40s"), 1.5 * ratio("h100-80gb-sxm"));
}

TEST(RuntimeModel, APipelineIsIdleUntilItIsFull) {
  TrainingSetup setup = Full(1, 4096);
  setup.gpus = setup.pipeline_parallel = 4;
  setup.optim = "adamw_torch_fused";
  const auto seconds = [&](int64_t accumulation) {
    StepLayout layout = OneNode(4);
    layout.accumulation = accumulation;
    return SecondsOn("h100-80gb-sxm", "llama-3.1-8b", setup, layout) /
           static_cast<double>(accumulation);
  };
  EXPECT_NEAR(seconds(1) / seconds(64), 4.0 / (1 + 3.0 / 64), 0.4);
}

TEST(RuntimeModel, ShardsWithinANodeSpareASlowNetwork) {
  TrainingSetup setup = Full(1, 1024, 32);
  setup.zero_stage = 3;
  StepLayout layout = OneNode(8);
  layout.nodes = 4;
  layout.interconnect.network_gb_per_s = 3;
  const double all = SecondsOn("h100-80gb-sxm", "llama-3.1-8b", setup, layout);
  const double all_bytes = PeakMemory(Preset("llama-3.1-8b"), setup).total();
  setup.hybrid_shard = true;
  EXPECT_LT(SecondsOn("h100-80gb-sxm", "llama-3.1-8b", setup, layout), 0.6 * all);
  EXPECT_GT(PeakMemory(Preset("llama-3.1-8b"), setup).total(), all_bytes + 5e9);
}

TEST(RuntimeModel, TheMeanLengthIsWhatIsWorkedOn) {
  TrainingSetup longest = Full(8, 4096);
  TrainingSetup mean = longest;
  mean.mean_seq_length = 1024;
  EXPECT_NEAR(SecondsOn("a100-80gb", "llama-3.2-1b", mean, OneNode(1)),
              SecondsOn("a100-80gb", "llama-3.2-1b", Full(8, 1024), OneNode(1)), 1e-9);
}

TEST(RuntimeModel, AShortOutputTakesLessThanALongOneAndMoreThanItsEncoder) {
  TrainingSetup setup = Full(16, 512);
  const double equal = SecondsOn("l40s", "t5-base", setup, OneNode(1));
  setup.target_length = 512;
  EXPECT_EQ(SecondsOn("l40s", "t5-base", setup, OneNode(1)), equal);
  setup.target_length = 128;
  const double shorter = SecondsOn("l40s", "t5-base", setup, OneNode(1));
  EXPECT_LT(shorter, .75 * equal);
  EXPECT_GT(shorter, .4 * equal);
}

TEST(GenericTransformer, HasAboutTheParametersAskedFor) {
  for (const double parameters : {1e8, 1e9, 7e9, 7e10}) {
    EXPECT_NEAR(GenericTransformer(parameters).Parameters() / parameters, 1, 0.25) << parameters;
  }
}

}  // namespace
}  // namespace gpuadvise
