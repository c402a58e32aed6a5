// Timings elsewhere, each by its likeness.
#include "common/time/carry_over.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

TimedPlace On(const char* gpu, int64_t gpus = 1, int64_t batch = 4, double share = 0.5) {
  return {ShippedGpus().catalogue().Resolve(gpu), gpus, batch, 1, share};
}

double Variance(const TimedPlace& from, const TimedPlace& to) {
  return CarryOverVariance(from, to);
}

TEST(CarryOver, LikenessFallsWithGenerationsLinksSharesAndShapes) {
  const TimedPlace a100 = On("a100-80gb-sxm");
  EXPECT_LT(Variance(On("a100-40gb-sxm"), a100), Variance(On("h100-80gb-sxm"), a100));
  EXPECT_LT(Variance(On("h100-80gb-sxm"), a100), Variance(On("v100-32gb-sxm2"), a100) + 1e-9);
  EXPECT_LT(Variance(On("rtx3090"), On("rtx-a6000")), Variance(On("rtx2080ti"), On("rtx-a6000")));
  EXPECT_LT(Variance(On("rtx3090"), a100), Variance(On("rtx3090", 1, 4, 0.8), a100));
  EXPECT_LT(Variance(On("rtx3090"), a100), Variance(On("rtx3090", 1, 64), a100));
  EXPECT_EQ(Variance(On("rtx3090"), a100),
            Variance(On("a100-40gb-sxm"), a100));  // one GPU: no link
  EXPECT_GT(Variance(On("rtx3090", 4), On("a100-80gb-sxm", 4)),
            Variance(On("a100-40gb-sxm", 4), On("a100-80gb-sxm", 4)));
}

TEST(CarryOver, ACardOfAnotherMakerIsUnlikeAll) {
  EXPECT_GT(Variance(On("mi250x"), On("a100-80gb-sxm")),
            Variance(On("rtx4090"), On("a100-80gb-sxm")));
}

RC_GTEST_PROP(CarryOver, LiesBetweenTheTimingsAndNamesTheEnds, ()) {
  const std::vector<GpuModel>& cards = ShippedGpus().catalogue().models();
  const auto place = [&] {
    return TimedPlace{&cards[*rc::gen::inRange<size_t>(0, cards.size())],
                      *rc::gen::inRange<int64_t>(1, 9), *rc::gen::inRange<int64_t>(1, 65),
                      *rc::gen::inRange<int64_t>(1, 9), *rc::gen::inRange(0, 101) / 100.0};
  };
  std::vector<Timing> timings;
  for (int i = *rc::gen::inRange(1, 7); i > 0; --i) {
    timings.push_back({place(), *rc::gen::inRange(-200, 200) / 100.0});
  }
  const CarriedOver carried = CarryOver(timings, place());
  const double low = timings[carried.lowest].log_factor;
  const double high = timings[carried.highest].log_factor;
  RC_ASSERT(carried.log_factor >= low - 1e-9);
  RC_ASSERT(carried.log_factor <= high + 1e-9);
  RC_ASSERT(carried.variance <= (high - low) * (high - low) / 4 + 1e-9);
  const CarriedOver own = CarryOver(timings, timings.front().at);
  RC_ASSERT(own.on_this_card);
}

}  // namespace
}  // namespace gpuadvise
