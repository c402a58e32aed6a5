#include "common/scheduler/queue_trajectories.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bench/made_cluster.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

struct Site {
  explicit Site(std::shared_ptr<const Snapshot> of, int samples = 4)
      : snapshot(std::move(of)), past(MadePast(*snapshot, 4)) {
    SimulationOptions options;
    options.samples = samples;
    options.simulate_once_from = 1;
    queue = PrepareQueue(snapshot, past, options);
  }
  std::shared_ptr<const Snapshot> snapshot;
  ForecastHistory past;
  std::shared_ptr<const QueueModel> queue;
};

std::shared_ptr<const Snapshot> Made(int64_t nodes, int64_t running, int64_t pending) {
  return std::make_shared<const Snapshot>(MadeCluster({nodes, running, pending}, 3));
}

// Starts of the job in each sample of the play.
std::vector<int64_t> StartsIn(const QueueTrajectories& played, size_t pending) {
  std::vector<int64_t> starts;
  for (const SimulatedSample& sample : played.samples()) {
    for (const SimulatedJob& job : sample.jobs) {
      if (job.pending == pending) starts.push_back(job.start);
    }
  }
  return starts;
}

// Taken out and put in again, a job starts about when it did.
TEST(PlayedOnce, PutsAJobWhereThePlayHadIt) {
  const Site site(Made(200, 400, 600));
  const QueueTrajectories& played = *site.queue->played();
  std::vector<double> errors;
  for (size_t i = 0; i < site.queue->pending().size(); i += 13) {
    PendingJob job = site.queue->pending()[i];
    job.replaces_job = job.id;
    ASSERT_TRUE(played.Takes(job));
    const std::vector<int64_t> truth = StartsIn(played, i);
    const std::vector<int64_t> put = played.StartsOf(job);
    ASSERT_EQ(truth.size(), put.size());
    for (size_t k = 0; k < put.size(); ++k) {
      const auto wait = static_cast<double>(truth[k]);
      errors.push_back(std::abs(static_cast<double>(put[k]) - wait) / std::max(wait, 600.0));
    }
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 0.05);
}

TEST(PlayedOnce, NobodyPassesAnEqualOfHigherRank) {
  const Site site(Made(64, 128, 200));
  PendingJob last = site.queue->pending().back();
  last.id = 1'000'000;
  last.rank.job_id = last.id;
  last.rank.priority = 0;
  const std::vector<int64_t> equal =
      StartsIn(*site.queue->played(), site.queue->pending().size() - 1);
  const std::vector<int64_t> put = site.queue->played()->StartsOf(last);
  for (size_t k = 0; k < put.size(); ++k) EXPECT_GE(put[k], equal[k]);
}

TEST(PlayedOnce, AHigherRankNeverStartsLater) {
  const Site site(Made(64, 128, 200));
  const QueueTrajectories& played = *site.queue->played();
  for (size_t i = 20; i < site.queue->pending().size(); i += 11) {
    PendingJob job = site.queue->pending()[i];
    job.replaces_job = job.id;
    const std::vector<int64_t> behind = played.StartsOf(job);
    job.rank.priority += 1'000'000;
    const std::vector<int64_t> before = played.StartsOf(job);
    for (size_t k = 0; k < behind.size(); ++k) EXPECT_LE(before[k], behind[k]) << i;
  }
}

TEST(PlayedOnce, PlansAsThePlanOfEverybodyDoes) {
  const Site site(Made(64, 128, 700));
  const QueueTrajectories& played = *site.queue->played();
  for (size_t i = 0; i < site.queue->pending().size(); i += 37) {
    PendingJob job = site.queue->pending()[i];
    job.replaces_job = job.id;
    for (const Durations durations : {Durations::kLimits, Durations::kLastTwo}) {
      EXPECT_EQ(played.Plan(job, durations).start, played.planned(durations)[i]) << i;
    }
  }
}

TEST(PlayedOnce, DoesNotTakeWhatItCannotJudge) {
  const auto snapshot = std::make_shared<const Snapshot>(SnapshotOf(
      "config enforce limits\nnode n[1-2] a100:4\nnode m1 l40s:4\nqos normal per-user gres/gpu=4\n"
      "assoc lab user ann\nrun 1 n1 a100:4 ends 2h user bob\n"
      "pend 2 a100:4 limit 1h\npend 3 a100:4 limit 1h\npend 4 l40s:1 limit 1h user bob"));
  ForecastHistory past;
  SimulationOptions options;
  options.simulate_once_from = 1;
  const auto queue = PrepareQueue(snapshot, past, options);
  const auto at = [&](int64_t id) {
    return *std::find_if(queue->pending().begin(), queue->pending().end(),
                         [&](const PendingJob& job) { return job.id == id; });
  };
  EXPECT_FALSE(queue->played()->Takes(at(2)));  // its user's limit may hold it back
  PendingJob depends = at(4);
  depends.after = {2};
  EXPECT_FALSE(queue->played()->Takes(depends));
}

TEST(PlayedOnce, AShortQueueIsPlayedForEachQuestion) {
  const Site site(Made(16, 30, 1));
  EXPECT_EQ(site.queue->played(), nullptr);
}

TEST(StartOf, InALongQueueIsAskedOfThePlay) {
  const Site site(Made(64, 128, 300), 8);
  JobRequest request = site.queue->snapshot().jobs.back().request;
  const auto start = StartOf(*site.queue, request, {1001, "ann", "", ""});
  ASSERT_TRUE(start);
  EXPECT_GT(start->Quantile(0.5), 0);
  EXPECT_GT(start->jobs_before, 0);
}

// The GPUs of another kind are as free as Slurm says, however many tasks wait before the request.
TEST(StartOf, BehindALongArrayIsNowWhereOtherGpusAreFree) {
  for (const int64_t count : {1'990, 2'500, 20'000}) {
    for (const std::string throttle : {"", " throttle 3"}) {
      const auto snapshot = std::make_shared<const Snapshot>(
          SnapshotOf("node n1 a100:4\nnode m1 l40s:4\nrun 1 n1 a100:4 ends 600h\npend 2 a100:4 "
                     "limit 24h count " +
                     std::to_string(count) + throttle + "\npend 3 a100:4 limit 24h user bob"));
      JobRequest request = snapshot->jobs.back().request;
      request.gpus_per_node = {{"l40s", 1}};
      for (const size_t simulate_once_from : {0, 1}) {
        ForecastHistory past;
        SimulationOptions options;
        options.samples = 2;
        options.simulate_once_from = simulate_once_from;
        const auto queue = PrepareQueue(snapshot, past, options);
        ASSERT_EQ(queue->played() != nullptr, simulate_once_from > 0);
        const auto start = StartOf(*queue, request, {1001, "ann", "", ""});
        ASSERT_TRUE(start) << start.error().message;
        EXPECT_LE(start->Quantile(1), 60) << count << throttle;
      }
    }
  }
}

// Three records stand before the request, one of them an array of 600 tasks.
TEST(PlayedOnce, BackfillLooksNoFurtherThanItMayTest) {
  const auto wait = [](const std::string& most) {
    const auto snapshot = std::make_shared<const Snapshot>(SnapshotOf(
        "config parameters bf_max_job_test=" + most +
        "\nnode n1 a100:4\nnode m1 l40s:4\nrun 1 n1 a100:4 ends 5h\n"
        "pend 2 a100:4 limit 1h count 600\npend 3 a100:4 limit 1h\npend 4 a100:4 limit 1h"));
    JobRequest request = snapshot->jobs.back().request;
    request.gpus_per_node = {{"l40s", 1}};
    ForecastHistory past;
    SimulationOptions options;
    options.samples = 2;
    options.simulate_once_from = 1;
    const auto start =
        StartOf(*PrepareQueue(snapshot, past, options), request, {1001, "ann", "", ""});
    return start ? start->Quantile(0) : static_cast<double>(kNever);
  };
  EXPECT_LE(wait("4"), 60);
  EXPECT_GT(wait("2"), 3600);
}

}  // namespace
}  // namespace gpuadvise
