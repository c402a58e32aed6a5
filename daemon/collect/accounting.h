// `gpuadvise-collect accounting`: prints the jobs that Slurm's accounting has for a period, one
// JSON record per line ("job": the members of a JobRecord), then `{"end": COUNT}`.
//
// Runs one sacct per call. Blocks.
#pragma once

#include <cstdio>
#include <string>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::collect {

struct AccountingOptions {
  std::string bin_dir;  // of sacct; "": PATH
  UnixSeconds since = 0;
  UnixSeconds until = 0;
};

// Errors: kUnavailable if there is no sacct or no accounting.
Result<void> PrintAccounting(const AccountingOptions& options, std::FILE* out);

}  // namespace gpuadvise::collect
