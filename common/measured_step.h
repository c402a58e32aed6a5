// The two members that train.yaml and models.yaml share: a memory line and measured steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json_fields.h"
#include "common/model_presets.h"

namespace gpuadvise {

/// `key: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}`; overhead may be left out.
std::optional<MemoryLine> ReadMemoryLine(FieldReader& reader, const std::string& key);

/// `key: [{gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}, …]`.
std::vector<MeasuredStep> ReadMeasuredSteps(FieldReader& reader, const std::string& key);

}  // namespace gpuadvise
