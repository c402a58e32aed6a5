// Structs with field lists as JSON, and back from JSON that nobody vouches for.
#include "common/base/fields.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

using nlohmann::json;

struct Spread {
  int64_t p50 = 0;
  template <typename F>
  static void Fields(F&& f) {
    f("p50", &Spread::p50);
  }
};

struct Row {
  std::string name = "unknown";
  int64_t nodes = 1;
  double hours = 0;
  bool fits = false;
  std::optional<double> cost;
  std::optional<std::string> note;
  std::vector<Spread> parts;
  std::map<std::string, int64_t> gpus;
  Spread wait;
  std::optional<Spread> start;

  template <typename F>
  static void Fields(F&& f) {
    f("name", &Row::name);
    f("nodes", &Row::nodes);
    f("hours", &Row::hours);
    f("fits", &Row::fits);
    f("cost", &Row::cost);
    f("note", &Row::note, kOmitted);
    f("parts", &Row::parts, kOmitted);
    f("gpus", &Row::gpus);
    f("wait", &Row::wait, Prefixed("wait_"));
    f("start", &Row::start, Prefixed("start_"));
  }
};

TEST(Fields, WhatIsEmptyIsNullOrAbsentAsItsRowSays) {
  EXPECT_EQ(ToJson(Row{}), json::parse(R"({"name":"unknown","nodes":1,"hours":0.0,"fits":false,
                                           "cost":null,"gpus":{},"wait_p50":0})"));
}

TEST(Fields, NestedStructsStandInListsOrUnderAPrefix) {
  Row row;
  row.parts = {{7}};
  row.wait = {8};
  row.start = Spread{9};
  const json written = ToJson(row);
  EXPECT_EQ(written["parts"], json::parse(R"([{"p50":7}])"));
  EXPECT_EQ(written["wait_p50"], 8);
  EXPECT_EQ(written["start_p50"], 9);
}

TEST(Fields, WhatIsWrittenReadsBack) {
  Row row{"a", 2, 1.5, true, 3.25, "n", {{7}}, {{"l40s", 4}}, {8}, Spread{9}};
  EXPECT_EQ(ToJson(FromJson<Row>(ToJson(row))), ToJson(row));
}

TEST(Fields, AMemberOfAnotherTypeKeepsItsDefault) {
  const Row row = FromJson<Row>(json::parse(
      R"({"name":3,"nodes":"four","hours":[1],"fits":1,"cost":"dear","parts":{"p50":1},"gpus":[]})"));
  EXPECT_EQ(ToJson(row), ToJson(Row{}));
  EXPECT_EQ(ToJson(FromJson<Row>(json::parse("[1]"))), ToJson(Row{}));
}

TEST(Fields, ItemsOfAnotherTypeAreLeftOut) {
  const Row row = FromJson<Row>(json::parse(R"({"parts":[1,{"p50":2},null]})"));
  ASSERT_EQ(row.parts.size(), 1u);
  EXPECT_EQ(row.parts[0].p50, 2);
}

TEST(Fields, NumbersThatNoIntegerHoldsKeepTheDefault) {
  EXPECT_EQ(FromJson<Row>(json::parse(R"({"nodes":1e300})")).nodes, 1);
  EXPECT_EQ(FromJson<Row>(json::parse(R"({"nodes":2.6})")).nodes, 3);
}

TEST(Fields, NullMembersMakeNoNestedStruct) {
  EXPECT_FALSE(FromJson<Row>(json::parse(R"({"start_p50":null})")).start);
  EXPECT_TRUE(FromJson<Row>(json::parse(R"({"start_p50":0})")).start);
}

TEST(Fields, EveryTextPassesTheFilter) {
  const auto filter = [](const std::string&) { return std::string("u"); };
  const Row row = FromJson<Row>(json::parse(R"({"name":"a","note":"b","gpus":{"c":1}})"), filter);
  EXPECT_EQ(row.name + *row.note + row.gpus.begin()->first, "uuu");
}

}  // namespace
}  // namespace gpuadvise
