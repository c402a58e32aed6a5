#include "client/terminal/display.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "client/terminal/console.h"
#include "client/terminal/printable.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

constexpr int64_t kNow = 1790000000;  // Mon 21 Sep 2026 14:13:20 UTC
constexpr int64_t kHour = 3600;
constexpr int64_t kDay = 86400;

TEST(Display, InAsciiColumnsStayWhereTheyAre) {
  EXPECT_EQ(InAscii("GPU   ½ NODE  4 × L40S … –"), "GPU 1/2 NODE  4 x L40S ~ -");
  EXPECT_EQ(InAscii("½ NODE ½"), "1/2 NODE 1/2");
  EXPECT_EQ(InAscii("한글 é\xff"), "???? ??");
  EXPECT_EQ(InAscii("plain\n\033[1m"), "plain\n\033[1m");
}

TEST(Display, TheLocaleSaysWhetherUtf8IsShown) {
  EXPECT_TRUE(LocaleShowsUtf8(nullptr, nullptr, "en_US.UTF-8"));
  EXPECT_TRUE(LocaleShowsUtf8("", "C.utf8", "C"));
  EXPECT_FALSE(LocaleShowsUtf8("C", "C.utf8", "en_US.UTF-8"));
  EXPECT_FALSE(LocaleShowsUtf8(nullptr, nullptr, "de_DE.ISO-8859-1"));
  EXPECT_FALSE(LocaleShowsUtf8(nullptr, nullptr, nullptr));
}

TEST(Width, CountsColumns) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("×–…"), 3);
  EXPECT_EQ(DisplayWidth("한글"), 4);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);
  EXPECT_EQ(DisplayWidth("می\u200cخ"), 3);
  EXPECT_EQ(DisplayWidth("葛\U000e0100"), 2);
}

TEST(Clipping, EndsInAnEllipsis) {
  EXPECT_EQ(Clipped("abcdef", 6), "abcdef");
  EXPECT_EQ(Clipped("abcdef", 4), "abc…");
  EXPECT_EQ(Clipped("ab cdef", 4), "ab…");
  EXPECT_EQ(Clipped("한글한글", 4), "한…");
  EXPECT_EQ(Clipped("می\u200cخواهم", 3), "می…");
  EXPECT_EQ(Clipped("abc", 0), "");
}

TEST(Wrapping, BreaksAtBlanks) {
  EXPECT_EQ(Wrapped("one two three", 8), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(Wrapped("abcdefgh ij", 4), (std::vector<std::string>{"abcd", "efgh", "ij"}));
  EXPECT_EQ(Wrapped("", 10), (std::vector<std::string>{""}));
  EXPECT_EQ(Wrapped("ab c", 4), (std::vector<std::string>{"ab c"}));
}

TEST(Wrapping, EveryLineFitsAndNoTextIsLost) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    const std::string text = Printable(bytes);
    const int width = *rc::gen::inRange(2, 30);
    std::string without_blanks;
    std::string joined;
    for (char c : text) without_blanks += c == ' ' ? "" : std::string(1, c);
    for (const std::string& line : Wrapped(text, width)) {
      RC_ASSERT(DisplayWidth(line) <= width);
      for (char c : line) joined += c == ' ' ? "" : std::string(1, c);
    }
    RC_ASSERT(joined == without_blanks);
  }));
}

TEST(Clock, DaysHaveWords) {
  EXPECT_EQ(ClockTime(kNow, kNow), "today 14:13");
  EXPECT_EQ(ClockTime(kNow + 10 * kHour, kNow), "tomorrow 00:13");
  EXPECT_EQ(ClockTime(kNow + 2 * kDay, kNow), "Wed 14:13");
  EXPECT_EQ(ClockTime(kNow + 6 * kDay, kNow), "Sun 14:13");
  EXPECT_EQ(ClockTime(kNow + 7 * kDay, kNow), "28 Sep 14:13");
  EXPECT_EQ(ClockTime(kNow + 120 * kDay, kNow), "19 Jan 2027 14:13");
}

TEST(Clock, ARangeNamesTheSecondDayOnlyWhereItDiffers) {
  EXPECT_EQ(ClockRange(kNow, kNow + kHour, kNow), "today 14:13 (15:13)");
  EXPECT_EQ(ClockRange(kNow, kNow + kDay, kNow), "today 14:13 (tomorrow 14:13)");
  EXPECT_EQ(ClockRange(kNow, kNow + 10, kNow), "today 14:13");
}

TEST(Durations, EqualOnesAreOne) {
  EXPECT_EQ(DurationRange(480, 6600), "8 m (1 h 50)");
  EXPECT_EQ(DurationRange(7, 7), "7 s");
  EXPECT_EQ(WaitRange(7, 7), "now");
  EXPECT_EQ(WaitRange(0, 300), "now (5 m)");
  EXPECT_EQ(DurationRange(3600, 3610), "1 h");
}

TEST(StartInWords, SaysNowOfAStartAlone) {
  EXPECT_EQ(StartInWords(3, 9), "starts now");
  EXPECT_EQ(StartInWords(0, 480), "starts now (p90 in 8 m)");
  EXPECT_EQ(StartInWords(480, 6600), "starts in 8 m (1 h 50)");
}

TEST(Numbers, AreGrouped) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(10000), "10,000");
  EXPECT_EQ(Grouped(-1234567), "-1,234,567");
}

}  // namespace
}  // namespace gpuadvise::client
