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
  if (pointer == "/objective" || pointer == "/deadline") return "--" + pointer.substr(1);
  if (!pointer.starts_with(kConstraints)) return {};
  std::string name = pointer.substr(kConstraints.size());
  name = name.substr(0, name.find('/'));
  if (name == "time_limit_seconds") return "--time";
  if (name == "time_min_seconds") return "--time-min";
  if (name == "gpus_total") return "--gpus";
  if (name == "gpus" || name == "gpus_per_node") return "--gres";
  return "--" + name;
}

// What the user has fixed: flags win over slurm.extra, of which what follows the row fixes nothing.
SbatchOptions FixedOptions(const json& spec, const AdviceQuestion& question) {
  SbatchOptions fixed = ExtraOptions(spec, {});
  for (const auto& [name, value] : std::map(fixed.values())) {
    if (value.find('{') != std::string::npos) fixed.Erase(name);
  }
  fixed.OverrideWith(question.fixed);
  return fixed;
}

}  // namespace

std::vector<std::string> UncountedOptions(const json& spec, const AdviceQuestion& question) {
  return UnseenByAdvice(FixedOptions(spec, question));
}

std::vector<std::string> NarrowedBy(const json& spec) {
  std::vector<std::string> names;
  for (const char* name : {"nodelist", "exclude", "partition", "constraint"}) {
    const std::string value = TextOf(ObjectOf(spec, "slurm"), name);
    if (!value.empty()) names.push_back(fmt::format("slurm.{}: {}", name, value));
  }
  const SbatchOptions extra = ExtraOptions(spec, {});
  for (const char* name :
       {"nodelist", "exclude", "partition", "constraint", "gres", "gpus", "gpus-per-node"}) {
    if (const auto value = extra.Get(name)) names.push_back(fmt::format("--{}={}", name, *value));
  }
  if (ObjectOf(spec, "resources").contains("gpus")) names.emplace_back("resources.gpus");
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
  Result<json> constraints = AdviceConstraints(FixedOptions(file.spec(), question));
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
