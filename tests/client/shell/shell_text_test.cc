#include "client/shell/shell_text.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "common/process/run_program.h"

namespace gpuadvise::client {
namespace {

const Variables kVariables = {{"HOME", "/home/me"}, {"USER", "me"}, {"SLURM_JOB_ID", "77"}};

std::string Expanded(const std::string& text) { return ExpandText(text, kVariables).text; }

TEST(ShellText, ExpandsVariablesAndTheTildeOnly) {
  EXPECT_EQ(Expanded("/scratch/$USER/x"), "/scratch/me/x");
  EXPECT_EQ(Expanded("/scratch/${USER}x"), "/scratch/mex");
  EXPECT_EQ(Expanded("~"), "/home/me");
  EXPECT_EQ(Expanded("~/runs"), "/home/me/runs");
  EXPECT_EQ(Expanded("~other/runs"), "~other/runs");
  EXPECT_EQ(Expanded("a~/b"), "a~/b");
  EXPECT_EQ(Expanded("$1 ${USER:-x} $ *"), "$1 ${USER:-x} $ *");
}

TEST(ShellText, IsWhatTheJobsShellMakesOfIt) {
  ::setenv("USER_OF_TEST", "a b", 1);
  const Variables variables = {{"HOME", std::getenv("HOME")}, {"USER_OF_TEST", "a b"}};
  for (const std::string text : {"~/x", "/s/$USER_OF_TEST/\"q\"", "$(id)", "`id`", "a\\$b", "$9",
                                 "${USER_OF_TEST}x", "${USER_OF_TEST", "$", "*", "new\nline"}) {
    const auto printed = RunProgram("/bin/bash", {"-c", "printf %s " + ShellExpanding(text)}, "",
                                    ChildErrors::kInherited);
    EXPECT_EQ(ExpandText(text, variables).text, printed) << text;
  }
}

TEST(ShellText, EndsAtWhatOnlyTheJobKnows) {
  const ShellText text = ExpandText("/scratch/$USER/run-$SLURM_JOB_ID/x", kVariables);
  EXPECT_EQ(text.text, "/scratch/me/run-");
  EXPECT_EQ(text.only_in_job, "SLURM_JOB_ID");
}

TEST(ShellText, AVariableWithoutValueIsNamed) {
  const ShellText text = ExpandText("$SCRATCH/$OTHER/x", kVariables);
  EXPECT_EQ(text.text, "//x");
  EXPECT_EQ(text.not_set, "SCRATCH");
}

TEST(ShellText, CommandsAreSeenAndNeverRun) {
  EXPECT_TRUE(ExpandText("/a/$(date)", kVariables).has_command);
  EXPECT_TRUE(ExpandText("/a/`date`", kVariables).has_command);
  EXPECT_FALSE(ExpandText("/a/$USER", kVariables).has_command);
}

TEST(ShellText, PathsAreBesideTheirFolder) {
  EXPECT_EQ(PathBeside("/w", "x"), "/w/x");
  EXPECT_EQ(PathBeside("/", "x"), "/x");
  EXPECT_EQ(PathBeside("/w", "/x"), "/x");
  EXPECT_EQ(PathBeside("/w", ""), "");
  EXPECT_EQ(PathBeside("/w", "."), "/w");
  EXPECT_EQ(PathBeside("/w", ".//./x/../y"), "/w/x/../y");
}

}  // namespace
}  // namespace gpuadvise::client
