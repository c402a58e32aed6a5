#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/questions/job_question.h"
#include "common/base/bytes.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/gres.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// Options that decide when or where a job can start and that the forecast does not see.
constexpr std::string_view kUnseen =
    "array batch bb bbf cluster-constraint clusters consolidate-segments contiguous core-spec "
    "cores-per-socket deadline dependency extra-node-info gpus-per-socket gres-flags hint hold "
    "licenses mincpus network nice nodefile ntasks-per-core ntasks-per-gpu ntasks-per-socket "
    "overcommit oversubscribe power prefer priority reboot segment sockets-per-node spread-job "
    "switches thread-spec threads-per-core time-min tmp tres-per-task use-min-nodes";

constexpr const char* kPrinted[] = {"partition", "gres", "gpus", "gpus_per_node", "constraint"};

Result<json> ReadQuestion(const SelectCommand& command, const SbatchOptions& options, int64_t now) {
  for (const std::string_view name : SplitAt(kUnseen, ' ')) {
    if (!options.Has(std::string(name))) continue;
    return BadInput(fmt::format(
        "--{}: the forecast does not support this option; choose partition and GPU type yourself",
        name));
  }
  const std::string nodes = options.Get("nodes").value_or("");
  if (const size_t dash = nodes.find('-');
      dash != std::string::npos && nodes.substr(0, dash) != nodes.substr(dash + 1)) {
    return BadInput("--nodes: a range of nodes is not supported; write one number");
  }
  const Result<json> job = JobQuestion(options, now);
  if (!job) return job;
  json question = {{"job", *job}, {"groups", command.groups}};
  if (const Result<void> added = AddRunWords(options, question["job"]); !added) {
    return tl::unexpected<Error>(added.error());
  }
  if (!command.avoid.empty()) question["avoid_partitions"] = command.avoid;
  if (command.gpu_memory.empty()) return question;
  const Result<Bytes> least = ParseSlurmMemory(command.gpu_memory);
  if (!least || least->count < 1) {
    return BadInput("--gpu-memory: write a size such as 40G");
  }
  question["min_gpu_memory_bytes"] = least->count;
  return question;
}

// Names as Slurm has them; nothing that a shell or a terminal could take for more.
bool IsSafe(const std::string& value) {
  return !value.empty() && value.size() <= 4096 &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  std::string_view("_-.,:|+").find(c) != std::string_view::npos;
         });
}

Result<json> OptionsOf(const json& answer, const SbatchOptions& given) {
  const json& job = ObjectOf(answer, "job");
  json options = json::object();
  for (const char* name : kPrinted) {
    const auto value = job.find(name);
    if (value == job.end()) continue;
    if (!value->is_string() || !IsSafe(value->get<std::string>())) {
      return Fail(
          ErrorCode::kInternal,
          fmt::format(
              "gpuadvised chose a {} with characters that no Slurm name has; choose it yourself",
              name));
    }
    options[name] = *value;
  }
  // The API was asked for the total of --gpus-per-task.
  const auto per_task = given.Get("gpus-per-task");
  if (!per_task || given.Has("gpus") || !options.contains("gpus")) return options;
  const Result<GpuCounts> counts = ParseGpusOption(*per_task);
  options.erase("gpus");
  options["gpus_per_task"] =
      fmt::format("{}:{}", TextOf(job, "gres_type"), counts ? TotalGpus(*counts) : 1);
  return options;
}

std::string KindsInWords(const json& answer) {
  std::vector<std::string> kinds;
  for (const json& each : ListOf(answer, "alternatives")) {
    const std::string name = TextOf(each, "gpu_name");
    if (!each.value("in_job", false) || name.empty()) continue;
    if (std::find(kinds.begin(), kinds.end(), name) == kinds.end()) kinds.push_back(name);
  }
  return kinds.empty() ? "GPUs" : fmt::format("{}", fmt::join(kinds, " or "));
}

// "L40S in gpu2, start in about 5 m (p90 1 h 10)".
std::string Why(const json& answer, const json& options, const SbatchOptions& given) {
  const json& job = ObjectOf(answer, "job");
  std::string partition = TextOf(options, "partition");
  if (partition.empty()) partition = given.Get("partition").value_or("");
  const double p50 = NumberOf(job, "wait_p50_seconds");
  const double p90 = NumberOf(job, "wait_p90_seconds");
  std::string start = p50 < 30 ? "start now" : "start in about " + DurationInWords(p50);
  if (p90 - p50 >= 60) start += " (p90 " + DurationInWords(p90) + ")";
  return fmt::format("{} in {}, {}", KindsInWords(answer), partition, start);
}

// So that it counts as waiting before the daemon's next look at the queue.
int ReportSubmitted(const SelectCommand& command, Api& api, Console& console) {
  if (!IsSafe(command.advice)) {
    return Report({ErrorCode::kBadInput, "--submitted needs --advice, the answer's advice_id", ""},
                  console);
  }
  const auto reported = api.Post("/v1/advice/" + command.advice + "/submitted",
                                 {{"job_id", std::stoll(command.submitted)}, {"rank", 1}});
  return reported ? kExitOk : Report(reported.error(), console);
}

}  // namespace

int RunSelect(const SelectCommand& command, Api& api, Console& console) {
  if (!command.submitted.empty()) return ReportSubmitted(command, api, console);
  const Result<ParsedArguments> parsed = ParseSbatchArguments(command.arguments);
  if (!parsed) return Report(parsed.error(), console);
  const Result<json> question = ReadQuestion(command, parsed->options, console.now());
  if (!question) return Report(question.error(), console);
  const Result<json> answer = api.Post("/v1/select", *question);
  if (!answer) return Report(answer.error(), console);
  if (const Result<void> young = CheckAge(*answer, command.max_age_seconds); !young) {
    return Report(young.error(), console);
  }
  const Result<json> options = OptionsOf(*answer, parsed->options);
  if (!options) return Report(options.error(), console);
  if (command.json) PrintJson(*answer, console);
  if (options->empty()) {
    const std::string reason = TextOf(*answer, "reason");
    const Error nothing{ErrorCode::kInfeasible,
                        reason.empty() ? "gpuadvised made no choice" : reason, ""};
    return command.json ? ReportInWords(nothing, console) : Report(nothing, console);
  }
  if (command.json) return kExitOk;
  std::string text;
  for (const auto& [name, value] : options->items()) {
    text += name + "=" + value.get<std::string>() + "\n";
  }
  if (const std::string id = TextOf(*answer, "advice_id"); IsSafe(id)) {
    text += "advice_id=" + id + "\n";
  }
  text += "why=" + Why(*answer, *options, parsed->options) + "\n";
  const std::string limit = TextOf(*answer, "limit_words");
  if (!limit.empty()) text += "limit=" + limit + "\n";
  console.Print(text);
  return kExitOk;
}

}  // namespace gpuadvise::client
