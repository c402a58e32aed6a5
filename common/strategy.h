// One way to run the training, with everything that is predicted about it.
//
// fit -> estimate -> time limit -> predict, for one placement. Times are seconds from the snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/model_presets.h"
#include "common/placement.h"
#include "common/stage_plan.h"
#include "common/start_of.h"
#include "common/train_spec.h"

namespace gpuadvise {

/// p10, p50, p90 and mean of one predicted time.
struct Spread {
  double p10 = 0, p50 = 0, p90 = 0, mean = 0;
};

struct Strategy {
  Placement placement;
  std::string account, qos;
  std::string precision;  // "bf16", "fp16", "fp32"
  std::vector<StagePlan> stages;
  Spread run, wait, total;
  std::vector<double> total_samples;  // ascending
  int64_t time_limit_seconds = 0;
  bool limit_is_capped = false;  // the run's p90 may not fit in the partition's limit
  int64_t links = 1;             // starts of the job, each until its time limit (resume_chain.h)
  JobRequest request;
  StartSamples start;
  int64_t wait_at_limits_seconds = 0;  // where every job that is there runs until its limit
  double gpu_hours = 0;
  std::optional<double> cost;    // the card's price, else the partition's TRESBillingWeights
  bool cost_is_billing = false;  // in hours of Slurm's billing TRES
  std::optional<double> kilowatt_hours;  // at the card's power limit
  std::vector<std::string> reasons;
  std::vector<std::string> notes;
};

/// Everything that the strategies of one question share.
struct Question {
  const TrainSpec& spec;
  const Constraints& constraints;
  const Snapshot& snapshot;
  const QueueModel& queue;
  const QueueModel& at_limits;
  const GpuCatalogue& catalogue;
  const ModelPresets& presets;
  const Submitter& caller;
};

/// Fills `strategy` (whose placement is set) up to the run time and the time limit.
/// Errors: kInfeasible with the reason; kBadInput when no placement could ever do.
Result<void> FitAndEstimate(const Question& question, Strategy& strategy);

/// Asks StartOf for each QOS of the placement and keeps the best by mean wait (ties: the default).
Result<void> PredictStart(const Question& question, Strategy& strategy);

/// "RTX 4090 × 2: with -t 10:15:00 it would start now …" where the caller's time limit is longer
/// than most runs take and a shorter one would bring the result earlier than the first of `ranked`;
/// else empty.
std::string ShorterLimitTip(const Question& question, const std::vector<Strategy>& ranked);

}  // namespace gpuadvise
