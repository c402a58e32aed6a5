// Splits a GPU name into family, memory size, form and MIG profile.
//
// "nvidia_a100-sxm4-40gb" and "A100 40GB SXM" both are family "a100", 40 GB, form "sxm". Drops
// vendor words and the prefixes gpu, rtx and gtx. Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace gpuadvise {

struct GpuName {
  std::string family;       // "a100", "4090", "2080ti"; "" when the name has none ("1g.5gb")
  int memory_gb = 0;        // 0: not stated
  std::string form;         // "sxm", "pcie", "nvl"; "": not stated
  std::string mig_profile;  // "1g.11gb"; "" for a whole card

  friend bool operator==(const GpuName&, const GpuName&) = default;
};

// Accepts any text; unknown parts stay in the family.
GpuName ParseGpuName(std::string_view name);

// The full spelling in lower case without vendor words, blanks and dashes: "h10080gbhbm3".
std::string FoldGpuName(std::string_view name);

}  // namespace gpuadvise
