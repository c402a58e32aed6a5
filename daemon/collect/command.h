// Runs one program and takes what it prints: with a deadline, a bound and an end.
//
// Blocks the calling thread until the program has ended or was killed; nothing it does can make
// the call last longer than the deadline. The program gets no input, stays in this process's group
// and dies with the calling thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/error.h"

namespace gpuadvise {

struct Command {
  std::vector<std::string> words;        // program (looked up in PATH) and arguments
  std::vector<std::string> environment;  // "NAME=value", added to this process's own
  std::chrono::milliseconds deadline{30'000};
  size_t max_output_bytes = 512u << 20;
};

/// What the program printed on its standard output, when it ended with status 0.
///
/// Errors: kUnavailable, naming the program and why: it is not there, ended with another status
/// (with the first line it wrote to its standard error), took too long, or printed too much.
Result<std::string> RunCommand(const Command& command);

}  // namespace gpuadvise
