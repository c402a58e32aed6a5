#include "common/run_time.h"

#include <gtest/gtest.h>

#include "tests/fakes/shipped_knowledge.h"

namespace gpuadvise {
namespace {

TrainingSpec Gr00t() {
  TrainingSpec training;
  training.max_steps = 10000;
  training.effective_batch_size = BatchRange{120, 144};
  return training;
}

const MeasuredStep kOn4090{"rtx4090", 4, 10, 3.9, 0};

RunShape Shape(const char* gpu, int64_t gpus, int64_t micro, int64_t nodes = 1) {
  return {ShippedGpus().catalogue().Resolve(gpu), gpus, nodes, micro};
}

double HoursOn(const RunTimeBasis& basis, const RunShape& shape, int64_t effective) {
  Result<Rate> rate = EstimateRate(Gr00t(), basis, shape, ShippedGpus().catalogue());
  EXPECT_TRUE(rate) << (rate ? "" : rate.error().message);
  return rate ? 10000.0 * static_cast<double>(effective) / rate->samples_per_second / 3600 : 0;
}

TEST(RunTime, AnAnchorGivesItsOwnTimeBack) {
  EXPECT_NEAR(HoursOn({{kOn4090}, 0, 0}, Shape("rtx4090", 4, 10), 120), 3.9 * 10000 / 3600, 1e-6);
}

TEST(RunTime, TheFoundingHoursOnL40SFollowFromTheTimingOn4090) {
  double hours = HoursOn({{kOn4090}, 0, 0}, Shape("l40s", 6, 24), 144) + kStartUpSeconds / 3600;
  EXPECT_GE(hours, 7);  // S0: 7-9 h
  EXPECT_LE(hours, 9);
}

TEST(RunTime, ATimingOnTheSameCardWinsOverOneOnAnother) {
  const RunTimeBasis both{{{"l40s", 6, 12, 2.6, 144}, kOn4090}, 0, 0};
  EXPECT_NEAR(HoursOn(both, Shape("rtx4090", 4, 10), 120), 3.9 * 10000 / 3600, 1e-6);
}

TEST(RunTime, DoubtGrowsWithTheDistanceFromATiming) {
  const GpuCatalogue& catalogue = ShippedGpus().catalogue();
  const RunTimeBasis timed{{kOn4090}, 0, 0};
  double same = EstimateRate(Gr00t(), timed, Shape("rtx4090", 4, 10), catalogue)->sigma;
  double other = EstimateRate(Gr00t(), timed, Shape("l40s", 6, 10), catalogue)->sigma;
  double none = EstimateRate(Gr00t(), {{}, 2e9, 512}, Shape("l40s", 6, 10), catalogue)->sigma;
  EXPECT_LT(same, other);
  EXPECT_LT(other, none);
}

TEST(RunTime, WithoutAnyBasisItSaysWhatToAdd) {
  Result<Rate> rate = EstimateRate(Gr00t(), {}, Shape("l40s", 1, 1), ShippedGpus().catalogue());
  ASSERT_FALSE(rate);
  EXPECT_NE(rate.error().message.find("seconds_per_step"), std::string::npos);
}

TEST(RunTime, AnUnknownCardInATimingIsNamed) {
  Result<Rate> rate = EstimateRate(Gr00t(), {{{"rtx9999x", 1, 1, 1, 0}}, 0, 0}, Shape("l40s", 1, 1),
                                   ShippedGpus().catalogue());
  ASSERT_FALSE(rate);
  EXPECT_EQ(rate.error().pointer, "/measured/0/gpu");
}

TEST(ScalingEfficiency, NeverRisesWithMoreGpusAndNeverExceedsOne) {
  for (GpuLink link :
       {GpuLink::kPcieNoP2p, GpuLink::kPcie, GpuLink::kNvlinkPairs, GpuLink::kNvlink}) {
    double before = 1;
    for (int64_t gpus = 1; gpus <= 16; ++gpus) {
      double efficiency = ScalingEfficiency(link, gpus, 1);
      EXPECT_LE(efficiency, before + 1e-12);
      EXPECT_GT(efficiency, 0);
      before = efficiency;
    }
    EXPECT_LT(ScalingEfficiency(link, 4, 2), ScalingEfficiency(link, 4, 1));
  }
}

TEST(WorkOf, StepsAreKeptAndEpochsAreTheSameWorkAtAnyBatch) {
  EXPECT_EQ(WorkOf(Gr00t(), 120).samples, 1'200'000);
  EXPECT_EQ(WorkOf(Gr00t(), 144).steps, 10000);
  TrainingSpec epochs;
  epochs.num_train_epochs = 3;
  epochs.num_samples = 1001;
  EXPECT_EQ(WorkOf(epochs, 10).samples, 3003);
  EXPECT_EQ(WorkOf(epochs, 10).steps, 301);
}

}  // namespace
}  // namespace gpuadvise
