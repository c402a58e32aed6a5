#include "client/mcp/json_rpc.h"

#include <gtest/gtest.h>

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Kind = RpcMessage::Kind;

TEST(JsonRpc, TellsRequestsNotificationsAndResponsesApart) {
  const RpcMessage request = ReadMessage(R"({"jsonrpc":"2.0","id":7,"method":"ping"})");
  EXPECT_EQ(request.kind, Kind::kRequest);
  EXPECT_EQ(request.id, 7);
  EXPECT_EQ(request.params, json::object());
  const RpcMessage notice = ReadMessage(R"({"jsonrpc":"2.0","method":"x","params":{"a":1}})");
  EXPECT_EQ(notice.kind, Kind::kNotification);
  EXPECT_EQ(notice.params, json({{"a", 1}}));
  const RpcMessage response = ReadMessage(R"({"jsonrpc":"2.0","id":"a","result":{"b":2}})");
  EXPECT_EQ(response.kind, Kind::kResponse);
  EXPECT_EQ(response.result, json({{"b", 2}}));
  EXPECT_TRUE(ReadMessage(R"({"jsonrpc":"2.0","id":"a","error":{"code":1}})").result.is_null());
}

TEST(JsonRpc, AWrongMessageIsAnsweredUnderItsIdWhereThatCanBeRead) {
  EXPECT_EQ(ReadMessage(R"({"jsonrpc":"2.0","id":5,"method":9})").id, 5);
  EXPECT_EQ(ReadMessage(R"({"jsonrpc":"2.0","id":5,"method":"m","params":[]})").error,
            RpcError::kInvalidParams);
  for (const char* text :
       {"", "{", "[1]", R"({"id":1,"method":"m"})", R"({"jsonrpc":"2.0","id":{},"method":"m"})"}) {
    const RpcMessage wrong = ReadMessage(text);
    EXPECT_EQ(wrong.kind, Kind::kWrong) << text;
    EXPECT_TRUE(wrong.id.is_null()) << text;
    EXPECT_FALSE(wrong.complaint.empty());
  }
}

TEST(JsonRpc, DepthAndSizeAreBounded) {
  EXPECT_EQ(ReadMessage(std::string(100'000, '[')).error, RpcError::kParse);
  EXPECT_EQ(ReadMessage(std::string(kMaxMessageBytes + 1, ' ')).error, RpcError::kParse);
}

TEST(JsonRpc, AMessageIsOneLineOfAscii) {
  const std::string line = MessageLine(RpcResult(1, {{"text", "a\nb\r\u2028 ü \xff"}}));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  for (const char c : line) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  EXPECT_EQ(json::parse(line)["result"]["text"], "a\nb\r\u2028 ü \ufffd");
}

}  // namespace
}  // namespace gpuadvise::client
