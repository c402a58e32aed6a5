#include "common/plan/assumptions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Assumptions Found(const char* text) {
  return FindAssumptions(*ParseTrainSpec(nlohmann::json::parse(text), "/spec"), ShippedModels());
}

TEST(Assumptions, LengthAndImagesAreUnsettledUntilTheFileGivesThem) {
  const Assumptions silent =
      Found(R"({"model": {"preset": "qwen2.5-vl-3b"}, "training": {"max_steps": 100}})");
  EXPECT_EQ(silent.unsettled,
            (std::vector<std::string>{"training.max_seq_length", "training.images_per_sample"}));
  EXPECT_THAT(silent.sentences, Contains(HasSubstr("512 tokens a sample")));
  EXPECT_THAT(silent.sentences, Contains(HasSubstr("no images in a sample")));
  const Assumptions settled = Found(R"({"model": {"preset": "qwen2.5-vl-3b"}, "training":
      {"max_steps": 100, "max_seq_length": 2048, "images_per_sample": 0}})");
  EXPECT_TRUE(settled.unsettled.empty());
}

TEST(Assumptions, ATextModelIsNotAskedForImages) {
  EXPECT_EQ(
      Found(R"({"model": {"preset": "llama-3.1-8b"}, "training": {"max_steps": 100}})").unsettled,
      std::vector<std::string>{"training.max_seq_length"});
}

TEST(Assumptions, AnIdOfTheHubIsTakenForThePresetOfItsShape) {
  EXPECT_THAT(Found(R"({"model": {"preset": "meta-llama/Llama-3.1-8B-Instruct"},
                        "training": {"max_steps": 100}})")
                  .sentences,
              Contains("meta-llama/Llama-3.1-8B-Instruct has the shape of llama-3.1-8b"));
}

TEST(Assumptions, Fp16OfAModelThatOverflowsInItIsSaid) {
  EXPECT_THAT(Found(R"({"model": {"preset": "t5-base"},
                        "training": {"max_steps": 100, "fp16": true}})")
                  .sentences,
              Contains("fp16 works, though t5-base overflows in it: set bf16: true, or fp16: "
                       "false"));
  EXPECT_THAT(Found(R"({"model": {"preset": "t5-base"},
                        "training": {"max_steps": 100, "bf16": true}})")
                  .sentences,
              Not(Contains(HasSubstr("overflows"))));
}

TEST(Assumptions, HalfPrecisionIsAssumedOfAMemoryLineToo) {
  const auto said = [](const char* training) {
    return Found((std::string(R"({"model": {"params": 3e7, "memory": {"base": "10 GB",
        "per_sample": "1 GB"}}, "training": {"max_steps": 100)") +
                  training + "}}")
                     .c_str())
        .sentences;
  };
  EXPECT_THAT(said(""), Contains(HasSubstr("half precision")));
  EXPECT_THAT(said(R"(, "bf16": false)"), Not(Contains(HasSubstr("half precision"))));
}

TEST(Assumptions, ReentrantCheckpointingOfAdaptersUnderFsdpIsSaid) {
  const auto said = [](const char* training) {
    return Found((std::string(R"({"model": {"preset": "llama-3.1-8b"}, "training": {
        "max_steps": 100, "max_seq_length": 512, "fsdp": "full_shard", "method": ")") +
                  training + "}}")
                     .c_str())
        .sentences;
  };
  EXPECT_THAT(said("lora\""), Contains(HasSubstr("training.use_reentrant")));
  EXPECT_THAT(said("full\""), Not(Contains(HasSubstr("training.use_reentrant"))));
  EXPECT_THAT(said(R"(lora", "use_reentrant": true)"),
              Not(Contains(HasSubstr("training.use_reentrant"))));
}

TEST(Assumptions, WhatIsMeasuredRestsOnNothing) {
  const Assumptions measured = Found(R"({"model": {"preset": "llama-3.1-8b",
      "memory": {"base": "10 GB", "per_sample": "1 GB"}}, "training": {"max_steps": 100,
      "measured": [{"gpu": "l40s", "gpus": 1, "batch": 1, "seconds_per_step": 2,
      "start_seconds": 60}]}})");
  EXPECT_TRUE(measured.sentences.empty());
  EXPECT_TRUE(measured.unsettled.empty());
}

TEST(Assumptions, StagesThatAssumeTheSameSayItOnce) {
  const Assumptions found = Found(R"({"stages": [
      {"name": "a", "model": {"preset": "llama-3.1-8b"}, "training": {"max_steps": 1}},
      {"name": "b", "model": {"preset": "llama-3.1-8b"}, "training": {"max_steps": 1}}]})");
  EXPECT_EQ(found.unsettled, std::vector<std::string>{"training.max_seq_length"});
  EXPECT_EQ(found.sentences.size(),
            6u);  // precision, optimizer, length, checkpointing, equal samples, start
}

TEST(Assumptions, TheLengthOfAnEncoderDecodersOutputIsAskedAbout) {
  const auto said = [](const char* preset, const char* training) {
    return Found(fmt::format(R"({{"model": {{"preset": "{}"}},
                                 "training": {{"max_steps": 100, "max_seq_length": 512{}}}}})",
                             preset, training)
                     .c_str())
        .sentences;
  };
  EXPECT_THAT(said("t5-base", ""), Contains(HasSubstr("give training.max_target_length")));
  const char* given = R"(, "max_target_length": 128)";
  EXPECT_THAT(said("t5-base", given), Not(Contains(HasSubstr("max_target_length"))));
  EXPECT_THAT(said("llama-3.1-8b", ""), Not(Contains(HasSubstr("max_target_length"))));
  EXPECT_THAT(
      said("llama-3.1-8b", given),
      Contains("a text has max_seq_length and max_target_length tokens, one after the other"));
}

}  // namespace
}  // namespace gpuadvise
