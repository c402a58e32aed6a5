#include "common/resume_chain.h"

#include <cmath>

namespace gpuadvise {

ResumeChain ChainFor(double run_seconds, int64_t limit_seconds, double start_seconds,
                     double redo_seconds) {
  const auto first = static_cast<double>(limit_seconds - kSaveSeconds);
  if (run_seconds <= static_cast<double>(limit_seconds)) return {};
  const double lost_per_link = start_seconds + redo_seconds;
  const double further = first - lost_per_link;  // what a later link adds
  if (first <= start_seconds || further <= 0) return {0, 0};
  const double more = std::ceil((run_seconds - first) / further);
  return {1 + static_cast<int64_t>(more), more * lost_per_link};
}

}  // namespace gpuadvise
