// The JSON Schema of a train.yaml (draft 2020-12), made from the table of its keys, for editors
// that complete and check YAML: `# yaml-language-server: $schema=FILE` as the file's first line.
#pragma once

#include <nlohmann/json.hpp>

namespace gpuadvise {

// What the schema allows is what the reader reads, but for rules that join several keys. Names of
// other programs that the reader ignores or names as not counted are allowed where it takes them.
nlohmann::json TrainSchema();

}  // namespace gpuadvise
