// Text as one word of the shell or of a #SBATCH line: nothing in it is read as syntax.
#pragma once

#include <string>
#include <string_view>

namespace gpuadvise {

/// A word that the shell reads back as exactly `text`; as is when it needs no quotes.
std::string ShellQuoted(std::string_view text);

/// In double quotes with $NAME, ${NAME} and a leading ~/ still expanded by the shell, and nothing
/// else: no command runs because of what stands in a path or a variable's value.
std::string ShellExpanding(std::string_view text);

/// One word of a #SBATCH line, which has its own quoting and ends at a newline; control characters
/// become '_'.
std::string DirectiveQuoted(std::string_view text);

/// Letters, digits and -._ of `text`, anything else as '_': for job and file names.
std::string SafeName(std::string_view text);

}  // namespace gpuadvise
