#include "client/top/top_view.h"

#include <gtest/gtest.h>

#include <random>

#include "client/api/answer_reader.h"
#include "client/terminal/display.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Kind = TopKey::Kind;

TopData Known() {
  TopData data;
  data.queue = ReadAnswer<api::Queue>(json::parse(TestData("queue.json")));
  data.gpus = ReadAnswer<api::Gpus>(json::parse(TestData("gpus.json")));
  data.own_user = "ann";
  data.now = 1790000000;
  return data;
}

std::string Screen(const TopData& data, const TopState& state, const TopSize& size) {
  constexpr const char* kMarks[] = {"  ", "T ", "H ", "> ", "d ", "! "};
  std::string text;
  for (const TopLine& line : DrawTop(data, state, size)) {
    text += kMarks[static_cast<size_t>(line.style)] + line.text + "\n";
  }
  return text;
}

TopState After(const std::string& keys, TopState state = {}) {
  const TopData data = Known();
  for (const char key : keys) {
    const TopKey typed = key == '\r'     ? TopKey{Kind::kEnter}
                         : key == '\x1b' ? TopKey{Kind::kEscape}
                                         : TopKey{Kind::kCharacter, key};
    const auto rows = TopRows(data, state);
    state = AfterKey(std::move(state), typed, rows, 10);
  }
  return state;
}

TEST(TopView, IsDrawnAtEveryWidth) {
  for (const int width : {60, 80, 120, 200}) {
    ExpectGolden("top_" + std::to_string(width) + ".txt", Screen(Known(), {}, {width, 12, false}));
  }
  ExpectGolden("top_gpus.txt", Screen(Known(), After("3"), {80, 10, false}));
  ExpectGolden("top_help.txt", Screen(Known(), After("?"), {80, 14, false}));
}

TEST(TopView, ShowsTheLogOfTheSelectedJobAndNothingThatATerminalObeys) {
  TopData data = Known();
  data.log_path = "/home/ann/evil\x1b[2J.out";
  data.log = "first\n 10%\r 50%\rstep 7\nlast \x1b]0;title\x07 line\n";
  const std::string screen = Screen(data, After("l"), {80, 14, false});
  EXPECT_EQ(screen.find('\x1b'), std::string::npos) << screen;
  EXPECT_NE(screen.find("step 7"), std::string::npos);
  EXPECT_EQ(screen.find("50%"), std::string::npos);
  EXPECT_NE(screen.find("log of job 4712"), std::string::npos) << screen;
}

TEST(TopView, AProblemIsShownAboveWhatWasKnown) {
  TopData data = Known();
  data.problem = "cannot reach gpuadvised";
  const auto lines = DrawTop(data, {}, {80, 10, false});
  EXPECT_EQ(lines.front().style, TopStyle::kWarning);
  EXPECT_NE(Screen(data, {}, {80, 10, false}).find("4712"), std::string::npos);
}

TEST(TopView, InAsciiNothingElseIsShown) {
  for (const TopLine& line : DrawTop(Known(), After("3"), {70, 12, true})) {
    for (const char c : line.text) EXPECT_GT(c, 0) << line.text;
  }
}

TEST(TopKeys, ChooseMoveFilterAndSort) {
  EXPECT_EQ(After("2").tab, TopTab::kMine);
  EXPECT_EQ(TopRows(Known(), After("2")).size(), 1u);
  EXPECT_EQ(After("jjjjjjj").selected, 2u) << "the last row";
  EXPECT_EQ(After("jjk").selected, 1u);
  EXPECT_EQ(TopRows(Known(), After("/4700\r")).size(), 1u);
  EXPECT_EQ(After("/q\r").quit, false) << "typed into the filter";
  EXPECT_EQ(After("/bob\x1b").filter, "");
  EXPECT_TRUE(After("q").quit);
  EXPECT_EQ(After("s").sort, TopSort::kUser);
  EXPECT_EQ(After("sssss").sort, TopSort::kStart);
  const auto forward = TopRows(Known(), After("s"));
  const auto backward = TopRows(Known(), After("sr"));
  EXPECT_EQ(forward.front(), backward.back());
  EXPECT_EQ(After("ll").log_of, 0);
  EXPECT_TRUE(After("?").help);
  EXPECT_FALSE(After("?\x1b").help);
}

TEST(TopView, NoKeysAndNoSizeBreakIt) {
  std::mt19937 random(7);
  TopState state;
  const TopData data = Known();
  for (int i = 0; i < 3'000; ++i) {
    const TopKey key{static_cast<Kind>(random() % 12), static_cast<char>(' ' + random() % 95)};
    if (!(key.kind == Kind::kCharacter && key.character == 'q')) {
      const auto rows = TopRows(data, state);
      state = AfterKey(std::move(state), key, rows, static_cast<int>(random() % 40));
    }
    const TopSize size{static_cast<int>(1 + random() % 220), static_cast<int>(1 + random() % 60),
                       random() % 2 == 0};
    const auto lines = DrawTop(data, state, size);
    EXPECT_LE(lines.size(), static_cast<size_t>(size.height));
    for (const TopLine& line : lines) EXPECT_LE(DisplayWidth(line.text), size.width) << line.text;
  }
  EXPECT_FALSE(DrawTop({}, {}, {80, 24, false}).empty()) << "before the first answer";
}

}  // namespace
}  // namespace gpuadvise::client
