// One thing that was looked at, what was found, and what to do about it.
#pragma once

#include <string>

namespace gpuadvise {

enum class Health { kOk, kWarning, kError };

struct Check {
  Health health = Health::kOk;
  std::string subject;  // "socket", at most 11 letters
  std::string finding;  // one sentence; a remedy where it is not ok
};

}  // namespace gpuadvise
