// Reads a small text file named by the user; errors contain the name.
//
// Reads at most the limit, so that devices and huge files are harmless, and does not wait for
// writers of a FIFO. Waits without limit for a terminal. Blocking.
#pragma once

#include <chrono>
#include <string>

#include "common/base/error.h"
#include "common/yaml/yaml_document.h"

namespace gpuadvise {

// Time limit for a pipe passed by the shell (`<(command)`, standard input).
inline constexpr std::chrono::seconds kPipePatience{60};

// The bytes of `path`, which may be a pipe passed by the shell (/dev/stdin, /dev/fd/63,
// /proc/PID/fd/63) or a terminal. Errors: kNotFound; kBadInput for a directory, a FIFO, an
// unreadable file, more than `max_bytes`, or a pipe that does not end within `patience`.
Result<std::string> ReadTextFile(const std::string& path, size_t max_bytes = kMaxYamlBytes,
                                 std::chrono::milliseconds patience = kPipePatience);

// Standard input, called `name` in errors; otherwise as ReadTextFile().
Result<std::string> ReadStandardInput(const std::string& name);

// ReadTextFile, then ParseYaml.
Result<YamlDocument> LoadYamlFile(const std::string& path, YamlRules rules = YamlRules::kStrict);

}  // namespace gpuadvise
