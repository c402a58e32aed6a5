// What a shorter time limit is worth: the risk from a user's own runs, the curve, and the advice.
#include "common/forecast/limit_advice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>

#include "common/base/unix_time.h"
#include "common/history/forecast_history.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

using testing::HasSubstr;

constexpr int64_t kHour = kHourSeconds;
const Submitter kBob{1002, "bob", "", ""};

JobRecord JobOf(int64_t limit_seconds, const std::string& name = "train") {
  JobRecord job;
  job.user = "bob";
  job.name = name;
  job.partition = "main";
  job.gpu = "a100";
  job.gpus = 2;
  job.limit_seconds = limit_seconds;
  return job;
}

// `times` runs of so many seconds, an hour apart.
void Ran(RunTimeHistory& history, JobRecord job, int64_t seconds, int times) {
  static UnixSeconds when = kSnapshotTime - 100 * kDaySeconds;
  for (int i = 0; i < times; ++i) {
    job.submit = when += kHour;
    job.start = job.submit;
    job.end = *job.start + seconds;
    history.Ended(job);
  }
}

// ---- the risk ----------------------------------------------------------------------------------

TEST(RiskFromHistory, OfNRunsNoneLongerTheNextIsWithOneInNPlusOneAtMost) {
  RunTimeHistory history;
  Ran(history, JobOf(24 * kHour), 2 * kHour, 39);
  const RunRisk risk = RiskFromHistory(&history, JobOf(24 * kHour));
  ASSERT_TRUE(risk.longer_than);
  EXPECT_DOUBLE_EQ(risk.longer_than(12 * kHour), 1. / 40);
  EXPECT_GE(risk.longer_than(kHour), 39. / 40);
  EXPECT_EQ(risk.words, "such runs (39 of yours of that name and limit)");
}

TEST(RiskFromHistory, ItIsNotKnownFromFewRunsOrFewBatchesOrOtherUsers) {
  RunTimeHistory history;
  Ran(history, JobOf(24 * kHour), kHour, static_cast<int>(kEnoughRuns) - 1);
  EXPECT_FALSE(RiskFromHistory(&history, JobOf(24 * kHour)).longer_than);
  EXPECT_THAT(RiskFromHistory(&history, JobOf(24 * kHour)).words,
              HasSubstr("19 of your runs in 5 batches are needed, 18 in"));
  JobRecord other = JobOf(24 * kHour);
  other.user = "ann";
  EXPECT_FALSE(RiskFromHistory(&history, other).longer_than);
  EXPECT_FALSE(RiskFromHistory(nullptr, other).longer_than);

  RunTimeHistory burst;
  JobRecord job = JobOf(24 * kHour);
  job.submit = kSnapshotTime;
  job.start = job.submit;
  job.end = job.submit + kHour;
  for (int i = 0; i < 40; ++i) burst.Ended(job);
  EXPECT_FALSE(RiskFromHistory(&burst, JobOf(24 * kHour)).longer_than);
}

TEST(RiskFromHistory, TheMostAlikeRunsWithEnoughOfThemSpeak) {
  RunTimeHistory history;
  Ran(history, JobOf(24 * kHour, "long"), 20 * kHour, 20);
  Ran(history, JobOf(24 * kHour, "short"), kHour, 20);
  EXPECT_THAT(RiskFromHistory(&history, JobOf(24 * kHour, "short")).words, HasSubstr("that name"));
  const RunRisk unnamed = RiskFromHistory(&history, JobOf(24 * kHour, ""));
  EXPECT_THAT(unnamed.words, HasSubstr("40 of yours of that size and limit"));
  EXPECT_GE(unnamed.longer_than(4 * kHour), 0.5);
}

TEST(RiskFromHistory, ARunThatWasCutCountsAsOneThatGoesOn) {
  RunTimeHistory history;
  Ran(history, JobOf(2 * kHour), 2 * kHour, 10);  // ended by their limit
  Ran(history, JobOf(24 * kHour), kHour, 15);
  const RunRisk risk = RiskFromHistory(&history, JobOf(24 * kHour));
  ASSERT_TRUE(risk.longer_than);
  EXPECT_GE(risk.longer_than(4 * kHour), 10. / 26);
}

RC_GTEST_PROP(RunRisk, NeverRisesWithTheLimitAndIsAShare, ()) {
  RunTimeHistory history;
  const int kinds = *rc::gen::inRange(1, 6);
  for (int i = 0; i < kinds; ++i) {
    Ran(history, JobOf(24 * kHour), *rc::gen::inRange<int64_t>(1, 30 * kHour),
        *rc::gen::inRange(5, 20));
  }
  const double p50 = *rc::gen::inRange(60, 100'000);
  const double sigma = *rc::gen::inRange(0, 20) / 10.;
  std::vector<RunRisk> risks = {RiskFromHistory(&history, JobOf(24 * kHour)),
                                RiskOfTraining(p50, sigma, std::nullopt)};
  for (const RunRisk& risk : risks) {
    if (!risk.longer_than) continue;
    double last = 1;
    for (double seconds = 1; seconds < 200'000; seconds *= 1.07) {
      const double here = risk.longer_than(seconds);
      RC_ASSERT(here <= last + 1e-9 && here >= 0);
      last = here;
    }
  }
}

TEST(RiskOfTraining, HalfOfAllRunsAreLongerThanTheMedian) {
  const RunRisk risk = RiskOfTraining(3600, 0.3, std::nullopt);
  EXPECT_NEAR(risk.longer_than(3600), .5, 1e-9);
  EXPECT_NEAR(risk.longer_than(3600 * std::exp(.3 * 1.2816)), .1, 1e-4);
  EXPECT_EQ(RiskOfTraining(3600, 0, std::nullopt).longer_than(3600), 0);
}

// ---- the curve and the advice
// --------------------------------------------------------------------

struct Asked {
  Asked(const std::string& text, const std::string& job, RunRisk with, int64_t floor = 0)
      : snapshot(SnapshotOf(text)),
        queue(PrepareQueue(snapshot)),
        request(RequestOf(job)),
        risk(std::move(with)) {
    const AskStart ask = [this](const JobRequest& other) { return StartOf(*queue, other, kBob); };
    start = *ask(request);
    advice = AdviseLimit({snapshot, request, start, ask, risk, floor});
  }
  Snapshot snapshot;
  std::shared_ptr<const QueueModel> queue;
  JobRequest request;
  RunRisk risk;
  StartSamples start;
  LimitAdvice advice;
};

RunRisk Sure(double run_seconds) { return RiskOfTraining(run_seconds, 0.05, std::nullopt); }

// Two GPUs are free until a job of all four begins in 3 h.
constexpr const char* kHole = "node n1 a100:4\nrun 1 n1 a100:2 ends 3h\npend 2 a100:4 limit 9h";

TEST(AdviseLimit, AShorterLimitThatFitsTheHoleStartsNow) {
  const Asked asked(kHole, "a100:2 limit 24h", Sure(1.5 * kHour));
  ASSERT_TRUE(asked.advice.best);
  const LimitPoint& best = asked.advice.points[*asked.advice.best];
  EXPECT_LE(best.limit_seconds, 3 * kHour);
  EXPECT_GE(best.limit_seconds, 1.5 * kHour);
  EXPECT_EQ(best.start.Quantile(.5), 0);
  EXPECT_EQ(asked.advice.words,
            "-t 02:00:00 instead of 1-00:00:00: starts 12 h sooner, now; less than 0.1 % of such "
            "runs would be cut off");
  EXPECT_THAT(asked.advice.soft, HasSubstr("--time-min=02:00:00 with -t 1-00:00:00"));
}

TEST(AdviseLimit, NothingIsAdvisedThatWouldCutTheRun) {
  const Asked asked(kHole, "a100:2 limit 24h", Sure(5 * kHour));
  EXPECT_FALSE(asked.advice.best);
  EXPECT_EQ(asked.advice.words, "no shorter limit starts it much earlier");
}

TEST(AdviseLimit, ARunThatResumesMayBeCutMoreOften) {
  const RunRisk all_over = RiskOfTraining(2 * kHour, 0.4, std::nullopt);  // 15 % beyond 3 h
  const RunRisk resumes = RiskOfTraining(2 * kHour, 0.4, 900);
  const Asked never(kHole, "a100:2 limit 24h", all_over);
  EXPECT_FALSE(never.advice.best);
  EXPECT_EQ(never.advice.words,
            "only limits that cut off more than 5 % of such runs start it much earlier");
  const Asked now(kHole, "a100:2 limit 24h", resumes);
  ASSERT_TRUE(now.advice.best);
  EXPECT_THAT(now.advice.words,
              HasSubstr("would be cut off and resume from their last checkpoint"));
}

TEST(AdviseLimit, WhereTheRiskIsNotKnownTheCurveIsThereAndNoAdvice) {
  const Asked asked(kHole, "a100:2 limit 24h", RiskFromHistory(nullptr, JobOf(24 * kHour)));
  EXPECT_GT(asked.advice.points.size(), 3u);
  EXPECT_FALSE(asked.advice.best);
  EXPECT_FALSE(asked.advice.points.front().risk);
  EXPECT_THAT(asked.advice.words, HasSubstr("the risk of a shorter limit is not known"));
}

TEST(AdviseLimit, NothingBelowTheUsersOwnFloorIsEvenTried) {
  const Asked asked(kHole, "a100:2 limit 24h", Sure(kHour), 4 * kHour);
  for (const LimitPoint& point : asked.advice.points) EXPECT_GE(point.limit_seconds, 4 * kHour);
  EXPECT_FALSE(asked.advice.best);
}

TEST(AdviseLimit, BeforeAMaintenanceTheLimitThatEndsInTimeStarts) {
  const Asked asked("node n1 a100:4\nreserve upkeep n1 from 5h to 9h flags MAINT",
                    "a100:2 limit 24h", Sure(3 * kHour));
  ASSERT_TRUE(asked.advice.best);
  const LimitPoint& best = asked.advice.points[*asked.advice.best];
  EXPECT_LE(best.limit_seconds, 5 * kHour);
  EXPECT_EQ(best.start.Quantile(.5), 0);
  EXPECT_NEAR(best.sooner, 9 * kHour, 60);
}

TEST(AdviseLimit, APartitionThatTheLimitOpensIsNamed) {
  const Asked asked(
      "node n1 a100:4\nnode s1 a100:4\npartition main n1 default\npartition short s1 max 4h\n"
      "run 1 n1 a100:4 ends 20h",
      "a100:2 limit 24h in main", Sure(kHour));
  ASSERT_TRUE(asked.advice.best);
  const LimitPoint& best = asked.advice.points[*asked.advice.best];
  EXPECT_TRUE(best.opens_partition);
  EXPECT_EQ(best.request.partitions, (std::vector<std::string>{"main", "short"}));
  EXPECT_THAT(asked.advice.words, HasSubstr("-p main,short -t 0"));
  EXPECT_EQ(asked.advice.soft, "");  // --time-min opens no partition
}

TEST(AdviseLimit, AQosThatTheUserMayUseAndThatTheLimitOpensIsNamed) {
  const Snapshot snapshot = SnapshotOf(
      "config enforce associations,limits,qos\nqos normal\nqos short priority 100 max-wall 4h\n"
      "qos others priority 900 max-wall 4h\nconfig priority multifactor\nconfig qos 1000\n"
      "assoc lab user bob qos normal,short default-qos normal default\nassoc lab user ann qos "
      "normal\n"
      "node n1 a100:4\nrun 1 n1 a100:4 ends 1h\n"
      "pend 2 a100:4 priority 50 limit 9h\npend 3 a100:4 priority 50 limit 9h");
  const auto queue = PrepareQueue(snapshot);
  const JobRequest request = RequestOf("a100:2 limit 24h in main");
  const auto ask_as = [&](const JobRequest& other, const Submitter& who) {
    return StartOf(*queue, other, who);
  };
  const AskStart ask = [&](const JobRequest& other) { return ask_as(other, kBob); };
  const StartSamples start = *ask(request);
  const RunRisk risk = Sure(kHour);
  LimitQuestion question{snapshot, request, start, ask, risk};
  EXPECT_FALSE(AdviseLimit(question).best);  // behind both, however short
  question.submitter = &kBob;
  question.ask_as = ask_as;
  const LimitAdvice advice = AdviseLimit(question);
  ASSERT_TRUE(advice.best) << advice.words;
  EXPECT_EQ(advice.points[*advice.best].qos, "short");
  EXPECT_THAT(advice.words, HasSubstr("-q short -t 0"));
  EXPECT_NEAR(advice.points[*advice.best].sooner, 18 * kHour, 60);
}

TEST(AdviseLimit, AJobThatStartsSoonOrHasNoLimitIsLeftAlone) {
  EXPECT_EQ(Asked("node n1 a100:4", "a100:2 limit 24h", Sure(kHour)).advice.words,
            "it starts soon anyway");
  const Asked unlimited("node n1 a100:4", "a100:2 limit unlimited", Sure(kHour));
  EXPECT_TRUE(unlimited.advice.points.empty());
  EXPECT_EQ(unlimited.advice.words, "it has no time limit to shorten");
}

RC_GTEST_PROP(AdviseLimit, KeepsItsWord, ()) {
  const int64_t limit = *rc::gen::inRange<int64_t>(1, 72) * kHour;
  const int64_t floor = *rc::gen::inRange<int64_t>(0, 12) * kHour;
  const double p50 = *rc::gen::inRange(300, 60'000);
  const double sigma = *rc::gen::inRange(0, 15) / 10.;
  const int64_t ends = *rc::gen::inRange(1, 30);
  const Asked asked(
      fmt::format("node n1 a100:4\nrun 1 n1 a100:2 ends {}h\npend 2 a100:4 limit 9h", ends),
      fmt::format("a100:2 limit {}h", limit / kHour), RiskOfTraining(p50, sigma, std::nullopt),
      floor);
  const std::vector<LimitPoint>& points = asked.advice.points;
  RC_ASSERT(points.size() <= kMaxLimits && points.front().limit_seconds == limit);
  for (size_t i = 1; i < points.size(); ++i) {
    RC_ASSERT(points[i].limit_seconds < points[i - 1].limit_seconds);
    RC_ASSERT(points[i].limit_seconds >= floor);
    RC_ASSERT(*points[i].risk >= *points[i - 1].risk - 1e-9);
  }
  RC_ASSERT(!asked.advice.words.empty());
  if (!asked.advice.best) return;
  const LimitPoint& best = points[*asked.advice.best];
  RC_ASSERT(*best.risk <= kMaxRisk && best.sooner >= kWorthSeconds);
}

}  // namespace
}  // namespace gpuadvise
