// Prices of a GPU-hour that a training names: "l40s=1.20", or "1.20" for every other GPU.
#pragma once

#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"

namespace gpuadvise {

// Errors: kBadInput at `pointer`/N for the first that names no known GPU or no price.
Result<void> CheckPrices(const std::vector<std::string>& prices, const std::string& pointer,
                         const GpuCatalogue& catalogue);

// Of an hour of one `gpu`: by its name in `prices`, else by the price for every GPU, else the
// catalogue's; 0: not set. REQUIRES: CheckPrices() has accepted them.
double PriceOfGpuHour(const std::vector<std::string>& prices, const GpuModel& gpu,
                      const GpuCatalogue& catalogue);

}  // namespace gpuadvise
