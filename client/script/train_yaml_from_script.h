// A job script as a train.yaml: what the script says in its #SBATCH lines, its setup and the flags
// of its training becomes keys, and the figures that an advice changes become placeholders.
//
// Nothing is guessed without a word: the report says what was taken, what was kept as it is, what
// was left out, and what a person has to fill in. A script that cannot be read rightly is refused
// with the line and the remedy. Pure but for the files that the script names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/script/script_report.h"
#include "client/script/training_config.h"
#include "client/script/training_section.h"
#include "common/base/error.h"

namespace gpuadvise::client {

struct ScriptSource {
  std::string_view text;
  std::string file;    // as sentences name it
  ReadNamedFile read;  // config files, a model's config.json
  // The preset for a model's name as scripts write it ("meta-llama/Llama-3.1-8B"); "" none.
  std::function<std::string(const std::string& model)> preset_of;
  ScriptHints hints;
};

struct ConvertedScript {
  std::string yaml;
  ScriptReport report;
};

// Errors: kBadInput, starting with the file and, where there is one, the line: no text, no training
// in it, a training in a loop, a function or a condition, quotes or blocks without an end.
Result<ConvertedScript> TrainYamlFromScript(const ScriptSource& source);

}  // namespace gpuadvise::client
