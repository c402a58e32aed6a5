#include "client/sbatch/sbatch_options.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "client/shell/shell_words.h"

namespace gpuadvise::client {
namespace {

using Words = std::vector<std::string>;

ParsedArguments Parsed(const Words& words) {
  const Result<ParsedArguments> parsed = ParseSbatchArguments(words);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed.value_or(ParsedArguments{});
}

std::string Time(const Words& words) { return Parsed(words).options.Get("time").value_or("?"); }

TEST(SbatchOptions, EverySpellingOfAnOptionReadsTheSame) {
  EXPECT_EQ(Time({"--time=10"}), "10");
  EXPECT_EQ(Time({"--time", "10"}), "10");
  EXPECT_EQ(Time({"-t", "10"}), "10");
  EXPECT_EQ(Time({"-t10"}), "10");
  EXPECT_EQ(Time({"-t=10"}), "10");
  EXPECT_EQ(Time({"-Ht10"}), "10");
  EXPECT_EQ(Parsed({"--part", "gpu"}).options.Get("partition"), "gpu");
}

TEST(SbatchOptions, TheLastOneWins) { EXPECT_EQ(Time({"-t1", "--time=2"}), "2"); }

TEST(SbatchOptions, TheScriptEndsTheOptions) {
  const ParsedArguments parsed = Parsed({"-N1", "job.sh", "-N2"});
  EXPECT_EQ(parsed.options.Get("nodes"), "1");
  EXPECT_EQ(parsed.rest, (Words{"job.sh", "-N2"}));
  EXPECT_EQ(Parsed({"-N1", "--", "-x"}).rest, Words{"-x"});
}

TEST(SbatchOptions, AValueMayLookLikeAnOption) {
  EXPECT_EQ(Parsed({"--comment", "-x"}).options.Get("comment"), "-x");
}

TEST(SbatchOptions, OptionalValuesNeedAnEqualsSign) {
  const ParsedArguments parsed = Parsed({"--exclusive", "job.sh"});
  EXPECT_EQ(parsed.options.Get("exclusive"), "");
  EXPECT_EQ(parsed.rest, Words{"job.sh"});
  EXPECT_EQ(Parsed({"--exclusive=user"}).options.Get("exclusive"), "user");
}

TEST(SbatchOptions, UnknownOnesAreKeptApart) {
  const ParsedArguments parsed = Parsed({"--site-plugin=x", "-Z", "-p", "gpu"});
  EXPECT_EQ(parsed.unknown, (Words{"--site-plugin=x", "-Z"}));
  EXPECT_EQ(parsed.options.Get("partition"), "gpu");
}

TEST(SbatchOptions, AMissingValueIsSaid) {
  EXPECT_EQ(ParseSbatchArguments({"-p"}).error().message, "-p needs a value");
  EXPECT_EQ(ParseSbatchArguments({"--gres"}).error().message, "--gres needs a value");
}

TEST(SbatchOptions, AnAmbiguousAbbreviationIsSaid) {
  EXPECT_EQ(ParseSbatchArguments({"--no=1"}).error().message,
            "--no is ambiguous: --no-kill or --no-requeue; write it in full");
}

TEST(SbatchOptions, TheTableIsSortedAndLettersAreUnique) {
  const auto table = SbatchOptionTable();
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  std::string letters;
  for (const SbatchOption& option : table) {
    if (option.letter == 0) continue;
    EXPECT_EQ(letters.find(option.letter), std::string::npos) << option.name;
    letters += option.letter;
  }
}

TEST(SbatchOptions, EveryOptionSurvivesBeingWrittenOut) {
  for (const SbatchOption& option : SbatchOptionTable()) {
    SbatchOptions options;
    options.Set(std::string(option.name), option.takes == Takes::kNothing ? "" : "v");
    EXPECT_EQ(Parsed(options.ToArguments()).options, options) << option.name;
  }
}

TEST(SbatchOptions, AnyWordsAreReadOrRefused) {
  EXPECT_TRUE(rc::check([](const Words& words) {
    const Result<ParsedArguments> parsed = ParseSbatchArguments(words);
    RC_ASSERT(
        (parsed || !parsed.error().message.empty()));  // RapidCheck takes both sides of a bare ||
  }));
}

TEST(Directives, AreSplitAsSbatchDoes) {
  EXPECT_EQ(SplitDirective("-N1  --gres=gpu:2"), (Words{"-N1", "--gres=gpu:2"}));
  EXPECT_EQ(SplitDirective("--job-name='a b' -n1 # why"), (Words{"--job-name=a b", "-n1"}));
  EXPECT_EQ(SplitDirective("--comment=\"it's \\\"x\\\"\""), (Words{"--comment=it's \"x\""}));
  EXPECT_EQ(SplitDirective("a\\ b ''"), (Words{"a b", ""}));
}

TEST(Scripts, DirectivesEndAtTheFirstCommand) {
  const auto parsed = ParseScriptOptions(
      "#!/bin/bash\n"
      "# a comment\n"
      "#SBATCH --partition=gpu -t 10\r\n"
      "\n"
      "##SBATCH --partition=no\n"
      " #SBATCH --qos=no\n"
      "#SBATCH --gres gpu:2\n"
      "echo hi\n"
      "#SBATCH --nodes=9\n",
      "job.sh");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->options.ToArguments(), (Words{"--gres=gpu:2", "--partition=gpu", "--time=10"}));
}

TEST(Scripts, AnErrorHasItsLine) {
  EXPECT_EQ(ParseScriptOptions("#!/bin/sh\n#SBATCH -p\n", "job.sh").error().message,
            "job.sh:2: -p needs a value");
}

TEST(Arguments, AnEmptyValueStaysOneAndTakesNoWordThatFollows) {
  const auto read = ParseSbatchArguments({"--account=", "--exclusive", "--comment", ""});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->options.ToArguments(),
            (std::vector<std::string>{"--account=", "--comment=", "--exclusive"}));
  EXPECT_EQ(ParseSbatchArguments(read->options.ToArguments())->options, read->options);
}

}  // namespace
}  // namespace gpuadvise::client
