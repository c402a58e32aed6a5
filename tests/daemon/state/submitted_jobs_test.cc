#include "daemon/state/submitted_jobs.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

constexpr int64_t kBob = 1002;
constexpr int64_t kEve = 666;
constexpr UnixSeconds kNow = kSnapshotTime;

// A queue that shows `ids`, all bob's and just submitted.
Snapshot Queue(const std::vector<int64_t>& ids) {
  std::string text = "node n1 gpu4090:4\n";
  for (const int64_t id : ids) text += "pend " + std::to_string(id) + " gpu4090:1 user bob\n";
  Snapshot snapshot = SnapshotOf(text);
  for (Job& job : snapshot.jobs) {
    job.uid = kBob;
    job.submit_time = kNow;
  }
  return snapshot;
}

Result<std::optional<UnixSeconds>> Of(int64_t id, int64_t uid, const Snapshot& queue,
                                      UnixSeconds now = kNow) {
  return SubmissionOf(id, uid, queue, now);
}

TEST(SubmittedJobs, TheQueueSaysWhoseAJobIsAndSinceWhen) {
  Snapshot queue = Queue({100'000});
  queue.jobs[0].array_job_id = 99'990;
  queue.jobs[0].het_job_id = 99'980;
  for (const int64_t id : {100'000, 99'990, 99'980}) {
    EXPECT_EQ(Of(id, kBob, queue).value(), std::optional(kNow)) << id;
    const auto refused = Of(id, kEve, queue);
    ASSERT_FALSE(refused) << id;
    EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
    EXPECT_EQ(refused.error().message, "job " + std::to_string(id) + " is not yours");
  }
}

TEST(SubmittedJobs, OfAnArrayTheFirstSubmissionCounts) {
  Snapshot queue = Queue({100'001, 100'002});
  for (Job& job : queue.jobs) job.array_job_id = 100'001;
  queue.jobs[1].submit_time = kNow - 60;
  EXPECT_EQ(Of(100'001, kBob, queue).value(), std::optional(kNow - 60));
}

TEST(SubmittedJobs, AnIdThatSlurmIsNowhereNearIsRefusedWithTheReason) {
  const Snapshot queue = Queue({100'000});
  EXPECT_EQ(Of(105'000, kEve, queue).value(), std::nullopt);
  EXPECT_EQ(Of(95'000, kEve, queue).value(), std::nullopt) << "it may have ended already";
  for (const int64_t id : {int64_t{200'000}, int64_t{12}, int64_t{1} << 40}) {
    const auto refused = Of(id, kEve, queue);
    ASSERT_FALSE(refused) << id;
    EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
    EXPECT_NE(refused.error().message.find("the newest job in the queue is 100000"),
              std::string::npos);
  }
}

TEST(SubmittedJobs, TheLongerNothingWasSubmittedTheFurtherSlurmMayBe) {
  const Snapshot queue = Queue({500});
  EXPECT_FALSE(Of(200'000, kEve, queue));
  EXPECT_TRUE(Of(200'000, kEve, queue, kNow + 3'600));
  EXPECT_TRUE(Of(200'000, kEve, Queue({}))) << "nothing is known";
  Snapshot simulated = Queue({500});
  simulated.source = "sim";
  EXPECT_TRUE(Of(200'000, kEve, simulated)) << "its sbatch counts by itself";
}

TEST(SubmittedJobs, IdsWrapAround) {
  Snapshot queue = Queue({67'043'000, 67'043'100, 7});
  for (Job& job : queue.jobs) job.submit_time = job.id == 7 ? kNow : kNow - 86'400;
  EXPECT_TRUE(Of(8, kEve, queue));
}

}  // namespace
}  // namespace gpuadvise::daemon
