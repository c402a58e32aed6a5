#include "client/trace/script_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/process/files.h"
#include "common/process/run_program.h"
#include "common/process/scratch_folder.h"
#include "embedded/trace_autocast.h"
#include "embedded/trace_gpu.h"
#include "embedded/trace_ledger.h"
#include "embedded/trace_libraries.h"
#include "embedded/trace_main.h"

namespace gpuadvise::client {
namespace {

constexpr size_t kMostOutput = 64 << 10;  // of the script, for the error message
constexpr size_t kMostQuoted = 300;
constexpr size_t kMostReport = 256 << 10;
constexpr std::chrono::seconds kPatience{30};  // beyond the limit enforced in Python
constexpr const char* kReport = "/report.json";

bool IsPythonName(const std::string& path) {
  return path.substr(path.rfind('/') + 1).starts_with("python");
}

// The Python of a console script such as torchrun.
std::string PythonBeside(const std::string& launcher, const char* path) {
  const std::string found =
      launcher.find('/') == std::string::npos ? FindInPath(launcher, path) : launcher;
  const std::string beside = found.substr(0, found.rfind('/') + 1) + "python3";
  std::error_code ignored;
  return !found.empty() && std::filesystem::exists(beside, ignored) ? beside : "python3";
}

Result<void> WriteTool(const std::string& folder) {
  const std::array<std::pair<const char*, std::string_view>, 5> files = {
      {{"/trace_main.py", TraceMainPy()},
       {"/trace_ledger.py", TraceLedgerPy()},
       {"/trace_gpu.py", TraceGpuPy()},
       {"/trace_autocast.py", TraceAutocastPy()},
       {"/trace_libraries.py", TraceLibrariesPy()}}};
  for (const auto& [name, text] : files) {
    if (Result<void> done = ReplaceFile(folder + name, text, 0600); !done) return done;
  }
  return {};
}

std::string LastLine(const std::string& output) {
  const size_t end = output.find_last_not_of("\r\n \t");
  if (end == std::string::npos) return {};
  const size_t start = output.rfind('\n', end);
  return output.substr(start + 1, std::min<size_t>(end - start, kMostQuoted));
}

// The error if Python ended without a report: the script or the system ended the process.
Error WithoutReport(const TracedCommand& command, const ProgramEnd& end) {
  const std::string last = LastLine(end.output);
  return {ErrorCode::kBadInput,
          fmt::format("--trace: {} {} before the trace was written{}", command.program,
                      InWords(end.end), last.empty() ? "" : "; it said last: " + last),
          ""};
}

}  // namespace

Result<TracedCommand> ReadTracedCommand(const std::string& command, const std::string& python,
                                        const char* path) {
  ScriptVariables variables{SbatchOptions()};
  const std::optional<LaunchCommand> launch = LaunchOf(command, variables);
  const bool known =
      launch && (launch->launcher == Launcher::kPython || launch->launcher == Launcher::kTorchrun ||
                 launch->launcher == Launcher::kAccelerate ||
                 launch->launcher == Launcher::kDeepspeed || launch->launcher == Launcher::kMpi);
  if (!known || launch->program_at >= launch->words.size()) {
    return BadInput("--trace: no Python program is started by: " + command +
                    "; give one as -- python train.py ARGS (also with torchrun, accelerate "
                    "launch or deepspeed)");
  }
  TracedCommand traced;
  for (size_t i = launch->program_at; i < launch->words.size(); ++i) {
    if (!launch->words[i].value) {
      return BadInput("--trace: only a shell knows what '" + launch->words[i].raw +
                      "' is in: " + command + "; write it in full after --");
    }
    traced.words.push_back(*launch->words[i].value);
  }
  traced.launched = launch->launcher != Launcher::kPython;
  traced.program = traced.words.front().substr(traced.words.front().rfind('/') + 1);
  if (launch->is_module) traced.words.insert(traced.words.begin(), "-m");
  for (size_t i = 0; i < launch->env.size(); ++i) {
    if (launch->env_values[i]) {
      traced.environment.push_back(launch->env[i].first + "=" + *launch->env_values[i]);
    }
  }
  const std::string starter = launch->words[launch->launcher_at].value.value_or("");
  traced.python = !python.empty()         ? python
                  : IsPythonName(starter) ? starter
                                          : PythonBeside(starter, path);
  return traced;
}

Result<TraceReport> TraceOnce(const TracedCommand& command, int64_t scale,
                              const TraceLimits& limits) {
  const ScratchFolder folder((std::filesystem::temp_directory_path() / "gpuadvise-trace-XXXXXX"));
  if (!folder.made()) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("--trace: no folder can be made in {}: {}",
                            std::filesystem::temp_directory_path().string(), std::strerror(errno)));
  }
  if (const Result<void> written = WriteTool(folder.path()); !written) {
    return tl::unexpected<Error>(written.error());
  }
  ProgramCall call;
  call.command.words = {command.python,
                        "-B",
                        folder.path() + "/trace_main.py",
                        "--out",
                        folder.path() + kReport,
                        "--seconds",
                        std::to_string(limits.time.count()),
                        "--memory-gib",
                        std::to_string(limits.memory_gib),
                        "--scale",
                        std::to_string(scale)};
  if (command.launched) call.command.words.emplace_back("--launched");
  call.command.words.emplace_back("--");
  call.command.words.insert(call.command.words.end(), command.words.begin(), command.words.end());
  call.command.environment = command.environment;
  call.child.errors = ChildErrors::kTogether;
  call.child.group = ChildGroup::kOwnAndEndsWithIt;
  call.child.dies_with_us = true;
  call.deadline = limits.time + kPatience;
  call.max_output_bytes = kMostOutput;
  const ProgramEnd end = RunWithin(call);
  if (end.how == ProgramEnd::How::kNotRun || end.end.exec_error != 0) {
    const int error = end.how == ProgramEnd::How::kNotRun ? end.error : end.end.exec_error;
    return BadInput(
        fmt::format("--trace: {} cannot be run: {}; name the training's Python with "
                    "--python",
                    command.python, std::strerror(error)));
  }
  if (end.how != ProgramEnd::How::kByItself) {
    return BadInput(
        fmt::format("--trace: {} did not end within {} s after it was told to; allow more time "
                    "with --trace-minutes",
                    command.program, limits.time.count()));
  }
  const Result<OpenedFile> file =
      OpenRegularFile(folder.path() + kReport, {kMostReport, "report", std::nullopt});
  if (!file) return tl::unexpected<Error>(WithoutReport(command, end));
  const auto text = ReadAll(file->descriptor, kMostReport);
  if (!text) return tl::unexpected<Error>(WithoutReport(command, end));
  return ReadTraceReport(*text, {command.program, LastLine(end.output)});
}

}  // namespace gpuadvise::client
