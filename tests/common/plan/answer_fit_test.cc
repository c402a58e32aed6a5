#include "common/plan/answer_fit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr double kGib = 1 << 30;

Result<json> Ask(const char* spec_text, const std::vector<std::string>& gpus, int64_t in_all = 1,
                 std::optional<int64_t> micro_batch = {}) {
  const auto spec = ParseTrainSpec(json::parse(spec_text), "");
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().message);
  if (!spec) return tl::unexpected<Error>(spec.error());
  std::vector<const GpuModel*> models;
  for (const std::string& name : gpus) models.push_back(ShippedGpus().catalogue().Resolve(name));
  const auto answer =
      AnswerFit({*spec, ShippedModels(), ShippedGpus().catalogue(), models, in_all, micro_batch});
  if (!answer) return tl::unexpected<Error>(answer.error());
  return ToJson(*answer);
}

json Must(const Result<json>& answer) {
  EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
  return answer.value_or(json::object());
}

// The table of Isaac-GR00T's team guide comes from its own formula and margins.
TEST(AnswerFit, ALineGivesTheGuidesTable) {
  const json answer = Must(Ask(R"({"model": {"preset": "gr00t-n1-2b"},
    "training": {"max_steps": 10000, "effective_batch_size": [120, 144]}})",
                               {"rtx4090"}, 4));
  EXPECT_EQ(answer["max_micro_batch"]["conservative"], 6);
  EXPECT_EQ(answer["max_micro_batch"]["recommended"], 10);
  EXPECT_EQ(answer["max_micro_batch"]["aggressive"], 14);
  EXPECT_EQ(answer["effective_batch_size"], 120);
  EXPECT_EQ(answer["accumulation"], 3);
}

TEST(AnswerFit, BesideALineEvaluationAndInferenceComeFromTheShapeOrTheParameters) {
  const auto with = [](const char* model) {
    const std::string spec =
        fmt::format(R"({{"model": {}, "training": {{"max_steps": 1}}}})", model);
    return Must(Ask(spec.c_str(), {"rtx4090"}));
  };
  const json preset = with(R"({"preset": "mt5-1.2b"})");
  EXPECT_GT(preset["eval_micro_batch"], preset["max_micro_batch"]["recommended"]);
  EXPECT_GT(preset["inference_batch"], preset["max_micro_batch"]["recommended"]);
  EXPECT_THAT(preset["assumed"][0].get<std::string>(), HasSubstr("by the model's shape"));
  const json params = with(R"({"memory": {"base": "5 GB", "per_sample": "1 GB"}, "params": 1e9})");
  EXPECT_GT(params["inference_batch"], params["max_micro_batch"]["recommended"]);
  EXPECT_THAT(params["assumed"][0].get<std::string>(), HasSubstr("plain transformer"));
  const json line = with(R"({"memory": {"base": "5 GB", "per_sample": "1 GB"}})");
  EXPECT_FALSE(line.contains("inference_batch"));
  EXPECT_FALSE(line.contains("assumed"));
}

TEST(AnswerFit, TheLengthsBehindALineHardlyChangeTheShareOfInference) {
  const auto inference = [](int length) {
    const std::string spec = fmt::format(
        R"({{"model": {{"preset": "mt5-1.2b"}}, "training": {{"max_steps": 1, "max_seq_length": {}}}}})",
        length);
    return Must(Ask(spec.c_str(), {"a100-40gb"}))["inference_batch"].get<double>();
  };
  EXPECT_NEAR(inference(128) / inference(1024), 1, 0.2);
}

// The guide on Qwen2.5-VL: LoRA r = 8, two images of 1,000 tokens and more, with checkpointing: 14
// to 17 GB; two samples run on 24 GB and four ran out.
json Stage2(bool checkpointing, int64_t micro_batch) {
  json spec = json::parse(R"({"model": {"preset": "qwen2.5-vl-3b-vla"}, "training": {
    "max_steps": 100, "method": "lora", "lora": {"r": 8}, "max_seq_length": 256,
    "images_per_sample": 2, "effective_batch_size": 32}})");
  spec["training"]["gradient_checkpointing"] = checkpointing;
  return Must(Ask(spec.dump().c_str(), {"rtx4090"}, 1, micro_batch));
}

TEST(AnswerFit, Stage2TakesWhatTheGuideSaysAndFourRunOut) {
  const double one = Stage2(true, 1)["memory"]["total_bytes"].get<double>();
  EXPECT_GE(one, 14e9);
  EXPECT_LE(one, 17e9);
  EXPECT_EQ(Stage2(true, 2)["fits"], true);
  EXPECT_EQ(Stage2(true, 4)["fits"], false);
}

TEST(AnswerFit, PartsAddUpToTheTotal) {
  const json answer = Must(Ask(R"({"model": {"preset": "llama-3.2-1b"}, "training": {"max_steps": 1,
    "max_seq_length": 1024}})",
                               {"a100-80gb"}));
  const json& memory = answer["memory"];
  double sum = 0;
  for (const char* part :
       {"weights", "gradients", "optimizer", "activations", "logits", "workspace", "framework"}) {
    sum += memory[std::string(part) + "_bytes"].get<double>();
  }
  EXPECT_NEAR(sum, memory["total_bytes"].get<double>(), 8);
  EXPECT_EQ(answer["fits"], true);
  EXPECT_LE(memory["total_bytes"].get<double>(), 0.80 * 80 * kGib);
}

TEST(AnswerFit, WhatAGpuCannotDoIsSaid) {
  const json t5 =
      Must(Ask(R"({"model": {"preset": "t5-base"}, "training": {"max_steps": 1}})", {"rtx2080ti"}));
  EXPECT_EQ(t5["settings"]["precision"], "fp32");  // no bf16 there, and T5 overflows in fp16
  const json flash = Must(Ask(R"({"model": {"preset": "llama-3.2-1b"}, "training": {"max_steps": 1,
    "attn_implementation": "flash_attention_2"}})",
                              {"rtx2080ti"}));
  EXPECT_THAT(flash["notes"][0].get<std::string>(), HasSubstr("compute capability 8.0 (Ampere)"));
  const json fp8 = Must(Ask(R"({"model": {"preset": "llama-3.2-1b"}, "training": {"max_steps": 1},
    "requires": {"fp8": true}})",
                            {"a100-80gb"}));
  EXPECT_EQ(fp8["notes"][0], "fp8 needs compute capability 8.9 (Ada, Hopper), this GPU has 8.0");
}

TEST(AnswerFit, SaysHowRightSuchCountsAre) {
  const json answer =
      Must(Ask(R"({"model": {"preset": "gpt2"}, "training": {"max_steps": 1}})", {"l40s"}));
  ASSERT_EQ(answer["accuracy"].size(), 2);
  EXPECT_EQ(answer["accuracy"][0]["of"], "grade A");
  EXPECT_LT(answer["accuracy"][0]["median_error"], answer["accuracy"][0]["p90_error"]);
}

TEST(AnswerFit, AnOptimizerThatIsNotKnownIsSaidToBeCountedAsAdam) {
  const json answer = Must(Ask(R"({"model": {"preset": "llama-3.2-1b"}, "training":
    {"max_steps": 1, "optim": "mystery", "max_seq_length": 512}})",
                               {"l40s"}));
  EXPECT_THAT(answer["assumed"].dump(), HasSubstr("optim mystery is not known"));
}

TEST(AnswerFit, WhenNothingFitsItSaysWhatWouldMakeIt) {
  const json answer = Must(Ask(R"({"model": {"preset": "llama-2-7b"}, "training": {"max_steps": 1,
    "max_seq_length": 2048}})",
                               {"rtx4090"}));
  EXPECT_EQ(answer["fits"], false);
  // 13.5 GB of weights: gradients and states have to go, so checkpointing alone does not help.
  EXPECT_EQ(answer["would_fit_with"][0], "pure_bf16: true") << answer["would_fit_with"];
  EXPECT_THAT(answer["would_fit_with"].dump(), HasSubstr("lora"));
}

TEST(AnswerFit, WhatWouldMakeItFitNamesAKeyOnce) {
  const json answer = Must(Ask(R"({"model": {"preset": "llama-3.1-70b"}, "training":
    {"max_steps": 1, "max_seq_length": 8192}})",
                               {"l40s"}, 4));
  std::set<std::string> keys;
  for (const std::string change : answer["would_fit_with"]) {
    EXPECT_TRUE(keys.insert(change.substr(0, change.find(':'))).second) << answer["would_fit_with"];
  }
  EXPECT_TRUE(keys.contains("method")) << answer["would_fit_with"];
}

TEST(AnswerFit, DeepSpeedKeepsMastersWhateverTheWeightsWereLoadedIn) {
  const auto fit = [](const char* dtype, int stage) {
    const std::string spec = fmt::format(
        R"({{"model": {{"preset": "llama-3.2-1b"}}, "training": {{"max_steps": 1, "bf16": true,
            "max_seq_length": 512, "gradient_checkpointing": true, "torch_dtype": "{}"{}}}}})",
        dtype, stage > 0 ? fmt::format(", \"deepspeed\": {}", stage) : "");
    return Must(Ask(spec.c_str(), {"a100-80gb"}, 4, 1));
  };
  EXPECT_EQ(fit("bfloat16", 2)["memory"]["total_bytes"],
            fit("float32", 2)["memory"]["total_bytes"]);
  EXPECT_LT(fit("bfloat16", 0)["memory"]["total_bytes"],
            fit("float32", 0)["memory"]["total_bytes"]);
  EXPECT_THAT(fit("bfloat16", 2).dump(), HasSubstr("DeepSpeed keeps float32 ones"));
}

TEST(AnswerFit, MeasuredPeaksCorrectTheModel) {
  const char* measured = R"({"model": {"preset": "llama-3.2-1b"}, "training": {"max_steps": 1,
    "gradient_checkpointing": false, "measured": [{"gpu": "rtx4090", "batch": 1, "peak": "20 GiB"}]}})";
  const json answer = Must(Ask(measured, {"rtx4090"}, 1, 1));
  EXPECT_NEAR(answer["memory"]["total_bytes"].get<double>() / kGib, 20, 0.01);
  EXPECT_THAT(answer["memory"]["basis"].get<std::string>(), HasSubstr("measured"));
}

TEST(AnswerFit, NothingKnownOfTheModelIsASentence) {
  const auto answer = Ask(R"({"model": {}, "training": {"max_steps": 1}})", {"rtx4090"});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("the file does not describe the model"));
  EXPECT_EQ(answer.error().pointer, "/model");
  EXPECT_THAT(
      Ask(R"({"model": {"preset": "lama-2-7b"}, "training": {"max_steps": 1}})", {"rtx4090"})
          .error()
          .message,
      HasSubstr("llama-2-7b"));
}

double ParametersOf(const char* model) {
  const std::string spec = fmt::format(
      R"({{"model": {}, "training": {{"max_steps": 1, "max_seq_length": 1024}}}})", model);
  return Must(Ask(spec.c_str(), {"a100-80gb"}))["parameters"].get<double>();
}

TEST(AnswerFit, KeysOfTheShapeWinOverThePreset) {
  const double own = ParametersOf(R"({"preset": "qwen2.5-0.5b"})");
  EXPECT_NEAR(own, 0.494e9, 0.002e9);
  // The output embedding becomes a second table; the rest stays the preset's.
  EXPECT_NEAR(ParametersOf(R"({"preset": "qwen2.5-0.5b", "tie_word_embeddings": false})") - own,
              151936.0 * 896, 1e6);
  EXPECT_NEAR(ParametersOf(R"({"preset": "qwen2.5-0.5b", "num_hidden_layers": 12})"), 0.315e9,
              0.002e9);
  EXPECT_NEAR(ParametersOf(R"({"preset": "qwen2.5-0.5b", "vocab_size": 1000})"), 0.359e9, 0.002e9);
  const double tower = ParametersOf(R"({"preset": "qwen2.5-vl-3b"})");
  EXPECT_NEAR(ParametersOf(R"({"preset": "qwen2.5-vl-3b", "vision": {"num_hidden_layers": 1}})"),
              tower - 31 * (4 * 1280.0 * 1280 + 3 * 1280.0 * 3420), 1);
  EXPECT_NEAR(ParametersOf(R"({"preset": "llama-3.1-8b", "params": 9e9})"), 9e9, 1e6);
}

TEST(AnswerFit, WhatFollowsFromAKeyFollowsAnew) {
  // Heads of 64 become heads of 32, as hidden_size says.
  const double half = ParametersOf(R"({"preset": "bert-base", "hidden_size": 384})");
  EXPECT_NEAR(half, 30522.0 * 384 + 12 * 12 * 384.0 * 384, 2e6);
}

TEST(AnswerFit, AShapeOfItsOwnIsNoLongerThePresetsLine) {
  const json answer = Must(Ask(R"({"model": {"preset": "mt5-1.2b", "num_hidden_layers": 2},
    "training": {"max_steps": 1}})",
                               {"rtx4090"}));
  EXPECT_TRUE(answer.contains("memory"));  // counted in parts, as no line can be
  EXPECT_THAT(answer["model"].get<std::string>(), HasSubstr("with a shape of its own"));
}

TEST(AnswerFit, KeysOfTheShapeWinOverAConfig) {
  const char* config = R"("hf_config": {"model_type": "llama", "hidden_size": 4096,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 128256, "tie_word_embeddings": false})";
  EXPECT_NEAR(ParametersOf(fmt::format("{{{}}}", config).c_str()), 8.03e9, 0.01e9);
  EXPECT_NEAR(ParametersOf(fmt::format(R"({{{}, "num_hidden_layers": 20}})", config).c_str()),
              5.41e9, 0.01e9);
}

TEST(AnswerFit, KeysThatContradictThePresetAreASentence) {
  const auto refusal = [](const char* model) {
    const auto answer = Ask(
        fmt::format(R"({{"model": {}, "training": {{"max_steps": 1}}}})", model).c_str(), {"l40s"});
    return answer ? Error{} : answer.error();
  };
  EXPECT_THAT(refusal(R"({"preset": "llama-3.1-8b", "num_attention_heads": 12})").message,
              HasSubstr("cannot share num_key_value_heads 8"));
  const Error empty = refusal(R"({"preset": "gr00t-n1-2b", "num_hidden_layers": 20})");
  EXPECT_THAT(empty.message, HasSubstr("gr00t-n1-2b has no shape that these keys could change"));
  EXPECT_EQ(empty.pointer, "/model/preset");
}

TEST(AnswerFit, OfExpertsMemoryHoldsAllAndAdaptersAreOnEach) {
  const json answer = Must(Ask(R"({"model": {"preset": "llama-3.2-1b", "num_experts": 8,
    "num_experts_per_tok": 2}, "training": {"max_steps": 1, "method": "lora"}})",
                               {"a100-80gb"}));
  const double mlp = 3.0 * 2048 * 8192;
  EXPECT_NEAR(answer["parameters"].get<double>(), 1.236e9 + 16 * 7 * mlp, 2e6);
  const double attention = 8 * (2048 + 2048) * 2 + 8 * (2048 + 512) * 2;
  EXPECT_NEAR(answer["trained_parameters"].get<double>(),
              16 * (attention + 8 * 3 * 8 * (2048 + 8192)), 1);
}

TEST(AnswerFit, ContradictionsAreSaid) {
  const auto untargeted = Ask(R"({"model": {"preset": "gpt2"}, "training": {"max_steps": 1,
    "method": "lora", "lora": {"target_modules": ["qqq"]}}})",
                              {"rtx4090"});
  ASSERT_FALSE(untargeted);
  EXPECT_THAT(untargeted.error().message, HasSubstr("matches no layer of this model"));
  const json alone = Must(Ask(R"({"model": {"preset": "gpt2"}, "training": {"max_steps": 1,
    "deepspeed": 3}})",
                              {"rtx4090"}));
  EXPECT_THAT(alone["notes"].dump(), HasSubstr("ZeRO and FSDP shard nothing on one GPU"));
}

json TipOf(const json& answer, const std::string& name) {
  for (const json& tip : answer["tips"]) {
    if (tip["name"] == name) return tip;
  }
  ADD_FAILURE() << "no tip is called " << name;
  return {};
}

json AskTips(const char* spec_text, const char* gpu, int64_t in_all) {
  const auto spec = ParseTrainSpec(json::parse(spec_text), "");
  const GpuCatalogue& catalogue = ShippedGpus().catalogue();
  return ToJson(
      *AnswerFit({*spec, ShippedModels(), catalogue, {catalogue.Resolve(gpu)}, in_all, {}, true}));
}

TEST(AnswerFit, TipsKnowTheRunTimeTheBatchAndWhatWasCounted) {
  const json answer = AskTips(R"({"model": {"preset": "qwen2.5-vl-3b-vla"}, "training": {
    "num_train_epochs": 5, "num_samples": 100000, "method": "lora", "lora": {"r": 32},
    "images_per_sample": 2, "effective_batch_size": 32, "measured": [
      {"gpu": "rtx4090", "gpus": 1, "batch": 2, "seconds_per_step": 6}]}})",
                              "rtx4090", 1);
  EXPECT_EQ(TipOf(answer, "torch_compile")["applies"], true);
  EXPECT_EQ(TipOf(answer, "try_first")["applies"], false);
  EXPECT_EQ(TipOf(answer, "lora_rank")["effect_source"], "counted");
  EXPECT_THAT(TipOf(answer, "feature_cache")["effect"], HasSubstr("1.2 GiB"));
}

TEST(AnswerFit, TipsAreGivenWhereTheGpuCannotTrainIt) {
  const json answer = AskTips(
      R"({"model": {"preset": "mt5-1.2b"}, "training": {"max_steps": 1000}})", "v100-16gb", 1);
  EXPECT_THAT(TipOf(answer, "half_precision")["why_not"], HasSubstr("fp32 it stays"));
  EXPECT_EQ(TipOf(answer, "save_interval")["applies"], true);
}

TEST(AnswerFit, ABatchOfTheFileMayUseTheMargin) {
  const auto row = [](int64_t batch) {
    return Must(
        Ask(fmt::format(R"({{"model": {{"memory": {{"base": "10 GB", "per_sample": "2 GB"}}}},
      "training": {{"max_steps": 10, "per_device_train_batch_size": {}}}}})",
                        batch)
                .c_str(),
            {"rtx4090"}))["gpus"][0];
  };
  EXPECT_EQ(row(7)["max_micro_batch"],
            json({{"conservative", 2}, {"recommended", 4}, {"aggressive", 7}}));
  EXPECT_TRUE(row(7)["fits"]) << row(7);
  EXPECT_FALSE(row(8)["fits"]) << row(8);
}

TEST(AnswerFit, EvaluationOfAFourBitBaseTakesFourBitWeights) {
  const auto eval = [](const char* method) {
    return Must(Ask(
        fmt::format(R"({{"model": {{"preset": "llama-3.1-8b"}}, "training": {{"method": "{}",
      "max_seq_length": 512, "max_steps": 10}}}})",
                    method)
            .c_str(),
        {"rtx4090"}))["gpus"][0]["inference_memory_bytes"]
        .get<double>();
  };
  EXPECT_LT(eval("qlora"), eval("lora") - 8e9);
}

TEST(AnswerFit, AMistypedModuleIsAnErrorAndAllMeansAll) {
  const auto ask = [](const char* modules) {
    return Ask(
        fmt::format(R"({{"model": {{"preset": "llama-3.1-8b"}}, "training": {{"method": "lora",
      "lora": {{"target_modules": {}}}, "max_seq_length": 512, "max_steps": 10}}}})",
                    modules)
            .c_str(),
        {"l40s"});
  };
  EXPECT_EQ(ask(R"(["q_porj", "v_proj"])").error().message,
            "lora.target_modules: no layer of this model is called 'q_porj' (did you mean "
            "'q_proj'?)");
  EXPECT_TRUE(ask(R"(["q_proj", "router", "c_proj"])"));
  EXPECT_EQ((*ask(R"(["all"])"))["trained_parameters"],
            (*ask(R"(["all-linear"])"))["trained_parameters"]);
}

}  // namespace
}  // namespace gpuadvise
