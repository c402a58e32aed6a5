// Which waiting runs of a sweep go to other GPUs. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "client/sweep/sweep_runs.h"
#include "common/api/advice.h"

namespace gpuadvise::client {

struct NewArray {
  int64_t rank = 0;  // of the advice's strategy
  std::vector<int64_t> tasks;
};

struct SweepMoves {
  std::map<int64_t, std::vector<int64_t>> cancel;  // waiting tasks by array
  std::vector<NewArray> submit;  // with the cancelled tasks and those that have no place
  bool empty() const { return cancel.empty() && submit.empty(); }
};

// Whether the plan ends clearly sooner than what waits now: its p90 before the p50 of the waiting
// runs, by 5 % and two minutes. Every few minutes the best of many forecasts is looked at, so that
// one which is better by less is mostly wrong, and a move gives a place in the queue away.
bool IsWorthMoving(const api::Sweep& plan);

// From where runs wait to the plan of `advice`, whose sweep is that of `runs`: of arrays on
// strategies with too many the last tasks go to those with too few. `unplaced`: runs that wait
// nowhere; without `moving` only they are placed.
SweepMoves MovesTo(const api::Advice& advice, const SweepRecord& record,
                   const std::vector<SweepRun>& runs, std::vector<int64_t> unplaced, bool moving);

}  // namespace gpuadvise::client
