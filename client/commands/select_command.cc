#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/questions/job_question.h"
#include "common/api/select.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/gres.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// `gpuadvise select`, which sbatch's plugin asks (integrations/plugins/cli_filter.lua).
struct SelectCommand {
  std::vector<std::string> arguments;  // sbatch's options
  std::vector<std::string> groups;     // of the caller
  std::string gpu_memory;              // the least of a GPU; "" any
  std::vector<std::string> avoid;      // partitions
  std::string advice, submitted;       // report instead: that advice became this job
  double timeout_seconds = 1;          // for the whole question
  double max_age_seconds = 300;        // of what the answer rests on
};

// Options that decide when or where a job can start and that the forecast does not see.
constexpr std::string_view kUnseen =
    "array batch bb bbf cluster-constraint clusters consolidate-segments contiguous core-spec "
    "cores-per-socket deadline dependency extra-node-info gpus-per-socket gres-flags hint hold "
    "licenses mincpus network nice nodefile ntasks-per-core ntasks-per-gpu ntasks-per-socket "
    "overcommit oversubscribe power prefer priority reboot segment sockets-per-node spread-job "
    "switches thread-spec threads-per-core time-min tmp tres-per-task use-min-nodes";

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
  if (const Result<void> added = AddLeastGpuMemory(command.gpu_memory, question); !added) {
    return tl::unexpected<Error>(added.error());
  }
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

// Options as they are printed, one a line.
using ChosenOptions = std::vector<std::pair<std::string, std::string>>;

Result<ChosenOptions> OptionsToAdd(const api::SelectedJob& job, const SbatchOptions& given) {
  ChosenOptions options;
  for (const auto& [name, value] : {std::pair{"constraint", job.constraint},
                                    {"gpus", job.gpus},
                                    {"gpus_per_node", job.gpus_per_node},
                                    {"gres", job.gres},
                                    {"partition", job.partition}}) {
    if (value.empty()) continue;
    if (!IsSafe(value)) {
      return Fail(
          ErrorCode::kInternal,
          fmt::format(
              "gpuadvised chose a {} with characters that no Slurm name has; choose it yourself",
              name));
    }
    options.emplace_back(name, value);
  }
  // The API was asked for the total of --gpus-per-task.
  const auto per_task = given.Get("gpus-per-task");
  if (!per_task || given.Has("gpus")) return options;
  for (auto& [name, value] : options) {
    if (name != "gpus") continue;
    const Result<GpuCounts> counts = ParseGpusOption(*per_task);
    name = "gpus_per_task";
    value = fmt::format("{}:{}", job.gres_type, counts ? TotalGpus(*counts) : 1);
  }
  return options;
}

std::string KindsInWords(const api::Selection& selection) {
  std::vector<std::string> kinds;
  for (const api::SelectAlternative& each : selection.alternatives) {
    if (!each.in_job || each.gpu_name.empty()) continue;
    if (std::ranges::find(kinds, each.gpu_name) == kinds.end()) kinds.push_back(each.gpu_name);
  }
  return kinds.empty() ? "GPUs" : Join(kinds, " or ");
}

// "L40S in gpu2, start in about 5 m (p90 1 h 10)".
std::string WhyLine(const api::Selection& selection, const SbatchOptions& given) {
  std::string partition = selection.job.partition;
  if (partition.empty()) partition = given.Get("partition").value_or("");
  const api::Seconds wait = selection.job.start.value_or(api::StartFigures()).wait;
  const auto p50 = static_cast<double>(wait.p50_seconds);
  const auto p90 = static_cast<double>(wait.p90_seconds);
  std::string start = p50 < 30 ? "start now" : "start in about " + DurationInWords(p50);
  if (p90 - p50 >= 60) start += " (p90 " + DurationInWords(p90) + ")";
  return fmt::format("{} in {}, {}", KindsInWords(selection), partition, start);
}

std::string SelectionText(const api::Selection& selection, const ChosenOptions& options,
                          const SbatchOptions& given) {
  std::string text;
  for (const auto& [name, value] : options) text += name + "=" + value + "\n";
  if (IsSafe(selection.advice_id)) text += "advice_id=" + selection.advice_id + "\n";
  text += "why=" + WhyLine(selection, given) + "\n";
  if (!selection.limit_words.empty()) text += "limit=" + selection.limit_words + "\n";
  return text;
}

// So that the daemon looks at the queue soon, and the next who asks sees the job.
int ReportSubmitted(const SelectCommand& command, Api& api, Console& console) {
  if (!IsSafe(command.advice)) {
    return Report({ErrorCode::kBadInput, "--submitted needs --advice, the answer's advice_id", ""},
                  console);
  }
  const auto reported = api.Post("/v1/advice/" + command.advice + "/submitted",
                                 {{"job_id", std::stoll(command.submitted)}, {"rank", 1}});
  return reported ? kExitOk : Report(reported.error(), console);
}

int Run(SelectCommand& command, const CommandContext& context) {
  Console& console = context.console;
  const auto patience = static_cast<int64_t>(command.timeout_seconds * 1000);
  const auto own_api = context.api_within(std::chrono::milliseconds(patience));
  Api& api = *own_api;
  command.groups = context.group_names();
  if (command.groups.empty()) {
    console.Complain(
        "the names of your groups are not known here: partitions with AllowGroups are left out");
  }
  if (!command.submitted.empty()) return ReportSubmitted(command, api, console);
  const Result<ParsedArguments> parsed = ParseSbatchArguments(command.arguments);
  if (!parsed) return Report(parsed.error(), console);
  const Result<json> question = ReadQuestion(command, parsed->options, console.now());
  if (!question) return Report(question.error(), console);
  const Result<json> answer = api.Post("/v1/select", *question);
  if (!answer) return Report(answer.error(), console);
  const auto selection = ReadAnswer<api::Selection>(*answer);
  if (const Result<void> young = CheckAge(selection.frame, command.max_age_seconds); !young) {
    return Report(young.error(), console);
  }
  const Result<ChosenOptions> options = OptionsToAdd(selection.job, parsed->options);
  if (!options) return Report(options.error(), console);
  PrintAnswer<api::Selection>(answer, console, [&](const auto&, const auto&) {
    return options->empty() ? "" : SelectionText(selection, *options, parsed->options);
  });
  if (!options->empty()) return kExitOk;
  return ReportInWords(
      {ErrorCode::kInfeasible,
       selection.reason.empty() ? "gpuadvised made no choice" : selection.reason, ""},
      console);
}

void AddOptions(SelectCommand& command, Options& options) {
  options.Value("--gpu-memory SIZE", command.gpu_memory, "Minimum memory of a GPU, such as 40G");
  options.Value("--avoid NAMES", command.avoid, "Partitions never to use, such as debug,test")
      ->delimiter(',');
  options.Number("--timeout SECONDS", command.timeout_seconds, 0.01, 3600,
                 "Give up after this many seconds (default 1)");
  options.Number("--max-age SECONDS", command.max_age_seconds, 0, kMostSeconds,
                 "Exit with 5 if the data is older (default 300)");
  options.Value("--advice ID", command.advice, "With --submitted: the answer's advice_id");
  options.Value("--submitted JOBID", command.submitted,
                "Only report that it was submitted as this job", CheckJobId);
  options.JsonAndPlace();
  options.Footer("\nPrints the options to add so that the job starts first.\n");
}

Result<void> Take(SelectCommand& command, const std::vector<std::string>& words) {
  command.arguments = words;
  return {};
}

}  // namespace

Command MakeSelectCommand() {
  return MakeCommand<SelectCommand>("select", "Choose partition and GPU type for a plain sbatch",
                                    AddOptions, Run, Take, ForeignWords::kSbatchOptions);
}

}  // namespace gpuadvise::client
