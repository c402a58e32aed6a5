#include "common/memory/activations.h"

#include <gtest/gtest.h>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

const ModelShape& Shape(const char* preset) { return *ShippedModels().Find(preset)->shape; }

TrainingSetup Half() {
  TrainingSetup setup;
  setup.pure_half = true;
  return setup;
}

TrainingSetup Lora(const char* target, double dropout) {
  TrainingSetup setup = Half();
  setup.method = Method::kLora;
  setup.lora_rank = 0;
  setup.target_modules = {target};
  setup.lora_dropout = dropout;
  return setup;
}

double Kept(const TransformerStack& stack, const TrainingSetup& setup) {
  return AutogradBytesOfLayer(stack, setup, {1024});
}

// Llama 2 7B, by hand: h = q = k = 4096, i = 11008. Two norms of 4 h + 2 h, their outputs of 2 h;
// q, k, v and attention's output; gate, its SiLU, up and their product.
TEST(Activations, OfALlamaLayerAreWhatAutogradKeeps) {
  const double h = 4096;
  const double i = 11008;
  const TransformerStack& llama = Shape("llama-2-7b").layers;
  EXPECT_EQ(Kept(llama, Half()), 2 * (6 * h + 2 * h) + 2 * 4 * h + 2 * 4 * i);
}

TEST(Activations, OfFrozenLinearLayersLeaveTheirInputsOut) {
  const TransformerStack& llama = Shape("llama-2-7b").layers;
  const double of_queries = Kept(llama, Lora("q_proj", 0));
  EXPECT_EQ(Kept(llama, Lora("down_proj", 0)) - of_queries, 2 * (11008 - 4096));
  EXPECT_LT(of_queries, Kept(llama, Half()));
}

TEST(Activations, OfAdaptersWithDropoutAreACopyAndAMaskForEach) {
  const TransformerStack& llama = Shape("llama-2-7b").layers;
  // The product of gate and up is kept in any case; dropout adds the mask.
  EXPECT_EQ(Kept(llama, Lora("down_proj", 0.05)) - Kept(llama, Lora("down_proj", 0)), 11008);
  TrainingSetup three = Lora("q_proj", 0.05);
  three.target_modules = {"q_proj", "k_proj", "v_proj"};
  EXPECT_EQ(Kept(llama, three) - Kept(llama, Lora("q_proj", 0.05)), 2 * 3 * 4096);
}

TEST(Activations, OfLigerAreOneCopyInNormsAndGateAndUpAlone) {
  const TransformerStack& llama = Shape("llama-2-7b").layers;
  TrainingSetup liger = Half();
  liger.use_liger_kernel = true;
  EXPECT_EQ(Kept(llama, Half()) - Kept(llama, liger), 2 * 4 * 4096 + 2 * 11008);
}

TEST(Activations, OfSharedKeysAreCopiedUnlessAttentionTakesThemShared) {
  const TransformerStack& llama = Shape("llama-3.1-8b").layers;  // 32 heads, 8 for keys
  TrainingSetup repeats = Half();
  repeats.repeats_key_values = true;
  EXPECT_EQ(Kept(llama, repeats) - Kept(llama, Half()), 2 * 2 * (4096 - 1024));
}

TEST(Activations, OfSelectiveCheckpointingAreEverySecondProductOfMatrices) {
  const TransformerStack& llama = Shape("llama-3.1-8b").layers;
  TrainingSetup setup;
  setup.checkpointing = Checkpointing::kSelective;
  const StackActivations kept = CountActivations(llama, setup, {1}, 1, 1, kMemoryConstants);
  EXPECT_EQ(kept.kept, 2 * (4096 + 4096 + 1024 + 4096 + 14336 + 4096));
  EXPECT_NEAR(kept.kept / Kept(llama, setup), 1.0 / 3, 0.03);
}

TEST(Activations, OnTheHostLeaveTwoLayersOnTheWay) {
  const TransformerStack& llama = Shape("llama-2-7b").layers;
  TrainingSetup setup;
  setup.checkpointing = Checkpointing::kFull;
  const double all = CountActivations(llama, setup, {512}, 1, 32, kMemoryConstants).kept;
  setup.activation_offload = true;
  EXPECT_EQ(CountActivations(llama, setup, {512}, 1, 32, kMemoryConstants).kept, all / 16);
}

TEST(Activations, OfAMixtureAreThoseOfTheExpertsATokenGoesThrough) {
  TransformerStack dense = Shape("llama-2-7b").layers;
  TransformerStack mixture = dense;
  mixture.num_experts = 64;
  mixture.num_experts_per_tok = 2;
  mixture.moe_intermediate_size = dense.intermediate_size;
  const double one = Kept(dense, Half());
  const double of_mixture = Kept(mixture, Half());
  // A second expert, both experts' copies of the hidden state in and out, and the router.
  EXPECT_EQ(of_mixture - one, 2 * 4 * 11008 + 2 * 2 * 2 * 4096 + 8 * 64);
  mixture.num_experts = 128;
  EXPECT_EQ(Kept(mixture, Half()) - of_mixture, 8 * 64);
  mixture.num_dense_layers = mixture.num_hidden_layers;
  EXPECT_EQ(Kept(mixture, Half()), one);
}

TEST(Logits, InChunksKeepScoresSoftmaxAndGradientFusedOnesAChunk) {
  const ModelShape& llama = Shape("llama-3.1-8b");
  TrainingSetup setup;
  const auto loss = [&] { return CountLossBytes(llama, setup, 1, kMemoryConstants); };
  const auto each = [&] { return loss().in_use / 128256; };
  EXPECT_EQ(each(), 12);
  EXPECT_EQ(loss().freed / 128256, 2);
  setup.compiled = true;
  EXPECT_EQ(each(), 4);
  EXPECT_EQ(loss().freed, 0);
  setup.precision = Precision::kFp32;
  EXPECT_EQ(each(), 8);
  setup.precision = Precision::kBf16;
  setup.trainer = Trainer::kDpo;  // compares scores outside the model
  EXPECT_EQ(each(), 12);
  setup.trainer = Trainer::kSft;
  setup.software_year = 2024.5;  // compiled models, but not the loss
  EXPECT_EQ(each(), 12);
  setup = {};
  setup.chunked_cross_entropy = true;
  EXPECT_EQ(each(), 6);
  setup.use_liger_kernel = true;
  EXPECT_LT(each(), 0.5);
  setup = Half();
  EXPECT_EQ(each(), 12);
  setup.upcast_logits = false;
  EXPECT_EQ(each(), 6);
  setup = {};
  setup.upcast_logits = false;  // autocast computes the loss in fp32 in any case
  EXPECT_EQ(each(), 12);
  EXPECT_EQ(loss().freed / 128256, 4);
}

// bitsandbytes 0.43.2 of July 2024 (pull 1270).
TEST(FourBitLayers, KeptTheirInputsUntilJuly2024) {
  const TransformerStack& llama = Shape("llama-2-7b").layers;
  TrainingSetup setup = Half();
  setup.method = Method::kQlora;
  setup.target_modules = {"q_proj", "v_proj"};
  const double today = AutogradBytesOfLayer(llama, setup, {2048});
  setup.software_year = 2024.2;
  EXPECT_NEAR(AutogradBytesOfLayer(llama, setup, {2048}) - today, 2 * (3 * 4096 + 11008), 1);
  setup.base_weights = BaseWeights::kGptq4;
  EXPECT_EQ(AutogradBytesOfLayer(llama, setup, {2048}), today);
}

// transformers/activations.py, NewGELUActivation: saved for the backward pass are 0.5 x, 1 +
// tanh(…) and tanh(…) beside x.
TEST(GeluNew, KeepsThreeMoreCopies) {
  TransformerStack gpt2 = Shape("gpt2").layers;
  ASSERT_TRUE(gpt2.gelu_new);
  const double composed = AutogradBytesOfLayer(gpt2, Half(), {1024});
  gpt2.gelu_new = false;
  EXPECT_NEAR(composed - AutogradBytesOfLayer(gpt2, Half(), {1024}), 3 * 2 * 3072, 1);
}

// liger_kernel/ops/swiglu.py: the backward pass writes into gate and up.
TEST(Liger, AddsOneGradientOfTheMlpsWidthToALayerAtWork) {
  const TransformerStack& llama = Shape("llama-3.2-1b").layers;
  TrainingSetup setup = Half();
  setup.use_liger_kernel = true;
  setup.checkpointing = Checkpointing::kFull;
  const double layer = AutogradBytesOfLayer(llama, setup, {1024}) * 1024;
  const double at_work = CountActivations(llama, setup, {1024}, 1, 16, kMemoryConstants).at_work;
  EXPECT_NEAR(at_work - layer, 2.0 * 8192 * 1024, 1);
}

// Transformers before 5 calls one expert after the other, so only one has gradients at a time.
TEST(Experts, WorkOneAfterTheOther) {
  const TransformerStack& mixtral = Shape("mixtral-8x7b").layers;
  TrainingSetup setup = Half();
  setup.checkpointing = Checkpointing::kFull;
  const double layer = AutogradBytesOfLayer(mixtral, setup, {1024}) * 1024;
  const auto at_work = [&] {
    return CountActivations(mixtral, setup, {1024}, 1, 32, kMemoryConstants).at_work;
  };
  EXPECT_GT(at_work(), 1.8 * layer);  // grouped products work on all
  setup.software_year = 2024;
  EXPECT_GT(at_work(), layer);
  EXPECT_LT(at_work(), 1.4 * layer);
}

// The decoder's own part is that of 128 tokens; keys and values of cross-attention and nothing else
// of it follow the 512 of the input.
TEST(Activations, OfADecoderFollowItsOwnLengthAndKeysThatOfItsInput) {
  const TransformerStack& t5 = Shape("t5-base").layers;
  const TrainingSetup setup = Half();
  const double alike = AutogradBytesOfLayer(t5, setup, {128, 128}) * 128;
  EXPECT_EQ(AutogradBytesOfLayer(t5, setup, {128}) * 128, alike);
  const double longer = AutogradBytesOfLayer(t5, setup, {128, 512}) * 128;
  const auto keys = static_cast<double>(t5.key_size());
  EXPECT_NEAR(longer - alike, 2 * 2 * keys * (512 - 128), 1);
}

TEST(Activations, ATargetIsTheDecodersRowOrFollowsTheInput) {
  TrainingSetup setup = Half();
  setup.seq_length = 512;
  setup.target_length = 128;
  EXPECT_EQ(InputTokens(Shape("t5-base"), setup), 512);
  EXPECT_EQ(RowOfLayers(Shape("t5-base"), setup, 512).tokens, 128);
  EXPECT_EQ(RowOfLayers(Shape("t5-base"), setup, 512).seen, 512);
  EXPECT_EQ(InputTokens(Shape("llama-2-7b"), setup), 512 + 128);
  EXPECT_EQ(RowOfLayers(Shape("llama-2-7b"), setup, 640).tokens, 640);
  setup.target_length = 0;
  EXPECT_EQ(RowOfLayers(Shape("t5-base"), setup, 512).tokens, 512);
}

}  // namespace
}  // namespace gpuadvise
