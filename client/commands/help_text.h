// What --help prints: what a command does, its usage, its options by group, subcommands and footer,
// in columns. CLI11's own differs from release to release (headings, spaces, where it breaks the
// footer); this is the same with each, so that help and documents agree wherever gpuadvise is
// built.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace gpuadvise::client {

// For CLI::App::formatter(), before subcommands are added: they take it over.
std::shared_ptr<CLI::FormatterBase> HelpFormatter();

}  // namespace gpuadvise::client
