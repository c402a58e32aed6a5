// Converts a job script's file to a train.yaml with the client's model presets, and formats the
// report.
#pragma once

#include <string>

#include "client/script/train_yaml_from_script.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// Whether the file is a script of a shell or for sbatch, by its first line and its #SBATCH lines.
// False if it cannot be read.
bool IsJobScript(const std::string& path);

// Reads the file, and config files that it names relative to its folder. Error messages name the
// file.
Result<ConvertedScript> ConvertScriptFile(const std::string& path, const ScriptHints& hints);

// One line per item under the headings taken, changed, kept, left out, unclear and missing. Ends
// with a newline; "" if the report is empty.
std::string ReportText(const ScriptReport& report, int width);

}  // namespace gpuadvise::client
