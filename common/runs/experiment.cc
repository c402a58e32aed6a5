#include "common/runs/experiment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "common/api/advice.h"
#include "common/base/json_fields.h"
#include "common/spec/sent_spec.h"

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
          times.partition,        times.gpu,           times.nodes,       times.gpus,
          OrNull(times.limit)};
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
  if (const int64_t limit = count(8); limit > 0) times.limit = limit;
  return times;
}

json SweepJson(const SweepPart& sweep) {
  return {{"job_id", sweep.job_id}, {"runs", sweep.runs}, {"moved", sweep.moved}};
}

SweepPart SweepFrom(const json& document) {
  SweepPart sweep;
  for (const auto& [name, member] :
       {std::pair{"job_id", &sweep.job_id}, {"runs", &sweep.runs}, {"moved", &sweep.moved}}) {
    const json& value = MemberOf(document, name);
    if (value.is_number_integer()) *member = std::max<int64_t>(value.get<int64_t>(), 0);
  }
  return sweep;
}

std::optional<std::string> TextOrNothing(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// What the advice said, under the names that the log has for it.
api::Promise PromiseOf(const json& strategy) {
  auto promise = FromJson<api::Promise>(strategy);
  const auto advised = FromJson<api::Strategy>(strategy);
  promise.gpu = TextOrNothing(advised.gpu_name);
  promise.cost_is_billing = advised.cost_unit == "billing_hours";
  if (promise.memory_bytes == 0) promise.memory_bytes.reset();  // not counted
  return promise;
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

// The share of its time limit that an ended job used, of the last link.
std::optional<double> LimitUsed(const JobTimes& times) {
  if (!times.start || !times.end || !times.limit) return {};
  const auto ran = static_cast<double>(std::max<int64_t>(*times.end - *times.start, 0));
  return std::round(1'000 * ran / static_cast<double>(*times.limit)) / 1'000;
}

// The forecast cost, for as long as it really ran.
std::optional<double> RealCost(const Experiment& experiment) {
  const auto advised = FromJson<api::Strategy>(experiment.strategy);
  const auto ran = RunSeconds(experiment);
  if (!advised.cost || advised.run.mean_seconds <= 0 || !ran) return {};
  const double real =
      *advised.cost * static_cast<double>(*ran) / static_cast<double>(advised.run.mean_seconds);
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

api::Measured MeasuredOf(const Outcome& outcome) {
  const Attempt& last = outcome.attempts.back();
  api::Measured measured;
  measured.has_outcome = true;
  measured.outcome_running = outcome.running;
  measured.attempts = static_cast<int64_t>(outcome.attempts.size());
  measured.out_of_memory =
      std::count_if(outcome.attempts.begin(), outcome.attempts.end(),
                    [](const Attempt& attempt) { return attempt.out_of_memory; });
  measured.final_micro_batch = last.micro_batch;
  measured.final_accumulation = last.accumulation;
  measured.loss = last.loss;
  measured.seconds_per_step = last.seconds_per_step;
  measured.mean_utilisation = MeanUse(last.gpus);
  measured.peak_memory_bytes = PeakOf(outcome);
  if (outcome.running) return measured;
  measured.exit_code = last.exit_code;
  measured.signal = last.signal;
  return measured;
}

}  // namespace

void KeepOnlyWhatCounts(Experiment& experiment) {
  experiment.request = SentRequest(experiment.request);
  if (experiment.strategy.is_object()) experiment.strategy.erase("stages");
}

JobTimes TimesOf(const JobRecord& record) {
  JobTimes times = {record.eligible,  record.start, record.end,   record.state,
                    record.partition, record.gpu,   record.nodes, record.gpus};
  if (record.limit_seconds.has_value() && record.limit_seconds.value() > 0) {
    times.limit = record.limit_seconds.value();
  }
  return times;
}

std::string ToText(const Experiment& experiment) {
  json document = {{"job_id", experiment.job_id},
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
                   {"times", TimesJson(experiment.times)}};
  if (experiment.sweep.job_id != 0) document["sweep"] = SweepJson(experiment.sweep);
  return Dump(document);
}

Result<Experiment> ExperimentFromText(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  DocumentErrors errors;
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
  experiment.sweep = SweepFrom(MemberOf(document, "sweep"));
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

api::Experiment RowOf(const Experiment& experiment, const std::string& state, bool whole) {
  const JobTimes& times = experiment.times;
  api::Experiment row;
  row.job_id = experiment.job_id;
  row.advice_id = TextOrNothing(experiment.advice_id);
  row.name = experiment.name;
  row.state = state;
  row.submitted_at = experiment.submitted_at;
  row.started_at = times.start;
  row.ended_at = times.end;
  row.slurm_state = TextOrNothing(times.state);
  if (times.start) {
    const UnixSeconds from = times.eligible.value_or(experiment.submitted_at);
    row.wait_seconds = std::max<int64_t>(*times.start - from, 0);
  }
  row.run_seconds = RunSeconds(experiment);
  row.limit_used = LimitUsed(times);
  row.real_cost = RealCost(experiment);
  row.output_dir = TextOrNothing(experiment.output_dir);
  if (experiment.sweep.job_id != 0) row.sweep = experiment.sweep.job_id;
  row.promise = PromiseOf(experiment.strategy);
  if (experiment.outcome) row.measured = MeasuredOf(*experiment.outcome);
  if (!whole) return row;
  row.detail = {experiment.outcome ? ToJson(*experiment.outcome) : json(), experiment.request,
                experiment.advice_id.empty() ? json() : experiment.strategy};
  return row;
}

}  // namespace gpuadvise
