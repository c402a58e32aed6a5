// One job as known to accounting: the row behind history and learned forecasts. A value. Times are
// unix seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct JobRecord {
  int64_t id = 0;
  int64_t array_job_id = 0;  // 0: not an array
  std::string name;          // "": unknown or hidden
  std::string user;
  std::string account;
  std::string qos;
  std::string partition;  // the first requested, or where it ran
  std::string gpu;        // GRES type; "": none or untyped
  int64_t nodes = 1;
  int64_t cpus = 1;           // total
  int64_t gpus = 0;           // total
  SlurmNumber limit_seconds;  // absent: unknown or none
  UnixSeconds submit = 0;
  UnixSeconds eligible = 0;  // start of the wait; = submit if unknown
  std::optional<UnixSeconds> start;
  std::optional<UnixSeconds> end;
  std::string state;  // final state in accounting: "COMPLETED", "TIMEOUT"; "": unknown
  friend bool operator==(const JobRecord&, const JobRecord&) = default;
};

// The record of a job in a snapshot.
JobRecord RecordOf(const Job& job);

// A burst: jobs with one key, each submitted within this time after the previous one. They run
// alike and count as one (docs/forecast.md explains the value).
inline constexpr int64_t kBurstSeconds = 60;

// The array of a task; for other jobs the user and the full request.
std::string MakeBurstKey(const JobRecord& job);

}  // namespace gpuadvise
