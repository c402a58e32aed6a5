#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/questions/job_question.h"
#include "client/shell/shell_text.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/terminal/text_table.h"
#include "client/views/cluster_tables.h"
#include "common/api/select.h"
#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/gres.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Row = api::SelectAlternative;

constexpr const char* kNowFooter =
    "\n"
    "gpuadvise now [OPTIONS] [SBATCH OPTIONS]\n"
    "Shows when a session would start on each kind of GPU, and the salloc line of the first. "
    "Those\n"
    "that start within a minute come first, the fastest GPU before others. Without -G: one GPU.\n"
    "Without -t: one hour. All GPUs are of one node, unless -N says otherwise. sbatch's options\n"
    "count as in `gpuadvise when`. --run exits with 3 where nothing starts within a minute. To\n"
    "reach a notebook in the session, ask your site how it forwards ports.\n"
    "\n"
    "Example: gpuadvise now -G 2 -t 2:00:00 --gpu-memory 40G --run\n";

constexpr int64_t kNowSeconds = 60;
constexpr const char* kUsualTime = "01:00:00";
constexpr int64_t kShortestSeconds = 1800;  // that is worth asking about

struct NowCommand {
  std::vector<std::string> arguments;  // sbatch's options
  std::string gpu_memory;              // the least of a GPU; "" any
  bool largest = false;                // first, not the fastest
  bool run = false;                    // salloc at once
};

// The option that says how many GPUs.
struct GpuOption {
  std::string name;
  std::string prefix;  // "gpu:" of --gres
  std::string type;
  int64_t count = 1;
};

// Errors: none, several kinds.
Result<GpuOption> FindGpus(const SbatchOptions& options) {
  for (const char* name : {"gpus", "gpus-per-node", "gres"}) {
    const auto value = options.Get(name);
    if (!value) continue;
    const bool is_gres = name == std::string_view("gres");
    GpuCounts gpus;
    if (is_gres) {
      if (const Result<Gres> gres = ParseGres(*value)) gpus = gres->gpus;
    } else if (const Result<GpuCounts> counts = ParseGpusOption(*value)) {
      gpus = *counts;
    }
    if (gpus.size() != 1) {
      return BadInput(fmt::format("--{}={}: write a number of GPUs of one kind", name, *value));
    }
    return GpuOption{name, is_gres ? "gpu:" : "", gpus.front().type, gpus.front().count};
  }
  return BadInput("write the number of GPUs as -G, --gpus-per-node or --gres");
}

// With `count` GPUs of `type` ("" any).
SbatchOptions WithGpus(SbatchOptions options, const GpuOption& gpus, const std::string& type,
                       int64_t count) {
  options.Set(gpus.name, gpus.prefix + (type.empty() ? "" : type + ":") + std::to_string(count));
  return options;
}

// Options of sbatch that salloc lacks, and those that a session cannot have.
constexpr std::string_view kNotOfSessions =
    "array batch clusters cluster-constraint error export export-file gpus-per-socket "
    "gpus-per-task hold ignore-pbs input open-mode output parsable propagate requeue no-requeue "
    "test-only tres-per-task wait wrap";

// What is wrong with `options` for a session; "" nothing.
std::string WhyNoSession(const SbatchOptions& options) {
  for (const std::string_view name : SplitAt(kNotOfSessions, ' ')) {
    if (!options.Has(std::string(name))) continue;
    return fmt::format(
        "--{}: a session cannot have this option; leave it out, or ask gpuadvise when", name);
  }
  int ways = 0;
  for (const char* name : {"gpus", "gpus-per-node", "gres"}) ways += options.Has(name) ? 1 : 0;
  return ways > 1 ? "write the GPUs once: -G, --gpus-per-node or --gres" : "";
}

// sbatch's options, with what is not given filled in.
Result<SbatchOptions> ReadSession(const NowCommand& command) {
  Result<ParsedArguments> parsed = ParseSbatchArguments(command.arguments);
  if (!parsed) return tl::unexpected<Error>(std::move(parsed.error()));
  if (!parsed->rest.empty()) {
    return BadInput("a session has no job script: for " + parsed->rest.front() +
                    " ask gpuadvise when");
  }
  if (!parsed->unknown.empty()) {
    return BadInput(parsed->unknown.front() + " is no option of sbatch");
  }
  SbatchOptions options = std::move(parsed->options);
  if (std::string why = WhyNoSession(options); !why.empty()) return BadInput(why);
  if (!options.Has("gpus") && !options.Has("gpus-per-node") && !options.Has("gres")) {
    options.Set("gpus", "1");
  }
  const Result<GpuOption> gpus = FindGpus(options);
  if (!gpus) return tl::unexpected<Error>(gpus.error());
  if (!gpus->type.empty() && options.Has("partition")) {
    return BadInput("GPU type and partition are both given: ask gpuadvise when");
  }
  if (!options.Has("nodes")) options.Set("nodes", "1");
  if (!options.Has("time")) options.Set("time", kUsualTime);
  return options;
}

Result<json> Question(const NowCommand& command, const SbatchOptions& options,
                      const CommandContext& context) {
  Result<json> job = JobQuestion(options, context.console.now());
  if (!job) return job;
  json question = {{"job", *job}, {"groups", context.group_names()}};
  if (const Result<void> added = AddLeastGpuMemory(command.gpu_memory, question); !added) {
    return tl::unexpected<Error>(added.error());
  }
  return question;
}

bool StartsNow(const Row& row) { return row.start.wait.p90_seconds < kNowSeconds; }

// What starts now comes first, and what may be preempted after the rest of it. In the order of the
// daemon, by which the fastest comes first, or by memory.
std::vector<Row> Ranked(std::vector<Row> rows, bool largest) {
  std::ranges::stable_sort(rows, {}, [&](const Row& row) {
    const bool now = StartsNow(row);
    return std::tuple(!now, now && row.may_be_preempted,
                      now && largest ? -row.gpu_memory_bytes : int64_t{0});
  });
  return rows;
}

// What salloc is given for `row`.
std::vector<std::string> SallocArguments(const SbatchOptions& asked, const Row& row) {
  SbatchOptions options = asked;
  if (const Result<GpuOption> gpus = FindGpus(asked); gpus && !row.gres_type.empty()) {
    options = WithGpus(asked, *gpus, row.gres_type, gpus->count);
  }
  if (!row.partition.empty()) options.Set("partition", row.partition);
  if (!row.constraint.empty()) options.Set("constraint", row.constraint);
  return options.ToArguments();
}

std::string SallocLine(const SbatchOptions& asked, const Row& row) {
  std::string line = "salloc";
  for (const std::string& argument : SallocArguments(asked, row)) {
    line += " " + ShellQuoted(argument);
  }
  return line;
}

std::string SessionWords(const SbatchOptions& options) {
  const Result<GpuOption> gpus = FindGpus(options);
  const int64_t count = gpus ? gpus->count : 1;
  std::string words = Plural(count, "GPU");
  const std::string nodes = options.Get("nodes").value_or("1");
  if (nodes != "1") words += (options.Has("gpus") ? " on " : " on each of ") + nodes + " nodes";
  const Result<SlurmNumber> limit = ParseTimeLimit(options.Get("time").value_or(""));
  if (!limit || !limit->has_value()) return words;
  return words + " for " + DurationInWords(static_cast<double>(limit->value()));
}

// "now", "in 10 m (1 h 07)", "perhaps now (1 h 07)".
std::string StartWords(const Row& row) {
  const auto p50 = static_cast<double>(row.start.wait.p50_seconds);
  const auto p90 = static_cast<double>(row.start.wait.p90_seconds);
  if (StartsNow(row)) return "now";
  if (p50 < kNowSeconds) return fmt::format("perhaps now ({})", DurationInWords(p90));
  return "in " + DurationRange(p50, p90);
}

std::string StartCell(const Row& row) {
  return StartWords(row) + (row.may_be_preempted ? ", may be preempted" : "");
}

std::string RowsTable(const std::vector<Row>& rows, const TerminalStyle& style) {
  const std::vector<ColumnOf<Row>> columns = {
      TextMember("GPU", &Row::gpu_name),
      MemberColumn("MEMORY", Align::kRight, &Row::gpu_memory_bytes, MemoryCell),
      {"START", Align::kLeft, StartCell},
      TextMember("PARTITION", &Row::partition),
  };
  return FittingTable(FilledColumns(rows, columns), 3, style);
}

// The first row of a smaller question that starts now.
std::optional<Row> StartsNowWith(const NowCommand& command, const SbatchOptions& options,
                                 const CommandContext& context) {
  const Result<json> question = Question(command, options, context);
  if (!question) return {};
  const Result<json> answer = context.api.Post("/v1/select", *question);
  if (!answer) return {};
  const auto selection = ReadAnswer<api::Selection>(*answer);
  const std::vector<Row> rows = Ranked(selection.alternatives, command.largest);
  if (rows.empty() || !StartsNow(rows.front())) return {};
  return rows.front();
}

// What fewer GPUs or a shorter session could have now, a line each; "" where nothing helps.
std::string SmallerText(const NowCommand& command, const SbatchOptions& session,
                        const CommandContext& context) {
  std::string text;
  const auto add = [&](const std::string& option, const SbatchOptions& options) {
    const std::optional<Row> row = StartsNowWith(command, options, context);
    if (!row) return false;
    text +=
        fmt::format("  with {} now, {}: {}\n", option, row->gpu_name, SallocLine(options, *row));
    return true;
  };
  if (const Result<GpuOption> gpus = FindGpus(session); gpus) {
    for (int64_t count = gpus->count / 2; count >= 1; count /= 2) {
      const SbatchOptions fewer = WithGpus(session, *gpus, gpus->type, count);
      if (add(Plural(count, "GPU"), fewer)) break;
    }
  }
  const Result<SlurmNumber> limit = ParseTimeLimit(session.Get("time").value_or(""));
  const int64_t longest = limit && limit->has_value() ? limit->value() : 0;
  for (int64_t seconds = longest / 2; seconds >= kShortestSeconds; seconds /= 2) {
    SbatchOptions shorter = session;
    shorter.Set("time", FormatDuration(seconds));
    if (add("-t " + FormatDuration(seconds), shorter)) break;
  }
  return text;
}

int Run(NowCommand& command, const CommandContext& context) {
  Console& console = context.console;
  const Result<SbatchOptions> session = ReadSession(command);
  if (!session) return Report(session.error(), console);
  const Result<json> question = Question(command, *session, context);
  if (!question) return Report(question.error(), console);
  for (const std::string& option : UnseenByJobQuestion(*session)) {
    console.Complain("gpuadvise: no effect on the forecast: " + Printable(option));
  }
  const Result<json> answer = context.api.Post("/v1/select", *question);
  if (!answer) return Report(answer.error(), console);
  if (console.style().json) PrintJson(*answer, console);
  const auto selection = ReadAnswer<api::Selection>(*answer);
  const std::vector<Row> rows = Ranked(selection.alternatives, command.largest);
  if (rows.empty()) {
    return ReportInWords({ErrorCode::kInfeasible, selection.reason, ""}, console);
  }
  const Row& best = rows.front();
  const std::string line = SallocLine(*session, best);
  if (command.run && StartsNow(best)) {
    console.Complain("gpuadvise: " + line);
    const Result<void> ran = context.runner.Allocate(SallocArguments(*session, best));
    return ran ? kExitOk : Report(ran.error(), console);
  }
  if (console.style().json) return command.run ? kExitInfeasible : kExitOk;
  std::string text = Clipped(SessionWords(*session) + " · " + ClusterAndAge(selection.frame),
                             console.style().width);
  text += "\n\n" + RowsTable(rows, console.style()) + "\n";
  if (StartsNow(best)) {
    text += "  " + line + (best.may_be_preempted ? "  # may be preempted" : "") + "\n";
  } else {
    text += fmt::format("Nothing surely starts within a minute. The soonest, {}: {}\n",
                        StartWords(best), line);
    text += SmallerText(command, *session, context);
  }
  console.Print(text + DoubtText(selection.frame, console.style()));
  return command.run ? kExitInfeasible : kExitOk;
}

void AddOptions(NowCommand& command, Options& options) {
  options.Value("--gpu-memory SIZE", command.gpu_memory, "Minimum memory of a GPU, such as 40G");
  options.Flag("--largest", command.largest,
               "Of those that start now, the GPU with the most memory first");
  options.Flag("--run", command.run, "Start salloc with the first row, if it starts now");
  options.JsonAndPlace();
  options.Footer(kNowFooter);
}

Result<void> Take(NowCommand& command, const std::vector<std::string>& words) {
  command.arguments = words;
  return {};
}

}  // namespace

Command MakeNowCommand() {
  return MakeCommand<NowCommand>("now", "A GPU for a session, right now", AddOptions, Run, Take,
                                 ForeignWords::kSbatchOptions);
}

}  // namespace gpuadvise::client
