// Value of a shorter time limit: how much earlier the job starts, against the risk of being cut
// off. See limit_advice.cc for the method. Pure; times are seconds.
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

// Probability that a run exceeds a given time.
struct RunRisk {
  // P(run > seconds), 0 … 1, non-increasing. Null: unknown; `words` says why.
  std::function<double(double seconds)> longer_than;
  std::string words;  // the runs it is based on: "such runs (34 of yours at this limit)"
  // Seconds repeated after a cut when checkpoints resume; nullopt: the whole run.
  std::optional<double> redo_seconds;
};

// Minimum own runs, and batches of them, for a known risk. Fewer runs cannot show a risk of 5 %
// (limit_advice.cc).
inline constexpr size_t kEnoughRuns = 19;
inline constexpr int64_t kEnoughBatches = 5;

// Risk from the runs of the job's user; unknown without `past`.
RunRisk RiskFromHistory(const RunTimeHistory* past, const JobRecord& job);

// Risk of a training whose run time is log-normal around `p50`. REQUIRES: p50 > 0, sigma >= 0.
RunRisk RiskOfTraining(double p50, double sigma, std::optional<double> redo_seconds);

// One limit on the curve.
struct LimitPoint {
  int64_t limit_seconds = 0;
  JobRequest request;   // with that limit, and the partitions it opens
  std::string options;  // of sbatch: "-t 03:30:00", "-p gpu,short -t 03:30:00"
  StartSamples start;
  double sooner = 0;                       // median of ComparedStart::gains; negative: later
  double sooner_low = 0, sooner_high = 0;  // their p10 and p90
  std::optional<double> risk;              // P(run > limit); nullopt: unknown
  bool opens_partition = false;
  std::string qos;  // the QOS it opens; "": unchanged
};

// Most limits tried, including the request's; kFewLimits where only one sentence is wanted.
inline constexpr size_t kMaxLimits = 14;
inline constexpr size_t kFewLimits = 5;

struct LimitQuestion {
  const Snapshot& snapshot;
  const JobRequest& request;  // must have a time limit
  const StartSamples& as_it_is;
  const AskStart& ask;
  const RunRisk& risk;
  int64_t floor_seconds = 0;  // shortest limit allowed by the user; 0: any
  // The submitter, and the question under another QOS. If set, also tries each QOS available to the
  // user whose MaxWall only the shorter limit meets. Null: keeps the QOS.
  const Submitter* submitter = nullptr;
  std::function<Result<StartSamples>(const JobRequest&, const Submitter&)> ask_as = {};
  size_t most_limits = kMaxLimits;  // kFewLimits for a single sentence
};

// Acceptable risk of a cut if the run starts over, and if it resumes.
inline constexpr double kMaxRisk = 0.05;
inline constexpr double kMaxRiskResumed = 0.5;

struct LimitAdvice {
  std::vector<LimitPoint> points;  // longest first, starting with the request's
  std::optional<size_t> best;      // index in points; nullopt: no change
  std::string words;               // the advice, or why there is none; never empty
  std::string soft;                // effect of --time-min; "": none
};

// Whether four in five samples gain about the median (± 25 % or five minutes), so that one figure
// is enough.
bool IsSure(const LimitPoint& point);

// The curve and the advice. `points` is empty if the request has no limit.
LimitAdvice AdviseLimit(const LimitQuestion& question);

// Limits to ask about, descending, below the request's.
std::vector<int64_t> LimitsToTry(const LimitQuestion& question);

// Shortest common limit of at least `seconds`: whole five minutes up to an hour, quarters up to
// eight hours, hours beyond; at least ten minutes.
int64_t RoundToCommonLimit(double seconds);

// "1.5 %", "less than 1 %".
std::string RiskInWords(double risk);

}  // namespace gpuadvise
