#include "daemon/settings/settings_values.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
namespace values = settings_values;

constexpr milliseconds kNone{0};
constexpr milliseconds kYear{std::chrono::hours(24 * 365)};

RC_GTEST_PROP(SettingsValues, ADurationThatIsShownReadsBackExactly, ()) {
  const milliseconds duration(*rc::gen::inRange<int64_t>(1, kYear.count()));
  const std::string text = values::DurationText(duration);
  const auto again = values::Duration(json(text), "/d", kNone, kYear);
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == duration);
}

RC_GTEST_PROP(SettingsValues, AnyTextIsADurationOrASentence, (const std::string& text)) {
  const auto duration = values::Duration(json(text), "/d", kNone, kYear);
  const bool settled = duration ? *duration >= kNone : !duration.error().message.empty();
  RC_ASSERT(settled);
}

TEST(SettingsValues, DurationsAreShownInTheLargestWholeUnit) {
  EXPECT_EQ(values::DurationText(milliseconds(0)), "0s");
  EXPECT_EQ(values::DurationText(milliseconds(1500)), "1500ms");
  EXPECT_EQ(values::DurationText(std::chrono::seconds(90)), "90s");
  EXPECT_EQ(values::DurationText(std::chrono::minutes(90)), "90m");
  EXPECT_EQ(values::DurationText(std::chrono::hours(24)), "24h");
}

RC_GTEST_PROP(SettingsValues, ASizeThatIsShownReadsBackExactly, ()) {
  const auto bytes = *rc::gen::inRange<int64_t>(0, INT64_C(1) << 50);
  const auto again = values::Size(json(values::SizeText(bytes)), "/s", 0, INT64_C(1) << 50);
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == bytes);
}

TEST(SettingsValues, SizesAreShownInTheLargestWholeUnit) {
  EXPECT_EQ(values::SizeText(1'000'000'000), "1 GB");
  EXPECT_EQ(values::SizeText(64'000'000), "64 MB");
  EXPECT_EQ(values::SizeText(64'000'001), "64000001 B");
  EXPECT_EQ(values::Size(json("1 GiB"), "/s", 0, INT64_MAX), INT64_C(1) << 30);
  EXPECT_EQ(values::Size(json(5), "/s", 0, 10), 5);
  for (const json& wrong : {json("1"), json(-5), json(11), json(true), json("11 B"), json(1.5)}) {
    EXPECT_FALSE(values::Size(wrong, "/s", 0, 10)) << wrong;
  }
}

TEST(SettingsValues, NumbersThatAreNoneAreRefused) {
  EXPECT_FALSE(values::Duration(json("nan"), "/d", kNone, kYear));
  EXPECT_FALSE(values::Duration(json("inf"), "/d", kNone, kYear));
  EXPECT_FALSE(values::Duration(json("1e999s"), "/d", kNone, kYear));
  EXPECT_FALSE(values::Duration(json("0x10"), "/d", kNone, kYear));
  EXPECT_FALSE(values::Duration(json::array(), "/d", kNone, kYear));
}

TEST(SettingsValues, AnUnknownKeyPointsAtItself) {
  const Error error = values::UnknownKey("a/b", "/outer", {"one", "two"});
  EXPECT_EQ(error.pointer, "/outer/a~1b");
  EXPECT_EQ(error.message, "unknown key outer.a/b; known are one and two");
}

}  // namespace
}  // namespace gpuadvise::daemon
