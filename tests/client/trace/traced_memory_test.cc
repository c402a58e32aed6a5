#include "client/trace/traced_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int64_t kGb = 1'000'000'000;

// A training that takes 5 GB, 1 GB a sample in the backward pass, and 10 GB in the step.
TraceReport At(int64_t micro_batch) {
  TraceReport report;
  report.torch = "2.4.1";
  report.micro_batch = micro_batch;
  report.parameters = 500'000'000;
  report.trained = 500'000'000;
  report.backward = {(5 + micro_batch) * kGb, 2 * kGb, 1 * kGb, 2 * kGb, micro_batch * kGb};
  report.step = {10 * kGb, 2 * kGb, 2 * kGb, 4 * kGb, 2 * kGb};
  return report;
}

TEST(TracedMemory, IsTheLineThroughTwoTraces) {
  std::vector<std::pair<int64_t, int64_t>> asked;
  const auto traced = TraceMemory(true, [&](int64_t batch, int64_t scale) {
    asked.emplace_back(batch, scale);
    return Result<TraceReport>(At(batch));
  });
  ASSERT_TRUE(traced) << traced.error().message;
  EXPECT_EQ(asked, (std::vector<std::pair<int64_t, int64_t>>{{4, 1}, {8, 2}}));
  EXPECT_EQ(traced->micro_batches, (std::vector<int64_t>{4, 8}));
  EXPECT_NEAR(traced->line.base_bytes, 5.25e9, 2);  // with 5 % for fragmentation
  EXPECT_NEAR(traced->line.per_sample_bytes, 1.05e9, 2);
  EXPECT_NEAR(traced->line.floor_bytes, 10.5e9, 2);
  EXPECT_EQ(traced->line.overhead_bytes, 900'000'000);
}

TEST(TracedMemory, ScalesTheLoadersWhereTheCommandHasNoPlaceholder) {
  const auto traced = TraceMemory(false, [](int64_t batch, int64_t scale) {
    EXPECT_EQ(batch, 0);
    return Result<TraceReport>(At(6 * scale));
  });
  ASSERT_TRUE(traced);
  EXPECT_EQ(traced->micro_batches, (std::vector<int64_t>{6, 12}));
  EXPECT_NEAR(traced->line.per_sample_bytes, 1.05e9, 2);
}

TEST(TracedMemory, OfOneBatchTakesTheRestToGrowAndSaysSo) {
  const auto traced =
      TraceMemory(false, [](int64_t, int64_t) { return Result<TraceReport>(At(6)); });
  ASSERT_TRUE(traced);
  EXPECT_EQ(traced->micro_batches, (std::vector<int64_t>{6}));
  EXPECT_NEAR(traced->line.base_bytes, 5.25e9, 2);
  EXPECT_NEAR(traced->line.per_sample_bytes, 1.05e9, 2);
  ASSERT_EQ(traced->notes.size(), 1u);
  EXPECT_THAT(traced->notes[0], HasSubstr("{micro_batch}"));
}

TEST(TracedMemory, KeepsTheFirstTraceWhereTheSecondFails) {
  const auto traced = TraceMemory(true, [](int64_t batch, int64_t) -> Result<TraceReport> {
    if (batch > 4) return BadInput("--trace: train.py made 0 of 2 optimizer steps");
    return At(batch);
  });
  ASSERT_TRUE(traced);
  ASSERT_EQ(traced->notes.size(), 1u);
  EXPECT_THAT(traced->notes[0], HasSubstr("0 of 2 optimizer steps"));
}

TEST(TracedMemory, WithoutAMicroBatchOrGrowthIsRefused) {
  const auto unseen =
      TraceMemory(false, [](int64_t, int64_t) { return Result<TraceReport>(At(0)); });
  ASSERT_FALSE(unseen);
  EXPECT_THAT(unseen.error().message, HasSubstr("use {micro_batch}"));
  const auto same = TraceMemory(true, [](int64_t, int64_t) { return Result<TraceReport>(At(4)); });
  ASSERT_FALSE(same);
  EXPECT_THAT(same.error().message, HasSubstr("does not grow from micro-batch 4 to 8"));
}

TEST(TracedMemory, IsWrittenForATrainYaml) {
  const auto traced =
      TraceMemory(true, [](int64_t batch, int64_t) { return Result<TraceReport>(At(batch)); });
  ASSERT_TRUE(traced);
  EXPECT_EQ(YamlOf(*traced),
            "model:\n  params: 500000000\n"
            "  memory: {base: 5.25 GB, per_sample: 1.05 GB, overhead: 900 MB, floor: 10.5 GB}\n");
}

TEST(TracedMemory, PartsAreThoseOfThePeakThatTheBatchHas) {
  const auto traced =
      TraceMemory(true, [](int64_t batch, int64_t) { return Result<TraceReport>(At(batch)); });
  ASSERT_TRUE(traced);
  json answer = {{"gpus",
                  {{{"micro_batch", 2}, {"memory", {{"total_bytes", 11'800'000'000}}}},
                   {{"micro_batch", 20}, {"memory", {{"total_bytes", 27'550'000'000}}}}}}};
  AddTrace(*traced, answer);
  const json& small = answer["gpus"][0]["memory"];
  EXPECT_EQ(small["peak_in"], "optimizer step");
  EXPECT_EQ(small["optimizer_bytes"], 4 * kGb);
  const json& large = answer["gpus"][1]["memory"];
  EXPECT_EQ(large["peak_in"], "backward pass");
  EXPECT_EQ(large["basis"], "traced");
  EXPECT_EQ(large["activations_bytes"], 27'550'000'000 - 900'000'000 - 5 * kGb);
  EXPECT_EQ(answer["parameters"], 500'000'000);
}

}  // namespace
}  // namespace gpuadvise::client
