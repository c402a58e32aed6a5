// What would start a job earlier that waits, or would wait, and what it costs.
//
// common/forecast/cheaper_start.h finds the changes that start a job earlier. Here those are left
// out that cannot run it, and each of the others says when the job would then be done, as far as
// that is known: starting first is worth little to a job that is done last.
//
// A job that was advised is a training that is known: other GPUs are offered only as strategies
// that `advise` would rank, with their own batch, run time and place in the queue. Of any other job
// nothing is known but its GPUs. Others are offered where each has at least the memory of those
// that it asks for, and MIG slices, which have no peer-to-peer, only one at a time; its run time
// there follows from the rates of the cards, as far as its run time is known. Pure. Times are
// seconds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/advise/advise.h"
#include "common/forecast/cheaper_start.h"
#include "common/forecast/limit_advice.h"

namespace gpuadvise {

struct Remedy {
  std::string change;  // as options of sbatch
  std::string words;   // with its cost
  StartSamples start;
  std::optional<double> done_later;  // than as it is, in the median; < 0: earlier; nullopt: unknown
};

struct RemedyQuestion {
  const JobRequest& request;
  const StartSamples& as_it_is;
  const AskStart& ask;             // the job with another request
  std::optional<double> run_time;  // in the median; nullopt: unknown
  const RunRisk* risk = nullptr;   // that it is cut; null: not known
};

// For a job of which nothing else is known. The earliest first, at most kMaxCheaper; none for a
// job that starts soon as it is.
std::vector<Remedy> RemediesFor(const RemedyQuestion& question, const AdviceContext& context);

// A job that was advised: what was asked, and the run time that it was submitted with.
struct AdvisedJob {
  AdviceRequest advice;
  Submitter submitter;
  double run_p50 = 0, run_p90 = 0;
};

// The risk of its training, by the run time that it was submitted with.
RunRisk RiskOf(const AdvisedJob& advised);

// The same for such a job. What it was given beside its GPUs and partition is kept.
std::vector<Remedy> RemediesFor(const RemedyQuestion& question, const AdvisedJob& advised,
                                const AdviceContext& context);

}  // namespace gpuadvise
