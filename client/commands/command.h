// The commands of `gpuadvise`. Each is one file X_command.cc, with its name, its help, its options
// and what it does, and one row at the end of this file.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/api/daemon_client.h"
#include "client/commands/user_settings.h"
#include "client/preflight/preflight.h"
#include "client/records/slurm_query.h"
#include "client/sbatch/job_runner.h"
#include "client/shell/shell_text.h"
#include "client/terminal/console.h"
#include "common/base/error.h"

namespace CLI {
class App;
}

namespace gpuadvise::client {

class Options;

// Options that are read before the command runs; a command adds those that it has (options.h).
struct CommonOptions {
  DaemonFlags place;     // --socket, --daemon
  std::string clusters;  // -M; "" not given
  bool json = false;     // --json, which a command sees as console.style().json
};

// What a command is run with. main.cc makes it of this process, tests of prepared answers.
struct CommandContext {
  Console& console;
  Api& api;  // the daemon, or with -M those of several clusters
  SlurmQuery& slurm;
  JobRunner& runner;  // the site's sbatch
  Site& site;         // this machine
  SettingsPlaces places;
  ClientSettings settings;
  Variables environment;
  // The daemon again, with so long for an answer.
  std::function<std::unique_ptr<Api>(std::chrono::milliseconds patience)> api_within;
  std::function<std::string()> user_name;                 // the caller's; "" not known. May block.
  std::function<std::vector<std::string>()> group_names;  // the caller's. May block.
  std::function<void(double seconds)> sleep;
  // Then what `watch --exec` runs is killed.
  std::chrono::milliseconds exec_limit = std::chrono::seconds(30);
};

// What a submission is made with: the site's sbatch, this machine, and the job template's text.
struct JobSubmission {
  JobRunner& runner;
  Site& site;
  std::string job_template;
};

// Errors: a job template that cannot be read.
inline Result<JobSubmission> FindSubmission(const CommandContext& context) {
  Result<std::string> job_template = FindJobTemplate(context.places);
  if (!job_template) return tl::unexpected<Error>(std::move(job_template.error()));
  return JobSubmission{context.runner, context.site, std::move(*job_template)};
}

// Words of the command line that are not ours to read.
enum class ForeignWords {
  kNone,
  kAfterDashes,    // what follows `--`
  kSbatchOptions,  // everything but the command's own options
  kAll,            // everything
};

struct Command {
  std::string name;
  std::string help;                                       // one line; "": it is in no list
  std::function<void(Options& options)> add;              // adds its options
  std::function<int(const CommandContext& context)> run;  // returns the exit code
  ForeignWords foreign = ForeignWords::kNone;
  // Gets the foreign words once the options are read. Errors: what is wrong with either.
  std::function<Result<void>(const std::vector<std::string>& words)> take = {};
  bool needs_settings = true;  // else a client.yaml that cannot be read is no matter
};

// A command whose options are read into a `Values`, which the functions get.
template <class Values>
Command MakeCommand(std::string name, std::string help, void (*add)(Values&, Options&),
                    int (*run)(Values&, const CommandContext&),
                    Result<void> (*take)(Values&, const std::vector<std::string>&) = nullptr,
                    ForeignWords foreign = ForeignWords::kNone) {
  const auto values = std::make_shared<Values>();
  Command command;
  command.name = std::move(name);
  command.help = std::move(help);
  command.add = [=](Options& options) { add(*values, options); };
  command.run = [=](const CommandContext& context) { return run(*values, context); };
  if (take != nullptr) {
    command.take = [=](const std::vector<std::string>& words) { return take(*values, words); };
  }
  command.foreign = foreign;
  return command;
}

// Each is defined in the file of its name.
Command MakeAccuracyCommand();
Command MakeAdviseCommand();
Command MakeCardsCommand();
Command MakeCompleteCommand();
Command MakeDoctorCommand();
Command MakeEffCommand();
Command MakeFitCommand();
Command MakeGpusCommand();
Command MakeHelpCommand();
Command MakeInitCommand();
Command MakeJobsCommand();
Command MakeLogsCommand();
Command MakeModelsCommand();
Command MakeNodesCommand();
Command MakeNowCommand();
Command MakeProbeCommand();
Command MakeQueueCommand();
Command MakeReferenceCommand();
Command MakeRunCommand();
Command MakeScaleCommand();
Command MakeSelectCommand();
Command MakeSubmitCommand();
Command MakeSweepCommand();
Command MakeTopCommand();
Command MakeWatchCommand();
Command MakeWhenCommand();
Command MakeWhyCommand();

// In the order of --help.
inline constexpr Command (*kAllCommands[])() = {
    MakeAdviseCommand, MakeSubmitCommand,   MakeSweepCommand,     MakeWhenCommand,
    MakeNowCommand,    MakeSelectCommand,   MakeFitCommand,       MakeScaleCommand,
    MakeModelsCommand, MakeCardsCommand,    MakeReferenceCommand, MakeRunCommand,
    MakeProbeCommand,  MakeGpusCommand,     MakeNodesCommand,     MakeQueueCommand,
    MakeWhyCommand,    MakeAccuracyCommand, MakeJobsCommand,      MakeWatchCommand,
    MakeTopCommand,    MakeLogsCommand,     MakeEffCommand,       MakeDoctorCommand,
    MakeInitCommand,   MakeHelpCommand,     MakeCompleteCommand};

}  // namespace gpuadvise::client
