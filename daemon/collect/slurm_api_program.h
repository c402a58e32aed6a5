// gpuadvise-collect-api, the program of the source slurm-api and the only one that links libslurm.
//
// An upgrade may remove libslurm or replace it by another release. Then that program fails to load,
// while gpuadvise-collect still offers all other sources.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise::collect {

// Runs `program` once without a task, which takes a few milliseconds. Errors: kUnavailable with the
// remedy if it is missing or does not load.
Result<void> CheckApiProgram(const std::string& program);

// Why loading a program failed, from the dynamic loader's message `said`: a clause about the
// library; "" if that is not a loader message.
std::string WhyNotLoaded(std::string_view said);

// The release of this host's scontrol ("24.11.5"), in `bin_dir` or PATH; "": unknown.
std::string HostsRelease(const std::string& bin_dir);

// Explanation if libslurm of release `own` fails on a host with Slurm `hosts`: "" if both have the
// same major release or one is unknown. Slurm's daemons accept clients of their own release and the
// two before it (three since 24.11), and plugins of their own release only.
std::string OtherRelease(std::string_view own, std::string_view hosts);

}  // namespace gpuadvise::collect
