// One stage on some GPUs: the batch, what it takes and how long.
#include "common/plan/stage_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/memory/memory_model.h"
#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

// The Isaac-GR00T guide's line: 5 GB and 1.2 GB a sample and 2 GB; timed on four RTX 4090.
json Gr00t() {
  return json::parse(R"({"model": {"memory": {"base": "5 GB", "per_sample": "1.2 GB",
      "overhead": "2 GB"}}, "training": {"max_steps": 1000, "effective_batch_size": [120, 144],
      "measured": [{"gpu": "rtx4090", "gpus": 4, "batch": 10, "seconds_per_step": 3.9}]},
      "command": "x"})");
}

// The same with another base, and nothing measured.
json WithBase(const char* base) {
  json spec = Gr00t();
  spec["model"]["memory"]["base"] = base;
  spec["model"]["params"] = 2e9;
  spec["training"].erase("measured");
  spec["training"]["max_seq_length"] = 512;
  return spec;
}

TrainSpec SpecOf(const json& document) {
  const Result<TrainSpec> spec = ParseTrainSpec(document, "/spec");
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().message);
  return *spec;
}

Result<StagePlan> PlanOn(const char* gpu, int64_t gpus, const TrainSpec& spec) {
  const GpuCatalogue& catalogue = ShippedGpus().catalogue();
  return PlanStage(
      spec.stages.front(),
      {*catalogue.Resolve(gpu), gpus, 1, {}, spec.output, catalogue, ShippedModels(), gpus});
}
Result<StagePlan> PlanOn(const char* gpu, int64_t gpus, const json& document) {
  return PlanOn(gpu, gpus, SpecOf(document));
}

int64_t MicroBatch(const char* gpu, const json& document) {
  const Result<StagePlan> plan = PlanOn(gpu, 4, document);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return plan ? plan->batch.micro_batch : 0;
}

MeasuredStep Timing(const char* gpu, int64_t batch) {
  MeasuredStep step;
  step.gpu = gpu;
  step.gpus = 4;
  step.micro_batch = batch;
  return step;
}

TEST(StagePlan, IsTheTeamGuidesStrategyOnFour4090) {
  const Result<StagePlan> plan = PlanOn("rtx4090", 4, Gr00t());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->batch.micro_batch, 10);
  EXPECT_EQ(plan->batch.effective, 120);
  EXPECT_EQ(plan->memory_bytes, 19'000'000'000);
  EXPECT_NEAR(plan->run_p50_seconds, 3900, 1e-6);
  EXPECT_EQ(plan->work.steps, 1000);
  EXPECT_FALSE(plan->counted);
}

TEST(StagePlan, TheCallersMicroBatchMayUseTheMarginButNotMoreThanTheCard) {
  json spec = Gr00t();
  spec["training"].erase("effective_batch_size");
  spec["training"]["per_device_train_batch_size"] = 14;  // 23.8 of 24 GB
  EXPECT_EQ(MicroBatch("rtx4090", spec), 14);
  spec["training"]["per_device_train_batch_size"] = 15;
  EXPECT_FALSE(PlanOn("rtx4090", 4, spec));
}

TEST(StagePlan, ABatchThatRanThereIsTakenWhateverTheLineSays) {
  for (const int64_t batch : {11, 18}) {  // by the line 10 fit with the margin, and 14 without
    TrainSpec spec = SpecOf(Gr00t());
    spec.stages[0].training.measured.push_back(Timing("rtx4090", batch));
    const Result<StagePlan> plan = PlanOn("rtx4090", 4, spec);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->batch.micro_batch, batch);
    EXPECT_TRUE(plan->batch_measured);
    EXPECT_LE(plan->memory_bytes, ShippedGpus().catalogue().Resolve("rtx4090")->memory_bytes);
    EXPECT_FALSE(PlanOn("l40s", 4, spec)->batch_measured);  // another card
  }
}

TEST(StagePlan, WhatRanOutOfMemoryOnFewerShardsSaysNothingOfMore) {
  TrainSpec spec = SpecOf(json::parse(R"({"model": {"preset": "llama-3.1-8b"}, "training":
      {"samples": 1000, "max_seq_length": 2048, "effective_batch_size": 64, "deepspeed": 3},
      "command": "x"})"));
  const int64_t without = PlanOn("a100-80gb", 8, spec)->batch.micro_batch;
  spec.stages[0].training.measured.push_back(Timing("a100-80gb", 1));
  spec.stages[0].training.measured.back().out_of_memory = true;
  EXPECT_EQ(PlanOn("a100-80gb", 8, spec)->batch.micro_batch, without);
  EXPECT_FALSE(PlanOn("a100-80gb", 4, spec));
}

TEST(StagePlan, ThePresetsTimingsCountWhereTheSpecHasNone) {
  const json spec = json::parse(R"({"model": {"preset": "gr00t-n1-2b"}, "training":
      {"max_steps": 1000, "effective_batch_size": 120}, "command": "x"})");
  EXPECT_NEAR(PlanOn("rtx4090", 4, spec)->run_p50_seconds, 3900, 1e-6);
}

TEST(StagePlan, ABatchThatRanOutOfMemoryThereIsNotReached) {
  TrainSpec spec = SpecOf(Gr00t());
  spec.stages[0].training.measured.push_back(Timing("rtx4090", 10));
  spec.stages[0].training.measured.back().out_of_memory = true;
  spec.stages[0].training.measured.back().by = "1 of your runs";
  EXPECT_LT(PlanOn("rtx4090", 4, spec)->batch.micro_batch, 10);
  EXPECT_EQ(PlanOn("rtx4090", 4, spec)->lesson,
            "micro-batch 10 ran out of memory there, in 1 of your runs");
  EXPECT_EQ(PlanOn("l40s", 4, spec)->lesson, "");
  EXPECT_EQ(PlanOn("l40s", 4, spec)->batch.micro_batch, MicroBatch("l40s", Gr00t()));
  spec.stages[0].training.measured.back().micro_batch = 1;
  EXPECT_EQ(PlanOn("rtx4090", 4, spec).error().message,
            "one sample ran out of memory there, in 1 of your runs");
}

TEST(StagePlan, WhereOneSampleDoesNotFitItsSizeIsSaid) {
  EXPECT_EQ(PlanOn("rtx4090", 4, WithBase("30 GB")).error().message,
            "one sample takes 30.9 GiB, the GPU has 24 GiB");
}

TEST(StagePlan, ATimingMakesNoCardFitThatMemoryRefuses) {
  TrainSpec spec = SpecOf(WithBase("500 GB"));
  spec.stages[0].training.measured.push_back(Timing("rtx4090", 4));
  spec.stages[0].training.measured.back().seconds_per_step = 3.9;
  const Result<StagePlan> plan = PlanOn("rtx4090", 4, spec);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message,
            "one sample takes 468.6 GiB, the GPU has 24 GiB; yet it was timed there: correct "
            "model.memory");
}

TEST(StagePlan, ABatchFarOverTheCardIsNotTakenFromATiming) {
  TrainSpec spec = SpecOf(Gr00t());
  spec.stages[0].training.measured.push_back(Timing("rtx4090", 40));  // 55 GB by the line
  EXPECT_EQ(PlanOn("rtx4090", 4, spec)->batch.micro_batch, 10);
}

TEST(StagePlan, WhatOtherUsersRanTurnsNoCheckpointingOnForALargerBatch) {
  TrainSpec spec = SpecOf(json::parse(R"({"model": {"preset": "bert-large"}, "training":
      {"samples": 1000, "max_seq_length": 128, "effective_batch_size": 4096},
      "command": "x"})"));
  const StagePlan alone = PlanOn("h100-80gb-sxm", 4, spec).value();
  ASSERT_FALSE(alone.checkpointing_chosen);
  MeasuredStep line = Timing("h100-80gb-sxm", 4000);
  line.seconds_per_step = 3;
  spec.stages[0].training.measured = {line};
  EXPECT_TRUE(PlanOn("h100-80gb-sxm", 4, spec).value().checkpointing_chosen) << "one's own do";
  spec.stages[0].training.measured.front().by_others = true;
  const StagePlan informed = PlanOn("h100-80gb-sxm", 4, spec).value();
  EXPECT_FALSE(informed.checkpointing_chosen);
  EXPECT_EQ(informed.batch.micro_batch, alone.batch.micro_batch);
}

TEST(StagePlan, OneSampleMayUseTheMargin) {
  EXPECT_EQ(MicroBatch("rtx4090", WithBase("19 GB")), 1);  // 22.2 GB of 24
}

TEST(StagePlan, WithoutAWordOnMemoryTheCallerIsAskedForOne) {
  json spec = Gr00t();
  spec["model"] = {{"params", 2e9}};
  spec["training"]["measured"] = json::array();
  const Result<StagePlan> plan = PlanOn("rtx4090", 4, spec);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kBadInput);
  EXPECT_EQ(plan.error().pointer, "/spec/model");
  EXPECT_EQ(MicroBatch("rtx4090", Gr00t().patch(json::parse(R"([{"op": "replace", "path": "/model",
      "value": {"params": 2e9}}])"))),
            10);  // what was measured says enough
}

// A fixed micro-batch of a model that nobody has described, with one line of `measured:`.
json Undescribed(int64_t micro_batch, const json& measured) {
  json spec = Gr00t();
  spec["model"] = json::object();
  spec["training"].erase("effective_batch_size");
  spec["training"]["per_device_train_batch_size"] = micro_batch;
  spec["training"]["measured"] = json::array({measured});
  return json::parse(spec.dump());
}

TEST(StagePlan, AFixedMicroBatchIsCheckedOnlyWhereItRanWithNoMoreMemory) {
  const json on_4090 = {{"gpu", "rtx4090"}, {"gpus", 4}, {"batch", 8}, {"seconds_per_step", 3}};
  EXPECT_TRUE(PlanOn("rtx4090", 4, Undescribed(8, on_4090))->memory_checked);
  EXPECT_TRUE(PlanOn("l40s", 4, Undescribed(8, on_4090))->memory_checked);
  EXPECT_FALSE(PlanOn("rtx2080ti", 4, Undescribed(8, on_4090))->memory_checked);
  EXPECT_FALSE(PlanOn("l40s", 4, Undescribed(9, on_4090))->memory_checked);
  EXPECT_EQ(PlanOn("l40s", 4, Undescribed(9, on_4090))->batch.micro_batch, 9);
}

TEST(StagePlan, WhatTookMoreThanACardHasIsNotTriedThere) {
  json seen = {{"gpu", "rtx4090"}, {"gpus", 4}, {"batch", 8}, {"seconds_per_step", 3}};
  seen["peak"] = "18 GB";
  EXPECT_EQ(PlanOn("rtx2080ti", 4, Undescribed(8, seen)).error().message,
            "micro-batch 8 took 16.8 GiB on RTX 4090, this GPU has 11");
  EXPECT_FALSE(PlanOn("rtx2080ti", 4, Undescribed(4, seen))->memory_checked);
  EXPECT_TRUE(PlanOn("l40s", 4, Undescribed(8, seen))->memory_checked);
  seen["peak"] = "9 GB";
  EXPECT_TRUE(PlanOn("rtx2080ti", 4, Undescribed(8, seen))->memory_checked);
}

TEST(StagePlan, WhatRanOutOfMemoryRunsOutWhereThereIsNoMore) {
  TrainSpec spec = SpecOf(
      Undescribed(8, {{"gpu", "rtx4090"}, {"gpus", 4}, {"batch", 8}, {"seconds_per_step", 3}}));
  spec.stages[0].training.measured.push_back(Timing("l40s", 8));
  spec.stages[0].training.measured.back().out_of_memory = true;
  EXPECT_EQ(PlanOn("l40s", 4, spec).error().message, "micro-batch 8 ran out of memory on L40S");
  EXPECT_FALSE(PlanOn("rtx2080ti", 4, spec));
  EXPECT_FALSE(PlanOn("a100-80gb", 4, spec)->memory_checked == false);
}

TEST(StagePlan, WritingCheckpointsStopsTheTraining) {
  TrainSpec spec = SpecOf(Gr00t());
  const double without = PlanOn("rtx4090", 4, spec)->run_p50_seconds;
  spec.output.checkpoint_bytes = 30'000'000'000;
  EXPECT_EQ(PlanOn("rtx4090", 4, spec)->checkpoint_seconds, 0);
  spec.output.save_steps = 250;
  const Result<StagePlan> plan = PlanOn("rtx4090", 4, spec);
  EXPECT_DOUBLE_EQ(plan->checkpoint_seconds, 4 * 30);
  EXPECT_DOUBLE_EQ(plan->run_p50_seconds, without + 4 * 30);
}

TEST(StagePlan, ARunOfCenturiesIsRefused) {
  json spec = Gr00t();
  spec["training"]["max_steps"] = 1'000'000'000;
  const Result<StagePlan> plan = PlanOn("rtx4090", 4, spec);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kInfeasible);
  EXPECT_EQ(plan.error().message, "would take 124 years");
}

TEST(StagePlan, ErrorsPointToTheKeyOfTheDocument) {
  json spec = Gr00t();
  spec["model"] = {{"preset", "llama-9"}};
  EXPECT_EQ(PlanOn("rtx4090", 4, spec).error().pointer, "/spec/model/preset");
  spec = Gr00t();
  spec["training"]["measured"][0]["gpu"] = "quantumcard";
  EXPECT_EQ(PlanOn("rtx4090", 4, spec).error().pointer, "/spec/training/measured/0/gpu");
  spec = Gr00t();
  spec["model"] = {{"preset", "llama-3.2-1b"}};
  spec["training"]["method"] = "lora";
  spec["training"]["max_seq_length"] = 512;
  spec["training"]["lora"] = {{"target_modules", {"nothing_proj"}}};
  EXPECT_EQ(PlanOn("rtx4090", 4, spec).error().pointer, "/spec/training/lora/target_modules");
}

TEST(StagePlan, AShapeIsCountedAndItsStepHasParts) {
  const Result<StagePlan> plan = PlanOn("l40s", 2, json::parse(R"({"model":
      {"preset": "llama-3.2-1b"}, "training": {"max_steps": 100, "effective_batch_size": 16,
      "max_seq_length": 512, "pure_bf16": true}, "command": "x"})"));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->counted);
  EXPECT_GT(plan->memory_bytes, 0);
  EXPECT_GT(plan->step.total(), 0);
  EXPECT_NEAR(plan->run_p50_seconds, 100 * plan->step.total(), 1);
}

TEST(StartUpSeconds, IsWhatTheFileSaysElseTheMedianOfWhatWasMeasured) {
  TrainSpec spec = SpecOf(Gr00t());
  EXPECT_DOUBLE_EQ(StartUpSeconds(spec), kStartUpSeconds);
  spec.stages[0].training.torch_compile = true;
  EXPECT_DOUBLE_EQ(StartUpSeconds(spec), kStartUpSeconds + kCompileSeconds);
  for (const double seconds : {90.0, 10.0, 30.0}) {
    spec.stages[0].training.measured.push_back(Timing("rtx4090", 10));
    spec.stages[0].training.measured.back().start_seconds = seconds;
  }
  EXPECT_DOUBLE_EQ(StartUpSeconds(spec), 30);
  spec.stages[0].training.start_seconds = 5;
  EXPECT_DOUBLE_EQ(StartUpSeconds(spec), 5);
}

RC_GTEST_PROP(StagePlan, FillsTheCardUpToItsMarginAndMakesABatchOfTheRange, ()) {
  const auto draw = [](int low, int high) { return *rc::gen::inRange(low, high + 1); };
  const char* gpu = *rc::gen::element("rtx2080ti", "rtx4090", "l40s", "a100-80gb");
  const int64_t gpus = draw(1, 8);
  const int64_t low = gpus * draw(1, 60);
  TrainSpec spec = SpecOf(WithBase("5 GB"));
  spec.stages[0].training.effective_batch_size = BatchRange{low, low + gpus * draw(0, 20)};
  const Result<StagePlan> plan = PlanOn(gpu, gpus, spec);
  RC_ASSERT(plan.has_value());
  const BatchPlan& batch = plan->batch;
  const BatchRange& range = *spec.stages[0].training.effective_batch_size;
  RC_ASSERT(batch.effective >= range.low && batch.effective <= range.high);
  RC_ASSERT(batch.effective == batch.micro_batch * gpus * batch.accumulation);
  const double card = ShippedGpus().catalogue().Resolve(gpu)->memory_gb * 1e9;
  const auto bytes = [](int64_t samples) { return 7e9 + 1.2e9 * static_cast<double>(samples); };
  RC_ASSERT(bytes(batch.micro_batch) <= card * (1 - kRecommendedMargin) + 1);
  for (int64_t more = batch.micro_batch + 1; bytes(more) <= card * (1 - kRecommendedMargin);
       ++more) {
    const int64_t first = (range.low + more * gpus - 1) / (more * gpus) * more * gpus;
    RC_ASSERT(first > range.high);  // no larger one makes a batch of the range
  }
}

// A timing on a card is what that card shows, whatever is left to us.
RC_GTEST_PROP(StagePlan, GivesATimingBackOnItsOwnCardGpusAndBatch, ()) {
  const std::vector<std::string> presets = {"llama-3.1-8b", "llama-3.2-1b", "bert-large",
                                            "mt5-1.2b",     "gr00t-n1-2b",  "qwen2.5-vl-3b"};
  const std::vector<GpuModel>& cards = ShippedGpus().catalogue().models();
  const GpuModel& card = cards[*rc::gen::inRange<size_t>(0, cards.size())];
  const int64_t gpus = card.is_mig_slice ? 1 : *rc::gen::element<int64_t>(1, 2, 4, 8);
  const auto batch = *rc::gen::inRange<int64_t>(1, 40);
  const auto accumulation = *rc::gen::inRange<int64_t>(1, 9);
  const double seconds = *rc::gen::inRange(1, 10'000) / 10.0;
  json training = {{"max_steps", 1000},
                   {"max_seq_length", *rc::gen::element(128, 512, 2048, 4096)},
                   {"effective_batch_size", batch * gpus * accumulation},
                   {"per_device_train_batch_size", batch},
                   {"method", *rc::gen::element<std::string>("full", "lora", "qlora")}};
  const auto checkpointing = *rc::gen::element<json>("auto", true, false, "selective");
  training["gradient_checkpointing"] = checkpointing;
  const auto precision = *rc::gen::element<std::string>("auto", "bf16", "fp16", "fp32");
  if (precision == "fp32") training["bf16"] = training["fp16"] = false;
  if (precision == "bf16" || precision == "fp16") training[precision] = true;
  if (*rc::gen::arbitrary<bool>()) training["deepspeed"] = *rc::gen::element(2, 3);
  training["measured"] = json::array(
      {{{"gpu", card.id}, {"gpus", gpus}, {"batch", batch}, {"seconds_per_step", seconds}}});
  const json document = {{"model", {{"preset", *rc::gen::elementOf(presets)}}},
                         {"training", training},
                         {"command", "x"}};
  const auto plan = PlanOn(card.id.c_str(), gpus, json::parse(document.dump()));
  if (!plan) RC_DISCARD(plan.error().message);
  RC_ASSERT(plan->batch.micro_batch == batch);
  RC_ASSERT(std::abs(plan->run_p50_seconds / 1000 / seconds - 1) < 1e-3);
}

// One sample less at once costs at most what is paid once a micro-batch, however the timed batch
// fitted the card.
RC_GTEST_PROP(StagePlan, ABatchBesideTheTimedOneTakesNearlyAsLongASample, ()) {
  const std::vector<GpuModel>& cards = ShippedGpus().catalogue().models();
  const GpuModel& card = cards[*rc::gen::inRange<size_t>(0, cards.size())];
  const auto preset = *rc::gen::element<std::string>("llama-3.1-8b", "llama-3.2-1b", "bert-large",
                                                     "qwen2.5-vl-3b", "gr00t-n1-2b");
  const auto method = *rc::gen::element<std::string>("full", "lora", "qlora");
  const auto length = *rc::gen::element(128, 512, 2048);
  const auto timed = *rc::gen::inRange<int64_t>(2, 60);
  const auto seconds_a_sample = [&](int64_t batch) -> std::optional<double> {
    const json training = {
        {"max_steps", 100},
        {"max_seq_length", length},
        {"method", method},
        {"per_device_train_batch_size", batch},
        {"measured", {{{"gpu", card.id}, {"gpus", 1}, {"batch", timed}, {"seconds_per_step", 7}}}}};
    const json spec = {{"model", {{"preset", preset}}}, {"training", training}, {"command", "x"}};
    const auto plan = PlanOn(card.id.c_str(), 1, json::parse(spec.dump()));
    if (!plan) return std::nullopt;
    return plan->run_p50_seconds / 100 / static_cast<double>(batch);
  };
  const auto one_less = seconds_a_sample(timed - 1);
  if (!one_less) RC_DISCARD("does not run there");
  const double ratio = *one_less / (7 / static_cast<double>(timed));
  RC_ASSERT(ratio >= 0.98);
  RC_ASSERT(ratio <= 1.01 * static_cast<double>(timed) / static_cast<double>(timed - 1));
}

}  // namespace
}  // namespace gpuadvise
