// Rows on their way from a standby back to the first daemon: which part of them, and what became of
// them. As bytes they are CBOR, {"jobs": [[...], ...], "experiments": [[...], ...]}: columns in the
// order of history_exchange.cc, checked one by one where they arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/unix_time.h"

namespace gpuadvise::daemon {

// Of one request's body (HttpLimits::max_body_bytes is 1 MiB): what goes over it is the last row.
inline constexpr size_t kMostExchangedBytes = 256u << 10;

// Up to where rows have been given back.
struct ExchangeCursor {
  int64_t job_id = INT64_MIN;
  UnixSeconds submit = INT64_MIN;
  int64_t experiment_job_id = INT64_MIN;
  int64_t uid = INT64_MIN;
  UnixSeconds submitted_at = INT64_MIN;
  bool jobs_done = false;
};

struct ExchangedRows {
  std::string bytes;
  int64_t rows = 0;  // 0: there are no more
  ExchangeCursor next;
};

struct MergedRows {
  int64_t taken = 0;  // new here, or more was known of them
  int64_t known = 0;  // here already: not counted again
};

}  // namespace gpuadvise::daemon
