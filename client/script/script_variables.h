// The variables of a job script, as far as their values can be told without running it.
//
// `BATCH=8`, `BATCH=${BATCH:-8}`, `TOTAL=$((BATCH * GPUS))` and arrays have values; what a command
// prints, an argument of the script ($1) without a default, and a variable of the environment have
// none. Slurm's own (SLURM_NNODES, …) are what the #SBATCH lines ask for. Not thread-safe.
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
  // Those that Slurm sets for a job with `options`.
  explicit ScriptVariables(const SbatchOptions& options);

  // `word`: NAME=VALUE or NAME+=VALUE as written. `certain`: false where it may not run, as in a
  // condition: the variable then has no value that can be told.
  void Assign(std::string_view word, bool certain);

  // `NAME=…` of a text that is no word: a here-document's.
  void AssignText(const std::string& name, const std::string& text);

  // What the shell makes of a word as written: quotes removed, variables expanded. nullopt where
  // that cannot be told.
  std::optional<std::string> ValueOf(std::string_view raw) const;

  // A word that is one variable and nothing else ($ARGS, ${ARGS}, "${ARGS[@]}") and stands for
  // several words: those, as written. nullopt for any other word.
  std::optional<std::vector<std::string>> WordsOf(std::string_view raw) const;

  // The text that a variable was assigned, with what is in it not expanded: what `bash -c "$TEXT"`
  // runs; nullopt for any other word.
  std::optional<std::string> TextOf(std::string_view raw) const;

  // Whether a condition may add to a variable more than is known of it.
  bool MayHoldMore(const std::string& name) const { return open_.contains(name); }

  // The name of the variable that a word is, and nothing else ("${BATCH}", $BATCH); "" none.
  static std::string OnlyVariable(std::string_view raw);

  // Whether the script assigns it.
  bool IsAssigned(const std::string& name) const { return assigned_.contains(name); }

 private:
  struct Assigned {
    std::vector<std::string> words;  // of an array, or of a text with blanks; as written
    std::string text;                // between its quotes
    std::optional<std::string> value;
    bool is_array = false;
  };

  std::optional<std::string> Expand(std::string_view text, bool quoted) const;
  std::optional<std::string> Reference(std::string_view& rest) const;
  std::optional<std::string> Braced(std::string_view inside) const;
  std::optional<std::string> Named(const std::string& name) const;

  std::map<std::string, Assigned> assigned_;
  size_t held_ = 0;  // bytes of all values so far
  std::set<std::string> open_;
  std::map<std::string, std::string> slurm_;
};

// The value of the shell's integer arithmetic ("8 * 4 / N"), with `variables` for its names;
// nullopt where it is none, or divides by 0.
std::optional<int64_t> Arithmetic(std::string_view text, const ScriptVariables& variables);

}  // namespace gpuadvise::client
