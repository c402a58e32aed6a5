// Quotes text for the shell and #SBATCH lines, and expands text as the job's shell will.
//
// In paths of a training file, a job script expands only $NAME, ${NAME} and a leading ~/. The
// preflight does the same here, with the variables that the job will have. Runs nothing. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace gpuadvise::client {

// Environment variables of the job that are known before it runs.
using Variables = std::map<std::string, std::string, std::less<>>;

struct ShellText {
  std::string text;          // expanded
  std::string only_in_job;   // first variable that only the job has; `text` ends there
  std::string not_set;       // first variable without a value here; read as ""
  bool has_command = false;  // has `$(` or a backquote, which the job does not run
};

ShellText ExpandText(std::string_view text, const Variables& variables);

// The variable at the front of `text`, which follows a '$': its name "HOME" and the length of the
// reference ("{HOME}": 6). Empty if there is none.
struct VariableReference {
  std::string name;
  size_t length = 0;
};
VariableReference ReferenceAt(std::string_view text);

// Where the brace closes that `text` has opened before `from`: quotes and inner references do not
// close it. `quoted`: it stands in double quotes, where a single quote is only a character. npos:
// nowhere.
size_t ClosingBrace(std::string_view text, size_t from, bool quoted);

// Whether a variable's name may continue with it: a letter, a digit, _.
bool IsNamePart(char c);

// Whether it consists of letters, digits and _, and does not start with a digit.
bool IsVariableName(std::string_view text);

// Whether Slurm sets it in the job, overriding any value here.
bool IsSetByTheJob(std::string_view variable);

// `path` resolved against `folder` if relative, without "./"; "" stays "".
std::string PathBeside(const std::string& folder, const std::string& path);

// A word that the shell reads back as exactly `text`; unquoted if possible.
std::string ShellQuoted(std::string_view text);

// In double quotes, so that the shell expands $NAME, ${NAME} and a leading ~/ and nothing else: no
// path or value of a variable can run a command.
std::string ShellExpanding(std::string_view text);

// One word of a #SBATCH line, which has its own quoting rules. Control characters become '_'.
std::string DirectiveQuoted(std::string_view text);

// `text` with all but letters, digits and -._ replaced by '_', for job and file names.
std::string SafeName(std::string_view text);

}  // namespace gpuadvise::client
