#include "common/models/media_network.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/memory/media_work.h"
#include "common/models/media_blocks.h"
#include "common/spec/train_spec.h"
#include "common/time/step_time_model.h"
#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

const ModelShape& NetworkShape(const std::string& preset) {
  const ModelPreset* found = ShippedModels().Find(preset);
  EXPECT_NE(found, nullptr) << preset;
  return *found->shape;
}

// Parts that take memory and next to no time are no blocks: HunyuanDiT's skip connections and text
// pooling, SigLIP's pooling head.
double ToleranceOf(const std::string& preset) {
  if (preset == "hunyuan-dit") return 0.13;
  return preset == "siglip-base" ? 0.04 : 0.03;
}

// Published sizes are those of the network alone; a wrong channel or layer is off by more.
TEST(MediaNetwork, EveryShippedNetworkHasAsManyParametersAsWerePublished) {
  int networks = 0;
  for (const std::string& name : ShippedModels().Names()) {
    const ModelPreset& preset = *ShippedModels().Find(name);
    if (!preset.shape || !preset.shape->media) continue;
    ++networks;
    const double counted =
        preset.shape->Parameters() - static_cast<double>(preset.shape->other_params);
    EXPECT_NEAR(counted / preset.params, 1, ToleranceOf(name)) << name;
    EXPECT_NEAR(preset.shape->Parameters(), preset.params, 1) << name;
  }
  EXPECT_GE(networks, 45);
}

TrainingSetup SetupWith(Method method, Checkpointing checkpointing, int64_t batch) {
  TrainingSetup setup;
  setup.method = method;
  setup.checkpointing = checkpointing;
  setup.micro_batch = batch;
  return setup;
}

// 4.1 G multiplications with addition for ResNet-50, 17.6 for ViT-B/16, 4.5 for Swin-T and
// ConvNeXt-T (their papers); 339 G for Stable Diffusion's U-Net without attention's products.
TEST(MediaNetwork, AForwardPassHasThePublishedNumberOfOperations) {
  const auto forward = [](const std::string& preset) {
    const SampleWork work = CountMediaWork(NetworkShape(preset), TrainingSetup());
    return (work.matrix_operations + work.convolution_operations + work.attention_operations) / 2e9;
  };
  EXPECT_NEAR(forward("resnet50") / 4.1, 1, 0.03);
  EXPECT_NEAR(forward("vit-base") / 17.6, 1, 0.03);
  EXPECT_NEAR(forward("convnext-tiny") / 4.5, 1, 0.03);
  EXPECT_NEAR(forward("swin-tiny") / 4.5, 1, 0.05);
  EXPECT_NEAR(forward("efficientnet-b0") / 0.39, 1, 0.05);
}

TEST(MediaNetwork, OnlyWindowsPassMoreThanTheyKeep) {
  const auto passing_over_kept = [](const char* preset) {
    const SampleWork work = CountMediaWork(NetworkShape(preset), TrainingSetup());
    return (work.passing_bytes + work.convolution_passing_bytes) / work.kept_bytes;
  };
  EXPECT_NEAR(passing_over_kept("vit-base"), 1, 1e-9);
  EXPECT_NEAR(passing_over_kept("convnext-tiny"), 1, 1e-9);
  EXPECT_GT(passing_over_kept("swin-tiny"), 1.2);
}

TEST(MediaNetwork, APictureOfTwiceTheSideKeepsFourTimesAsMuch) {
  for (const std::string preset : {"sdxl", "resnet50", "convnext-base"}) {
    TrainingSetup setup;
    setup.media.size.resolution = 512;
    const double small = CountMediaWork(NetworkShape(preset), setup).kept_bytes;
    setup.media.size.resolution = 1024;
    EXPECT_NEAR(CountMediaWork(NetworkShape(preset), setup).kept_bytes / small, 4, 0.05) << preset;
  }
}

TEST(MediaNetwork, CheckpointingKeepsTheInputsOfBlocksAlone) {
  for (const std::string preset : {"sdxl", "flux.1-dev", "whisper-small", "convnext-base"}) {
    const ModelShape& shape = NetworkShape(preset);
    const TrainingSetup all = SetupWith(Method::kLora, Checkpointing::kNone, 1);
    const TrainingSetup inputs = SetupWith(Method::kLora, Checkpointing::kFull, 1);
    const double kept =
        CountMediaActivations(CountMediaWork(shape, all), all.checkpointing, 1).kept;
    EXPECT_LT(CountMediaActivations(CountMediaWork(shape, inputs), inputs.checkpointing, 1).kept,
              0.4 * kept)
        << preset;
  }
}

// SimpleTuner, documentation/experimental/SEGMENTED_CHECKPOINTING.md: LoRA of rank 16 in bf16, one
// picture of 512 × 512, peak allocated on an H100 without checkpointing and with it.
TEST(MediaNetwork, StableDiffusionTakesWhatWasMeasured) {
  const auto peak_gib = [](Checkpointing checkpointing) {
    TrainingSetup setup = SetupWith(Method::kLora, checkpointing, 1);
    setup.lora_rank = 16;
    setup.media.cache_latents = setup.media.cache_text_encoder_outputs = true;
    const MemoryParts parts = PeakMemory(NetworkShape("stable-diffusion-1.5"), setup);
    return (parts.total() - parts.framework) / (1 << 30);
  };
  EXPECT_NEAR(peak_gib(Checkpointing::kNone) / 2.87, 1, 0.1);
  EXPECT_NEAR(peak_gib(Checkpointing::kFull) / 1.98, 1, 0.1);
}

// finetrainers, examples/_legacy/training/README.md: four films of 49 frames at 480 × 720, LoRA of
// rank 64 on CogVideoX-5B, checkpointing, an A100 80GB.
TEST(MediaNetwork, AFilmTakesWhatWasMeasured) {
  TrainingSetup setup = SetupWith(Method::kLora, Checkpointing::kFull, 4);
  setup.lora_rank = 64;
  setup.media.cache_latents = setup.media.cache_text_encoder_outputs = true;
  setup.media.size = {588, 49, 0};
  const MemoryParts parts = PeakMemory(NetworkShape("cogvideox-5b"), setup);
  EXPECT_NEAR((parts.total() - parts.framework) / (1 << 30) / 47.8, 1, 0.1);
}

TEST(MediaNetwork, TextEncodersAndVaeAreHeldUnlessTheirWorkIsCached) {
  TrainingSetup setup = SetupWith(Method::kLora, Checkpointing::kFull, 1);
  const double held = PeakMemory(NetworkShape("flux.1-dev"), setup).weights;
  setup.media.cache_latents = setup.media.cache_text_encoder_outputs = true;
  EXPECT_NEAR(held - PeakMemory(NetworkShape("flux.1-dev"), setup).weights, 2 * (4.88e9 + 84e6),
              1e6);
}

TEST(MediaNetwork, AMovingAverageTakesFourBytesOfEachTrainedParameter) {
  TrainingSetup setup = SetupWith(Method::kFull, Checkpointing::kFull, 1);
  const double without = PeakMemory(NetworkShape("sdxl"), setup).total();
  setup.media.use_ema = true;
  EXPECT_GT(PeakMemory(NetworkShape("sdxl"), setup).total() - without, 4 * 2.56e9);
}

TEST(MediaNetwork, AFrozenFrontEndKeepsNothing) {
  ModelShape shape = NetworkShape("wav2vec2-base");
  const SampleWork frozen = CountMediaWork(shape, TrainingSetup());
  std::get<AudioEncoderShape>(shape.media->shape).frozen_front_end = false;
  const SampleWork trained = CountMediaWork(shape, TrainingSetup());
  // Ten seconds: 32,000 places of 512 channels behind the first of seven convolutions alone.
  EXPECT_GT(trained.kept_bytes - frozen.kept_bytes, 2.0 * 2 * 32'000 * 512);
  EXPECT_EQ(trained.frozen_parameters, 0);
  EXPECT_NEAR(frozen.frozen_parameters, 4.2e6, 0.1e6);
}

TEST(MediaNetwork, WhisperPadsEverySampleToThirtySeconds) {
  TrainingSetup setup;
  const double usual = CountMediaWork(NetworkShape("whisper-small"), setup).kept_bytes;
  setup.media.size.audio_seconds = 5;
  EXPECT_EQ(CountMediaWork(NetworkShape("whisper-small"), setup).kept_bytes, usual);
  EXPECT_LT(CountMediaWork(NetworkShape("hubert-base"), setup).kept_bytes,
            0.6 * CountMediaWork(NetworkShape("hubert-base"), TrainingSetup()).kept_bytes);
}

TEST(MediaNetwork, AdaptersAreOnAttentionUnlessTargetsSayMore) {
  TrainingSetup setup = SetupWith(Method::kLora, Checkpointing::kNone, 1);
  const double attention = TrainedParameters(NetworkShape("sd3.5-large"), setup);
  setup.target_modules = {"to_q", "to_v"};
  EXPECT_NEAR(TrainedParameters(NetworkShape("sd3.5-large"), setup), attention / 2, 1);
  setup.target_modules = {"all-linear"};
  EXPECT_GT(TrainedParameters(NetworkShape("sd3.5-large"), setup), 1.5 * attention);
}

// lambdal/deeplearning-benchmark: 905 pictures a second in mixed precision, NGC 22.09.
TEST(MediaNetwork, ResNetIsBoundByMemory) {
  TrainingSetup setup = SetupWith(Method::kFull, Checkpointing::kNone, 448);
  setup.optim = "sgd";
  setup.precision = Precision::kFp16;
  const GpuModel& gpu = *ShippedGpus().catalogue().Resolve("rtx3090");
  const StepSeconds step = ComputeStepSeconds(NetworkShape("resnet50"), setup, gpu, {});
  EXPECT_GT(step.traffic, 1.5 * step.compute);
  EXPECT_NEAR(448 / step.total() / 905, 1, 0.2);
}

Result<TrainSpec> SpecOf(const char* text) {
  return ParseTrainSpec(nlohmann::json::parse(text), "", RunLength::kOptional);
}

TEST(MediaNetwork, TheKeysOfASectionAreItsShape) {
  const auto spec = SpecOf(R"({"model": {"unet": {"block_out_channels": [320, 640, 1280, 1280],
      "transformer_layers_per_block": [1, 1, 1, 0], "resolution": 512,
      "text_encoder_params": 123e6, "vae_params": 84e6}},
      "training": {"resolution": 640, "cache_latents": true, "use_ema": true}})");
  ASSERT_TRUE(spec) << spec.error().message;
  const Stage& stage = spec->stages[0];
  EXPECT_EQ(stage.model.shape->media, NetworkShape("stable-diffusion-1.5").media);
  EXPECT_EQ(stage.training.media.size.resolution, 640);
  EXPECT_TRUE(stage.training.media.cache_latents && stage.training.media.use_ema);
  EXPECT_TRUE(AssumptionsOf(stage, *stage.model.shape).empty());
}

TEST(MediaNetwork, WhatWasNotSaidOfASampleIsSaidInTheAnswer) {
  const auto assumed = [](const char* preset, const char* training) {
    Stage stage;
    stage.training = SpecOf(training)->stages[0].training;
    return AssumptionsOf(stage, NetworkShape(preset));
  };
  const std::vector<std::string> sdxl = {"1024 × 1024 pixels a sample: give training.resolution"};
  EXPECT_EQ(assumed("sdxl", "{}"), sdxl);
  EXPECT_EQ(assumed("wan2.1-1.3b", "{}").size(), 2u);
  EXPECT_EQ(assumed("hubert-base", "{}")[0],
            "10 seconds of sound a sample: give training.audio_seconds");
  EXPECT_TRUE(assumed("sdxl", R"({"training": {"resolution": 768}})").empty());
  EXPECT_EQ(assumed("sdxl", R"({"training": {"resolution": 768, "method": "lora"}})").size(), 1u);
}

TEST(MediaNetwork, SizesOfPicturesSayThatTheyChangeNothingForAModelOfTexts) {
  Stage stage;
  stage.training =
      SpecOf(R"({"training": {"max_seq_length": 512, "resolution": 512}})")->stages[0].training;
  const std::vector<std::string> assumed = AssumptionsOf(stage, NetworkShape("llama-3.1-8b"));
  ASSERT_EQ(assumed.size(), 1u);
  EXPECT_NE(assumed[0].find("change nothing: this model has no unet"), std::string::npos);
  stage.training.media.size = {};
  EXPECT_TRUE(AssumptionsOf(stage, NetworkShape("llama-3.1-8b")).empty());
}

TEST(MediaNetwork, WhatASectionLacksIsNamed) {
  EXPECT_EQ(SpecOf(R"({"model": {"unet": {"in_channels": 4}}})").error().message,
            "unet needs block_out_channels, such as [320, 640, 1280] at least");
  EXPECT_EQ(SpecOf(R"({"model": {"dit": {"hidden_size": 64}}})").error().pointer, "/model/dit");
  EXPECT_EQ(
      SpecOf(R"({"model": {"dit": {"hidden_size": 64, "num_hidden_layers": 2},
                                 "unet": {"block_out_channels": [64]}}})")
          .error()
          .message,
      "a model has one of unet, dit, image_encoder, audio_encoder and convolutions: keep one");
}

}  // namespace
}  // namespace gpuadvise
