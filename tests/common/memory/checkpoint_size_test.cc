#include "common/memory/checkpoint_size.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise {
namespace {

using nlohmann::json;

// Llama 2 7B.
json Llama() {
  return {{"hidden_size", 4096},
          {"num_hidden_layers", 32},
          {"num_attention_heads", 32},
          {"intermediate_size", 11008},
          {"vocab_size", 32000}};
}

std::optional<CheckpointSize> SizeOf(const json& model, json training) {
  training["max_steps"] = 10;
  const auto spec = ParseTrainSpec({{"model", model}, {"training", training}}, "");
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().message);
  return ComputeCheckpointSize(spec->stages.front(), nullptr, Precision::kBf16);
}

double Gb(const json& model, const json& training) {
  const auto size = SizeOf(model, training);
  return size ? static_cast<double>(size->bytes) / 1e9 : 0;
}

TEST(CheckpointSize, OfAFullFineTuningHasWeightsAndAdamsStates) {
  EXPECT_NEAR(Gb(Llama(), json::object()), 6.74 * 12, 0.2);
}

TEST(CheckpointSize, OfDeepSpeedHasHalfWeightsAndMasters) {
  EXPECT_NEAR(Gb(Llama(), {{"deepspeed", 2}}), 13.5 + 81, 0.5);
}

TEST(CheckpointSize, FollowsTheOptimizer) {
  EXPECT_NEAR(Gb(Llama(), {{"optim", "adafactor"}}), 6.74 * 4, 0.3);
  EXPECT_NEAR(Gb(Llama(), {{"optim", "adamw_8bit"}}), 6.74 * 6, 0.2);
  EXPECT_NEAR(Gb(Llama(), {{"optim", "paged_adamw_8bit"}}), 6.74 * 6, 0.2);
  EXPECT_NEAR(Gb(Llama(), {{"pure_bf16", true}}), 6.74 * 6, 0.2);
}

TEST(CheckpointSize, OfLoraHasTheAdaptersAlone) {
  // r × (in + out) of seven matrices in 32 layers is 40 M parameters at rank 16.
  EXPECT_NEAR(Gb(Llama(), {{"method", "lora"}, {"lora", {{"r", 16}}}}), 0.04 * 12, 0.01);
}

TEST(CheckpointSize, IsCountedFromParametersAlone) {
  EXPECT_NEAR(Gb({{"params", 2e9}}, json::object()), 24, 0.001);
  EXPECT_FALSE(SizeOf({{"params", 2e9}}, {{"method", "lora"}}));
}

TEST(CheckpointSize, IsNotKnownFromALineOfMemory) {
  EXPECT_FALSE(
      SizeOf({{"memory", {{"base", "5 GB"}, {"per_sample", "1 GB"}, {"overhead", "2 GB"}}}},
             json::object()));
}

TEST(CheckpointSize, SaysWhatItRestsOn) {
  EXPECT_EQ(InWords(*SizeOf(Llama(), json::object())),
            "weights 4 and optimizer 8 bytes for each of 6.7 B parameters");
}

}  // namespace
}  // namespace gpuadvise
