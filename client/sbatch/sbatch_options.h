// Parses sbatch's options on a command line, in #SBATCH lines, and after `--`.
//
// Knows sbatch's complete option table, so that `-t10`, `-t 10`, `--time=10`, `--time 10` and an
// unambiguous `--ti 10` are equal, and options irrelevant to a forecast are skipped with their
// values. Values stay text here; client/questions/job_question.h reads them. Pure functions, any
// thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

// Options by sbatch's long name without dashes ("gpus-per-node"); a flag's value is "".
class SbatchOptions {
 public:
  bool Has(const std::string& name) const { return values_.contains(name); }
  // The value; nullopt: not given.
  std::optional<std::string> Get(const std::string& name) const;
  void Set(const std::string& name, std::string value) { values_[name] = std::move(value); }
  void Erase(const std::string& name) { values_.erase(name); }
  // Adds the options of `stronger`, replacing ours.
  void OverrideWith(const SbatchOptions& stronger);
  // `--name=value` or `--name`, in alphabetical order; parses back to equal options.
  std::vector<std::string> ToArguments() const;
  const std::map<std::string, std::string>& values() const { return values_; }
  bool empty() const { return values_.empty(); }

  friend bool operator==(const SbatchOptions&, const SbatchOptions&) = default;

 private:
  std::map<std::string, std::string> values_;
};

struct ParsedArguments {
  SbatchOptions options;
  std::vector<std::string> unknown;        // options that sbatch does not have, as written
  std::vector<std::string> rest;           // the script and its arguments
  std::vector<std::string> replaced = {};  // "--mail-type=END": a later line gives another value
};

// Parses `arguments` as sbatch does its command line: options up to the first other word, then the
// script. Errors: an option without its value, an ambiguous abbreviation.
Result<ParsedArguments> ParseSbatchArguments(const std::vector<std::string>& arguments);

// `arguments` of a command line of sbatch without --array and its value, all others as written.
std::vector<std::string> WithoutArray(const std::vector<std::string>& arguments);

// The options of the #SBATCH lines of a job script: those before the first command, with sbatch's
// quoting and comments. Errors name the line ("job.sh:3: …").
Result<ParsedArguments> ParseScriptOptions(std::string_view script, const std::string& file);

// An option of sbatch 20.11 to 25.05.
enum class Takes { kNothing, kValue, kOptionalValue };

struct SbatchOption {
  std::string_view name;  // without dashes
  char letter = 0;        // 0: none
  Takes takes = Takes::kValue;
};

// Whether --`name` requires a value, which may be "": `--account=`, not `--account` alone.
bool NeedsValue(std::string_view name);

// All options, sorted by name.
std::span<const SbatchOption> SbatchOptionTable();

}  // namespace gpuadvise::client
