// Changes to a request that would start it much earlier: a shorter time limit (backfill), fewer
// GPUs, another GPU type, another partition.
//
// Each is asked as a separate question; only worthwhile changes are reported. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/forecast/start_of.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// A change must make the median start earlier by this much and by this share.
inline constexpr double kWorthSeconds = 600;
inline constexpr double kWorthShare = 0.25;

struct CheaperStart {
  std::string change;  // sbatch options: "-t 04:00:00", "--gres=gpu:l40s:2", "-p short"
  JobRequest request;
  StartSamples start;
};

// Compares the start under another time limit with the start as it is, in the same future. Each
// likely wait is matched with a simulated sample; the new limit scales it by the share by which it
// changes that sample. Without samples it is `start` itself.
//
// Why not compare the two forecasts: learned waits differ between limits even where the scheduler
// treats them alike, because jobs with short limits differ in other ways. The total wait is best
// predicted by simulation and history together, the effect of a limit by the simulation alone.
struct ComparedStart {
  StartSamples start;
  std::vector<double> gains;  // seconds earlier, ascending, never empty; negative: later
  double Gain() const;        // median
};
ComparedStart CompareInSameFuture(StartSamples start, const StartSamples& as_it_is);

using AskStart = std::function<Result<StartSamples>(const JobRequest&)>;

// Whether a start is early enough to justify a change.
bool IsWorthIt(const StartSamples& start, const StartSamples& as_it_is);

// Whether the job can run with such a request.
using CanRun = std::function<bool(const JobRequest&)>;

// The best changes of each kind that the job can run with, earliest first, at most kMaxCheaper.
// Empty if the job starts within kWorthSeconds as it is. Asks ten to twenty questions.
inline constexpr size_t kMaxCheaper = 5;
std::vector<CheaperStart> CheaperStarts(const Snapshot& snapshot, const JobRequest& request,
                                        const StartSamples& as_it_is, const AskStart& ask,
                                        const CanRun& can_run);

// `request` with the time limit `limit_seconds`, if worthwhile.
std::optional<CheaperStart> WithShorterLimit(const JobRequest& request, int64_t limit_seconds,
                                             const StartSamples& as_it_is, const AskStart& ask);

// "with -t 04:00:00 it would start now", "with -p short it would start in 2 h (4 h earlier)".
std::string InWords(const CheaperStart& cheaper, const StartSamples& as_it_is);

}  // namespace gpuadvise
