// A training as `advise` and `submit` are given it: FILE, or with --from a job script that stands
// for one.
#pragma once

#include <string>

#include "client/commands/options.h"
#include "client/questions/advice_question.h"
#include "client/script/train_yaml_from_script.h"
#include "client/terminal/console.h"
#include "common/base/error.h"
#include "common/yaml/train_file.h"

namespace gpuadvise::client {

// A job script that stands for the training file (--from), and what is said beside it.
struct FromScript {
  std::string script;  // "" none
  ScriptHints hints;
};

// --from, with `help`, and the options for what a script does not say.
void AddFromScript(Options& options, FromScript& from, const char* help);

// Errors: neither a file nor a script, or both.
Result<void> CheckSource(const AdviceQuestion& question, const FromScript& from);

// The training file of a question: the file it names, or `from`'s script as one; of a script the
// points that are not clear are said. Errors: sentences that name the file and its line.
Result<TrainFile> LoadTraining(const AdviceQuestion& question, const FromScript& from,
                               Console& console);

}  // namespace gpuadvise::client
