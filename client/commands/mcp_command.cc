// `gpuadvise mcp`: an assistant's door to the other commands (client/mcp/).
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/mcp/mcp_server.h"

namespace gpuadvise::client {
namespace {

constexpr std::chrono::seconds kToolPatience(180);  // `submit` asks sbatch twice
constexpr size_t kMaxToolOutputBytes = 64 << 20;

bool WriteLine(const std::string& line) {
  size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count = ::write(STDOUT_FILENO, line.data() + sent, line.size() - sent);
    if (count >= 0) {
      sent += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

ProgramEnd RunTool(const std::string& own_path, const std::string& socket, const ToolCall& call,
                   const std::function<bool()>& stop) {
  ProgramCall run;
  run.command.words = {own_path};
  run.command.words.insert(run.command.words.end(), call.words.begin(), call.words.end());
  if (!socket.empty()) run.command.words.push_back("--socket=" + socket);
  run.child.input = call.input.empty() ? ChildInput::kNothing : ChildInput::kPipe;
  run.child.dies_with_us = true;
  run.input = call.input;
  run.deadline = kToolPatience;
  run.max_output_bytes = kMaxToolOutputBytes;
  run.ends_at_bound = true;
  run.stop = stop;
  return RunWithin(run);
}

}  // namespace

int RunMcp(const std::string& own_path, const std::string& socket) {
  std::signal(SIGPIPE, SIG_IGN);
  DescriptorInput input(STDIN_FILENO, kMaxMessageBytes);
  McpServer server({[&](const ToolCall& call, const std::function<bool()>& stop) {
                      return RunTool(own_path, socket, call, stop);
                    },
                    WriteLine},
                   input);
  server.Run();
  return kExitOk;
}

}  // namespace gpuadvise::client
