#include "client/preflight/command_effects.h"

#include <algorithm>
#include <array>

namespace gpuadvise {
namespace {

template <size_t N>
bool IsOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr auto kShellsOwn = std::to_array<std::string_view>(
    {"!",        ".",       ":",        "[",         "[[",      "]]",      "alias",   "bg",
     "bind",     "break",   "builtin",  "caller",    "case",    "cd",      "command", "compgen",
     "complete", "compopt", "continue", "coproc",    "declare", "dirs",    "disown",  "do",
     "done",     "echo",    "elif",     "else",      "enable",  "esac",    "eval",    "exec",
     "exit",     "export",  "false",    "fc",        "fg",      "fi",      "for",     "getopts",
     "hash",     "help",    "history",  "if",        "in",      "jobs",    "kill",    "let",
     "local",    "logout",  "mapfile",  "ml",        "module",  "popd",    "printf",  "pushd",
     "pwd",      "read",    "readonly", "readarray", "return",  "select",  "set",     "shift",
     "shopt",    "source",  "suspend",  "test",      "then",    "time",    "times",   "trap",
     "true",     "type",    "typeset",  "ulimit",    "umask",   "unalias", "unset",   "until",
     "wait",     "while",   "function", "{",         "}"});
constexpr auto kBringers =
    std::to_array<std::string_view>({"source", ".", "eval", "module", "ml", "alias", "conda",
                                     "mamba", "micromamba", "spack", "pip", "pip3", "uv"});
// Of the shell's own words those that run a file or are used with `>`.
constexpr auto kMakers =
    std::to_array<std::string_view>({"source", ".", "eval", "echo", "printf", "exec"});
constexpr auto kElsewhere = std::to_array<std::string_view>(
    {"apptainer", "singularity", "docker", "podman", "podman-hpc", "enroot", "shifter", "ssh"});

std::string_view ProgramOf(const SimpleCommand& command) {
  const std::string_view word = command.front().text;
  return word.substr(word.rfind('/') + 1);  // all of it where there is none
}

}  // namespace

bool IsShellsOwn(std::string_view word) { return IsOneOf(word, kShellsOwn); }

bool MayBringPrograms(const SimpleCommand& command) {
  if (!command.front().certain && !IsShellsOwn(command.front().text)) return true;
  if (IsOneOf(ProgramOf(command), kBringers)) return true;
  return IsShellsOwn(command.front().text) &&
         std::any_of(command.begin(), command.end(), [](const ShellWord& word) {
           return word.text.starts_with("PATH=") || word.text.starts_with("PATH+=");
         });
}

bool MayMakeFiles(const SimpleCommand& command) {
  const std::string& word = command.front().text;
  return !IsShellsOwn(word) || IsOneOf(word, kMakers);
}

bool RunsElsewhere(const SimpleCommand& command) {
  if (IsOneOf(ProgramOf(command), kElsewhere)) return true;
  return std::any_of(command.begin(), command.end(), [](const ShellWord& word) {
    return word.text.starts_with("--container-image");  // srun's, of pyxis
  });
}

}  // namespace gpuadvise
