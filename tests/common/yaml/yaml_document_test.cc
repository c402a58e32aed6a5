#include "common/yaml/yaml_document.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <string>

#include "common/yaml/text_check.h"
#include "common/yaml/yaml_file.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

YamlDocument Parsed(std::string_view text) {
  Result<YamlDocument> document = ParseYaml(text, "train.yaml");
  EXPECT_TRUE(document) << (document ? "" : document.error().message);
  return document ? *document : YamlDocument{};
}

std::string Refusal(std::string_view text) {
  Result<YamlDocument> document = ParseYaml(text, "train.yaml");
  if (document) return "accepted: " + document->root.dump();
  EXPECT_EQ(document.error().code, ErrorCode::kBadInput);
  return document.error().message;
}

json ValueOf(const std::string& scalar) { return Parsed("a: " + scalar + "\n").root["a"]; }

TEST(Scalars, AreTypedByTheCoreRules) {
  EXPECT_EQ(ValueOf("true"), json(true));
  EXPECT_EQ(ValueOf("False"), json(false));
  EXPECT_EQ(ValueOf("null"), json(nullptr));
  EXPECT_EQ(ValueOf("~"), json(nullptr));
  EXPECT_EQ(ValueOf(""), json(nullptr));
  EXPECT_EQ(ValueOf("10000"), json(10000));
  EXPECT_EQ(ValueOf("-3"), json(-3));
  EXPECT_EQ(ValueOf("+3"), json(3));
  EXPECT_EQ(ValueOf("0x1F"), json(31));
  EXPECT_EQ(ValueOf("0o17"), json(15));
  EXPECT_EQ(ValueOf("007"), json(7));
  EXPECT_EQ(ValueOf("1e-4"), json(1e-4));
  EXPECT_EQ(ValueOf(".5"), json(0.5));
  EXPECT_EQ(ValueOf("2."), json(2.0));
  EXPECT_EQ(ValueOf("+1.5E3"), json(1500.0));
  EXPECT_EQ(ValueOf("1.2 GB"), json("1.2 GB"));
}

TEST(Scalars, NumberTypesAreKept) {
  EXPECT_TRUE(ValueOf("4").is_number_integer());
  EXPECT_TRUE(ValueOf("4.0").is_number_float());
  EXPECT_TRUE(ValueOf("99999999999999999999").is_number_float());
  EXPECT_EQ(ValueOf("18446744073709551615"), json(UINT64_MAX));
}

TEST(Scalars, IntegersAreOfTheTypeThatParsedJsonHas) {
  for (const char* number : {"0", "5", "-5"}) {
    EXPECT_EQ(ValueOf(number).type(), json::parse(number).type()) << number;
  }
}

TEST(Scalars, TimesAndOldBooleansStayStrings) {
  EXPECT_EQ(ValueOf("12:00:00"), json("12:00:00"));
  EXPECT_EQ(ValueOf("1-12:00"), json("1-12:00"));
  EXPECT_EQ(ValueOf("yes"), json("yes"));
  EXPECT_EQ(ValueOf("off"), json("off"));
  EXPECT_EQ(ValueOf("1_000"), json("1_000"));
  EXPECT_EQ(ValueOf("1e"), json("1e"));
  EXPECT_EQ(ValueOf("."), json("."));
}

TEST(Scalars, QuotedOnesAreStrings) {
  EXPECT_EQ(ValueOf("\"10\""), json("10"));
  EXPECT_EQ(ValueOf("'true'"), json("true"));
  EXPECT_EQ(ValueOf("\"\""), json(""));
  EXPECT_EQ(Parsed("a: |\n  1\n  2\n").root["a"], json("1\n2\n"));
}

TEST(Scalars, CoreTagsDecide) {
  EXPECT_EQ(ValueOf("!!str 10"), json("10"));
  EXPECT_EQ(ValueOf("!!int 10"), json(10));
  EXPECT_EQ(Refusal("a: !!int x\n"), "train.yaml:1: \"x\" is not a !!int; remove the tag");
  EXPECT_EQ(Refusal("a: !mine x\n"), "train.yaml:1: the tag !mine is not known; remove it");
}

TEST(Scalars, InfinityIsRefused) {
  EXPECT_EQ(Refusal("a: 1\nb: .inf\n"),
            "train.yaml:2: .inf cannot be used here; write a finite number");
  EXPECT_EQ(Refusal("b: 1e999\n"),
            "train.yaml:1: 1e999 is outside the range of numbers; write a smaller one");
}

TEST(Lines, EveryPointerHasItsLine) {
  const YamlDocument document = Parsed(
      "# a comment\n"
      "name: x\n"
      "training:\n"
      "  max_steps: 10\n"
      "  measured:\n"
      "    - {gpu: a100,\n"
      "       gpus: 4}\n"
      "    - gpu: l40s\n");
  EXPECT_EQ(document.LineOf("/name"), 2);
  EXPECT_EQ(document.LineOf("/training"), 3);
  EXPECT_EQ(document.LineOf("/training/max_steps"), 4);
  EXPECT_EQ(document.LineOf("/training/measured/0/gpu"), 6);
  EXPECT_EQ(document.LineOf("/training/measured/0/gpus"), 7);
  EXPECT_EQ(document.LineOf("/training/measured/1"), 8);
}

TEST(Lines, AKeyOfThePointerIsEscaped) {
  const YamlDocument document = Parsed("a/b:\n  c~d: 1\n");
  EXPECT_EQ(document.LineOf("/a~1b/c~0d"), 2);
  EXPECT_EQ(document.root.at(json::json_pointer("/a~1b/c~0d")), 1);
}

TEST(Lines, AMissingPointerHasItsParentsLine) {
  const YamlDocument document = Parsed("a: 1\ntraining:\n  x: 2\n");
  EXPECT_EQ(document.LineOf("/training/y/z"), 2);
  EXPECT_EQ(document.LineOf("/nothing"), 0);
  EXPECT_EQ(document.LineOf(""), 0);
}

TEST(Describing, NamesFileAndLine) {
  const YamlDocument document = Parsed("a: 1\ntraining:\n  x: 2\n");
  EXPECT_EQ(Describe({ErrorCode::kBadInput, "x is odd", "/training/x"}, "train.yaml", document),
            "train.yaml:3: x is odd");
  EXPECT_EQ(Describe({ErrorCode::kBadInput, "y is missing", "/training/y"}, "train.yaml", document),
            "train.yaml:2: y is missing");
  EXPECT_EQ(Describe({ErrorCode::kBadInput, "all is odd", ""}, "train.yaml", document),
            "train.yaml: all is odd");
}

TEST(Anchors, AreExpanded) {
  const YamlDocument document = Parsed("a: &x {b: [1, 2]}\nc: *x\n");
  EXPECT_EQ(document.root["c"], json::parse(R"({"b":[1,2]})"));
  EXPECT_EQ(document.LineOf("/c/b/1"), 2);
}

TEST(Anchors, MergeKeysGiveWhatTheMapLacks) {
  const YamlDocument document = Parsed("base: &b {x: 1, y: 2}\nm:\n  <<: *b\n  y: 3\n");
  EXPECT_EQ(document.root["m"], json::parse(R"({"x":1,"y":3})"));
  EXPECT_EQ(Refusal("m:\n  <<: 5\n"),
            "train.yaml:2: `<<` takes an alias of a map, or a list of them");
}

TEST(Anchors, ABombIsRefused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + below;
    for (int k = 1; k < 10; ++k) bomb += ", " + below;
    bomb += "]\n";
  }
  EXPECT_EQ(Refusal(bomb),
            "train.yaml:5: more than 20000 values, or aliases that expand to too much text; make "
            "it smaller");
}

TEST(Anchors, ABombOfTextIsRefused) {
  std::string bomb = "a: &a " + std::string(500'000, 'x') + "\nb: [*a";
  for (int i = 0; i < 1000; ++i) bomb += ", *a";
  EXPECT_NE(Refusal(bomb + "]\n").find("train.yaml:2: more than"), std::string::npos);
}

TEST(Anchors, AnAliasOfItselfIsRefused) {
  EXPECT_EQ(Refusal("a: &a [*a]\n"), "train.yaml:1: an alias is inside its own anchor; remove it");
}

TEST(Refused, EmptyFiles) {
  const std::string sentence = "train.yaml: the file is empty; write `key: value` lines";
  EXPECT_EQ(Refusal(""), sentence);
  EXPECT_EQ(Refusal("# only a comment\n\n"), sentence);
  EXPECT_EQ(Refusal("---\n"), sentence);
  EXPECT_EQ(ParseYaml("# all at its default\n", "f", YamlRules::kMayBeEmpty)->root, json::object());
  EXPECT_FALSE(ParseYaml("a: 1\na: 2\n", "f", YamlRules::kMayBeEmpty));
  EXPECT_EQ(ParseYaml("a: 1\na: 2\n", "f", YamlRules::kOfOthers)->root, json({{"a", 2}}));
  EXPECT_EQ(ParseYaml("", "f", YamlRules::kOfOthers)->root, json::object());
}

TEST(Refused, RootsThatAreNoMap) {
  EXPECT_EQ(Refusal("- a\n- b\n"),
            "train.yaml:1: the file must be a map of `key: value` lines, but a list starts here");
  EXPECT_EQ(Refusal("just words\n"), "train.yaml:1: the file must be a map of `key: value` lines");
}

TEST(Refused, DuplicateKeys) {
  EXPECT_EQ(Refusal("a: 1\nb: 2\na: 3\n"),
            "train.yaml:3: the key `a` is already on line 1; keep one of them");
  EXPECT_EQ(Refusal("t:\n  x: {}\n  x: {}\n"),
            "train.yaml:3: the key `x` is already on line 2; keep one of them");
}

TEST(Refused, SeveralDocuments) {
  EXPECT_EQ(Refusal("a: 1\n---\nb: 2\n"),
            "train.yaml:2: a second document starts here; use one per file (sections of one "
            "document can be chosen by name)");
}

TEST(Refused, HugeFiles) {
  EXPECT_EQ(Refusal("a: " + std::string(kMaxYamlBytes, 'x')),
            "train.yaml: larger than 1 MiB; a settings or training file is a few kilobytes");
}

TEST(Refused, DeepNesting) {
  const std::string deep = "a:\n  - " + std::string(70, '[') + std::string(70, ']') + "\n";
  EXPECT_EQ(Refusal(deep), "train.yaml:2: nested more than 64 deep; flatten it");
  EXPECT_NE(Refusal("a: " + std::string(500'000, '[')).find("train.yaml:1: "), std::string::npos);
}

TEST(Refused, LongKeysAboveManyValues) {
  std::string text = "? " + std::string(400'000, 'k') + "\n: [1";
  for (int i = 0; i < 1000; ++i) text += ",1";
  EXPECT_NE(Refusal(text + "]\n").find("too many long keys"), std::string::npos);
}

TEST(Refused, BytesThatAreNoText) {
  EXPECT_EQ(Refusal(std::string("a: 1\nb: \0x\n", 11)),
            "train.yaml:2: a NUL byte; this is not a text file (UTF-16? save as UTF-8)");
  EXPECT_EQ(Refusal("a: 1\nb: \xff\n"), "train.yaml:2: not UTF-8 text; save the file as UTF-8");
  EXPECT_EQ(Refusal("a: \"x\\0y\"\n"), "train.yaml:1: a text contains a NUL character; remove it");
}

TEST(Refused, EscapesThatAreNoUtf8) {
  const std::string sentence =
      "an escape (\\_ or \\N) that gives no UTF-8 text; write the character itself";
  EXPECT_EQ(Refusal("a: \"x\\_\"\n"), "train.yaml:1: " + sentence);
  EXPECT_EQ(Refusal("a: 1\n\"\\N\": 1\n"), "train.yaml:2: " + sentence);
  EXPECT_EQ(ValueOf("\"\\x41\\u00e9\""), json("A\u00e9"));
}

TEST(Refused, SyntaxErrorsHaveALine) {
  EXPECT_NE(Refusal("a: 1\nb: [1, 2\nc: 3\n").find("train.yaml:3: not valid YAML ("),
            std::string::npos);
  EXPECT_EQ(Refusal("a:\n  b: 1\n\tc: 2\n"),
            "train.yaml:3: a tab in the indentation; YAML takes spaces only");
}

TEST(Refused, KeysThatAreNoWords) {
  EXPECT_EQ(Refusal("? [a, b]\n: 1\n"),
            "train.yaml:1: a key must be a word; this one is a list or a map");
  EXPECT_EQ(Refusal("a: &x k\n*x : 1\n"),
            "train.yaml:2: an alias cannot be a key; write the key itself");
}

TEST(Utf8, MalformedFormsAreFound) {
  EXPECT_EQ(FirstInvalidUtf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), std::nullopt);
  EXPECT_EQ(FirstInvalidUtf8("ab\xc0\xaf"), 2u);        // overlong
  EXPECT_EQ(FirstInvalidUtf8("\xe0\x80\x80"), 0u);      // overlong
  EXPECT_EQ(FirstInvalidUtf8("\xed\xa0\x80"), 0u);      // surrogate
  EXPECT_EQ(FirstInvalidUtf8("\xf4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(FirstInvalidUtf8("x\xe2\x82"), 1u);         // cut
}

TEST(Files, AMissingOneIsNamed) {
  const auto document = LoadYamlFile("/nonexistent/train.yaml");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(document.error().message,
            "/nonexistent/train.yaml: there is no such file; check the name");
}

TEST(Files, ADirectoryAndADeviceAreRefused) {
  EXPECT_EQ(ReadTextFile("/").error().message, "/: a directory; name the file in it");
  EXPECT_EQ(ReadTextFile("/dev/zero").error().message,
            "/dev/zero: larger than 1024 KiB; is this the right file?");
  EXPECT_EQ(ReadTextFile("").error().message, "the file name is empty; name a file");
}

TEST(Files, AFifoIsRefusedAndAPipeOfOurOwnRead) {
  const TemporaryFolder folder;
  const std::string fifo = folder.Path("train.yaml");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(ReadTextFile(fifo).error().message,
            fifo + ": not a regular file; name a file, or a pipe as <(command)");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  EXPECT_EQ(ReadTextFile(path, 100, std::chrono::milliseconds(1)).error().message,
            path + ": timed out waiting for the end of this pipe; name a file");
  ASSERT_EQ(::write(ends[1], "a: 1", 4), 4);
  ::close(ends[1]);
  EXPECT_EQ(ReadTextFile(path), "a: 1");
  const std::string as_number = std::to_string(::getpid()) + "/fd/" + std::to_string(ends[0]);
  EXPECT_EQ(ReadTextFile("/proc/" + as_number), "");  // its end: it was read already
  EXPECT_EQ(ReadTextFile("/proc/self/fd/" + std::to_string(ends[0])), "");
  ::close(ends[0]);
}

TEST(Files, APersonAtATerminalMayTakeTheTime) {
  const int person = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(person, 0);
  ASSERT_EQ(::grantpt(person) | ::unlockpt(person), 0);
  const std::string terminal = ::ptsname(person);
  const int held = ::open(terminal.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // it stays set up
  ASSERT_GE(held, 0);
  ASSERT_EQ(::write(person, "a: 1\n", 5), 5);
  auto reading = std::async(std::launch::async, [&terminal] {
    return ReadTextFile(terminal, 100, std::chrono::milliseconds(1));
  });
  EXPECT_EQ(reading.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  EXPECT_EQ(::write(person, "\x04", 1), 1);
  EXPECT_EQ(reading.get(), "a: 1\n");
  ::close(held);
  ::close(person);
}

}  // namespace
}  // namespace gpuadvise
