#include "common/yaml/yaml_edit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "common/yaml/yaml_document.h"

namespace gpuadvise {
namespace {

const YamlPath kMemory = {"model", "memory"};
const YamlPath kMeasured = {"training", "measured"};

std::string Set(std::string_view text) {
  const auto changed = WithYamlValue(text, kMemory, "{base: 1 GB, per_sample: 2 GB}");
  return changed ? *changed : "refused: " + changed.error().message;
}

std::string Put(std::string_view text) {
  const auto changed = WithYamlItem(text, kMeasured, "{gpu: l40s}");
  return changed ? *changed : "refused: " + changed.error().message;
}

TEST(YamlEdit, AFlowValueIsReplacedAndItsCommentStays) {
  EXPECT_EQ(Set("a: 1\nmodel:\n  # about memory\n  memory: {base: 9 GB,\n    x: '}'}  # guessed\n  "
                "b: 2\n"),
            "a: 1\nmodel:\n  # about memory\n  memory: {base: 1 GB, per_sample: 2 GB}  # guessed\n "
            " b: 2\n");
}

TEST(YamlEdit, ABlockValueIsReplacedWhole) {
  EXPECT_EQ(Set("model:\n  memory:  # guessed\n    base: 9 GB\n    # each\n    per_sample: 3 "
                "GB\n\n# next\nb: 2\n"),
            "model:\n  memory: {base: 1 GB, per_sample: 2 GB}  # guessed\n\n# next\nb: 2\n");
}

TEST(YamlEdit, AMissingKeyBecomesTheLastOfItsBlock) {
  EXPECT_EQ(Set("model:\n    # of it\n    params: 3e9  # counted\n\n# next\nb: 2"),
            "model:\n    # of it\n    params: 3e9  # counted\n"
            "    memory: {base: 1 GB, per_sample: 2 GB}\n\n# next\nb: 2");
}

TEST(YamlEdit, AMissingKeyIsPutIntoAFlowMap) {
  EXPECT_EQ(Set("model: {params: 3e9}\n"),
            "model: {memory: {base: 1 GB, per_sample: 2 GB}, params: 3e9}\n");
  EXPECT_EQ(Set("model: {}\n"), "model: {memory: {base: 1 GB, per_sample: 2 GB}}\n");
}

TEST(YamlEdit, AMissingParentIsMade) {
  EXPECT_EQ(Set("b: 2"), "b: 2\nmodel:\n  memory: {base: 1 GB, per_sample: 2 GB}\n");
  EXPECT_EQ(Set("model:  # none yet\nb: 2\n"),
            "model: {memory: {base: 1 GB, per_sample: 2 GB}}  # none yet\nb: 2\n");
}

TEST(YamlEdit, WhatWouldMeanAnythingElseIsRefused) {
  const std::string refusal =
      "refused: model.memory cannot be changed in place, because of how the file is written there";
  EXPECT_EQ(Set("other: &m {params: 3}\nmodel: *m\n"), refusal);
  EXPECT_EQ(Set("model: 3\n"), refusal);
  EXPECT_EQ(Set("model:\n  text: |\n    words\n    # no comment\nmemory: 1\n"), refusal);
}

TEST(YamlEdit, WindowsLinesStayAsTheyAre) {
  EXPECT_EQ(Set("model:\r\n  memory: {base: 9 GB}\r\nb: 2\r\n"),
            "model:\r\n  memory: {base: 1 GB, per_sample: 2 GB}\r\nb: 2\r\n");
}

TEST(YamlEdit, ANewItemIsTheFirstOfItsList) {
  EXPECT_EQ(
      Put("training:\n  measured:\n    # seen\n    - {gpu: h100}  # hers\n  b: 1\n"),
      "training:\n  measured:\n    # seen\n    - {gpu: l40s}\n    - {gpu: h100}  # hers\n  b: 1\n");
  EXPECT_EQ(Put("training:\n  measured:\n  - gpu: h100\n    gpus: 2\n"),
            "training:\n  measured:\n  - {gpu: l40s}\n  - gpu: h100\n    gpus: 2\n");
  EXPECT_EQ(Put("training: {measured: [{gpu: h100}]}\n"),
            "training: {measured: [{gpu: l40s}, {gpu: h100}]}\n");
  EXPECT_EQ(Put("training: {measured: []}\n"), "training: {measured: [{gpu: l40s}]}\n");
  EXPECT_EQ(Put("training:\n  steps: 1\n"),
            "training:\n  steps: 1\n  measured:\n    - {gpu: l40s}\n");
}

TEST(YamlEdit, AnItemCanTakeTheOldOnesPlace) {
  const auto changed = WithYamlItem(
      "training:\n  measured:\n    - {gpu: a}\n    - {gpu: b}  # old\n", kMeasured, "{gpu: c}", 1);
  EXPECT_EQ(changed.value_or(""),
            "training:\n  measured:\n    - {gpu: a}\n    - {gpu: c}  # old\n");
}

TEST(YamlEdit, OfASectionOnlyTheSectionChanges) {
  const auto changed =
      WithYamlValue("one:\n  model: {memory: {base: 1}}\ntwo:\n  model: {memory: {base: 2}}\n",
                    {"two", "model", "memory"}, "{base: 3}");
  EXPECT_EQ(changed.value_or(""),
            "one:\n  model: {memory: {base: 1}}\ntwo:\n  model: {memory: {base: 3}}\n");
}

// Whatever the file looks like: it is refused, or it says what it should and all else as before.
TEST(YamlEdit, WordsOfYamlInAnyOrderAreChangedRightlyOrRefused) {
  EXPECT_TRUE(rc::check([] {
    const auto words = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "model:", "training:", " memory:", "  memory: ", "  measured:\n", "  - ", "{a: 1}", "{",
        "}", "[", "]", ", ", "# it\n", "\n", "\r\n", "|\n", "'", "\"", "&x ", "*x", "b: 2\n",
        "  c: 3\n", "~", "...\n"));
    std::string text;
    for (const std::string& word : words) text += word;
    const auto before = ParseYaml(text, "f");
    auto changed = WithYamlValue(text, kMemory, "{base: 1 GB}");
    if (changed) changed = WithYamlItem(*changed, kMeasured, "{gpu: l40s}");
    if (!changed) return;
    auto after = ParseYaml(*changed, "f").value().root;
    RC_ASSERT(after["model"]["memory"]["base"] == "1 GB");
    RC_ASSERT(after["training"]["measured"][0]["gpu"] == "l40s");
    for (const auto& [key, value] : before.value().root.items()) {
      if (key != "model" && key != "training") RC_ASSERT(after[key] == value);
    }
  }));
}

}  // namespace
}  // namespace gpuadvise
