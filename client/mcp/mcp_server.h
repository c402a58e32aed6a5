// `gpuadvise mcp`: a Model Context Protocol server for one client, over lines of JSON.
//
// Each tool call runs one command of gpuadvise as a child process and answers with its JSON; the
// calls are answered one after the other. While a command runs, or the person is asked, lines are
// read on: a ping is answered, a cancellation ends the command, further calls wait (at most
// kMaxWaiting, then they are refused). After the end of the input what was asked is answered,
// unless nobody reads it; then the server ends. Single-threaded.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "client/mcp/json_rpc.h"
#include "client/mcp/line_input.h"
#include "client/mcp/mcp_tools.h"
#include "process/run_program.h"

namespace gpuadvise::client {

inline constexpr size_t kMaxWaiting = 64;

// Revisions of the protocol that are spoken, the newest first.
inline constexpr const char* kProtocolVersions[] = {"2025-11-25", "2025-06-18"};

struct McpPlace {
  // Runs gpuadvise with these words and that input, until it ends or `stop` says so.
  std::function<ProgramEnd(const ToolCall& call, const std::function<bool()>& stop)> run;
  // Writes a whole line; false: nobody reads any more.
  std::function<bool(const std::string& line)> write;
  std::chrono::milliseconds patience_with_people = std::chrono::minutes(10);
};

class McpServer {
 public:
  McpServer(McpPlace place, MessageInput& input) : place_(std::move(place)), input_(input) {}

  // Serves until the input ends or nobody reads the output.
  void Run();

 private:
  enum class Confirmed { kYes, kNo, kNobody, kCancelled };

  void Handle(const RpcMessage& message);
  void HandleRequest(const RpcMessage& request);
  nlohmann::json Initialize(const nlohmann::json& params);
  void ListTools(const RpcMessage& request);
  void CallTool(const RpcMessage& request);
  // The result of a call; nothing where it was cancelled or nobody is there any more.
  std::optional<nlohmann::json> Answer(const Tool& tool, const ToolCall& call);
  std::optional<nlohmann::json> Submit(const ToolCall& call);
  // What the command printed, as JSON. Errors: its own sentence; kUnavailable when it was stopped.
  Result<nlohmann::json> Ask(const ToolCall& call, bool may_be_stopped = true);
  // Shows `text` to the person and waits for yes or no.
  Confirmed Confirm(const std::string& text);

  // Takes what has come in meanwhile; true: the running call is to be given up.
  bool Look(std::chrono::milliseconds patience);
  // One line that came while a call runs.
  void Take(const InputLine& line);
  void NoteCancelled(const nlohmann::json& params);
  void Send(const nlohmann::json& message);

  McpPlace place_;
  MessageInput& input_;
  bool ended_ = false;  // nobody reads the output any more
  bool input_ended_ = false;
  bool initialized_ = false;
  bool can_elicit_ = false;
  std::deque<RpcMessage> waiting_;
  nlohmann::json running_;  // id of the running call; null: none
  bool cancelled_ = false;  // the running call
  int64_t questions_ = 0;   // asked of the person so far
  std::string question_;    // id of the one that is open
  std::optional<nlohmann::json> reply_;
};

}  // namespace gpuadvise::client
