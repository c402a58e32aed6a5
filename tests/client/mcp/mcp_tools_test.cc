#include "client/mcp/mcp_tools.h"

#include <gtest/gtest.h>

#include "client/commands/command_line.h"
#include "client/mcp/tool_schemas.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Result<ToolCall> Read(const std::string& tool, const json& arguments) {
  return ReadToolCall(*FindTool(tool), arguments);
}

TEST(McpTools, BecomeTheCommandThatAPersonWouldType) {
  EXPECT_EQ(Read("when", {{"gres", "gpu:l40s:2"}, {"nodes", 2}})->words,
            (Words{"when", "--gres=gpu:l40s:2", "--nodes=2"}));
  EXPECT_EQ(Read("why", {{"job_id", 4711}})->words, (Words{"why", "4711"}));
  EXPECT_EQ(Read("fit", {{"model", "gpt2"}, {"gpu", "h100"}})->words,
            (Words{"fit", "gpt2", "--gpu=h100"}));
  const Result<ToolCall> text = Read("advise", {{"training", "name: x\n"}});
  EXPECT_EQ(text->words, (Words{"advise", "-"}));
  EXPECT_EQ(text->input, "name: x\n");
  EXPECT_EQ(CommandText({{"submit", "my file.yaml", "--pick=2"}, ""}),
            "gpuadvise submit 'my file.yaml' --pick=2");
}

// Every option of every tool is one that the command line has.
TEST(McpTools, EveryOptionIsOneOfItsCommand) {
  for (const Tool& tool : Tools()) {
    json arguments = json::object();
    for (const ToolOption& option : tool.options) {
      const bool number = std::string_view(option.type) == "integer";
      const std::string name = option.name;
      arguments[name] = number ? json(2) : json("08:00:00");
      if (name == "objective") arguments[name] = "finish";
      if (name == "state") arguments[name] = "ok";
      if (name == "file") arguments[name] = "train.yaml";
      if (name == "since") arguments[name] = "7d";
    }
    if (tool.takes_training) arguments["file"] = "train.yaml";
    const Result<ToolCall> call = ReadToolCall(tool, arguments);
    ASSERT_TRUE(call) << tool.name << ": " << call.error().message;
    Words words = call->words;
    words.push_back("--json");
    const auto line = ParseCommandLine(words);
    EXPECT_TRUE(line) << tool.name << ": " << (line ? "" : line.error().text);
    if (line && tool.command == std::string("when")) {
      EXPECT_EQ(line->when.arguments.size(), tool.options.size());
    }
  }
}

TEST(McpTools, AValueIsNoOptionOfItsOwn) {
  EXPECT_FALSE(Read("advise", {{"file", "--help"}}));
  EXPECT_EQ(Read("advise", {{"file", "--help.yaml"}})->words[1], "./--help.yaml");
  for (const char* model : {"--help", "/etc", "../x", "-"}) {
    EXPECT_FALSE(Read("fit", {{"model", model}})) << model;
  }
  EXPECT_FALSE(Read("when", {{"partition", "a\nb"}}));
  EXPECT_FALSE(Read("when", {{"partition", ""}}));
  EXPECT_FALSE(Read("why", {{"job_id", -1}}));
  EXPECT_FALSE(Read("why", {{"job_id", "1 --socket=/x"}}));
}

TEST(McpTools, OnlyATrainingFileIsOpened) {
  for (const char* path : {"/etc/passwd", "/dev/stdin", "-", "train.yaml.bak", "id_rsa"}) {
    EXPECT_FALSE(Read("advise", {{"file", path}})) << path;
    EXPECT_FALSE(Read("submit", {{"file", path}})) << path;
  }
}

TEST(McpTools, SayWhatIsWrongWithAnArgument) {
  EXPECT_EQ(Read("when", {{"gress", "x"}}).error().message,
            "when has no argument 'gress' (did you mean 'gres'?)");
  EXPECT_EQ(Read("submit", json::object()).error().message, "submit needs file");
  EXPECT_EQ(Read("fit", json::object()).error().message, "give one of file, training or model");
  EXPECT_EQ(Read("advise", {{"model", "gpt2"}, {"file", "a.yaml"}}).error().message,
            "advise has no argument 'model'");
  EXPECT_EQ(Read("gpus", json::array()).error().message, "arguments must be an object");
}

TEST(McpTools, AnnounceWhatTheyTakeAndWhetherTheyChangeAnything) {
  for (const Tool& tool : Tools()) {
    const json announced = ToolJson(tool);
    EXPECT_EQ(announced["annotations"]["readOnlyHint"], std::string(tool.name) != "submit");
    EXPECT_EQ(announced["outputSchema"], OutputSchemaOf(tool.name));
    EXPECT_EQ(announced["inputSchema"]["properties"].size(),
              tool.options.size() + (tool.takes_training ? 2 : 0) + (tool.takes_model ? 1 : 0));
  }
}

}  // namespace
}  // namespace gpuadvise::client
