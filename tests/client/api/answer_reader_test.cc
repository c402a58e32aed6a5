#include "client/api/answer_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise::client {
namespace {

using nlohmann::json;

TEST(AnswerReader, NumbersHaveDefaults) {
  const json object = {{"n", 2.6}, {"text", "5"}, {"null", nullptr}, {"huge", 1e300}};
  EXPECT_EQ(NumberOf(object, "n"), 2.6);
  EXPECT_EQ(IntOf(object, "n"), 3);
  EXPECT_EQ(IntOf(object, "text", 7), 7);
  EXPECT_EQ(IntOf(object, "huge", 7), 7);
  EXPECT_EQ(NumberOf(object, "missing", 1.5), 1.5);
  EXPECT_EQ(OptionalNumber(object, "null"), std::nullopt);
  EXPECT_EQ(NumberOf(json::array(), "n", 4), 4);
  EXPECT_EQ(NumberOf(json(), "n", 4), 4);
}

TEST(AnswerReader, TextIsMadePrintable) {
  const json object = {{"t", "a\033b"}, {"n", 5}, {"list", {"x\n", 5, "y"}}};
  EXPECT_EQ(TextOf(object, "t"), "a?b");
  EXPECT_EQ(TextOf(object, "n"), "");
  EXPECT_EQ(TextsOf(object, "list"), (std::vector<std::string>{"x?", "y"}));
  EXPECT_TRUE(TextsOf(object, "t").empty());
  EXPECT_EQ(TextOf({{"t", std::string(1'000'000, 'x')}}, "t").size(), kMostTextBytes + 3);
}

TEST(AnswerReader, MembersOfTheWrongKindAreEmpty) {
  const json object = {{"list", json::array({1})}, {"object", {{"a", 1}}}};
  EXPECT_EQ(ListOf(object, "list").size(), 1u);
  EXPECT_EQ(ListOf(object, "object"), json::array());
  EXPECT_EQ(ObjectOf(object, "object")["a"], 1);
  EXPECT_EQ(ObjectOf(object, "list"), json::object());
}

json Aged(double seconds, const json& cause) {
  return {{"meta", {{"cluster", "seed"}, {"stale_cause", cause}}},
          {"snapshot_age_seconds", seconds}};
}

TEST(Age, IsInSecondsWhileItIsShort) {
  EXPECT_EQ(ClusterAndAge(Aged(0.4, nullptr)), "cluster seed, 0 s old");
  EXPECT_EQ(ClusterAndAge(Aged(12, nullptr)), "cluster seed, 12 s old");
  EXPECT_EQ(ClusterAndAge(Aged(45, nullptr)), "cluster seed, 45 s old");
  EXPECT_EQ(ClusterAndAge(Aged(7200, nullptr)), "cluster seed, 2 h old");
  EXPECT_EQ(ClusterAndAge(Aged(-5, nullptr)), "cluster seed, 0 s old");
  EXPECT_EQ(ClusterAndAge(json::object()), "cluster ?, 0 s old");
}

TEST(Age, HasItsCauseWhenThereIsOne) {
  EXPECT_EQ(DataDoubt(Aged(600, nullptr)), "");
  EXPECT_EQ(DataDoubt(Aged(600, "slurmctld is down")), "The data is 10 m old: slurmctld is down");
  EXPECT_EQ(DataDoubt(Aged(1, "starting")), "The data is 30 s old: starting");
}

TEST(Data, OfWhichPartIsNotSeenIsSaidToBeSo) {
  json answer = Aged(12, nullptr);
  answer["meta"]["unseen"] = "PrivateData hides jobs";
  EXPECT_EQ(DataDoubt(answer), "PrivateData hides jobs");
  answer["meta"]["stale_cause"] = "slurmctld is down";
  EXPECT_EQ(DataDoubt(answer), "The data is 30 s old: slurmctld is down; PrivateData hides jobs");
}

}  // namespace
}  // namespace gpuadvise::client
