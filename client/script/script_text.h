// What a script's lines do and use, as far as their text tells. Pure.
#pragma once

#include <string>
#include <string_view>

#include "client/shell/shell_script.h"

namespace gpuadvise::client {

// Whether a command only prints, waits or sets an option of the shell, and can be left out.
bool IsIdle(const ScriptCommand& command);

// The same of a statement before a training, where an `exit` under a condition decides and what is
// written may be read.
bool OnlyPrints(const ScriptStatement& statement);

// Whether `text` uses the variable, in any form.
bool UsesName(std::string_view text, std::string_view variable);

// The first script argument that a text uses ("$1", "$@", "${2}", "$#"); "": none.
std::string ScriptArgumentIn(std::string_view text);

}  // namespace gpuadvise::client
