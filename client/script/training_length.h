// How long a script's training runs, and with which batch.
#pragma once

#include "client/script/placeholders.h"
#include "client/script/section_writer.h"

namespace gpuadvise::client {

// Writes the length and the effective batch of the script's GPUs into the section `training`.
void WriteLengthAndBatch(const ScriptHints& hints, const ScriptTraining& training,
                         SectionWriter& out);

}  // namespace gpuadvise::client
