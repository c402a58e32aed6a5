#include "daemon/state/usage_book.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/collector/accounting.h"
#include "daemon/state/cluster_state.h"
#include "tests/daemon/fake_clock.h"
#include "tests/daemon/store/old_history.h"
#include "tests/daemon/store/past_jobs.h"
#include "tests/daemon/temp_folder.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

constexpr int64_t kYear = int64_t{400} * 86'400;
constexpr UnixSeconds kHour = kSnapshotTime / kHourSeconds * kHourSeconds;

// What Slurm remembers of jobs, whoever watches.
struct Times {
  std::map<int64_t, UnixSeconds> submitted;
  std::map<int64_t, UnixSeconds> started;
};

// A daemon's parts that make a history, over one state folder: one that ends and starts again.
class Watcher {
 public:
  Watcher(const TempFolder& folder, FakeClock& clock, Times& times)
      : clock_(clock),
        times_(times),
        history_(std::move(*History::Open(folder.Path("state"), clock.Now())), "", clock, kYear),
        cluster_(clock,
                 std::make_shared<const Catalogues>(Catalogues{ShippedGpus(), ShippedModels()}),
                 120) {
    cluster_.SetOnJobsChanged([this](std::vector<PastJob> jobs, const Snapshot& snapshot) {
      book_.OnJobsChanged(jobs, snapshot);
      history_.Put(std::move(jobs));
    });
    Restore();
  }

  void Restore() {
    cluster_.Restore([this] {
      ForecastHistory past = BuildHistory(history_.Load(), clock_.Now());
      book_.Restore(past, clock_.Now());
      return past;
    });
  }

  void Sees(const std::string& lines) {
    Snapshot snapshot = SnapshotOf("node n[1-2] a100:4\n" + lines);
    snapshot.taken_at = clock_.Now();
    for (Job& job : snapshot.jobs) {  // the text counts from its own time
      const auto first = times_.submitted.try_emplace(job.id, clock_.Now()).first->second;
      job.submit_time = job.eligible_time = first;
      if (job.state == JobState::kPending) continue;
      job.start_time = times_.started.try_emplace(job.id, clock_.Now()).first->second;
      job.end_time = *job.start_time + 86'400;
    }
    cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
  }

  // What stands in every hour that has anything, of type a100.
  std::string OnJobsChanged() const {
    return book_.Read([&](const UsageHistory& usage) {
      std::string told;
      const auto use = usage.types().find("a100");
      if (use == usage.types().end()) return told;
      use->second.Each(
          0, clock_.Now(), [&](int64_t hour, const Usage& sum, const SparseWaits& waits) {
            if (sum == Usage() && waits.counts().empty()) return;
            told += std::to_string(hour - kHour / kHourSeconds) + ": " +
                    std::to_string(sum.pending) + " " + std::to_string(sum.pending_gpus) + " " +
                    std::to_string(sum.busy_gpus);
            for (const auto& count : waits.counts()) {
              told += " " + std::to_string(count.wait_class) + "x" + std::to_string(count.jobs);
            }
            told += "\n";
          });
      return told;
    });
  }

  std::optional<UnixSeconds> watched_since() const {
    return book_.Read([](const UsageHistory& usage) { return usage.watched_since(); });
  }

  HistoryWriter& history() { return history_; }

 private:
  FakeClock& clock_;
  Times& times_;
  HistoryWriter history_;
  ClusterState cluster_;
  UsageBook book_{history_};
};

class UsageBookTest : public testing::Test {
 protected:
  std::unique_ptr<Watcher> Start() { return std::make_unique<Watcher>(folder_, clock_, times_); }

  TempFolder folder_;
  FakeClock clock_{kHour};
  Times times_;
};

TEST_F(UsageBookTest, WhatWasSeenIsTheSameAfterARestart) {
  auto watcher = Start();
  watcher->Sees("pend 7 a100:4\nrun 8 n1 a100:2 ends 1d\n");
  clock_.Advance(600);
  watcher->Sees("run 7 n2 a100:4 ends 1d\nrun 8 n1 a100:2 ends 1d\npend 9 a100:1\n");
  clock_.Advance(600);
  watcher->Sees("run 7 n2 a100:4 ends 1d\n");  // 8 ends and 9 leaves half way
  clock_.Advance(600);
  const std::string told = watcher->OnJobsChanged();
  // 7 waited 600 s and has 4 GPUs for 1200 s; 8 had 2 for 900 s; 9 waited 300 s.
  EXPECT_EQ(told, "0: 900 2700 6600 0x1 " + std::to_string(WaitClassOf(600)) + "x1\n");
  const auto since = watcher->watched_since();
  EXPECT_EQ(since, kHour);
  watcher.reset();
  watcher = Start();
  EXPECT_EQ(watcher->OnJobsChanged(), told);
  EXPECT_EQ(watcher->watched_since(), since);
}

TEST_F(UsageBookTest, WhoEndedWhileNobodyWatchedIsBusyNoLonger) {
  auto watcher = Start();
  watcher->Sees("run 7 n1 a100:4 ends 1d\nrun 8 n2 a100:1 ends 1d\n");
  watcher = nullptr;
  clock_.Advance(600);
  watcher = Start();
  clock_.Advance(10);
  watcher->Sees("run 8 n2 a100:1 ends 1d\n");
  EXPECT_EQ(watcher->OnJobsChanged().substr(0, 10), "0: 0 0 610");
  watcher.reset();
  EXPECT_EQ(Start()->OnJobsChanged().substr(0, 10), "0: 0 0 610");
}

TEST_F(UsageBookTest, AJobThatIsSeenCompletingAfterARestartCountsOnce) {
  auto watcher = Start();
  const std::string completing = "run 7 n1 a100:4 ends 1d state COMPLETING\n";
  watcher->Sees("run 7 n1 a100:4 ends 1d\n");
  clock_.Advance(100);
  watcher->Sees(completing);
  EXPECT_EQ(watcher->OnJobsChanged(), "0: 0 0 400 0x1\n");
  watcher.reset();
  watcher = Start();
  clock_.Advance(50);
  watcher->Sees(completing);
  EXPECT_EQ(watcher->OnJobsChanged().substr(0, 7), "0: 0 0 ");
  EXPECT_EQ(watcher->OnJobsChanged().find("0x2"), std::string::npos);
}

TEST_F(UsageBookTest, WhatAccountingAddsIsThereOnceItIsLearned) {
  auto watcher = Start();
  watcher->Sees("run 7 n1 a100:4 ends 1d\n");
  JobRecord missed;
  missed.id = 5;
  missed.submit = missed.eligible = kHour - 7'200;
  missed.start = kHour - 3'600;
  missed.end = kHour - 1'800;
  missed.gpu = "a100";
  missed.gpus = 1;
  EXPECT_EQ(watcher->history().Complete({missed}), 1);
  clock_.Advance(60);
  watcher->Restore();
  EXPECT_EQ(watcher->OnJobsChanged(), "-2: 3600 3600 0 " + std::to_string(WaitClassOf(3'600)) +
                                          "x1\n-1: 0 0 1800\n0: 0 0 240 0x1\n");
  EXPECT_EQ(watcher->watched_since(), kHour - 1'800);
  clock_.Advance(60);
  EXPECT_NE(watcher->OnJobsChanged().find("0: 0 0 480 0x1"), std::string::npos)
      << watcher->OnJobsChanged();
  watcher->Sees("");  // half way between the looks it ended
  EXPECT_NE(watcher->OnJobsChanged().find("0: 0 0 240 0x1"), std::string::npos)
      << watcher->OnJobsChanged();
}

// A row that nobody follows any more must not be busy for ever.
TEST_F(UsageBookTest, ARowWithoutAnEndThatNobodyKnowsIsOver) {
  auto watcher = Start();
  PastJob forgotten = WholeJob(3, kHour - 100 * 86'400);
  forgotten.record.start = kHour - 100 * 86'400;
  forgotten.record.end.reset();
  watcher->history().Put({forgotten});
  watcher->Restore();
  clock_.Advance(60);
  watcher->Sees("run 7 n1 a100:1 ends 1d\n");
  clock_.Advance(60);
  EXPECT_EQ(watcher->OnJobsChanged().substr(watcher->OnJobsChanged().rfind("\n0: ")),
            "\n0: 0 0 60 0x1\n");
}

TEST_F(UsageBookTest, RowsOfTheFirstVersionCount) {
  auto watcher = Start();
  watcher->history().Put({WholeJob(7, kHour - 3'600)});
  clock_.Advance(600);
  watcher->Restore();
  const std::string told = watcher->OnJobsChanged();
  EXPECT_EQ(told, "-1: 95 190 7000 " + std::to_string(WaitClassOf(95)) + "x1\n0: 0 0 800\n");
  watcher.reset();
  MakeVersion(folder_.Path("state/history.db"), 1);
  EXPECT_EQ(Start()->OnJobsChanged(), told);
}

// Many ask while a busy cluster is told of; each sees a whole picture.
TEST_F(UsageBookTest, IsReadWhileItIsTold) {
  auto watcher = Start();
  std::atomic<bool> stop = false;
  std::atomic<int64_t> torn = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (!stop) {  // 4 GPUs work, of one job or of the other
        const std::string told = watcher->OnJobsChanged();
        if (!told.empty() && told.find("0: 0 0 ") != 0) ++torn;
      }
    });
  }
  for (int look = 1; look <= 60; ++look) {
    clock_.Advance(1);
    watcher->Sees("run " + std::to_string(look) + " n1 a100:4 ends 1d\n");
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(watcher->OnJobsChanged().find("0: 0 0 "), 0u);
}

// Whatever a cluster does between looks: restored from its file, the book tells the same.
RC_GTEST_PROP(UsageBook, IsTheSameAfterARestart, ()) {
  TempFolder folder;
  FakeClock clock(kHour);
  Times times;
  auto watcher = std::make_unique<Watcher>(folder, clock, times);
  std::map<int64_t, int> state;  // of job 1 to 6: 0 unseen, 1 waits, 2 runs, 3 gone
  for (int look = *rc::gen::inRange(1, 8); look > 0; --look) {
    clock.Advance(*rc::gen::element<int64_t>(1, 30, 500, 4'000));
    std::string lines;
    for (int64_t id = 1; id <= 6; ++id) {
      int& now = state[id];
      now = std::min(now + *rc::gen::inRange(0, 3), 3);
      const std::string name = std::to_string(id);
      if (now == 1) lines += "pend " + name + " a100:1\n";
      if (now == 2) lines += "run " + name + (id < 4 ? " n1" : " n2") + " a100:1 ends 1d\n";
    }
    watcher->Sees(lines);
  }
  clock.Advance(10);
  const std::string told = watcher->OnJobsChanged();
  watcher.reset();
  Watcher again(folder, clock, times);
  RC_ASSERT(again.OnJobsChanged() == told);
}

}  // namespace
}  // namespace gpuadvise::daemon
