// Cheaper questions: what else a job could ask for that would start it much earlier.
//
// A shorter time limit (backfill), fewer GPUs, another GPU type, another partition: each is asked
// as a question of its own, and only what is worth a change is said. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/forecast/start_of.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// A change is worth saying when its median start is earlier by this much and this share.
inline constexpr double kWorthSeconds = 600;
inline constexpr double kWorthShare = 0.25;

struct CheaperStart {
  std::string change;  // as sbatch's options: "-t 04:00:00", "--gres=gpu:l40s:2", "-p short"
  JobRequest request;
  StartSamples start;
};

// The start of a job with another time limit, against that as it is, in the same future: to each
// wait that is likely as it is belongs a sample of the simulation, which the other limit shortens
// or lengthens by some share, and that wait changes by this share. Where there are no such samples
// it is `start` itself.
//
// Why not the two forecasts: what is learned of past waits differs between limits also where the
// scheduler treats them alike, because jobs with short limits differ in more than that. How long
// one waits in all is said better by both together, what a limit changes by the simulation alone.
struct ComparedStart {
  StartSamples start;
  std::vector<double> gains;  // seconds earlier, ascending, never empty; < 0: later
  double Gain() const;        // in the median
};
ComparedStart InTheSameFuture(StartSamples start, const StartSamples& as_it_is);

using AskStart = std::function<Result<StartSamples>(const JobRequest&)>;

// Whether a start is early enough to change a job for it.
bool IsWorthIt(const StartSamples& start, const StartSamples& as_it_is);

// Whether a job can do with such a request.
using CanRun = std::function<bool(const JobRequest&)>;

// The best changes of each kind that the job can run with, the earliest first, at most
// kMostCheaper. Nothing for a job that starts within kWorthSeconds as it is. Asks some ten to
// twenty questions.
inline constexpr size_t kMostCheaper = 5;
std::vector<CheaperStart> CheaperStarts(const Snapshot& snapshot, const JobRequest& request,
                                        const StartSamples& as_it_is, const AskStart& ask,
                                        const CanRun& can_run);

// `request` with the time limit `limit_seconds`, where that is worth it.
std::optional<CheaperStart> WithShorterLimit(const JobRequest& request, int64_t limit_seconds,
                                             const StartSamples& as_it_is, const AskStart& ask);

// "with -t 04:00:00 it would start now", "with -p short it would start in 2 h (4 h earlier)".
std::string InWords(const CheaperStart& cheaper, const StartSamples& as_it_is);

}  // namespace gpuadvise
