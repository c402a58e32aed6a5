// Every option of sbatch 20.11 to 25.05: its long name, its letter and whether it takes a value.
#pragma once

#include <span>
#include <string_view>

namespace gpuadvise {

enum class Takes { kNothing, kValue, kOptionalValue };

struct SbatchOption {
  std::string_view name;  // without dashes
  char letter = 0;        // 0: none
  Takes takes = Takes::kValue;
};

/// Sorted by name.
std::span<const SbatchOption> SbatchOptionTable();

}  // namespace gpuadvise
