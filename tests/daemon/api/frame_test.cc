#include "daemon/api/frame.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/base/version.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

DaemonState SeedState() {
  Snapshot snapshot = SnapshotOf("node n1 gpu4090:4\n");
  snapshot.cluster = "seed";
  snapshot.source = "sim";
  DaemonState state;
  state.snapshot = std::make_shared<const Snapshot>(std::move(snapshot));
  return state;
}

TEST(Frame, HasEveryMemberOfTheContract) {
  const DaemonState state = SeedState();
  const json answer = Framed({{"gpus", json::array()}}, &state, {12, std::nullopt});
  json expected = json::parse(R"({"errors": [], "gpus": [], "warnings": [],
      "snapshot_age_seconds": 12,
      "meta": {"cluster": "seed", "snapshot_taken_at": 1790000000, "source": "sim",
               "stale_cause": null}})");
  expected["meta"]["version"] = kVersion;
  EXPECT_EQ(answer, expected);
}

TEST(Frame, WithoutASnapshotItsMembersAreNull) {
  const json answer = Framed(json::object(), nullptr, {0, "no Slurm here"});
  EXPECT_TRUE(answer["snapshot_age_seconds"].is_null());
  EXPECT_TRUE(answer["meta"]["cluster"].is_null());
  EXPECT_TRUE(answer["meta"]["snapshot_taken_at"].is_null());
  EXPECT_EQ(answer["meta"]["stale_cause"], "no Slurm here");
}

TEST(Frame, WarningsOfTheAnswerStay) {
  const json answer = Framed({{"warnings", {"your account has no fair share"}}}, nullptr, {});
  EXPECT_EQ(answer["warnings"], json({"your account has no fair share"}));
}

TEST(Frame, AnErrorHasCodeMessageAndPointer) {
  const Error error{ErrorCode::kInfeasible, "no node has 9 GPUs", "/jobs/0/gres"};
  const json answer = FramedError(error, nullptr, {});
  EXPECT_EQ(
      answer["errors"],
      json::parse(
          R"([{"code": "infeasible", "message": "no node has 9 GPUs", "pointer": "/jobs/0/gres"}])"));
}

TEST(Frame, EveryErrorCodeHasItsStatusAndWord) {
  const std::tuple<ErrorCode, int, const char*> table[] = {
      {ErrorCode::kBadInput, 400, "bad_input"},    {ErrorCode::kNotFound, 404, "not_found"},
      {ErrorCode::kInfeasible, 422, "infeasible"}, {ErrorCode::kUnavailable, 503, "unavailable"},
      {ErrorCode::kStale, 503, "unavailable"},     {ErrorCode::kInternal, 500, "internal"}};
  for (const auto& [code, status, word] : table) {
    EXPECT_EQ(StatusOf(code), status);
    EXPECT_EQ(FramedError({code, "x", ""}, nullptr, {})["errors"][0]["code"], word);
  }
}

TEST(Frame, AnErrorOfTheEdgeHasTheFrameToo) {
  const ApiResponse response = PlainError(408, "bad_input", "too slow");
  EXPECT_EQ(response.status, 408);
  const json answer = json::parse(response.Bytes());
  EXPECT_EQ(answer["errors"][0]["message"], "too slow");
  EXPECT_EQ(answer["meta"]["version"], kVersion);
}

TEST(Frame, TextIsValidJsonWhateverTheBytes) {
  EXPECT_EQ(Text({{"name", "a\xff"}}), "{\"name\":\"a\xEF\xBF\xBD\"}");
}

}  // namespace
}  // namespace gpuadvise::daemon
