#include "common/plan/ways_to_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<std::string> Ways(const char* text, std::vector<std::pair<const char*, int64_t>> on) {
  std::vector<GpusOfOneJob> places;
  for (const auto& [name, count] : on) {
    places.push_back({ShippedGpus().catalogue().Resolve(name), count});
  }
  return WaysToFit(*ParseTrainSpec(nlohmann::json::parse(text), "/spec"), ShippedModels(),
                   ShippedGpus().catalogue(), std::move(places));
}

constexpr const char* kFull = R"({"model": {"preset": "llama-3.1-8b"},
    "training": {"max_steps": 100, "max_seq_length": 2048, "method": "full"}})";

TEST(WaysToFit, TheGpusWithMostMemorySpeakFirst) {
  const std::vector<std::string> ways = Ways(kFull, {{"rtx3090", 1}, {"l40s", 4}, {"a10", 1}});
  ASSERT_THAT(ways, SizeIs(2));
  EXPECT_THAT(ways[0], HasSubstr("L40S × 4: one sample would fit with "));
  EXPECT_THAT(ways[0], HasSubstr(" and "));
}

TEST(WaysToFit, WhatFitsOrHasNoShapeIsLeftOut) {
  EXPECT_THAT(
      Ways(R"({"model": {"preset": "t5-base"}, "training": {"max_steps": 1}})", {{"h100", 1}}),
      SizeIs(0));
  EXPECT_THAT(Ways(R"({"model": {"memory": {"base": "90 GB", "per_sample": "9 GB"}},
                       "training": {"max_steps": 1}})",
                   {{"rtx3090", 1}}),
              SizeIs(0));
}

}  // namespace
}  // namespace gpuadvise
