// The command line of `gpuadvise`, read into the commands of client/commands.h.
//
// It and client/jobs_command_line.cc know CLI11. Pure: arguments in, a command or a text to leave
// with out.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "client/commands.h"

namespace gpuadvise {

enum class Verb {
  kAdvise,
  kSubmit,
  kWhen,
  kSelect,
  kFit,
  kScale,
  kRun,
  kGpus,
  kQueue,
  kWhy,
  kAccuracy,
  kJobs,
  kWatch,
  kDoctor,
  kInit
};

struct CommandLine {
  Verb verb = Verb::kAdvise;
  std::string socket;  // --socket, "" when not given
  bool json = false;   // of gpus, why and accuracy
  AdviseCommand advise;
  SubmitCommand submit;
  WhenCommand when;
  SelectCommand select;
  FitCommand fit;
  ScaleCommand scale;
  RunCommand run;
  QueueCommand queue;
  JobsCommand jobs;
  WatchCommand watch;
  DoctorCommand doctor;
  std::string job_id;  // of why
  InitCommand init;
};

/// Help, the version, or what is wrong: the process prints `text` and ends.
struct Leave {
  int exit_code = 0;
  std::string text;  // to standard output when exit_code is 0, else to standard error
};

/// `arguments` without the program's name.
tl::expected<CommandLine, Leave> ParseCommandLine(std::vector<std::string> arguments);

}  // namespace gpuadvise
