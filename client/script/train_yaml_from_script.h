// Converts a job script to a train.yaml: #SBATCH lines, setup and training flags become keys, and
// the figures that an advice decides become placeholders.
//
// The report lists what was taken, kept and left out, and what the user must fill in. A script that
// cannot be read correctly is rejected with the line and the remedy. Pure except for reading files
// that the script names.
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
  std::string file;       // as named in messages
  std::string path = {};  // absolute, for what the script finds beside itself; "": not known
  ReadNamedFile read;     // config files, a model's config.json
  // Returns the preset for a model's name in a script ("meta-llama/Llama-3.1-8B"); "": none.
  std::function<std::string(const std::string& model)> preset_of;
  ScriptHints hints;
};

struct ConvertedScript {
  std::string yaml;
  ScriptReport report;
};

// Of a training in a loop, a function or a condition the command is a comment, and the report says
// what to write. Errors: kBadInput, starting with the file and, if there is one, the line: no text,
// no training, unterminated quotes or blocks.
Result<ConvertedScript> TrainYamlFromScript(const ScriptSource& source);

}  // namespace gpuadvise::client
