// A shell script that another one calls: its text takes the call's place, so that the job runs what
// was read and figures in it can follow the advice. Pure.
#pragma once

#include <string>
#include <vector>

namespace gpuadvise::client {

// A command that runs another shell script: "srun bash in.sh 4", "source in.sh".
struct ScriptCall {
  std::string path;
  std::string text;                    // of the script
  std::string word;                    // the path as written
  std::string shell;                   // the word before it, "bash" or "source"; "": runs by itself
  std::vector<std::string> arguments;  // as written
  bool is_sourced = false;
};

// The script's text `statement` with the called script's own text in the place of the call, which
// is in the command that begins at `from`; "": the call is not found in it. The shell keeps its
// environment, its name ($0) and its arguments.
std::string WithCalledText(const std::string& statement, size_t from, const ScriptCall& call);

// The text that WithCalledText() put into a word, "$(cat <<'END' … )"; "": another word.
std::string HeldText(const std::string& raw);

// Such a text in a statement.
struct HeldCall {
  std::string before;          // of the statement
  std::string text;            // "": none is held
  bool has_arguments = false;  // the call gives it $1, $2, …
};
HeldCall HeldCallIn(const std::string& statement);

}  // namespace gpuadvise::client
