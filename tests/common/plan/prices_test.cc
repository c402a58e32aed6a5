#include "common/plan/prices.h"

#include <gtest/gtest.h>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

const GpuCatalogue& Catalogue() { return ShippedGpus().catalogue(); }

std::string WhatIsWrong(const std::vector<std::string>& prices) {
  const Result<void> good = CheckPrices(prices, "/resources/prices", Catalogue());
  return good ? "" : good.error().message + " at " + good.error().pointer;
}

double PriceOf(const std::vector<std::string>& prices, const char* gpu) {
  return PriceOfGpuHour(prices, *Catalogue().Resolve(gpu), Catalogue());
}

TEST(Prices, APriceByNameWinsOverThatForEveryGpu) {
  const std::vector<std::string> prices = {"a100=2.5", "0.5"};
  EXPECT_EQ(WhatIsWrong(prices), "");
  EXPECT_EQ(PriceOf(prices, "a100-80gb"), 2.5);
  EXPECT_EQ(PriceOf(prices, "l40s"), 0.5);
  EXPECT_EQ(PriceOf({}, "l40s"), 0);
}

TEST(Prices, WhatIsNoPriceIsRefused) {
  const char* const remedy = " is not a price; write 2.50, or l40s=2.50 for one GPU at ";
  for (const std::string word : {"", "x", "-1", "nan", "1e300", "l40s=", "l40s=x", "=2", "2 EUR"}) {
    EXPECT_EQ(WhatIsWrong({"1", word}), "'" + word + "'" + remedy + "/resources/prices/1");
  }
  EXPECT_EQ(WhatIsWrong({"l40x=2"}),
            "unknown GPU 'l40x' (did you mean 'l40'?); `gpuadvise cards` lists the known ones at "
            "/resources/prices/0");
}

}  // namespace
}  // namespace gpuadvise
