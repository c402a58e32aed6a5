#include "common/runs/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Good() {
  return json::parse(R"({"version": 1, "job_id": "4711", "advice_id": "a-1", "host": "gpu01",
    "gpu_names": ["NVIDIA L40S"], "attempts": [
      {"began": 1795281829, "seconds": 30.5, "exit_code": 1, "signal": 0, "out_of_memory": true,
       "micro_batch": 8, "accumulation": 4, "gpus": []},
      {"began": 1795281860, "seconds": 3600.5, "exit_code": 0, "signal": 0, "out_of_memory": false,
       "micro_batch": 4, "accumulation": 8, "steps": 1000, "total_steps": 1000,
       "seconds_per_step": 3.5, "loss": 0.41, "gpus": [
         {"peak_memory_bytes": 21474836480, "memory_total_bytes": 51539607552,
          "mean_utilisation": 0.93, "mean_watts": 280.0}]}]})");
}

std::string WhyNot(const json& document) {
  const auto outcome = ReadOutcome(document);
  return outcome ? "" : outcome.error().pointer + " " + outcome.error().message;
}

TEST(Outcome, WhatIsWrittenIsReadBackWhole) {
  const auto outcome = ReadOutcome(Good());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->job_id, 4711);
  EXPECT_EQ(outcome->attempts[1].gpus[0].mean_utilisation, 0.93);
  EXPECT_EQ(ToJson(*outcome), Good());
}

TEST(Outcome, ThatOfARunOutsideOfSlurmNamesNoJob) {
  json document = Good();
  document["job_id"] = "";
  EXPECT_EQ(ReadOutcome(document)->job_id, 0);
}

TEST(Outcome, WhatCannotBeIsRefusedAtItsPlace) {
  const auto with = [](const char* pointer, const json& value) {
    json document = Good();
    document[json::json_pointer(pointer)] = value;
    return WhyNot(document);
  };
  EXPECT_THAT(with("/version", 2), HasSubstr("/version"));
  EXPECT_THAT(with("/job_id", "4711; rm -rf /"), HasSubstr("must be a job's number"));
  EXPECT_THAT(with("/job_id", "-3"), HasSubstr("/job_id"));
  EXPECT_THAT(with("/host", std::string(300, 'x')), HasSubstr("/host"));
  EXPECT_THAT(with("/attempts", json::array()), HasSubstr("1 to 100"));
  EXPECT_THAT(with("/attempts/1/micro_batch", 0), HasSubstr("/attempts/1/micro_batch"));
  EXPECT_THAT(with("/attempts/1/seconds_per_step", "fast"), HasSubstr("/attempts/1"));
  EXPECT_THAT(with("/attempts/1/gpus/0/mean_utilisation", 3), HasSubstr("from 0 to 1"));
  EXPECT_THAT(with("/attempts/1/gpus/0/peak_memory_bytes", int64_t{1} << 49),
              HasSubstr("more than the GPU has"));
  EXPECT_THAT(with("/attempts/1/gpus", json(std::vector<json>(65, json::object()))),
              HasSubstr("more than a node has"));
}

TEST(Outcome, TextCutAtAnyByteIsRefusedAndNeverHalfRead) {
  const std::string whole = Good().dump();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ReadOutcomeText(whole.substr(0, size))) << size;
  }
  EXPECT_TRUE(ReadOutcomeText(whole));
}

TEST(Outcome, NestingCostsNothing) {
  const std::string deep(200'000, '[');
  EXPECT_THAT(ReadOutcomeText(deep).error().message, HasSubstr("nested"));
  EXPECT_THAT(ReadOutcomeText("{\"x\":" + deep).error().message, HasSubstr("nested"));
}

Outcome Large(size_t attempts, size_t gpus) {
  Outcome outcome = *ReadOutcome(Good());
  const Attempt one = outcome.attempts.back();
  outcome.attempts.assign(attempts, one);
  for (size_t i = 0; i < attempts; ++i) {
    outcome.attempts[i].steps = static_cast<int64_t>(i);
    outcome.attempts[i].gpus.assign(gpus, one.gpus.front());
    outcome.attempts[i].gpus.back().peak_memory_bytes += 5;
    outcome.attempts[i].gpus.back().mean_utilisation = 0.5;
  }
  return outcome;
}

TEST(Outcome, OfAnEverydayRunNothingIsLeftOut) {
  const json written = ToJson(Large(60, 8));
  EXPECT_LE(written.dump().size(), kMaxSentOutcomeBytes);
  EXPECT_EQ(written["attempts"].size(), 60u);
  for (const json& attempt : written["attempts"]) EXPECT_EQ(attempt["gpus"].size(), 8u);
}

TEST(Outcome, TheLargestRunIsThinnedUntilItIsTaken) {
  const json written = ToJson(Large(kMostAttempts, kMostGpusOfANode));
  EXPECT_LE(written.dump().size(), kMaxSentOutcomeBytes);
  EXPECT_LT(written.dump(1).size(), kMaxOutcomeBytes) << "as a file";
  ASSERT_EQ(written["attempts"].size(), kMostAttempts);
  EXPECT_EQ(written["attempts"].back()["gpus"].size(), kMostGpusOfANode);
  const json& first = written["attempts"].front();
  ASSERT_EQ(first["gpus"].size(), 1u);
  EXPECT_EQ(first["gpus"][0]["peak_memory_bytes"], 21474836485);
  EXPECT_NEAR(first["gpus"][0]["mean_utilisation"].get<double>(), (63 * 0.93 + 0.5) / 64, 1e-9);
  const auto again = ReadOutcome(written);
  ASSERT_TRUE(again);
  EXPECT_EQ(ToJson(*again), written);
}

TEST(Outcome, TheLastStartIsWrittenHoweverMuchElseThereIs) {
  Outcome outcome = Large(kMostAttempts, kMostGpusOfANode);
  outcome.gpu_names.assign(kMostGpusOfANode, std::string(256, '\1'));
  outcome.host = outcome.advice_id = std::string(256, '\1');
  const json written = ToJson(outcome);
  EXPECT_LE(written.dump().size(), kMaxSentOutcomeBytes);
  EXPECT_EQ(written["attempts"].back()["steps"], kMostAttempts - 1);
  EXPECT_TRUE(ReadOutcome(written));
}

TEST(Outcome, TooMuchTextIsRefusedUnread) {
  const auto outcome = ReadOutcomeText(std::string(kMaxOutcomeBytes + 1, ' '));
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("longer than 256 KiB"));
}

}  // namespace
}  // namespace gpuadvise
