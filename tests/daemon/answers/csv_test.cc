#include "daemon/answers/csv.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace gpuadvise::daemon {
namespace {

std::string Cell(std::string_view text) {
  CsvText file;
  file.Add(text);
  return std::move(file).Take();
}

// The cells of a file, read as RFC 4180 says.
std::vector<std::vector<std::string>> Read(const std::string& file) {
  std::vector<std::vector<std::string>> lines(1);
  std::string cell;
  bool quoted = false;
  for (size_t i = 0; i < file.size(); ++i) {
    const char c = file[i];
    if (quoted && c == '"' && file.substr(i, 2) != "\"\"") {
      quoted = false;
    } else if (quoted) {
      cell += c;
      if (c == '"') ++i;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '\r') {
      lines.back().push_back(std::exchange(cell, ""));
      if (c == ',') continue;
      EXPECT_EQ(file[++i], '\n');
      lines.emplace_back();
    } else {
      cell += c;
    }
  }
  lines.pop_back();
  return lines;
}

TEST(Csv, TextStandsInQuotesAndNumbersDoNot) {
  CsvText file;
  file.Add("a,\"b\"");
  file.Add(int64_t{-5});
  file.Add(std::optional<std::string>());
  file.Add(std::optional<int64_t>(7));
  file.EndLine();
  file.Add("");
  file.EndLine();
  EXPECT_EQ(std::move(file).Take(), "\"a,\"\"b\"\"\",-5,,7\r\n\"\"\r\n");
}

TEST(Csv, WhatASpreadsheetTakesForAFormulaIsText) {
  for (const char* evil :
       {"=1", "+1", "-1", "@x", "|calc", "%0A", " =1", "\t=1", "\r\n=1", "\u00A0=1",
        "\u3000\uFEFF =1", "\u2028=1", "\uFF1D1", "\uFF0B1", "\uFF0D1", "\uFF201"}) {
    EXPECT_TRUE(Cell(evil).starts_with("\"'")) << evil;
  }
  for (const char* harmless : {"a=1", "1-2", "", " ", "'=1", "\u200b", "가=1"}) {
    EXPECT_FALSE(Cell(harmless).starts_with("\"'") && harmless[0] != '\'') << harmless;
  }
}

TEST(Csv, ControlCharactersAndLineEndsAreABlank) {
  EXPECT_EQ(Cell("a\r\nb"), "\"a b\"");
  EXPECT_EQ(Cell(std::string_view("a\0\x1b\x7f\tb", 6)), "\"a b\"");
  EXPECT_EQ(Cell("a\u2028\u2029b"), "\"a b\"");
}

RC_GTEST_PROP(Csv, AnyTextIsOneCellOfOneLine,
              (const std::vector<std::vector<std::string>>& texts)) {
  CsvText file;
  for (const auto& line : texts) {
    file.Add("first");
    for (const std::string& text : line) file.Add(text);
    file.EndLine();
  }
  const auto lines = Read(std::move(file).Take());
  RC_ASSERT(lines.size() == texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    RC_ASSERT(lines[i].size() == texts[i].size() + 1);
    for (const std::string& cell : lines[i]) {
      RC_ASSERT(cell.find_first_of("\r\n") == std::string::npos);
      RC_ASSERT(cell.empty() || std::string_view("=+-@|%").find(cell.front()) == std::string::npos);
    }
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
