// What runs teach: facts of experiments, lines of a family, and advice that rests on them.
#include "common/runs/learned_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "common/runs/job_family.h"
#include "daemon/answers/answer_training.h"
#include "daemon/answers/answers.h"
#include "tests/fakes/seed_cluster.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int64_t kAnn = 1001;
constexpr int64_t kBob = 1002;
constexpr int64_t kCarl = 1003;
constexpr int64_t kGib = int64_t{1} << 30;

json Train() {
  return json::parse(R"({"name": "t",
    "model": {"memory": {"base": "5 GB", "per_sample": "1.2 GB", "overhead": "2 GB"}},
    "training": {"max_steps": 10000, "effective_batch_size": [120, 144],
                 "measured": [{"gpu": "l40s", "gpus": 6, "batch": 12, "seconds_per_step": 2.6}]},
    "resources": {"cpus_per_gpu": 8, "gpus": ["rtx4090", "l40s"]}})");
}

// One run of Train() on 4 × RTX 4090; each attempt is {micro_batch, seconds_per_step or 0 for OOM,
// GiB of its peak}.
Experiment RunOf(int64_t job_id, int64_t uid,
                 const std::vector<std::tuple<int64_t, double, double>>& attempts) {
  Experiment run;
  run.job_id = job_id;
  run.uid = uid;
  run.family = JobFamilyOf(Train());
  run.strategy = {{"gpu", "rtx4090"},
                  {"gres_type", "4090"},
                  {"gpus_per_node", 4},
                  {"nodes", 1},
                  {"partition", "gpu"}};
  run.outcome.emplace();
  run.times = {0, 100, 100, "COMPLETED", "gpu", "4090", 1, 4};
  for (const auto& [micro_batch, seconds, gib] : attempts) {
    Attempt attempt;
    attempt.micro_batch = micro_batch;
    attempt.accumulation = 120 / (4 * micro_batch);
    attempt.out_of_memory = seconds == 0;
    if (seconds > 0) {
      attempt.steps = attempt.steps_done = 1000;
      attempt.seconds_per_step = seconds;
    }
    attempt.began = *run.times.end;
    attempt.seconds = 1000 * seconds + 900;
    *run.times.end += static_cast<int64_t>(attempt.seconds);
    const auto peak = static_cast<int64_t>(gib * static_cast<double>(kGib));
    attempt.gpus = {{peak, 24 * kGib, std::nullopt, std::nullopt}};
    run.outcome->attempts.push_back(attempt);
  }
  return run;
}

LearnedRuns Learned(const std::vector<Experiment>& runs) {
  std::vector<const Experiment*> all;
  for (const Experiment& run : runs) all.push_back(&run);
  return LearnedRuns().With(JobFamilyOf(Train()), all);
}

std::vector<MeasuredStep> LinesFor(const std::vector<Experiment>& runs, int64_t uid,
                                   bool others = true) {
  return Learned(runs).MeasurementsOf(JobFamilyOf(Train()), uid, others);
}

TEST(JobFamily, IsTheSameHoweverLongItTrainsAndWhateverItIsCalled) {
  json train = Train();
  train["model"] = {{"preset", "llama-3.1-8b"}};
  json other = train;
  other["name"] = "another";
  other["training"]["max_steps"] = 5;
  other["training"]["effective_batch_size"] = 8;
  other["command"] = "python x.py";
  EXPECT_EQ(JobFamilyOf(other), JobFamilyOf(train));
}

TEST(JobFamily, AMemoryLineMayBeThatOfAnotherModel) {
  json other = Train();
  other["training"]["max_steps"] = 5;
  EXPECT_EQ(JobFamilyOf(other), JobFamilyOf(Train()));
  other["name"] = "another";
  EXPECT_NE(JobFamilyOf(other), JobFamilyOf(Train()));
}

TEST(JobFamily, DiffersWithModelAndSetup) {
  json longer = Train();
  longer["training"]["max_seq_length"] = 4096;
  json model = Train();
  model["model"]["memory"]["base"] = "6 GB";
  EXPECT_NE(JobFamilyOf(longer), JobFamilyOf(Train()));
  EXPECT_NE(JobFamilyOf(model), JobFamilyOf(Train()));
}

TEST(JobFamily, IsNotKnownOfSeveralStages) {
  json stages = Train();
  stages["stages"] = json::array();
  EXPECT_EQ(JobFamilyOf(stages), "");
  EXPECT_EQ(JobFamilyOf(json::array()), "");
}

TEST(LearnedRuns, ALineSaysHowManyRunsItRestsOn) {
  const auto lines = LinesFor({RunOf(1, kAnn, {{6, 4.0, 15}}), RunOf(2, kAnn, {{6, 4.4, 15}}),
                               RunOf(3, kAnn, {{6, 4.1, 16}})},
                              kAnn);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].by, "3 of your runs");
  EXPECT_DOUBLE_EQ(lines[0].seconds_per_step, 4.1);  // the median
  EXPECT_EQ(lines[0].micro_batch, 6);
  EXPECT_EQ(lines[0].effective_batch_size, 120);
  EXPECT_EQ(lines[0].peak_bytes, 15 * kGib);
}

TEST(LearnedRuns, OnesOwnGoBeforeThoseOfOthersOnTheSameCard) {
  const auto lines =
      LinesFor({RunOf(1, kAnn, {{6, 4.0, 15}}), RunOf(2, kBob, {{6, 9.0, 15}})}, kAnn);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_DOUBLE_EQ(lines[0].seconds_per_step, 4.0);
}

TEST(LearnedRuns, OthersAreUsedOnlyWhereEverybodyMaySeeThem) {
  const std::vector<Experiment> runs = {RunOf(2, kBob, {{6, 5.0, 15}}),
                                        RunOf(3, kCarl, {{6, 5.2, 15}})};
  ASSERT_EQ(LinesFor(runs, kAnn, true).size(), 1u);
  EXPECT_EQ(LinesFor(runs, kAnn, true)[0].by, "2 runs of 2 other users");
  EXPECT_TRUE(LinesFor(runs, kAnn, true)[0].by_others);
  EXPECT_TRUE(LinesFor(runs, kAnn, false).empty());
}

TEST(LearnedRuns, OneOtherUserMovesNobodyUntilSlurmConfirmsThreeOfHisJobs) {
  std::vector<Experiment> runs = {RunOf(2, kBob, {{6, 5.0, 15}}), RunOf(3, kBob, {{6, 5.1, 15}})};
  EXPECT_TRUE(LinesFor(runs, kAnn).empty());
  runs.push_back(RunOf(4, kBob, {{6, 5.2, 15}}));
  ASSERT_EQ(LinesFor(runs, kAnn).size(), 1u);
  EXPECT_EQ(LinesFor(runs, kAnn)[0].by, "3 runs of another user");
  for (const auto& contradict : std::vector<std::function<void(Experiment&)>>{
           [](Experiment& run) { run.times.state = "FAILED"; },
           [](Experiment& run) { run.times.state = ""; },
           [](Experiment& run) { run.times.partition = "debug"; },
           [](Experiment& run) { run.times.gpu = ""; },
           [](Experiment& run) { run.times.gpu = "l40s"; },
           [](Experiment& run) { run.times.nodes = 2; },
           [](Experiment& run) { run.times.gpus = 1; },
           [](Experiment& run) { run.times.end = *run.times.start + 60; }}) {
    std::vector<Experiment> changed = runs;
    contradict(changed.back());
    EXPECT_TRUE(LinesFor(changed, kAnn).empty());
  }
}

TEST(LearnedRuns, AThousandStartsOfOneJobAreOneJob) {
  const std::vector<Experiment> one = {
      RunOf(2, kBob, std::vector<std::tuple<int64_t, double, double>>(50, {6, 5.0, 15}))};
  EXPECT_TRUE(LinesFor(one, kAnn).empty());
}

TEST(LearnedRuns, UsersWhoDisagreeMoveNobody) {
  const std::vector<Experiment> two = {RunOf(2, kBob, {{6, 5.0, 15}}),
                                       RunOf(3, kCarl, {{6, 0.001, 15}})};
  const auto lines = LinesFor(two, kAnn);
  ASSERT_EQ(lines.size(), 1u);  // they agree on the peak
  EXPECT_EQ(lines[0].seconds_per_step, 0);
  EXPECT_EQ(lines[0].peak_bytes, 15 * kGib);
}

TEST(LearnedRuns, WhatRanOnOtherGpusThanAdvisedTeachesNobody) {
  Experiment run = RunOf(1, kAnn, {{6, 4.0, 15}});
  EXPECT_EQ(LinesFor({run}, kAnn).size(), 1u);
  run.times.gpu = "2080ti";
  EXPECT_TRUE(LinesFor({run}, kAnn).empty());
  run.times.gpu = "4090";
  run.times.gpus = 1;
  EXPECT_TRUE(LinesFor({run}, kAnn).empty());
  run.times.gpus = 0;  // Slurm says nothing
  EXPECT_EQ(LinesFor({run}, kAnn).size(), 1u);
}

TEST(LearnedRuns, OneUserHasOneVoiceHoweverManyRuns) {
  std::vector<Experiment> runs = {RunOf(1, 1, {{6, 4.0, 15}}), RunOf(2, 2, {{6, 4.2, 15}}),
                                  RunOf(3, 3, {{6, 4.1, 15}})};
  for (int64_t id = 10; id < 60; ++id) runs.push_back(RunOf(id, kBob, {{6, 0.001, 1}}));
  EXPECT_NEAR(LinesFor(runs, kAnn)[0].seconds_per_step, 4.1, 0.11);
}

TEST(LearnedRuns, WhatSlurmHasNotSeenRunTeachesNothing) {
  Experiment run = RunOf(1, kAnn, {{6, 4.0, 15}});
  EXPECT_EQ(FactsOf(run).size(), 1u);
  run.times.end = 200;  // it claims 4,900 s
  EXPECT_TRUE(FactsOf(run).empty());
  run.times.end.reset();
  EXPECT_TRUE(FactsOf(run).empty());
  run.times = {};
  EXPECT_TRUE(FactsOf(run).empty());
}

TEST(LearnedRuns, StepsThatTakeLongerThanTheirRunAreNoTiming) {
  Experiment run = RunOf(1, kAnn, {{6, 4.0, 15}});
  run.outcome->attempts[0].seconds_per_step = 40;
  EXPECT_EQ(FactsOf(run)[0].seconds_per_step, 0);
}

TEST(LearnedRuns, OfAResumedRunTheStepsOfItsLastLinkCount) {
  Experiment run = RunOf(1, kAnn, {{6, 4.0, 15}});
  run.outcome->attempts[0].steps = 9000;  // as its log counts on
  EXPECT_DOUBLE_EQ(FactsOf(run)[0].seconds_per_step, 4.0);
  run.outcome->attempts[0].steps_done = 3;
  EXPECT_EQ(FactsOf(run)[0].seconds_per_step, 0);
}

TEST(LearnedRuns, WhenTheNodesMemoryRanOutTheGpuHadEnough) {
  Experiment run = RunOf(1, kAnn, {{10, 0, 23}});
  EXPECT_EQ(FactsOf(run).size(), 1u);
  run.outcome->attempts[0].host_memory = true;
  EXPECT_TRUE(FactsOf(run).empty());
}

TEST(LearnedRuns, OneUsersWordForbidsNobodyElseABatch) {
  const std::vector<Experiment> one = {RunOf(1, kBob, {{1, 0, 23}}), RunOf(2, kBob, {{1, 0, 23}})};
  EXPECT_TRUE(LinesFor(one, kAnn).empty());
  EXPECT_TRUE(LinesFor(one, kBob)[0].out_of_memory);
  std::vector<Experiment> two = one;
  two.push_back(RunOf(3, 3003, {{1, 0, 23}}));
  ASSERT_EQ(LinesFor(two, kAnn).size(), 1u);
  EXPECT_TRUE(LinesFor(two, kAnn)[0].out_of_memory);
}

TEST(LearnedRuns, OneUsersPeaksAreOneVoice) {
  std::vector<Experiment> runs = {RunOf(1, 1, {{6, 4.0, 15}}), RunOf(2, 2, {{6, 4.0, 15}})};
  for (int64_t id = 10; id < 30; ++id) runs.push_back(RunOf(id, kBob, {{6, 4.0, 1}}));
  EXPECT_EQ(LinesFor(runs, kAnn)[0].peak_bytes, 15 * kGib);
}

TEST(LearnedRuns, AFullCardSaysNothingOfWhatWasNeeded) {
  EXPECT_EQ(FactsOf(RunOf(1, kAnn, {{6, 4.0, 23.5}}))[0].peak_bytes, 0);
  EXPECT_EQ(FactsOf(RunOf(1, kAnn, {{6, 4.0, 20}}))[0].peak_bytes, 20 * kGib);
}

TEST(LearnedRuns, AFewStepsAreNoTiming) {
  Experiment run = RunOf(1, kAnn, {{6, 4.0, 15}});
  run.outcome->attempts[0].steps_done = 5;
  EXPECT_EQ(FactsOf(run)[0].seconds_per_step, 0);
  EXPECT_GT(FactsOf(run)[0].peak_bytes, 0);
}

TEST(LearnedRuns, WhatARunTakesBesideItsStepsIsItsStart) {
  Experiment run = RunOf(1, kAnn, {{6, 4.0, 15}});  // 1,000 steps of 4 s
  EXPECT_EQ(FactsOf(run)[0].start_seconds, 900);
  run.outcome->attempts[0].seconds = 4'120;
  EXPECT_EQ(FactsOf(run)[0].start_seconds, 120);
  run.outcome->attempts[0].exit_code = 1;
  EXPECT_FALSE(FactsOf(run)[0].start_seconds);
}

// ---- advice that rests on them ---------------------------------------------------------------

json AdviceFor(const std::vector<Experiment>& runs, const std::string& private_data = "") {
  Snapshot snapshot = SnapshotOf(kSeedCluster);
  snapshot.config.private_data = private_data;
  const auto queue = PrepareQueue(snapshot);
  const LearnedRuns learned = Learned(runs);
  AdviceContext view{snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
  view.learned = &learned;
  const auto answer = AnswerAdvise({{"spec", Train()}}, view, {kAnn, "ann", "", ""});
  EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
  return answer ? *answer : json::object();
}

json On4090(const json& answer) {
  for (const json& strategy : answer["strategies"]) {
    if (strategy["gpu"] == "rtx4090" && strategy["gpus_per_node"] == 4) return strategy;
  }
  return json::object();
}

TEST(LearnedRuns, AdviceSaysOnHowManyRunsItsRunTimeRests) {
  const std::vector<Experiment> runs = {RunOf(1, kAnn, {{10, 7.8, 23}}),
                                        RunOf(2, kAnn, {{10, 7.8, 23}}),
                                        RunOf(3, kAnn, {{10, 7.8, 23}})};
  const json before = On4090(AdviceFor({}));
  const json after = On4090(AdviceFor(runs));
  EXPECT_THAT(before["reasons"].dump(), HasSubstr("carried over from L40S"));
  EXPECT_THAT(after["reasons"].dump(), HasSubstr("measured on 3 of your runs, RTX 4090 × 4"));
  EXPECT_NEAR(after["run_p50_seconds"].get<double>(), 10'000 * 7.8 + 900, 5'000);
}

TEST(LearnedRuns, AdviceCountsTheStartThatRunsHadNotTheUsualOne) {
  Experiment run = RunOf(1, kAnn, {{10, 7.8, 23}});
  const json usual = On4090(AdviceFor({run}));
  run.outcome->attempts[0].seconds = 7'800 + 60;
  const json seen = On4090(AdviceFor({run}));
  EXPECT_NEAR(usual["run_p50_seconds"].get<double>() - seen["run_p50_seconds"].get<double>(),
              15 * 60 - 60, 1);
}

TEST(LearnedRuns, WhatRanOutOfMemoryIsNotSaidToFitAgain) {
  EXPECT_EQ(On4090(AdviceFor({}))["micro_batch"], 10);
  const json after = On4090(AdviceFor({RunOf(1, kAnn, {{10, 0, 23}, {5, 4.0, 23}})}));
  EXPECT_LT(after["micro_batch"], 10) << after.dump(1);
  EXPECT_GE(after["micro_batch"], 5);
}

// What fit says of the same runs, on the daemon and in a client that is told of them.
json FitAfter(const std::vector<Experiment>& runs) {
  const Snapshot snapshot = SnapshotOf(kSeedCluster);
  const auto queue = PrepareQueue(snapshot);
  const LearnedRuns learned = Learned(runs);
  AdviceContext view{snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
  view.learned = &learned;
  const auto answer =
      AnswerFitHere({{"spec", Train()}, {"gpus_in_all", 4}}, view, {kAnn, "ann", "", ""});
  EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
  if (!answer) return {};
  for (const json& gpu : answer->at("gpus")) {
    if (gpu["gpu"] == "rtx4090") return gpu;
  }
  return {};
}

TEST(LearnedRuns, FitGoesByWhatRanOutOfMemoryAsAdviceDoes) {
  EXPECT_EQ(FitAfter({})["max_micro_batch"]["recommended"], 10);
  const json after = FitAfter({RunOf(1, kAnn, {{10, 0, 23}, {5, 4.0, 23}})});
  EXPECT_EQ(after["max_micro_batch"]["recommended"], 9);
  EXPECT_EQ(after["max_micro_batch"]["aggressive"], 9);
  EXPECT_THAT(after["notes"].dump(),
              HasSubstr("micro-batch 10 ran out of memory there, in 1 of your runs"));
  const json none = FitAfter({RunOf(1, kAnn, {{1, 0, 23}})});
  EXPECT_FALSE(none["fits"].get<bool>());
  EXPECT_EQ(none["max_micro_batch"]["aggressive"], 0);
  EXPECT_THAT(none["notes"].dump(),
              HasSubstr("one sample ran out of memory there, in 1 of your runs"));
}

TEST(LearnedRuns, FitTakesTheBatchThatRanAndThePeaksThatAdviceTakes) {
  EXPECT_EQ(FitAfter({RunOf(1, kAnn, {{12, 4.0, 23}})})["max_micro_batch"]["recommended"], 12);
  const json larger = FitAfter({RunOf(1, kAnn, {{5, 4.0, 16}})});  // the line says 13 GB
  EXPECT_LT(larger["max_micro_batch"]["recommended"], 10);
}

TEST(LearnedRuns, ATimingNeverMakesAGpuFit) {
  // The line takes 48 GB at 1, more than the card has.
  json train = Train();
  train["model"]["memory"] = {{"base", "40 GB"}, {"per_sample", "6 GB"}, {"overhead", "2 GB"}};
  train["training"]["measured"][0] = {
      {"gpu", "rtx4090"}, {"gpus", 1}, {"batch", 1}, {"seconds_per_step", 2.6}};
  const Snapshot snapshot = SnapshotOf(kSeedCluster);
  const auto queue = PrepareQueue(snapshot);
  const AdviceContext view{snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
  const auto answer = AnswerFitHere({{"spec", train}}, view, {kAnn, "ann", "", ""});
  ASSERT_TRUE(answer);
  for (const json& gpu : answer->at("gpus")) {
    if (gpu["gpu"] != "rtx4090") continue;
    EXPECT_FALSE(gpu["fits"].get<bool>());
    EXPECT_THAT(gpu["notes"].dump(), HasSubstr("timed there: correct model.memory"));
  }
}

TEST(LearnedRuns, WhatOthersRanIsToldOnlyWhereItMayBeKnown) {
  const std::vector<Experiment> runs = {RunOf(1, kBob, {{6, 4.0, 15}}),
                                        RunOf(2, kCarl, {{6, 4.0, 15}})};
  Snapshot snapshot = SnapshotOf(kSeedCluster);
  const auto queue = PrepareQueue(snapshot);
  const LearnedRuns learned = Learned(runs);
  AdviceContext view{snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
  view.learned = &learned;
  const auto told = [&](int64_t uid) {
    const auto answer = AnswerMeasured({{"spec", Train()}}, view, {uid, "ann", "", ""});
    return answer ? answer->at("measured").size() : 99;
  };
  EXPECT_EQ(told(kAnn), 1u);
  EXPECT_EQ(told(-1), 0u);  // nobody
  snapshot.config.private_data = "jobs";
  EXPECT_EQ(told(kAnn), 0u);
  EXPECT_EQ(told(kBob), 1u);
  EXPECT_FALSE(AnswerMeasured({{"spec", 7}}, view, {kAnn, "ann", "", ""}));
}

TEST(LearnedRuns, AClientIsToldTheLinesThatAdviceGoesBy) {
  const std::vector<MeasuredStep> lines =
      LinesFor({RunOf(1, kAnn, {{10, 0, 23}, {5, 4.0, 15}})}, kAnn);
  const std::vector<MeasuredStep> told = LinesOf(MeasuredRunsOf(lines));
  ASSERT_EQ(told.size(), 2u);
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].gpu, lines[i].gpu);
    EXPECT_EQ(told[i].micro_batch, lines[i].micro_batch);
    EXPECT_EQ(told[i].out_of_memory, lines[i].out_of_memory);
    EXPECT_EQ(told[i].seconds_per_step, lines[i].seconds_per_step);
    EXPECT_EQ(told[i].peak_bytes, lines[i].peak_bytes);
    EXPECT_EQ(told[i].start_seconds, lines[i].start_seconds);
    EXPECT_EQ(told[i].by, "1 of your runs");
  }
}

TEST(LearnedRuns, APeakAboveTheUsersOwnMemoryLineMakesTheBatchSmallerAndNoneBelowItLarger) {
  // The line says 5 + 2 + 1.2 × 10 = 19 GB at 10.
  const auto batch_after = [](double gib) {
    return On4090(AdviceFor({RunOf(1, kAnn, {{5, 4.0, gib}})}))["micro_batch"].get<int64_t>();
  };
  EXPECT_EQ(batch_after(6), 10);
  EXPECT_EQ(batch_after(12.1), 10);  // 13 GB at 5, as the line says
  EXPECT_LT(batch_after(16), 10);
}

TEST(LearnedRuns, APersonsOwnLineForACardStands) {
  Experiment run = RunOf(1, kAnn, {{12, 99.0, 15}});
  run.strategy["gpu"] = "l40s";
  run.strategy["gpus_per_node"] = 6;
  const json advice = AdviceFor({run});
  for (const json& strategy : advice["strategies"]) {
    EXPECT_EQ(strategy["reasons"].dump().find("of your runs"), std::string::npos);
  }
}

TEST(LearnedRuns, OtherUsersRunsStayHiddenWhereJobsArePrivate) {
  const std::vector<Experiment> runs = {RunOf(1, kBob, {{10, 7.8, 23}}),
                                        RunOf(2, kCarl, {{10, 7.8, 23}})};
  EXPECT_THAT(On4090(AdviceFor(runs))["reasons"].dump(), HasSubstr("2 runs of 2 other users"));
  EXPECT_THAT(On4090(AdviceFor(runs, "jobs,usage"))["reasons"].dump(),
              HasSubstr("carried over from L40S"));
}

// ---- what others may not do --------------------------------------------------------------------

// Two users who invent the same figures.
std::vector<Experiment> Invented(int64_t micro_batch, double seconds, double gib) {
  return {RunOf(1, kBob, {{micro_batch, seconds, gib}}),
          RunOf(2, kCarl, {{micro_batch, seconds, gib}})};
}

TEST(LearnedRuns, OneUsersInventedRunsChangeNoAnswerOfAnother) {
  json untouched = AdviceFor({});
  std::vector<Experiment> runs;
  for (int64_t id = 1; id <= 50; ++id) {
    runs.push_back(RunOf(id, kBob, {{10, 0.001, 2}}));
    runs.back().times.gpu = "2080ti";  // what it really had
  }
  EXPECT_EQ(AdviceFor(runs), untouched);
}

TEST(LearnedRuns, InventedSpeedIsHeldToThreeTimesWhatIsKnownWithout) {
  const json known = On4090(AdviceFor({}));
  const json after = On4090(AdviceFor(Invented(10, 0.001, 23)));
  const double steps = known["run_p50_seconds"].get<double>() - 900;
  EXPECT_GE(after["run_p50_seconds"].get<double>(), (steps + 900) / 3 - 1);
  EXPECT_LT(after["run_p50_seconds"], known["run_p50_seconds"]);
  EXPECT_THAT(after["reasons"].dump(), HasSubstr("2 runs of 2 other users"));
  EXPECT_THAT(after["reasons"].dump(), HasSubstr("as far as what is known without them allows"));
}

TEST(LearnedRuns, InventedSlownessIsHeldToThreeTimesToo) {
  const json known = On4090(AdviceFor({}));
  const json after = On4090(AdviceFor(Invented(10, 5'000, 23)));
  EXPECT_LE(after["run_p50_seconds"].get<double>(), 3 * known["run_p50_seconds"].get<double>() + 1);
}

TEST(LearnedRuns, OnOtherUsersWordNoTimeLimitIsShorter) {
  const json known = On4090(AdviceFor({}));
  const json after = On4090(AdviceFor(Invented(10, 0.001, 23)));
  EXPECT_EQ(after["time_limit_seconds"], known["time_limit_seconds"]);
  EXPECT_THAT(after["notes"].dump(), HasSubstr("without other users' runs"));
}

TEST(LearnedRuns, OnOtherUsersWordNoBatchIsLarger) {
  const json known = AdviceFor({});
  for (const json& after : {AdviceFor(Invented(10, 7.8, 1)), AdviceFor(Invented(144, 7.8, 20)),
                            AdviceFor(Invented(30, 7.8, 23.9))}) {
    EXPECT_LE(On4090(after)["micro_batch"], On4090(known)["micro_batch"]);
  }
}

TEST(LearnedRuns, InventedPeaksMakeTheBatchOnlySoMuchSmaller) {
  const json after = On4090(AdviceFor(Invented(1, 7.8, 21)));  // where the line says 8.2 GB
  EXPECT_GE(after["micro_batch"], 4);
}

TEST(LearnedRuns, WhatOnlyOtherUsersTimedIsNotAnsweredFromTheirTimings) {
  json train = Train();
  train["training"].erase("measured");
  Snapshot snapshot = SnapshotOf(kSeedCluster);
  const auto queue = PrepareQueue(snapshot);
  std::vector<Experiment> runs = Invented(10, 7.8, 23);
  for (Experiment& run : runs) run.family = JobFamilyOf(train);
  const LearnedRuns learned = LearnedRuns().With(JobFamilyOf(train), {&runs.front(), &runs.back()});
  AdviceContext view{snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
  view.learned = &learned;
  const auto answer = AnswerAdvise({{"spec", train}}, view, {kAnn, "ann", "", ""});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("the speed of this model is not known"));
}

}  // namespace
}  // namespace gpuadvise::daemon
