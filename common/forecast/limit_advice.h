// What a shorter time limit is worth: how much earlier the job starts, against the chance that it
// is cut off. See limit_advice.cc for the method. Pure; times are seconds.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/forecast/cheaper_start.h"
#include "common/forecast/start_of.h"
#include "common/history/job_duration_history.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// The chance that a run goes beyond some seconds.
struct RunRisk {
  // P(run > seconds), 0 … 1, never rising with `seconds`. Null: not known, and `words` say why.
  std::function<double(double seconds)> longer_than;
  std::string words;  // whose runs: "such runs (34 of yours at this limit)"
  // What a run that is cut has to do again where checkpoints resume; nullopt: all of it.
  std::optional<double> redo_seconds;
};

// Own runs behind a risk, at least, and in how many batches: below that it counts as not known. Of
// fewer runs none can show a risk of 5 % (limit_advice.cc).
inline constexpr size_t kEnoughRuns = 19;
inline constexpr int64_t kEnoughBatches = 5;

// From the runs of the job's own user; of `past` null nothing is known.
RunRisk RiskFromHistory(const RunTimeHistory* past, const JobRecord& job);

// Of a training whose run time is log-normal around `p50`. REQUIRES: p50 > 0, sigma >= 0.
RunRisk RiskOfTraining(double p50, double sigma, std::optional<double> redo_seconds);

// One limit of the curve.
struct LimitPoint {
  int64_t limit_seconds = 0;
  JobRequest request;   // with that limit, and the partitions that it opens
  std::string options;  // sbatch's: "-t 03:30:00", "-p gpu,short -t 03:30:00"
  StartSamples start;
  double sooner = 0;                       // than as it is, in the median; < 0: later
  double sooner_low = 0, sooner_high = 0;  // p10 and p90 of what the samples gain, pair by pair
  std::optional<double> risk;              // P(run > limit); nullopt: not known
  bool opens_partition = false;
};

struct LimitQuestion {
  const Snapshot& snapshot;
  const JobRequest& request;  // with a time limit
  const StartSamples& as_it_is;
  const AskStart& ask;
  const RunRisk& risk;
  int64_t floor_seconds = 0;  // nothing shorter is tried: the user's own word; 0: none
};

// Limits that are tried at most, that of the request included.
inline constexpr size_t kMostLimits = 14;

// A run may be cut with this chance where it then starts all over, and where it resumes.
inline constexpr double kMostRisk = 0.05;
inline constexpr double kMostRiskResumed = 0.5;

struct LimitAdvice {
  std::vector<LimitPoint> points;  // the longest first, that of the request at the front
  std::optional<size_t> best;      // in points; nullopt: as it is
  std::string words;               // the advice, or why there is none; never ""
  std::string soft;                // what --time-min would do; "" nothing
};

// Whether four in five samples gain what the median does, give or take 25 % or five minutes: then
// one figure says it.
bool IsSure(const LimitPoint& point);

// The curve and the advice. `points` is empty where the request has no limit.
LimitAdvice AdviseLimit(const LimitQuestion& question);

// The limits that are asked about, descending, below that of the request.
std::vector<int64_t> LimitsToTry(const LimitQuestion& question);

// "1.5 %", "less than 1 %": never more exact than `runs` allow.
std::string RiskInWords(double risk);

}  // namespace gpuadvise
