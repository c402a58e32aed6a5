#include "client/preflight/preflight.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/sbatch/job_runner.h"
#include "client/sbatch/job_words.h"
#include "common/memory/checkpoint_size.h"
#include "common/spec/train_spec.h"
#include "common/yaml/yaml_document.h"
#include "embedded/default_models.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

int64_t TotalSteps(const json& spec, const api::Strategy& strategy) {
  int64_t steps = 0;
  for (const api::StageFigures& stage : strategy.stages) steps += stage.steps;
  if (steps == 0) steps = strategy.steps;
  return steps > 0 ? steps : IntOf(ObjectOf(spec, "training"), "max_steps");
}

ModelPresets Presets() {
  const Result<YamlDocument> document = ParseYaml(DefaultModelsYaml(), "models.yaml");
  if (!document) return {};
  return ModelPresets::FromJson(document->root).value_or(ModelPresets());
}

// Estimates the largest checkpoint of all stages.
void EstimateSize(const TrainSpec& spec, Precision precision, CheckpointPlan* plan) {
  const ModelPresets presets = Presets();
  for (const Stage& stage : spec.stages) {
    const auto size = ComputeCheckpointSize(
        stage, presets.Require(stage.model.preset, "").value_or(nullptr), precision);
    if (!size || size->bytes <= plan->bytes.value_or(0)) continue;
    plan->bytes = size->bytes;
    plan->estimated_from = InWords(*size);
  }
}

CheckpointPlan ReadCheckpoints(const json& spec, const api::Strategy& strategy) {
  CheckpointPlan plan;
  plan.steps = TotalSteps(spec, strategy);
  const Result<TrainSpec> read = ParseTrainSpec(spec, "");
  if (!read) return plan;
  plan.bytes = read->output.checkpoint_bytes;
  plan.keep = read->output.keep;
  plan.save_steps = read->output.save_steps;
  const auto precision = PrecisionFromWord(strategy.precision);
  if (!plan.bytes) EstimateSize(*read, precision.value_or(Precision::kBf16), &plan);
  return plan;
}

}  // namespace

JobPlan ReadJobPlan(const json& spec, const api::Strategy& strategy, const SbatchOptions& options) {
  const Placeholders words = StrategyWords(spec, strategy);
  JobPlan plan;
  plan.chdir = options.Get("chdir").value_or("");
  plan.workdir = FillPlaceholders(RawText(spec, "workdir"), words);
  plan.output_dir = FillPlaceholders(RawText(ObjectOf(spec, "output"), "dir"), words);
  for (const char* log : {"output", "error"}) {
    if (const auto pattern = options.Get(log)) plan.logs.push_back(*pattern);
  }
  plan.job_name = options.Get("job-name").value_or("");
  plan.container = RawText(spec, "container");
  plan.command = FillPlaceholders(RawText(spec, "command"), words);
  plan.has_setup = (spec.contains("setup") && !spec["setup"].empty()) ||
                   plan.command.find('\n') != std::string::npos;
  for (const auto& [name, value] : ObjectOf(spec, "env").items()) {
    plan.env.emplace_back(name,
                          FillPlaceholders(RawText(ObjectOf(spec, "env"), name.c_str()), words));
  }
  plan.checkpoints = ReadCheckpoints(spec, strategy);
  return plan;
}

namespace {

// In the order in which the job needs them.
std::vector<Check> PreflightChecks(const JobPlan& plan, const JobFacts& facts) {
  std::vector<Check> checks;
  const auto add = [&](std::vector<Check> more) {
    std::move(more.begin(), more.end(), std::back_inserter(checks));
  };
  add(LogFolderChecks(facts));
  add(WorkdirChecks(facts));
  add({OutputFolderCheck(plan, facts)});
  add(SpaceChecks(facts));
  add(QuotaChecks(facts));
  add(ContainerChecks(plan, facts));
  add(ProgramChecks(plan, facts));
  add(FileChecks(plan, facts));
  add(LoginChecks(plan, facts));
  return checks;
}

JobChecks CheckPlan(const JobPlan& plan, Site& site) {
  const JobFacts facts = site.Inspect(plan);
  return {PreflightChecks(plan, facts), LogFoldersToMake(facts), facts.outcome_folder};
}

}  // namespace

JobChecks CheckJob(const json& spec, const Choice& choice, Site& site, JobRunner* runner,
                   int64_t now) {
  JobChecks job = CheckPlan(ReadJobPlan(spec, choice.strategy, choice.script.options), site);
  std::vector<Check> command = ObedienceChecks(spec, choice.strategy);
  std::move(command.begin(), command.end(), std::back_inserter(job.checks));
  job.checks.push_back(AccessCheck(choice.strategy));
  job.checks.push_back(TimeLimitCheck(spec, choice.strategy));
  job.checks.push_back(AssumptionCheck(choice));
  if (runner != nullptr) {
    const auto verdict = runner->Test(choice.arguments, choice.script.text);
    job.checks.push_back(SiteCheck(verdict, choice.strategy, now));
  }
  return job;
}

JobChecks CheckFile(const json& spec, const SbatchOptions& fixed, Site& site) {
  const api::Strategy none;
  return CheckPlan(ReadJobPlan(spec, none, StrategyOptions(spec, none, fixed)), site);
}

Result<void> MakeFolders(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
      return Fail(ErrorCode::kInternal,
                  "the log folder " + folder + " could not be made: " + error.message());
    }
  }
  return {};
}

}  // namespace gpuadvise::client
