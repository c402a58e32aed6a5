#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "daemon/answers/views.h"
#include "tests/daemon/answers/answer_world.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

const std::string kNodes =
    "node n[1-2] gpu4090:4 cpus 32\nnode m1 gpul40s:6 cpus 64\nnode c1 cpus 8\n"
    "partition gpu n[1-2] default\npartition big m1\npartition cpu c1\n";
const std::string kBusy = kNodes +
                          "run 1 n1 gpu4090:4 cpus 4 ends 2h in gpu user bob\n"
                          "run 2 m1 gpul40s:2 cpus 4 ends 1h in big\n"
                          "run 3 n2 cpus 4 ends 1h in gpu\n"
                          "pend 10 gpu4090:4 nodes 2 limit 4h in gpu\n";

json Ask(const TimelineFilter& filter, const NodePast* past = nullptr,
         const Submitter& caller = kAnnAsks) {
  const AnswerWorld world(kBusy);
  return AnswerTimeline(filter, world.Context(), world.starts, past, caller);
}

TEST(AnswerTimeline, ANodeHasWhatRunsAndThenWhatIsForecast) {
  TimelineFilter filter;
  filter.node = "n1";
  const json answer = Ask(filter);
  EXPECT_EQ(answer["start"], kSnapshotTime - 24 * 3600);
  EXPECT_EQ(answer["until"], kSnapshotTime + 24 * 3600);
  EXPECT_TRUE(answer["known_since"].is_null());
  ASSERT_EQ(answer["total"], 1);
  const json node = answer["nodes"][0];
  EXPECT_EQ(node["gpu"], "rtx4090");
  EXPECT_EQ(node["total"], 4);
  ASSERT_EQ(node["jobs"].size(), 2u);
  const json runs = node["jobs"][0];
  EXPECT_EQ(runs["kind"], "running");
  EXPECT_EQ(runs["user"], "bob");
  EXPECT_EQ(runs["end"], kSnapshotTime + 2 * 3600);
  EXPECT_TRUE(runs["start_p90"].is_null());
  const json comes = node["jobs"][1];
  EXPECT_EQ(comes["kind"], "forecast");
  EXPECT_EQ(comes["job_id"], 10);
  EXPECT_EQ(comes["gpus"], 4);
  EXPECT_EQ(comes["start"], kSnapshotTime + 2 * 3600);
  EXPECT_EQ(comes["end"], kSnapshotTime + 6 * 3600);
}

TEST(AnswerTimeline, WhatStartsBehindItsEndIsLeftOut) {
  TimelineFilter filter;
  filter.node = "n1";
  filter.hours = 1;
  EXPECT_EQ(Ask(filter)["nodes"][0]["jobs"].size(), 1u);
}

TEST(AnswerTimeline, ATypeHasItsNodesAndNoneWithoutGpus) {
  TimelineFilter filter;
  EXPECT_EQ(Ask(filter)["total"], 3);
  filter.gpu = "rtx4090";
  filter.limit = 1;
  filter.offset = 1;
  const json answer = Ask(filter);
  EXPECT_EQ(answer["total"], 2);
  ASSERT_EQ(answer["nodes"].size(), 1u);
  EXPECT_EQ(answer["nodes"][0]["name"], "n2");
  EXPECT_EQ(answer["nodes"][0]["jobs"].size(), 1u);  // the forecast one: job 3 has no GPU
}

TEST(AnswerTimeline, JobsThatHaveEndedComeFromThePastAndWithoutNamesForStrangers) {
  NodePast past;
  Snapshot before = SnapshotOf(kNodes + "run 7 n2 gpu4090:2 cpus 4 ends 1h in gpu user bob\n");
  before.taken_at -= 3 * 3600;
  before.jobs[0].start_time = before.taken_at - 600;
  past.See(before);
  Snapshot after = SnapshotOf(kNodes);
  after.taken_at -= 2 * 3600;
  past.See(after);
  TimelineFilter filter;
  filter.node = "n2";
  const json answer = Ask(filter, &past);
  EXPECT_EQ(answer["known_since"], before.taken_at);
  const json ended = RowWith(answer["nodes"][0]["jobs"], "job_id", 7);
  EXPECT_EQ(ended["kind"], "ended");
  EXPECT_EQ(ended["gpus"], 2);
  EXPECT_EQ(ended["end"], kSnapshotTime - 2 * 3600);
  EXPECT_EQ(ended["user"], "bob");
  EXPECT_TRUE(
      RowWith(Ask(filter, &past, kNobodyAsks)["nodes"][0]["jobs"], "job_id", 7)["user"].is_null());
  filter.hours = 1;
  EXPECT_EQ(RowWith(Ask(filter, &past)["nodes"][0]["jobs"], "job_id", 7), json());
}

TEST(AnswerTimeline, PrivateNodesAreNotTold) {
  const AnswerWorld world(kBusy + "config private nodes\n");
  const json answer = AnswerTimeline({}, world.Context(), world.starts, nullptr, kAnnAsks);
  EXPECT_EQ(answer["nodes"], json::array());
  EXPECT_EQ(answer["warnings"].size(), 1u);
}

}  // namespace
}  // namespace gpuadvise::daemon
