// The user who would submit a job. A value.
#pragma once

#include <cstdint>
#include <string>

namespace gpuadvise {

// Names are Slurm's; empty account or QOS: the user's default.
struct Submitter {
  int64_t uid = -1;
  std::string user;
  std::string account;
  std::string qos;        // one, or several acceptable ones: "high,normal"
  std::string host = {};  // submitting host; "": unknown
  // Of the site's settings: in whose place callers without an account ask. "": a plain user's.
  std::string public_account = {};
  std::string public_qos = {};
};

}  // namespace gpuadvise
