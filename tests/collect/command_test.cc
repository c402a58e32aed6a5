#include "daemon/collect/command.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

using std::chrono::milliseconds;

Command Shell(const std::string& script) {
  Command command;
  command.words = {"/bin/sh", "-c", script};
  return command;
}

TEST(RunCommand, GivesWhatTheProgramPrints) {
  EXPECT_EQ(RunCommand(Shell("printf 'a\\nb'")).value(), "a\nb");
}

TEST(RunCommand, AddsItsEnvironmentOverTheOld) {
  Command command = Shell("printf \"$HOME $GPUADVISE_TEST\"");
  command.environment = {"HOME=/nowhere", "GPUADVISE_TEST=7"};
  EXPECT_EQ(RunCommand(command).value(), "/nowhere 7");
}

TEST(RunCommand, GivesNoInput) { EXPECT_EQ(RunCommand(Shell("cat")).value(), ""); }

TEST(RunCommand, TakesMoreThanAPipeHolds) {
  EXPECT_EQ(RunCommand(Shell("head -c 3000000 /dev/zero")).value().size(), 3'000'000u);
}

TEST(RunCommand, NamesTheStatusAndTheFirstLineOfTheErrors) {
  const auto result = RunCommand(Shell("echo first >&2; echo second >&2; exit 3"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(result.error().message, "/bin/sh ended with status 3: first");
}

TEST(RunCommand, SaysThatAProgramIsNotThere) {
  Command command;
  command.words = {"/no/such/program"};
  EXPECT_EQ(RunCommand(command).error().message,
            "/no/such/program cannot be run; is it installed and in PATH?");
}

TEST(RunCommand, EndsAProgramThatTakesTooLong) {
  Command command = Shell("exec sleep 1000");
  command.deadline = milliseconds(50);
  EXPECT_EQ(RunCommand(command).error().message, "/bin/sh did not answer within 0.05 s");
}

TEST(RunCommand, EndsAProgramThatClosesItsOutputAndStays) {
  Command command = Shell("exec >&- 2>&-; sleep 1000");
  command.deadline = milliseconds(50);
  EXPECT_FALSE(RunCommand(command));
}

TEST(RunCommand, EndsAProgramThatPrintsTooMuch) {
  Command command = Shell("exec cat /dev/zero");
  command.max_output_bytes = 100'000;
  EXPECT_EQ(RunCommand(command).error().message,
            "/bin/sh printed more than can be right; its answer is dropped");
}

TEST(RunCommand, TakesErrorsWithoutEnd) {
  EXPECT_EQ(RunCommand(Shell("head -c 1000000 /dev/zero >&2; echo ok")).value(), "ok\n");
}

TEST(RunCommand, SaysWhenASignalEndedTheProgram) {
  EXPECT_EQ(RunCommand(Shell("kill -9 $$")).error().message, "/bin/sh was ended by a signal");
}

}  // namespace
}  // namespace gpuadvise
