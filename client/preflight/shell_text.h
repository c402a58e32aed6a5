// What the job's shell will make of a path in a training file.
//
// The job script writes such paths so that $NAME, ${NAME} and a leading ~/ are expanded and nothing
// else is (client/shell_quote.h); the same is done here, with the variables that the job will have.
// Nothing is ever run. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace gpuadvise {

/// Environment variables of the job, as far as they are known before it runs.
using Variables = std::map<std::string, std::string, std::less<>>;

struct ShellText {
  std::string text;  // expanded
  std::string
      only_in_job;      // the first variable that Slurm sets when the job runs; `text` ends there
  std::string not_set;  // the first variable that has no value here; it counts as ""
  bool has_command = false;  // holds `$(` or a backquote, which the job does not run
};

ShellText ExpandText(std::string_view text, const Variables& variables);

/// A variable name at the front of `text`, which follows a '$': "HOME", and how many characters the
/// reference takes ("{HOME}": 6). Empty where there is none.
struct VariableReference {
  std::string name;
  size_t length = 0;
};
VariableReference ReferenceAt(std::string_view text);

/// Whether Slurm sets it in the job, whatever it is here.
bool IsSetByTheJob(std::string_view variable);

/// `path`, or what it means beside `folder` where it is relative, without "./"; "" stays "".
std::string PathBeside(const std::string& folder, const std::string& path);

}  // namespace gpuadvise
