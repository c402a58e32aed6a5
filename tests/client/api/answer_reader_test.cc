#include "client/api/answer_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise::client {
namespace {

using nlohmann::json;

TEST(AnswerReader, NumbersHaveDefaults) {
  const json object = {{"n", 2.6}, {"text", "5"}, {"null", nullptr}, {"huge", 1e300}};
  EXPECT_EQ(IntOf(object, "n"), 3);
  EXPECT_EQ(IntOf(object, "text", 7), 7);
  EXPECT_EQ(IntOf(object, "huge", 7), 7);
  EXPECT_EQ(IntOf(object, "null", 4), 4);
  EXPECT_EQ(IntOf(json::array(), "n", 4), 4);
}

TEST(AnswerReader, TextIsMadePrintable) {
  const json object = {{"t", "a\033b"}, {"n", 5}};
  EXPECT_EQ(TextOf(object, "t"), "a?b");
  EXPECT_EQ(TextOf(object, "n"), "");
  EXPECT_EQ(TextOf({{"t", std::string(1'000'000, 'x')}}, "t").size(), kMostTextBytes + 3);
  const auto frame = FromJson<api::Frame>({{"warnings", {"x\n", 5, "y"}}}, ShownText);
  EXPECT_EQ(frame.warnings, (std::vector<std::string>{"x?", "y"}));
}

TEST(AnswerReader, MembersOfTheWrongKindAreEmpty) {
  const json object = {{"list", json::array({1})}, {"object", {{"a", 1}}}};
  EXPECT_EQ(ListOf(object, "list").size(), 1u);
  EXPECT_EQ(ListOf(object, "object"), json::array());
  EXPECT_EQ(ObjectOf(object, "object")["a"], 1);
  EXPECT_EQ(ObjectOf(object, "list"), json::object());
}

api::Frame Read(const json& answer) { return FromJson<api::Frame>(answer, ShownText); }

json Aged(double seconds, const json& cause) {
  return {{"meta", {{"cluster", "seed"}, {"stale_cause", cause}}},
          {"snapshot_age_seconds", seconds}};
}

TEST(Age, IsInSecondsWhileItIsShort) {
  EXPECT_EQ(ClusterAndAge(Read(Aged(0.4, nullptr))), "cluster seed, 0 s old");
  EXPECT_EQ(ClusterAndAge(Read(Aged(12, nullptr))), "cluster seed, 12 s old");
  EXPECT_EQ(ClusterAndAge(Read(Aged(45, nullptr))), "cluster seed, 45 s old");
  EXPECT_EQ(ClusterAndAge(Read(Aged(7200, nullptr))), "cluster seed, 2 h old");
  EXPECT_EQ(ClusterAndAge(Read(Aged(-5, nullptr))), "cluster seed, 0 s old");
  EXPECT_EQ(ClusterAndAge(Read(json::object())), "cluster ?, 0 s old");
}

TEST(Age, HasItsCauseWhenThereIsOne) {
  EXPECT_EQ(DataDoubt(Read(Aged(600, nullptr))), "");
  EXPECT_EQ(DataDoubt(Read(Aged(600, "slurmctld is down"))),
            "The data is 10 m old: slurmctld is down");
  EXPECT_EQ(DataDoubt(Read(Aged(1, "starting"))), "The data is 1 s old: starting");
}

TEST(Data, OfWhichPartIsNotSeenIsSaidToBeSo) {
  json answer = Aged(12, nullptr);
  answer["meta"]["unseen"] = "PrivateData hides jobs";
  EXPECT_EQ(DataDoubt(Read(answer)), "PrivateData hides jobs");
  answer["meta"]["stale_cause"] = "slurmctld is down";
  EXPECT_EQ(DataDoubt(Read(answer)),
            "The data is 12 s old: slurmctld is down; PrivateData hides jobs");
}

}  // namespace
}  // namespace gpuadvise::client
