#include "common/models/model_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/models/hf_config.h"
#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

Result<ModelShape> FromConfig(const char* text, std::vector<std::string>* assumed = nullptr) {
  std::vector<std::string> unused;
  return ShapeFromHfConfig(json::parse(text), "/model/hf_config", assumed ? *assumed : unused);
}

std::string RefusalOf(const char* text) {
  const json document = json::parse(text);
  DocumentErrors errors;
  KeyReader reader(FieldReader(document, "/model", &errors), "model");
  ReadModelShape(reader);
  return errors.failed() ? errors.AsResult().error().message : "";
}

constexpr const char* kLlama = R"({"model_type": "llama", "hidden_size": 4096,
  "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
  "intermediate_size": 14336, "vocab_size": 128256, "tie_word_embeddings": false})";

TEST(ModelShape, CountsTheParametersOfLlama) {
  const auto shape = FromConfig(kLlama);
  ASSERT_TRUE(shape);
  EXPECT_NEAR(static_cast<double>(shape->Parameters()), 8.03e9, 0.01e9);
  EXPECT_EQ(shape->layers, ShippedModels().Find("llama-3.1-8b")->shape->layers);
}

TEST(ModelShape, AT5HasTwoStacks) {
  const auto shape = FromConfig(R"({"model_type": "t5", "d_model": 768, "d_kv": 64, "d_ff": 3072,
    "num_layers": 12, "num_decoder_layers": 12, "num_heads": 12, "vocab_size": 32128,
    "feed_forward_proj": "relu"})");
  ASSERT_TRUE(shape);
  ASSERT_TRUE(shape->encoder);
  EXPECT_NEAR(static_cast<double>(shape->Parameters()), 0.223e9, 0.003e9);
}

TEST(ModelShape, AVisionTowerIsReadAndItsTokensAreAskedFor) {
  std::vector<std::string> assumed;
  const auto shape = FromConfig(R"({"model_type": "qwen2_5_vl", "hidden_size": 2048,
    "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 2,
    "intermediate_size": 11008, "vocab_size": 151936, "tie_word_embeddings": true,
    "vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16}})",
                                &assumed);
  ASSERT_TRUE(shape);
  ASSERT_TRUE(shape->vision);
  EXPECT_EQ(shape->vision->layers.num_hidden_layers, 32);
  ASSERT_EQ(assumed.size(), 1u);
  EXPECT_THAT(assumed[0], testing::HasSubstr("tokens_per_image"));
}

TEST(ModelShape, AnUnknownArchitectureSaysWhatItIsTakenFor) {
  std::vector<std::string> assumed;
  const auto shape = FromConfig(R"({"model_type": "frobnicator", "hidden_size": 64,
    "num_hidden_layers": 2, "num_attention_heads": 4})",
                                &assumed);
  ASSERT_TRUE(shape);
  ASSERT_EQ(assumed.size(), 1u);
  EXPECT_THAT(assumed[0], testing::HasSubstr("'frobnicator' is not known here: taken for"));
}

TransformerStack Experts(int64_t experts, int64_t active, int64_t dense_layers) {
  TransformerStack stack{.hidden_size = 64,
                         .num_hidden_layers = 4,
                         .num_attention_heads = 4,
                         .num_key_value_heads = 4,
                         .head_dim = 16,
                         .intermediate_size = 256};
  stack.num_experts = experts;
  stack.num_experts_per_tok = active;
  stack.moe_intermediate_size = 32;
  stack.shared_intermediate_size = 16;
  stack.num_dense_layers = dense_layers;
  return stack;
}

TEST(ModelShape, AMixtureHasAllItsExpertsAndATokenPassesAFew) {
  const double attention = 4 * 64 * 64;
  const auto mlp = [](double width) { return 3 * 64 * width; };
  const TransformerStack stack = Experts(8, 2, 1);
  const double dense = attention + mlp(256);
  const double router = 8 * 64;
  EXPECT_EQ(stack.LayerParameters(), attention + router + mlp(8 * 32 + 16));
  EXPECT_EQ(stack.Parameters(), dense + 3 * (attention + router + mlp(8 * 32 + 16)));
  EXPECT_EQ(stack.ActiveParameters(), dense + 3 * (attention + router + mlp(2 * 32 + 16)));
  EXPECT_EQ(stack.active_intermediate_size(), (256 + 3 * (2 * 32 + 16)) / 4);
  EXPECT_EQ(Experts(8, 2, 4).Parameters(), 4 * dense);
}

// In a large mixture the table is less than one per cent of the model.
TEST(ModelShape, ASmallSecondEmbeddingIsNotTakenForAMissingOne) {
  ModelShape shape;
  shape.layers = Experts(512, 2, 0);
  shape.vocab_size = 100;
  const double table = 100 * 64;
  const double all = shape.Parameters();
  ASSERT_LT(table, 0.01 * all);
  std::vector<std::string> assumed;
  MatchParameters(all + 100, shape, assumed);
  EXPECT_FALSE(shape.tie_word_embeddings);
  MatchParameters(all - table, shape, assumed);
  EXPECT_TRUE(shape.tie_word_embeddings);
}

TEST(ModelShape, LinearLayersAddUpToTheMatricesOfAStack) {
  TransformerStack latent = Experts(8, 2, 1);
  latent.kv_lora_rank = 24;
  latent.q_lora_rank = 40;
  latent.qk_rope_head_dim = 6;
  latent.v_head_dim = 12;
  for (const TransformerStack& stack : {Experts(8, 2, 1), Experts(0, 0, 0), latent}) {
    double sum = 64.0 * static_cast<double>(stack.num_experts * stack.expert_layers());  // routers
    for (const LinearLayer& linear : ListLinearLayers(stack)) {
      sum += static_cast<double>(linear.in * linear.out * linear.count);
    }
    EXPECT_EQ(sum, stack.Parameters());
  }
}

TEST(ModelShape, ContradictionsAreSentences) {
  EXPECT_THAT(
      RefusalOf(R"({"hidden_size": 100, "num_hidden_layers": 2, "num_attention_heads": 12})"),
      testing::HasSubstr("hidden_size 100 cannot be split over num_attention_heads 12"));
  EXPECT_THAT(RefusalOf(R"({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8,
                            "num_key_value_heads": 3})"),
              testing::HasSubstr("cannot share num_key_value_heads 3"));
  EXPECT_THAT(RefusalOf(R"({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8,
                            "num_experts": 4})"),
              testing::HasSubstr("num_experts 4 needs num_experts_per_tok from 1 to 4"));
  EXPECT_THAT(RefusalOf(R"({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8,
                            "num_experts": 4, "num_experts_per_tok": 1, "num_dense_layers": 3})"),
              testing::HasSubstr("num_dense_layers 3 are more than"));
  EXPECT_EQ(RefusalOf(R"({"hidden_size": 64})"), "");  // too little to count anything
  EXPECT_EQ(RefusalOf("{}"), "");
  for (const char* bad : {"7", "[]", "{}", R"({"model_type": 3, "hidden_size": "x"})",
                          R"({"hidden_size": -4, "num_hidden_layers": 1e300})"}) {
    EXPECT_FALSE(FromConfig(bad)) << bad;
  }
}

}  // namespace
}  // namespace gpuadvise
