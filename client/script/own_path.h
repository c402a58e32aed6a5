// The folder of a script as the script itself finds it: $(dirname "$0"). A job's script is Slurm's
// copy of it, which lies elsewhere.
#pragma once

#include <string>
#include <string_view>

namespace gpuadvise::client {

// `text` with `path`, the script's own, in place of $0 and BASH_SOURCE where dirname, realpath or
// readlink are given it. Unchanged where `path` has characters that a shell would not take as they
// are.
std::string WithOwnPath(const std::string& text, const std::string& path);

// Whether `text` uses the script's own path, in any form: "${0%/*}", "$BASH_SOURCE".
bool UsesOwnPath(std::string_view text);

}  // namespace gpuadvise::client
