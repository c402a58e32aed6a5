#include "client/sbatch/job_choice.h"

#include <fmt/format.h>

#include <string_view>

#include "client/api/answer_reader.h"
#include "client/terminal/printable.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

Result<json> PickedStrategy(const json& answer, int64_t pick) {
  const json& strategies = ListOf(answer, "strategies");
  for (const json& strategy : strategies) {
    if (pick == 0 || IntOf(strategy, "rank") == pick) return strategy;
  }
  std::vector<std::string> ranks;
  for (const json& strategy : strategies) ranks.push_back(std::to_string(IntOf(strategy, "rank")));
  return BadInput(
      fmt::format("--pick {}: no such row; `advise --all` shows {}", pick, JoinNames(ranks)));
}

// What the daemon may say of a job, in its spelling (SbatchOf in daemon/answers/advice_json.cc).
// Other options of sbatch run commands, write files or concern the user alone.
constexpr std::string_view kOptionsOfAdvice[] = {
    "partition", "gres", "nodes", "ntasks_per_node", "cpus_per_task", "time",
    "account",   "qos",  "mem",   "constraint",      "exclude",       "nodelist"};

Result<void> CheckOptions(const json& strategy) {
  for (const auto& [name, value] : ObjectOf(strategy, "sbatch").items()) {
    if (!IsOneOf(name, kOptionsOfAdvice)) {
      return Fail(ErrorCode::kInternal,
                  fmt::format("gpuadvised chose the sbatch option '{}', which it must not set; "
                              "client and daemon may be different versions",
                              Shortened(name, 60)));
    }
    const auto* text = value.get_ptr<const std::string*>();
    if (text != nullptr && Printable(*text) != *text) {
      return Fail(
          ErrorCode::kInternal,
          fmt::format("gpuadvised chose a {} with control characters; set it yourself with --{}",
                      name, ReplaceAll(name, "_", "-")));
    }
  }
  return {};
}

// The options on the command line too: SBATCH_* variables would win over #SBATCH lines.
std::vector<std::string> SbatchArguments(const SbatchOptions& options,
                                         const std::vector<std::string>& passed_on) {
  SbatchOptions ours = options;
  if (const auto parsed = ParseSbatchArguments(passed_on)) {
    for (const auto& [name, value] : parsed->options.values()) ours.Erase(name);
  }
  std::vector<std::string> arguments = {"--parsable"};
  for (std::string& argument : ours.ToArguments()) arguments.push_back(std::move(argument));
  arguments.insert(arguments.end(), passed_on.begin(), passed_on.end());
  return arguments;
}

// "gpu:l40s:6" and "gpu:a100:1,gpu:l40s:2", but not "gpu:1,lustre:1".
bool AsksForGpusOnly(const std::string& gres) {
  for (size_t start = 0; start <= gres.size();) {
    const size_t comma = std::min(gres.find(',', start), gres.size());
    const std::string part = gres.substr(start, comma - start);
    if (part != "gpu" && !part.starts_with("gpu:")) return false;
    start = comma + 1;
  }
  return true;
}

// The strategy already has what flags say about GPUs and nodes: GPUs in Slurm's words, not the
// catalogue's, features and excluded nodes together with its own. What follows `--` stays.
SbatchOptions FixedInScript(const ChoiceRequest& request) {
  SbatchOptions fixed = request.fixed;
  const auto passed_on = ParseSbatchArguments(request.passed_on);
  for (const char* name : {"gres", "gpus", "gpus-per-node", "constraint", "exclude"}) {
    if (!passed_on || passed_on->options.Has(name)) continue;
    if (name == std::string_view("gres") && !AsksForGpusOnly(fixed.Get(name).value_or("")))
      continue;
    fixed.Erase(name);
  }
  return fixed;
}

}  // namespace

Result<Choice> Choose(const ChoiceRequest& request, const TrainFile& file, json answer,
                      const std::string& job_template) {
  Choice choice;
  Result<json> strategy = PickedStrategy(answer, request.pick);
  if (!strategy) return tl::unexpected<Error>(strategy.error());
  if (const Result<void> sane = CheckOptions(*strategy); !sane) {
    return tl::unexpected<Error>(sane.error());
  }
  const std::string cluster = TextOf(*strategy, "cluster");
  if (!cluster.empty()) {  // of several: what belongs to the answer is that cluster's own
    for (const char* key : {"advice_id", "outcomes_dir"}) answer[key] = TextOf(*strategy, key);
  }
  Result<JobScript> script = MakeJobScript(
      job_template, file.spec(), *strategy,
      {TextOf(answer, "advice_id"), TextOf(answer, "outcomes_dir")}, FixedInScript(request));
  if (!script) return Fail(script.error().code, file.Explain(script.error()));
  choice.answer = std::move(answer);
  choice.strategy = *std::move(strategy);
  choice.script = *std::move(script);
  choice.arguments = SbatchArguments(choice.script.options, request.passed_on);
  if (!cluster.empty()) choice.arguments.push_back("--clusters=" + cluster);
  return choice;
}

}  // namespace gpuadvise::client
