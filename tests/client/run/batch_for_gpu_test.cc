#include "client/run/batch_for_gpu.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kGib = int64_t{1} << 30;

TrainSpec Spec(json more = json::object()) {
  json spec = json::parse(R"({"model": {"memory": {"base": "5 GB", "per_sample": "1.2 GB",
                                                   "overhead": "2 GB"}},
                              "training": {"max_steps": 10, "effective_batch_size": 48}})");
  spec.merge_patch(more);
  return *ParseTrainSpec(spec, "");
}

std::string BatchOn(const TrainSpec& spec, const GpusHere& here) {
  const auto batch = BatchForGpus(spec, ShippedModels(), ShippedGpus().catalogue(), here);
  if (!batch) return batch.error().message;
  return std::to_string(batch->micro_batch) + "x" + std::to_string(batch->accumulation);
}

TEST(BatchForGpu, TheEffectiveBatchIsKeptOnEveryCard) {
  EXPECT_EQ(BatchOn(Spec(), {{"NVIDIA GeForce RTX 4090"}, {24 * kGib}, 1}), "8x6");
  EXPECT_EQ(BatchOn(Spec(), {{"NVIDIA L40S", "NVIDIA L40S"}, {45 * kGib, 45 * kGib}, 1}), "24x1");
  EXPECT_EQ(BatchOn(Spec(), {{"NVIDIA L40S"}, {45 * kGib}, 4}), "12x1");
}

TEST(BatchForGpu, AMeasuredBatchIsTakenAsAdviseTakesIt) {
  const TrainSpec spec =
      Spec({{"training",
             {{"measured",
               {{{"gpu", "rtx4090"}, {"gpus", 1}, {"batch", 12}, {"seconds_per_step", 1.0}}}}}}});
  EXPECT_EQ(BatchOn(spec, {{"NVIDIA GeForce RTX 4090"}, {24 * kGib}, 1}), "12x4");
}

TEST(BatchForGpu, TheDriversMemorySaysWhichVariantItIs) {
  const TrainSpec spec = Spec();
  EXPECT_EQ(BatchOn(spec, {{"NVIDIA A100"}, {40 * kGib}, 1}), "16x3");
  EXPECT_EQ(BatchOn(spec, {{"NVIDIA A100"}, {80 * kGib}, 1}), "24x2");
  EXPECT_EQ(BatchOn(spec, {{"NVIDIA A100"}, {0}, 1}), "16x3");  // the smaller one
}

TEST(BatchForGpu, TheSmallestCardCounts) {
  const GpusHere here{{"NVIDIA L40S", "NVIDIA GeForce RTX 4090"}, {45 * kGib, 24 * kGib}, 1};
  EXPECT_EQ(BatchOn(Spec(), here), "8x3");
}

TEST(BatchForGpu, WhatCannotBeIsSaid) {
  EXPECT_EQ(BatchOn(Spec(), {{}, {}, 1}), "no GPU is visible");
  EXPECT_EQ(BatchOn(Spec(), {{"Voodoo 2"}, {kGib}, 1}), "unknown GPU 'Voodoo 2'");
  EXPECT_EQ(BatchOn(Spec(), {{"NVIDIA L40S"}, {2 * kGib}, 1}),
            "1 × L40S: one sample takes 7.6 GiB, the GPU has 2 GiB");
}

}  // namespace
}  // namespace gpuadvise::client
