#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "daemon/answers/views.h"
#include "tests/daemon/answers/answer_world.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

TEST(AnswerFree, HasAStepFunctionForEachType) {
  const AnswerWorld world(
      "node n[1-2] gpu4090:4\n"
      "node n3 gpu4090:4 state DOWN\n"
      "node n4 gpul40s:2 state DOWN\n"
      "partition a n[1-4] default\n"
      "partition b n[1-2]\n");
  FreeForecast forecast;
  forecast.samples = 7;
  forecast.watched_seconds = 7200;
  forecast.types["rtx4090"] = {{1, 2, 3}, {2, 3, 4}, {3, 4, 5}, {4, 5, 6}, {5, 6, 7}, {0, 1, 2}};
  const json answer = AnswerFree(1, world.Context(), forecast);
  EXPECT_EQ(answer["start"], kSnapshotTime);
  EXPECT_EQ(answer["until"], kSnapshotTime + 3600);
  EXPECT_EQ(answer["step_seconds"], 900);
  EXPECT_EQ(answer["samples"], 7);
  EXPECT_EQ(answer["watched_seconds"], 7200);
  const json type = RowWith(answer["gpus"], "gpu", "rtx4090");
  EXPECT_EQ(type["total"], 12);
  EXPECT_EQ(type["usable"], 8);
  EXPECT_EQ(type["p10"], json::array({1, 2, 3, 4, 5}));
  EXPECT_EQ(type["p90"], json::array({3, 4, 5, 6, 7}));
  EXPECT_EQ(RowWith(answer["gpus"], "gpu", "l40s")["p50"], json::array({0, 0, 0, 0, 0}));
}

TEST(AnswerFree, EndsWhereNoMoreIsKnown) {
  const AnswerWorld world("node n1 gpu4090:4\n");
  FreeForecast forecast;
  forecast.types["rtx4090"] = {{4, 4, 4}, {3, 4, 4}};
  const json answer = AnswerFree(48, world.Context(), forecast);
  EXPECT_EQ(answer["until"], kSnapshotTime + 900);
  EXPECT_EQ(answer["gpus"][0]["p50"], json::array({4, 4}));
}

}  // namespace
}  // namespace gpuadvise::daemon
