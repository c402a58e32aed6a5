#include "client/commands/help_topics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "client/api/exit_code.h"
#include "client/commands/command_line.h"
#include "client/commands/command_table.h"
#include "client/commands/options.h"
#include "client/commands/report.h"
#include "client/terminal/display.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

const HelpTopic kTopics[] = {
    {"ranking", "How strategies are ranked",
     "gpuadvise advise lists the ways to run a training on this cluster: a GPU type, a number of "
     "GPUs, a partition, a batch. For each it forecasts the queue wait and the run time.\n\n"
     "The default objective, finish, ranks half way between the median and the 90th percentile of "
     "wait + run time, so that a row that may wait very long is not first for its median alone. "
     "The other objectives are start (shortest wait), cost (cheapest, or fewest GPU-hours) and "
     "deadline (most likely to be done by "
     "--deadline).\n\n"
     "Of rows that end alike (within 3 % or a minute) the one that delays jobs of others clearly "
     "less goes first; --others shows what each row costs them.\n\n"
     "Options that you give, such as -p or --gres, are kept. The effective batch size stays what "
     "the file says; the micro-batch and the accumulation are chosen for each GPU.\n\n"
     "  gpuadvise advise train.yaml --objective deadline --deadline fri"},
    {"memory", "How GPU memory is estimated",
     "Memory is computed from the model's shape, the batch, the precision and the optimizer. A "
     "memory: line in the training file, measured by gpuadvise probe, replaces the estimate.\n\n"
     "A part of a GPU's memory is kept free, because an estimate can be too low: as much as should "
     "make 95 % of such batches fit. "
     "gpuadvise fit shows the largest micro-batch with this margin, with twice the margin and "
     "without any, and which settings would save memory.\n\n"
     "  gpuadvise fit train.yaml --gpu l40s\n"
     "  gpuadvise probe train.yaml"},
    {"oom", "What to do when a job ran out of memory",
     "gpuadvise submit puts gpuadvise run around the command, which sees when a GPU's memory runs "
     "out and reports it. gpuadvise jobs JOBID shows with which micro-batch. The next gpuadvise "
     "advise and fit of this training know of it and stay below that micro-batch.\n\n"
     "With training.retry_on_oom: true the job halves its micro-batch and doubles the accumulation "
     "by itself, so that the effective batch stays the same.\n\n"
     "Where not even one sample fits, gpuadvise fit shows which settings save how much. A peak "
     "that was measured, under training.measured, corrects the estimate.\n\n"
     "  gpuadvise jobs JOBID\n"
     "  gpuadvise fit train.yaml --gpu l40s"},
    {"accuracy", "How accurate the forecasts are",
     "Each job is forecast when it is submitted, and the forecast is checked when the job starts. "
     "gpuadvise accuracy shows the result for this cluster: the median error, and how often the "
     "real wait was inside the forecast range. Where Slurm published a start time, its error is "
     "shown for comparison.\n\n"
     "A range such as \"8 m (1 h 50)\" is the median and the 90th percentile: half of such jobs "
     "start within the first, nine in ten within the second. Until 30 forecast jobs have started, "
     "the accuracy is not known."},
    {"limits", "What a shorter time limit gains and risks",
     "A job with a shorter time limit can start earlier: it fits into gaps that backfill leaves, "
     "ends before a maintenance, and may use partitions with short limits. If the limit is too "
     "short, Slurm ends the job.\n\n"
     "gpuadvise never changes your limit. It recommends a shorter one only where the risk is known "
     "from past runs of the same kind.\n\n"
     "Before submission, for a pending job, and what ended jobs used of their limits:\n\n"
     "  gpuadvise when -p gpu --gres gpu:l40s:6 -t 24:00:00 --limits\n"
     "  gpuadvise why JOBID\n"
     "  gpuadvise jobs"},
    {"privacy", "What gpuadvise stores and who can see it",
     "The daemon knows who you are from the Unix socket. It shows other users' jobs as squeue "
     "does: with Slurm's PrivateData=jobs their names are hidden. The web page has no login and "
     "shows no user names.\n\n"
     "When you ask for advice, these parts of a training file stay on your side: command, setup, "
     "env, workdir, container, slurm.extra and output.dir. The daemon keeps the job's times, its "
     "forecast, and the outcome that the job reports, in a file that only its own user can "
     "read.\n\n"
     "gpuadvise submits jobs with your own sbatch, under your account. The daemon never submits, "
     "cancels or changes a job."},
    {"assistants", "AI assistants: the Model Context Protocol",
     "gpuadvise-mcp lets an AI assistant ask gpuadvise: when a job starts, where a training "
     "finishes first, what fits, why a job waits. The assistant's program starts it and speaks "
     "the Model Context Protocol on its standard input and output. It runs as you and sees what "
     "you see.\n\n"
     "A job is submitted only after you have seen its script and agreed, in the assistant's own "
     "window. Where that program cannot ask you, nothing is submitted and you get the command.\n\n"
     "Names of other users' jobs are marked as untrusted text, so that a name is not read as an "
     "instruction.\n\n"
     "  {\"mcpServers\": {\"gpuadvise\": {\"command\": \"gpuadvise-mcp\"}}}"},
    {"files", "The files that gpuadvise reads",
     "  train.yaml                       describes a training; start with gpuadvise init\n"
     "  ~/.config/gpuadvise/client.yaml  settings of this user: socket, daemon, ...\n"
     "  ~/.config/gpuadvise/job.sbatch   template of the job script\n"
     "  /etc/gpuadvise/                  the same files for all users\n\n"
     "GPUADVISE_SOCKET, --socket and --daemon name another daemon. gpuadvise reference lists the "
     "keys of a training file."},
    {"exit-codes", "What the exit status means",
     "  0  ok\n"
     "  1  error: sbatch failed, or a check of doctor failed\n"
     "  2  wrong option or file\n"
     "  3  nothing on this cluster can run the job\n"
     "  4  gpuadvised does not answer, or has no data yet\n"
     "  5  the data is older than --max-age\n\n"
     "gpuadvise run exits with the status of its command."},
};

// Paragraphs in the width of the terminal; lines that begin with blanks as they are.
std::string InLines(const std::string& text, int width) {
  std::string shown;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string line(TakeLine(rest));
    shown += line.empty() ? "\n" : line.starts_with(' ') ? line + "\n" : Indented(line, 0, width);
  }
  return shown;
}

std::string ListOfTopics() {
  constexpr int kTopicColumns = 12;
  std::string text = "Topics:\n";
  for (const HelpTopic& topic : kTopics) {
    text += fmt::format("  {:<{}}{}\n", topic.name, kTopicColumns, topic.title);
  }
  return text +
         "\ngpuadvise help TOPIC shows a topic, gpuadvise help COMMAND the options of a "
         "command.\nCommands: gpuadvise --help\n";
}

struct HelpCommand {
  std::string topic;
};

// The text of a topic, the options of a command, or for "" the list of topics. kExitUsage where
// there is neither, with the nearest name.
int Run(HelpCommand& help, const CommandContext& context) {
  const std::string& topic = help.topic;
  Console& console = context.console;
  if (topic.empty()) {
    console.Print(ListOfTopics());
    return kExitOk;
  }
  std::vector<std::string> names;
  for (const HelpTopic& each : kTopics) {
    if (topic == each.name) {
      console.Print(std::string(each.title) + "\n\n" + InLines(each.text, console.style().width));
      return kExitOk;
    }
    names.emplace_back(each.name);
  }
  for (const CommandRow& row : CommandTable()) {
    if (!row.name.empty()) names.push_back(row.name);
  }
  if (IsOneOf(topic, names)) {
    const auto line = ParseCommandLine({topic, "--help"});
    if (!line) console.Print(line.error().text);
    return kExitOk;
  }
  return Report({ErrorCode::kNotFound,
                 fmt::format("there is no topic or command {}{}; gpuadvise help lists the topics",
                             Quoted(topic), DidYouMean(topic, names)),
                 ""},
                console);
}

void AddOptions(HelpCommand& command, Options& options) {
  options.Value("TOPIC", command.topic, "A topic or a command; without it the list of topics");
}

}  // namespace

std::span<const HelpTopic> HelpTopics() { return kTopics; }

Command MakeHelpCommand() {
  Command help = MakeCommand<HelpCommand>("help", "Explain a topic or a command", AddOptions, Run);
  help.needs_settings = false;
  return help;
}

}  // namespace gpuadvise::client
