// How a script's training spreads its model over GPUs: FSDP, ZeRO, and GPUs that share a layer.
#pragma once

#include <cstdint>

#include "client/script/placeholders.h"
#include "client/script/section_writer.h"

namespace gpuadvise::client {

// GPUs that hold one copy of the model together, by tensor, pipeline and context parallelism.
int64_t GpusOfCopy(const TrainingFlags& flags);

// `read`: files that the command names.
void WriteSharding(const ScriptTraining& training, const ReadNamedFile& read, SectionWriter& out);
void WriteParallelism(const ScriptTraining& training, SectionWriter& out);

}  // namespace gpuadvise::client
