// Where snapshots come from: one small interface, one file per source.
//
// A source is asked by one thread, one Step() at a time. Step() may block (Slurm's calls do), but
// every wait inside it has an end. It returns the whole cluster as of now and says which tables
// differ from its previous answer, so that the rest need not be printed again. A source never
// sleeps between polls and never prints: the loop (collect_loop.h) does both.
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
  TableSet changed;   // tables that differ from the last Step(); all of them the first time
  LeftOut left_out;   // records of Slurm's that could not be taken
  bool last = false;  // nothing comes after this one: the loop prints it and ends
};

class Source {
 public:
  virtual ~Source() = default;

  // The cluster as of now. Errors: kUnavailable when Slurm does not answer (the loop prints the
  // sentence, backs off and asks again); any other code ends the program with that sentence.
  virtual Result<Poll> Step() = 0;

  // What Slurm was asked since the last call of this: RPCs of slurm-api, commands of slurm-cli,
  // HTTP requests of slurm-rest; 0 where no Slurm is asked.
  int64_t TakeRequests() { return std::exchange(requests_, 0); }

 protected:
  void CountRequest() const { ++requests_; }

 private:
  mutable int64_t requests_ = 0;
};

// The tables in which `after` differs from `before`. Cost: one comparison of both.
TableSet ChangedTables(const Snapshot& before, const Snapshot& after);

// Sources are made by functions named Make...Source in their own headers.
using SourceResult = Result<std::unique_ptr<Source>>;

// Whether slurmctld hides nothing from the user who runs this, whatever accounting has of him: root
// and SlurmUser.
bool SeesAll(std::string_view slurm_user);

// The name of the user who runs this; "" when he has none.
std::string OwnName();

}  // namespace gpuadvise::collect
