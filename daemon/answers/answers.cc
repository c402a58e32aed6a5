#include "daemon/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "common/base/host_list.h"
#include "common/base/json_fields.h"
#include "common/runs/job_family.h"
#include "common/slurm/policy.h"
#include "daemon/answers/advice_json.h"
#include "daemon/answers/job_query.h"

namespace gpuadvise::daemon {

using nlohmann::json;

namespace {

constexpr int64_t kMostTasksAsked = 100'000;
constexpr int64_t kMaxSeconds = 10LL * 365 * 86400;

Constraints ReadConstraints(FieldReader reader) {
  Constraints out;
  out.partition = reader.Text("partition").value_or("");
  out.account = reader.Text("account").value_or("");
  out.qos = reader.Text("qos").value_or("");
  out.constraint = reader.Text("constraint").value_or("");
  out.exclude = reader.Text("exclude", kMaxHostListBytes).value_or("");
  out.nodelist = reader.Text("nodelist", kMaxHostListBytes).value_or("");
  out.time_limit_seconds = reader.Int("time_limit_seconds", 1, kMaxSeconds);
  out.time_min_seconds = reader.Int("time_min_seconds", 1, kMaxSeconds).value_or(0);
  out.gpus_per_node = reader.Int("gpus_per_node", 1, 100'000);
  out.nodes = reader.Int("nodes", 1, 1'000'000);
  out.gpus_total = reader.Int("gpus_total", 1, 1'000'000);
  out.gpus = reader.Texts("gpus");
  return out;
}

// slurm.array: a text, or a number alone.
std::string ArrayOf(const json& spec) {
  const auto slurm = spec.find("slurm");
  if (slurm == spec.end() || !slurm->is_object()) return "";
  const auto array = slurm->find("array");
  if (array == slurm->end() || array->is_null()) return "";
  return array->is_string() ? array->get<std::string>() : array->dump();
}

std::vector<WaitingTasks> ReadWaiting(FieldReader& reader) {
  constexpr int64_t kMost = 4'000'000;
  std::vector<WaitingTasks> waiting;
  for (const json* each : reader.List("waiting")) {
    FieldReader share(*each, "/waiting", reader.errors());
    waiting.push_back({share.Text("gpu").value_or(""), share.Text("partition").value_or(""),
                       share.Int("gpus_per_node", 1, kMost).value_or(1),
                       share.Int("nodes", 1, kMost).value_or(1),
                       share.Int("tasks", 1, kMost).value_or(1), 0,
                       share.Int("job_id", 1, int64_t{1} << 40).value_or(0)});
  }
  return waiting;
}

// What the request does not fix, the spec's slurm section may.
void FillFromSpec(const SlurmSpec& slurm, Constraints& constraints) {
  auto fill = [](std::string& fixed, const std::string& from_spec) {
    if (fixed.empty()) fixed = from_spec;
  };
  fill(constraints.partition, slurm.partition);
  fill(constraints.account, slurm.account);
  fill(constraints.qos, slurm.qos);
  fill(constraints.constraint, slurm.constraint);
  fill(constraints.exclude, slurm.exclude);
  fill(constraints.nodelist, slurm.nodelist);
  if (!constraints.time_limit_seconds) constraints.time_limit_seconds = slurm.time_limit_seconds;
}

// Node lists go to sbatch as they are; here they must at least be readable.
Result<void> CheckHostList(const std::string& list, const Snapshot& snapshot,
                           const std::string& pointer) {
  if (list.empty()) return {};
  Result<std::vector<std::string>> nodes = ExpandHostList(list, MostHostsAsked(snapshot));
  if (nodes) return {};
  return BadInput(std::move(nodes.error().message), pointer);
}

Result<AdviceRequest> ReadAdviceRequest(const json& body, const Snapshot& snapshot) {
  DocumentErrors errors;
  FieldReader reader(body, "", &errors);
  const json* spec_json = reader.Any("spec");
  if (spec_json == nullptr) return BadInput("the request has no spec", "/spec");
  Result<TrainSpec> spec = ParseTrainSpec(*spec_json, "/spec");
  if (!spec) return tl::unexpected<Error>(spec.error());

  AdviceRequest request{std::move(*spec), {}, {}, {}, false, {}, {}};
  if (auto constraints = reader.Object("constraints"))
    request.constraints = ReadConstraints(*constraints);
  auto word = reader.Choice("objective", {"finish", "start", "cost", "deadline"});
  auto deadline = reader.Int("deadline", 1, int64_t{1} << 40);
  const auto array = reader.Text("array", kMaxHostListBytes);
  request.waiting = ReadWaiting(reader);
  request.others = reader.Bool("others").value_or(false);
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());

  const std::string tasks = array ? *array : ArrayOf(*spec_json);
  if (!tasks.empty()) {
    Result<ArrayTasks> numbers = ParseArrayTasks(tasks, kMostTasksAsked);
    if (!numbers) {
      return BadInput(numbers.error().message, array ? "/array" : "/spec/slurm/array");
    }
    request.array = *std::move(numbers);
  }
  FillFromSpec(request.spec.slurm, request.constraints);
  Result<void> lists =
      CheckHostList(request.constraints.nodelist, snapshot, "/constraints/nodelist");
  if (lists) lists = CheckHostList(request.constraints.exclude, snapshot, "/constraints/exclude");
  if (!lists) return tl::unexpected<Error>(lists.error());
  request.by.objective = word ? *ObjectiveFromWord(*word) : request.spec.objective;
  if (!deadline) deadline = request.spec.deadline;
  request.deadline = deadline;
  if (deadline) request.by.seconds_to_deadline = static_cast<double>(*deadline - snapshot.taken_at);
  if (request.by.objective == Objective::kDeadline && !deadline) {
    return BadInput("the objective deadline needs a deadline", "/deadline");
  }
  if (deadline && *deadline <= snapshot.taken_at) {
    return BadInput("the deadline has passed: give a later one",
                    body.contains("deadline") ? "/deadline" : "/spec/deadline");
  }
  return request;
}

}  // namespace

std::vector<MeasuredStep> RunsAlike(const json& body, const AdviceContext& view,
                                    const Submitter& caller) {
  if (view.learned == nullptr || view.learned->empty() || caller.uid < 0) return {};
  const bool others = !HasFlag(view.snapshot.config.private_data, "jobs");
  return view.learned->MeasurementsOf(JobFamilyOf(body.at("spec")), caller.uid, others);
}

Result<AdviceRequest> AdviceRequestOf(const json& body, const AdviceContext& view,
                                      const Submitter& caller) {
  Result<AdviceRequest> request = ReadAdviceRequest(body, view.snapshot);
  if (request) {
    AddMeasurements(RunsAlike(body, view, caller), view.gpus.catalogue(), request->spec);
  }
  return request;
}

namespace {

// The cluster without those of the caller's waiting jobs that an answer would replace.
struct WithoutReplaced {
  std::shared_ptr<Snapshot> snapshot;
  std::shared_ptr<const QueueModel> queue, by_time_limit;

  AdviceContext Context(const AdviceContext& view) const {
    return {*snapshot,     *queue,       *by_time_limit, view.gpus,    view.models,
            view.for_each, view.learned, view.budget,    view.courtesy};
  }
};

// nullopt: none of `ids`, which are of jobs and arrays, is the caller's and waits.
std::optional<WithoutReplaced> Without(const std::set<int64_t>& ids, int64_t uid,
                                       const AdviceContext& view) {
  const auto is_replaced = [&](const Job& job) {
    return job.uid == uid && !HoldsNodes(job) &&
           (ids.contains(job.id) || (job.array_job_id != 0 && ids.contains(job.array_job_id)));
  };
  const std::vector<Job>& jobs = view.snapshot.jobs;
  if (ids.empty() || uid < 0 || std::none_of(jobs.begin(), jobs.end(), is_replaced)) return {};
  WithoutReplaced without;
  without.snapshot = std::make_shared<Snapshot>(view.snapshot);
  std::erase_if(without.snapshot->jobs, is_replaced);
  without.by_time_limit = PrepareQueue(without.snapshot);
  const ForecastHistory* past = PastBehind(view.queue);
  without.queue = past == nullptr ? without.by_time_limit
                                  : PrepareQueue(without.snapshot, *past, view.queue.options());
  return without;
}

Result<std::set<int64_t>> ReadReplaced(const json& body) {
  DocumentErrors errors;
  FieldReader reader(body, "", &errors);
  std::set<int64_t> ids;
  for (const json* id : reader.List("replaces")) {
    if (!id->is_number_integer()) return BadInput("replaces must be job ids", "/replaces");
    ids.insert(id->get<int64_t>());
  }
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());
  return ids;
}

// The priority of a waiting job or array; 0: it is not there.
int64_t PriorityOf(int64_t id, const Snapshot& snapshot) {
  for (const Job& job : snapshot.jobs) {
    if (!HoldsNodes(job) && (job.id == id || job.array_job_id == id)) return job.priority;
  }
  return 0;
}

}  // namespace

Result<json> AnswerAdvise(const json& body, const AdviceContext& view, const Submitter& caller) {
  const Result<std::set<int64_t>> replaced = ReadReplaced(body);
  if (!replaced) return tl::unexpected<Error>(replaced.error());
  Result<AdviceRequest> request = AdviceRequestOf(body, view, caller);
  if (!request) return tl::unexpected<Error>(request.error());
  for (WaitingTasks& waiting : request->waiting) {
    if (replaced->contains(waiting.job_id)) {
      waiting.priority = PriorityOf(waiting.job_id, view.snapshot);
    }
  }
  const auto without = Without(*replaced, caller.uid, view);
  const AdviceContext context = without ? without->Context(view) : view;
  const Result<Advice> advice = Advise(*request, context, caller);
  if (!advice) return tl::unexpected<Error>(advice.error());
  return ToJson(AdviceAnswer(*advice, *request, PastBehind(view.queue)));
}

}  // namespace gpuadvise::daemon
