// What a history keeps of one job to learn from, as bytes: the job as it was submitted and the
// lesson of its forecast, in CBOR. Pure; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/past.h"

namespace gpuadvise {

/// Empty where there is neither.
std::vector<uint8_t> EncodeDetail(const PastJob& job);

/// Fills `submission` and `lesson`. False, and nothing changed, when the bytes cannot be read.
bool DecodeDetail(std::span<const uint8_t> bytes, PastJob& job);

}  // namespace gpuadvise
