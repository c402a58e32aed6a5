// What is offered to a job that waits: only what can run it, with what it costs.
#include "common/advise/remedies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "daemon/answers/answers.h"
#include "tests/daemon/answers/answer_world.h"
#include "tests/fakes/seed_cluster.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kL40SBusy = "run 1 classt[21-22] gpul40s:6 cpus 48 ends 20h\n";

AnswerWorld SeedWith(const std::string& lines) {
  return AnswerWorld(std::string(kSeedCluster) + kL40SBusy + lines);
}

json When(const AnswerWorld& world, const json& job) {
  const auto answer = AnswerWhen({{"jobs", {job}}}, world.Context(), kAnnAsks);
  EXPECT_TRUE(answer);
  return (*answer)["answers"][0]["cheaper"];
}

json Why(const AnswerWorld& world, int64_t id, const FindExperiment& find = {}) {
  const auto answer = AnswerJob(std::to_string(id), world.Context(), kRootAsks, find);
  EXPECT_TRUE(answer);
  return (*answer)["cheaper"];
}

std::string Changes(const json& remedies) {
  std::string all;
  for (const json& one : remedies) all += one["change"].get<std::string>() + "\n";
  return all;
}

TEST(Remedies, SlicesAreNotOfferedToAJobOfSeveralGpus) {
  const json six = When(SeedWith(""), {{"gres", "gpu:l40s:6"}, {"time_limit_seconds", 36000}});
  EXPECT_THAT(Changes(six), Not(HasSubstr("1g.11gb"))) << six;
}

TEST(Remedies, CardsWithLessMemoryThanTheAskedOneAreNotOffered) {
  const json l40s = When(SeedWith(""), {{"gres", "gpu:l40s:4"}, {"time_limit_seconds", 36000}});
  EXPECT_EQ(Changes(l40s), "") << l40s;  // 48 GB; there are cards of 24, 12 and 11, and slices

  const AnswerWorld full(std::string(kSeedCluster) + "run 1 classt06 gpu4070:4 ends 20h\n");
  const json rtx4070 = When(full, {{"gres", "gpu:gpu4070:4"}, {"time_limit_seconds", 36000}});
  EXPECT_THAT(Changes(rtx4070), HasSubstr("--gres=gpu:gpu4090:4"));  // 24 GB for 12
  EXPECT_THAT(Changes(rtx4070), Not(HasSubstr("gpu2080")));          // 11 GB
}

TEST(Remedies, WhatNobodyKnowsTheRunTimeOfIsComparedByTheRatesOfTheCards) {
  const AnswerWorld full(
      std::string(kSeedCluster) +
      "run 1 classt[21-22] gpul40s:2 cpus 8 ends 20h\nrun 2 classt06 gpu4070:4 ends 20h\n");
  const json fewer = When(full, {{"gres", "gpu:l40s:6"}, {"time_limit_seconds", 36000}});
  ASSERT_EQ(Changes(fewer), "--gres=gpu:gpul40s:3\n");
  EXPECT_EQ(fewer[0]["words"],
            "with --gres=gpu:gpul40s:3 it would start now; on so many GPUs it would run "
            "2.0 times as long");
  EXPECT_TRUE(fewer[0]["done_later_seconds"].is_null());
  const json other = When(full, {{"gres", "gpu:gpu4070:4"}, {"time_limit_seconds", 36000}});
  EXPECT_THAT(other[0]["words"].get<std::string>(), HasSubstr("it would run 0.4 times as long"));
}

TEST(Remedies, ShortRunsAreNotComparedInWordsThatAreTheSame) {
  const AnswerWorld full(std::string(kSeedCluster) + "run 2 classt06 gpu4070:4 ends 20h\n");
  JobRequest request;
  request.partitions = {"gpu_shared"};
  request.gpus_per_node = {{"gpu4070", 4}};
  request.time_limit_seconds = 36'000;
  const AskStart ask = [&](const JobRequest& other) {
    return StartOf(*full.queue, other, kAnnAsks);
  };
  const auto words = [&](double run_time) {
    const StartSamples as_it_is = *ask(request);
    for (const Remedy& each : RemediesFor({request, as_it_is, ask, run_time}, full.Context())) {
      if (each.change == "--gres=gpu:gpu4090:4") return each.words;
    }
    return std::string();
  };
  EXPECT_EQ(words(.4), "with --gres=gpu:gpu4090:4 it would start now and be done 20 h earlier");
  EXPECT_THAT(words(60), HasSubstr("it would run 21 s instead of 1 m"));
}

TEST(Remedies, ACardThatNothingIsKnownAboutReplacesNone) {
  const AnswerWorld world(
      "node n1 mystery:4\nnode n2 a100:4\nrun 1 n1 mystery:4 ends 9h\nrun 2 n2 a100:4 ends 20h\n");
  EXPECT_EQ(When(world, {{"gres", "gpu:a100:4"}, {"time_limit_seconds", 36000}}), json::array());
}

// ---- a job that was advised --------------------------------------------------------------------

json Gr00t() {
  return json::parse(R"({"name": "gr00t",
    "model": {"memory": {"base": "5 GB", "per_sample": "1.2 GB", "overhead": "2 GB"}},
    "training": {"max_steps": 10000, "effective_batch_size": [120, 144], "measured": [
      {"gpu": "rtx4090", "gpus": 4, "batch": 10, "seconds_per_step": 3.9},
      {"gpu": "l40s", "gpus": 6, "batch": 12, "seconds_per_step": 2.6},
      {"gpu": "rtx2080ti", "gpus": 4, "batch": 5, "seconds_per_step": 7.3}]},
    "resources": {"cpus_per_gpu": 8}})");
}

// Job 7 on L40S × 6, which wait 20 h.
const char* kPending = "pend 7 gpul40s:6 cpus 48 limit 12h user ann\n";

FindExperiment Advised(const json& spec) {
  return [spec](int64_t job_id, int64_t) -> std::optional<Experiment> {
    if (job_id != 7) return std::nullopt;
    Experiment experiment;
    experiment.request = {{"spec", spec}};
    experiment.strategy = {{"run_p50_seconds", 26'000}, {"run_p90_seconds", 29'000}};
    return experiment;
  };
}

TEST(Remedies, AnAdvisedJobIsOfferedWhatAdviseWouldRankAndToldWhenItIsDone) {
  const AnswerWorld world = SeedWith(kPending);
  const json remedies = Why(world, 7, Advised(Gr00t()));
  const auto on = [&](const std::string& change) {
    for (const json& one : remedies) {
      if (one["change"] == change) return one;
    }
    return json();
  };
  const json turing = on("-p gpu_shared --gres=gpu:gpu2080:4");
  ASSERT_FALSE(turing.is_null()) << remedies.dump(1);
  EXPECT_EQ(turing["wait_p50_seconds"], 0);
  // 20 h + 7.2 h as it is, 20.5 h there.
  EXPECT_NEAR(turing["done_later_seconds"].get<double>(), (20.5 - 27.2) * 3600, 1800);
  EXPECT_THAT(turing["words"].get<std::string>(),
              HasSubstr("RTX 2080 Ti × 4 would start now and be done 6 h"));
  EXPECT_THAT(turing["words"].get<std::string>(),
              HasSubstr(": gpuadvise submit FILE -p gpu_shared --gres=gpu:gpu2080:4"));
  EXPECT_THAT(Changes(remedies), Not(HasSubstr("1g.11gb")));
}

TEST(Remedies, WhatStartsNowAndIsDoneLaterSaysSo) {
  const AnswerWorld world = AnswerWorld(
      std::string(kSeedCluster) + "run 1 classt[21-22] gpul40s:6 cpus 48 ends 3h\n" + kPending);
  const json remedies = Why(world, 7, Advised(Gr00t()));
  EXPECT_THAT(remedies.dump(), HasSubstr("RTX 2080 Ti × 4 would start now, but be done 10 h"));
}

TEST(Remedies, AnAdvisedJobKeepsItsBatchItsGpuListAndItsRunTime) {
  const AnswerWorld world = SeedWith(kPending);
  json spec = Gr00t();
  spec["training"]["per_device_train_batch_size"] = 12;  // 21 GB: no card of less holds it
  EXPECT_THAT(Changes(Why(world, 7, Advised(spec))), Not(HasSubstr("gpu2080")));
  EXPECT_THAT(Changes(Why(world, 7, Advised(spec))), HasSubstr("gpu4090"));
  spec["resources"]["gpus"] = {"l40s"};
  EXPECT_EQ(Changes(Why(world, 7, Advised(spec))), "");  // and no limit shorter than its run
}

TEST(Remedies, TheSameJobUnadvisedIsOfferedNothingThatCouldNotHoldIt) {
  EXPECT_EQ(Why(SeedWith(kPending), 7), json::array());
}

// ---- what a shorter limit is worth --------------------------------------------------------------

constexpr const char* kHole =
    "node n1 a100:4\nrun 1 n1 a100:2 ends 3h\npend 2 a100:4 limit 9h user bob\n";

json WhenWithLimits(const AnswerWorld& world, const json& job) {
  const auto answer = AnswerWhen({{"jobs", {job}}, {"limits", true}}, world.Context(), kAnnAsks);
  EXPECT_TRUE(answer);
  return (*answer)["answers"][0];
}

TEST(Limits, AreAnsweredWhereTheyAreAskedFor) {
  const AnswerWorld world(kHole);
  const json job = {{"gres", "gpu:a100:2"}, {"mem_mib", 4000}, {"time_limit_seconds", 86400}};
  const auto plain = AnswerWhen({{"jobs", {job}}}, world.Context(), kAnnAsks);
  EXPECT_FALSE((*plain)["answers"][0].contains("limits"));
  const json answer = WhenWithLimits(world, job);
  const json& limits = answer["limits"];
  ASSERT_GT(limits.size(), 3u);
  EXPECT_EQ(limits[0]["time_limit_seconds"], 86400);
  EXPECT_EQ(limits[0]["wait_p50_seconds"], answer["wait_p50_seconds"]);
  const json two = RowWith(limits, "time_limit_seconds", 7200);
  EXPECT_EQ(two["wait_p50_seconds"], 0);
  EXPECT_EQ(two["sooner_seconds"], answer["wait_p50_seconds"]);
  EXPECT_TRUE(two["risk"].is_null());  // nobody knows what she ran
  EXPECT_TRUE(answer["limit_advice"]["time_limit_seconds"].is_null());
  EXPECT_THAT(answer["limit_advice"]["words"].get<std::string>(), HasSubstr("is not known"));
}

TEST(Limits, NothingBelowTimeMin) {
  const json answer = WhenWithLimits(
      AnswerWorld(kHole),
      {{"gres", "gpu:a100:2"}, {"time_limit_seconds", 86400}, {"time_min_seconds", 14400}});
  for (const json& row : answer["limits"]) EXPECT_GE(row["time_limit_seconds"], 14400);
}

TEST(Limits, OfAFewJobsAtOnceOnly) {
  const AnswerWorld world(kHole);
  const json body = {{"jobs", json::array({{}, {}, {}, {}, {}, {}, {}, {}, {}})}, {"limits", true}};
  const auto answer = AnswerWhen(body, world.Context(), kAnnAsks);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "limits can be asked of at most 8 jobs at once, not of 9");
}

TEST(Limits, OfAPendingJobAreForWhoMaySeeIt) {
  Snapshot snapshot = SnapshotOf(std::string(kHole) + "pend 7 a100:2 limit 24h user ann");
  EXPECT_GT((*AnswerJob("7", AnswerWorld(snapshot).Context(), kAnnAsks))["limits"].size(), 3u);
  EXPECT_FALSE((*AnswerJob("7", AnswerWorld(snapshot).Context(), kNobodyAsks)).contains("limits"));
}

TEST(AnswerJob, OneNewerThanAllMayHaveBeenSubmittedJustNow) {
  const AnswerWorld world = SeedWith(kPending);
  const auto why_not = [&](const char* id) {
    return AnswerJob(id, world.Context(), kRootAsks, {}).error().message;
  };
  EXPECT_THAT(why_not("8"), HasSubstr("submitted just now, ask again"));
  EXPECT_THAT(why_not("5"), HasSubstr("sacct -j 5"));
}

TEST(AnswerJob, PartsOfAHeterogeneousJobStartTogether) {
  Snapshot snapshot = SnapshotOf(
      "node n1 a100:4\nnode n2 l40s:4\nrun 1 n1 a100:4 ends 2h\npend 61 l40s:2\npend 62 a100:4");
  for (Job& job : snapshot.jobs) {
    if (job.id > 60) job.het_job_id = 61;
  }
  for (const char* id : {"61", "61+0", "61+1", "62"}) {
    const auto answer = AnswerJob(id, AnswerWorld(snapshot).Context(), kAnnAsks);
    ASSERT_TRUE(answer) << id;
    EXPECT_EQ((*answer)["wait_p50_seconds"], 2 * 3600) << id;
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
