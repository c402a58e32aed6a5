#include "common/runs/experiment.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

using nlohmann::json;

Experiment Advised() {
  Experiment experiment;
  experiment.job_id = 7;
  experiment.uid = 1000;
  experiment.user = "ann";
  experiment.submitted_at = 1'000;
  experiment.advice_id = "a-1";
  experiment.name = "träin";
  experiment.family = "f";
  experiment.output_dir = "/scratch/ann";
  experiment.request = {{"spec", {{"name", "träin"}}}};
  experiment.strategy = {{"gpu", "rtx4090"},      {"gpu_name", "RTX 4090"},
                         {"gpus_per_node", 4},    {"nodes", 1},
                         {"cost", 12.0},          {"cost_unit", "price"},
                         {"memory_bytes", 0},     {"run_mean_seconds", 4'000},
                         {"wait_p50_seconds", 60}};
  experiment.times = {1'010, 1'110, 3'110, "COMPLETED"};
  experiment.times.limit = 8'000;
  experiment.outcome.emplace();
  experiment.outcome->attempts.resize(2);
  experiment.outcome->attempts[0].out_of_memory = true;
  experiment.outcome->attempts[0].gpus = {{900, 1'000, {}, {}}};
  experiment.outcome->attempts[1].loss = 0.5;
  experiment.outcome->attempts[1].gpus = {{700, 1'000, 0.5, {}}, {600, 1'000, 0.7, {}}};
  return experiment;
}

TEST(Experiment, SurvivesItsText) {
  const auto again = ExperimentFromText(ToText(Advised()));
  ASSERT_TRUE(again);
  EXPECT_EQ(ToText(*again), ToText(Advised()));
  EXPECT_EQ(again->times, Advised().times);
}

TEST(Experiment, KeepsNeitherSecretsNorStages) {
  Experiment experiment = Advised();
  experiment.request["spec"]["env"] = {{"HF_TOKEN", "hf_SECRET"}};
  experiment.request["spec"]["command"] = "hf_SECRET";
  experiment.strategy["stages"] = json::array({{{"name", "a"}}});
  KeepOnlyWhatCounts(experiment);
  EXPECT_EQ(ToText(experiment), ToText(Advised()));
}

TEST(Experiment, TextThatIsNoneIsRefused) {
  for (const char* text : {"", "{}", "[]", "{\"job_id\": 1}", "{\"job_id\": \"x\", \"uid\": 1}"}) {
    EXPECT_FALSE(ExperimentFromText(text)) << text;
  }
}

// A row of the first version, which knew neither limit nor links nor the unit of the cost.
TEST(ExperimentRow, OfAnEarlierVersionHasNullForWhatItLacks) {
  const auto kept = ExperimentFromText(
      R"({"job_id": 7, "uid": 1000, "user": "ann", "submitted_at": 1000, "advice_id": "a-1",
          "name": "t", "family": "f", "output_dir": "", "request": null, "outcome": null,
          "strategy": {"gpu": "l40s", "gpu_name": "L40S", "nodes": 1, "wait_p50_seconds": 0},
          "times": [null, 1100, null, ""]})");
  ASSERT_TRUE(kept);
  const json row = ToJson(RowOf(*kept, "running", true));
  EXPECT_EQ(row["gpu"], "L40S");
  EXPECT_EQ(row["nodes"], 1);
  EXPECT_EQ(row["wait_p50_seconds"], 0);
  EXPECT_EQ(row["wait_seconds"], 100);
  for (const char* key : {"links", "cost", "gpus_per_node", "wait_p90_seconds", "micro_batch",
                          "time_limit_seconds", "limit_used", "precision"}) {
    EXPECT_TRUE(row.at(key).is_null()) << key;
  }
  EXPECT_EQ(row["cost_is_billing"], false);
  EXPECT_FALSE(row["strategy"].contains("links"));
}

TEST(ExperimentRow, HasThePromisedBesideTheReal) {
  const json row = ToJson(RowOf(Advised(), "ended", false));
  EXPECT_EQ(row["gpu"], "RTX 4090");
  EXPECT_EQ(row["wait_p50_seconds"], 60);
  EXPECT_EQ(row["wait_seconds"], 100);
  EXPECT_EQ(row["run_seconds"], 2'000);
  EXPECT_EQ(row["limit_used"], 0.25);
  EXPECT_EQ(row["cost"], 12.0);
  EXPECT_EQ(row["real_cost"], 6.0);  // half as long as planned
  EXPECT_EQ(row["attempts"], 2);
  EXPECT_EQ(row["out_of_memory"], 1);
  EXPECT_EQ(row["peak_memory_bytes"], 700);  // of what did not run out
  EXPECT_DOUBLE_EQ(row["mean_utilisation"].get<double>(), 0.6);
  EXPECT_TRUE(row["memory_bytes"].is_null());  // it was not counted
  EXPECT_FALSE(row.contains("outcome"));
}

TEST(ExperimentRow, LimitUsedNeedsAnEndAndALimit) {
  JobRecord record;
  record.start = 1'000;
  record.end = 1'600;
  Experiment experiment = ExperimentOf(record, 1000);
  EXPECT_FALSE(RowOf(experiment, "ended", false).limit_used.has_value()) << "unlimited";
  record.limit_seconds = 3'600;
  experiment = ExperimentOf(record, 1000);
  EXPECT_EQ(RowOf(experiment, "ended", false).limit_used, 0.167);
  experiment.times.end.reset();
  EXPECT_FALSE(RowOf(experiment, "running", false).limit_used.has_value());
}

TEST(ExperimentRow, WholeHasOutcomeRequestAndStrategy) {
  const json row = ToJson(RowOf(Advised(), "ended", true));
  EXPECT_EQ(row["outcome"]["attempts"].size(), 2u);
  EXPECT_EQ(row["request"]["spec"]["name"], "träin");
  EXPECT_EQ(row["strategy"]["gpu"], "rtx4090");
}

TEST(ExperimentRow, WhatIsNotKnownIsNull) {
  Experiment bare;
  bare.job_id = 1;
  const json row = ToJson(RowOf(bare, "unknown", true));
  for (const char* key : {"advice_id", "wait_seconds", "run_seconds", "gpu", "peak_memory_bytes",
                          "exit_code", "cost", "real_cost", "outcome", "request", "strategy"}) {
    ASSERT_TRUE(row.contains(key)) << key;
    EXPECT_TRUE(row[key].is_null()) << key;
  }
  EXPECT_EQ(row["has_outcome"], false);
}

}  // namespace
}  // namespace gpuadvise
