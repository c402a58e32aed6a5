// Lines of an assistant: read as messages, as arguments of every tool, and as answers to be marked.
#include "client/mcp/json_rpc.h"
#include "client/mcp/mcp_tools.h"
#include "client/mcp/tool_answer.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::client;
  using Kind = RpcMessage::Kind;
  const std::string text(AsText(data, size));
  const RpcMessage message = ReadMessage(text);
  Require(message.kind != Kind::kWrong || !message.complaint.empty(), "an error has a sentence");
  Require(
      message.kind != Kind::kRequest || message.id.is_string() || message.id.is_number_integer(),
      "a request can be answered");
  const std::string line = MessageLine(RpcFailure(message.id, RpcError::kParse, text));
  Require(line.find('\n') == line.size() - 1, "a message is one line");
  for (const Tool& tool : Tools()) {
    const Result<ToolCall> call = ReadToolCall(tool, message.params);
    if (!call) {
      Require(!call.error().message.empty(), "an error has a sentence");
      continue;
    }
    Require(call->words.front() == tool.command, "the command is the tool's");
    for (size_t i = 1; i < call->words.size(); ++i) {
      const std::string& word = call->words[i];
      Require(word == "-" || !word.starts_with('-') || word.find('=') != std::string::npos,
              "a value is no option");
      Require(word.find('\n') == std::string::npos, "a word is one line");
    }
  }
  (void)MarkedAnswer("why", message.params);
  const std::string marked = Untrusted(text);
  Require(marked.find_first_of("\n<>{}") == std::string::npos, "marked text ends where it should");
  Require(marked.find('"', 17) == marked.size() - 1, "it cannot end its quotation");
  return 0;
}
