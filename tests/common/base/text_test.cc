#include "common/base/text.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Text, OnlyAsciiLettersHaveACase) {
  EXPECT_EQ(LowerCase("RTX 4090 \xC3\x84"), "rtx 4090 \xC3\x84");
  EXPECT_TRUE(EqualIgnoringCase("None", "NONE"));
  EXPECT_FALSE(EqualIgnoringCase("None", "NON"));
}

TEST(Text, APartIsFoundInAnyCaseAndNothingInEverything) {
  EXPECT_TRUE(ContainsIgnoringCase("PreemptType=preempt/QOS", "qos"));
  EXPECT_FALSE(ContainsIgnoringCase("qo", "qos"));
  EXPECT_TRUE(ContainsIgnoringCase("", ""));
}

TEST(Text, SplittingKeepsEmptyParts) {
  EXPECT_EQ(SplitAt("a,,b", ','), (Parts{"a", "", "b"}));
  EXPECT_EQ(SplitAt("a,", ','), (Parts{"a", ""}));
  EXPECT_EQ(SplitAt(",", ','), (Parts{"", ""}));
  EXPECT_TRUE(SplitAt("", ',').empty());
}

TEST(Text, JoiningPutsASeparatorBetweenTwo) {
  EXPECT_EQ(Join(std::vector<std::string>{"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(Join({}, ","), "");
}

TEST(Text, TrimmingLeavesBlanksInside) {
  EXPECT_EQ(Trim(" \ta b\r"), "a b");
  EXPECT_EQ(Trim(" \t "), "");
}

TEST(Text, WhatIsPutInIsNotReplacedAgain) {
  EXPECT_EQ(ReplaceAll("a-b--c", "-", "--"), "a--b----c");
}

TEST(Text, ALineEndsBeforeEitherLineEnd) {
  std::string_view text = "a\r\n\nb";
  EXPECT_EQ(TakeLine(text), "a");
  EXPECT_EQ(TakeLine(text), "");
  EXPECT_EQ(TakeLine(text), "b");
  EXPECT_TRUE(text.empty());
}

TEST(OneLine, HasNoControlCharactersAndIsCutBetweenCharacters) {
  EXPECT_EQ(OneLine("a\x1b[31m\n\t\x7f\xc2\x9b"
                    "2Jü",
                    100),
            "a?[31m????2Jü");
  EXPECT_EQ(OneLine("aü", 3), "aü");
  EXPECT_EQ(OneLine("aüb", 2), "a…");
  EXPECT_EQ(OneLine("", 0), "");
}

}  // namespace
}  // namespace gpuadvise
