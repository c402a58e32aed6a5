// Jobs of a past, for tests of the history.
#pragma once

#include <memory>

#include "common/past.h"
#include "common/wait_features.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {

/// A job that was forecast and has ended, with everything that can be kept of it.
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
  job.said = SaidWait{
      0, 90.5, 400.25, 120, WaitGroup::kNotFree, Deciles{0, 0, 7, 40, 90, 130, 200, 310, 400}};
  job.slurm_said = submit + 7'000;
  auto lesson = std::make_shared<WaitLesson>();
  lesson->group = WaitGroup::kNotFree;
  lesson->experts[2][5] = 0.25F;
  lesson->features.assign(kWaitFeatures, 1.5F);
  lesson->pooled = {0, 10, 400.5F};
  lesson->p90 = 400.25;
  lesson->keys = {"gpu|1", "*"};
  lesson->forest_ready = true;
  job.lesson = std::move(lesson);
  return job;
}

}  // namespace gpuadvise
