// The program that holds slurm-api: gpuadvise-collect-api, the only one that links libslurm.
//
// A host may lose its libslurm, or get one of another release, at any upgrade. Then that program
// does not even load, while gpuadvise-collect goes on with every other source.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise::collect {

// Why `program` cannot be used here, found out by running it once without a task. Takes some
// milliseconds. Errors: kUnavailable with the remedy where it is missing, or does not load.
Result<void> CheckApiProgram(const std::string& program);

// Why a program that ended while it was loaded did so, from what the dynamic loader `said`: a
// clause about the library; "" where that is no message of the loader.
std::string WhyNotLoaded(std::string_view said);

// The release of this host's scontrol ("24.11.5"), in `bin_dir` or PATH; "" where it does not tell.
std::string HostsRelease(const std::string& bin_dir);

// What is to be said where libslurm of release `own` fails on a host whose Slurm is `hosts`: ""
// when both are of one major release or one is not known. Slurm's daemons take clients of their own
// release and of two before it, three from 24.11 on, and plugins of their own release only.
std::string OtherRelease(std::string_view own, std::string_view hosts);

}  // namespace gpuadvise::collect
