#include "client/models/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <utility>
#include <vector>

#include "tests/client/models/model_files.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using testing::HasSubstr;

constexpr const char* kTwoTensors =
    R"({"__metadata__": {"format": "pt"}, "a": {"dtype": "BF16", "shape": [3, 5], "data_offsets": [0, 30]},
        "b": {"dtype": "F32", "shape": [], "data_offsets": [30, 34]}})";

std::string Refusal(const std::string& bytes) {
  const TemporaryFolder folder;
  const Result<WeightCount> count = CountSafetensors(folder.Write("w.safetensors", bytes));
  return count ? "accepted" : count.error().message;
}

TEST(Safetensors, AreCountedByTheirHeaderAlone) {
  const TemporaryFolder folder;
  const auto count = CountSafetensors(folder.Write("w", SafetensorsBytes(kTwoTensors)));
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(count->parameters, 16);
  EXPECT_FALSE(count->packed);
}

TEST(Safetensors, PackedWeightsAreSaid) {
  const TemporaryFolder folder;
  const auto count = CountSafetensors(folder.Write(
      "w", SafetensorsBytes(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}})")));
  EXPECT_TRUE(count->packed);
}

TEST(Safetensors, ShardsAreThoseOfTheIndexEachOnce) {
  const TemporaryFolder folder;
  folder.Write("model-1.safetensors", SafetensorsBytes(kTwoTensors));
  folder.Write("model-2.safetensors", SafetensorsBytes(kTwoTensors));
  folder.Write("model.safetensors.index.json",
               R"({"weight_map": {"a": "model-1.safetensors", "b": "model-1.safetensors",
                                  "c": "model-2.safetensors"}})");
  const auto count = CountWeights(folder.Path(""));
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ((*count)->parameters, 32);
}

TEST(Safetensors, AMissingShardIsNamed) {
  const TemporaryFolder folder;
  folder.Write("model.safetensors.index.json", R"({"weight_map": {"a": "model-9.safetensors"}})");
  EXPECT_THAT(CountWeights(folder.Path("")).error().message, HasSubstr("model-9.safetensors"));
}

TEST(Safetensors, AnIndexNamesNothingOutsideItsFolder) {
  const TemporaryFolder folder;
  folder.Write("model.safetensors.index.json", R"({"weight_map": {"a": "../secret"}})");
  EXPECT_THAT(CountWeights(folder.Path("")).error().message,
              HasSubstr("names a file that is not in its folder"));
}

TEST(Safetensors, AFolderWithoutThemHasNoCount) {
  const TemporaryFolder folder;
  const auto count = CountWeights(folder.Path(""));
  ASSERT_TRUE(count);
  EXPECT_FALSE(*count);
}

TEST(Safetensors, AFileCutAnywhereIsASentence) {
  const std::string whole = SafetensorsBytes(kTwoTensors);
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(Refusal(whole.substr(0, length)), HasSubstr("download it again")) << length;
  }
}

TEST(Safetensors, AHeaderOf2To60BytesIsNotRead) {
  std::string bytes = SafetensorsBytes(kTwoTensors);
  bytes.replace(0, 8, std::string("\0\0\0\0\0\0\0\x10", 8));
  EXPECT_THAT(Refusal(bytes), HasSubstr("longer than 64 MiB"));
}

TEST(Safetensors, WhatIsNoHeaderIsASentence) {
  EXPECT_THAT(Refusal(SafetensorsBytes("[1]")), HasSubstr("is not a JSON object"));
  EXPECT_THAT(Refusal(SafetensorsBytes(std::string(100'000, '['))), HasSubstr("nested more than"));
  EXPECT_THAT(Refusal(SafetensorsBytes(R"({"a": 1})")), HasSubstr("a tensor without a shape"));
  EXPECT_THAT(Refusal(SafetensorsBytes(R"({"a": {"shape": [-1]}})")),
              HasSubstr("a tensor without a shape"));
  EXPECT_THAT(Refusal(SafetensorsBytes(R"({"a": {"shape": [1000000000, 1000000000]}})")),
              HasSubstr("a tensor without a shape"));
}

// Whatever bytes are there: a count or a sentence.
TEST(Safetensors, AnyBytesAreACountOrASentence) {
  const TemporaryFolder folder;
  EXPECT_TRUE(rc::check([&](const std::vector<std::pair<uint16_t, char>>& changes, bool longer) {
    std::string bytes = SafetensorsBytes(kTwoTensors);
    for (const auto& [at, byte] : changes) bytes[at % bytes.size()] = byte;
    if (longer) bytes += bytes;
    const auto count = CountSafetensors(folder.Write("w", bytes));
    RC_ASSERT((count ? count->parameters >= 0 : !count.error().message.empty()));
  }));
}

}  // namespace
}  // namespace gpuadvise::client
