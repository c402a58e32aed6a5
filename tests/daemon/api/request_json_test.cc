#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "daemon/api/requests.h"

namespace gpuadvise::daemon {
namespace {

std::string Complaint(const std::string& body) {
  const auto document = ParseRequestJson(body);
  return document ? "" : document.error().message;
}

TEST(RequestJson, AnObjectIsTaken) {
  EXPECT_EQ(ParseRequestJson(R"({"a": [1, {"b": null}]})")->dump(), R"({"a":[1,{"b":null}]})");
}

TEST(RequestJson, TheByteThatIsWrongIsTold) {
  EXPECT_EQ(Complaint(R"({"a": 1,})"), "the request is no JSON: byte 9 of 9 cannot stand there");
  EXPECT_EQ(Complaint(""), "the request is no JSON: byte 1 of 0 cannot stand there");
}

TEST(RequestJson, OnlyAnObjectWillDo) {
  EXPECT_EQ(Complaint("[1]"), "the request is not a JSON object; send {...}");
  EXPECT_EQ(Complaint("3"), "the request is not a JSON object; send {...}");
}

TEST(RequestJson, DeepNestingIsRefusedBeforeAnythingIsBuilt) {
  EXPECT_EQ(Complaint(std::string(1 << 20, '[')), "the request is nested more than 64 deep");
  const std::string open(63, '[');
  const std::string close(63, ']');
  EXPECT_EQ(Complaint("{\"a\":" + open + close + "}"), "");
  EXPECT_EQ(Complaint("{\"a\":[" + open + close + "]}"), "the request is nested more than 64 deep");
}

TEST(RequestJson, BracketsInsideTextDoNotCount) {
  EXPECT_EQ(
      Complaint("{\"a\": \"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"}"),
      "");
}

RC_GTEST_PROP(RequestJson, AnyBytesGiveAnObjectOrASentence, (const std::string& bytes)) {
  const auto document = ParseRequestJson(bytes);
  const bool settled = document ? document->is_object() : !document.error().message.empty();
  RC_ASSERT(settled);
}

}  // namespace
}  // namespace gpuadvise::daemon
