#include "client/mcp/tool_schemas.h"

#include <initializer_list>
#include <utility>

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Members = std::initializer_list<std::pair<const char*, json>>;

json Of(const char* type, const char* description) {
  return {{"type", type}, {"description", description}};
}

json OrNull(const char* type, const char* description) {
  return {{"type", {type, "null"}}, {"description", description}};
}

json Object(Members members, std::initializer_list<const char*> required = {}) {
  json properties = json::object(), names = json::array();
  for (const auto& [name, schema] : members) properties[name] = schema;
  for (const char* name : required) names.push_back(name);
  json schema = {{"type", "object"}, {"properties", properties}};
  if (!names.empty()) schema["required"] = names;
  return schema;
}

json ListOf(const json& items, const char* description) {
  return {{"type", "array"}, {"items", items}, {"description", description}};
}

json Sentences(const char* description) { return ListOf({{"type", "string"}}, description); }

// Members of every answer.
json Whole(Members members, std::initializer_list<const char*> required) {
  json schema = Object(members, required);
  schema["properties"]["snapshot_age_seconds"] = OrNull("number", "Age of the data on the cluster");
  schema["properties"]["warnings"] = Sentences("What the answer leaves out or is unsure of");
  schema["properties"]["left_out"] =
      Of("object", "List name: how many of its entries are not shown here");
  return schema;
}

json StartSchema() {
  return Object({{"wait_p10_seconds", OrNull("number", "10th percentile of the queue wait")},
                 {"wait_p50_seconds", OrNull("number", "Median of the queue wait")},
                 {"wait_p90_seconds", OrNull("number", "90th percentile of the queue wait")},
                 {"start_p50", OrNull("integer", "Median of the start, Unix time")},
                 {"partition", Of("string", "Partition")},
                 {"gres", Of("string", "GPUs as asked for")},
                 {"jobs_before", Of("integer", "Pending jobs before it")},
                 {"reasons", Sentences("Why it starts then")},
                 {"doubts", Sentences("What is not certain")},
                 {"error", OrNull("object", "Why this job cannot run; null if it can")}});
}

json StrategySchema() {
  return Object({{"rank", Of("integer", "1 is the best")},
                 {"gpu_name", Of("string", "GPU type")},
                 {"gpus_per_node", Of("integer", "GPUs on each node")},
                 {"nodes", Of("integer", "Nodes")},
                 {"partition", Of("string", "Partition")},
                 {"micro_batch", Of("integer", "Samples that one GPU processes at once")},
                 {"accumulation", Of("integer", "Micro-batches of one optimizer step")},
                 {"effective_batch_size", Of("integer", "Samples of one optimizer step")},
                 {"time_limit_seconds", Of("number", "Time limit")},
                 {"wait_p50_seconds", OrNull("number", "Median of the queue wait")},
                 {"run_p50_seconds", OrNull("number", "Median of the run time")},
                 {"total_p50_seconds", Of("number", "Median of wait + run time")},
                 {"total_p90_seconds", Of("number", "90th percentile of wait + run time")},
                 {"cost", OrNull("number", "Cost of the mean run time")},
                 {"gpu_hours", Of("number", "GPU-hours of the mean run time")},
                 {"reasons", Sentences("Why it has this rank")}},
                {"rank", "partition"});
}

json AdviseSchema() {
  return Whole({{"strategies", ListOf(StrategySchema(), "Ways to run it, the best first")},
                {"rejected", ListOf(Of("object", "A GPU type with reasons"), "What cannot run it")},
                {"tips", Sentences("What would make it faster or cheaper")},
                {"objective", Of("string", "What strategies are ranked by")}},
               {"strategies"});
}

json FitSchema() {
  const json gpu =
      Object({{"gpu_name", Of("string", "GPU type")},
              {"fits", Of("boolean", "Whether the effective batch can be run")},
              {"max_micro_batch", OrNull("object",
                                         "Largest micro-batch by margin: conservative keeps "
                                         "40 % of the memory free, recommended 20 %")},
              {"gpu_memory_bytes", Of("integer", "Memory of one GPU")}});
  return Whole({{"gpus", ListOf(gpu, "GPU types")},
                {"model", Of("string", "The model")},
                {"parameters", Of("integer", "Parameters of the model")}},
               {"gpus"});
}

json ScaleSchema() {
  const json step = Object({{"gpus", Of("integer", "GPUs in all")},
                            {"nodes", Of("integer", "Nodes")},
                            {"hours", OrNull("number", "Run time without the wait, hours")},
                            {"efficiency", OrNull("number", "Speed-up per GPU, 1 is perfect")},
                            {"gpu_hours", OrNull("number", "GPU-hours")}});
  return Whole({{"gpu_name", Of("string", "GPU type of `steps`")},
                {"steps", ListOf(step, "Numbers of GPUs, the smallest first")},
                {"recommended", OrNull("object", "The number that is recommended, and why")}},
               {"steps"});
}

json WhySchema() {
  const json reason =
      Object({{"words", Of("string", "Why it waits")}, {"clears", Of("string", "What ends this")}});
  return Whole({{"job_id", Of("integer", "Number of the job")},
                {"name", OrNull("string", "Untrusted text of whoever submitted it")},
                {"user", OrNull("string", "Its user; null where hidden")},
                {"state", Of("string", "State in Slurm")},
                {"partition", Of("string", "Partition")},
                {"wait_p50_seconds", OrNull("number", "Median of the wait from now")},
                {"wait_p90_seconds", OrNull("number", "90th percentile of the wait from now")},
                {"start_p50", OrNull("integer", "Median of the start, Unix time")},
                {"why", ListOf(reason, "Reasons why it waits")},
                {"cheaper", ListOf(Of("object", "A change"), "What would start it earlier")}},
               {"job_id", "state"});
}

json GpusSchema() {
  const json gpu = Object({{"gpu_name", Of("string", "GPU type")},
                           {"total", Of("integer", "GPUs in all")},
                           {"usable", Of("integer", "Without those of down and drained nodes")},
                           {"free", Of("integer", "Free now for a small job")},
                           {"memory_bytes", Of("integer", "Memory of one GPU")},
                           {"gpus_per_node", Of("integer", "GPUs on each node")},
                           {"wait_one_seconds", OrNull("number", "Median wait for one GPU, 1 h")},
                           {"wait_node_seconds", OrNull("number", "Median wait for a node, 1 h")}},
                          {"gpu_name", "free", "total"});
  return Whole({{"gpus", ListOf(gpu, "GPU types")}}, {"gpus"});
}

json JobsSchema() {
  return Whole({{"jobs", ListOf(Of("object", "A job: forecast, times, outcome"), "Newest first")}},
               {"jobs"});
}

json SubmitSchema() {
  return Object({{"job_id", OrNull("integer", "Number of the new job; null: none")},
                 {"command", Of("string", "The same by hand")},
                 {"strategy", StrategySchema()}},
                {"job_id"});
}

}  // namespace

json OutputSchemaOf(const std::string& tool) {
  if (tool == "when") return Whole({{"answers", ListOf(StartSchema(), "One job")}}, {"answers"});
  if (tool == "advise") return AdviseSchema();
  if (tool == "fit") return FitSchema();
  if (tool == "scale") return ScaleSchema();
  if (tool == "why") return WhySchema();
  if (tool == "gpus") return GpusSchema();
  if (tool == "jobs") return JobsSchema();
  return SubmitSchema();
}

}  // namespace gpuadvise::client
