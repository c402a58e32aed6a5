#include "common/spec/software_year.h"

#include <gtest/gtest.h>

#include "common/keys/foreign_keys.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {
namespace {

double YearOf(std::string_view text) {
  const Result<std::optional<double>> year = SoftwareYearFrom(text);
  EXPECT_TRUE(year && *year) << text;
  return year ? year->value_or(0) : 0;
}

std::string RefusalOf(std::string_view text) {
  const Result<std::optional<double>> year = SoftwareYearFrom(text);
  EXPECT_FALSE(year) << text;
  return year ? "" : year.error().message;
}

TEST(SoftwareYear, OfAVersionOfPytorchIsItsRelease) {
  EXPECT_NEAR(YearOf("2.4"), 2024.56, 0.01);
  EXPECT_NEAR(YearOf("torch==2.4.1+cu121"), 2024.56, 0.01);
  EXPECT_NEAR(YearOf("PyTorch 1.13"), 2022.83, 0.01);
  EXPECT_NEAR(YearOf("1.10.2"), 2021.81, 0.01);
  EXPECT_NEAR(YearOf("2"), 2023.2, 0.01);
}

TEST(SoftwareYear, OfAContainerIsItsMonth) {
  EXPECT_NEAR(YearOf("20.10"), 2020.79, 0.01);
  EXPECT_NEAR(YearOf("20.1"), 2020.79, 0.01);  // as a file's number has it
  EXPECT_NEAR(YearOf("ngc 24.10"), 2024.79, 0.01);
  EXPECT_NEAR(YearOf("nvcr.io/nvidia/pytorch:22.01-py3"), 2022.04, 0.01);
}

TEST(SoftwareYear, OfAYearIsItsMiddle) {
  EXPECT_DOUBLE_EQ(YearOf("2022"), 2022.5);
  EXPECT_DOUBLE_EQ(YearOf("2022.25"), 2022.25);
}

TEST(SoftwareYear, OfAVersionThatIsNewerThanAllKnownIsTodays) {
  const Result<std::optional<double>> year = SoftwareYearFrom("2.99");
  ASSERT_TRUE(year);
  EXPECT_FALSE(*year);
}

TEST(SoftwareYear, NonsenseIsRefusedWithTheForms) {
  EXPECT_EQ(RefusalOf("24.13"),
            "software '24.13' has no month from 01 to 12: write a PyTorch version ('2.4'), an NGC "
            "container ('24.10') or a year (2022)");
  EXPECT_EQ(RefusalOf("1.14").find("software '1.14' is no version of PyTorch"), 0u);
  EXPECT_EQ(RefusalOf("latest").find("software 'latest' says no version"), 0u);
  EXPECT_EQ(RefusalOf("1999").find("software '1999' is no year"), 0u);
  EXPECT_EQ(RefusalOf("cuda 12.4").find("software 'cuda 12.4' is neither"), 0u);
  EXPECT_EQ(RefusalOf("").find("software '' says no version"), 0u);
}

// Transformers' OptimizerNames: each is counted, or said.
TEST(Optimizers, EveryNameOfTransformersIsCountedOrSaid) {
  for (const char* name : {"adamw_torch",
                           "adamw_torch_fused",
                           "adamw_torch_xla",
                           "adamw_torch_npu_fused",
                           "adamw_apex_fused",
                           "adafactor",
                           "adamw_anyprecision",
                           "adamw_torch_4bit",
                           "adamw_torch_8bit",
                           "ademamix",
                           "sgd",
                           "adagrad",
                           "adamw_bnb_8bit",
                           "adamw_8bit",
                           "ademamix_8bit",
                           "lion_8bit",
                           "lion_32bit",
                           "paged_adamw_32bit",
                           "paged_adamw_8bit",
                           "paged_ademamix_32bit",
                           "paged_ademamix_8bit",
                           "paged_lion_32bit",
                           "paged_lion_8bit",
                           "rmsprop",
                           "rmsprop_bnb",
                           "rmsprop_bnb_8bit",
                           "rmsprop_bnb_32bit",
                           "galore_adamw",
                           "galore_adamw_8bit",
                           "galore_adafactor",
                           "galore_adamw_layerwise",
                           "galore_adamw_8bit_layerwise",
                           "galore_adafactor_layerwise",
                           "lomo",
                           "adalomo",
                           "grokadamw",
                           "schedule_free_radam",
                           "schedule_free_adamw",
                           "schedule_free_sgd",
                           "apollo_adamw",
                           "apollo_adamw_layerwise",
                           "stable_adamw"}) {
    EXPECT_TRUE(IsKnownOptimizer(name) || !FindUncountedOptimizerPart(name).empty()) << name;
  }
  EXPECT_TRUE(IsKnownOptimizer("muon"));
  EXPECT_FALSE(IsKnownOptimizer("soap"));
  EXPECT_FALSE(FindUncountedOptimizerPart("soap").empty());
}

}  // namespace
}  // namespace gpuadvise
