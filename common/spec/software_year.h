// How old the software of a training is, as a year, from what people know of it.
//
// Pure; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise {

// 2024.56 of "2.4", "torch==2.4.1+cu121" (the release of that version of PyTorch); 2024.79 of
// "24.10", "ngc 24.10" and "nvcr.io/nvidia/pytorch:24.10-py3" (the month of NVIDIA's container);
// 2022.5 of the year "2022", 2022.25 of "2022.25". A version newer than the newest one known has no
// year: it is today's. Errors: kBadInput, a sentence that starts with `software`: none of these, a
// version or a month that never was.
Result<std::optional<double>> SoftwareYearFrom(std::string_view text);

}  // namespace gpuadvise
