#include "client/clusters/merged_answer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "client/api/answer_reader.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

json Strategy(int rank, double total, double wait = 0, json cost = nullptr, double hours = 1) {
  return {{"rank", rank},
          {"gpu", "l40s"},
          {"gpus_per_node", 1},
          {"total_p50_seconds", total},
          {"total_p90_seconds", total * 2},
          {"wait_p50_seconds", wait},
          {"wait_p90_seconds", wait * 2},
          {"cost", std::move(cost)},
          {"gpu_hours", hours},
          {"reasons", {"said there"}}};
}

ClusterAnswer Advice(const std::string& cluster, std::vector<json> strategies,
                     const std::string& objective = "finish") {
  json answer = {
      {"objective", objective},      {"name", "job"},
      {"advice_id", cluster + "-1"}, {"strategies", std::move(strategies)},
      {"tips", {"a tip"}},           {"rejected", {{{"gpu", "h100"}, {"reasons", {"none"}}}}},
      {"snapshot_age_seconds", 3},   {"meta", {{"cluster", cluster}}}};
  return {cluster, std::move(answer)};
}

std::vector<std::string> Order(const json& merged) {
  std::vector<std::string> order;
  for (const json& row : merged["strategies"]) {
    order.push_back(row["cluster"].get<std::string>() + row["cluster_rank"].dump());
  }
  return order;
}

using Names = std::vector<std::string>;

TEST(MergedAnswer, StrategiesAreRankedByWhenTheResultIsThere) {
  const json merged =
      MergedAnswer("/v1/advise", {Advice("a", {Strategy(1, 100), Strategy(2, 300)}),
                                  Advice("b", {Strategy(1, 200), Strategy(2, 400)})});
  EXPECT_EQ(Order(merged), (Names{"a1", "b1", "a2", "b2"}));
  EXPECT_EQ(merged["strategies"][2]["rank"], 3);
  EXPECT_EQ(merged["strategies"][1]["advice_id"], "b-1");
  EXPECT_EQ(merged["strategies"][0]["reasons"][0], "done 2 m before the best of cluster b");
  EXPECT_EQ(merged["rejected"][1]["cluster"], "b");
  EXPECT_EQ(merged["tips"][0], "a: a tip");
  EXPECT_EQ(merged["meta"]["cluster"], "a and b");
}

TEST(MergedAnswer, TheSurerEndIsFirstAsWithinACluster) {
  json quick = Strategy(1, 1000);
  quick["total_p90_seconds"] = 20'000;
  json sure = Strategy(1, 5000);
  sure["total_p90_seconds"] = 5000;
  const json merged = MergedAnswer("/v1/advise", {Advice("a", {quick}), Advice("b", {sure})});
  EXPECT_EQ(merged["strategies"][0]["cluster"], "b");
  EXPECT_EQ(merged["strategies"][0]["reasons"][0], "surer than the best of cluster a");
}

TEST(MergedAnswer, WhatTheTrainingRestsOnIsSaidOnce) {
  ClusterAnswer a = Advice("a", {Strategy(1, 100)});
  (*a.answer)["assumed"] = {"512 tokens"};
  (*a.answer)["unsettled"] = {"training.max_seq_length"};
  const ClusterAnswer b = {"b", a.answer};
  const json merged = MergedAnswer("/v1/advise", {a, b});
  EXPECT_EQ(merged["assumed"], json::array({"512 tokens"}));
  EXPECT_EQ(merged["unsettled"], json::array({"training.max_seq_length"}));
}

TEST(MergedAnswer, ByStartCostAndDeadline) {
  EXPECT_EQ(Order(MergedAnswer("/v1/advise", {Advice("a", {Strategy(1, 100, 50)}, "start"),
                                              Advice("b", {Strategy(1, 200, 10)}, "start")})),
            (Names{"b1", "a1"}));
  EXPECT_EQ(Order(MergedAnswer("/v1/advise", {Advice("a", {Strategy(1, 100, 0, 9)}, "cost"),
                                              Advice("b", {Strategy(1, 200, 0, 8)}, "cost")})),
            (Names{"b1", "a1"}));
  json sure = Strategy(1, 300, 0, nullptr, 5);
  sure["makes_deadline"] = true;
  json likely = Strategy(1, 100);
  likely["makes_deadline"] = false;
  likely["deadline_chance"] = 0.8;
  EXPECT_EQ(Order(MergedAnswer("/v1/advise", {Advice("a", {likely}, "deadline"),
                                              Advice("b", {sure}, "deadline")})),
            (Names{"b1", "a1"}));
}

TEST(MergedAnswer, PricesOfOneClusterAloneRankNothingAndThatIsSaid) {
  const json merged =
      MergedAnswer("/v1/advise", {Advice("a", {Strategy(1, 100, 0, 1, 9)}, "cost"),
                                  Advice("b", {Strategy(1, 200, 0, nullptr, 8)}, "cost")});
  EXPECT_EQ(Order(merged), (Names{"b1", "a1"})) << "8 GPU-hours before 9";
  EXPECT_NE(merged["warnings"].dump().find("ranked by GPU-hours"), std::string::npos);
}

TEST(MergedAnswer, ASilentClusterIsAmongTheClustersWithWhy) {
  const json merged =
      MergedAnswer("/v1/advise", {Advice("a", {Strategy(1, 100)}),
                                  {"b", Fail(ErrorCode::kUnavailable, "no answer within 1 s")}});
  EXPECT_EQ(merged["clusters"][1]["error"], "no answer within 1 s");
  EXPECT_EQ(merged["clusters"][0]["error"], nullptr);
  EXPECT_EQ(merged["strategies"][0]["reasons"][0], "no other cluster can run it");
}

TEST(MergedAnswer, WhatNamesARowByItsRankNamesItByTheNewOne) {
  ClusterAnswer a = Advice("a", {Strategy(1, 100), Strategy(2, 300)});
  (*a.answer)["limit_advice"] = {{"rank", 2}, {"words", "shorter"}};
  const json merged = MergedAnswer("/v1/advise", {Advice("b", {Strategy(1, 200)}), a});
  EXPECT_EQ(merged["limit_advice"]["rank"], 3);
}

TEST(MergedAnswer, OtherQuestionsKeepTheirRowsWithTheirCluster) {
  const auto one = [](const char* name, json body) {
    body["meta"] = {{"cluster", name}, {"stale_cause", "old"}};
    return ClusterAnswer{name, std::move(body)};
  };
  const json gpus = MergedAnswer(
      "/v1/gpus", {one("a", {{"gpus", {{{"gpu", "x"}}}}}), one("b", {{"gpus", {{{"gpu", "y"}}}}})});
  EXPECT_EQ(gpus["gpus"][1]["cluster"], "b");
  EXPECT_EQ(gpus["meta"]["stale_cause"], "a: old; b: old");
  const json when =
      MergedAnswer("/v1/when", {one("a", {{"answers", {{{"error", {{"code", "infeasible"}}}}}}}),
                                one("b", {{"answers", {{{"wait_p50_seconds", 5}}}}})});
  EXPECT_EQ(when["answers"][0]["cluster"], "b") << "those that can start first";
  const json queue =
      MergedAnswer("/v1/queue?user=x", {one("a", {{"jobs", {{{"job_id", 1}}}}, {"total", 7}}),
                                        one("b", {{"jobs", json::array()}, {"total", 2}})});
  EXPECT_EQ(queue["total"], 9);
  EXPECT_EQ(queue["jobs"][0]["cluster"], "a");
}

TEST(MergedAnswer, RowsOfAnUnknownFormEndNothing) {
  const json odd = {{"strategies", {1, nullptr, {{"rank", "x"}}, json::array()}},
                    {"gpus", 3},
                    {"meta", 5},
                    {"tips", {{"a", 1}}}};
  for (const char* target : {"/v1/advise", "/v1/when", "/v1/gpus", "/v1/queue"}) {
    EXPECT_TRUE(MergedAnswer(target, {{"a", odd}, {"b", json::object()}}).is_object());
  }
}

// Each cluster's order stays, and every row is there once.
RC_GTEST_PROP(MergedAnswerProperty, KeepsEachClustersOrder, ()) {
  const auto totals = *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 100'000));
  std::vector<std::vector<int>> of(3);
  for (size_t i = 0; i < totals.size(); ++i) of[i % 3].push_back(totals[i]);
  std::vector<ClusterAnswer> answers;
  for (size_t c = 0; c < of.size(); ++c) {
    std::sort(of[c].begin(), of[c].end());
    std::vector<json> rows;
    for (size_t i = 0; i < of[c].size(); ++i)
      rows.push_back(Strategy(static_cast<int>(i) + 1, of[c][i]));
    answers.push_back(Advice(std::string(1, static_cast<char>('a' + c)), rows));
  }
  const json merged = MergedAnswer("/v1/advise", answers);
  RC_ASSERT(merged["strategies"].size() == totals.size());
  std::map<std::string, int64_t> last;
  double before = 0;
  for (const json& row : merged["strategies"]) {
    const int64_t rank = row["cluster_rank"];
    RC_ASSERT(rank == ++last[row["cluster"]]);
    RC_ASSERT(row["total_p50_seconds"].get<double>() >= before);
    before = row["total_p50_seconds"];
  }
}

}  // namespace
}  // namespace gpuadvise::client
