// The variables of a job script, as far as their values are known without running it.
//
// `BATCH=8`, `BATCH=${BATCH:-8}`, `TOTAL=$((BATCH * GPUS))` and arrays have values. Command output,
// script arguments ($1) without a default and environment variables have none. Slurm's variables
// (SLURM_NNODES, …) follow from the #SBATCH lines. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/sbatch/sbatch_options.h"

namespace gpuadvise::client {

class ScriptVariables {
 public:
  // Starts with the variables that Slurm sets for a job with `options`.
  explicit ScriptVariables(const SbatchOptions& options);

  // `word`: NAME=VALUE or NAME+=VALUE as written. `certain`: false if it may not run, as in a
  // condition; the variable's value is then unknown.
  void Assign(std::string_view word, bool certain);

  // Assigns a text that is not a word: a here-document.
  void AssignText(const std::string& name, const std::string& text);

  void Unset(const std::string& name) { assigned_.erase(name); }

  // Gives $1, $2, …, $@ and $#, as `set --` does; nullopt: they are not known.
  void SetArguments(const std::optional<std::vector<std::string>>& words);
  void ShiftArguments();  // `shift`

  // The names assigned so far.
  std::vector<std::string> Names() const;

  // The value of a word as written: quotes removed, variables expanded. nullopt: unknown.
  std::optional<std::string> ValueOf(std::string_view raw) const;

  // The words, as written, of a variable that holds several, if `raw` is only that variable ($ARGS,
  // ${ARGS}, "${ARGS[@]}"); nullopt for any other word.
  std::optional<std::vector<std::string>> WordsOf(std::string_view raw) const;

  // The text assigned to a variable, not expanded, as run by `bash -c "$TEXT"`; nullopt for any
  // other word.
  std::optional<std::string> TextOf(std::string_view raw) const;

  // Whether a condition may extend a variable beyond its known value.
  bool MayHoldMore(const std::string& name) const { return open_.contains(name); }

  // The name of the variable if a word is only that ("${BATCH}", $BATCH); else "".
  static std::string OnlyVariable(std::string_view raw);

  // Whether the script assigns the variable.
  bool IsAssigned(const std::string& name) const { return assigned_.contains(name); }

 private:
  struct Assigned {
    std::vector<std::string> words;  // of an array or of a text with blanks; as written
    std::string text;                // between its quotes
    std::optional<std::string> value;
    bool is_array = false;
    bool is_known = true;  // false: a condition decides
  };

  std::optional<std::string> Expand(std::string_view text, bool quoted) const;
  std::optional<std::string> Reference(std::string_view& rest, bool quoted) const;
  std::optional<std::string> Braced(std::string_view inside) const;
  std::optional<std::string> Named(const std::string& name) const;

  std::map<std::string, Assigned> assigned_;
  std::optional<std::vector<std::string>> arguments_;  // as written, or quoted values
  size_t held_ = 0;                                    // bytes of all values
  std::set<std::string> open_;
  std::map<std::string, std::string> slurm_;
};

// The value of shell integer arithmetic ("8 * 4 / N"), with names from `variables`; nullopt if
// invalid, unknown or a division by 0.
std::optional<int64_t> Arithmetic(std::string_view text, const ScriptVariables& variables);

}  // namespace gpuadvise::client
