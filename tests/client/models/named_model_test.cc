#include "client/models/named_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/spec/train_spec.h"
#include "tests/client/models/model_files.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kNow = 1790000000;

Result<NamedTraining> Find(const std::string& word, const std::string& cache = "") {
  return FindTraining(word, "", {ShippedModels(), cache}, kNow);
}

std::string PresetOf(const std::string& word) {
  const Result<NamedTraining> found = Find(word);
  return found ? found->file.spec()["model"].value("preset", "") : found.error().message;
}

TrainSpec SpecOf(const std::string& word) {
  const Result<NamedTraining> found = Find(word);
  EXPECT_TRUE(found) << (found ? "" : found.error().message);
  const auto spec = ParseTrainSpec(found->file.spec(), "", RunLength::kOptional);
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().message);
  return *spec;
}

TEST(NamedModel, IsAPresetByItsNameOrItsIdInAnyCase) {
  EXPECT_EQ(PresetOf("llama-3.1-8b"), "llama-3.1-8b");
  EXPECT_EQ(PresetOf("meta-llama/Llama-3.1-8B"), "llama-3.1-8b");
  EXPECT_EQ(PresetOf("META-LLAMA/meta-llama-3.1-8b"), "llama-3.1-8b");
  EXPECT_THAT(Find("Qwen/Qwen2.5-7B")->notes, ElementsAre());
}

TEST(NamedModel, ItsOtherFormsAreFoundAndSaid) {
  EXPECT_EQ(PresetOf("Qwen/Qwen2.5-7B-Instruct"), "qwen2.5-7b");
  EXPECT_EQ(PresetOf("unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit"), "llama-3.1-8b");
  EXPECT_EQ(PresetOf("mistralai/Mistral-7B-Instruct-v0.3"), "mistral-7b");
  EXPECT_THAT(Find("google/gemma-2-9b-it")->notes,
              ElementsAre(HasSubstr("counted as the preset gemma-2-9b")));
}

TEST(NamedModel, EveryShippedIdFindsItsOwnPreset) {
  for (const std::string& name : ShippedModels().Names()) {
    for (const std::string& id : ShippedModels().Find(name)->hub) EXPECT_EQ(PresetOf(id), name);
  }
}

TEST(NamedModel, AnUnknownNameIsASentenceWithTheNearestAndTheRemedy) {
  EXPECT_THAT(PresetOf("lama-3.1-8b"), HasSubstr("(did you mean 'llama-3.1-8b'?)"));
  EXPECT_THAT(PresetOf("acme/Secret-9B"), HasSubstr("hf download acme/Secret-9B config.json"));
  EXPECT_THAT(PresetOf("\x1b[31mred"), HasSubstr("'?[31mred'"));
  EXPECT_THAT(PresetOf("no/such/file"), HasSubstr("there is no such file"));
  EXPECT_THAT(PresetOf(std::string(100'000, 'x')),
              HasSubstr("no training file, folder or known model"));
}

TEST(NamedModel, ADiffusersFolderIsTheNetworkThatIsTrained) {
  const TemporaryFolder folder;
  folder.Write("sd/model_index.json", "{}");
  folder.Write("sd/unet/config.json", R"({"_class_name": "UNet2DConditionModel",
      "block_out_channels": [320, 640, 1280, 1280], "cross_attention_dim": 768})");
  const TrainSpec spec = SpecOf(folder.Path("sd"));
  EXPECT_TRUE(spec.stages[0].model.shape->media);
  folder.Write("empty/model_index.json", "{}");
  EXPECT_THAT(PresetOf(folder.Path("empty")), HasSubstr("no config.json"));
}

TEST(NamedModel, AFolderIsItsConfigWithTheParametersOfItsWeights) {
  const TemporaryFolder folder;
  folder.Write("m/config.json", kTinyConfig);
  const std::string path = folder.Path("m");
  EXPECT_EQ(SpecOf(path).stages[0].model.shape->Parameters(), kTinyParameters);
  folder.Write("m/model.safetensors",
               SafetensorsBytes(R"({"a": {"dtype": "BF16", "shape": [210000]}})"));
  EXPECT_EQ(SpecOf(path + "/").stages[0].model.shape->Parameters(), 210'000);
  EXPECT_EQ(Find(path + "/")->file.spec()["name"], "m");
}

TEST(NamedModel, WeightsWithoutASecondEmbeddingTieIt) {
  const TemporaryFolder folder;
  folder.Write("m/config.json", kTinyConfig);
  folder.Write("m/model.safetensors",
               SafetensorsBytes(R"({"a": {"dtype": "BF16", "shape": [145920]}})"));
  const TrainSpec spec = SpecOf(folder.Path("m"));
  EXPECT_TRUE(spec.stages[0].model.shape->tie_word_embeddings);
  EXPECT_THAT(spec.stages[0].model.assumed, ElementsAre());
}

TEST(NamedModel, ParametersInNoKnownLayerAreHeldAndSaid) {
  const TemporaryFolder folder;
  folder.Write("m/config.json", kTinyConfig);
  folder.Write("m/model.safetensors",
               SafetensorsBytes(R"({"a": {"dtype": "BF16", "shape": [1000000]}})"));
  const TrainSpec spec = SpecOf(folder.Path("m"));
  EXPECT_EQ(spec.stages[0].model.shape->other_params, 1'000'000 - kTinyParameters);
  EXPECT_THAT(spec.stages[0].model.assumed,
              ElementsAre(HasSubstr("in layers that are known here")));
}

TEST(NamedModel, BrokenWeightsLeaveTheConfigAndAreSaid) {
  const TemporaryFolder folder;
  folder.Write("m/config.json", kTinyConfig);
  folder.Write("m/model.safetensors", "version https://git-lfs");
  const Result<NamedTraining> found = Find(folder.Path("m"));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->notes, ElementsAre(HasSubstr("parameters are counted from config.json")));
  EXPECT_EQ(SpecOf(folder.Path("m")).stages[0].model.shape->Parameters(), kTinyParameters);
}

TEST(NamedModel, ABadFolderIsASentence) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& config) {
    folder.Write("m/config.json", config);
    return PresetOf(folder.Path("m"));
  };
  EXPECT_THAT(refusal(std::string("\0\xff binary", 9)), HasSubstr("is not a JSON object"));
  EXPECT_THAT(refusal("{\"a\": " + std::string(500'000, '[') + std::string(500'000, ']') + "}"),
              HasSubstr("is nested more than 64 deep"));
  EXPECT_THAT(refusal("{\"a\": \"" + std::string(1 << 20, 'x') + "\"}"),
              HasSubstr("larger than 1024 KiB"));
  folder.Write("empty/other", "");
  EXPECT_THAT(PresetOf(folder.Path("empty")), HasSubstr("no config.json"));
  folder.Write("lora/adapter_config.json", R"({"base_model_name_or_path": "Qwen/Qwen3-8B"})");
  EXPECT_THAT(PresetOf(folder.Path("lora")),
              HasSubstr("ask about their base model, Qwen/Qwen3-8B"));
}

TEST(NamedModel, AFileWinsOverAPresetOfItsName) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("gpt2", "name: mine\ntraining: {max_steps: 1}\n");
  const Result<NamedTraining> found = Find(path);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_file);
  EXPECT_EQ(found->file.spec()["name"], "mine");
}

TEST(NamedModel, OfTheHubsCacheTheNewestSnapshotCounts) {
  const TemporaryFolder folder;
  folder.Write("models--acme--m/snapshots/1/config.json", kTinyConfig);
  const Result<NamedTraining> found = Find("acme/m", folder.Path(""));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->file.spec()["model"]["hf_config"]["hidden_size"], 64);
  EXPECT_FALSE(Find("acme/other", folder.Path("")));
}

TEST(NamedModel, ASectionNeedsAFile) {
  const auto found = FindTraining("gpt2", "a", {ShippedModels(), ""}, kNow);
  EXPECT_THAT(found.error().message, HasSubstr("--section selects a part of a training file"));
}

}  // namespace
}  // namespace gpuadvise::client
