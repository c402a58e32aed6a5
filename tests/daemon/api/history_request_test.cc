// GET /v1/history and what GET /v1/accuracy has of the past, as requests.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "daemon/api/routes.h"
#include "tests/daemon/fake_clock.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

class HistoryRequest : public testing::Test {
 protected:
  HistoryRequest() {
    cluster_.SetOnJobsChanged([this](const std::vector<PastJob>& jobs, const Snapshot& snapshot) {
      usage_.OnJobsChanged(jobs, snapshot);
    });
  }

  void ClusterIs(const std::string& lines) {
    auto snapshot = SnapshotOf(
        "node n1 gpul40s:4\nnode m1 gpu4090:2\npartition all n1\n"
        "partition own m1\n" +
        lines);
    for (Partition& partition : snapshot.partitions) partition.hidden = partition.name == "own";
    snapshot.source = "sim";
    cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
  }

  ApiResponse Raw(const std::string& target, const Peer& peer = {1001, false}) {
    return Handle({"GET", target, ""}, peer, state_);
  }
  json Ask(const std::string& target, const Peer& peer = {1001, false}) {
    return json::parse(Raw(target, peer).Bytes());
  }

  FakeClock clock_{kSnapshotTime};
  ClusterState cluster_{
      clock_, std::make_shared<const Catalogues>(Catalogues{ShippedGpus(), ShippedModels()}), 120};
  AdviceStore advice_{"test"};
  UserNames users_{clock_};
  HistoryWriter history_{nullptr, "a simulated cluster has none", clock_, 1};
  ExperimentLog experiments_{history_};
  UsageBook usage_{history_};
  ApiState state_{cluster_, history_, advice_, experiments_, users_, clock_, "", Serial, &usage_};
};

TEST_F(HistoryRequest, NeedsASnapshot) { EXPECT_EQ(Raw("/v1/history").status, 503); }

TEST_F(HistoryRequest, ASimulatedClusterIsToldFromMemory) {
  ClusterIs("run 7 n1 gpul40s:3 ends 1h\npend 8 gpul40s:4\n");
  const json answer = Ask("/v1/history?gpu=l40s");
  EXPECT_EQ(answer["meta"]["source"], "sim");
  EXPECT_EQ(answer["until"], kSnapshotTime);
  EXPECT_EQ(answer["heat"].size(), 168u);
  EXPECT_EQ(answer["weeks"], 8);
  ASSERT_FALSE(answer["series"].empty());
  EXPECT_GT(answer["series"].back()["busy_gpus"], 0);
  EXPECT_NE(answer["note"].get<std::string>().find("a simulated cluster has none"),
            std::string::npos);
}

TEST_F(HistoryRequest, NamesNobodyAndHidesHiddenTypesFromStrangers) {
  ClusterIs("run 7 n1 gpul40s:3 ends 1h user ann account lab\nrun 8 m1 gpu4090:1 ends 1h in own\n");
  const Peer stranger;
  ASSERT_TRUE(stranger.anonymous);
  for (const std::string target : {"/v1/history", "/v1/accuracy"}) {
    const std::string body = Raw(target, stranger).Bytes();
    EXPECT_EQ(body.find("ann"), std::string::npos) << target;
    EXPECT_EQ(body.find("4090"), std::string::npos) << target;
  }
  EXPECT_EQ(Ask("/v1/history")["gpus"].size(), 2u);
  EXPECT_EQ(Raw("/v1/history?gpu=rtx4090", stranger).status, 400);
  EXPECT_EQ(Raw("/v1/history?gpu=rtx4090").status, 200);
}

TEST_F(HistoryRequest, WhatCannotBeAskedIsRefusedWithASentence) {
  ClusterIs("");
  for (const std::string weeks : {"0", "58", "abc"}) {
    const ApiResponse response = Raw("/v1/history?weeks=" + weeks);
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(json::parse(response.Bytes())["errors"][0]["message"],
              "weeks is '" + weeks + "'; write a whole number from 1 to 57");
  }
  const json answer = Ask("/v1/history?gpu=%3Cb%3E%FF");
  EXPECT_EQ(answer["errors"][0]["code"], "bad_input");
}

TEST_F(HistoryRequest, AccuracyHasCalibrationWeeksAndPoints) {
  ClusterIs("");
  const json answer = Ask("/v1/accuracy");
  EXPECT_EQ(answer["calibration"].size(), 9u);
  EXPECT_EQ(answer["weeks"], json::array());
  EXPECT_EQ(answer["points"], json::array());
  EXPECT_EQ(answer["all"]["jobs"], 0);
}

}  // namespace
}  // namespace gpuadvise::daemon
