#include "common/training/experiment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "common/base/json_fields.h"
#include "common/training/sent_spec.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json TextOrNull(const std::string& text) { return text.empty() ? json() : json(text); }

const json& MemberOf(const json& object, const char* key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

json TimesJson(const JobTimes& times) {
  return {OrNull(times.eligible), OrNull(times.start), OrNull(times.end), times.state,
          times.partition,        times.gpu,           times.nodes,       times.gpus};
}

JobTimes TimesFrom(const json& list) {
  constexpr size_t kWithoutPlace = 4;  // as it was kept before
  JobTimes times;
  if (!list.is_array() || list.size() < kWithoutPlace) return times;
  const std::array<std::optional<UnixSeconds>*, 3> members = {&times.eligible, &times.start,
                                                              &times.end};
  for (size_t i = 0; i < members.size(); ++i) {
    if (list[i].is_number_integer()) *members[i] = list[i].get<UnixSeconds>();
  }
  const auto text = [&](size_t i) {
    return i < list.size() && list[i].is_string() ? list[i].get<std::string>() : std::string();
  };
  const auto count = [&](size_t i) {
    return i < list.size() && list[i].is_number_integer() ? list[i].get<int64_t>() : 0;
  };
  times.state = text(3);
  times.partition = text(4);
  times.gpu = text(5);
  times.nodes = count(6);
  times.gpus = count(7);
  return times;
}

// What the advice said, under the names that the log has for it.
void AddPromised(const json& strategy, json& row) {
  static constexpr std::pair<const char*, const char*> kMembers[] = {
      {"gpu", "gpu_name"},
      {"gpus_per_node", "gpus_per_node"},
      {"nodes", "nodes"},
      {"partition", "partition"},
      {"qos", "qos"},
      {"micro_batch", "micro_batch"},
      {"accumulation", "accumulation"},
      {"effective_batch_size", "effective_batch_size"},
      {"precision", "precision"},
      {"steps", "steps"},
      {"time_limit_seconds", "time_limit_seconds"},
      {"links", "links"},
      {"wait_p50_seconds", "wait_p50_seconds"},
      {"wait_p90_seconds", "wait_p90_seconds"},
      {"run_p50_seconds", "run_p50_seconds"},
      {"run_p90_seconds", "run_p90_seconds"},
      {"memory_bytes", "memory_bytes"},
      {"gpu_memory_bytes", "gpu_memory_bytes"},
      {"cost", "cost"},
  };
  for (const auto& [name, member] : kMembers) row[name] = MemberOf(strategy, member);
  row["cost_is_billing"] = MemberOf(strategy, "cost_unit") == "billing_hours";
  if (row["memory_bytes"] == 0) row["memory_bytes"] = nullptr;  // not counted
}

// Slurm's; of a job that went back into the queue Slurm knows the last link alone, and the starts
// of the command say the rest.
std::optional<int64_t> RunSeconds(const Experiment& experiment) {
  const JobTimes& times = experiment.times;
  if (!times.start || !times.end) return {};
  const int64_t last = std::max<int64_t>(*times.end - *times.start, 0);
  if (!experiment.outcome || experiment.outcome->restarts == 0) return last;
  double all = 0;
  for (const Attempt& attempt : experiment.outcome->attempts) all += attempt.seconds;
  return std::max<int64_t>(last, std::llround(std::min(all, 1e12)));
}

// The forecast cost, for as long as it really ran.
json RealCost(const Experiment& experiment) {
  const json& cost = MemberOf(experiment.strategy, "cost");
  const json& planned = MemberOf(experiment.strategy, "run_mean_seconds");
  const auto ran = RunSeconds(experiment);
  if (!cost.is_number() || !planned.is_number() || planned.get<double>() <= 0 || !ran) return {};
  const double real = cost.get<double>() * static_cast<double>(*ran) / planned.get<double>();
  return std::round(real * 100) / 100;
}

std::optional<int64_t> PeakOf(const Outcome& outcome) {
  int64_t peak = 0;
  for (const Attempt& attempt : outcome.attempts) {
    if (attempt.out_of_memory) continue;
    for (const GpuUse& gpu : attempt.gpus) peak = std::max(peak, gpu.peak_memory_bytes);
  }
  return peak > 0 ? std::optional(peak) : std::nullopt;
}

void AddMeasured(const Outcome& outcome, json& row) {
  const Attempt& last = outcome.attempts.back();
  row["attempts"] = outcome.attempts.size();
  row["out_of_memory"] =
      std::count_if(outcome.attempts.begin(), outcome.attempts.end(),
                    [](const Attempt& attempt) { return attempt.out_of_memory; });
  row["final_micro_batch"] = OrNull(last.micro_batch);
  row["final_accumulation"] = OrNull(last.accumulation);
  row["loss"] = OrNull(last.loss);
  row["seconds_per_step"] = OrNull(last.seconds_per_step);
  row["mean_utilisation"] = OrNull(MeanUse(last.gpus));
  row["peak_memory_bytes"] = OrNull(PeakOf(outcome));
  row["has_outcome"] = true;
  row["outcome_running"] = outcome.running;
  if (outcome.running) return;
  row["exit_code"] = last.exit_code;
  row["signal"] = last.signal;
}

}  // namespace

void KeepOnlyWhatCounts(Experiment& experiment) {
  experiment.request = SentRequest(experiment.request);
  if (experiment.strategy.is_object()) experiment.strategy.erase("stages");
}

JobTimes TimesOf(const JobRecord& record) {
  return {record.eligible,  record.start, record.end,   record.state,
          record.partition, record.gpu,   record.nodes, record.gpus};
}

std::string ToText(const Experiment& experiment) {
  return Dump({{"job_id", experiment.job_id},
               {"uid", experiment.uid},
               {"user", experiment.user},
               {"submitted_at", experiment.submitted_at},
               {"advice_id", experiment.advice_id},
               {"name", experiment.name},
               {"family", experiment.family},
               {"output_dir", experiment.output_dir},
               {"request", experiment.request},
               {"strategy", experiment.strategy},
               {"outcome", experiment.outcome ? ToJson(*experiment.outcome) : json()},
               {"times", TimesJson(experiment.times)}});
}

Result<Experiment> ExperimentFromText(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  FirstError errors;
  FieldReader reader(document, "", &errors);
  Experiment experiment;
  experiment.job_id = reader.Int("job_id", 1, INT64_MAX).value_or(0);
  experiment.uid = reader.Int("uid", 0, INT64_MAX).value_or(-1);
  experiment.submitted_at = reader.Int("submitted_at", 0, INT64_MAX).value_or(0);
  for (const auto& [name, member] : {std::pair{"user", &experiment.user},
                                     {"advice_id", &experiment.advice_id},
                                     {"name", &experiment.name},
                                     {"family", &experiment.family},
                                     {"output_dir", &experiment.output_dir}}) {
    *member = reader.Text(name).value_or("");
  }
  if (experiment.job_id == 0 || experiment.uid < 0) {
    reader.Refuse("job_id", "the row names no job and no owner");
  }
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());
  experiment.request = MemberOf(document, "request");
  experiment.strategy = MemberOf(document, "strategy");
  if (auto outcome = ReadOutcome(MemberOf(document, "outcome"))) experiment.outcome = *outcome;
  experiment.times = TimesFrom(MemberOf(document, "times"));
  return experiment;
}

Experiment ExperimentOf(const Job& job) {
  Experiment experiment;
  experiment.job_id = job.id;
  experiment.uid = job.uid;
  experiment.user = job.user;
  experiment.name = job.name;
  experiment.submitted_at = job.submit_time.value_or(0);
  int64_t gpus = 0;
  for (const GpuCount& gpu : job.request.gpus_per_node) gpus += gpu.count;
  experiment.strategy = {
      {"nodes", job.request.nodes_min},
      {"qos", job.qos},
      {"partition",
       TextOrNull(job.request.partitions.empty() ? std::string() : job.request.partitions.front())},
      {"gpus_per_node", gpus > 0 ? json(gpus) : json()}};
  return experiment;
}

Experiment ExperimentOf(const JobRecord& record, int64_t uid) {
  Experiment experiment;
  experiment.job_id = record.id;
  experiment.uid = uid;
  experiment.user = record.user;
  experiment.name = record.name;
  experiment.submitted_at = record.submit;
  experiment.times = TimesOf(record);
  experiment.strategy = {{"nodes", record.nodes},
                         {"qos", record.qos},
                         {"partition", record.partition},
                         {"gpus_per_node", record.gpus / std::max<int64_t>(record.nodes, 1)}};
  return experiment;
}

json RowOf(const Experiment& experiment, const std::string& state, bool whole) {
  const JobTimes& times = experiment.times;
  json row = {{"job_id", experiment.job_id},
              {"advice_id", TextOrNull(experiment.advice_id)},
              {"name", experiment.name},
              {"state", state},
              {"submitted_at", experiment.submitted_at},
              {"started_at", OrNull(times.start)},
              {"ended_at", OrNull(times.end)},
              {"slurm_state", TextOrNull(times.state)},
              {"wait_seconds", nullptr},
              {"run_seconds", OrNull(RunSeconds(experiment))},
              {"real_cost", RealCost(experiment)},
              {"output_dir", TextOrNull(experiment.output_dir)},
              {"has_outcome", false},
              {"outcome_running", false},
              {"attempts", 0},
              {"out_of_memory", 0}};
  for (const char* unknown : {"loss", "seconds_per_step", "mean_utilisation", "peak_memory_bytes",
                              "final_micro_batch", "final_accumulation", "exit_code", "signal"}) {
    row[unknown] = nullptr;
  }
  if (times.start) {
    const UnixSeconds from = times.eligible.value_or(experiment.submitted_at);
    row["wait_seconds"] = std::max<int64_t>(*times.start - from, 0);
  }
  AddPromised(experiment.strategy, row);
  if (experiment.outcome) AddMeasured(*experiment.outcome, row);
  if (!whole) return row;
  row["outcome"] = experiment.outcome ? ToJson(*experiment.outcome) : json();
  row["request"] = experiment.request;
  row["strategy"] = experiment.advice_id.empty() ? json() : experiment.strategy;
  return row;
}

}  // namespace gpuadvise
