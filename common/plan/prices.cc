#include "common/plan/prices.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "common/base/words.h"

namespace gpuadvise {
namespace {

constexpr double kMostPrice = 1e9;

struct NamedPrice {
  std::string gpu;   // "": every GPU
  double price = 0;  // negative: none
};

NamedPrice ReadPrice(const std::string& word) {
  NamedPrice named;
  const size_t sign = word.find('=');
  if (sign != std::string::npos) named.gpu = word.substr(0, sign);
  const std::string number = sign == std::string::npos ? word : word.substr(sign + 1);
  char* end = nullptr;
  named.price = std::strtod(number.c_str(), &end);
  const bool good = !number.empty() && *end == '\0' && std::isfinite(named.price) &&
                    named.price >= 0 && named.price <= kMostPrice && sign != 0;
  if (!good) named.price = -1;
  return named;
}

}  // namespace

Result<void> CheckPrices(const std::vector<std::string>& prices, const std::string& pointer,
                         const GpuCatalogue& catalogue) {
  for (size_t i = 0; i < prices.size(); ++i) {
    const NamedPrice named = ReadPrice(prices[i]);
    const std::string place = fmt::format("{}/{}", pointer, i);
    if (named.price < 0) {
      return BadInput(
          fmt::format("{} is not a price; write 2.50, or l40s=2.50 for one GPU", Quoted(prices[i])),
          place);
    }
    if (!named.gpu.empty() && catalogue.Resolve(named.gpu) == nullptr) {
      return BadInput(fmt::format("unknown GPU {}{}; `gpuadvise cards` lists the known ones",
                                  Quoted(named.gpu), catalogue.NearTo(named.gpu)),
                      place);
    }
  }
  return {};
}

double PriceOfGpuHour(const std::vector<std::string>& prices, const GpuModel& gpu,
                      const GpuCatalogue& catalogue) {
  double price = gpu.price_per_gpu_hour;
  for (const std::string& word : prices) {
    const NamedPrice named = ReadPrice(word);
    if (named.gpu.empty()) {
      price = named.price;
    } else if (catalogue.Accepts(named.gpu, gpu)) {
      return named.price;
    }
  }
  return price;
}

}  // namespace gpuadvise
