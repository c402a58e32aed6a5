// Reading a small text file that a person named, with errors that name it.
//
// Never reads more than the limit, so a device or a huge file costs nothing, and never waits for
// whoever may write into a FIFO. A person at a terminal may take as long as it takes. Blocking.
#pragma once

#include <chrono>
#include <string>

#include "common/base/error.h"
#include "yaml/yaml_document.h"

namespace gpuadvise {

// How long a pipe that the shell has handed over (`<(command)`, standard input) may take.
inline constexpr std::chrono::seconds kPipePatience{60};

// The bytes of `path`, which may be a pipe that the shell has handed over (/dev/stdin, /dev/fd/63,
// /proc/PID/fd/63) or a terminal. Errors: kNotFound when there is no such file, kBadInput when it
// is a directory or a FIFO, cannot be read, has more than `max_bytes`, or is a pipe that does not
// end within `patience`.
Result<std::string> ReadTextFile(const std::string& path, size_t max_bytes = kMaxYamlBytes,
                                 std::chrono::milliseconds patience = kPipePatience);

// The bytes that come by standard input, called `name` in errors; else the same.
Result<std::string> ReadStandardInput(const std::string& name);

// ReadTextFile, then ParseYaml.
Result<YamlDocument> LoadYamlFile(const std::string& path, EmptyYaml empty = EmptyYaml::kRefused);

}  // namespace gpuadvise
