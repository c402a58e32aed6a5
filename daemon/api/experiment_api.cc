#include "daemon/api/experiment_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

#include "common/api/experiment.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/runs/job_family.h"
#include "daemon/api/requests.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

constexpr size_t kMaxPath = 4'096;
// slurmctld refuses a job with a longer name (src/slurmctld/job_mgr.c, _test_strlen).
constexpr size_t kMostJobNameBytes = 1'024;
constexpr int64_t kMostRows = 1'000;

// The caller's own jobs of the queue.
using OwnJobs = std::unordered_map<int64_t, const Job*>;

OwnJobs JobsOf(const Snapshot* snapshot, int64_t uid) {
  OwnJobs own;
  if (snapshot == nullptr) return own;
  for (const Job& job : snapshot->jobs) {
    if (job.uid == uid) own.emplace(job.id, &job);
  }
  return own;
}

const Job* Find(const OwnJobs& jobs, int64_t id) {
  const auto found = jobs.find(id);
  return found == jobs.end() ? nullptr : found->second;
}

// A job of the caller that nobody advised: from the queue, else from what the history knows. A task
// is in its array's sweep.
Result<std::optional<Experiment>> JobOfCaller(int64_t id, const Submitter& caller,
                                              const Snapshot* snapshot, const ExperimentLog& log,
                                              HistoryWriter& history) {
  const auto with_sweep = [&](Experiment experiment, int64_t array) {
    if (array != 0) experiment.sweep.job_id = log.SweepOf(array, caller.uid);
    return experiment;
  };
  if (const Job* job = Find(JobsOf(snapshot, caller.uid), id)) {
    return with_sweep(ExperimentOf(*job), job->array_job_id);
  }
  const Result<std::vector<JobRecord>> records = history.RecordsOf({id});
  if (!records) return tl::unexpected<Error>(records.error());
  for (const JobRecord& record : *records) {
    if (caller.user.empty() || record.user != caller.user) continue;
    return with_sweep(ExperimentOf(record, caller.uid), record.array_job_id);
  }
  return std::nullopt;
}

// A job submitted after the snapshot cannot be in it: it waits.
std::string StateOf(const Experiment& experiment, const OwnJobs& jobs, const Snapshot* snapshot) {
  if (const Job* job = Find(jobs, experiment.job_id)) {
    return job->state == JobState::kPending ? "pending" : "running";
  }
  const bool reported = experiment.outcome && !experiment.outcome->running;
  if (experiment.times.end || reported) return "ended";
  const bool later = snapshot == nullptr || experiment.submitted_at >= snapshot->taken_at;
  return later ? "pending" : "unknown";
}

// What the snapshot knows of a job that has not ended.
void TakeStart(const OwnJobs& jobs, Experiment& experiment) {
  const Job* job = Find(jobs, experiment.job_id);
  if (job == nullptr) return;
  experiment.times = {job->eligible_time, std::nullopt, std::nullopt};
  if (job->state != JobState::kPending) experiment.times.start = job->start_time;
}

Result<std::optional<int64_t>> NumberIn(const std::map<std::string, std::string>& query,
                                        const std::string& name) {
  const auto found = query.find(name);
  if (found == query.end()) return std::nullopt;
  const auto number = WholeNumber(found->second);
  if (!number || *number < 1) {
    return BadInput(fmt::format("{} is {}; write a whole number", name, Quoted(found->second)));
  }
  return number;
}

}  // namespace

Experiment ExperimentOf(const AdviceStore::Given& given, size_t index, const json& body) {
  Experiment experiment;
  experiment.name = given.name.substr(0, kMostJobNameBytes);
  const json asked = json::parse(given.request);  // null of select
  if (const auto spec = asked.find("spec"); spec != asked.end()) {
    experiment.family = JobFamilyOf(*spec);
    if (given.request.size() <= kMaxKeptRequestBytes) experiment.request = asked;
  }
  experiment.strategy = json::parse(given.strategies.at(index));
  const auto directory = body.find("output_dir");
  if (directory != body.end() && directory->is_string()) {
    std::string path = directory->get<std::string>();
    if (path.starts_with('/') && path.size() <= kMaxPath) experiment.output_dir = std::move(path);
  }
  return experiment;
}

Result<void> TakeOutcome(Outcome outcome, const Submitter& caller, const Snapshot* snapshot,
                         ExperimentLog& log, HistoryWriter& history) {
  const int64_t id = outcome.job_id;
  std::optional<Experiment> otherwise;
  if (!log.Knows(id, caller.uid)) {
    Result<std::optional<Experiment>> found = JobOfCaller(id, caller, snapshot, log, history);
    if (!found) return tl::unexpected<Error>(std::move(found.error()));
    otherwise = std::move(*found);
  }
  return log.Report(std::move(outcome), caller.uid, std::move(otherwise));
}

Result<json> TakeOutcome(const json& body, const Submitter& caller, const Snapshot* snapshot,
                         ExperimentLog& log, HistoryWriter& history) {
  Result<Outcome> outcome = ReadOutcome(body);
  if (!outcome) return tl::unexpected<Error>(outcome.error());
  const int64_t id = outcome->job_id;
  if (id == 0) return BadInput("the outcome names no job; it ran outside of Slurm", "/job_id");
  const Result<void> taken = TakeOutcome(std::move(*outcome), caller, snapshot, log, history);
  if (!taken) return tl::unexpected<Error>(taken.error());
  return ToJson(api::Reported{id});
}

Result<api::Experiments> ExperimentRows(std::string_view target, const Submitter& caller,
                                        const Snapshot* snapshot, ExperimentLog& log) {
  const std::map<std::string, std::string> query = ParseQuery(target);
  const auto job = NumberIn(query, "job");
  if (!job) return tl::unexpected<Error>(job.error());
  const auto limit = NumberIn(query, "limit");
  if (!limit) return tl::unexpected<Error>(limit.error());
  std::vector<Experiment> experiments;
  if (*job) {
    std::optional<Experiment> one = log.Find(**job, caller.uid);
    if (!one) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("no job {} of yours was submitted or run with gpuadvise", **job));
    }
    experiments.push_back(std::move(*one));
  } else {
    experiments = log.NewestOfUser(
        caller.uid, static_cast<size_t>(std::min(limit->value_or(kMostRows), kMostRows)));
  }
  const OwnJobs own = JobsOf(snapshot, caller.uid);
  api::Experiments answer;
  for (Experiment& experiment : experiments) {
    TakeStart(own, experiment);
    answer.jobs.push_back(RowOf(experiment, StateOf(experiment, own, snapshot), job->has_value()));
  }
  return answer;
}

}  // namespace gpuadvise::daemon
