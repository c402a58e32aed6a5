// One way to run the training, with everything that is predicted about it.
//
// fit -> estimate -> time limit -> predict, for one placement. Times are seconds from the snapshot.
//
// A training that takes longer than its partition lets a job run is a chain of the same job, which
// goes back into the queue shortly before its time limit and goes on from its checkpoint. Each link
// loses the minutes before the limit in which it saves and ends, and each but the first a start-up
// and the steps since its last checkpoint. Slurm puts a requeued job back with its own priority and
// wait, so each link waits again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/advise/advice_context.h"
#include "common/advise/placement.h"
#include "common/base/error.h"
#include "common/forecast/start_of.h"
#include "common/plan/stage_plan.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

struct Strategy {
  Placement placement;
  std::string account, qos;
  Precision precision = Precision::kBf16;
  std::vector<StagePlan> stages;
  Spread run, wait, total;
  double cautious_run_p90 = 0;        // RunPlan::cautious_p90: what the time limit is chosen by
  double run_sigma = 0;               // of the logarithm of the run time
  std::vector<double> total_samples;  // ascending
  int64_t time_limit_seconds = 0;
  bool limit_is_capped = false;  // the run's p90 may not fit in the partition's limit
  int64_t segments = 1;          // starts of the job, each until its time limit
  JobRequest request;
  StartSamples start;
  int64_t wait_at_limits_seconds = 0;  // where every job that is there runs until its limit
  std::optional<CausedDelay> delay;    // what it costs others; nullopt: not asked, or not known
  double gpu_hours = 0;
  std::optional<double> cost;    // the card's price, else the partition's TRESBillingWeights
  bool cost_is_billing = false;  // in hours of Slurm's billing TRES
  std::optional<double> kilowatt_hours;  // at the card's power limit
  std::vector<std::string> reasons;
  std::vector<std::string> notes;

  // Whether something says that every stage fits the GPU.
  bool MemoryChecked() const;
};

// The quantiles and the mean of equally likely times, `ascending` and not empty.
Spread SpreadOf(const std::vector<double>& ascending);

inline constexpr int64_t kSaveSeconds = 300;  // sbatch --signal=B:USR1@300

struct ResumeChain {
  int64_t segments = 1;
  double lost_seconds = 0;  // of run time, beyond what one long job would take
};

// For a run of `run_seconds` under a limit of `limit_seconds`; `start_seconds` of it come before
// the first step, `redo_seconds` are lost between checkpoint and end of a link. 0 segments: a link
// ends before it gets anywhere.
ResumeChain ChainFor(double run_seconds, int64_t limit_seconds, double start_seconds,
                     double redo_seconds);

// What decides the memory and run time of `spec` there. REQUIRES: the pool's model is known.
StageQuestion QuestionOn(const Placement& placement, const TrainSpec& spec,
                         const AdviceContext& context);

// Sets what `strategy`, whose start is known, costs others.
void PredictDelay(const AdviceContext& context, const Submitter& caller, Strategy& strategy);

// Fills `strategy` (whose placement is set) up to the run time and the time limit.
// Errors: kInfeasible with the reason; kBadInput when no placement could ever do.
Result<void> FitAndEstimate(const TrainSpec& spec, const Constraints& constraints,
                            const AdviceContext& context, Strategy& strategy);

// Asks StartOf for each QOS of the placement and keeps the best by median wait (ties: the default).
Result<void> PredictStart(const Constraints& constraints, const AdviceContext& context,
                          const Submitter& caller, Strategy& strategy);

// The time to result from the strategy's start and run time: its wait, its total and their samples.
void AddTotal(Strategy& strategy);

// A shorter time limit than the caller's for one of the ranked strategies.
struct ShorterLimit {
  size_t place = 0;  // of `ranked`, from 0
  int64_t limit_seconds = 0;
  std::string words;  // "RTX 4090 × 2: -t 10:15:00 instead of 1-00:00:00: starts 2 h 10 sooner; …"
};

// Where the caller's time limit is longer than most runs take, a shorter one would bring the result
// earlier than the first of `ranked`, and cuts off kMaxRisk of such runs at most (kMaxRiskResumed
// where `resumes`, they go on from their checkpoints); else nullopt. It is `floor_seconds` at
// least, the caller's own --time-min (0: none). One question a strategy.
std::optional<ShorterLimit> ShorterLimitFor(const AdviceContext& context, const Submitter& caller,
                                            const std::vector<Strategy>& ranked, bool resumes,
                                            int64_t floor_seconds = 0);

}  // namespace gpuadvise
