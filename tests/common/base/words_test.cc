#include "common/base/words.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

TEST(DurationInWords, SpeaksAsPeopleDo) {
  EXPECT_EQ(DurationInWords(0), "0 s");
  EXPECT_EQ(DurationInWords(7.6), "8 s");
  EXPECT_EQ(WaitInWords(29.9), "now");
  EXPECT_EQ(WaitInWords(45), "45 s");
  EXPECT_EQ(DurationInWords(45), "45 s");
  EXPECT_EQ(DurationInWords(480), "8 m");
  EXPECT_EQ(DurationInWords(39000), "10 h 50");
  EXPECT_EQ(DurationInWords(7200), "2 h");
  EXPECT_EQ(DurationInWords(3599), "1 h");
  EXPECT_EQ(DurationInWords(76 * 3600), "3 d 4 h");
  EXPECT_EQ(DurationInWords(72 * 3600), "3 d");
}

TEST(DurationInWords, BearsAbsurdNumbers) {
  EXPECT_EQ(DurationInWords(-5), "0 s");
  EXPECT_EQ(WaitInWords(-5), "now");
  EXPECT_FALSE(DurationInWords(1e300).empty());
}

TEST(NearestName, FindsATypingErrorAndNothingFarAway) {
  const std::vector<std::string> names = {"max_steps", "measured", "num_samples"};
  EXPECT_EQ(NearestName("max_step", names), "max_steps");
  EXPECT_EQ(NearestName("mesured", names), "measured");
  EXPECT_EQ(NearestName("learning_rate", names), "");
  EXPECT_EQ(NearestName(std::string(1 << 20, 'a'), names), "");
}

TEST(NearestName, LooksPastCaseAndSignsAndFindsWhatANameIsAPartOf) {
  const std::vector<std::string> names = {"llama-3-8b", "llama-3-70b-long", "RTX 4090"};
  EXPECT_EQ(NearestName("LLAMA-3-8B", names), "llama-3-8b");
  EXPECT_EQ(NearestName("llama3", names), "llama-3-8b");
  EXPECT_EQ(NearestName("4090", names), "RTX 4090");
  EXPECT_EQ(NearestName("-", names), "");
}

TEST(JoinNames, EndsInAndOrInHowManyMore) {
  EXPECT_EQ(JoinNames(std::vector<std::string>{}), "");
  EXPECT_EQ(JoinNames(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(JoinNames(std::vector<std::string>{"a", "b"}), "a and b");
  EXPECT_EQ(JoinNames(std::vector<std::string>{"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(JoinNames(std::vector<std::string>{"a", "b", "c"}, 2), "a, b and 1 more");
}

TEST(Plural, KnowsOne) {
  EXPECT_EQ(Plural(1, "GPU"), "1 GPU");
  EXPECT_EQ(Plural(0, "GPU"), "0 GPUs");
}

TEST(Shortened, IsCutBetweenCharacters) {
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("abcd", 3), "abc…");
  EXPECT_EQ(Shortened("한글", 5), "한…");
}

}  // namespace
}  // namespace gpuadvise
