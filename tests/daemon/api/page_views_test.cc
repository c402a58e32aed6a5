// The requests that the dashboard's views make, as callers with and without a name make them.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/api/answer_cache.h"
#include "tests/daemon/api/handlers_fixture.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

using PageViews = HandlersTest;

TEST_F(PageViews, TheViewsOfTheClusterAreAnsweredWithinTheFrame) {
  ClusterIs("run 1 classt25 gpu4090:3 cpus 4 ends 2h\npend 2 gpu4090:4 cpus 4 limit 1h\n");
  const json waits = Ask("GET", "/v1/waits", nullptr, kNobody);
  EXPECT_EQ(waits["gpus"].size(), 5u);
  EXPECT_EQ(waits["pending"], 1);
  EXPECT_EQ(waits["meta"]["snapshot_taken_at"], kSnapshotTime);
  const json nodes = Ask("GET", "/v1/nodes?gpu=rtx4090&condition=partly", nullptr, kNobody);
  EXPECT_EQ(nodes["total"], 1);
  EXPECT_EQ(nodes["nodes"][0]["promised"]["job_id"], 2);
  EXPECT_TRUE(nodes["nodes"][0]["jobs"][0]["user"].is_null());
  EXPECT_EQ(nodes["warnings"], json::array());
  const json queue = Ask("GET", "/v1/queue?offset=1&limit=1&gpu=rtx4090", nullptr, kNobody);
  EXPECT_EQ(queue["jobs"][0]["job_id"], 1);
  EXPECT_EQ(queue["total"], 2);
  EXPECT_EQ(queue["offset"], 1);
}

TEST_F(PageViews, WhoHasAnAnswerAlreadyIsToldThatItHolds) {
  const auto ask = [&](const std::string& tag, const Peer& peer = kNobody) {
    ApiRequest request{"GET", "/v1/map", ""};
    request.browser.if_none_match = tag;
    return Handle(request, peer, state_);
  };
  ClusterIs("run 1 classt25 gpu4090:3 cpus 4 ends 2h\n");
  const ApiResponse first = ask("");
  ASSERT_EQ(first.fields.at(0).first, "ETag");
  const std::string tag = first.fields.at(0).second;
  Snapshot later =
      SnapshotOf(std::string(kSeedCluster) + "run 1 classt25 gpu4090:3 cpus 4 ends 2h\n");
  later.cluster = "seed";
  later.taken_at += 30;
  cluster_.Accept(std::make_shared<const Snapshot>(std::move(later)));
  for (const Peer& peer : {kNobody, kMe}) {
    const ApiResponse same = ask("\"other\", " + tag, peer);
    EXPECT_EQ(same.status, 304);
    EXPECT_EQ(same.Bytes(), "");
    EXPECT_EQ(same.fields.at(1).second, std::to_string(kSnapshotTime + 30));
  }
  ClusterIs("run 1 classt25 gpu4090:1 cpus 4 ends 2h\n");
  const ApiResponse changed = ask(tag);
  EXPECT_EQ(changed.status, 200);
  EXPECT_NE(changed.fields.at(0).second, tag);
  EXPECT_TRUE(json::accept(changed.Bytes()));
}

TEST_F(PageViews, ViewsOfNoClusterSayThatThereIsNoneYet) {
  for (const char* target : {"/v1/waits", "/v1/nodes", "/v1/queue"}) {
    EXPECT_EQ(Raw("GET", target).status, 503) << target;
  }
}

TEST_F(PageViews, WhatAPageCannotBeAskedForIsRefusedWithASentence) {
  ClusterIs("");
  const auto refusal = [&](const std::string& target) {
    const ApiResponse response = Raw("GET", target);
    return std::to_string(response.status) + " " +
           json::parse(response.Bytes())["errors"][0].value("message", "");
  };
  EXPECT_EQ(refusal("/v1/nodes?offset=-1"), "400 offset is '-1'; write a whole number");
  EXPECT_EQ(refusal("/v1/queue?limit=abc"), "400 limit is 'abc'; write a whole number");
  EXPECT_EQ(refusal("/v1/nodes?limit="), "400 limit is ''; write a whole number");
  EXPECT_EQ(refusal("/v1/nodes?condition=idle"),
            "400 condition is 'idle'; write free, partly, busy, promised, drained, down, "
            "broken or idle_allocated");
  EXPECT_EQ(Ask("GET", "/v1/nodes?partition=%3Cb%3E")["nodes"], json::array());
  EXPECT_EQ(Ask("GET", "/v1/nodes?limit=99999999999999999999999")["nodes"].size(), 21u);
}

TEST_F(PageViews, TheQueueIsAFileForWhoWantsOne) {
  ClusterIs("run 1 classt25 gpu4090:3 cpus 4 ends 2h\npend 2 gpu4090:4 cpus 4 limit 1h\n");
  AnswerCache shared;
  state_.shared = &shared;
  const ApiResponse file = Raw("GET", "/v1/queue?format=csv&state=running", "", kNobody);
  EXPECT_EQ(file.content_type, "text/csv; charset=utf-8");
  EXPECT_EQ(file.fields.at(0).second, "attachment; filename=\"jobs.csv\"");
  EXPECT_NE(file.body.find("\r\n1,"), std::string::npos) << file.body;
  EXPECT_EQ(file.body.find("\r\n2,"), std::string::npos) << file.body;
  std::vector<ApiResponse> unsent(AnswerCache::kMostFiles - 1);
  for (ApiResponse& each : unsent) each = Raw("GET", "/v1/queue?format=csv", "", kNobody);
  EXPECT_EQ(unsent.back().status, 200);
  EXPECT_EQ(Raw("GET", "/v1/queue?format=csv", "", kNobody).status, 503);
  unsent.clear();
  EXPECT_EQ(Raw("GET", "/v1/queue?format=csv", "", kNobody).status, 200);
  EXPECT_EQ(Raw("GET", "/v1/queue?format=xml").status, 400);
}

RC_GTEST_FIXTURE_PROP(PageViews, AnyQueryIsAnsweredOrRefused, (const std::string& text)) {
  ClusterIs("run 1 classt25 gpu4090:3 cpus 4 ends 2h\n");
  const std::string path = *rc::gen::element<std::string>("/v1/nodes?", "/v1/queue?");
  const std::string name = *rc::gen::element<std::string>(
      "search=", "limit=", "offset=", "gpu=", "partition=", "condition=", "");
  const ApiResponse response = Raw("GET", path + name + text, "", kNobody);
  RC_ASSERT(response.status == 200 || response.status == 400);
  RC_ASSERT(json::accept(response.Bytes()));
}

TEST_F(PageViews, NamesOfAnyBytesAreValidJson) {
  Snapshot snapshot = SnapshotOf(std::string(kSeedCluster) + "run 1 classt25 gpu4090:3 ends 2h\n");
  const std::string evil = "\xff</script>\xe2\x80\xae\"\\\x01" + std::string(1000, 'A');
  snapshot.jobs[0].name = snapshot.jobs[0].user = evil;
  snapshot.jobs[0].request.partitions.push_back(evil);
  snapshot.nodes[0].reason = evil;
  snapshot.nodes[0].features = {evil};
  cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
  for (const char* target : {"/v1/waits", "/v1/nodes", "/v1/queue", "/v1/queue?search=%ff"}) {
    const ApiResponse response = Raw("GET", target);
    EXPECT_EQ(response.status, 200) << target;
    EXPECT_TRUE(json::accept(response.Bytes())) << target;
  }
}

TEST_F(PageViews, TheSchedulersHealthIsInSecondsAndAbsentWhereItWasNotRead) {
  Snapshot snapshot = SnapshotOf(kSeedCluster);
  SchedulerHealth& health = snapshot.config.health;
  health.problem = "sdiag ended with status 1: Access denied";
  cluster_.Accept(std::make_shared<const Snapshot>(snapshot));
  EXPECT_TRUE(Ask("GET", "/v1/scheduler")["read_at"].is_null());
  EXPECT_EQ(Ask("GET", "/v1/scheduler")["problem"], health.problem);
  EXPECT_TRUE(Ask("GET", "/v1/scheduler", nullptr, kNobody)["problem"].is_null());
  health.problem.clear();
  health.read_at = kSnapshotTime;
  health.rpcs = 4;
  health.rpc_us = 10'000;
  health.backfill.mean_us = 2'500'000;
  health.backfill.mean_depth = 30;
  snapshot.taken_at += 30;
  cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
  const json answer = Ask("GET", "/v1/scheduler", nullptr, kNobody);
  EXPECT_EQ(answer["read_at"], kSnapshotTime);
  EXPECT_EQ(answer["rpc_mean_seconds"], 0.0025);
  EXPECT_EQ(answer["backfill"]["mean_seconds"], 2.5);
  EXPECT_EQ(answer["backfill"]["mean_depth"], 30);
  EXPECT_TRUE(answer["main"]["mean_seconds"].is_null());
}

TEST_F(PageViews, AJobNamesThoseAheadOfIt) {
  ClusterIs(
      "pend 3 gpu4090:4 limit 1h priority 9\npend 4 gpu4090:4 limit 1h priority 7\n"
      "pend 5 gpul40s:6 limit 1h priority 8\npend 6 gpu4090:4 limit 1h priority 1\n");
  const json answer = Ask("GET", "/v1/jobs/6", nullptr, kNobody);
  std::vector<int64_t> ids;
  for (const json& job : answer["ahead"]) ids.push_back(job["job_id"]);
  EXPECT_EQ(ids, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(answer["ahead"][0]["priority"], 9);
}

TEST_F(PageViews, TheSitesConfigurationIsForUsersOfTheSocket) {
  ClusterIs("config parameters bf_window=2880,max_rpc_cnt=150\n");
  const json answer = Ask("GET", "/v1/site");
  json treatments;
  for (const json& each : answer["settings"]) treatments[each["key"]] = each["treatment"];
  EXPECT_EQ(treatments["bf_window"], "simulated");
  EXPECT_EQ(treatments["max_rpc_cnt"], "not known");
  EXPECT_EQ(answer["hidden"], json::array());
  EXPECT_EQ(Raw("GET", "/v1/site", "", kNobody).status, 404);
}

}  // namespace
}  // namespace gpuadvise::daemon
