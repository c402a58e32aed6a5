#include "common/training/media_network.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/training/media_blocks.h"
#include "common/training/media_work.h"
#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

const ModelShape& ShapeOf(const std::string& preset) {
  const ModelPreset* found = ShippedModels().Find(preset);
  EXPECT_NE(found, nullptr) << preset;
  return *found->shape;
}

// Parts that take memory and next to no time are no blocks: the second attention of SD 3.5 medium's
// first layers, HunyuanDiT's skip connections and text pooling, SigLIP's pooling head.
double ToleranceOf(const std::string& preset) {
  if (preset == "sd3.5-medium" || preset == "hunyuan-dit") return 0.13;
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
    const SampleWork work = MediaWorkOf(ShapeOf(preset), TrainingSetup());
    return (work.matrix_operations + work.convolution_operations + work.attention_operations) / 2e9;
  };
  EXPECT_NEAR(forward("resnet50") / 4.1, 1, 0.03);
  EXPECT_NEAR(forward("vit-base") / 17.6, 1, 0.03);
  EXPECT_NEAR(forward("convnext-tiny") / 4.5, 1, 0.03);
  EXPECT_NEAR(forward("swin-tiny") / 4.5, 1, 0.05);
  EXPECT_NEAR(forward("efficientnet-b0") / 0.39, 1, 0.05);
}

TEST(MediaNetwork, APictureOfTwiceTheSideKeepsFourTimesAsMuch) {
  for (const std::string preset : {"sdxl", "resnet50", "convnext-base"}) {
    TrainingSetup setup;
    setup.media.size.resolution = 512;
    const double small = MediaWorkOf(ShapeOf(preset), setup).kept_bytes;
    setup.media.size.resolution = 1024;
    EXPECT_NEAR(MediaWorkOf(ShapeOf(preset), setup).kept_bytes / small, 4, 0.05) << preset;
  }
}

TEST(MediaNetwork, CheckpointingKeepsTheInputsOfBlocksAlone) {
  for (const std::string preset : {"sdxl", "flux.1-dev", "whisper-small", "convnext-base"}) {
    const ModelShape& shape = ShapeOf(preset);
    const TrainingSetup all = SetupWith(Method::kLora, Checkpointing::kNone, 1);
    const TrainingSetup inputs = SetupWith(Method::kLora, Checkpointing::kFull, 1);
    const double kept = MediaActivationsOf(MediaWorkOf(shape, all), all).kept;
    EXPECT_LT(MediaActivationsOf(MediaWorkOf(shape, inputs), inputs).kept, 0.4 * kept) << preset;
  }
}

}  // namespace
}  // namespace gpuadvise
