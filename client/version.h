// The version of this client, as `--version` and doctor show it.
#pragma once

namespace gpuadvise {

inline constexpr const char* kClientVersion = GPUADVISE_VERSION;

}  // namespace gpuadvise
