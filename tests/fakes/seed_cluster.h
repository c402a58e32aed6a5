// The cluster of Isaac-GR00T's team guide as snapshot text; append run and pend lines.
#pragma once

namespace gpuadvise {

inline constexpr const char* kSeedCluster =
    "node classt[01-05,07-16] gpu2080:4 cpus 32 mem 128000\n"
    "node classt06 gpu4070:4 cpus 32 mem 128000\n"
    "node classt[21-22] gpul40s:6 cpus 64 mem 512000\n"
    "node classt[23-24] h100_1g.11gb:14 cpus 64 mem 512000\n"
    "node classt25 gpu4090:4 cpus 32 mem 256000\n"
    "partition gpu_shared ALL max 2d default mem-per-cpu 2000\n";

}  // namespace gpuadvise
