// What moved the start of a job that waits: each cause alone, through the snapshots that show it.
#include "common/forecast/start_moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "common/history/forecast_history.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

constexpr int64_t kHour = 3'600;

// A queue of two nodes in which job 3 has waited for an hour, and what the past knows of it.
class Waiting {
 public:
  // Jobs of `world` were submitted two hours ago, those of `later` half an hour ago; who runs began
  // then. `said`: the wait that was forecast for job 3.
  Waiting(const std::string& world, double said, const std::string& later = "") {
    AddJobs(world, 2 * kHour);
    AddJobs(later, kHour / 2);
    const Job& mine = JobOf(3);
    PastJob past;
    past.record = RecordOf(mine);
    past.said = PublishedForecast{};
    past.said->p50 = said;
    past_.Submitted(std::move(past));
  }

  // Such jobs, limited to 100 h, run so long as a rule.
  void AsARule(int64_t ran) {
    for (int i = 0; i < 60; ++i) {
      JobRecord job = RecordOf(JobOf(3));
      job.limit_seconds = 100 * kHour;
      job.start = kSnapshotTime - 200 * kHour + i * 60;
      job.end = *job.start + ran;
      past_.run_times.Ended(job);
    }
  }

  // A job that was there when job 3 came, and left half an hour ago, after so many seconds of
  // running; 0: it did not start.
  void Left(int64_t id, int64_t gpus, int64_t ran) {
    const UnixSeconds end = kSnapshotTime - kHour / 2;
    JobRecord job = RecordOf(JobOf(3));
    job.id = id;
    job.gpus = gpus;
    job.limit_seconds = 100 * kHour;
    job.submit = job.eligible = kSnapshotTime - 3 * kHour;
    past_.Submitted(job);
    if (ran == 0) return past_.Vanished(id, end);
    past_.Started(id, end - ran);
    past_.Ended(id, end);
  }

  std::optional<StartMove> Move() const {
    const auto queue = PrepareQueue(std::make_shared<const Snapshot>(snapshot_), past_);
    const auto start = StartOfWaiting(*queue, JobOf(3), JobOf(3).request);
    return start ? FindStartMove(JobOf(3), *queue, *start) : std::nullopt;
  }

 private:
  void AddJobs(const std::string& text, int64_t ago) {
    Snapshot part = SnapshotOf("node n[1-2] a100:4 cpus 32\n" + text);
    for (Job& job : part.jobs) {
      job.submit_time = kSnapshotTime - (job.id == 3 ? kHour : ago);
      job.eligible_time = job.submit_time;
      if (job.state != JobState::kPending) job.start_time = job.submit_time;
    }
    if (snapshot_.nodes.empty()) {
      snapshot_ = std::move(part);
    } else {
      for (Job& job : part.jobs) snapshot_.jobs.push_back(std::move(job));
    }
  }

  const Job& JobOf(int64_t id) const {
    return *std::find_if(snapshot_.jobs.begin(), snapshot_.jobs.end(),
                         [&](const Job& job) { return job.id == id; });
  }

  Snapshot snapshot_;
  ForecastHistory past_;
};

std::string BecauseOf(const std::optional<StartMove>& move) {
  if (!move) return "not moved";
  std::string text = move->now > move->said ? "later:" : "earlier:";
  for (const std::string& each : move->because) text += " " + each + ";";
  return text;
}

const std::string kBusy = "run 1 n1 a100:4 limit 10h\nrun 2 n2 a100:4 limit 10h\n";
const std::string kMine = "pend 3 a100:4 nodes 2 limit 1h priority 100\n";
constexpr double kAtOnce = 60;
constexpr double kInAWeek = 7 * 24 * kHour;

TEST(FindStartMove, WhatIsAsItWasSaidHasNotMoved) {
  const auto moved = Waiting(kBusy + kMine, kAtOnce).Move();
  ASSERT_TRUE(moved);
  const auto said = static_cast<double>(moved->now - (kSnapshotTime - kHour));
  EXPECT_EQ(BecauseOf(Waiting(kBusy + kMine, said).Move()), "not moved");
  EXPECT_EQ(BecauseOf(Waiting(kBusy + kMine, said + 500).Move()), "not moved");
}

TEST(FindStartMove, AMoveWithoutACauseInTheQueueHasNoReasons) {
  EXPECT_EQ(BecauseOf(Waiting(kMine, 24 * kHour).Move()), "earlier:");
}

TEST(FindStartMove, WhoCameLaterAndStandsBeforeItIsCounted) {
  const Waiting day(kBusy + kMine, kAtOnce,
                    "pend 4 a100:4 nodes 2 limit 20h priority 900\n"
                    "pend 5 a100:4 nodes 2 limit 20h priority 800\n"
                    "pend 6 a100:4 nodes 2 limit 20h priority 50\n");
  EXPECT_EQ(BecauseOf(day.Move()), "later: 2 jobs (16 GPUs) submitted later rank above it;");
}

TEST(FindStartMove, WhoCameLaterAndStartedIsCounted) {
  const Waiting day(kMine, kAtOnce, "run 4 n1 a100:4 limit 40h\nrun 5 n2 a100:2 limit 40h\n");
  EXPECT_EQ(BecauseOf(day.Move()), "later: 2 jobs (6 GPUs) submitted later already started;");
}

TEST(FindStartMove, WhoRunsOnBeyondWhatIsUsualIsCounted) {
  Waiting day("run 1 n1 a100:4 limit 100h\nrun 2 n2 a100:4 limit 100h\n" + kMine, kAtOnce);
  day.AsARule(3 * kHour / 2);
  EXPECT_EQ(
      BecauseOf(day.Move()),
      "later: 2 jobs (8 GPUs) on nodes it could use have run longer than three in four like them;");
}

TEST(FindStartMove, WhoEndedSoonAndWhoWasCancelledAreCounted) {
  Waiting day(kMine, kInAWeek);
  day.AsARule(20 * kHour);
  day.Left(7, 8, 0);
  day.Left(8, 4, kHour / 2 + 60);
  EXPECT_EQ(BecauseOf(day.Move()),
            "earlier: 1 job (8 GPUs) that waited before it left the queue without starting; "
            "1 job (4 GPUs) ended sooner than three in four like it;");
}

}  // namespace
}  // namespace gpuadvise
