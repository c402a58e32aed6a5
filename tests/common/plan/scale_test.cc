#include "common/plan/scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/plan/answer_scale.h"
#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

const GpuModel& Gpu(const char* name) { return *ShippedGpus().catalogue().Resolve(name); }

TrainSpec Spec(const char* text) {
  const Result<TrainSpec> spec = ParseTrainSpec(json::parse(text), "");
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().message);
  return *spec;
}

const char* const kLora = R"({"model": {"preset": "llama-3.2-3b"}, "training": {"samples": 200000,
    "effective_batch_size": 64, "max_seq_length": 1024, "method": "lora"}, "command": "x"})";
const char* const kFull = R"({"model": {"preset": "llama-3.2-1b"}, "training": {"samples": 200000,
    "effective_batch_size": 16, "max_seq_length": 512, "pure_bf16": true}, "command": "x"})";

ScaleQuestion Question(const TrainSpec& spec) {
  return {.spec = spec, .presets = ShippedModels(), .catalogue = ShippedGpus().catalogue()};
}

ScaleCurve Curve(const ScaleQuestion& question, const char* gpu, int64_t gpus_per_node = 8) {
  const Result<ScaleCurve> curve =
      Scale(question, {.model = &Gpu(gpu), .gpus_per_node = gpus_per_node});
  EXPECT_TRUE(curve) << (curve ? "" : curve.error().message);
  return *curve;
}

int64_t Recommended(const ScaleCurve& curve) {
  return curve.recommended ? curve.steps[*curve.recommended].gpus() : 0;
}

TEST(Scale, MoreGpusOverNvlinkKeepMostOfTheirRate) {
  const TrainSpec spec = Spec(kLora);
  const ScaleCurve curve = Curve(Question(spec), "a100-80gb");
  ASSERT_EQ(curve.steps.size(), 4U);
  EXPECT_DOUBLE_EQ(curve.steps[0].efficiency, 1);
  EXPECT_GT(curve.steps[3].efficiency, 0.9);
  EXPECT_EQ(Recommended(curve), 8);
}

TEST(Scale, FullFineTuningOverPcieStopsEarlyAndSaysWhy) {
  const TrainSpec spec = Spec(kFull);
  const ScaleCurve curve = Curve(Question(spec), "rtx4090");
  EXPECT_LT(Recommended(curve), 4);
  EXPECT_NE(curve.why_not_more.find("communication between GPUs"), std::string::npos)
      << curve.why_not_more;
}

TEST(Scale, TheObjectiveDecides) {
  const TrainSpec spec = Spec(kFull);
  ScaleQuestion question = Question(spec);
  question.objective = Objective::kCost;
  EXPECT_EQ(Recommended(Curve(question, "rtx4090")), 1);
  question.objective = Objective::kDeadline;
  const ScaleCurve one = Curve(question, "a100-80gb");
  question.deadline_seconds = one.steps[1].run.seconds.p90 + 60;
  const ScaleCurve in_time = Curve(question, "a100-80gb");
  EXPECT_EQ(Recommended(in_time), 2);
  question.deadline_seconds = 60;
  EXPECT_NE(Curve(question, "a100-80gb").why.find("none is done in"), std::string::npos);
}

TEST(Scale, CostsFollowFromThePriceAndEnergyFromThePowerLimit) {
  TrainSpec spec = Spec(kLora);
  ScaleQuestion question = Question(spec);
  EXPECT_FALSE(Curve(question, "l40s").steps[0].cost.price);
  spec.resources.prices = {"2", "l40s=3"};
  EXPECT_DOUBLE_EQ(*Curve(question, "rtx4090").steps[0].cost.price,
                   2 * Curve(question, "rtx4090").steps[0].cost.gpu_hours);
  const ScaleStep step = Curve(question, "l40s").steps[1];
  EXPECT_DOUBLE_EQ(*step.cost.price, 3 * step.cost.gpu_hours);
  EXPECT_NEAR(step.cost.gpu_hours, 2 * step.run.seconds.mean / 3600, 1e-9);
  EXPECT_DOUBLE_EQ(*step.cost.kilowatt_hours, step.cost.gpu_hours * 0.35);
}

TEST(Scale, BeyondANodeWholeNodesAreAdded) {
  const TrainSpec spec = Spec(kLora);
  ScaleQuestion question = Question(spec);
  question.most_gpus = 16;
  const ScaleCurve curve = Curve(question, "l40s", 4);
  EXPECT_EQ(curve.steps[4].gpus_per_node, 4);
  EXPECT_EQ(curve.steps[4].nodes, 4);
  const auto doubt = [](const ScaleStep& step) {
    return step.run.seconds.p90 / step.run.seconds.p50;
  };
  EXPECT_GT(doubt(curve.steps[4]), 1.3 * doubt(curve.steps[2]));  // an unknown network
}

TEST(Scale, FinishIsTheShortestRunAndSaysUpToWhereEachGpuIsWorthIt) {
  const TrainSpec spec = Spec(kLora);
  const ScaleCurve curve = Curve(Question(spec), "rtx4090");
  const ScaleStep& chosen = curve.steps[*curve.recommended];
  for (const ScaleStep& step : curve.steps) {
    if (!step.impossible.empty()) continue;
    EXPECT_GE(step.run.seconds.p50, chosen.run.seconds.p50);
  }
  EXPECT_LE(*curve.worthwhile, *curve.recommended);
  EXPECT_GE(curve.steps[*curve.worthwhile].efficiency, kWorthwhileEfficiency);
}

ScaleCurve OnNodesOfFour(const ScaleQuestion& question) {
  return *Scale(question, {.model = &Gpu("l40s"),
                           .gpus_per_node = 4,
                           .interconnect = {.link_gb_per_s = 20, .network_gb_per_s = 50}});
}

TEST(Scale, SeveralNodesAreRecommendedOnlyWhereTheFileAllowsThem) {
  TrainSpec spec = Spec(kLora);
  const auto on_two_nodes = [&] { return OnNodesOfFour(Question(spec)); };
  EXPECT_EQ(Recommended(on_two_nodes()), 4);
  EXPECT_EQ(on_two_nodes().why, "the shortest run on the nodes allowed");
  EXPECT_EQ(on_two_nodes().why_not_more,
            "8 GPUs need 2 nodes: allow that with resources.max_nodes: 2");
  spec.resources.max_nodes = 2;
  EXPECT_EQ(Recommended(on_two_nodes()), 8);
}

TEST(Scale, ANumberOfGpusAllowsTheNodesThatItTakes) {
  TrainSpec spec = Spec(kLora);
  ScaleQuestion question = Question(spec);
  question.most_gpus = 16;
  const ScaleCurve curve = OnNodesOfFour(question);
  EXPECT_EQ(Recommended(curve), 16);
  EXPECT_EQ(curve.why, "the shortest run");
  spec.resources.max_nodes = 2;
  EXPECT_EQ(Recommended(OnNodesOfFour(question)), 8) << "the file goes before it";
}

TEST(Scale, AWholeNodeOfMoreThanEightIsTried) {
  const TrainSpec spec = Spec(kLora);
  EXPECT_EQ(Curve(Question(spec), "l40s", 10).steps.back().gpus(), 10);
}

TEST(Scale, AWholeNodeIsTriedWhateverItsNumber) {
  const TrainSpec spec = Spec(kLora);
  std::vector<int64_t> gpus;
  ScaleQuestion question = Question(spec);
  question.most_gpus = 12;
  for (const ScaleStep& step : Curve(question, "l40s", 6).steps) gpus.push_back(step.gpus());
  EXPECT_EQ(gpus, (std::vector<int64_t>{1, 2, 3, 4, 6, 12}));
}

TEST(Scale, KeepsToTheGpusAndNodesThatTheFileAllows) {
  TrainSpec spec = Spec(kLora);
  spec.resources.max_gpus = 2;
  EXPECT_EQ(Curve(Question(spec), "l40s").steps.size(), 2U);
  spec.resources.max_gpus = {};
  spec.resources.max_nodes = 1;
  ScaleQuestion question = Question(spec);
  question.most_gpus = 16;
  EXPECT_EQ(Curve(question, "l40s", 4).steps.back().gpus(), 4);
}

TEST(Scale, ARunOfCenturiesIsRefusedAndNoneIsEndless) {
  const TrainSpec spec = Spec(
      R"({"model": {"preset": "llama-3.2-1b"}, "training": {"num_train_epochs": 1e9, "num_samples":
          1000000000000, "max_seq_length": 1024, "effective_batch_size": 8}, "command": "x"})");
  const ScaleCurve curve = Curve(Question(spec), "l40s");
  EXPECT_NE(curve.steps[0].impossible.find("years"), std::string::npos);
  ScaleStep step;
  step.run.stages.resize(1);
  step.run.stages[0].run_p50_seconds = 3e9;
  EXPECT_LE(PlanSchedule(Spec(kLora), step).size(), 4U);
}

TEST(Scale, AMeasuredBatchOfManyShardsIsNoneOfFew) {
  const TrainSpec spec = Spec(
      R"({"model": {"preset": "llama-3.1-8b"}, "training": {"samples": 1000, "max_seq_length": 2048,
          "effective_batch_size": 64, "deepspeed": 3, "measured": [{"gpu": "a100-80gb", "gpus": 8,
          "batch": 8, "seconds_per_step": 20}]}, "command": "x"})");
  const ScaleCurve curve = Curve(Question(spec), "a100-80gb");
  EXPECT_FALSE(curve.steps[0].impossible.empty());
  EXPECT_EQ(curve.steps[3].impossible, "");
}

TEST(Scale, ASliceIsOne) {
  const TrainSpec spec = Spec(kLora);
  EXPECT_EQ(Curve(Question(spec), "a100-3g.40gb").steps.size(), 1U);
}

TEST(Scale, WhereNothingFitsNothingIsRecommended) {
  const TrainSpec spec = Spec(
      R"({"model": {"preset": "llama-3.1-70b"}, "training": {"samples": 1000,
          "effective_batch_size": 8, "max_seq_length": 1024}, "command": "x"})");
  const ScaleCurve curve = Curve(Question(spec), "rtx4090");
  EXPECT_EQ(Recommended(curve), 0);
  EXPECT_NE(curve.steps[0].impossible.find("one sample takes"), std::string::npos);
}

TEST(Scale, AnUnknownPresetIsTheCallersToMend) {
  const TrainSpec spec =
      Spec(R"({"model": {"preset": "llama-9"}, "training": {"samples": 10}, "command": "x"})");
  const Result<ScaleCurve> curve = Scale(Question(spec), {.model = &Gpu("l40s")});
  ASSERT_FALSE(curve);
  EXPECT_EQ(curve.error().pointer, "/spec/model/preset");
}

TEST(PlanSchedule, AddsUpToTheRunAndNamesTheStages) {
  const TrainSpec spec = Spec(kLora);
  ScaleStep step;
  step.run.stages.resize(2);
  step.run.stages[0].name = "first";
  step.run.stages[0].run_p50_seconds = 64 * 3600;
  step.run.stages[1].run_p50_seconds = 36 * 3600;
  const std::vector<DayOfWork> days = PlanSchedule(spec, step);
  double hours = 0;
  for (const DayOfWork& day : days) {
    hours += day.hours * static_cast<double>(day.last_day - day.first_day + 1);
    EXPECT_LE(day.hours, 24 + 1e-9);
  }
  EXPECT_NEAR(hours, 100 + StartUpSeconds(spec) / 3600, 1e-6);
  EXPECT_EQ(days[1].task, "first");
  EXPECT_EQ(days.back().task, "stage 2");
  EXPECT_EQ(days.back().last_day, 5);
}

TEST(AnswerScale, TellsTheBestKindInFullAndWhyWhereNobodyNamedOne) {
  const TrainSpec spec = Spec(kFull);
  ScaleQuestion question = Question(spec);
  const std::vector<ScaledGpu> gpus = {
      {.model = &Gpu("rtx4070")}, {.model = &Gpu("l40s")}, {.model = &Gpu("a100-80gb")}};
  const json best = ToJson(*AnswerScale(question, gpus, DetailedGpu::kBest));
  EXPECT_EQ(best["gpu"], "a100-80gb-sxm");
  EXPECT_TRUE(best["gpu_why"].get<std::string>().starts_with("the shortest run of "));
  EXPECT_EQ(AnswerScale(question, gpus, DetailedGpu::kFirst)->gpu_why, "");
  question.objective = Objective::kDeadline;
  question.deadline_seconds = 60;
  EXPECT_NE(AnswerScale(question, gpus, DetailedGpu::kBest)->gpu_why.find("none meets"),
            std::string::npos);
}

TEST(AnswerScale, GpusThatShareASampleRunOnlyTogether) {
  const TrainSpec spec = Spec(
      R"({"model": {"preset": "llama-3.2-1b"}, "training": {"samples": 2000, "effective_batch_size": 64,
          "max_seq_length": 1024, "tensor_parallel_size": 4}, "command": "x"})");
  const json answer =
      ToJson(*AnswerScale(Question(spec), {{.model = &Gpu("h100-80gb-sxm")}}, DetailedGpu::kFirst));
  EXPECT_EQ(answer["steps"][1]["reason"],
            "tensor × pipeline × context parallelism is 4, which does not divide 2 GPUs");
  EXPECT_TRUE(answer["steps"][2]["runs"]);
  EXPECT_EQ(answer["steps"][2]["stages"][0]["effective_batch_size"], 64);
}

TEST(AnswerScale, SaysBeyondWhichNumberTheShortestRunPaysLess) {
  const TrainSpec spec = Spec(
      R"({"model": {"preset": "llama-3.2-1b"}, "training": {"samples": 200000,
          "effective_batch_size": 64, "max_seq_length": 1024, "pure_bf16": true}, "command": "x"})");
  const json answer = ToJson(
      *AnswerScale(Question(spec), {{.model = &Gpu("h100-80gb-pcie")}}, DetailedGpu::kFirst));
  EXPECT_EQ(answer["recommended"]["gpus"], 8);
  EXPECT_EQ(answer["recommended"]["beyond"], "1 GPU each do less than 85 % of what one does");
}

TEST(AnswerScale, TellsTheFirstThatRunsInFullAndAllInAList) {
  const TrainSpec spec = Spec(kFull);
  const auto told =
      AnswerScale(Question(spec), {{.model = &Gpu("rtx4070")}, {.model = &Gpu("a100-80gb")}},
                  DetailedGpu::kFirst);
  ASSERT_TRUE(told);
  const json answer = ToJson(*told);
  EXPECT_EQ(answer["gpus"].size(), 2U);
  const json& chosen = answer["recommended"];
  EXPECT_GT(chosen["gpus"].get<int>(), 0);
  EXPECT_FALSE(chosen["why_not_more"].get<std::string>().empty());
  const json& stage = answer["steps"][0]["stages"][0];
  double parts = 0;
  for (const auto& [name, seconds] : stage["step"].items()) parts += seconds.get<double>();
  EXPECT_NEAR(parts, stage["seconds_per_step"].get<double>(), 1e-6);
}

}  // namespace
}  // namespace gpuadvise
