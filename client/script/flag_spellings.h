// How public training programs spell their settings: one table for all, and where one program means
// something else. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "client/script/training_flags.h"

namespace gpuadvise::client {

// Of a name in lower case with '-' as '_'; nullopt: none of ours.
std::optional<Meaning> MeaningOfSpelling(std::string_view name);

// The same, where the program of `command` (its text in lower case) means something of its own:
// the outer optional says whether it does.
std::optional<std::optional<Meaning>> OwnMeaning(std::string_view command, std::string_view name);

}  // namespace gpuadvise::client
