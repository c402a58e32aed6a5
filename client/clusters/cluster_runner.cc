#include "client/clusters/cluster_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

constexpr std::string_view kClusters = "--clusters=";

bool IsPlain(const std::string& argument) {
  return std::all_of(argument.begin(), argument.end(), [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-_=.,:/@%+").find(c) != std::string_view::npos;
  });
}

Result<std::string> ProgramOf(const std::string& word) {
  if (word.starts_with('/')) return word;
  std::string found = FindInPath(word, std::getenv("PATH"));
  if (!found.empty()) return found;
  return Fail(ErrorCode::kInternal, fmt::format("submit_command: {} is not in PATH", word));
}

}  // namespace

Result<std::vector<std::string>> ClusterRunner::Command(std::vector<std::string> arguments) const {
  const auto named = std::find_if(arguments.begin(), arguments.end(), [](const std::string& one) {
    return one.starts_with(kClusters);
  });
  if (named == arguments.end()) return std::vector<std::string>();
  const std::string name = named->substr(kClusters.size());
  const auto cluster = std::find_if(clusters_.begin(), clusters_.end(),
                                    [&](const Cluster& one) { return one.name == name; });
  if (cluster == clusters_.end() || cluster->submit_command.empty()) {
    return std::vector<std::string>();
  }
  arguments.erase(named);
  for (const std::string& argument : arguments) {
    if (IsPlain(argument)) continue;
    return BadInput(fmt::format(
        "{} cannot be passed on by submit_command ({}): a shell there may read it again; write it "
        "into slurm: extra of the training file",
        Quoted(Shortened(argument, kMaxQuotedBytes)), Join(cluster->submit_command, " ")));
  }
  std::vector<std::string> words = cluster->submit_command;
  Result<std::string> program = ProgramOf(words.front());
  if (!program) return tl::unexpected<Error>(std::move(program.error()));
  words.front() = std::move(*program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Result<std::string> ClusterRunner::Submit(const std::vector<std::string>& arguments,
                                          const std::string& script) {
  const Result<std::vector<std::string>> words = Command(arguments);
  if (!words) return tl::unexpected<Error>(words.error());
  if (words->empty()) return sbatch_.Submit(arguments, script);
  return RunProgram(words->front(), {words->begin() + 1, words->end()}, script,
                    ChildErrors::kInherited);
}

Result<SbatchVerdict> ClusterRunner::Test(const std::vector<std::string>& arguments,
                                          const std::string& script) {
  std::vector<std::string> tried = arguments;
  tried.insert(tried.begin(), "--test-only");
  const Result<std::vector<std::string>> words = Command(tried);
  if (!words) return tl::unexpected<Error>(words.error());
  if (words->empty()) return sbatch_.Test(arguments, script);
  return RunTest(*words, script);
}

}  // namespace gpuadvise::client
