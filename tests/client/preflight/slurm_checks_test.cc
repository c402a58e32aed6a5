#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/preflight/preflight.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kNow = 1790000000;  // Mon 21 Sep 2026 14:13:20 UTC

json Strategy(int64_t p50 = 39000, int64_t p90 = 43000) {
  return {{"gpu_name", "RTX 4090"},
          {"gpus_per_node", 4},
          {"partition", "gpu"},
          {"account", "lab"},
          {"qos", ""},
          {"time_limit_seconds", 46800},
          {"run_p50_seconds", p50},
          {"run_p90_seconds", p90},
          {"wait_p50_seconds", 480},
          {"wait_p90_seconds", 6600},
          {"total_p50_seconds", 39480},
          {"total_p90_seconds", 49600}};
}

Check Site(bool accepted, const std::string& said) {
  return SiteCheck(SbatchVerdict{accepted, said}, Strategy(), kNow);
}

TEST(SiteVerdict, ItsStartStandsBesideTheForecastAsWhatItIs) {
  const Check check = Site(true,
                           "sbatch: Job 5 to start at 2026-09-21T20:14:19 using 4 processors on "
                           "nodes n1 in partition gpu\n");
  EXPECT_EQ(check.health, Health::kOk);
  EXPECT_EQ(check.finding,
            "sbatch --test-only accepts the job and estimates a start today 20:14, from time "
            "limits alone; forecast: starts today 14:21 (16:03), done tomorrow 01:11 (04:00)");
}

TEST(SiteVerdict, ARefusalIsAnErrorInSlurmsWords) {
  const Check check = Site(false,
                           "sbatch: error: invalid partition specified: nope\n"
                           "allocation failure: Invalid partition name specified\n");
  EXPECT_EQ(check.health, Health::kError);
  EXPECT_EQ(check.finding,
            "sbatch --test-only rejects the job: invalid partition specified: nope; Invalid "
            "partition name specified; correct that, or ask the site");
}

TEST(SiteVerdict, WhatMayBeBusyIsAWarning) {
  for (const char* words : {"Requested node configuration is not available",
                            "Required node not available (down, drained or reserved)"}) {
    EXPECT_EQ(Site(false, std::string("allocation failure: ") + words + "\n").health,
              Health::kWarning);
  }
}

TEST(SiteVerdict, OddWordsAreShownSafely) {
  EXPECT_EQ(Site(true, "").finding, "sbatch --test-only accepts the job");
  EXPECT_EQ(Site(true, "to start at never on").health, Health::kOk);
  const Check check = Site(false, "\x1b[31mno\n" + std::string(5000, 'x'));
  EXPECT_EQ(check.finding.find('\x1b'), std::string::npos);
  EXPECT_LT(check.finding.size(), 800u);
}

TEST(SiteVerdict, NoAnswerIsAnError) {
  const Check check =
      SiteCheck(Fail(ErrorCode::kInternal, "sbatch is not in PATH"), Strategy(), kNow);
  EXPECT_EQ(check.health, Health::kError);
  EXPECT_EQ(check.finding, "sbatch is not in PATH");
}

TEST(Access, OfAStrategyIsTheCallers) {
  EXPECT_EQ(AccessChecks({}, Strategy()).front().finding,
            "partition gpu and account lab: yours to use");
}

TEST(Access, WithoutAStrategyTheReasonsAreErrors) {
  const json answer = {{"rejected",
                        {{{"gpu_name", "L40S"},
                          {"gpus_per_node", 6},
                          {"reasons", {"account lab may not use partition gpu"}}}}}};
  const auto checks = AccessChecks(answer, json::object());
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].health, Health::kError);
  EXPECT_EQ(checks[0].finding, "L40S × 6: account lab may not use partition gpu");
  EXPECT_EQ(checks[0].subject, "strategies");
  EXPECT_EQ(AccessChecks(json::object(), json::object()).front().health, Health::kError);
}

TEST(Access, AReasonOfAllRowsIsSaidOnceAndFirst) {
  const auto row = [](const char* gpu, std::vector<std::string> reasons) {
    return json{{"gpu_name", gpu}, {"gpus_per_node", 1}, {"reasons", reasons}};
  };
  const json answer = {{"rejected",
                        {row("L40S", {"its memory is too small", "account lab is closed"}),
                         row("A100", {"account lab is closed"})}}};
  const auto checks = AccessChecks(answer, json::object());
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].finding, "all of them: account lab is closed");
  EXPECT_EQ(checks[1].finding, "L40S × 1: its memory is too small");
}

TEST(TimeLimit, ThatMostRunsKeepIsOk) {
  EXPECT_EQ(TimeLimitCheck({}, Strategy()).finding, "13 h; the run takes 10 h 50 (11 h 57)");
}

TEST(TimeLimit, ThatSomeRunsPassIsAWarningAndMostAnError) {
  const Check some = TimeLimitCheck({}, Strategy(39000, 50000));
  EXPECT_EQ(some.health, Health::kWarning);
  EXPECT_EQ(some.finding,
            "one run in ten takes longer than 13 h 53, over its limit of 13 h; save checkpoints "
            "and set training.resume, or use a longer -t or more GPUs");
  const Check most = TimeLimitCheck({}, Strategy(50000, 60000));
  EXPECT_EQ(most.health, Health::kError);
}

TEST(TimeLimit, ResumingMakesItOk) {
  for (const json& spec : {json({{"training", {{"resume", true}}}}),
                           json({{"stages", {{{"training", {{"resume", "auto"}}}}}}})}) {
    EXPECT_EQ(TimeLimitCheck(spec, Strategy(50000, 60000)).health, Health::kOk) << spec;
  }
  EXPECT_EQ(TimeLimitCheck({{"training", {{"resume", false}}}}, Strategy(50000, 60000)).health,
            Health::kError);
}

TEST(TimeLimit, AChainHasLinks) {
  json strategy = Strategy(500000, 600000);
  strategy["links"] = 12;
  EXPECT_EQ(TimeLimitCheck({}, strategy).finding,
            "runs in 12 links of 13 h, each from the last checkpoint");
}

}  // namespace
}  // namespace gpuadvise::client
