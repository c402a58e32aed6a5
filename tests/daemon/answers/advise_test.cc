// The whole of advice over small clusters: what is chosen, what is refused, and with which words.
#include "common/advise/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "daemon/answers/advice_json.h"
#include "daemon/answers/answer_training.h"
#include "daemon/answers/answers.h"
#include "tests/fakes/seed_cluster.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

json Gr00t() {
  return json::parse(R"({"name": "gr00t",
    "model": {"memory": {"base": "5 GB", "per_sample": "1.2 GB", "overhead": "2 GB"}},
    "training": {"max_steps": 10000, "effective_batch_size": [120, 144], "bf16": "auto", "measured": [
      {"gpu": "rtx4090", "gpus": 4, "batch": 10, "seconds_per_step": 3.9},
      {"gpu": "l40s", "gpus": 6, "batch": 12, "seconds_per_step": 2.6},
      {"gpu": "rtx2080ti", "gpus": 4, "batch": 5, "seconds_per_step": 7.3}]},
    "resources": {"cpus_per_gpu": 8}})");
}

struct World {
  explicit World(const std::string& lines, const GpuNaming& gpus = ShippedGpus())
      : snapshot(SnapshotOf(kSeedCluster + lines)), queue(PrepareQueue(snapshot)), naming(gpus) {}
  Snapshot snapshot;
  std::shared_ptr<const QueueModel> queue;
  const GpuNaming& naming;

  AdviceContext Context() const { return {snapshot, *queue, *queue, naming, ShippedModels()}; }
  Result<json> Ask(const json& spec, const json& more = json::object()) const {
    json body = more;
    body["spec"] = spec;
    return AnswerAdvise(body, Context(), {1001, "ann", "", ""});
  }
};

json Must(const Result<json>& answer) {
  EXPECT_TRUE(answer) << (answer ? "" : answer.error().message + " at " + answer.error().pointer);
  return answer.value_or(json{{"strategies", json::array()}, {"rejected", json::array()}});
}

json First(const json& answer) {
  return answer["strategies"].empty() ? json::object() : answer["strategies"][0];
}

// The best strategy on `gpu`, or null.
json BestOn(const json& answer, const std::string& gpu) {
  for (const json& strategy : answer["strategies"]) {
    if (strategy["gpu"] == gpu) return strategy;
  }
  return {};
}

std::string RejectionOf(const json& answer, const std::string& gpu) {
  for (const json& rejection : answer["rejected"]) {
    if (rejection["gpu"] == gpu && rejection["others_possible"] == false)
      return rejection["reasons"].dump();
  }
  return {};
}

const char* kL40SBusy = "run 1 classt[21-22] gpul40s:6 cpus 48 ends 20h\n";

TEST(Advise, OnAnEmptyClusterTheFastestRunIsFirst) {
  json answer = Must(World("").Ask(Gr00t()));
  EXPECT_EQ(First(answer)["gpu"], "l40s");
  EXPECT_EQ(First(answer)["gpus_per_node"], 6);
}

TEST(Advise, WhenTheFastestWaitsTheOneThatIsDoneFirstWins) {
  json answer = Must(World(kL40SBusy).Ask(Gr00t()));
  EXPECT_EQ(First(answer)["gpu"], "rtx4090");
  EXPECT_EQ(First(answer)["micro_batch"], 10);
  EXPECT_EQ(First(answer)["accumulation"], 3);
  EXPECT_EQ(First(answer)["effective_batch_size"], 120);
  EXPECT_EQ(BestOn(answer, "l40s")["wait_p50_seconds"], 20 * 3600);
}

TEST(Advise, TheEconomyStrategyStartsNowWhenAllElseIsTaken) {
  World world(std::string(kL40SBusy) + "run 2 classt25 gpu4090:4 cpus 32 ends 40h\n");
  json answer = Must(world.Ask(Gr00t(), {{"objective", "start"}}));
  EXPECT_EQ(First(answer)["wait_p50_seconds"], 0);
  json finish = Must(world.Ask(Gr00t()));
  EXPECT_EQ(First(finish)["gpu"], "rtx2080ti");
}

// Two of four GPUs are free until somebody of higher priority gets all in 20 h.
const char* kFreeFor20Hours =
    "run 1 classt25 gpu4090:2 cpus 8 ends 20h\n"
    "pend 2 gpu4090:4 cpus 16 priority 9000 limit 20h\n";

TEST(Advise, SaysWhenAShorterTimeLimitWouldStartItNow) {
  json spec = Gr00t();
  spec["resources"]["gpus"] = {"rtx4090"};
  spec["training"]["max_steps"] = 4000;
  spec["slurm"]["time"] = "1-20:00:00";
  const json answer = Must(World(kFreeFor20Hours).Ask(spec));
  EXPECT_EQ(First(answer)["time_limit_seconds"], 44 * 3600);
  EXPECT_GT(First(answer)["wait_p50_seconds"], 3600);
  EXPECT_THAT(answer["tips"][0].get<std::string>(),
              testing::HasSubstr("RTX 4090 × 2: -t 10:30:00 instead of "));

  spec["slurm"].erase("time");  // chosen short enough
  const json chosen = Must(World(kFreeFor20Hours).Ask(spec));
  EXPECT_EQ(First(chosen)["wait_p50_seconds"], 0);
  EXPECT_THAT(chosen["tips"].dump(), testing::Not(testing::HasSubstr("would be cut off")));
}

TEST(Advise, CountsMemoryFromTheShapeWhereThereIsNoLine) {
  const json spec = json::parse(R"({"model": {"preset": "llama-3.2-3b"},
    "training": {"max_steps": 1000, "effective_batch_size": 64, "max_seq_length": 1024,
      "method": "lora", "measured": [{"gpu": "l40s", "gpus": 1, "batch": 4, "seconds_per_step": 2}]},
    "resources": {"cpus_per_gpu": 4}})");
  const json answer = Must(World("").Ask(spec));
  const json l40s = BestOn(answer, "l40s");
  EXPECT_GE(l40s["micro_batch"], 4);
  EXPECT_GT(l40s["memory_bytes"], 6'400'000'000);  // its weights
  EXPECT_LE(l40s["memory_bytes"], 48.0 * (1 << 30));
  EXPECT_THAT(l40s["notes"].dump(), testing::HasSubstr("gradient_checkpointing: true"));
}

TEST(Advise, AFixedMicroBatchThatNothingChecksIsSaidOnEachRowAndItsRemedyOnce) {
  json spec = Gr00t();
  spec.erase("model");
  spec["training"].erase("effective_batch_size");
  spec["training"]["per_device_train_batch_size"] = 10;
  const json answer = Must(World(kL40SBusy).Ask(spec));
  bool unchecked = false;
  for (const json& strategy : answer["strategies"]) {
    EXPECT_TRUE(strategy["memory_checked"] == false || !unchecked) << strategy;  // these come first
    unchecked = unchecked || strategy["memory_checked"] == false;
    const bool said = strategy["notes"].dump().find("memory not checked") != std::string::npos;
    EXPECT_EQ(said, strategy["memory_checked"] == false) << strategy;
  }
  EXPECT_EQ(First(answer)["memory_checked"], true);
  EXPECT_EQ(BestOn(answer, "l40s")["memory_checked"], true);  // it ran there, with more
  EXPECT_EQ(BestOn(answer, "rtx2080ti")["memory_checked"], false);
  EXPECT_THAT(answer["tips"][0].get<std::string>(), testing::HasSubstr("gpuadvise probe"));
}

TEST(Advise, ANameOfSeveralCardsSaysWhichWasTaken) {
  const json vague = Must(
      World("node new1 a100:4 cpus 32\n").Ask(Gr00t(), {{"constraints", {{"gpus", {"a100"}}}}}));
  EXPECT_THAT(vague["tips"].dump(), testing::HasSubstr("GRES type a100 is read as A100 40GB SXM"));
  const GpuNaming said(ShippedGpus().catalogue(), {{{"a100", "a100-80gb-sxm"}}, {}, {}});
  const json clear = Must(World("node new1 a100:4 cpus 32\n", said)
                              .Ask(Gr00t(), {{"constraints", {{"gpus", {"a100"}}}}}));
  EXPECT_EQ(First(clear)["gpu"], "a100-80gb-sxm");
  EXPECT_THAT(clear["tips"].dump(), testing::Not(testing::HasSubstr("is taken as")));
}

TEST(Advise, EveryStrategyKeepsTheEffectiveBatchExactly) {
  json answer = Must(World("").Ask(Gr00t()));
  ASSERT_FALSE(answer["strategies"].empty());
  for (const json& s : answer["strategies"]) {
    int64_t product = s["micro_batch"].get<int64_t>() * s["accumulation"].get<int64_t>() *
                      s["gpus_per_node"].get<int64_t>() * s["nodes"].get<int64_t>();
    EXPECT_EQ(product, s["effective_batch_size"]);
    EXPECT_GE(product, 120);
    EXPECT_LE(product, 144);
  }
}

TEST(Advise, RanksByTheMedianOfWaitAndRun) {
  json answer = Must(World(kL40SBusy).Ask(Gr00t()));
  int64_t before = 0;
  for (const json& s : answer["strategies"]) {
    EXPECT_GE(s["total_p50_seconds"].get<int64_t>(), before);
    before = s["total_p50_seconds"];
    EXPECT_LE(s["total_p50_seconds"], s["total_p90_seconds"]);
    EXPECT_GE(s["time_limit_seconds"].get<int64_t>(), s["run_p50_seconds"].get<int64_t>());
  }
}

TEST(Advise, SlicesAreOneAJobAndSayWhyNot) {
  json answer = Must(World("").Ask(Gr00t()));
  std::string reasons = RejectionOf(answer, "h100-1g.11gb");
  EXPECT_NE(reasons.find("no peer-to-peer"), std::string::npos) << reasons;
  EXPECT_EQ(reasons.find("inf"), std::string::npos) << reasons;
  EXPECT_NE(reasons.find("more than the partition's 2 d"), std::string::npos) << reasons;
}

TEST(Advise, WhatResumesRunsAsAChainOfJobsWhereOneWouldBeTooLong) {
  json spec = Gr00t();
  spec["training"]["max_steps"] = 100'000;  // some 4 days on the L40S, 2 allowed
  EXPECT_TRUE(BestOn(Must(World("").Ask(spec)), "l40s").is_null());
  spec["training"]["resume"] = true;
  const json chain = BestOn(Must(World("").Ask(spec)), "l40s");
  ASSERT_FALSE(chain.is_null());
  EXPECT_EQ(chain["links"], 2);
  EXPECT_EQ(chain["time_limit_seconds"], 2 * 86'400);
  EXPECT_NE(chain["notes"].dump().find("2 jobs of 2 d in sequence"), std::string::npos);
  EXPECT_GT(chain["run_p50_seconds"].get<int64_t>(), 2 * 86'400);
}

TEST(Advise, EachLinkOfAChainWaitsAgain) {
  json spec = Gr00t();
  spec["training"]["max_steps"] = 100'000;
  spec["training"]["resume"] = "--resume_from_checkpoint latest";
  const json chain = BestOn(Must(World(kL40SBusy).Ask(spec)), "l40s");
  ASSERT_FALSE(chain.is_null());
  const int64_t wait = chain["wait_mean_seconds"], run = chain["run_mean_seconds"];
  ASSERT_GT(wait, 0);
  EXPECT_NEAR(chain["total_mean_seconds"].get<double>(),
              static_cast<double>(run + chain["links"].get<int64_t>() * wait), 5);
}

TEST(Advise, TuringRunsInFp16AndSaysSo) {
  json answer = Must(World("").Ask(Gr00t()));
  json turing = BestOn(answer, "rtx2080ti");
  EXPECT_EQ(turing["precision"], "fp16");
  EXPECT_NE(turing["notes"].dump().find("no bf16"), std::string::npos);
  EXPECT_EQ(BestOn(answer, "l40s")["precision"], "bf16");
}

TEST(Advise, FlashAttention2NeedsAmpere) {
  json spec = Gr00t();
  spec["requires"]["flash_attention_2"] = true;
  json answer = Must(World("").Ask(spec));
  EXPECT_TRUE(BestOn(answer, "rtx2080ti").is_null());
  EXPECT_NE(RejectionOf(answer, "rtx2080ti").find("FlashAttention-2"), std::string::npos);
}

TEST(Advise, TheSameLimitGoesIntoForecastAndSbatch) {
  json spec = Gr00t();
  spec["slurm"]["time"] = "30:00:00";
  const json kept = Must(World("").Ask(spec));  // a range of a temporary would be gone
  for (const json& s : kept["strategies"]) {
    EXPECT_EQ(s["time_limit_seconds"], 30 * 3600);
    EXPECT_EQ(s["sbatch"]["time"], "1-06:00:00");
  }
}

TEST(Advise, ALimitOverEveryPartitionsIsTheCallersToMend) {
  json spec = Gr00t();
  spec["slurm"]["time"] = "10-00:00:00";
  Result<json> answer = World("").Ask(spec);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kBadInput);
  EXPECT_EQ(answer.error().pointer, "/spec/slurm/time");
}

TEST(Advise, AnUnknownGpuIsNamedWithThoseThereAre) {
  json spec = Gr00t();
  spec["resources"]["gpus"] = {"rtx4090", "a100"};
  Result<json> answer = World("").Ask(spec);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().pointer, "/spec/resources/gpus/1");
  EXPECT_NE(answer.error().message.find("RTX 4090"), std::string::npos) << answer.error().message;
}

TEST(Advise, AnEffectiveBatchThatNothingHitsPointsAtItsLine) {
  json spec = Gr00t();
  spec["training"]["effective_batch_size"] = 7;
  Result<json> answer = World("").Ask(spec, {{"constraints", {{"gpus_per_node", 4}}}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().pointer, "/spec/training/effective_batch_size");
}

TEST(Advise, MoreGpusThanAnyNodeHasIsRefused) {
  Result<json> answer = World("").Ask(Gr00t(), {{"constraints", {{"gpus_per_node", 99}}}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().pointer, "/constraints/gpus_per_node");
}

TEST(Advise, WhatTheCallerFixedStays) {
  json constraints = {
      {"constraints",
       {{"gpus", {"2080ti"}}, {"gpus_per_node", 2}, {"time_limit_seconds", 172800}}}};
  json answer = Must(World("").Ask(Gr00t(), constraints));
  for (const json& s : answer["strategies"]) {
    EXPECT_EQ(s["gpu"], "rtx2080ti");
    EXPECT_EQ(s["gpus_per_node"], 2);
    EXPECT_EQ(s["time_limit_seconds"], 172800);
  }
}

TEST(Advise, NodesAreOnlyPinnedWhenTheCallerPins) {
  World world("");
  const json kept = Must(world.Ask(Gr00t()));  // a range of a temporary would be gone
  for (const json& s : kept["strategies"]) EXPECT_FALSE(s["sbatch"].contains("nodelist"));
  json pinned = Must(world.Ask(Gr00t(), {{"constraints", {{"nodelist", "classt25"}}}}));
  EXPECT_EQ(First(pinned)["sbatch"]["nodelist"], "classt25");
  EXPECT_EQ(First(pinned)["gpu"], "rtx4090");
}

TEST(Advise, DrainedNodesAreNotOfferedAndAreNamed) {
  World world("node spare gpuh100:8 state DRAIN\n");
  json answer = Must(world.Ask(Gr00t()));
  EXPECT_EQ(answer.dump().find("\"gpu\":\"h100-80gb-sxm\",\"gpu_hours\""), std::string::npos);
  EXPECT_NE(answer["rejected"].dump().find("down or drained"), std::string::npos);
}

TEST(Advise, SeveralNodesOnlyWhenAllowedAndWithLowConfidence) {
  json spec = Gr00t();
  spec["resources"]["max_nodes"] = 2;
  json answer = Must(World("").Ask(spec));
  auto two = std::find_if(answer["strategies"].begin(), answer["strategies"].end(),
                          [](const json& s) { return s["nodes"] == 2; });
  ASSERT_NE(two, answer["strategies"].end());
  EXPECT_NE((*two)["notes"].dump().find("low confidence"), std::string::npos);
  const json kept = Must(World("").Ask(Gr00t()));  // a range of a temporary would be gone
  for (const json& s : kept["strategies"]) EXPECT_EQ(s["nodes"], 1);
}

TEST(Advise, CpusThatANodeDoesNotHaveAreSaid) {
  json spec = Gr00t();
  spec["resources"]["cpus_per_gpu"] = 40;
  json answer = Must(World("").Ask(spec));
  EXPECT_NE(answer["rejected"].dump().find("cpus_per_gpu 40"), std::string::npos);
}

TEST(Advise, UntypedGresIsReachedByFeatureOrExclude) {
  GpuNaming naming(
      ShippedGpus().catalogue(),
      {{{"gpu2080", "rtx2080ti"}}, {{{"", "ada", ""}, "l40s"}, {{"", "", "old1"}, "rtx3090"}}, {}});
  World world("node new1 gpu:4 features ada cpus 32\nnode old1 gpu:4 cpus 32\n", naming);
  json answer = Must(world.Ask(Gr00t(), {{"constraints", {{"gpus", {"rtx3090", "l40s"}}}}}));
  json by_feature, by_exclude;
  for (const json& s : answer["strategies"]) {
    if (s["gres_type"] != "") continue;
    if (s["gpu"] == "l40s") by_feature = s["sbatch"];
    if (s["gpu"] == "rtx3090") by_exclude = s["sbatch"];
  }
  EXPECT_EQ(by_feature.value("constraint", ""), "ada");
  // Untyped "gpu:4" would take any GPU: typed nodes are excluded too.
  EXPECT_NE(by_exclude.value("exclude", "").find("new1"), std::string::npos) << by_exclude;
  EXPECT_NE(by_exclude.value("exclude", "").find("classt"), std::string::npos) << by_exclude;
  EXPECT_EQ(by_exclude.value("exclude", "").find("old1"), std::string::npos) << by_exclude;
  EXPECT_EQ(by_exclude.value("gres", "").substr(0, 4), "gpu:");
}

TEST(Advise, TheDeadlineObjectivePrefersTheCheapestThatMakesIt) {
  World world("");
  json far = Must(
      world.Ask(Gr00t(), {{"objective", "deadline"}, {"deadline", kSnapshotTime + 90 * 3600}}));
  json near =
      Must(world.Ask(Gr00t(), {{"objective", "deadline"}, {"deadline", kSnapshotTime + 9 * 3600}}));
  EXPECT_LT(First(far)["gpu_hours"].get<double>(), First(near)["gpu_hours"].get<double>() + 1e-9);
  EXPECT_EQ(First(near)["gpu"], "l40s");
  Result<json> without = world.Ask(Gr00t(), {{"objective", "deadline"}});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().pointer, "/deadline");
}

TEST(Advise, ADeadlineIsToldForEveryStrategyWhateverTheObjective) {
  const World world("");
  const json body = {{"deadline", kSnapshotTime + 12 * 3600}};
  const json answer = Must(world.Ask(Gr00t(), body));
  EXPECT_EQ(answer["objective"], "finish");
  EXPECT_EQ(answer["deadline"], kSnapshotTime + 12 * 3600);
  EXPECT_EQ(BestOn(answer, "l40s")["makes_deadline"], true);
  EXPECT_GT(BestOn(answer, "l40s")["deadline_chance"], 0.9);
  EXPECT_EQ(BestOn(answer, "rtx2080ti")["makes_deadline"], false);
  EXPECT_LT(BestOn(answer, "rtx2080ti")["deadline_chance"], 0.1);

  json spec = Gr00t();
  spec["deadline"] = kSnapshotTime + 12 * 3600;  // of the file
  EXPECT_EQ(Must(world.Ask(spec))["strategies"], answer["strategies"]);
  const json without = Must(world.Ask(Gr00t()));
  EXPECT_FALSE(without.contains("deadline"));
  EXPECT_FALSE(First(without).contains("makes_deadline"));
}

// Of as many GPUs in one node.
json StepOfScale(const json& scale, const json& strategy) {
  for (const json& curve : scale.at("gpus")) {
    for (const json& step : curve.at("steps")) {
      if (curve.at("gpu") == strategy.at("gpu") && strategy.at("nodes") == 1 &&
          step.value("gpus", 0) == strategy.at("gpus_per_node") && step.value("runs", false)) {
        return step;
      }
    }
  }
  return nullptr;
}

// The shipped naming with a price for every card.
GpuNaming PricedGpus() {
  json entries = json::array();
  for (const GpuModel& gpu : ShippedGpus().catalogue().models()) {
    json entry = EntryOf(gpu);
    entry["price_per_gpu_hour"] = 3;
    entries.push_back(std::move(entry));
  }
  return GpuNaming(*GpuCatalogue::FromJson({{"gpus", entries}}),
                   {{{"gpu2080", "rtx2080ti"}}, {}, {}});
}

TEST(Advise, GivesTheGpuHoursAndCostThatScaleGives) {
  const GpuNaming priced = PricedGpus();
  const World world("", priced);
  const json body = {{"spec", Gr00t()}};
  const json advice = Must(world.Ask(Gr00t()));
  const Result<json> scale = AnswerScaleHere(body, world.Context(), {});
  ASSERT_TRUE(scale) << scale.error().message;
  const auto rounded = [](const json& number) {
    return number.is_null() ? json() : json(std::round(number.get<double>() * 100) / 100);
  };
  int compared = 0;
  for (const json& strategy : advice["strategies"]) {
    const json step = StepOfScale(*scale, strategy);
    if (step.is_null()) continue;
    EXPECT_EQ(strategy["gpu_hours"], rounded(step["gpu_hours"])) << strategy;
    EXPECT_EQ(strategy["energy_kwh"], rounded(step.value("energy_kwh", json()))) << strategy;
    EXPECT_EQ(strategy["cost"], rounded(step.value("cost", json()))) << strategy;
    EXPECT_FALSE(strategy["cost"].is_null());
    ++compared;
  }
  EXPECT_GE(compared, 6);
}

TEST(Advise, WhereNothingWaitsTheFirstHasTheNumberOfGpusThatScaleRecommends) {
  const World world("");
  const Result<json> scale = AnswerScaleHere({{"spec", Gr00t()}}, world.Context(), {});
  ASSERT_TRUE(scale) << scale.error().message;
  int compared = 0;
  for (const json& curve : scale->at("gpus")) {
    const json body = {{"constraints", {{"gpus", {curve.at("gpu")}}}}};
    const json first = First(Must(world.Ask(Gr00t(), body)));
    if (first.empty()) continue;  // over the partition's time limit, which scale does not know
    EXPECT_EQ(curve.at("/recommended/gpus"_json_pointer),
              first["gpus_per_node"].get<int64_t>() * first["nodes"].get<int64_t>())
        << curve.at("gpu");
    const json step = StepOfScale(*scale, first);
    ASSERT_FALSE(step.is_null()) << first;
    EXPECT_NEAR(step["run_p50_seconds"], first["run_p50_seconds"], 1) << curve.at("gpu");
    ++compared;
  }
  EXPECT_GE(compared, 4);
  EXPECT_EQ(scale->at("gpu"), First(Must(world.Ask(Gr00t())))["gpu"]);
}

TEST(Advise, HostileBodiesGetSentences) {
  World world("");
  for (const char* body :
       {"[]", "null", "{}", R"({"spec": 3})", R"({"spec": {}, "constraints": 4})",
        R"({"spec": {"model": {"preset": 7}, "training": {"max_steps": 1}}})"}) {
    const auto answer = AnswerAdvise(json::parse(body), world.Context(), {});
    ASSERT_FALSE(answer) << body;
    EXPECT_FALSE(answer.error().message.empty());
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
