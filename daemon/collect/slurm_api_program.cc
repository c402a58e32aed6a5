#include "daemon/collect/slurm_api_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/process/run_program.h"

namespace gpuadvise::collect {
namespace {

constexpr size_t kMaxMessageBytes = 200;
constexpr std::chrono::milliseconds kLoadDeadline{20'000};  // allows for a slow network file system

// The part of `text` between `before` and `after`; "" if either is missing.
std::string_view Between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = text.substr(begin + before.size());
  const size_t end = rest.find(after);
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// "24.11" of "24.11.5".
std::string_view MajorRelease(std::string_view release) {
  return release.substr(0, release.find('.', release.find('.') + 1));
}

}  // namespace

std::string HostsRelease(const std::string& bin_dir) {
  ProgramCall call;
  call.command.words = {bin_dir.empty() ? "scontrol" : bin_dir + "/scontrol", "--version"};
  call.child.dies_with_us = true;
  call.deadline = kLoadDeadline;
  const ProgramEnd ended = RunWithin(call);
  if (!ended.ok()) return "";
  const std::string line = FirstLine(ended.output);  // "slurm-wlm 24.11.5"
  return line.substr(line.rfind(' ') + 1);
}

std::string OtherRelease(std::string_view own, std::string_view hosts) {
  if (own.empty() || hosts.empty() || MajorRelease(own) == MajorRelease(hosts)) return "";
  return fmt::format(
      "this host's Slurm is {}, but gpuadvise-collect-api was built with libslurm {}; build "
      "gpuadvise here again with the libslurm of this host's Slurm, or use slurm-cli",
      hosts, own);
}

std::string WhyNotLoaded(std::string_view said) {
  const std::string_view library = Between(said, "error while loading shared libraries: ", ": ");
  const std::string_view symbol = Between(said, "undefined symbol: ", "\n");
  const std::string_view version = Between(said, "version `", "' not found");
  if (!symbol.empty()) return fmt::format("this host's libslurm has no {}", Trim(symbol));
  if (!version.empty()) return fmt::format("this host's libraries have no version {}", version);
  if (library.empty()) return "";
  return fmt::format("{} cannot be loaded on this host", library);
}

Result<void> CheckApiProgram(const std::string& program) {
  if (::access(program.c_str(), X_OK) != 0) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("there is no {}: this gpuadvise was built without libslurm; install "
                            "libslurm and its headers and build it again, or use slurm-cli",
                            program));
  }
  ProgramCall call;
  call.command.words = {program, "--help"};
  call.child.dies_with_us = true;
  call.deadline = kLoadDeadline;
  const Result<ProgramEnd> ended = RunToCompletion(call);
  if (!ended) return tl::unexpected<Error>(ended.error());
  if (ended->ok()) return {};
  std::string why = WhyNotLoaded(ended->errors);
  if (why.empty()) {
    why = fmt::format("{} does not start: {}", program,
                      OneLine(FirstLine(ended->errors), kMaxMessageBytes));
  }
  return Fail(
      ErrorCode::kUnavailable,
      fmt::format("{}, though gpuadvise was built with it; install the libslurm of the cluster's "
                  "Slurm here and build gpuadvise again with it, or use slurm-cli",
                  why));
}

}  // namespace gpuadvise::collect
