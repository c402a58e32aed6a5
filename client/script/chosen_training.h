// Which of a script's commands is its training, and whether it can be read as it stands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/sbatch/sbatch_options.h"
#include "client/script/launch_command.h"
#include "client/script/script_variables.h"
#include "client/shell/shell_script.h"
#include "common/base/error.h"

namespace gpuadvise::client {

struct FoundTraining {
  LaunchCommand launch;
  std::string open;         // why its command is not all that the script runs; "": it is
  bool is_unknown = false;  // a program that nothing here knows
};

// A script whose training is found, with the text of called scripts in the place of their calls.
struct ReadScript {
  std::string text;
  std::vector<ScriptStatement> statements;
  std::vector<LaunchCommand> found;
  ScriptVariables variables;
  FoundTraining chosen;
  std::vector<std::string> called;  // sentences
};

// Reads a job script's text, as WithOwnPath() gives it. Errors: kBadInput with the file and line:
// an unterminated text, no training, a mark to fill in before it, or a call whose place is not
// clear.
Result<ReadScript> FindTraining(const std::string& text, const SbatchOptions& options,
                                const std::string& file, const ReadNamedFile& read);

// The first line that submits another job with sbatch; 0: none.
int SubmissionIn(const std::vector<ScriptStatement>& statements);

// A mark for readers to fill in, "<your_path>", as in documentation; "": none.
std::string FillInMark(std::string_view text);

}  // namespace gpuadvise::client
