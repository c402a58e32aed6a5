#include "client/shell/shell_words.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace gpuadvise::client {
namespace {

using Words = std::vector<std::string>;

// "a|b;c": words by '|', commands by ';', uncertain ones with a '?' behind them.
std::string Read(const std::string& script) {
  const Variables variables = {{"HOME", "/h"}, {"D", "/data dir"}, {"SLURM_JOB_ID", "7"}};
  std::string shown;
  for (const SimpleCommand& command : SimpleCommands(script, variables)) {
    if (!shown.empty()) shown += ";";
    for (size_t i = 0; i < command.size(); ++i) {
      shown += (i > 0 ? "|" : "") + command[i].text + (command[i].certain ? "" : "?");
    }
  }
  return shown;
}

TEST(ShellWords, SplitAtBlanksAndOperators) {
  EXPECT_EQ(Read("python  train.py\t--x 1"), "python|train.py|--x|1");
  EXPECT_EQ(Read("cd x && python a.py; b\nc | d & e || f"), "cd|x;python|a.py;b;c;d;e;f");
  EXPECT_EQ(Read(""), "");
  EXPECT_EQ(Read(" \n ; "), "");
}

TEST(ShellWords, QuotesAndEscapesAreTheShells) {
  EXPECT_EQ(Read(R"(a 'b c' "d e" f\ g h\)"
                 "\n"
                 "i)"),
            "a|b c|d e|f g|hi");
  EXPECT_EQ(Read(R"("a\"b\\c\d" '$D' '')"), R"(a"b\c\d|$D|)");
}

TEST(ShellWords, VariablesAreFilledInAndOthersAreUncertain) {
  EXPECT_EQ(Read("x $D/a ${D}b"), "x|/data dir/a|/data dirb");
  EXPECT_EQ(Read("x $NONE/a $1 $SLURM_JOB_ID"), "x|/a?|$1?|?");
  EXPECT_EQ(Read("~/bin/x a~"), "/h/bin/x|a~");
}

TEST(ShellWords, WhatOnlyAShellKnowsIsUncertain) {
  EXPECT_EQ(Read("x *.py a? [ab] {a,b}"), "x|*.py?|a??|[ab]?|{a,b}?");
  EXPECT_EQ(Read("x $(ls) y; z"), "x|?");
  EXPECT_EQ(Read("x `ls` y"), "x|?");
  EXPECT_EQ(Read("x ${A:-b} y"), "x|?");
}

TEST(ShellWords, AssignmentsRedirectionsAndCommentsAreNoArguments) {
  EXPECT_EQ(Read("A=1 B='x y' python t.py C=2"), "python|t.py|C=2");
  EXPECT_EQ(Read("x > log 2>&1 <in y"), "x|y");
  EXPECT_EQ(Read("x y >>log # z\nw a#b"), "x|y;w|a#b");
}

TEST(ShellWords, AnAssignmentToPathIsShown) {
  EXPECT_EQ(Read("PATH=/x:$PATH A=1 y"), "export|PATH=/x:?;y");
  EXPECT_EQ(Read("A+=1 PATH+=:/x; y"), "export|PATH+=:/x;y");
}

TEST(ShellWords, AFunctionsDefinitionEndsTheReading) {
  EXPECT_EQ(Read("a; f() { b; }; f"), "a");
  EXPECT_EQ(Read("f () { b; }; f"), "");
  EXPECT_EQ(Read("A=(1 2); f"), "");
}

TEST(ShellWords, CompoundCommandsEndTheReading) {
  EXPECT_EQ(Read("a; for i in 1 2; do b; done"), "a");
  EXPECT_EQ(Read("a; (cd x; b)"), "a");
  EXPECT_EQ(Read("cat <<EOF\nx\nEOF"), "cat");
}

TEST(ShellWords, ALastBackslashStandsForItself) {
  EXPECT_EQ(Read("a b\\"), "a|b\\");
  EXPECT_EQ(SplitDirective("a b\\"), (Words{"a", "b\\"}));
}

TEST(ShellWords, ALineIsReadAsTheShellReadsItAndADirectiveAsSbatch) {
  EXPECT_EQ(SplitShellLine("--tag a#b # why"), (Words{"--tag", "a#b"}));
  EXPECT_EQ(SplitDirective("--tag a#b # why"), (Words{"--tag", "a"}));
  EXPECT_EQ(SplitShellLine(R"("\d\"" '\d')"), (Words{R"(\d")", R"(\d)"}));
  EXPECT_EQ(SplitDirective(R"("\d\"" '\d')"), (Words{R"(d")", R"(\d)"}));
}

TEST(ShellWords, NothingOfALineIsExpanded) {
  EXPECT_EQ(SplitShellLine("cd \"$D\" && ~/x *.py;y 2>&1"),
            (Words{"cd", "$D", "&&", "~/x", "*.py;y", "2>&1"}));
}

TEST(ShellWords, AssignmentsHaveANameOfAVariable) {
  EXPECT_TRUE(IsAssignment("A_1=x"));
  EXPECT_TRUE(IsAssignment("PATH+=:/x"));
  for (const char* word : {"1A=x", "=x", "+=x", "a-b=x", "{A}=x", "A"}) {
    EXPECT_FALSE(IsAssignment(word)) << word;
  }
}

TEST(ShellWords, AnyBytesAreRead) {
  EXPECT_TRUE(rc::check([](const std::string& script) {
    for (const SimpleCommand& command : SimpleCommands(script, {})) RC_ASSERT(!command.empty());
  }));
  const auto texts = rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("ab \n'\"\\$(){}`;&|<>#~*=1")));
  EXPECT_TRUE(rc::check([&] {
    for (const SimpleCommand& command : SimpleCommands(*texts, {{"a", "b"}})) {
      RC_ASSERT(!command.empty());
    }
  }));
}

}  // namespace
}  // namespace gpuadvise::client
