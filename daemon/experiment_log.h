// The experiment log: which jobs were advised or reported an outcome, and what became of them.
//
// In memory the newest kMost, in the history all that it keeps. A job is one's own to report and to
// read: everything is asked for by uid. Safe from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/experiment.h"
#include "common/learned_runs.h"
#include "common/past.h"
#include "daemon/history_writer.h"

namespace gpuadvise {

class ExperimentLog {
 public:
  static constexpr size_t kMost = 20'000;

  /// REQUIRES: `history` outlives it.
  explicit ExperimentLog(HistoryWriter& history) : history_(history) {}

  /// What the history knows. Blocks; call once, before anything else.
  void Load();

  /// A job that was advised has been submitted.
  void Submitted(Experiment experiment);

  /// `outcome` of the caller's job. `otherwise`: what the job is where nobody advised it (from the
  /// queue); nullopt: it is not known. Errors: kNotFound where the job is not the caller's.
  Result<void> Report(Outcome outcome, int64_t uid, std::optional<Experiment> otherwise);

  /// Whether the newest job of this number is the caller's.
  bool Knows(int64_t job_id, int64_t uid) const;

  /// Slurm's times of jobs.
  void Saw(const std::vector<PastJob>& jobs);

  /// The caller's, the newest first, with the times that the history knows. Blocks.
  std::vector<Experiment> Of(int64_t uid, size_t limit);
  std::optional<Experiment> Find(int64_t job_id, int64_t uid);

  /// What all of it teaches.
  std::shared_ptr<const LearnedRuns> learned() const;

 private:
  using Kept = std::map<std::pair<UnixSeconds, int64_t>, Experiment>;  // by submission and job id

  Experiment* Newest(int64_t job_id);  // REQUIRES: mutex_ held, like all below but CompleteTimes
  void Put(Experiment experiment);
  void Write(const Experiment& experiment);
  void Learn();
  void CompleteTimes(std::vector<Experiment>& experiments);

  HistoryWriter& history_;
  mutable std::mutex mutex_;
  Kept kept_;
  std::map<int64_t, UnixSeconds> newest_;  // submission of each job id's last use
  std::shared_ptr<const LearnedRuns> learned_ = std::make_shared<LearnedRuns>();
};

}  // namespace gpuadvise
