#include "client/terminal/printable.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <nlohmann/json.hpp>

#include "common/yaml/text_check.h"
#include "tests/client/fake_console.h"

namespace gpuadvise::client {
namespace {

TEST(Printable, KeepsText) {
  for (const char* text :
       {"RTX 4090 × 4 – ½ 한글 가각", "日本語　かな ｶﾅ", "e\u0301 ñ ไทย हिन्दी עברית العربية",
        "中文，全角", "🚀 ❤️ 👩‍💻 🏳️‍🌈 ⚠️", "∑ → ✔ │ ⣿", "a\u00a0b"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Printable, ReplacesWhatSteersATerminal) {
  EXPECT_EQ(Printable("a\033[2Jb\nc\td\x7f"), "a?[2Jb?c?d?");
  EXPECT_EQ(Printable("a\u009bb"), "a?b");
  EXPECT_EQ(PrintableLines("a\nb\033\tc\r"), "a\nb?\tc?");
}

TEST(Printable, ReplacesWhatNobodySees) {
  for (const char32_t code :
       {U'\u00ad',     U'\u034f',     U'\u061c',    U'\u115f', U'\u1160',     U'\u17b4',
        U'\u180e',     U'\u200b',     U'\u200c',    U'\u200d', U'\u200e',     U'\u200f',
        U'\u2028',     U'\u2029',     U'\u202a',    U'\u202e', U'\u2060',     U'\u2064',
        U'\u2066',     U'\u2069',     U'\u206f',    U'\u2800', U'\u3164',     U'\ufe0f',
        U'\ufeff',     U'\uffa0',     U'\ufff9',    U'\uffff', U'\U0001d173', U'\U000e0001',
        U'\U000e0041', U'\U000e01ef', U'\U0010fffe'}) {
    std::string hidden;
    if (code < 0x800) {
      hidden = {static_cast<char>(0xc0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3f))};
    } else {
      if (code >= 0x10000) {
        hidden += static_cast<char>(0xf0 | (code >> 18));
        hidden += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
      } else {
        hidden += static_cast<char>(0xe0 | (code >> 12));
      }
      hidden += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
      hidden += static_cast<char>(0x80 | (code & 0x3f));
    }
    EXPECT_EQ(Printable("a" + hidden + "b"), "a?b") << std::hex << static_cast<unsigned>(code);
    const std::string escaped = PrintableJson("\"" + hidden + "\"");
    EXPECT_TRUE(escaped.starts_with("\"\\u")) << escaped;
    EXPECT_EQ(nlohmann::json::parse(escaped).get<std::string>(), hidden);
  }
}

TEST(Printable, KeepsWhatLettersAndEmojiAreSpeltWith) {
  for (const char* text : {
           "می\u200cخواهم کتاب\u200cها",  // Persian
           "क्\u200dष क्\u200cष",           // Hindi: half letter, visible virama
           "ශ්\u200dරී ලංකා",               // Sinhala
           "র\u200d্যাম",                  // Bengali
           "🏽👩🏽\u200d💻 👁\ufe0f\u200d🗨\ufe0f",  // with a skin tone, with selectors
           "1\ufe0f⃣ #\ufe0f⃣ 7⃣",                                  // keycaps
           "©\ufe0f ®\ufe0f ℹ\ufe0f ™\ufe0f ‼\ufe0f ⁉\ufe0f 〰\ufe0f ㊙\ufe0f ☎\ufe0e",
           "葛\U000e0100飾区 辻\U000e0101 神\ufe00",  // forms of ideographs
           "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f 🇩🇪",
       }) {
    EXPECT_EQ(Printable(text), text);
    EXPECT_EQ(PrintableOutput(text, true), text);
  }
}

TEST(Printable, TheSameElsewhereIsReplaced) {
  EXPECT_EQ(Printable("a\u200db"), "a?b");
  EXPECT_EQ(Printable("a\u200cb"), "a?b");
  EXPECT_EQ(Printable("می\u200c"), "می?");
  EXPECT_EQ(Printable("می\u200c\u200cخ"), "می??خ");
  EXPECT_EQ(Printable("a\u200cخ"), "a?خ");
  EXPECT_EQ(Printable("ក\u200c\u17b4"), "ក??");
  EXPECT_EQ(Printable("中\u200d文"), "中?文");
  EXPECT_EQ(Printable("👩\u200d"), "👩?");
  EXPECT_EQ(Printable("👩\u200d\u200d💻"), "👩??💻");
  EXPECT_EQ(Printable("👩\u200c💻"), "👩?💻");
  EXPECT_EQ(Printable("a\ufe0f"), "a?");
  EXPECT_EQ(Printable("1\ufe0f2"), "1?2");
  EXPECT_EQ(Printable("❤\ufe0f\ufe0f"), "❤\ufe0f?");
  EXPECT_EQ(Printable("葛\U000e0100\U000e0101"), "葛\U000e0100?");
  EXPECT_EQ(Printable("a\U000e0100"), "a?");
  EXPECT_EQ(Printable("🏴\U000e0068\U000e0069\U000e007f"), "🏴???");
  EXPECT_EQ(Printable("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074"), "🏴?????");
}

TEST(Printable, ReplacesBytesThatAreNoText) {
  EXPECT_EQ(Printable("a\xff\xc0\xaf"), "a???");
  EXPECT_EQ(Printable("a\xe2\x82"), "a??");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "???");
}

TEST(Printable, AnyBytesBecomeUtf8WithoutControls) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    const std::string text = Printable(bytes);
    RC_ASSERT(!FirstInvalidUtf8(text));
    for (char c : text) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
    RC_ASSERT(Printable(text) == text);
  }));
}

TEST(PrintableJson, MeansTheSame) {
  const nlohmann::json value = {{"a\u202e", "x\u009b\u2028\U000e0041\x7f\033 한글 👩\u200d💻"},
                                {"b", {1, 2}}};
  const std::string text = PrintableJson(value.dump(2));
  EXPECT_EQ(nlohmann::json::parse(text), value);
  EXPECT_NE(text.find("\\u202e"), std::string::npos);
  EXPECT_NE(text.find("\\udb40\\udc41"), std::string::npos);
  EXPECT_NE(text.find("한글"), std::string::npos);
  EXPECT_EQ(PrintableOutput(text, false), text);
}

TEST(Console, EveryWayOutIsPrintable) {
  FakeConsole console;
  console.Print("\033]0;title\a\033[1mbold\033[0m\n");
  EXPECT_EQ(console.printed, "?]0;title??[1mbold?[0m\n");
  console.Complain("a\u202eb\nc");
  EXPECT_EQ(console.complained, "a?b\nc\n");
  console.can_ask = true;
  console.Ask("Sure\033? ");
  EXPECT_EQ(console.complained, "a?b\nc\nSure?? ");
}

TEST(Console, OwnColoursPassWhereTheyAreWanted) {
  FakeConsole console;
  console.shown.colour = true;
  console.Print("\033[31mred\033[0m \033[2J \033[999m \033[m");
  EXPECT_EQ(console.printed, "\033[31mred\033[0m ?[2J ?[999m ?[m");
}

TEST(Console, ADocumentIsExactUnlessATerminalShowsIt) {
  FakeConsole console;
  console.PrintDocument("#!/bin/sh\n\techo \u202e\r\n");
  EXPECT_EQ(console.printed, "#!/bin/sh\n\techo \u202e\r\n");
  console.printed.clear();
  console.is_terminal = true;
  console.PrintDocument("#!/bin/sh\n\techo \u202e\n");
  EXPECT_EQ(console.printed, "#!/bin/sh\n\techo ?\n");
}

}  // namespace
}  // namespace gpuadvise::client
