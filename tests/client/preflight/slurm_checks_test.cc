#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/preflight/preflight.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kNow = 1790000000;  // Mon 21 Sep 2026 14:13:20 UTC

api::Strategy Strategy(int64_t p50 = 39000, int64_t p90 = 43000) {
  api::Strategy strategy;
  strategy.gpu_name = "RTX 4090";
  strategy.gpus_per_node = 4;
  strategy.partition = "gpu";
  strategy.account = "lab";
  strategy.time_limit_seconds = 46800;
  strategy.run = {0, p50, p90, 0};
  strategy.wait = {0, 480, 6600, 0};
  strategy.total = {0, 39480, 49600, 0};
  return strategy;
}

api::Rejection Rejected(const char* gpu, int64_t gpus, std::vector<std::string> reasons) {
  api::Rejection rejection;
  rejection.gpu_name = gpu;
  rejection.gpus_per_node = gpus;
  rejection.reasons = std::move(reasons);
  return rejection;
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

TEST(SiteVerdict, ASlurmctldThatDoesNotAnswerHasRefusedNothing) {
  const Check check = Site(false, "allocation failure: Socket timed out on send/recv operation\n");
  EXPECT_EQ(check.health, Health::kWarning);
  EXPECT_EQ(check.finding,
            "slurmctld did not answer sbatch --test-only (Socket timed out on send/recv "
            "operation): try again, `scontrol ping` says whether it runs");
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
  EXPECT_EQ(AccessCheck(Strategy()).finding, "partition gpu and account lab: yours to use");
}

TEST(Access, WithoutAStrategyTheReasonsAreErrors) {
  const auto checks =
      RejectionChecks({Rejected("L40S", 6, {"account lab may not use partition gpu"})});
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].health, Health::kError);
  EXPECT_EQ(checks[0].finding, "L40S × 6: account lab may not use partition gpu");
  EXPECT_EQ(checks[0].subject, "strategies");
  EXPECT_EQ(RejectionChecks({}).front().health, Health::kError);
}

TEST(Access, AReasonOfAllRowsIsSaidOnceAndFirst) {
  const auto checks =
      RejectionChecks({Rejected("L40S", 1, {"its memory is too small", "account lab is closed"}),
                       Rejected("A100", 1, {"account lab is closed"})});
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
  api::Strategy strategy = Strategy(500000, 600000);
  strategy.links = 12;
  EXPECT_EQ(TimeLimitCheck({}, strategy).finding,
            "runs in 12 links of 13 h, each from the last checkpoint");
}

TEST(Assumptions, ALimitThatRestsOnAGuessIsAnError) {
  Choice choice;
  EXPECT_EQ(AssumptionCheck(choice).health, Health::kOk);
  choice.advice.assumed = {"512 tokens a sample: give training.max_seq_length",
                           "every sample has max_seq_length"};
  choice.advice.unsettled = {"training.max_seq_length"};
  EXPECT_EQ(AssumptionCheck(choice).health, Health::kError);
  EXPECT_EQ(AssumptionCheck(choice).finding,
            "memory, run time and time limit rest on a guess: 512 tokens a sample: give "
            "training.max_seq_length; or set the limit with --time");
  choice.limit_is_users = true;
  EXPECT_EQ(AssumptionCheck(choice).health, Health::kWarning);
}

}  // namespace
}  // namespace gpuadvise::client
