#include "client/sbatch/job_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "client/api/answer_reader.h"
#include "client/terminal/printable.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/array_tasks.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

Result<json> PickedStrategy(const json& answer, int64_t pick) {
  const json& strategies = ListOf(answer, "strategies");
  for (const json& strategy : strategies) {
    if (!strategy.is_object()) continue;
    if (pick == 0 || IntOf(strategy, "rank") == pick) return strategy;
  }
  std::vector<std::string> ranks;
  for (const json& strategy : strategies) ranks.push_back(std::to_string(IntOf(strategy, "rank")));
  return BadInput(
      fmt::format("--pick {}: no such row; `advise --all` shows {}", pick, JoinNames(ranks)));
}

bool IsOptionOfAdvice(const std::string& name) {
  bool known = false;
  api::SbatchOptions::Fields(
      [&](const char* field, const auto&...) { known = known || name == field; });
  return known;
}

// The options chosen by the daemon. Rejects other options of sbatch, which could run commands or
// write files, or are the user's alone.
Result<api::SbatchOptions> CheckedOptions(const json& sbatch) {
  const auto options = FromJson<api::SbatchOptions>(sbatch);
  const json read = ToJson(options);
  for (const auto& [name, value] : sbatch.items()) {
    const bool is_read = (value.is_string() && value.get_ref<const std::string&>().empty()) ||
                         (read.contains(name) && read[name] == value);
    if (!IsOptionOfAdvice(name) || !is_read) {
      return Fail(ErrorCode::kInternal,
                  fmt::format("gpuadvised chose the sbatch option '{}', which it must not set; "
                              "client and daemon may be different versions",
                              OneLine(name, 60)));
    }
    const auto* text = value.get_ptr<const std::string*>();
    if (text != nullptr && Printable(*text) != *text) {
      return Fail(
          ErrorCode::kInternal,
          fmt::format("gpuadvised chose a {} with control characters; set it yourself with --{}",
                      name, ReplaceAll(name, "_", "-")));
    }
  }
  return options;
}

// Repeats the options on the command line, because SBATCH_* variables override #SBATCH lines.
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

// Whether it is like "gpu:l40s:6" or "gpu:a100:1,gpu:l40s:2", not "gpu:1,lustre:1".
bool AsksForGpusOnly(const std::string& gres) {
  for (size_t start = 0; start <= gres.size();) {
    const size_t comma = std::min(gres.find(',', start), gres.size());
    const std::string part = gres.substr(start, comma - start);
    if (part != "gpu" && !part.starts_with("gpu:")) return false;
    start = comma + 1;
  }
  return true;
}

// Removes fixed options that the strategy already includes: GPUs (with Slurm's names instead of the
// catalogue's), features and excluded nodes. Keeps options after `--`.
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

Result<Choice> Choose(const ChoiceRequest& request, const TrainFile& file, const json& answer,
                      const std::string& job_template) {
  Result<json> row = PickedStrategy(answer, request.pick);
  if (!row) return tl::unexpected<Error>(row.error());
  Result<api::SbatchOptions> options = CheckedOptions(ObjectOf(*row, "sbatch"));
  if (!options) return tl::unexpected<Error>(options.error());
  Choice choice;
  choice.advice = ReadAnswer<api::Advice>(answer);
  choice.strategy = FromJson<api::Strategy>(*row, ShownText);
  choice.strategy.sbatch = *std::move(options);
  choice.row = *std::move(row);
  const std::string& cluster = choice.strategy.cluster;
  if (!cluster.empty()) {  // several clusters: the advice's id and folder are the cluster's
    choice.advice.advice_id = choice.strategy.advice_id;
    choice.advice.outcomes_dir = choice.strategy.outcomes_dir;
  }
  Result<JobScript> script = MakeJobScript(
      job_template, file.spec(), choice.strategy,
      {choice.advice.advice_id, choice.advice.outcomes_dir, request.of_array, request.sweep_folder},
      FixedInScript(request));
  if (!script) return Fail(script.error().code, file.Explain(script.error()));
  choice.script = *std::move(script);
  choice.arguments = SbatchArguments(choice.script.options, request.passed_on);
  choice.limit_is_users =
      request.fixed.Has("time") || ObjectOf(file.spec(), "slurm").contains("time");
  if (!cluster.empty()) choice.arguments.push_back("--clusters=" + cluster);
  return choice;
}

namespace {

// Whether the shares are together the tasks that were asked for, each once, and no more of them at
// a time. Slurm gets them as they are.
bool IsWhole(const api::Sweep& sweep, const std::string& asked) {
  const Result<ArrayTasks> all = ParseArrayTasks(asked);
  std::vector<int64_t> numbers;
  int64_t throttles = 0;
  for (const api::SweepShare& share : sweep.shares) {
    const Result<ArrayTasks> part = ParseArrayTasks(share.array);
    if (!part || !all || (part->throttle == 0 && all->throttle > 0)) return false;
    throttles += part->throttle;
    numbers.insert(numbers.end(), part->numbers.begin(), part->numbers.end());
  }
  std::sort(numbers.begin(), numbers.end());
  return all && all->numbers == numbers && (all->throttle == 0 || throttles <= all->throttle);
}

}  // namespace

Result<std::vector<Choice>> ChooseAll(const ChoiceRequest& request, const TrainFile& file,
                                      const json& answer, const std::string& job_template) {
  const auto advice = ReadAnswer<api::Advice>(answer);
  std::vector<ChoiceRequest> parts;
  if (request.pick == 0 && advice.sweep) {
    const std::string asked = ArrayAsked(file.spec(), request.fixed);
    if (!IsWhole(*advice.sweep, asked)) {
      return Fail(ErrorCode::kInternal,
                  "gpuadvised split the array into parts that are not its tasks; client and daemon "
                  "may be different versions");
    }
    const auto left = ParseSbatchArguments(WithoutArray(request.passed_on));
    if (left && left->options.Has("array")) {
      return BadInput("after --: write the array as an option of its own, -a 1-80");
    }
    for (const api::SweepShare& share : advice.sweep->shares) {
      ChoiceRequest& part = parts.emplace_back(request);
      part.pick = share.rank;
      part.fixed.Set("array", share.array);
      part.passed_on = WithoutArray(request.passed_on);
      if (advice.sweep->shares.size() > 1) part.of_array = asked;
    }
  }
  if (parts.empty()) parts.push_back(request);
  std::vector<Choice> choices;
  for (const ChoiceRequest& part : parts) {
    Result<Choice> choice = Choose(part, file, answer, job_template);
    if (!choice) return tl::unexpected<Error>(choice.error());
    choices.push_back(*std::move(choice));
  }
  return choices;
}

}  // namespace gpuadvise::client
