#include "common/base/date_time.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace gpuadvise {
namespace {

constexpr int64_t kNow = 1790000000;  // Mon 21 Sep 2026 14:13:20 UTC
constexpr int64_t kMidnight = kNow - 14 * 3600 - 13 * 60 - 20;
constexpr int64_t kDay = 86400;

int64_t Moment(std::string_view text, DayMeans day = DayMeans::kItsStart) {
  const Result<int64_t> moment = ParseDateTime(text, kNow, day);
  EXPECT_TRUE(moment) << (moment ? "" : moment.error().message);
  return moment.value_or(-1);
}

TEST(Moment, OffsetsFromNow) {
  EXPECT_EQ(Moment("now"), kNow);
  EXPECT_EQ(Moment("now+2hours"), kNow + 7200);
  EXPECT_EQ(Moment("now+1hour"), kNow + 3600);
  EXPECT_EQ(Moment("now+90"), kNow + 90);
  EXPECT_EQ(Moment("+2d"), kNow + 2 * kDay);
  EXPECT_EQ(Moment("now+30 minutes"), kNow + 1800);
}

TEST(Moment, ATimeOfDayThatHasPassedIsTomorrows) {
  EXPECT_EQ(Moment("18:00"), kMidnight + 18 * 3600);
  EXPECT_EQ(Moment("6:30PM"), kMidnight + 18 * 3600 + 1800);
  EXPECT_EQ(Moment("12:15am"), kMidnight + kDay + 900);
  EXPECT_EQ(Moment("09:00"), kMidnight + kDay + 9 * 3600);
  EXPECT_EQ(Moment("noon"), kMidnight + kDay + 12 * 3600);
  EXPECT_EQ(Moment("teatime"), kMidnight + 16 * 3600);
}

TEST(Moment, Days) {
  EXPECT_EQ(Moment("tomorrow"), kMidnight + kDay);
  EXPECT_EQ(Moment("fri"), kMidnight + 4 * kDay);
  EXPECT_EQ(Moment("Monday"), kMidnight + 7 * kDay);
  EXPECT_EQ(Moment("friday 18:00"), kMidnight + 4 * kDay + 18 * 3600);
  EXPECT_EQ(Moment("2026-09-25"), kMidnight + 4 * kDay);
  EXPECT_EQ(Moment("2026-09-25T18:00"), kMidnight + 4 * kDay + 18 * 3600);
  EXPECT_EQ(Moment("2026-09-25 18:00:30"), kMidnight + 4 * kDay + 18 * 3600 + 30);
}

TEST(Moment, ADeadlineOnADayMeansItsEnd) {
  EXPECT_EQ(Moment("fri", DayMeans::kItsEnd), kMidnight + 5 * kDay - 1);
  EXPECT_EQ(Moment("fri 09:00", DayMeans::kItsEnd), kMidnight + 4 * kDay + 9 * 3600);
}

TEST(Moment, UnixSeconds) { EXPECT_EQ(Moment("1790086400"), 1790086400); }

TEST(Moment, WhatIsNoTimeIsNamed) {
  for (const char* text : {"", "soon", "25:00", "12:60", "13:00pm", "2026-02-31", "now+", "now+2x",
                           "fri 25:00", "2026-13-01", "99999999999999999999", "18:00x"}) {
    const Result<int64_t> moment = ParseDateTime(text, kNow);
    ASSERT_FALSE(moment) << text;
    EXPECT_EQ(moment.error().message.find(std::string("\"") + text + "\" is not a time"), 0u);
  }
}

TEST(Moment, AnyTextIsATimeOrASentence) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    const Result<int64_t> moment = ParseDateTime(text, kNow);
    RC_ASSERT((moment || !moment.error().message.empty()));
  }));
}

}  // namespace
}  // namespace gpuadvise
