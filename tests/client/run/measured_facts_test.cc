#include "client/run/measured_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/run/trial.h"

namespace gpuadvise::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kGb = 1'000'000'000;

Attempt Ran(int64_t micro_batch, double seconds_per_step, int64_t peak_bytes) {
  Attempt attempt;
  attempt.micro_batch = micro_batch;
  attempt.accumulation = 1;
  if (seconds_per_step > 0) attempt.seconds_per_step = seconds_per_step;
  if (peak_bytes > 0) attempt.gpus = {{peak_bytes, 24 * kGb, {}, {}}};
  return attempt;
}

Attempt RanOut(int64_t micro_batch) {
  Attempt attempt = Ran(micro_batch, 0, 24 * kGb);
  attempt.out_of_memory = true;
  return attempt;
}

const GpuModel& Card() {
  static const GpuModel card = [] {
    GpuModel model;
    model.id = "rtx4090";
    model.display_name = "RTX 4090";
    return model;
  }();
  return card;
}

TEST(MeasuredFacts, TwoPeaksGiveTheLine) {
  const auto findings = FindingsOf({Ran(2, 1, 8 * kGb), Ran(6, 2.5, 13 * kGb)}, &Card());
  ASSERT_TRUE(findings.memory);
  EXPECT_EQ(MemoryText(*findings.memory), "{base: 5.5 GB, per_sample: 1.25 GB}");
  EXPECT_EQ(MeasuredText(findings.measured.value()),
            "{gpu: rtx4090, gpus: 1, batch: 6, effective_batch_size: 6, seconds_per_step: 2.5, "
            "peak: 13 GB}");
  EXPECT_THAT(findings.notes, ElementsAre("micro-batch 2: 1 s a step, peak 8 GB",
                                          "micro-batch 6: 2.5 s a step, peak 13 GB"));
}

TEST(MeasuredFacts, TheBaseIsNeverNothing) {
  const auto findings = FindingsOf({Ran(1, 1, 2 * kGb), Ran(2, 2, 5 * kGb)}, &Card());
  EXPECT_EQ(MemoryText(findings.memory.value()), "{base: 1 MB, per_sample: 3 GB}");
}

TEST(MeasuredFacts, OneThatRanOutOfMemoryIsNoPointOfTheLine) {
  const auto findings = FindingsOf({Ran(1, 1, 8 * kGb), RanOut(8), Ran(4, 2, 14 * kGb)}, &Card());
  EXPECT_EQ(MemoryText(findings.memory.value()), "{base: 6 GB, per_sample: 2 GB}");
  EXPECT_EQ(findings.measured->micro_batch, 4);
}

TEST(MeasuredFacts, WithOneBatchThatFitsOnlyTheTimeIsKnown) {
  const auto findings = FindingsOf({Ran(1, 1, 20 * kGb), RanOut(2)}, &Card());
  EXPECT_FALSE(findings.memory);
  EXPECT_EQ(findings.measured->peak_bytes, 20 * kGb);
  EXPECT_EQ(findings.notes.back(), "no memory line: two micro-batches that fit are needed");
}

TEST(MeasuredFacts, APeakThatDoesNotGrowIsNoLine) {
  const auto findings = FindingsOf({Ran(1, 1, 18 * kGb), Ran(2, 1, 18 * kGb)}, &Card());
  EXPECT_FALSE(findings.memory);
  EXPECT_THAT(findings.notes.back(), HasSubstr("does not grow with the micro-batch"));
}

TEST(MeasuredFacts, WithoutADriverOnlyTheTimeIsKnown) {
  const auto findings = FindingsOf({Ran(1, 1, 0), Ran(2, 1.5, 0)}, &Card());
  EXPECT_EQ(MeasuredText(findings.measured.value()),
            "{gpu: rtx4090, gpus: 1, batch: 2, effective_batch_size: 2, seconds_per_step: 1.5}");
  EXPECT_THAT(findings.notes.back(), HasSubstr("libnvidia-ml.so.1"));
}

TEST(MeasuredFacts, WithoutStepsOnlyTheMemoryIsKnown) {
  const auto findings = FindingsOf({Ran(1, 0, 8 * kGb), Ran(2, 0, 9 * kGb)}, &Card());
  EXPECT_EQ(MemoryText(findings.memory.value()), "{base: 7 GB, per_sample: 1 GB}");
  EXPECT_EQ(findings.measured->seconds_per_step, 0);
}

TEST(MeasuredFacts, OnAGpuThatIsNotKnownNoTimeIsWritten) {
  const auto findings = FindingsOf({Ran(1, 1, 8 * kGb), Ran(2, 1, 9 * kGb)}, nullptr);
  EXPECT_FALSE(findings.measured);
  EXPECT_TRUE(findings.memory);
  EXPECT_THAT(findings.notes.back(), HasSubstr("name it with --gpu"));
}

TEST(MeasuredFacts, NothingIsFoundWhereNothingRan) {
  const auto findings = FindingsOf({RanOut(1)}, &Card());
  EXPECT_FALSE(findings.measured || findings.memory);
  EXPECT_THAT(findings.notes, ElementsAre("micro-batch 1: out of memory"));
}

TEST(MeasuredFacts, SizesReadBack) {
  EXPECT_EQ(SizeText(850'000'000), "850 MB");
  EXPECT_EQ(SizeText(12'345'678'901), "12.35 GB");
}

TEST(RunSummary, CanBePasted) {
  Attempt last = Ran(4, 0.5, 21'300'000'000);
  last.accumulation = 8;
  last.steps = 1000;
  EXPECT_EQ(
      SummaryOf(last, &Card(), 2),
      "# gpuadvise run: 1,000 steps, 2 steps/s, peak 21.3 GB on one GPU. For train.yaml:\n"
      "training:\n  measured:\n    - {gpu: rtx4090, gpus: 2, batch: 4, effective_batch_size: 64, "
      "seconds_per_step: 0.5, peak: 21.3 GB}");
}

TEST(RunSummary, SaysWhatIsToBePutIn) {
  Attempt last = Ran(4, 0.5, 0);
  last.micro_batch.reset();
  EXPECT_EQ(SummaryOf(last, nullptr, 1),
            "# gpuadvise run: 2 steps/s. For train.yaml:\ntraining:\n  measured:\n"
            "    - {gpu: GPU, gpus: 1, batch: 0, seconds_per_step: 0.5}  "
            "# put in the GPU and the micro-batch at batch:");
}

TEST(RunSummary, IsSilentWithoutSteps) {
  EXPECT_EQ(SummaryOf(Ran(4, 0, 1), &Card(), 1), "");
  EXPECT_EQ(SummaryOf(RanOut(4), &Card(), 1), "");
}

TEST(Trial, TheFirstQuarterOfTheStepsDoesNotCount) {
  StepTimes times;
  for (int step = 1; step <= 21; ++step)
    times.emplace_back(step, step <= 5 ? 10. * step : 50 + step);
  EXPECT_DOUBLE_EQ(SteadySecondsPerStep(times).value(), 1.0);
}

TEST(Trial, TwoLinesAreEnoughForATime) {
  EXPECT_DOUBLE_EQ(SteadySecondsPerStep({{10, 3}, {20, 8}}).value(), 0.5);
  EXPECT_FALSE(SteadySecondsPerStep({{10, 3}}));
  EXPECT_FALSE(SteadySecondsPerStep({}));
}

}  // namespace
}  // namespace gpuadvise::client
