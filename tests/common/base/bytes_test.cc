#include "common/base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gpuadvise {
namespace {

int64_t Count(const Result<Bytes>& bytes) { return bytes ? bytes->count : -1; }

TEST(Bytes, GbIsDecimalAndGibIsBinary) {
  EXPECT_EQ(Count(ParseBytes("5 GB")), 5'000'000'000);
  EXPECT_EQ(Count(ParseBytes("5 GiB")), 5LL << 30);
  EXPECT_EQ(Count(ParseBytes("1.2GB")), 1'200'000'000);
  EXPECT_EQ(Count(ParseBytes(" 512 mib ")), 512LL << 20);
  EXPECT_EQ(Count(ParseBytes("700 B")), 700);
}

TEST(Bytes, SlurmsLetterIsBinary) { EXPECT_EQ(Count(ParseBytes("30G")), 30LL << 30); }

TEST(Bytes, MissingUnitIsRefusedWithTheRemedy) {
  const auto bytes = ParseBytes("30");
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(
      bytes.error().message,
      "The amount \"30\" has no unit; write it like 5 GB (10^9 bytes) or 5 GiB (2^30 bytes).");
}

TEST(Bytes, NonsenseIsRefused) {
  for (const char* text : {"", "GB", "-5 GB", "5 XB", "5 GB GB", "1.2.3 GB", "1e5 GB", "nan GB",
                           "inf", "99999999999 TB", ".", "0x10 GB"}) {
    EXPECT_FALSE(ParseBytes(text).has_value()) << text;
  }
}

TEST(SlurmMemory, BareNumberIsMib) {
  EXPECT_EQ(Count(ParseSlurmMemory("8192")), 8LL << 30);
  EXPECT_EQ(Count(ParseSlurmMemory("1500M")), 1500LL << 20);
  EXPECT_EQ(Count(ParseSlurmMemory("30G")), 30LL << 30);
  EXPECT_EQ(Count(ParseSlurmMemory("60gb")), 60LL << 30);
  EXPECT_EQ(Count(ParseSlurmMemory("1.5T")), 3LL << 39);
  EXPECT_EQ(Count(ParseSlurmMemory("4096", 'K')), 4LL << 20);
  EXPECT_EQ(Count(ParseSlurmMemory("0")), 0);
}

TEST(SlurmMemory, OtherUnitsAreNotSlurms) {
  for (const char* text : {"30 GB", "30GiB", "", "G", "12B", "-1"}) {
    EXPECT_FALSE(ParseSlurmMemory(text).has_value()) << text;
  }
}

TEST(Bytes, FormatsWithThreeDigits) {
  EXPECT_EQ(FormatDecimalBytes(Bytes{0}), "0 B");
  EXPECT_EQ(FormatDecimalBytes(Bytes{5'000'000'000}), "5 GB");
  EXPECT_EQ(FormatDecimalBytes(Bytes{21'340'000'000}), "21.3 GB");
}

TEST(Bytes, SlurmTextNeverAsksForLess) {
  EXPECT_EQ(FormatSlurmMemory(Bytes{30LL << 30}), "30G");
  EXPECT_EQ(FormatSlurmMemory(Bytes{5'000'000'000}), "4769M");
  EXPECT_EQ(FormatSlurmMemory(Bytes{1}), "1M");
}

RC_GTEST_PROP(BytesProperty, SlurmTextReadsBackRoundedUp, ()) {
  const Bytes bytes{*rc::gen::inRange<int64_t>(0, 1LL << 45)};
  const auto again = ParseSlurmMemory(FormatSlurmMemory(bytes));
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->count >= bytes.count && again->count - bytes.count < (1 << 20));
}

}  // namespace
}  // namespace gpuadvise
