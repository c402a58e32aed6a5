#include "common/plan/tips.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/advise/strategy_tips.h"

namespace gpuadvise {
namespace {

using testing::HasSubstr;
using testing::Not;

struct World {
  GpuModel gpu;
  GpuPool pool;
  TrainSpec spec;
  std::vector<Strategy> strategies;

  World() {
    gpu.display_name = "Card";
    pool.model = &gpu;
    spec.stages.emplace_back();
    Strategy strategy;
    strategy.placement.pool = &pool;
    strategy.placement.cpus_per_node = 4;
    strategy.run.p50 = 3600;
    strategy.stages.emplace_back();
    strategy.stages[0].batch = {8, 1, 8};
    strategy.stages[0].work = {10000, 80000};
    strategies.push_back(strategy);
  }
  bool Says(const std::string& word) const {
    for (const std::string& tip : TipsFor(spec, strategies)) {
      if (tip.find(word) != std::string::npos) return true;
    }
    return false;
  }
};

TEST(Tips, LoaderWorkersFollowTheCpusOfTheGpu) {
  World world;
  EXPECT_TRUE(world.Says("dataloader_num_workers: 4"));
  world.spec.stages[0].training.dataloader_num_workers = 2;
  EXPECT_FALSE(world.Says("dataloader_num_workers"));
  world.spec.stages[0].training.dataloader_num_workers = 16;
  EXPECT_TRUE(world.Says("dataloader_num_workers: 4 instead of 16"));
}

TEST(Tips, UncheckedMemoryNamesItsRemedyOnce) {
  World world;
  EXPECT_FALSE(world.Says("memory is not checked"));
  world.strategies.push_back(world.strategies.front());
  for (Strategy& strategy : world.strategies) strategy.stages[0].memory_checked = false;
  const std::vector<std::string> tips = TipsFor(world.spec, world.strategies);
  EXPECT_EQ(std::count_if(tips.begin(), tips.end(),
                          [](const std::string& tip) {
                            return tip.find("gpuadvise probe train.yaml") != std::string::npos;
                          }),
            1);
}

TEST(Tips, CompilingPaysOnlyOnLongRuns) {
  World world;
  EXPECT_FALSE(world.Says("torch_compile"));
  world.strategies[0].run.p50 = 5 * 3600;
  EXPECT_TRUE(world.Says("torch_compile"));
  world.spec.stages[0].training.torch_compile = false;
  EXPECT_FALSE(world.Says("torch_compile"));
}

TEST(Tips, CheckpointsAreAddedUp) {
  World world;
  world.spec.output.checkpoint_bytes = 7'000'000'000;
  world.spec.output.save_steps = 2000;
  EXPECT_TRUE(world.Says("5 checkpoints take 35 GB"));
  world.spec.output.keep = 2;
  EXPECT_TRUE(world.Says("2 checkpoints take 14 GB"));
}

TEST(Tips, ASmallMicroBatchPointsAtCheckpointing) {
  World world;
  world.strategies[0].stages[0].batch = {1, 30, 120};
  EXPECT_TRUE(world.Says("gradient_checkpointing"));
  world.spec.stages[0].training.gradient_checkpointing = Checkpointing::kFull;
  EXPECT_FALSE(world.Says("gradient_checkpointing"));
}

TEST(Tips, AreAtMostThreeAndNoneWithoutAStrategy) {
  World world;
  world.spec.output.checkpoint_bytes = 7'000'000'000;
  world.spec.output.keep = 1;
  world.strategies[0].run.p50 = 5 * 3600;
  world.strategies[0].stages[0].batch = {1, 30, 120};
  EXPECT_EQ(TipsFor(world.spec, world.strategies).size(), 3u);
  EXPECT_TRUE(TipsFor(world.spec, {}).empty());
}

TEST(Tips, AdviceHasNoQuestionsAndSaysWhatIsReported) {
  World world;
  world.strategies[0].run.p50 = 5 * 3600;
  for (const std::string& tip : TipsFor(world.spec, world.strategies)) {
    EXPECT_THAT(tip, Not(HasSubstr("?")));
  }
  EXPECT_TRUE(world.Says("(reported: +30 to +40 % speed"));
}

TransformerStack Stack(int64_t hidden, int64_t layers) {
  TransformerStack stack;
  stack.hidden_size = hidden;
  stack.num_hidden_layers = layers;
  stack.num_attention_heads = stack.num_key_value_heads = hidden / 128;
  stack.head_dim = 128;
  stack.intermediate_size = 4 * hidden;
  return stack;
}

// A language model of 1.3 B parameters on one A100; tests change what they are about.
struct Training {
  TrainSpec spec;
  Stage stage;
  GpuModel gpu;
  ModelShape shape;
  TipContext at{.spec = spec, .stage = stage, .gpu = gpu};

  Training() {
    gpu.display_name = "A100";
    gpu.compute_capability = 8.0;
    gpu.memory_gb = 40;
    gpu.bf16 = true;
    gpu.link = GpuLink::kNvlink;
    shape.layers = Stack(2048, 24);
    shape.vocab_size = 32000;
    at.shape = &shape;
    at.fp16_is_safe = true;
    at.precision = Precision::kBf16;
    at.micro_batch = 8;
    at.accumulation = 2;
    at.setup.emplace();
    at.setup->micro_batch = 8;
    at.setup->seq_length = 1024;
  }
  void RunsOutOfMemory() {
    at.memory_is_short = true;
    at.micro_batch = at.accumulation = std::nullopt;
    at.setup->micro_batch = 1;
    at.setup->seq_length = 8192;
    at.setup->gpus = at.gpus();
  }
  void IsOnTuring() {
    gpu.compute_capability = 7.5;
    gpu.bf16 = false;
    gpu.link = GpuLink::kPcieNoP2p;
    at.precision = Precision::kFp16;
  }
  Tip Of(const std::string& name) const {
    for (const Tip& tip : AllTips(at)) {
      if (tip.name == name) return tip;
    }
    ADD_FAILURE() << "no tip is called " << name;
    return {};
  }
  bool Applies(const std::string& name) const { return Of(name).applies; }
  std::string WhyNot(const std::string& name) const { return Of(name).why_not; }
};

TEST(Tips, EachAppliesOrSaysWhyNot) {
  Training training;
  const std::vector<Tip> tips = AllTips(training.at);
  EXPECT_GE(tips.size(), 20u);
  for (const Tip& tip : tips) {
    EXPECT_NE(tip.applies, !tip.why_not.empty()) << tip.name;
    EXPECT_FALSE(tip.text.empty()) << tip.name;
    EXPECT_EQ(tip.effect.empty(), tip.source_of_effect.empty()) << tip.name;
  }
}

TEST(Tips, ThoseThatApplyComeFirstTheMostWorthyAtTheTop) {
  Training training;
  training.RunsOutOfMemory();
  const std::vector<Tip> tips = AllTips(training.at);
  EXPECT_EQ(tips.front().name, "gradient_checkpointing");
  EXPECT_TRUE(std::is_sorted(tips.begin(), tips.end(), [](const Tip& a, const Tip& b) {
    return a.applies != b.applies ? a.applies : a.worth > b.worth;
  }));
}

TEST(Tips, NamesAreUnique) {
  std::vector<std::string> names;
  for (const Tip& tip : AllTips(Training().at)) names.push_back(tip.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Tips, Fp32IsLeftForBf16WhereTheGpuHasItElseForFp16) {
  Training training;
  EXPECT_THAT(training.WhyNot("half_precision"), HasSubstr("already in use"));
  training.at.precision = Precision::kFp32;
  EXPECT_THAT(training.Of("half_precision").text, HasSubstr("bf16: true"));
  training.IsOnTuring();
  training.at.precision = Precision::kFp32;
  EXPECT_THAT(training.Of("half_precision").text, HasSubstr("fp16: true with a GradScaler"));
  training.gpu.compute_capability = 6.1;
  EXPECT_THAT(training.WhyNot("half_precision"), HasSubstr("no tensor cores"));
}

TEST(Tips, T5IsNeverSentToFp16) {
  Training training;
  training.IsOnTuring();
  training.at.fp16_is_safe = false;
  training.at.precision = Precision::kFp32;
  EXPECT_THAT(training.WhyNot("half_precision"), HasSubstr("overflows in fp16"));
  training.at.precision = Precision::kFp16;  // although the file says so
  EXPECT_THAT(training.Of("half_precision").text, HasSubstr("fp16: false"));
  training.gpu.bf16 = true;
  EXPECT_THAT(training.Of("half_precision").text, HasSubstr("bf16: true instead of fp16"));
}

TEST(Tips, AGradScalerIsForFp16Only) {
  Training training;
  EXPECT_THAT(training.WhyNot("grad_scaler"), HasSubstr("leave it out"));
  training.IsOnTuring();
  EXPECT_TRUE(training.Applies("grad_scaler"));
}

TEST(Tips, WhatSavesMemoryAppliesOnlyWhereItIsShort) {
  Training training;
  training.at.gpus_per_node = 4;
  const std::vector<std::string> names = {"gradient_checkpointing", "optimizer_8bit",
                                          "shorter_sequences", "zero_stage", "cpu_offload"};
  for (const std::string& name : names) EXPECT_FALSE(training.Applies(name)) << name;
  training.RunsOutOfMemory();
  for (const std::string& name : names) EXPECT_TRUE(training.Applies(name)) << name;
}

TEST(Tips, AFusedOptimizerIsForWholeModelsWithPyTorchsAdamW) {
  Training training;
  EXPECT_TRUE(training.Applies("optimizer_fused"));
  training.stage.training.optim = "adamw_torch_fused";
  EXPECT_FALSE(training.Applies("optimizer_fused"));
  training.stage.training.optim = "adamw_torch";
  training.stage.training.zero_stage = 2;
  EXPECT_THAT(training.WhyNot("optimizer_fused"), HasSubstr("DeepSpeed"));
}

TEST(Tips, SavedMemoryIsCountedWhereTheShapeIsKnown) {
  Training training;
  training.RunsOutOfMemory();
  EXPECT_THAT(training.Of("gradient_checkpointing").effect, HasSubstr("GiB as counted"));
  EXPECT_EQ(training.Of("optimizer_8bit").source_of_effect, "counted");
  training.at.shape = nullptr;
  EXPECT_THAT(training.Of("gradient_checkpointing").effect, Not(HasSubstr("GiB")));
}

TEST(Tips, CheckpointingDoesNotHelpWhereTheOptimizersStepIsThePeak) {
  Training training;
  training.RunsOutOfMemory();
  training.at.setup->seq_length = 512;
  EXPECT_THAT(training.WhyNot("gradient_checkpointing"), HasSubstr("optimizer's step"));
}

TEST(Tips, CheckpointingIsNotAskedForTwice) {
  Training training;
  training.RunsOutOfMemory();
  training.at.checkpointing = true;
  EXPECT_THAT(training.WhyNot("gradient_checkpointing"), HasSubstr("on already"));
}

TEST(Tips, AdaptersHaveSmallStates) {
  Training training;
  training.RunsOutOfMemory();
  training.stage.training.method = Method::kLora;
  EXPECT_THAT(training.WhyNot("optimizer_8bit"), HasSubstr("adapters"));
  EXPECT_THAT(training.WhyNot("cpu_offload"), HasSubstr("adapters"));
}

TEST(Tips, Zero3NeedsNvlink) {
  Training training;
  EXPECT_THAT(training.WhyNot("zero_stage"), HasSubstr("one GPU"));
  training.at.gpus_per_node = 4;
  training.RunsOutOfMemory();
  EXPECT_THAT(training.Of("zero_stage").text, HasSubstr("deepspeed: 3"));
  training.gpu.link = GpuLink::kPcieNoP2p;
  EXPECT_THAT(training.Of("zero_stage").text, HasSubstr("deepspeed: 2"));
  training.stage.training.zero_stage = 3;
  EXPECT_THAT(training.Of("zero_stage").text, HasSubstr("PCIe without peer-to-peer"));
}

TEST(Tips, NvlinkBridgesJoinTwoGpusOnly) {
  Training training;
  training.gpu.link = GpuLink::kNvlinkPairs;
  training.stage.training.zero_stage = 3;
  training.at.gpus_per_node = 2;
  EXPECT_FALSE(training.Applies("zero_stage"));
  training.at.gpus_per_node = 4;
  EXPECT_TRUE(training.Applies("zero_stage"));
}

TEST(Tips, FsdpIsForEightGpusWithNvlinkThatAreShortOfMemory) {
  Training training;
  training.RunsOutOfMemory();
  EXPECT_THAT(training.WhyNot("fsdp"), HasSubstr("from 8 GPUs on"));
  training.at.gpus_per_node = 8;
  EXPECT_TRUE(training.Applies("fsdp"));
  training.at.nodes = 2;
  EXPECT_THAT(training.WhyNot("fsdp"), HasSubstr("network between nodes"));
}

TEST(Tips, LoraRankFollowsTheCard) {
  Training training;
  EXPECT_THAT(training.WhyNot("lora_rank"), HasSubstr("whole model"));
  training.stage.training.method = Method::kLora;
  training.stage.training.lora.r = 16;
  EXPECT_FALSE(training.Applies("lora_rank"));
  training.gpu.memory_gb = 24;
  EXPECT_THAT(training.Of("lora_rank").text, HasSubstr("lora: {r: 8} instead of 16"));
  training.stage.training.lora.r = 4;
  EXPECT_THAT(training.Of("lora_rank").text, HasSubstr("learns poorly"));
}

TEST(Tips, CompilingSaysWhenTheRunTimeIsUnknownOrTheGpuIsTooOld) {
  Training training;
  EXPECT_THAT(training.WhyNot("torch_compile"), HasSubstr("the run time is not known"));
  training.at.run_seconds = 1800;
  EXPECT_THAT(training.WhyNot("torch_compile"), HasSubstr("takes 30 m"));
  training.at.run_seconds = 36000;
  EXPECT_TRUE(training.Applies("torch_compile"));
  training.gpu.compute_capability = 6.1;
  EXPECT_FALSE(training.Applies("torch_compile"));
}

TEST(Tips, CudnnBenchmarkDoesNothingForATransformer) {
  Training training;
  EXPECT_THAT(training.WhyNot("cudnn_benchmark"), HasSubstr("no convolutions"));
  training.at.shape = nullptr;
  EXPECT_THAT(training.Of("cudnn_benchmark").text, HasSubstr("convolutional model"));
  training.stage.training.max_seq_length = 512;
  EXPECT_FALSE(training.Applies("cudnn_benchmark"));
}

TEST(Tips, FlashAttention2NeedsAmpereAndReplacesEagerOnly) {
  Training training;
  EXPECT_THAT(training.WhyNot("flash_attention_2"), HasSubstr("sdpa"));
  training.stage.training.attn_implementation = Attention::kEager;
  training.at.setup->flash_attention = false;
  EXPECT_THAT(training.Of("flash_attention_2").effect, HasSubstr("GiB"));
  training.IsOnTuring();
  EXPECT_THAT(training.WhyNot("flash_attention_2"), HasSubstr("Ampere"));
}

TEST(Tips, WorkersWithoutKnownCpusAreFourToEight) {
  Training training;
  EXPECT_THAT(training.Of("dataloader_num_workers").text, HasSubstr("4 to 8"));
  training.stage.training.dataloader_num_workers = 0;
  EXPECT_THAT(training.WhyNot("prefetch_factor"), HasSubstr("is 0"));
}

TEST(Tips, AFeatureCacheNeedsAFrozenTowerAndSeveralEpochs) {
  Training training;
  EXPECT_THAT(training.WhyNot("feature_cache"), HasSubstr("no vision tower"));
  training.shape.vision = VisionTower{.layers = Stack(1280, 32), .tokens_per_image = 256};
  EXPECT_THAT(training.WhyNot("feature_cache"), HasSubstr("is trained"));
  training.shape.vision->frozen = true;
  EXPECT_THAT(training.Of("feature_cache").effect, HasSubstr("weights are"));
  training.stage.training.num_train_epochs = 1;
  EXPECT_THAT(training.WhyNot("feature_cache"), HasSubstr("once only"));
}

TEST(Tips, SlowLoadingIsACondition) {
  EXPECT_THAT(Training().Of("npz_or_mmap").text, HasSubstr("If the first step"));
  EXPECT_EQ(Training().Of("npz_or_mmap").worth, 0);
}

TEST(Tips, FiveCheckpointsAreKept) {
  Training training;
  training.at.steps = 10000;
  EXPECT_THAT(training.Of("save_interval").text, HasSubstr("save_steps: 2000 leaves five"));
  training.spec.output.save_steps = 500;
  EXPECT_THAT(training.Of("save_interval").text, HasSubstr("instead of 20"));
  training.spec.output.keep = 3;
  EXPECT_THAT(training.WhyNot("save_interval"), HasSubstr("leaves 3 checkpoints"));
}

TEST(Tips, SmallCheckpointsNeedNoScratch) {
  Training training;
  EXPECT_THAT(training.WhyNot("checkpoint_storage"), HasSubstr("the checkpoint size is not known"));
  training.spec.output.checkpoint_bytes = 250'000'000;
  training.spec.output.keep = 3;
  EXPECT_THAT(training.WhyNot("checkpoint_storage"), HasSubstr("3 checkpoints take 0.8 GB"));
}

TEST(Tips, BatchAndQualityIsARemarkOnEncoderDecodersAlone) {
  Training training;
  training.at.effective_batch = 64;
  EXPECT_FALSE(training.Applies("effective_batch_size"));
  training.shape.encoder = Stack(2048, 24);
  EXPECT_THAT(training.Of("effective_batch_size").text, HasSubstr("is 64"));
  EXPECT_EQ(training.Of("effective_batch_size").worth, 0);
  training.at.effective_batch = 16;
  EXPECT_FALSE(training.Applies("effective_batch_size"));
}

TEST(Tips, WhatHasRunHereNeedsNoTrial) {
  Training training;
  EXPECT_TRUE(training.Applies("try_first"));
  training.at.measured_here = true;
  EXPECT_FALSE(training.Applies("try_first"));
}

TEST(Tips, OneGpuCannotHangInNccl) {
  Training training;
  EXPECT_FALSE(training.Applies("hang"));
  training.at.gpus_per_node = 2;
  EXPECT_TRUE(training.Applies("hang"));
}

}  // namespace
}  // namespace gpuadvise
