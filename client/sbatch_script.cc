#include "client/sbatch_script.h"

#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/answer_reader.h"
#include "client/job_words.h"
#include "client/placeholders.h"
#include "client/shell_quote.h"
#include "common/json_fields.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

// Raw text of a member: what goes into a script keeps its newlines.
std::string RawText(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// One text or a list of texts.
std::vector<std::string> RawTexts(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_array()) return {RawText(object, key)};
  std::vector<std::string> texts;
  for (const json& item : *found) {
    texts.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  }
  return texts;
}

std::string WithoutTrailingNewlines(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

bool IsVariableName(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  for (char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return true;
}

std::string Export(const std::string& name, const std::string& quoted_value) {
  return "export " + name + "=" + quoted_value + "\n";
}

Result<std::string> UserExports(const json& spec, const Placeholders& words) {
  const auto env = spec.find("env");
  if (env == spec.end() || env->is_null()) return std::string();
  if (!env->is_object()) return BadInput("env must be a map of NAME: value", "/env");
  std::string exports;
  for (const auto& [name, value] : env->items()) {
    if (!IsVariableName(name)) {
      return BadInput("'" + name.substr(0, 60) + "' is no name of an environment variable",
                      PointerTo("/env", name));
    }
    exports += Export(name, ShellExpanding(Filled(RawText(*env, name.c_str()), words)));
  }
  return exports;
}

Result<std::string> Exports(const json& spec, const json& strategy, const std::string& advice_id,
                            const Placeholders& words) {
  std::string exports;
  for (const auto& [name, value] : StrategyEnvironment(strategy, advice_id)) {
    exports += Export(name, ShellQuoted(value));
  }
  const std::string directory = RawText(ObjectOf(spec, "output"), "dir");
  if (!directory.empty()) {
    exports += Export("GPUADVISE_OUTPUT_DIR", ShellExpanding(Filled(directory, words)));
  }
  const Result<std::string> user = UserExports(spec, words);
  if (!user) return user;
  exports += *user;
  return WithoutTrailingNewlines(exports);
}

std::string Setup(const json& spec, const Placeholders& words) {
  std::string setup;
  const std::string workdir = RawText(spec, "workdir");
  if (!workdir.empty()) setup += "cd " + ShellExpanding(Filled(workdir, words)) + "\n";
  if (!RawText(ObjectOf(spec, "output"), "dir").empty()) {
    setup += "mkdir -p \"$GPUADVISE_OUTPUT_DIR\"\n";
  }
  for (const std::string& line : RawTexts(spec, "setup")) setup += Filled(line, words) + "\n";
  return WithoutTrailingNewlines(setup);
}

// `apptainer exec` finds the same image format as singularity, and --nv brings the driver in.
std::string InContainer(const std::string& image, const std::string& command) {
  return "apptainer exec --nv " + ShellExpanding(image) + " bash -c " + ShellQuoted(command);
}

// torchrun reads PET_*, so a command without --nnodes still forms one job of all nodes.
std::string LaunchOnEachNode(const json& strategy, const std::string& command) {
  const std::string nodes = std::to_string(IntOf(strategy, "nodes", 1));
  const std::string per_node = "export PET_NODE_RANK=$SLURM_NODEID\n" + command;
  return "export MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
         "export MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))\n"
         "export PET_NNODES=" +
         nodes +
         " PET_MASTER_ADDR=$MASTER_ADDR PET_MASTER_PORT=$MASTER_PORT\n"
         "export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}\n"
         "srun --nodes=" +
         nodes + " --ntasks-per-node=1 --kill-on-bad-exit=1 bash -c " + ShellQuoted(per_node);
}

Result<std::string> Launch(const json& spec, const json& strategy, const Placeholders& words) {
  std::string command = WithoutTrailingNewlines(Filled(RawText(spec, "command"), words));
  if (command.empty()) {
    return BadInput(
        "there is no command: to run; add one, like `command: torchrun "
        "--nproc_per_node={gpus_per_node} train.py`");
  }
  const std::string image = RawText(spec, "container");
  if (!image.empty()) command = InContainer(image, command);
  return IntOf(strategy, "nodes", 1) > 1 ? LaunchOnEachNode(strategy, command) : command;
}

std::string Directives(const SbatchOptions& options) {
  std::string lines;
  for (const auto& [name, value] : options.values()) {
    lines += "#SBATCH --" + name + (value.empty() ? "" : "=" + DirectiveQuoted(value)) + "\n";
  }
  return WithoutTrailingNewlines(lines);
}

// Options that say the same thing in other words: when the user fixed one, ours are left out.
void LeaveOutContradictions(const SbatchOptions& fixed, SbatchOptions* options) {
  const std::vector<std::vector<std::string>> groups = {
      {"gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket", "tres-per-task"},
      {"mem", "mem-per-cpu", "mem-per-gpu"},
      {"cpus-per-task", "cpus-per-gpu"},
      {"ntasks-per-node", "ntasks", "ntasks-per-gpu"},
  };
  for (const std::vector<std::string>& group : groups) {
    bool user_said = false;
    for (const std::string& name : group) user_said = user_said || fixed.Has(name);
    if (!user_said) continue;
    for (const std::string& name : group) options->Erase(name);
  }
}

// slurm.extra: further options of the training file, as on a command line.
void AddExtra(const json& spec, SbatchOptions* options) {
  const json& slurm = ObjectOf(spec, "slurm");
  std::vector<std::string> words;
  for (const std::string& line : RawTexts(slurm, "extra")) {
    for (std::string& word : SplitDirective(line)) words.push_back(std::move(word));
  }
  const Result<ParsedArguments> extra = ParseSbatchArguments(words);
  if (extra) options->OverrideWith(extra->options);
  const std::string array = RawText(slurm, "array");
  if (!array.empty()) options->Set("array", array);
}

}  // namespace

SbatchOptions StrategyOptions(const json& spec, const json& strategy, const SbatchOptions& fixed) {
  SbatchOptions options;
  for (const auto& [key, value] : ObjectOf(strategy, "sbatch").items()) {
    std::string name = key;
    for (char& c : name) c = c == '_' ? '-' : c;
    if (value.is_string()) options.Set(name, value.get<std::string>());
    if (value.is_number()) options.Set(name, value.dump());
  }
  const std::string name = SafeName(TextOf(spec, "name"));
  options.Set("job-name", name);
  options.Set("output", name + "-%j.out");
  AddExtra(spec, &options);
  LeaveOutContradictions(fixed, &options);
  options.OverrideWith(fixed);
  return options;
}

Result<JobScript> MakeJobScript(std::string_view job_template, const json& spec,
                                const json& strategy, const std::string& advice_id,
                                const SbatchOptions& fixed) {
  JobScript script{StrategyOptions(spec, strategy, fixed), {}};
  const Placeholders words = StrategyWords(spec, strategy);
  const Result<std::string> exports = Exports(spec, strategy, advice_id, words);
  if (!exports) return tl::unexpected<Error>(exports.error());
  const Result<std::string> launch = Launch(spec, strategy, words);
  if (!launch) return tl::unexpected<Error>(launch.error());
  script.text = Filled(job_template, {{"sbatch", Directives(script.options)},
                                      {"exports", *exports},
                                      {"setup", Setup(spec, words)},
                                      {"launch", *launch}});
  return script;
}

}  // namespace gpuadvise
