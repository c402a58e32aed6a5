#include "common/base/slurm_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gpuadvise {
namespace {

int64_t Seconds(std::string_view text) {
  const auto time = ParseSlurmDuration(text);
  EXPECT_TRUE(time.has_value()) << text;
  return time ? time->value_or(-1) : -2;
}

TEST(SlurmTime, BareNumberIsMinutes) { EXPECT_EQ(Seconds("90"), 5400); }
TEST(SlurmTime, MinutesAndSeconds) { EXPECT_EQ(Seconds("90:30"), 5430); }
TEST(SlurmTime, HoursMinutesSeconds) { EXPECT_EQ(Seconds("12:00:05"), 43205); }
TEST(SlurmTime, DaysAndHours) { EXPECT_EQ(Seconds("2-12"), 216000); }
TEST(SlurmTime, DaysHoursMinutes) { EXPECT_EQ(Seconds("1-02:30"), 95400); }
TEST(SlurmTime, DaysHoursMinutesSeconds) { EXPECT_EQ(Seconds("1-02:30:15"), 95415); }
TEST(SlurmTime, ZeroElapsedIsZero) { EXPECT_EQ(Seconds("0:00"), 0); }

TEST(SlurmTime, UnlimitedAndInfiniteAreInfinite) {
  for (const char* text : {"UNLIMITED", "INFINITE", "unlimited"}) {
    EXPECT_EQ(ParseSlurmDuration(text), SlurmNumber::Infinite()) << text;
  }
}

TEST(SlurmTime, NotSetInvalidPartitionLimitAndNotAvailableAreAbsent) {
  for (const char* text : {"NOT_SET", "INVALID", "Partition_Limit", "N/A", "NONE", ""}) {
    EXPECT_EQ(ParseSlurmDuration(text), SlurmNumber::Absent()) << text;
  }
}

TEST(SlurmTime, OtherFormsGetASentence) {
  for (const char* text : {"12h", "1d", "1:2:3:4", "1-", "-5", "1-2-3", "::", "1-1:2:3:4", "1.5",
                           "9999999999", " 5"}) {
    const auto time = ParseSlurmDuration(text);
    ASSERT_FALSE(time.has_value()) << text;
    EXPECT_NE(time.error().message.find("HH:MM:SS"), std::string::npos);
  }
}

TEST(TimeLimit, ZeroAsksForNoLimit) {
  EXPECT_EQ(ParseTimeLimit("0"), SlurmNumber::Infinite());
  EXPECT_EQ(ParseTimeLimit("0:30"), SlurmNumber(30));
}

TEST(Duration, PrintsAsSlurmDoes) {
  EXPECT_EQ(FormatDuration(43200), "12:00:00");
  EXPECT_EQ(FormatDuration(129600), "1-12:00:00");
}

RC_GTEST_PROP(SlurmTimeProperty, PrintedDurationsReadBack, ()) {
  const int64_t seconds = *rc::gen::inRange<int64_t>(0, 400 * 86400);
  RC_ASSERT(ParseSlurmDuration(FormatDuration(seconds)) == SlurmNumber(seconds));
}

// The moment; -1 for "no time"; -2, with a failure, for an error.
UnixSeconds Moment(std::string_view text) {
  const auto time = ParseTimestamp(text);
  EXPECT_TRUE(time.has_value()) << text;
  return time ? time->value_or(-1) : -2;
}

TEST(Timestamp, IsReadInUtc) {
  EXPECT_EQ(Moment("1970-01-02T00:00:01"), 86401);
  EXPECT_EQ(Moment("2026-11-20T10:00:00"), 1795168800);
}

TEST(Timestamp, UnixSecondsArePassedThrough) { EXPECT_EQ(Moment("1795168800"), 1795168800); }

TEST(Timestamp, UnknownIsNoTime) {
  for (const char* text : {"Unknown", "N/A", "None", "NONE", "(null)", ""}) {
    EXPECT_EQ(Moment(text), -1) << text;
  }
}

TEST(Timestamp, ImpossibleDatesAreRefused) {
  for (const char* text : {"2026-02-30T10:00:00", "2026-11-20", "2026-11-20T24:00:00", "tomorrow",
                           "2026-13-01T00:00:00", "2026-11-20T10:00:0x"}) {
    EXPECT_FALSE(ParseTimestamp(text).has_value()) << text;
  }
}

RC_GTEST_PROP(TimestampProperty, PrintedMomentsReadBack, ()) {
  const UnixSeconds time = *rc::gen::inRange<int64_t>(0, 4102444800);
  RC_ASSERT(Moment(FormatTimestamp(time)) == time);
}

}  // namespace
}  // namespace gpuadvise
