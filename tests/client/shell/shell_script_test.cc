#include "client/shell/shell_script.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace gpuadvise::client {
namespace {

using Words = std::vector<std::string>;

std::vector<ScriptStatement> Read(std::string_view script) {
  const auto statements = ReadStatements(script);
  EXPECT_TRUE(statements) << (statements ? "" : statements.error().message);
  return statements.value_or(std::vector<ScriptStatement>());
}

std::string TroubleOf(std::string_view script) {
  const auto statements = ReadStatements(script);
  return statements ? "" : statements.error().message;
}

TEST(ScriptStatements, AreLinesAndPartsOfLines) {
  const auto statements = Read("a 1; b 2 # why\n\n  c \\\n  3\n");
  ASSERT_EQ(statements.size(), 3u);
  EXPECT_EQ(statements[1].text, "b 2");
  EXPECT_EQ(statements[2].commands[0].words, (Words{"c", "3"}));
  EXPECT_EQ(statements[2].line, 3);
}

TEST(ScriptStatements, KeepWordsAsTheyAreWritten) {
  const auto words = Read(R"-(x "a $B" 'c;d' $(ls | wc -l) ${E:-"f g"} h\ i "$(echo "j")" k#l)-")[0]
                         .commands[0]
                         .words;
  EXPECT_EQ(words, (Words{"x", "\"a $B\"", "'c;d'", "$(ls | wc -l)", "${E:-\"f g\"}", "h\\ i",
                          "\"$(echo \"j\")\"", "k#l"}));
}

TEST(ScriptStatements, AnArrayIsOneWordOverSeveralLines) {
  const auto statements = Read("A=(\n  --x 1 # no\n  --y\n)\nb\n");
  ASSERT_EQ(statements.size(), 2u);
  EXPECT_EQ(SplitRawWords("--x 1 # no\n --y").value(), (Words{"--x", "1", "--y"}));
  EXPECT_EQ(statements[0].commands[0].words.size(), 1u);
}

TEST(ScriptStatements, RedirectionsAndPipesAreNoWords) {
  const auto commands = Read("a b > log 2>&1 < in | tee -a x 2>/dev/null\n")[0].commands;
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].words, (Words{"a", "b"}));
  EXPECT_EQ(commands[0].redirections, ">log 2>&1 <in");
  EXPECT_TRUE(commands[0].piped_on);
  EXPECT_EQ(commands[1].words, (Words{"tee", "-a", "x"}));
}

TEST(ScriptStatements, AHereDocumentBelongsToItsCommand) {
  const auto statements = Read("cat <<'EOF' > f\nfor x in\n\"\nEOF\nb\n");
  ASSERT_EQ(statements.size(), 2u);
  EXPECT_EQ(statements[0].text, "cat <<'EOF' > f\nfor x in\n\"\nEOF");
  EXPECT_EQ(statements[0].commands[0].here_document, "for x in\n\"\n");
  EXPECT_EQ(statements[1].text, "b");
}

TEST(ScriptStatements, SayInWhichBlockACommandStands) {
  const auto statements = Read(
      "if [ -z \"$A\" ]; then a; elif b; then c; else d; fi\n"
      "for i in 1 2; do e $i; done\n"
      "while true; do if x; then f; fi; done\n"
      "g() { h; }\nfunction k {\n l\n}\n"
      "case $A in\n  a|b) m ;;\n  *) n ;;\nesac\n"
      "(o; p)\n{ q; } || r\n");
  ASSERT_EQ(statements.size(), 8u);
  for (const auto& command : statements[0].commands) {
    EXPECT_EQ(command.block, ScriptBlock::kCondition) << command.words[0];
  }
  EXPECT_EQ(statements[1].commands[0].block, ScriptBlock::kLoop);
  EXPECT_EQ(statements[2].commands.back().block, ScriptBlock::kLoop);
  EXPECT_EQ(statements[3].commands[0].block, ScriptBlock::kFunction);
  EXPECT_EQ(statements[4].commands[0].block, ScriptBlock::kFunction);
  EXPECT_EQ(statements[5].commands.size(), 2u);
  EXPECT_EQ(statements[5].commands[0].words, Words{"m"});
  EXPECT_EQ(statements[6].commands[0].block, ScriptBlock::kSubshell);
  EXPECT_EQ(statements[7].commands[0].block, ScriptBlock::kNone);
}

TEST(ScriptStatements, TestsAndSumsAreRead) {
  EXPECT_EQ(Read("[[ $a == b && $c < d ]] && x\n")[0].commands.back().words, Words{"x"});
  EXPECT_EQ(Read("N=$((8 * (2 + 1)))\nx\n").size(), 2u);
}

TEST(ScriptStatements, ASumInAConditionIsNoCommand) {
  const auto statements =
      ReadStatements("if (( n < 0 || n >= ${#sizes[@]} )); then\n  exit 1\nfi\ntorchrun t.py\n");
  ASSERT_TRUE(statements);
  ASSERT_EQ(statements->size(), 2u);
  ASSERT_EQ((*statements)[0].commands.size(), 1u);
  EXPECT_EQ((*statements)[0].commands[0].words, (std::vector<std::string>{"exit", "1"}));
  EXPECT_EQ((*statements)[1].commands[0].words, (std::vector<std::string>{"torchrun", "t.py"}));
}

TEST(ScriptStatements, WhatHasNoEndIsSaidWithItsLine) {
  EXPECT_EQ(TroubleOf("a\nb 'c\n"), "line 2: a single quote is not closed");
  EXPECT_EQ(TroubleOf("a \"b\n\n"), "line 1: a double quote is not closed");
  EXPECT_EQ(TroubleOf("x\nif a; then\n b\n"), "line 2: if is not closed");
  EXPECT_EQ(TroubleOf("cat <<EOF\nx\n"), "line 1: the here-document EOF is not closed");
  EXPECT_EQ(TroubleOf("A=(1\n"), "line 1: an array is not closed");
}

TEST(ScriptStatements, WindowsLineEndsAreBlanks) {
  const auto statements = Read("a b\r\nc \\\r\n d\r\n");
  ASSERT_EQ(statements.size(), 2u);
  EXPECT_EQ(statements[0].commands[0].words, (Words{"a", "b"}));
  EXPECT_EQ(statements[1].commands[0].words, (Words{"c", "d"}));
}

TEST(ScriptStatements, DeepNestingIsRefused) {
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "$(";
  EXPECT_NE(TroubleOf("x " + deep), "");
  EXPECT_NE(TroubleOf(std::string(5000, '(')), "");
}

RC_GTEST_PROP(ScriptStatements, AnyBytesAreReadOrRefused, (const std::string& bytes)) {
  const auto statements = ReadStatements(bytes);
  if (!statements) return;
  for (const ScriptStatement& statement : *statements) {
    RC_ASSERT(bytes.find(statement.text) != std::string::npos);
    for (const ScriptCommand& command : statement.commands) RC_ASSERT(!command.words.empty());
  }
}

TEST(Statements, BlocksOfAnyKindEndAtADepth) {
  for (const std::string opens : {"if a; then ", "while a; do ", "{ ", "( ", "for x in y; do "}) {
    std::string script;
    for (int i = 0; i < 101; ++i) script += opens;
    const auto read = ReadStatements(script);
    ASSERT_FALSE(read) << opens;
    EXPECT_EQ(read.error().message, "line 1: blocks are nested too deeply") << opens;
  }
}

}  // namespace
}  // namespace gpuadvise::client
