// Which of a script's commands is its training, and whether it can be read as it stands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/script/launch_command.h"
#include "client/shell/shell_script.h"
#include "common/base/error.h"

namespace gpuadvise::client {

struct FoundTraining {
  LaunchCommand launch;
  std::string open;         // why its command is not all that the script runs; "": it is
  bool is_unknown = false;  // a program that nothing here knows
};

// The one of `found` that is most like a training, else the last command that may start one in a
// way that is not known. Errors: there is neither, or another script may have it.
Result<FoundTraining> TheTraining(const std::vector<LaunchCommand>& found,
                                  const std::vector<ScriptStatement>& statements,
                                  const std::string& file, const ReadNamedFile& read);

// A mark for readers to fill in, "<your_path>", as in documentation; "": none.
std::string FillInMark(std::string_view text);

// Refuses a mark in what runs up to the training; texts in quotes, here-documents and functions are
// for readers.
Result<void> CheckFilledIn(const std::vector<ScriptStatement>& statements, size_t last,
                           const std::string& file);

}  // namespace gpuadvise::client
