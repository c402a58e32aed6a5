#include "client/script/script_variables.h"

#include <gtest/gtest.h>

namespace gpuadvise::client {
namespace {

using Words = std::vector<std::string>;

class ScriptVariablesTest : public testing::Test {
 protected:
  ScriptVariablesTest() : variables(Options()) {}
  static SbatchOptions Options() {
    SbatchOptions options;
    options.Set("nodes", "2");
    options.Set("gres", "gpu:a100:4");
    options.Set("ntasks-per-node", "4");
    return options;
  }
  std::string Value(const char* raw) { return variables.ValueOf(raw).value_or("?"); }

  ScriptVariables variables;
};

TEST_F(ScriptVariablesTest, HoldWhatTheScriptAssigns) {
  variables.Assign("A=8", true);
  variables.Assign("B=\"x $A\"", true);
  variables.Assign("C='$A'", true);
  EXPECT_EQ(Value("$A"), "8");
  EXPECT_EQ(Value("${B}y"), "x 8y");
  EXPECT_EQ(Value("$C"), "$A");
  EXPECT_EQ(Value("$D"), "?");
}

TEST_F(ScriptVariablesTest, AValueThatDoublesEndsAsOneThatCannotBeTold) {
  variables.Assign("A0=x", true);
  for (int i = 1; i < 60; ++i) {
    const std::string before = std::to_string(i - 1);
    variables.Assign("A" + std::to_string(i) + "=\"$A" + before + "$A" + before + "\"", true);
  }
  EXPECT_EQ(Value("$A10").size(), 1024u);
  EXPECT_EQ(Value("$A59"), "?");
  variables.Assign("B=x", true);
  for (int i = 0; i < 60; ++i) variables.Assign("B+=$B", true);
  EXPECT_EQ(Value("$B"), "?");
  EXPECT_EQ(Value("$A10"), std::string(1024, 'x'));
}

TEST_F(ScriptVariablesTest, AllValuesTogetherHaveABoundToo) {
  variables.Assign("LONG=" + std::string(32'000, 'x'), true);
  for (int i = 0; i < 1'000; ++i) variables.Assign("A" + std::to_string(i) + "=$LONG", true);
  EXPECT_EQ(Value("$A1").size(), 32'000u);
  EXPECT_EQ(Value("$A999"), "?");
}

TEST_F(ScriptVariablesTest, ADefaultCountsWhereNothingElseIsSet) {
  EXPECT_EQ(Value("${A:-8}"), "8");
  EXPECT_EQ(Value("${1:-4}"), "4");
  EXPECT_EQ(Value("${1}"), "?");
  variables.Assign("A=9", true);
  EXPECT_EQ(Value("${A:-8}"), "9");
  EXPECT_EQ(Value("${A:=8}"), "9");
  EXPECT_EQ(Value("${A%x}"), "?");
}

TEST_F(ScriptVariablesTest, SumsAreCounted) {
  variables.Assign("N=4", true);
  EXPECT_EQ(Value("$((N * 2 + 1))"), "9");
  EXPECT_EQ(Value("$(( ($N+2)*3 / 4 ))"), "4");
  EXPECT_EQ(Value("$(expr 16 / $N)"), "4");
  EXPECT_EQ(Value("$(expr $N \\* 2)"), "8");
  EXPECT_EQ(Value("$((1 / 0))"), "?");
  EXPECT_EQ(Value("$((99999999999 * 99999999999))"), "?");
  EXPECT_EQ(Value("$(nproc)"), "?");
}

TEST_F(ScriptVariablesTest, SlurmsOwnAreWhatTheJobAsksFor) {
  EXPECT_EQ(Value("$SLURM_NNODES"), "2");
  EXPECT_EQ(Value("$SLURM_GPUS_ON_NODE"), "4");
  EXPECT_EQ(Value("$SLURM_NTASKS"), "8");
}

TEST_F(ScriptVariablesTest, ArraysAndTextsHoldSeveralWords) {
  variables.Assign("A=(--x 1 \"--y z\")", true);
  variables.Assign("A+=(--w)", true);
  variables.Assign("B=\"--x 1\"", true);
  EXPECT_EQ(variables.WordsOf("\"${A[@]}\""), (Words{"--x", "1", "\"--y z\"", "--w"}));
  EXPECT_EQ(variables.WordsOf("$B"), (Words{"--x", "1"}));
  EXPECT_EQ(variables.WordsOf("\"$B\""), std::nullopt) << "quoted, it is one word";
  EXPECT_EQ(variables.WordsOf("x$B"), std::nullopt);
}

TEST_F(ScriptVariablesTest, WhatAConditionAssignsIsNotKnown) {
  variables.Assign("A=8", true);
  variables.Assign("A=9", false);
  EXPECT_EQ(Value("$A"), "?");
  variables.Assign("B=(1 2)", true);
  variables.Assign("B+=(3)", false);
  EXPECT_EQ(variables.WordsOf("${B[@]}"), (Words{"1", "2"}));
  EXPECT_TRUE(variables.MayHoldMore("B"));
}

TEST_F(ScriptVariablesTest, ArgumentsAreThoseThatSetGives) {
  EXPECT_EQ(Value("$1"), "?");
  variables.Assign("A=8", true);
  variables.SetArguments(Words{"\"$A\"", "'x y'", "$UNKNOWN"});
  EXPECT_EQ(Value("$1/${2}"), "8/x y");
  EXPECT_EQ(Value("$3"), "?");
  EXPECT_EQ(Value("${4:-5}"), "5");
  EXPECT_EQ(Value("$#"), "3");
  EXPECT_EQ(variables.WordsOf("\"$@\""), (Words{"8", "'x y'", "$UNKNOWN"}));
  variables.ShiftArguments();
  EXPECT_EQ(Value("$1"), "x y");
  variables.SetArguments(std::nullopt);
  EXPECT_EQ(Value("$1"), "?");
  variables.Unset("A");
  EXPECT_EQ(Value("$A"), "?");
}

}  // namespace
}  // namespace gpuadvise::client
