// What runs that have been say about the next one of their family: as measured lines, like those
// that a person writes into train.yaml, so that memory and run time have one way of being told.
//
// A user's own runs go before those of others; of others only what the site lets everybody see is
// used, and only where they agree: two users, each with one voice, or three jobs of one whose GPUs,
// nodes, time and end Slurm confirms. What a job reports counts only once Slurm has seen it run for
// so long, and on the GPUs that it was advised. So nobody moves others by figures of their own
// invention; what several invent together is bounded where it is used (PlanRun in stage_plan.h).
// Immutable once built: safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/api/experiment.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/runs/experiment.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

// One thing that one job showed.
struct RunFact {
  int64_t job_id = 0;
  int64_t uid = -1;
  std::string gpu;  // catalogue id
  int64_t gpus = 1;
  int64_t micro_batch = 1;
  int64_t effective_batch_size = 1;
  double seconds_per_step = 0;  // 0: not known
  int64_t peak_bytes = 0;       // 0: not known
  bool out_of_memory = false;
  std::optional<double> start_seconds = {};  // before the first step
  bool confirmed = false;                    // by Slurm: partition, GPUs, nodes and how it ended
};

// Whose figures count for others: so many users who agree, or so many jobs of one that Slurm
// confirms. Figures agree that are within this factor: what equal runs differ by on shared nodes.
inline constexpr size_t kAgreeingUsers = 2;
inline constexpr size_t kConfirmedJobs = 3;
inline constexpr double kAgreement = 1.25;

// A timing counts from so many steps on that were seen go by.
inline constexpr int64_t kTimedSteps = 20;

// PyTorch's allocator keeps what it once had, so that a card which looks full says nothing of what
// was needed: peaks above this share of its memory are not used.
inline constexpr double kTellingPeak = 0.9;

// What `experiment` shows; nothing where it was not advised, or where Slurm has not seen the job
// run for as long as its outcome says.
std::vector<RunFact> FactsOf(const Experiment& experiment);

class LearnedRuns {
 public:
  // The same with what `experiments` show of `family`, and nothing else of it. The oldest first.
  LearnedRuns With(const std::string& family,
                   const std::vector<const Experiment*>& experiments) const;

  // The same from what FactsOf() said of them.
  LearnedRuns WithFacts(const std::string& family, std::vector<RunFact> facts) const;

  // What is known of `family` for this user, one line for each GPU, number of GPUs and
  // micro-batch, those that most runs have shown first. `others`: whether runs of other users may
  // be used, for GPUs that the user's own say nothing of.
  std::vector<MeasuredStep> MeasurementsOf(const std::string& family, int64_t uid,
                                           bool others) const;

  bool empty() const { return facts_.empty(); }

 private:
  std::unordered_map<std::string, std::shared_ptr<const std::vector<RunFact>>> facts_;
};

// As the daemon tells them to a client, and back.
api::MeasuredRuns MeasuredRunsOf(const std::vector<MeasuredStep>& lines);
std::vector<MeasuredStep> LinesOf(const api::MeasuredRuns& runs);

// Adds to `spec`'s measured lines those of `learned` whose GPU it has no line of its own for.
void AddMeasurements(const std::vector<MeasuredStep>& learned, const GpuCatalogue& catalogue,
                     TrainSpec& spec);

}  // namespace gpuadvise
