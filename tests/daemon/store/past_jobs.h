// Jobs of a past, for tests of the history, and what is kept of them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/history/forecast_history.h"
#include "common/history/wait_features.h"
#include "daemon/store/history.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {

// A job that was forecast and has ended, with everything that can be kept of it.
inline PastJob WholeJob(int64_t id, UnixSeconds submit = kSnapshotTime) {
  PastJob job;
  job.submission = std::make_shared<const Job>(
      SnapshotOf("node n1 a100:4\npend " + std::to_string(id) + " a100:2 limit 2h user ann")
          .jobs.at(0));
  job.record = RecordOf(*job.submission);
  job.record.submit = submit;
  job.record.eligible = submit + 5;
  job.record.name = "träin 'x'; DROP TABLE job";
  job.record.start = submit + 100;
  job.record.end = submit + 4'000;
  job.record.state = "TIMEOUT";
  job.said = PublishedForecast{
      0, 90.5, 400.25, 120, WaitGroup::kNotFree, Deciles{0, 0, 7, 40, 90, 130, 200, 310, 400}};
  job.slurm_said = submit + 7'000;
  auto forecast_record = std::make_shared<ForecastRecord>();
  forecast_record->group = WaitGroup::kNotFree;
  forecast_record->experts[2][5] = 0.25F;
  forecast_record->features.assign(kWaitFeatures, 1.5F);
  forecast_record->pooled = {0, 10, 400.5F};
  forecast_record->p90 = 400.25;
  forecast_record->keys = {"gpu|1", "*"};
  forecast_record->forest_ready = true;
  job.forecast_record = std::move(forecast_record);
  return job;
}

inline void ExpectSame(const PastJob& a, const PastJob& b) {
  EXPECT_EQ(a.record, b.record);
  EXPECT_EQ(a.said, b.said);
  EXPECT_EQ(a.slurm_said, b.slurm_said);
  EXPECT_EQ(a.lost, b.lost);
  ASSERT_EQ(a.forecast_record == nullptr, b.forecast_record == nullptr);
  if (a.forecast_record) {
    EXPECT_EQ(*a.forecast_record, *b.forecast_record);
  }
  ASSERT_EQ(a.submission == nullptr, b.submission == nullptr);
  if (a.submission) {
    EXPECT_EQ(*a.submission, *b.submission);
  }
}

// All that `history` keeps, in its order; every row can be read.
inline std::vector<PastJob> JobsIn(const History& history) {
  int64_t unreadable = 0;
  auto jobs = history.Load(unreadable);
  EXPECT_TRUE(jobs);
  EXPECT_EQ(unreadable, 0);
  return jobs ? *jobs : std::vector<PastJob>{};
}

// The texts of its experiment log, the newest first.
inline std::vector<std::string> TextsIn(const History& history) {
  std::vector<std::string> texts;
  EXPECT_TRUE(
      history.EachExperiment([&](const KeptExperiment& kept) { texts.push_back(kept.text); }));
  return texts;
}

}  // namespace gpuadvise::daemon
