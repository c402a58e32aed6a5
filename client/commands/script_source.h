// A training as `advise` and `submit` are given it: FILE, which may be a job script, or with --from
// a job script that stands for one.
#pragma once

#include <string>

#include "client/commands/options.h"
#include "client/questions/advice_question.h"
#include "client/questions/training_question.h"
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

// Whether a script must say its batch: `fit` can do without.
enum class ScriptBatch { kOptional, kRequired };

// A job script as a training file, whose errors name the script. What it does not say clearly is
// printed. Errors: no line of it starts a training; a required batch is missing.
Result<TrainFile> TrainingFromScript(const std::string& script, const ScriptHints& hints,
                                     const std::string& section, ScriptBatch batch,
                                     Console& console);

// The training file of a question: the file it names, or a job script as one. Errors: sentences
// that name the file and its line.
Result<TrainFile> LoadTraining(const AdviceQuestion& question, const FromScript& from,
                               Console& console);

// As TrainingQuestion::Load, also for a job script.
Result<TrainingQuestion> LoadQuestion(TrainingSource source, RunLength run_length, Api& api,
                                      Console& console);

}  // namespace gpuadvise::client
