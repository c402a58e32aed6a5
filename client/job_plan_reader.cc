#include "client/job_plan_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/answer_reader.h"
#include "client/job_words.h"
#include "client/spec_text.h"
#include "common/checkpoint_size.h"
#include "common/train_spec.h"
#include "embedded/default_models.h"
#include "yaml/yaml_document.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

int64_t StepsOf(const json& spec, const json& strategy) {
  int64_t steps = 0;
  for (const json& stage : ListOf(strategy, "stages")) steps += IntOf(stage, "steps");
  if (steps == 0) steps = IntOf(strategy, "steps");
  return steps > 0 ? steps : IntOf(ObjectOf(spec, "training"), "max_steps");
}

ModelPresets Presets() {
  const Result<YamlDocument> document = ParseYaml(DefaultModelsYaml(), "models.yaml");
  if (!document) return {};
  return ModelPresets::FromJson(document->root).value_or(ModelPresets());
}

// The largest of the stages' checkpoints, where the file does not say how large one is.
void EstimateSize(const TrainSpec& spec, const std::string& precision, CheckpointPlan* plan) {
  const ModelPresets presets = Presets();
  for (const Stage& stage : spec.stages) {
    const auto size = CheckpointSizeOf(stage, presets.Find(stage.model.preset), precision);
    if (!size || size->bytes <= plan->bytes.value_or(0)) continue;
    plan->bytes = size->bytes;
    plan->estimated_from = InWords(*size);
  }
}

CheckpointPlan CheckpointsOf(const json& spec, const json& strategy) {
  CheckpointPlan plan;
  plan.steps = StepsOf(spec, strategy);
  const Result<TrainSpec> read = ParseTrainSpec(spec, "");
  if (!read) return plan;
  plan.bytes = read->output.checkpoint_bytes;
  plan.keep = read->output.keep;
  plan.save_steps = read->output.save_steps;
  const std::string precision = TextOf(strategy, "precision");
  if (!plan.bytes) EstimateSize(*read, precision.empty() ? "bf16" : precision, &plan);
  return plan;
}

}  // namespace

JobPlan ReadJobPlan(const json& spec, const json& strategy, const SbatchOptions& options) {
  const Placeholders words = StrategyWords(spec, strategy);
  JobPlan plan;
  plan.chdir = options.Get("chdir").value_or("");
  plan.workdir = Filled(RawText(spec, "workdir"), words);
  plan.output_dir = Filled(RawText(ObjectOf(spec, "output"), "dir"), words);
  for (const char* log : {"output", "error"}) {
    if (const auto pattern = options.Get(log)) plan.logs.push_back(*pattern);
  }
  plan.job_name = options.Get("job-name").value_or("");
  plan.container = RawText(spec, "container");
  plan.command = Filled(RawText(spec, "command"), words);
  plan.has_setup = spec.contains("setup") && !spec["setup"].empty();
  for (const auto& [name, value] : ObjectOf(spec, "env").items()) {
    plan.env.emplace_back(name, Filled(RawText(ObjectOf(spec, "env"), name.c_str()), words));
  }
  plan.checkpoints = CheckpointsOf(spec, strategy);
  return plan;
}

}  // namespace gpuadvise
