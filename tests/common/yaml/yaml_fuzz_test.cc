#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "common/yaml/text_check.h"
#include "common/yaml/yaml_document.h"

namespace gpuadvise {
namespace {

constexpr std::string_view kSample =
    "name: \"gr\\u00e9\" # comment\n"
    "base: &b {x: 1, 'y': [2, .5, ~]}\n"
    "training:\n"
    "  <<: *b\n"
    "  effective_batch_size: [120, 144]\n"
    "  measured:\n"
    "    - {gpu: rtx4090, batch: 10}\n"
    "    - ? long\n"
    "      : !!str 5\n"
    "command: >-\n"
    "  torchrun\n"
    "  train.py\n"
    "setup: |\n"
    "  module load cuda\n";

// Whatever comes in: a map whose values all have sane lines and can be printed, or a sentence.
void ExpectMapOrSentence(const std::string& text) {
  const Result<YamlDocument> document = ParseYaml(text, "f.yaml");
  if (!document) {
    RC_ASSERT(document.error().message.starts_with("f.yaml"));
    RC_ASSERT(document.error().message.size() > 12u);
    return;
  }
  RC_ASSERT(document->root.is_object());
  RC_ASSERT(!document->root.dump().empty());  // throws on text that is not UTF-8
  for (const auto& [pointer, line] : document->lines) {
    RC_ASSERT(line >= 1 && line <= LineAt(text, text.size()));
  }
}

TEST(YamlFuzz, AFileCutAtEveryByteIsAMapOrASentence) {
  for (size_t size = 0; size <= kSample.size(); ++size) {
    ExpectMapOrSentence(std::string(kSample.substr(0, size)));
  }
}

TEST(YamlFuzz, RandomBytesAreAMapOrASentence) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) { ExpectMapOrSentence(bytes); }));
}

TEST(YamlFuzz, WordsOfYamlInAnyOrderAreAMapOrASentence) {
  const std::vector<std::string> words = {
      "a",   ": ", "- ", "\n", "  ", "[",  "]",   "{",   "}",     ", ", "&x", "*x",  "? ",
      "|\n", ">-", "\"", "'",  "#",  "!!", "---", "...", "%YAML", "<<", "\t", "1e9", "\\x"};
  EXPECT_TRUE(rc::check([&words] {
    const auto picks =
        *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, words.size()));
    std::string text;
    for (size_t pick : picks) text += words[pick];
    ExpectMapOrSentence(text);
  }));
}

TEST(YamlFuzz, AFlippedByteIsAMapOrASentence) {
  EXPECT_TRUE(rc::check([] {
    std::string text(kSample);
    text[*rc::gen::inRange<size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
    ExpectMapOrSentence(text);
  }));
}

}  // namespace
}  // namespace gpuadvise
