// Two real daemons: one that is killed, cut off and comes back, and one that stands by for it.
#include <gtest/gtest.h>
#include <signal.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/slurm/snapshot_records.h"
#include "tests/daemon/running_daemon.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// A cluster as Slurm would show it now, `ahead` seconds by the clock of its own host.
std::string BatchNow(const std::string& text, int64_t ahead = 0) {
  Snapshot snapshot = SnapshotOf(text);
  const UnixSeconds now = (std::time(nullptr) | 1) + ahead;
  const int64_t later = now - snapshot.taken_at;
  snapshot.taken_at += later;
  snapshot.cluster = "seed";
  snapshot.source = "slurm-cli";
  for (Job& job : snapshot.jobs) {
    job.submit_time = job.eligible_time = snapshot.taken_at - ahead - 7'200;
    if (job.start_time) job.start_time = snapshot.taken_at - ahead - 3'600;
    if (job.end_time) *job.end_time += later - ahead;
  }
  std::string batch;
  WriteBatch(snapshot, TableSet::All(),
             [&](std::string_view line) { batch.append(line).append("\n"); });
  return batch;
}

constexpr const char* kCluster =
    "node n1 gpul40s:4\nrun 7 n1 gpul40s:2 ends 1d\n"
    "pend 8 gpul40s:4 limit 1h\n";

class StandbyProcess : public ::testing::Test {
 protected:
  StandbyProcess() {
    for (RunningDaemon* daemon : {&first_, &standby_}) {
      daemon->folder().Write("batch", BatchNow(kCluster));
    }
    first_.SettingsAre(Common(first_));
    way_ = standby_.folder().Path("way");  // what lies between the two
    fs::create_symlink(first_.socket_path(), way_);
    standby_.SettingsAre(Common(standby_) + "standby: {first: " + way_ +
                         ", check_interval: 200ms, copy_interval: 500ms}\n");
  }

  static std::string Common(const RunningDaemon& daemon) {
    return "source: slurm-cli\naccounting_interval: 0s\nstate_dir: " +
           daemon.folder().Path("state") + "\n";
  }

  // Both run, and the standby has a copy.
  bool StartBoth() {
    return first_.Start() && first_.Shows("/healthz", R"("status":"ok")") && standby_.Start() &&
           standby_.Shows("/healthz", R"("copy_age_seconds":0)");
  }

  int64_t JobsKept(const RunningDaemon& daemon) {
    const auto reply = daemon.Connect().Ask(Get("/healthz"));
    return reply ? json::parse(reply->body)["history"].value("jobs", int64_t{-1}) : -1;
  }

  RunningDaemon first_;
  RunningDaemon standby_;
  std::string way_;
};

TEST_F(StandbyProcess, SendsPeopleToTheFirstWhileThatLives) {
  ASSERT_TRUE(StartBoth());
  const auto reply = standby_.Connect().Ask(Get("/v1/gpus"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 303);
  EXPECT_NE(reply->body.find("stands by"), std::string::npos) << reply->body;
}

TEST_F(StandbyProcess, TakesOverFromAFirstThatWasKilledAndGivesBack) {
  ASSERT_TRUE(StartBoth());
  first_.Signal(SIGKILL);
  first_.AwaitEnd();
  ASSERT_TRUE(standby_.Shows("/healthz", R"("standing_in":true)"));
  ASSERT_TRUE(standby_.Shows("/healthz", R"("status":"ok")"));
  EXPECT_EQ(standby_.Connect().Ask(Get("/v1/gpus"))->status, 200);
  ASSERT_TRUE(first_.Start());
  ASSERT_TRUE(standby_.Shows("/healthz", R"("status":"standby")"));
  ASSERT_TRUE(standby_.Shows("/healthz", R"("copy_age_seconds":0)"));
  EXPECT_GT(JobsKept(first_), 0);
  standby_.Signal(SIGTERM);
  EXPECT_EQ(standby_.AwaitEnd(), "exited with status 0");
  EXPECT_NE(standby_.log().find("takes over"), std::string::npos);
  EXPECT_NE(standby_.log().find("given back"), std::string::npos) << standby_.log();
}

TEST_F(StandbyProcess, BothServeWhileTheyCannotReachEachOtherAndNoRowCountsTwice) {
  // The standby's Slurm host is an hour ahead: nothing compares the two.
  standby_.folder().Write("batch", BatchNow(kCluster, 3'600));
  ASSERT_TRUE(StartBoth());
  const int64_t kept = JobsKept(first_);
  fs::remove(way_);
  ASSERT_TRUE(standby_.Shows("/healthz", R"("standing_in":true)"));
  ASSERT_TRUE(standby_.Shows("/healthz", R"("newest_age_seconds":7)")) << "7200: it has saved";
  for (const RunningDaemon* daemon : {&first_, &standby_}) {
    EXPECT_EQ(daemon->Connect().Ask(Get("/v1/gpus"))->status, 200);
  }
  fs::create_symlink(first_.socket_path(), way_);
  ASSERT_TRUE(standby_.Shows("/healthz", R"("status":"standby")"));
  ASSERT_TRUE(standby_.Shows("/healthz", R"("copy_age_seconds":0)"));
  EXPECT_EQ(JobsKept(first_), kept);
  first_.Signal(SIGTERM);
  EXPECT_EQ(first_.AwaitEnd(), "exited with status 0");
  EXPECT_NE(first_.log().find(": 0 new here"), std::string::npos) << first_.log();
}

TEST_F(StandbyProcess, AFirstThatHangsIsGoneToo) {
  ASSERT_TRUE(StartBoth());
  first_.Signal(SIGSTOP);
  EXPECT_TRUE(standby_.Shows("/healthz", R"("standing_in":true)"));
  first_.Signal(SIGCONT);
  EXPECT_TRUE(standby_.Shows("/healthz", R"("status":"standby")"));
}

TEST_F(StandbyProcess, WhatCannotBeCopiedIsSaidAndTheOldCopyStays) {
  ASSERT_TRUE(StartBoth());
  fs::create_directory(standby_.folder().Path("state/history.db.arriving"));  // as a full disk
  EXPECT_TRUE(standby_.Shows("/healthz", "history.db.arriving"));
  EXPECT_TRUE(fs::is_regular_file(standby_.folder().Path("state/history.db")));
  first_.Signal(SIGKILL);
  first_.AwaitEnd();
  EXPECT_TRUE(standby_.Shows("/healthz", R"("standing_in":true)"));
  EXPECT_TRUE(standby_.Shows("/healthz", R"("status":"ok")"));
}

TEST_F(StandbyProcess, ItsOwnSocketIsNoFirst) {
  standby_.SettingsAre(Common(standby_) + "standby: " + standby_.socket_path() + "\n");
  EXPECT_FALSE(standby_.Start());
  EXPECT_EQ(standby_.AwaitEnd(), "exited with status 1");
  EXPECT_NE(standby_.log().find("stand by for itself"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::daemon
