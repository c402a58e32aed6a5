// The server without processes: lines in, lines out. The protocol itself is held against its schema
// by mcp_test.py.
#include "client/mcp/mcp_server.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// Lines one after the other; what a command or a person does comes when `run` says so.
class GivenLines : public MessageInput {
 public:
  explicit GivenLines(std::vector<json> messages) : messages_(std::move(messages)) {}
  InputLine Next(std::chrono::milliseconds patience) override {
    if (patience.count() == 0) return {};  // nothing more while a command runs
    if (next_ == messages_.size()) return {InputLine::Kind::kEnd, ""};
    return {InputLine::Kind::kLine, messages_[next_++].dump()};
  }

 private:
  std::vector<json> messages_;
  size_t next_ = 0;
};

json Request(const json& id, const std::string& method, const json& params = json::object()) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
}

json Hello(const json& capabilities = json::object()) {
  return Request(0, "initialize",
                 {{"protocolVersion", "2025-06-18"}, {"capabilities", capabilities}});
}

json CallOf(const json& id, const std::string& tool, const json& arguments) {
  return Request(id, "tools/call", {{"name", tool}, {"arguments", arguments}});
}

ProgramEnd Printed(const json& document, int exit_code = 0) {
  ProgramEnd end;
  end.output = document.dump();
  end.end.exit_code = exit_code;
  return end;
}

class McpServerTest : public testing::Test {
 protected:
  // What the server sends for these messages.
  std::vector<json> Serve(const std::vector<json>& messages) {
    GivenLines input(messages);
    std::vector<json> sent;
    McpServer server({[this](const ToolCall& call, const std::function<bool()>&) {
                        calls.push_back(call);
                        return ends.empty() ? Printed({{"gpus", json::array()}})
                                            : ends[std::min(calls.size(), ends.size()) - 1];
                      },
                      [&](const std::string& line) {
                        sent.push_back(json::parse(line));
                        return true;
                      },
                      std::chrono::milliseconds(50)},
                     input);
    server.Run();
    return sent;
  }

  std::vector<ToolCall> calls;
  std::vector<ProgramEnd> ends;
};

TEST_F(McpServerTest, AnswersACallWithTheCommandsJson) {
  ends = {Printed({{"gpus", {{{"gpu_name", "L40S"}, {"free", 3}}}}, {"errors", json::array()}})};
  const auto sent = Serve({Hello(), CallOf(1, "gpus", json::object())});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1]["result"]["structuredContent"]["gpus"][0]["free"], 3);
  EXPECT_EQ(calls.front().words, (std::vector<std::string>{"gpus", "--json"}));
}

TEST_F(McpServerTest, AFailedCommandIsAnAnswerWithItsSentence) {
  const json errors = {{"errors", {{{"code", "unavailable"}, {"message", "no daemon"}}}}};
  ProgramEnd silent = Printed("not an object", 1);
  silent.errors = "terminate called\n";
  ProgramEnd killed;
  killed.output = "";
  killed.end.signal = 11;
  ProgramEnd late;
  late.how = ProgramEnd::How::kTooLate;
  ends = {Printed(errors, 4), silent, killed, late};
  const auto sent = Serve({Hello(), CallOf(1, "gpus", {}), CallOf(2, "gpus", json::object()),
                           CallOf(3, "gpus", json::object()), CallOf(4, "gpus", json::object()),
                           CallOf(5, "gpus", json::object())});
  std::vector<std::string> texts;
  for (size_t i = 1; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i]["result"]["isError"], true) << sent[i];
    texts.push_back(sent[i]["result"]["content"][0]["text"]);
  }
  ASSERT_EQ(texts.size(), 5u);
  EXPECT_EQ(texts[0], "arguments must be an object");
  EXPECT_EQ(texts[1], "no daemon");
  EXPECT_EQ(texts[2], "terminate called");
  EXPECT_NE(texts[3].find("signal 11"), std::string::npos);
  EXPECT_NE(texts[4].find("did not answer in time"), std::string::npos);
}

TEST_F(McpServerTest, WhatNothingCanRunIsAnAnswerWithReasons) {
  ends = {Printed({{"strategies", json::array()}, {"rejected", {{{"gpu", "l40s"}}}}}, 3)};
  const auto sent = Serve({Hello(), CallOf(1, "advise", {{"file", "t.yaml"}})});
  EXPECT_EQ(sent[1]["result"]["isError"], false);
  EXPECT_EQ(sent[1]["result"]["structuredContent"]["rejected"].size(), 1u);
}

TEST_F(McpServerTest, SubmitsOnlyAfterAYes) {
  const json plan = {{"script", "#!/bin/bash\nrun\n"}, {"job_id", nullptr}};
  for (const auto& [reply, submits] : std::vector<std::pair<json, bool>>{
           {{{"action", "accept"}, {"content", {{"submit", true}}}}, true},
           {{{"action", "accept"}, {"content", {{"submit", "yes"}}}}, false},
           {{{"action", "decline"}}, false}}) {
    calls.clear();
    ends = {Printed(plan), Printed({{"job_id", 4711}})};
    const auto sent = Serve({Hello({{"elicitation", json::object()}}),
                             CallOf(1, "submit", {{"file", "t.yaml"}}),
                             {{"jsonrpc", "2.0"}, {"id", "gpuadvise-1"}, {"result", reply}}});
    ASSERT_EQ(sent.size(), 3u);
    EXPECT_EQ(sent[1]["method"], "elicitation/create");
    EXPECT_EQ(calls.size(), submits ? 2u : 1u);
    EXPECT_EQ(sent[2]["result"]["isError"], !submits);
    if (!submits) continue;
    EXPECT_EQ(calls[1].words.back(), "--same-as=-");
    EXPECT_EQ(calls[1].input, "#!/bin/bash\nrun\n");
  }
}

TEST_F(McpServerTest, WhereNobodyAnswersNothingIsSubmitted) {
  ends = {Printed({{"script", "#!/bin/bash\n"}})};
  const auto sent =
      Serve({Hello({{"elicitation", json::object()}}), CallOf(1, "submit", {{"file", "t.yaml"}})});
  EXPECT_EQ(calls.size(), 1u);
  EXPECT_EQ(sent[1]["method"], "elicitation/create");
}

TEST_F(McpServerTest, AScriptThatCannotBeShownIsNotSubmitted) {
  ends = {Printed({{"script", std::string(10'000, 'x')}})};
  const auto sent =
      Serve({Hello({{"elicitation", json::object()}}), CallOf(1, "submit", {{"file", "t.yaml"}})});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1]["result"]["isError"], true);
  EXPECT_EQ(calls.size(), 1u);
}

TEST_F(McpServerTest, ThatNobodyReadsEndsIt) {
  GivenLines input({Hello(), Request(1, "ping"), CallOf(2, "gpus", json::object())});
  McpServer server({[this](const ToolCall& call, const std::function<bool()>&) {
                      calls.push_back(call);
                      return Printed(json::object());
                    },
                    [](const std::string&) { return false; }},
                   input);
  server.Run();
  EXPECT_TRUE(calls.empty());
}

}  // namespace
}  // namespace gpuadvise::client
