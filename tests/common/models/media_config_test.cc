#include "common/models/media_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

ModelShape ShapeFrom(const char* text) {
  std::vector<std::string> assumed;
  auto shape = ShapeFromConfig(json::parse(text), "/model/hf_config", assumed);
  EXPECT_TRUE(shape) << (shape ? "" : shape.error().message);
  return shape ? *shape : ModelShape();
}

double ParametersOf(const char* text) { return ShapeFrom(text).Parameters(); }

// Abridged from the models' folders on the Hub; sizes as published.
TEST(MediaConfig, DiffusersUNetsAreReadByTheirClass) {
  EXPECT_NEAR(ParametersOf(R"({"_class_name": "UNet2DConditionModel", "sample_size": 64,
      "block_out_channels": [320, 640, 1280, 1280], "layers_per_block": 2,
      "cross_attention_dim": 768, "attention_head_dim": 8,
      "down_block_types": ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D",
                           "CrossAttnDownBlock2D", "DownBlock2D"]})") /
                  859.5e6,
              1, 0.02);
  EXPECT_NEAR(ParametersOf(R"({"_class_name": "UNet2DConditionModel", "sample_size": 128,
      "block_out_channels": [320, 640, 1280], "transformer_layers_per_block": [1, 2, 10],
      "cross_attention_dim": 2048, "projection_class_embeddings_input_dim": 2816,
      "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D",
                           "CrossAttnDownBlock2D"]})") /
                  2567e6,
              1, 0.02);
}

TEST(MediaConfig, DiffusersTransformersAreReadByTheirClass) {
  EXPECT_NEAR(ParametersOf(R"({"_class_name": "FluxTransformer2DModel", "in_channels": 64,
      "num_layers": 19, "num_single_layers": 38, "num_attention_heads": 24,
      "attention_head_dim": 128, "joint_attention_dim": 4096, "patch_size": 1})") /
                  11.9e9,
              1, .03);
  EXPECT_NEAR(ParametersOf(R"({"_class_name": "SD3Transformer2DModel", "in_channels": 16,
      "num_layers": 24, "num_attention_heads": 24, "attention_head_dim": 64, "patch_size": 2,
      "joint_attention_dim": 4096, "qk_norm": "rms_norm",
      "dual_attention_layers": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]})") /
                  2243e6,
              1, .03);
  EXPECT_NEAR(ParametersOf(R"({"_class_name": "WanTransformer3DModel", "num_layers": 30,
      "num_attention_heads": 12, "attention_head_dim": 128, "ffn_dim": 8960, "text_dim": 4096,
      "patch_size": [1, 2, 2], "in_channels": 16})") /
                  1419e6,
              1, .03);
  EXPECT_NEAR(ParametersOf(R"({"_class_name": "CogVideoXTransformer3DModel", "num_layers": 42,
      "num_attention_heads": 48, "attention_head_dim": 64, "time_embed_dim": 512,
      "text_embed_dim": 4096, "patch_size": 2, "in_channels": 16})") /
                  5570e6,
              1, .03);
  EXPECT_NEAR(ParametersOf(R"({"_class_name": "ZImageTransformer2DModel", "dim": 3840,
      "n_layers": 30, "n_refiner_layers": 2, "n_heads": 30, "cap_feat_dim": 2560})") /
                  6155e6,
              1, .03);
}

TEST(MediaConfig, ConfigurationsOfTransformersGiveWhatThePresetHas) {
  const ModelShape whisper = ShapeFrom(R"({"model_type": "whisper", "d_model": 768,
      "encoder_layers": 12, "decoder_layers": 12, "encoder_attention_heads": 12,
      "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072,
      "num_mel_bins": 80, "vocab_size": 51865})");
  EXPECT_EQ(whisper.media, ShippedModels().Find("whisper-small")->shape->media);
  EXPECT_EQ(whisper.layers, ShippedModels().Find("whisper-small")->shape->layers);
  const ModelShape resnet = ShapeFrom(R"({"model_type": "resnet", "layer_type": "bottleneck",
      "embedding_size": 64, "hidden_sizes": [256, 512, 1024, 2048], "depths": [3, 4, 6, 3]})");
  EXPECT_EQ(resnet.media, ShippedModels().Find("resnet50")->shape->media);
  const ModelShape vit = ShapeFrom(R"({"model_type": "vit", "hidden_size": 768,
      "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
      "patch_size": 16, "image_size": 224})");
  EXPECT_EQ(vit.media, ShippedModels().Find("vit-base")->shape->media);
}

TEST(MediaConfig, AClassOfDiffusersThatIsNotCountedIsRefusedByItsName) {
  std::vector<std::string> assumed;
  const auto shape =
      ShapeFromConfig(json::parse(R"({"_class_name": "StableCascadeUNet"})"), "/c", assumed);
  ASSERT_FALSE(shape);
  EXPECT_NE(shape.error().message.find("'StableCascadeUNet' is not counted here"),
            std::string::npos)
      << shape.error().message;
}

TEST(MediaConfig, NumbersThatCannotBeAreNotTakenOver) {
  for (const char* text :
       {R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [-1]})",
        R"({"_class_name": "UNet2DConditionModel", "block_out_channels": "many"})",
        R"({"_class_name": "FluxTransformer2DModel", "num_layers": 1e300})",
        R"({"model_type": "resnet", "hidden_sizes": [1], "depths": []})",
        R"({"model_type": "whisper", "d_model": -4})"}) {
    std::vector<std::string> assumed;
    const auto shape = ShapeFromConfig(json::parse(text), "/c", assumed);
    EXPECT_TRUE(!shape || shape->Parameters() >= 0) << text;
  }
}

}  // namespace
}  // namespace gpuadvise
