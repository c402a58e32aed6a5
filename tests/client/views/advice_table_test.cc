#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/terminal/display.h"
#include "client/views/advice_view.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kNow = 1790000000;

class AdviceTableTest : public testing::Test {
 protected:
  AdviceTable At(int width) const {
    const auto read = FromJson<api::Advice>(advice);
    return MakeAdviceTable(RowsToShow(read, true), 1, kNow, width);
  }
  // The header with runs of blanks made one.
  std::string HeaderAt(int width) const {
    const AdviceTable table = At(width);
    std::string header;
    for (char c : table.lines.front()) {
      if (c != ' ' || (!header.empty() && header.back() != ' ')) header += c;
    }
    return header;
  }
  json advice = json::parse(TestData("advice.json"));
};

TEST_F(AdviceTableTest, GivesUpItsColumnsOneByOne) {
  EXPECT_EQ(HeaderAt(200),
            "# STRATEGY PARTITION WAIT p50 (p90) RUN DONE p50 (p90) COST BATCH × ACC × GPUS");
  EXPECT_EQ(HeaderAt(112),
            "# STRATEGY PARTITION WAIT p50 (p90) RUN DONE p50 (p90) BATCH × ACC × GPUS");
  EXPECT_EQ(HeaderAt(104), "# STRATEGY WAIT p50 (p90) RUN DONE p50 (p90) BATCH × ACC × GPUS");
  EXPECT_EQ(HeaderAt(96), "# STRATEGY WAIT p50 (p90) RUN DONE p50 (p90) BATCH×ACC×GPUS");
  EXPECT_EQ(HeaderAt(88), "# STRATEGY WAIT p50 (p90) RUN DONE p50 BATCH×ACC×GPUS");
  EXPECT_EQ(HeaderAt(76), "# STRATEGY WAIT p50 (p90) RUN DONE p50");
  EXPECT_EQ(HeaderAt(62), "# STRATEGY WAIT p50 DONE p50");
}

TEST_F(AdviceTableTest, SaysWhoMakesADeadline) {
  EXPECT_EQ(HeaderAt(200).find("IN TIME"), std::string::npos);
  for (json& row : advice["strategies"]) {
    row["deadline_chance"] = 0.126;
    row["makes_deadline"] = false;
  }
  advice["strategies"][0].update({{"deadline_chance", 0.969}, {"makes_deadline", true}});
  EXPECT_NE(At(200).lines[1].find("  yes (96 %)  "), std::string::npos) << At(200).lines[1];
  EXPECT_NE(At(200).lines[2].find("  no (12 %)   "), std::string::npos) << At(200).lines[2];
  EXPECT_NE(HeaderAt(76).find("IN TIME"), std::string::npos);  // it was asked for: it stays
}

TEST_F(AdviceTableTest, APartitionThatLeftTheTableIsHandedBack) {
  EXPECT_EQ(At(200).shared_partition, "");
  EXPECT_EQ(At(100).shared_partition, "gpu_shared");
}

TEST_F(AdviceTableTest, PricesLeaveLaterThanEmptyCosts) {
  advice["strategies"][0]["cost"] = 3;
  EXPECT_NE(HeaderAt(104).find("COST"), std::string::npos);
  EXPECT_EQ(HeaderAt(80).find("COST"), std::string::npos);
}

TEST_F(AdviceTableTest, OnlyTheChosenRowIsMarked) {
  const std::vector<std::string> lines = At(120).lines;
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_TRUE(lines[1].starts_with("✔ 1  RTX 4090 × 4"));
  for (size_t i = 2; i < lines.size(); ++i) EXPECT_TRUE(lines[i].starts_with("  ")) << lines[i];
}

TEST_F(AdviceTableTest, ColumnsBeginAtTheSamePlaceInEveryLine) {
  const std::vector<std::string> lines = At(200).lines;
  const size_t partition = lines[0].find("PARTITION");
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string before = lines[i].substr(0, lines[i].find("gpu_shared"));
    EXPECT_EQ(static_cast<size_t>(DisplayWidth(before)), partition);
  }
}

TEST_F(AdviceTableTest, WithoutRowsIsAHeaderOnly) {
  EXPECT_EQ(MakeAdviceTable({}, 1, kNow, 80).lines.size(), 1u);
}

}  // namespace
}  // namespace gpuadvise::client
