#include "common/answers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/advice_json.h"
#include "common/advise.h"
#include "common/asked_job.h"
#include "common/bytes.h"
#include "common/host_list.h"
#include "common/job_family.h"
#include "common/json_fields.h"
#include "common/policy.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

constexpr int64_t kMaxSeconds = 10LL * 365 * 86400;

Constraints ReadConstraints(FieldReader reader) {
  Constraints out;
  out.partition = reader.Text("partition").value_or("");
  out.account = reader.Text("account").value_or("");
  out.qos = reader.Text("qos").value_or("");
  out.constraint = reader.Text("constraint").value_or("");
  out.exclude = reader.Text("exclude").value_or("");
  out.nodelist = reader.Text("nodelist").value_or("");
  out.time_limit_seconds = reader.Int("time_limit_seconds", 1, kMaxSeconds);
  out.gpus_per_node = reader.Int("gpus_per_node", 1, 100'000);
  out.nodes = reader.Int("nodes", 1, 1'000'000);
  out.gpus = reader.Texts("gpus");
  return out;
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
Result<void> CheckHostList(const std::string& list, const std::string& name,
                           const std::string& pointer) {
  if (list.empty()) return {};
  Result<std::vector<std::string>> nodes = ExpandHostList(list);
  if (nodes) return {};
  return BadInput(fmt::format("{}: {}", name, nodes.error().message), pointer);
}

Result<AdviceRequest> ReadAdviceRequest(const json& body, UnixSeconds now) {
  FirstError errors;
  FieldReader reader(body, "", &errors);
  const json* spec_json = reader.Any("spec");
  if (spec_json == nullptr) return BadInput("the request has no spec", "/spec");
  Result<TrainSpec> spec = ParseTrainSpec(*spec_json, "/spec");
  if (!spec) return tl::unexpected<Error>(spec.error());

  AdviceRequest request{std::move(*spec), {}, {}};
  if (auto constraints = reader.Object("constraints"))
    request.constraints = ReadConstraints(*constraints);
  auto word = reader.Choice("objective", {"finish", "start", "cost", "deadline"});
  auto deadline = reader.Int("deadline", 1, int64_t{1} << 40);
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());

  FillFromSpec(request.spec.slurm, request.constraints);
  Result<void> lists =
      CheckHostList(request.constraints.nodelist, "nodelist", "/constraints/nodelist");
  if (lists) lists = CheckHostList(request.constraints.exclude, "exclude", "/constraints/exclude");
  if (!lists) return tl::unexpected<Error>(lists.error());
  request.by.objective = word ? *ObjectiveFromWord(*word) : request.spec.objective;
  if (!deadline) deadline = request.spec.deadline;
  if (request.by.objective == Objective::kDeadline) {
    if (!deadline) return BadInput("the objective deadline needs a deadline", "/deadline");
    request.by.seconds_to_deadline = static_cast<double>(*deadline - now);
  }
  return request;
}

// Runs of the same family, the caller's own and those that anybody may know of.
void LearnFromRuns(const json& body, const ClusterView& view, const Submitter& caller,
                   TrainSpec& spec) {
  if (view.learned == nullptr || view.learned->empty() || caller.uid < 0) return;
  const bool others = !HasFlag(view.snapshot.config.private_data, "jobs");
  const std::string family = JobFamilyOf(body.at("spec"));
  Teach(view.learned->Of(family, caller.uid, others), view.gpus.catalogue(), spec);
}

const json* StrategyOf(const json& advice, int64_t rank) {
  auto strategies = advice.find("strategies");
  if (strategies == advice.end()) return nullptr;
  for (const json& strategy : *strategies) {
    if (strategy.value("rank", int64_t{0}) == rank) return &strategy;
  }
  return nullptr;
}

JobRequest RequestOf(const json& strategy) {
  const json& sbatch = strategy.at("sbatch");
  JobRequest request;
  request.partitions = SplitNames(sbatch.value("partition", ""));
  request.nodes_min = sbatch.value("nodes", int64_t{1});
  request.tasks = request.nodes_min;
  request.cpus_per_task = sbatch.value("cpus_per_task", int64_t{1});
  request.cpus = request.cpus_per_task * request.nodes_min;
  request.gpus_per_node = {
      {strategy.value("gres_type", ""), strategy.value("gpus_per_node", int64_t{1})}};
  request.features = sbatch.value("constraint", "");
  if (auto nodes = ExpandHostList(sbatch.value("exclude", ""))) request.excluded_nodes = *nodes;
  if (auto nodes = ExpandHostList(sbatch.value("nodelist", ""))) request.required_nodes = *nodes;
  if (auto memory = ParseSlurmMemory(sbatch.value("mem", ""))) {
    request.memory_per_node_mib = memory->MiBRoundedUp();
  }
  request.time_limit_seconds = strategy.value("time_limit_seconds", int64_t{0});
  return request;
}

}  // namespace

Result<json> AnswerAdvise(const json& body, const ClusterView& view, const Submitter& caller) {
  Result<AdviceRequest> request = ReadAdviceRequest(body, view.snapshot.taken_at);
  if (!request) return tl::unexpected<Error>(request.error());
  LearnFromRuns(body, view, caller, request->spec);
  Result<Advice> advice = Advise(*request, view, caller);
  if (!advice) return tl::unexpected<Error>(advice.error());
  return ToJson(*advice, *request, PastBehind(view.queue));
}

Result<Job> SubmittedJob(const json& advice, int64_t rank, int64_t job_id, const ClusterView& view,
                         const Submitter& caller) {
  const json* strategy = StrategyOf(advice, rank);
  if (strategy == nullptr) {
    return Fail(ErrorCode::kNotFound, fmt::format("this advice has no strategy of rank {}", rank),
                "/rank");
  }
  Job job;
  job.id = job_id;
  job.name = advice.value("name", "");
  job.user = caller.user;
  job.uid = caller.uid;
  job.account = strategy->value("account", "");
  job.qos = strategy->value("qos", "");
  job.priority = strategy->value("priority", int64_t{0});
  job.submit_time = view.snapshot.taken_at;
  job.eligible_time = view.snapshot.taken_at;
  job.request = RequestOf(*strategy);
  return job;
}

}  // namespace gpuadvise
