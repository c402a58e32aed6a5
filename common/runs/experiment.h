// One job that was advised, or that reported what became of it: what was promised and what then
// happened. The rows of the experiment log (GET /v1/advice).
//
// A value. Times are unix seconds. `request`, `strategy` are what the API was asked and answered,
// null where the job was not advised.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/api/experiment.h"
#include "common/base/error.h"
#include "common/runs/outcome.h"
#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// When Slurm had the job do what, and on what; nullopt: not yet, or nobody saw it.
struct JobTimes {
  std::optional<UnixSeconds> eligible, start, end;
  std::string state = {};                // accounting's word for its end; "" not known
  std::string partition = {}, gpu = {};  // GRES type; "" untyped, or not known
  int64_t nodes = 0, gpus = 0;           // in all; 0 not known
  std::optional<int64_t> limit = {};     // seconds; nullopt: none, or not known
  friend bool operator==(const JobTimes&, const JobTimes&) = default;
};
JobTimes TimesOf(const JobRecord& record);

// The sweep that a job is a part of (docs/sweeps.md).
struct SweepPart {
  int64_t job_id = 0;  // of its first array, which names it; 0: none
  int64_t runs = 0;    // of the whole sweep; 0: the job is a task of one of its arrays
  int64_t moved = 0;   // runs of this array that waited in another before
  friend bool operator==(const SweepPart&, const SweepPart&) = default;
};

struct Experiment {
  int64_t job_id = 0;
  int64_t uid = -1;
  std::string user;
  UnixSeconds submitted_at = 0;
  std::string advice_id;  // "" where nobody advised it
  std::string name;
  std::string family;      // common/runs/job_family.h; "": nothing can be learned from it
  std::string output_dir;  // where its outcome file lies; "" not known
  SweepPart sweep;
  nlohmann::json request, strategy;
  std::optional<Outcome> outcome;
  JobTimes times;
};

// Takes out what nothing is counted with: of the request what is the user's own (sent_spec.h), of
// the strategy its stages. What the daemon keeps has been through this.
void KeepOnlyWhatCounts(Experiment& experiment);

// As the history keeps it, and back. Errors: kBadInput where it cannot be.
std::string ToText(const Experiment& experiment);
Result<Experiment> ExperimentFromText(std::string_view text);

// What a job of the queue is where nobody advised it, and one of the past whose owner is `uid`.
Experiment ExperimentOf(const Job& job);
Experiment ExperimentOf(const JobRecord& record, int64_t uid);

// The row of the log: promised beside real, null for what is not known. `state`: "pending",
// "running", "ended" or "unknown". `whole`: with outcome, request and strategy.
api::Experiment RowOf(const Experiment& experiment, const std::string& state, bool whole);

}  // namespace gpuadvise
