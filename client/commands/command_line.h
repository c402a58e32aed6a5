// The command line of `gpuadvise`, read into the commands of client/commands/commands.h.
//
// Pure: arguments in, a command or a text to leave with out.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "client/commands/commands.h"

namespace CLI {
class App;
}

namespace gpuadvise::client {

enum class Verb {
  kAdvise,
  kSubmit,
  kWhen,
  kSelect,
  kFit,
  kScale,
  kModels,
  kCards,
  kReference,
  kRun,
  kProbe,
  kGpus,
  kQueue,
  kWhy,
  kAccuracy,
  kJobs,
  kLimits,
  kWatch,
  kLogs,
  kTop,
  kEff,
  kDoctor,
  kInit,
  kMcp,
  kHelp
};

struct CommandLine {
  Verb verb = Verb::kAdvise;
  std::string socket;    // --socket, "" when not given
  std::string clusters;  // -M, "" when not given
  bool json = false;     // --json, of any command
  AdviseCommand advise;
  SubmitCommand submit;
  WhenCommand when;
  SelectCommand select;
  FitCommand fit;
  ScaleCommand scale;
  ListCommand list;  // of models, cards and reference
  RunCommand run;
  ProbeCommand probe;
  QueueCommand queue;
  JobsCommand jobs;
  LimitsCommand limits;
  WatchCommand watch;
  LogsCommand logs;
  EffCommand eff;
  DoctorCommand doctor;
  std::string job_id;  // of why
  InitCommand init;
  std::string topic;  // of help
};

// Help, the version, or what is wrong: the process prints `text` and ends.
struct EarlyExit {
  int exit_code = 0;
  std::string text;  // what to print when exit_code is 0, else the sentence that says what is wrong
};

// Whether --json is among `arguments` before `--`. For a command line that cannot be read, whose
// error is then told as JSON too; of one that can, CommandLine::json says it.
bool WantsJson(const std::vector<std::string>& arguments);

// `arguments` without the program's name.
tl::expected<CommandLine, EarlyExit> ParseCommandLine(std::vector<std::string> arguments);

// Our own words of a command that takes sbatch's options as they are.
struct OwnWords {
  std::vector<std::string> flags;   // "--json"
  std::vector<std::string> values;  // "--socket": "--socket PATH" or "--socket=PATH"
};

// Calls `look` with the parser, for who lists its commands (command_table.h).
void WithParser(const std::function<void(const CLI::App&)>& look);

// Takes everything but the command and `own` out of `arguments`: sbatch's options and a script.
std::vector<std::string> TakeSbatchWords(const OwnWords& own, std::vector<std::string>* arguments);

// Takes `--` and what follows it out of `arguments`; without `--` nothing.
std::vector<std::string> TakeAfterDashes(std::vector<std::string>* arguments);

}  // namespace gpuadvise::client
