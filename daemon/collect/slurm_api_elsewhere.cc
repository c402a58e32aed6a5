// Replaces slurm_api.cc in gpuadvise-collect: executes the separate program that has it.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "daemon/collect/slurm_api.h"
#include "daemon/collect/slurm_api_program.h"

namespace gpuadvise::collect {
namespace {

// Our own command line, each word with its NUL.
std::string OwnCommandLine() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

SourceResult MakeSlurmApiSource(const SlurmApiOptions&) {
  std::error_code ignored;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", ignored)
                                  .replace_filename("gpuadvise-collect-api");
  if (auto usable = CheckApiProgram(program); !usable) return tl::unexpected(usable.error());
  std::string line = OwnCommandLine();
  std::vector<char*> words;
  for (size_t begin = 0; begin < line.size(); begin = line.find('\0', begin) + 1)
    words.push_back(&line[begin]);
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  return Fail(ErrorCode::kUnavailable,
              fmt::format("cannot run {}: {}", program, std::strerror(errno)));
}

}  // namespace gpuadvise::collect
