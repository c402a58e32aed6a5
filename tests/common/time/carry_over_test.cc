// Timings elsewhere, each by its likeness.
#include "common/time/carry_over.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "common/time/step_time_model.h"
#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

TimedPlace On(const char* gpu, int64_t gpus = 1, int64_t batch = 4, double share = 0.5) {
  return {ShippedGpus().catalogue().Resolve(gpu), gpus, batch, 1, share, {}, 0};
}

// Of a step, `waits` are what the GPU waits for its host; the rest is the GPU's.
TimedPlace WithParts(const char* gpu, double waits, double transfers = 0) {
  TimedPlace place = On(gpu, transfers > 0 ? 8 : 1);
  const double busy = 1 - waits - transfers;
  place.parts = {
      {{busy, 0.16}, {HostSeconds(busy, busy + waits), 0.35}, {transfers, 0.5}, {0, 0.5}}};
  return place;
}

double FactorByParts(const TimedPlace& from, double factor, const TimedPlace& to) {
  return std::exp(CarryByParts({from, std::log(factor)}, to).log_factor);
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
                      *rc::gen::inRange<int64_t>(1, 9),
                      *rc::gen::inRange<int64_t>(1, 65),
                      *rc::gen::inRange<int64_t>(1, 9),
                      *rc::gen::inRange(0, 101) / 100.0,
                      {},
                      0};
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

TEST(CarryByParts, IsExactForTheSameStep) {
  const TimedPlace place = WithParts("a100-80gb-sxm", 0.1, 0.2);
  EXPECT_NEAR(FactorByParts(place, 1.5, place), 1.5, 1e-9);
  EXPECT_NEAR(FactorByParts(place, 0.5, place), 0.5, 1e-9);
  EXPECT_NEAR(CarryByParts({place, std::log(1.5)}, place).variance, 0, 1e-12);
}

TEST(CarryByParts, OfAGpuThatIsBusyIsOneFactor) {
  EXPECT_NEAR(FactorByParts(WithParts("a100-80gb-sxm", 0.005), 1.3, WithParts("rtx4090", 0.01)),
              1.3, 0.01);
}

// A GPU four times as fast does not start kernels faster.
TEST(CarryByParts, LeavesToTheHostWhatSlowedTheHost) {
  const TimedPlace there = WithParts("v100-32gb-pcie", 0.5);
  TimedPlace here = On("h100-80gb-sxm");
  const double busy = there.parts[0].share / 4;
  const double together = InParallel(busy, there.parts[1].share);
  here.parts = there.parts;
  here.parts[0].share = busy / together;
  here.parts[1].share = there.parts[1].share / together;
  EXPECT_NEAR(together * FactorByParts(there, 1.5, here), 1.5, 0.04);  // seconds, as there
}

TEST(CarryByParts, TransfersOfOneMachinesPcieSayNothingOfAnothers) {
  const auto carried = [](const char* from, const char* to) {
    return FactorByParts(WithParts(from, 0, 0.5), 2, WithParts(to, 0, 0.5));
  };
  EXPECT_NEAR(carried("a100-80gb-sxm", "h100-80gb-sxm"), 2, 1e-9) << "NVLink is the same anywhere";
  EXPECT_LT(carried("rtx3090", "rtx-a4000"), 1.3);
  EXPECT_LT(carried("rtx3090", "a100-80gb-sxm"), 1.3);
}

TEST(CarryByParts, ATimingLeavesLessDoubtThanNoneAndMoreOnAnotherCard) {
  const TimedPlace there = WithParts("a100-80gb-sxm", 0.02);
  const auto doubt = [&](const TimedPlace& to) {
    return std::sqrt(CarryByParts({there, 0.2}, to).variance);
  };
  const TimedPlace busy = WithParts("h100-80gb-sxm", 0.02);
  const TimedPlace waits = WithParts("h100-80gb-sxm", 0.6);
  EXPECT_GT(doubt(busy), 0.05);
  EXPECT_LT(doubt(busy), 0.8 * DeviationOf(busy));
  EXPECT_GT(doubt(waits), 0.9 * DeviationOf(waits)) << "it says next to nothing of the host";
}

RC_GTEST_PROP(CarryByParts, ALongerStepThereIsNeverAShorterOneHere, ()) {
  const auto place = [] {
    const std::vector<GpuModel>& cards = ShippedGpus().catalogue().models();
    const double host = *rc::gen::inRange(0, 50) / 100.0;
    return WithParts(cards[*rc::gen::inRange<size_t>(0, cards.size())].id.c_str(), host,
                     *rc::gen::inRange(0, 50) / 100.0);
  };
  const TimedPlace from = place();
  const TimedPlace to = place();
  const double factor = *rc::gen::inRange(5, 1000) / 100.0;
  RC_ASSERT(std::abs(FactorByParts(from, 1, to) - 1) < 1e-9);
  RC_ASSERT(FactorByParts(from, 1.1 * factor, to) >= FactorByParts(from, factor, to) - 1e-9);
  const CarriedTiming carried = CarryByParts({from, std::log(factor)}, to);
  RC_ASSERT(std::isfinite(carried.log_factor));
  RC_ASSERT(carried.variance >= -1e-12);
}

}  // namespace
}  // namespace gpuadvise
