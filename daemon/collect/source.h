// The interface of snapshot sources; one file per source.
//
// One thread calls Step(). It may block, as Slurm's calls do, but only for a bounded time. It
// returns the current state of the whole cluster and the tables that differ from its previous
// answer, so that only those need to be printed. A source neither sleeps between polls nor prints:
// the loop (collect_loop.h) does both.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "common/slurm/snapshot_order.h"
#include "common/slurm/snapshot_records.h"

namespace gpuadvise::collect {

struct Poll {
  Snapshot snapshot;
  TableSet changed;   // tables that differ from the last Step(); all at the first
  LeftOut left_out;   // unusable records of Slurm
  bool last = false;  // the loop prints this one and ends
};

class Source {
 public:
  virtual ~Source() = default;

  // The current state of the cluster. Errors: kUnavailable if Slurm does not answer (the loop
  // prints the message, backs off and retries); any other code ends the program with its message.
  virtual Result<Poll> Step() = 0;

  // Requests to Slurm since the last call of this: RPCs of slurm-api, commands of slurm-cli, HTTP
  // requests of slurm-rest; 0 for sources without Slurm.
  int64_t TakeRequests() { return std::exchange(requests_, 0); }

 protected:
  void CountRequest() const { ++requests_; }
  void CountRequests(int64_t requests) const { requests_ += requests; }

 private:
  mutable int64_t requests_ = 0;
};

// The tables in which `after` differs from `before`.
TableSet ChangedTables(const Snapshot& before, const Snapshot& after);

// Result of the functions Make…Source, which are in the headers of the sources.
using SourceResult = Result<std::unique_ptr<Source>>;

// Whether the current user is root or SlurmUser, from whom slurmctld hides nothing.
bool SeesAll(std::string_view slurm_user);

// Name of the current user; "": none.
std::string OwnName();

}  // namespace gpuadvise::collect
