// What the whole daemon tells of the past, before and after it starts again.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "common/slurm/snapshot_records.h"
#include "tests/daemon/running_daemon.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

// A cluster as Slurm would show it now, as its collector prints it.
std::string BatchOf(const std::string& text) {
  Snapshot snapshot = SnapshotOf(text);
  const UnixSeconds now = std::time(nullptr) | 1;  // some of the hour has passed
  const int64_t later = now - snapshot.taken_at;
  snapshot.taken_at += later;
  snapshot.cluster = "seed";
  snapshot.source = "slurm-cli";
  for (Job& job : snapshot.jobs) {
    job.submit_time = job.eligible_time = snapshot.taken_at - 7'200;
    if (job.start_time) job.start_time = snapshot.taken_at - 3'600;
    if (job.end_time) *job.end_time += later;
  }
  std::string batch;
  WriteBatch(snapshot, TableSet::All(),
             [&](std::string_view line) { batch.append(line).append("\n"); });
  return batch;
}

TEST(HistoryProcess, WhatItToldItTellsAfterARestart) {
  RunningDaemon daemon;
  daemon.folder().Write("batch", BatchOf("node n1 gpul40s:4\nrun 7 n1 gpul40s:2 ends 1d\n"
                                         "pend 8 gpul40s:4 limit 1h\n"));
  daemon.SettingsAre("source: slurm-cli\naccounting_interval: 0s\nstate_dir: " +
                     daemon.folder().Path("state") + "\n");
  json told[2];
  for (json& answer : told) {
    ASSERT_TRUE(daemon.Start({"TZ=IST-5:30"}));
    ASSERT_TRUE(daemon.Shows("/healthz", R"("status":"ok")"));
    answer = json::parse(daemon.Connect().Ask(Get("/v1/history?gpu=l40s"))->body);
    daemon.Signal(SIGTERM);
    EXPECT_EQ(daemon.AwaitEnd(), "exited with status 0");
  }
  EXPECT_EQ(told[0]["time_zone"], "IST");
  EXPECT_EQ(told[0]["utc_offset_seconds"], 19'800);
  const json& last = told[0]["series"].back();
  EXPECT_EQ(last["busy_gpus"], 2.0) << told[0];
  EXPECT_EQ(last["pending"], 1.0);
  EXPECT_EQ(told[0]["note"].get<std::string>().substr(0, 23), "1 job with GPUs started");
  for (const char* member : {"heat", "by_week", "series", "since", "gpus", "note"}) {
    EXPECT_EQ(told[0][member], told[1][member]);
  }
}

// LimitFSIZE in a unit, ulimit -f: what is beyond it is told and ends nothing.
TEST(HistoryProcess, ABoundOnTheSizeOfFilesIsAProblemAndNoEnd) {
  RunningDaemon daemon;
  daemon.SettingsAre("source: slurm-cli\naccounting_interval: 0s\nstate_dir: " +
                     daemon.folder().Path("state") + "\n");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_FSIZE, &none);
  const bool started = daemon.Start();
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(started);
  EXPECT_TRUE(daemon.Shows("/healthz", R"("status":"ok")"));
  const json health = json::parse(daemon.Connect().Ask(Get("/healthz"))->body);
  EXPECT_NE(health["history"]["problem"].dump().find("ulimit -f"), std::string::npos) << health;
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.AwaitEnd(), "exited with status 0");
}

}  // namespace
}  // namespace gpuadvise::daemon
