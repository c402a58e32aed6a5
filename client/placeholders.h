// {micro_batch}, {gpus_per_node}, …: words in a command that the chosen strategy fills in.
//
// Only our own words are replaced; every other brace is the shell's or Python's and stays. One
// pass: what a value contains is never read again.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace gpuadvise {

/// Word without braces -> value.
using Placeholders = std::map<std::string, std::string, std::less<>>;

std::string Filled(std::string_view text, const Placeholders& values);

}  // namespace gpuadvise
