#include "client/questions/advice_question.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/questions/job_question.h"
#include "client/sbatch/sbatch_script.h"
#include "common/base/date_time.h"
#include "common/base/json_fields.h"
#include "common/spec/sent_spec.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// "/constraints/time_limit_seconds" -> "--time".
std::string PointerToFlag(const std::string& pointer) {
  constexpr std::string_view kConstraints = "/constraints/";
  if (pointer == "/objective" || pointer == "/deadline" || pointer == "/array")
    return "--" + pointer.substr(1);
  if (!pointer.starts_with(kConstraints)) return {};
  std::string name = pointer.substr(kConstraints.size());
  name = name.substr(0, name.find('/'));
  if (name == "time_limit_seconds") return "--time";
  if (name == "time_min_seconds") return "--time-min";
  if (name == "gpus_total") return "--gpus";
  if (name == "gpus" || name == "gpus_per_node") return "--gres";
  return "--" + name;
}

// What slurm.extra fixes; not what follows the row.
Result<SbatchOptions> FixedByFile(const json& spec) {
  Result<SbatchOptions> extra = ExtraOptions(spec, {});
  if (!extra) return extra;
  for (const auto& [name, value] : std::map(extra->values())) {
    if (value.find('{') != std::string::npos) extra->Erase(name);
  }
  return extra;
}

}  // namespace

std::vector<std::string> UncountedOptions(const json& spec, const AdviceQuestion& question) {
  SbatchOptions options = ExtraOptions(spec, {}).value_or(SbatchOptions());
  options.OverrideWith(question.fixed);
  return UnseenByAdvice(options);
}

std::vector<std::string> NarrowedBy(const json& spec, const AdviceQuestion& question) {
  std::vector<std::string> names;
  const SbatchOptions extra = FixedByFile(spec).value_or(SbatchOptions());
  for (const char* name : {"exclude", "partition", "constraint"}) {
    if (question.fixed.Has(name)) continue;
    const auto value = extra.Get(name);
    const std::string own = TextOf(ObjectOf(spec, "slurm"), name);
    if (value) names.push_back(fmt::format("--{}={}", name, *value));
    if (!value && !own.empty()) names.push_back(fmt::format("slurm.{}: {}", name, own));
  }
  const bool types = AdviceConstraints(extra).value_or(json()).contains("gpus");
  for (const char* name : {"gres", "gpus", "gpus-per-node"}) {
    const auto value = extra.Get(name);
    if (types && value) names.push_back(fmt::format("--{}={}", name, *value));
  }
  const bool listed = ObjectOf(spec, "resources").contains("gpus") && question.gpus.empty();
  if (listed) names.emplace_back("resources.gpus");
  return names;
}

Result<json> AdviceRequest(const TrainFile& file, const AdviceQuestion& question, int64_t now) {
  json request = {{"spec", SentSpec(file.spec())}};  // without tokens
  if (!question.objective.empty()) request["objective"] = question.objective;
  if (!question.deadline.empty()) {
    const Result<int64_t> deadline = ParseDateTime(question.deadline, now, DayMeans::kItsEnd);
    if (!deadline) return BadInput("--deadline: " + deadline.error().message);
    request["deadline"] = *deadline;
  }
  if (question.others) request["others"] = true;
  Result<SbatchOptions> fixed = FixedByFile(file.spec());
  if (!fixed) return file.Refuse(fixed.error().message, "/slurm/extra");
  if (const Result<json> of_file = AdviceConstraints(*fixed); !of_file) {
    return file.Refuse("slurm.extra: " + of_file.error().message, "/slurm/extra");
  }
  fixed->OverrideWith(question.fixed);
  const auto array = fixed->Get("array");  // else the file's slurm.array
  if (array && !array->empty()) request["array"] = *array;
  Result<json> constraints = AdviceConstraints(*fixed);
  if (!constraints) return constraints;
  if (!constraints->empty()) request["constraints"] = *std::move(constraints);
  return request;
}

Result<json> AskForAdvice(Api& api, const TrainFile& file, const AdviceQuestion& question,
                          int64_t now) {
  const Result<json> request = AdviceRequest(file, question, now);
  if (!request) return request;
  Result<json> answer = api.Post("/v1/advise", *request);
  if (answer) return answer;
  Error error = answer.error();
  const auto explain = [&](Error& each) {
    each.message = ExplainAdviceError(each, file);
    each.pointer.clear();
  };
  explain(error);
  for (Error& each : error.further) explain(each);
  return tl::unexpected<Error>(std::move(error));
}

std::string ExplainAdviceError(const Error& error, const TrainFile& file) {
  if (error.pointer == "/spec" || error.pointer.starts_with("/spec/")) return file.Explain(error);
  const std::string flag = PointerToFlag(error.pointer);
  if (flag.empty()) return error.message;
  const std::string name = flag.substr(2) + ": ";  // the API's name: "nodelist: …"
  const bool twice = error.message.starts_with(name);
  return flag + ": " + (twice ? error.message.substr(name.size()) : error.message);
}

}  // namespace gpuadvise::client
