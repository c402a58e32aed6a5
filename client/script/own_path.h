// A script's own path, which it finds its folder by: $(dirname "$0"). A job's script is Slurm's
// copy of it, which lies elsewhere, and a text in bash -c has none.
#pragma once

#include <string>
#include <string_view>

namespace gpuadvise::client {

// `text` with `path`, the script's own, in place of $0 and BASH_SOURCE wherever the shell expands
// them: not in single quotes, where they are awk's. Unchanged where `path` has characters that a
// shell would not take as they are.
std::string WithOwnPath(const std::string& text, const std::string& path);

// Whether `text` uses the script's own path, in any form: "${0%/*}", "$BASH_SOURCE".
bool UsesOwnPath(std::string_view text);

}  // namespace gpuadvise::client
