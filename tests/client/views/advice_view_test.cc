#include "client/views/advice_view.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "client/api/answer_reader.h"
#include "client/sbatch/job_words.h"
#include "client/terminal/display.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kNow = 1790000000;  // Mon 21 Sep 2026 14:13:20 UTC

json Advice() { return json::parse(TestData("advice.json")); }

std::string Text(const json& answer, int width, bool all = false, bool colour = false) {
  return AdviceText(ReadAnswer<api::Advice>(answer),
                    {.all = all, .now = kNow, .style = {width, colour}});
}

api::Strategy Strategy(const json& advice, size_t index) {
  return FromJson<api::Strategy>(advice["strategies"][index]);
}

std::vector<int64_t> RanksShown(const json& advice, bool all) {
  const auto read = FromJson<api::Advice>(advice);
  std::vector<int64_t> ranks;
  for (const api::Strategy* row : RowsToShow(read, all)) ranks.push_back(row->rank);
  return ranks;
}

int WidestLine(const std::string& text) {
  std::istringstream lines(text);
  int widest = 0;
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, DisplayWidth(line));
  }
  return widest;
}

TEST(AdviceText, At80Columns) { ExpectGolden("advise_80.txt", Text(Advice(), 80)); }
TEST(AdviceText, At120Columns) { ExpectGolden("advise_120.txt", Text(Advice(), 120)); }
TEST(AdviceText, At200Columns) { ExpectGolden("advise_200.txt", Text(Advice(), 200)); }
TEST(AdviceText, All) { ExpectGolden("advise_all.txt", Text(Advice(), 120, true)); }
TEST(AdviceText, InColour) { ExpectGolden("advise_colour.txt", Text(Advice(), 120, false, true)); }

TEST(AdviceText, IsNeverWiderThanTheTerminal) {
  for (int width = 40; width <= 220; ++width) {
    EXPECT_LE(WidestLine(Text(Advice(), width, true)), width) << "at " << width;
  }
}

TEST(AdviceText, ShowsTheBestRowOfEveryGpuAndPartition) {
  EXPECT_EQ(RanksShown(Advice(), false), (std::vector<int64_t>{1, 2, 4}));
  EXPECT_EQ(RanksShown(Advice(), true).size(), 5u);
  json advice = Advice();
  advice["strategies"][2]["partition"] = "other";
  EXPECT_EQ(RanksShown(advice, false), (std::vector<int64_t>{1, 2, 3, 4}));
}

TEST(AdviceText, PartitionsThatDifferStayInTheTable) {
  json advice = Advice();
  advice["strategies"][1]["partition"] = "other";
  ExpectGolden("advise_two_partitions.txt", Text(advice, 100));
}

TEST(AdviceText, RowsThatOnlyTheirPartitionsTellApartKeepThem) {
  json advice = Advice();
  json other = advice["strategies"][0];
  other["rank"] = 2;
  other["partition"] = "other";
  advice["strategies"] = {advice["strategies"][0], other};
  for (const int width : {60, 80}) {
    EXPECT_NE(Text(advice, width).find("PARTITION"), std::string::npos) << Text(advice, width);
  }
}

TEST(AdviceText, ANoteOfEveryRowIsSaidOnce) {
  json advice = Advice();
  for (json& row : advice["strategies"]) row["notes"].push_back("the timing is a rough guess");
  const std::string text = Text(advice, 80);
  EXPECT_NE(text.find("Every row: the timing is a rough guess\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("rough guess"), text.rfind("rough guess")) << text;
}

TEST(AdviceText, ADeadlineThatEveryRowMissesIsSaid) {
  json advice = Advice();
  advice["deadline"] = kNow + 3600;
  double chance = .2;
  for (json& row : advice["strategies"]) {
    row["deadline_chance"] = chance;
    row["makes_deadline"] = false;
    chance += .1;
  }
  const std::string said =
      "Deadline: no row is done by today 15:13 with 90 % probability; the most likely is row 5 (60 "
      "%)";
  EXPECT_NE(Text(advice, 200).find(said), std::string::npos) << Text(advice, 200);
  advice["strategies"][2]["makes_deadline"] = true;
  EXPECT_EQ(Text(advice, 200).find("Deadline: "), std::string::npos);
}

TEST(AdviceText, PricesAreShown) {
  json advice = Advice();
  advice["strategies"][0]["cost"] = 12.5;
  advice["strategies"][1]["cost"] = 300.4;
  ExpectGolden("advise_cost.txt", Text(advice, 120));
}

TEST(AdviceText, NothingPossibleSaysWhy) {
  json advice = Advice();
  advice["strategies"] = json::array();
  ExpectGolden("advise_none.txt", Text(advice, 80));
}

TEST(AdviceText, OldDataIsSaidAloud) {
  json advice = Advice();
  advice["snapshot_age_seconds"] = 605;
  advice["meta"]["stale_cause"] = "slurmctld does not answer";
  const std::string text = Text(advice, 120);
  EXPECT_NE(text.find("cluster seed, 10 m old"), std::string::npos);
  EXPECT_NE(text.find("Warning: The data is 10 m old: slurmctld does not answer"),
            std::string::npos);
}

TEST(AdviceText, ControlCharactersNeverReachTheTerminal) {
  json advice = Advice();
  const std::string evil = "x\033]0;owned\007\r\n\u009b2J\u202egnp";
  advice["name"] = evil;
  advice["strategies"][0]["gpu_name"] = evil;
  advice["strategies"][0]["partition"] = evil;
  advice["strategies"][0]["notes"] = {evil};
  advice["strategies"][0]["reasons"] = {evil};
  advice["rejected"][0]["reasons"] = {evil};
  advice["tips"] = {evil};
  advice["meta"]["cluster"] = evil;
  advice["meta"]["stale_cause"] = evil;
  const std::string text = Text(advice, 120, true);
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    EXPECT_TRUE(byte == '\n' || (byte >= 0x20 && byte != 0x7f));
  }
  EXPECT_EQ(text.find("\u009b"), std::string::npos);
  EXPECT_EQ(text.find("\u202e"), std::string::npos);
}

TEST(AdviceText, WithoutStrategiesThatCanBeReadItSaysThatNothingRuns) {
  for (const char* strange : {"{}", R"({"strategies": 5})",
                              R"({"training": [], "rejected": [1], "tips": {}, "meta": 7})"}) {
    const std::string text = Text(json::parse(strange), 80, true);
    EXPECT_NE(text.find("cluster ?, 0 s old"), std::string::npos) << text;
    EXPECT_NE(text.find("No strategy can run this job"), std::string::npos) << text;
  }
}

TEST(AdviceText, StrategiesOfAnotherVersionAreRowsOfTheTable) {
  for (const char* strange : {R"({"strategies": [5, {}, null]})",
                              R"({"strategies": [{"rank": "x", "nodes": [], "cost": "y"}]})",
                              R"({"strategies": [{"total_p50_seconds": 1e300}]})"}) {
    const std::string text = Text(json::parse(strange), 80, true);
    EXPECT_EQ(text.find("No strategy can run this job"), std::string::npos) << text;
    EXPECT_LE(WidestLine(text), 80) << text;
  }
}

TEST(AdviceText, WhatIsStrangeAroundTheStrategiesLeavesThemAlone) {
  json advice = Advice();
  const std::string row = "RTX 4090 × 4";
  ASSERT_NE(Text(advice, 120).find(row), std::string::npos);
  advice["training"] = json::array();
  advice["rejected"] = {1};
  advice["tips"] = json::object();
  advice["meta"] = 7;
  EXPECT_NE(Text(advice, 120).find(row), std::string::npos);
}

TEST(Promise, SaysStartAndEnd) {
  const json advice = Advice();
  EXPECT_EQ(PromiseSentence(Strategy(advice, 0), kNow),
            "starts today 14:21 (16:03), done tomorrow 01:11 (04:00)");
  api::Strategy dated = Strategy(advice, 0);
  dated.deadline_chance = 0.597;
  EXPECT_EQ(PromiseSentence(dated, kNow),
            PromiseSentence(Strategy(advice, 0), kNow) + ", 59 % likely by the deadline");
  EXPECT_EQ(PromiseSentence(Strategy(advice, 3), kNow), "starts now, done tomorrow 10:53 (13:00)");
}

TEST(Names, SeveralNodesAreSaid) {
  EXPECT_EQ(StrategyName(Strategy(Advice(), 0)), "RTX 4090 × 4");
  EXPECT_EQ(StrategyName(Strategy(Advice(), 4)), "RTX 2080 Ti × 4 × 2 nodes");
}

TEST(AdviceText, WhatIsAssumedIsSaidOnce) {
  json answer = Advice();
  answer["assumed"] = {"512 tokens a sample: give training.max_seq_length"};
  const std::string text = Text(answer, 100);
  const size_t at = text.find("Assumed: 512 tokens a sample: give training.max_seq_length\n");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.find("Assumed", at + 1), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::client
