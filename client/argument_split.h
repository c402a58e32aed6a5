// Words of a command line that are not ours to parse: sbatch's options, and what follows `--`.
// Pure functions on `arguments`, which lack the program's name.
#pragma once

#include <string>
#include <vector>

namespace gpuadvise {

/// Our own words of a command that takes sbatch's options as they are.
struct OwnWords {
  std::vector<std::string> flags;   // "--json"
  std::vector<std::string> values;  // "--socket": "--socket PATH" or "--socket=PATH"
};

/// Takes everything but the command and `own` out of `arguments`: sbatch's options and a script.
std::vector<std::string> TakeSbatchWords(const OwnWords& own, std::vector<std::string>* arguments);

/// Takes `--` and what follows it out of `arguments`; without `--` nothing.
std::vector<std::string> TakeAfterDashes(std::vector<std::string>* arguments);

}  // namespace gpuadvise
