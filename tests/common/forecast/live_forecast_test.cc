#include "common/forecast/live_forecast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/forecast/queue_between.h"
#include "common/forecast/start_of.h"
#include "common/history/accuracy.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

constexpr UnixSeconds kNow = kSnapshotTime;
constexpr int64_t kHour = 3'600;

// The snapshot `later` seconds after kNow; running jobs began 20 s before it unless `started` has
// them, all were submitted when `submitted` says, else long ago.
std::shared_ptr<const Snapshot> Look(const std::string& jobs, int64_t later,
                                     const std::map<int64_t, int64_t>& submitted = {},
                                     const std::map<int64_t, int64_t>& started = {}) {
  Snapshot snapshot = SnapshotOf("node n[1-2] a100:4 cpus 32\n" + jobs);
  snapshot.taken_at = kNow + later;
  for (Job& job : snapshot.jobs) {
    const auto when = submitted.find(job.id);
    job.submit_time = kNow + (when == submitted.end() ? -kHour : when->second);
    job.eligible_time = job.submit_time;
    if (job.state == JobState::kPending) continue;
    const auto start = started.find(job.id);
    job.start_time = kNow + (start == started.end() ? later - 20 : start->second);
    if (job.request.time_limit_seconds.has_value()) {
      job.end_time = *job.start_time + job.request.time_limit_seconds.value();
    }
  }
  return std::make_shared<const Snapshot>(std::move(snapshot));
}

const PastJob* Of(const LiveStep& step, int64_t id) {
  const auto found = std::find_if(step.changed.begin(), step.changed.end(),
                                  [&](const PastJob& job) { return job.record.id == id; });
  return found == step.changed.end() ? nullptr : &*found;
}

TEST(LiveForecast, WhoIsThereAtFirstIsKnownButNotForecast) {
  LiveForecast live;
  const LiveStep step = live.See(Look("run 1 n1 a100:4 limit 2h\npend 2 a100:4 limit 1h", 0));
  ASSERT_NE(Of(step, 2), nullptr);
  EXPECT_FALSE(Of(step, 2)->said);
  EXPECT_TRUE(step.state->past->scores.scores().empty());
}

TEST(LiveForecast, AJobIsForecastAsOfItsSubmissionAndScoredAtItsStart) {
  LiveForecast live;
  const std::string busy = "run 1 n1 a100:4 limit 2h\nrun 2 n2 a100:4 limit 2h\n";
  live.See(Look(busy, 0, {}, {{1, -600}, {2, -600}}));
  const LiveStep came =
      live.See(Look(busy + "pend 3 a100:4 limit 1h", 30, {{3, 12}}, {{1, -600}, {2, -600}}));
  const PastJob* job = Of(came, 3);
  ASSERT_NE(job, nullptr);
  ASSERT_TRUE(job->said);
  EXPECT_EQ(job->said->group, WaitGroup::kNotFree);
  EXPECT_GT(job->said->p90, 60);
  EXPECT_EQ(job->record.eligible, kNow + 12);
  ASSERT_NE(job->forecast_record, nullptr);

  const LiveStep started = live.See(Look("run 2 n2 a100:4 limit 2h\nrun 3 n1 a100:4 limit 1h", 60,
                                         {{3, 12}}, {{2, -600}, {3, 52}}));
  const auto& scores = started.state->past->scores.scores();
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_EQ(scores[0].job_id, 3);
  EXPECT_EQ(scores[0].wait, 40);
  EXPECT_EQ(scores[0].said, *job->said);
  EXPECT_EQ(Of(started, 3)->record.start, kNow + 52);
  EXPECT_EQ(Of(started, 1)->record.end, kNow + 45);  // between the two looks
}

TEST(LiveForecast, AJobThatStartedBetweenTwoLooksIsForecastFromTheStateBefore) {
  LiveForecast live;
  live.See(Look("", 0));
  const LiveStep step = live.See(Look("run 3 n1 a100:4 limit 1h", 30, {{3, 5}}, {{3, 9}}));
  const auto& scores = step.state->past->scores.scores();
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_EQ(scores[0].said.group, WaitGroup::kFitsNow);
  EXPECT_EQ(scores[0].said.p50, 0);
  EXPECT_EQ(scores[0].wait, 4);
}

TEST(LiveForecast, TheSecondOfABurstSeesTheFirst) {
  LiveForecast live;
  live.See(Look("", 0));
  const LiveStep step = live.See(
      Look("pend 3 a100:4 nodes 2 limit 1h\npend 4 a100:4 nodes 2 limit 1h", 30, {{3, 5}, {4, 6}}));
  EXPECT_EQ(Of(step, 3)->said->group, WaitGroup::kFitsNow);
  EXPECT_NE(Of(step, 4)->said->group, WaitGroup::kFitsNow);
}

TEST(LiveForecast, NothingIsForecastForALongGapOrAClockThatWentBack) {
  for (const int64_t later : {int64_t{2 * kHour}, int64_t{-30}}) {
    LiveForecast live;
    live.See(Look("", 0));
    const LiveStep step = live.See(Look("pend 3 a100:4 limit 1h", later, {{3, later - 5}}));
    ASSERT_NE(Of(step, 3), nullptr);
    EXPECT_FALSE(Of(step, 3)->said);
    EXPECT_NE(step.state->queue, nullptr);
  }
}

TEST(LiveForecast, AHeldJobIsForecastWhenItIsReleased) {
  LiveForecast live;
  live.See(Look("", 0));
  const LiveStep held = live.See(Look("pend 3 a100:4 limit 1h priority 0", 30, {{3, 5}}));
  EXPECT_EQ(Of(held, 3), nullptr);
  auto free = *Look("pend 3 a100:4 limit 1h priority 100", 60, {{3, 5}});
  free.jobs[0].eligible_time = kNow + 50;
  const LiveStep released = live.See(std::make_shared<const Snapshot>(free));
  ASSERT_NE(Of(released, 3), nullptr);
  EXPECT_TRUE(Of(released, 3)->said);
  EXPECT_EQ(Of(released, 3)->record.eligible, kNow + 50);
}

TEST(LiveForecast, WhatSlurmPublishedFirstIsKeptBesideOurs) {
  LiveForecast live;
  const std::string busy = "run 1 n1 a100:4 limit 2h\nrun 2 n2 a100:4 limit 2h\n";
  live.See(Look(busy, 0));
  for (const int64_t said : {3'000, 4'000}) {
    auto look = *Look(busy + "pend 3 a100:4 limit 1h", 30 + said / 1'000, {{3, 12}});
    look.jobs.back().start_time = kNow + said;
    live.See(std::make_shared<const Snapshot>(look));
  }
  const LiveStep started = live.See(Look("run 3 n1 a100:4 limit 1h", 90, {{3, 12}}, {{3, 80}}));
  const auto& scores = started.state->past->scores.scores();
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_EQ(scores[0].slurm_error_seconds, 2'920);
}

// A day in the life of two nodes: jobs of an hour, one every twenty minutes.
std::vector<PastJob> LiveThrough(LiveForecast& live, int64_t steps,
                                 std::shared_ptr<const ForecastState>& last) {
  std::map<int64_t, PastJob> rows;
  std::map<int64_t, int64_t> submitted;
  std::map<int64_t, int64_t> started;
  int64_t next = 1;
  std::vector<int64_t> waiting;
  std::map<std::string, std::pair<int64_t, int64_t>> busy;  // node: job, until
  for (int64_t t = 0; t < steps * 60; t += 60) {
    for (auto& [node, run] : busy) {
      if (run.first != 0 && run.second <= t) run.first = 0;
    }
    if (t % 1'200 == 0) {
      submitted[next] = t - 7;
      waiting.push_back(next++);
    }
    for (const std::string node : {"n1", "n2"}) {
      if (busy[node].first != 0 || waiting.empty()) continue;
      const int64_t job = waiting.front();
      waiting.erase(waiting.begin());
      busy[node] = {job, t + 1'800 + 600 * (job % 4)};
      started[job] = t - 2;
    }
    std::string jobs;
    for (const auto& [node, run] : busy) {
      if (run.first != 0) {
        jobs += "run " + std::to_string(run.first) + " " + node + " a100:4 limit 2h user u" +
                std::to_string(run.first % 3) + "\n";
      }
    }
    for (const int64_t job : waiting) {
      jobs += "pend " + std::to_string(job) + " a100:4 limit 2h user u" + std::to_string(job % 3) +
              "\n";
    }
    const LiveStep step = live.See(Look(jobs, t, submitted, started));
    for (const PastJob& job : step.changed) rows[job.record.id] = job;
    last = step.state;
  }
  std::vector<PastJob> all;
  for (auto& [id, job] : rows) all.push_back(job);
  return all;
}

TEST(ForecastHistory, ToldAtOnceSaysWhatItSaysWhenItLivedThroughIt) {
  LiveForecast live;
  std::shared_ptr<const ForecastState> last;
  const std::vector<PastJob> rows = LiveThrough(live, 20 * 60, last);
  ASSERT_GT(rows.size(), 50u);
  const UnixSeconds now = last->snapshot->taken_at;
  ForecastHistory restored = BuildHistory(rows, now);
  EXPECT_EQ(restored.open().size(), last->past->open().size());
  ASSERT_EQ(restored.scores.scores().size(), last->past->scores.scores().size());
  const auto question = RequestOf("a100:4 limit 2h");
  const Submitter ann{1001, "u1", "", ""};
  const auto before = StartOf(*last->queue, question, ann);
  const auto queue = ObserveAndPrepare(last->snapshot, restored, LiveOptions());
  const auto after = StartOf(*queue, question, ann);
  for (const double q : {0.1, 0.5, 0.9}) {  // but for the second at which a late job was noticed
    EXPECT_NEAR(before->Quantile(q), after->Quantile(q), 0.01 * before->Quantile(q) + 2);
  }
}

TEST(ForecastHistory, WhoIsNotThereAfterARestartIsLost) {
  LiveForecast before;
  before.See(Look("", 0));
  const LiveStep step = before.See(
      Look("pend 3 a100:4 limit 1h\nrun 4 n1 a100:2 limit 1h", 30, {{3, 5}, {4, 6}}, {{4, 8}}));
  LiveForecast after;
  after.Restore(BuildHistory(step.changed, kNow + 40));
  const LiveStep restarted = after.See(Look("run 3 n2 a100:4 limit 1h", 300, {{3, 5}}, {{3, 205}}));
  ASSERT_NE(Of(restarted, 4), nullptr);
  EXPECT_TRUE(Of(restarted, 4)->lost);
  ASSERT_EQ(restarted.state->past->scores.scores().size(), 2u);  // the other one is scored
  EXPECT_EQ(restarted.state->past->scores.scores()[1].wait, 200);
  EXPECT_EQ(restarted.state->past->open().size(), 1u);
}

TEST(ForecastHistory, AnIdThatComesBackIsAnotherJob) {
  LiveForecast live;
  live.See(Look("pend 3 a100:4 limit 1h", 0, {{3, -50}}));
  const LiveStep step = live.See(Look("pend 3 a100:4 limit 1h", 30, {{3, 10}}));
  EXPECT_EQ(step.changed.size(), 2u);  // the one that left, the one that came
  EXPECT_EQ(step.state->past->Find(3)->record.submit, kNow + 10);
}

TEST(QueueBetween, FollowsWhatHappenedToJobsAndNodes) {
  QueueBetween between(*Look("run 1 n1 a100:3 limit 2h\npend 2 a100:4 limit 1h", 0));
  const auto ended = Look("run 1 n1 a100:3 limit 2h", 0)->jobs.front();
  between.Apply({JobEventKind::kEnded, kNow + 5, ended});
  auto snapshot = between.At(kNow + 6);
  EXPECT_EQ(snapshot->taken_at, kNow + 6);
  ASSERT_EQ(snapshot->jobs.size(), 1u);
  EXPECT_TRUE(snapshot->nodes[0].gpus_allocated.empty());
  between.Apply(
      {JobEventKind::kStarted, kNow + 7, Look("run 2 n2 a100:4 limit 1h", 0)->jobs.front()});
  snapshot = between.At(kNow + 8);
  EXPECT_EQ(snapshot->jobs[0].state, JobState::kRunning);
  EXPECT_EQ(snapshot->nodes[1].gpus_allocated, (GpuCounts{{"a100", 4}}));
}

StartScore Score(double p50, double p90, double wait) {
  StartScore score;
  score.said = {0, p50, p90, p50, WaitGroup::kNotFree};
  score.wait = wait;
  return score;
}

TEST(ComputeAccuracy, CountsErrorsCoverageAndSlurmsOwn) {
  StartScore slurm = Score(1'000, 2'000, 3'000);
  slurm.slurm_error_seconds = 9'000;
  const std::vector<StartScore> all = {Score(0, 0, 10), Score(100, 500, 80), slurm};
  const Accuracy accuracy = ComputeAccuracy({&all[0], &all[1], &all[2]});
  EXPECT_EQ(accuracy.jobs, 3);
  EXPECT_EQ(accuracy.median_abs_error_seconds, 20);
  EXPECT_EQ(accuracy.covered_jobs, 2);
  EXPECT_EQ(accuracy.coverage_p90, 0.5);
  EXPECT_EQ(accuracy.slurm_jobs, 1);
  EXPECT_EQ(accuracy.slurm_median_abs_error_seconds, 9'000);
  EXPECT_EQ(accuracy.median_abs_error_seconds_beside_slurm, 2'000);
}

TEST(ComputeAccuracy, NothingIsNoFigure) {
  EXPECT_EQ(ComputeAccuracy({}).jobs, 0);
  EXPECT_EQ(DescribeAccuracy(ComputeAccuracy({})), "accuracy not known yet (0 of 30 jobs needed)");
}

TEST(GpuSizeClass, DoublesFromClassToClass) {
  for (const auto& [gpus, name] : std::map<int64_t, std::string>{
           {0, "0"}, {1, "1"}, {2, "2-3"}, {3, "2-3"}, {4, "4-7"}, {8, "8-15"}, {100, "64-127"}}) {
    EXPECT_EQ(GpuSizeClass(gpus), name);
  }
}

}  // namespace
}  // namespace gpuadvise
