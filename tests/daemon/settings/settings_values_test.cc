#include "daemon/settings/settings_values.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kNone{0};
constexpr milliseconds kYear{std::chrono::hours(24 * 365)};

Result<milliseconds> DurationOf(const json& value) {
  constexpr SettingForm kForm = {"duration", 0, kYear.count(), false};
  milliseconds duration{-1};
  const Result<void> read = ReadSetting({value, "/d", kForm}, duration);
  return read ? Result<milliseconds>(duration) : tl::unexpected<Error>(read.error());
}

// Up to `most` bytes.
Result<Bytes> SizeOf(const json& value, double most) {
  const SettingForm form = {"size", 0, most, false};
  Bytes size;
  const Result<void> read = ReadSetting({value, "/s", form}, size);
  return read ? Result<Bytes>(size) : tl::unexpected<Error>(read.error());
}

RC_GTEST_PROP(SettingsValues, ADurationThatIsShownReadsBackExactly, ()) {
  const milliseconds duration(*rc::gen::inRange<int64_t>(1, kYear.count()));
  const std::string text = DurationText(duration);
  const auto again = DurationOf(json(text));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == duration);
}

RC_GTEST_PROP(SettingsValues, AnyTextIsADurationOrASentence, (const std::string& text)) {
  const auto duration = DurationOf(json(text));
  const bool settled = duration ? *duration >= kNone : !duration.error().message.empty();
  RC_ASSERT(settled);
}

TEST(SettingsValues, DurationsAreShownInTheLargestWholeUnit) {
  EXPECT_EQ(DurationText(milliseconds(0)), "0s");
  EXPECT_EQ(DurationText(milliseconds(1500)), "1500ms");
  EXPECT_EQ(DurationText(std::chrono::seconds(90)), "90s");
  EXPECT_EQ(DurationText(std::chrono::minutes(90)), "90m");
  EXPECT_EQ(DurationText(std::chrono::hours(24)), "24h");
}

RC_GTEST_PROP(SettingsValues, ASizeThatIsShownReadsBackExactly, ()) {
  const auto bytes = *rc::gen::inRange<int64_t>(0, INT64_C(1) << 50);
  const auto again = SizeOf(json(SizeText(Bytes{bytes})), 0x1p50);
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->count == bytes);
}

TEST(SettingsValues, SizesAreShownInTheLargestWholeUnit) {
  EXPECT_EQ(SizeText(Bytes{1'000'000'000}), "1 GB");
  EXPECT_EQ(SizeText(Bytes{64'000'000}), "64 MB");
  EXPECT_EQ(SizeText(Bytes{64'000'001}), "64000001 B");
  EXPECT_EQ(SizeOf(json("1 GiB"), 0x1p50).value(), Bytes{1LL << 30});
  EXPECT_EQ(SizeOf(json(5), 10).value(), Bytes{5});
  for (const json& wrong : {json("1"), json(-5), json(11), json(true), json("11 B"), json(1.5)}) {
    EXPECT_FALSE(SizeOf(wrong, 10)) << wrong;
  }
}

TEST(SettingsValues, NumbersThatAreNoneAreRefused) {
  EXPECT_FALSE(DurationOf(json("nan")));
  EXPECT_FALSE(DurationOf(json("inf")));
  EXPECT_FALSE(DurationOf(json("1e999s")));
  EXPECT_FALSE(DurationOf(json("0x10")));
  EXPECT_FALSE(DurationOf(json::array()));
}

TEST(SettingsValues, AnUnknownKeyPointsAtItself) {
  const Error error = UnknownKey("a/b", "/outer", {"one", "two"});
  EXPECT_EQ(error.pointer, "/outer/a~1b");
  EXPECT_EQ(error.message, "unknown key outer.a/b; known are one and two");
}

}  // namespace
}  // namespace gpuadvise::daemon
