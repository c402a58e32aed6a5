// Checks of the values of options: what the command line refuses before a command is run.
//
// Each returns "" for a good word, else what is wrong with it, as CLI11 wants it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gpuadvise::client {

inline constexpr double kMostSeconds = 1e9;  // 30 years

// finish, start, cost or deadline.
std::string CheckObjective(const std::string& word);

// A number from `least` to `most`; "nan" and "inf" are none.
CLI::Validator NumberFrom(double least, double most);

// A price of a GPU-hour, in any currency.
std::string CheckPrice(const std::string& word);

// A job's number.
std::string CheckJobId(const std::string& word);

// A job's number, also of an array's task: 4711, 4711_3.
std::string CheckJobOrTask(const std::string& word);

}  // namespace gpuadvise::client
