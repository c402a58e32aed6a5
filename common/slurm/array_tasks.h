// Task numbers of a job array, as sbatch's --array takes them: "1-40%4", "0-30:2", "1,3,7-9". Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise {

struct ArrayTasks {
  std::vector<int64_t> numbers;  // ascending, each once; never empty
  int64_t throttle = 0;          // most at a time; 0: all

  // `count` tasks from the one at `first` on, for --array: "1-34", "0-30:2,33"; with
  // "%throttle" if `most_at_a_time` is not 0. REQUIRES: first + count <= numbers.size().
  std::string Slice(size_t first, size_t count, int64_t most_at_a_time) const;

  // All numbers, as other commands of Slurm take them: "1-3,5,7", without steps.
  std::string Ranges() const;
};

// More than Slurm's largest MaxArraySize.
inline constexpr int64_t kMostArrayTasks = 4'000'000;

// Errors: kBadInput for another text, and for more than `most` tasks.
Result<ArrayTasks> ParseArrayTasks(std::string_view text, int64_t most = kMostArrayTasks);

}  // namespace gpuadvise
