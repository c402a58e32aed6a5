#include "client/script/script_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "client/models/built_in.h"
#include "client/shell/shell_text.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "common/base/text.h"
#include "common/plan/assumptions.h"
#include "common/yaml/yaml_document.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::client {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Reads what a script names: in this folder, where a job that is submitted here runs, else beside
// the script.
class NamedFiles {
 public:
  explicit NamedFiles(const std::string& script) : folder_(FolderOf(script)) {}

  std::optional<std::string> Read(const std::string& named) {
    std::string path = named;
    for (const char* here : {"${SLURM_SUBMIT_DIR}", "$SLURM_SUBMIT_DIR", "${PWD}", "$PWD"}) {
      path = ReplaceAll(path, here, ".");
    }
    Variables variables;
    for (const char* name : {"HOME", "USER"}) {
      if (const char* value = std::getenv(name); value != nullptr) variables[name] = value;
    }
    const ShellText expanded = ExpandText(path, variables);
    if (!expanded.only_in_job.empty() || !expanded.not_set.empty() || expanded.has_command)
      return {};
    const std::string& known = expanded.text;
    const Result<std::string> here = ReadTextFile(known);
    const std::string beside_path = PathBeside(folder_, known);
    if (folder_ == "." || folder_ == "./" || beside_path == known) {
      return here ? std::optional(*here) : std::nullopt;
    }
    const Result<std::string> beside = ReadTextFile(beside_path);
    if (here && beside && *here != *beside) {
      Say(fmt::format("{} and {} differ: the first is read, as the job runs where you submit it",
                      known, beside_path));
    } else if (!here && beside) {
      Say(fmt::format("{} is read; the job looks for {} where you submit it", beside_path, known));
    }
    if (here) return *here;
    return beside ? std::optional(*beside) : std::nullopt;
  }

  const std::vector<std::string>& doubts() const { return doubts_; }

 private:
  void Say(std::string sentence) {
    if (!IsOneOf(sentence, doubts_)) doubts_.push_back(std::move(sentence));
  }

  std::string folder_;
  std::vector<std::string> doubts_;
};

void AddLines(const char* heading, const std::vector<std::string>& sentences, int width,
              std::string& text) {
  constexpr size_t kIndent = 12;
  for (size_t i = 0; i < sentences.size(); ++i) {
    std::string lead = i == 0 ? heading : "";
    lead.resize(kIndent, ' ');
    for (const std::string& line :
         Wrapped(Printable(sentences[i]), std::max(20, width - static_cast<int>(kIndent)))) {
      text += lead + line + "\n";
      lead.assign(kIndent, ' ');
    }
  }
}

// Adds the keys that decide memory or run time and that the script does not give.
void AskForUnsettled(const ModelPresets& presets, ConvertedScript& converted) {
  const Result<YamlDocument> document = ParseYaml(converted.yaml, "train.yaml");
  if (!document) return;
  const auto spec = ParseTrainSpec(document->root, "", RunLength::kOptional);
  if (!spec) return;
  for (const std::string& key : FindAssumptions(*spec, presets).unsettled) {
    converted.report.missing.push_back(
        fmt::format("{}: no flag gives it, and it decides memory and run time", key));
  }
}

// "#!/bin/bash -l", "#!/usr/bin/env zsh".
bool IsShebangOfShell(std::string_view line) {
  if (!line.starts_with("#!")) return false;
  const std::vector<std::string_view> words = SplitAt(line.substr(2), ' ');
  return std::any_of(words.begin(), words.end(),
                     [](std::string_view word) { return Trim(word).ends_with("sh"); });
}

}  // namespace

bool IsJobScript(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;  // a pipe is read once only
  const Result<std::string> text = ReadTextFile(path);
  if (!text) return false;
  std::string_view rest = *text;
  const std::string_view first = TakeLine(rest);
  if (IsShebangOfShell(first)) return true;
  while (!rest.empty()) {
    if (TakeLine(rest).starts_with("#SBATCH")) return true;
  }
  return false;
}

Result<ConvertedScript> ConvertScriptFile(const std::string& path, const ScriptHints& hints) {
  const Result<std::string> text = ReadTextFile(path);
  if (!text) return tl::unexpected<Error>(text.error());
  const Result<ModelPresets> presets = KnownPresets("");
  if (!presets) return tl::unexpected<Error>(presets.error());
  ScriptSource source;
  source.text = *text;
  source.file = path;
  std::error_code unknown;
  source.path = std::filesystem::absolute(path, unknown).lexically_normal();
  source.hints = hints;
  NamedFiles files(path);
  source.read = [&](const std::string& named) { return files.Read(named); };
  source.preset_of = [&](const std::string& model) {
    const ModelPreset* preset = presets->Require(model, "").value_or(nullptr);
    // A folder usually has the name of its model.
    const bool folder =
        !model.empty() && std::string_view("./~$").find(model[0]) != std::string::npos;
    if (preset == nullptr && folder) preset = presets->FindForm(model.substr(model.rfind('/') + 1));
    return preset == nullptr ? std::string() : preset->name;
  };
  Result<ConvertedScript> converted = TrainYamlFromScript(source);
  if (!converted) return converted;
  for (const std::string& doubt : files.doubts()) converted->report.unclear.push_back(doubt);
  AskForUnsettled(*presets, *converted);
  return converted;
}

std::string ReportText(const ScriptReport& report, int width) {
  std::string text;
  AddLines("Read:", report.taken, width, text);
  AddLines("Changed:", report.changed, width, text);
  AddLines("Kept:", report.kept, width, text);
  AddLines("Left out:", report.left, width, text);
  AddLines("Check:", report.unclear, width, text);
  AddLines("Fill in:", report.missing, width, text);
  return text;
}

}  // namespace gpuadvise::client
