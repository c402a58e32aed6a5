// Who would submit a job. A value.
#pragma once

#include <cstdint>
#include <string>

namespace gpuadvise {

// Names are Slurm's; empty account or QOS: the user's default.
struct Submitter {
  int64_t uid = -1;
  std::string user;
  std::string account;
  std::string qos;        // one, or several of which any will do: "high,normal"
  std::string host = {};  // from which the job would be submitted; "": not known
};

}  // namespace gpuadvise
