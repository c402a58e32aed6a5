#include "common/process/run_program.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/fakes/temporary_folder.h"

namespace gpuadvise {
namespace {

using std::chrono::milliseconds;
using How = ProgramEnd::How;

ProgramCall Shell(const std::string& script) {
  ProgramCall call;
  call.command.words = {"/bin/sh", "-c", script};
  return call;
}

TEST(RunWithin, GivesWhatTheProgramPrints) {
  EXPECT_EQ(RunWithin(Shell("printf 'a\\nb'")).output, "a\nb");
}

TEST(RunWithin, GivesNoInputUnlessThereIsSome) { EXPECT_EQ(RunWithin(Shell("cat")).output, ""); }

TEST(RunWithin, TakesMoreThanAPipeHolds) {
  ProgramCall call = Shell("head -c 3000000 /dev/zero");
  call.max_output_bytes = 4'000'000;
  EXPECT_EQ(RunWithin(call).output.size(), 3'000'000u);
}

TEST(RunWithin, TellsTheStatusAndTheErrors) {
  const ProgramEnd end = RunWithin(Shell("echo first >&2; echo second >&2; exit 3"));
  EXPECT_EQ(end.how, How::kByItself);
  EXPECT_EQ(end.end.exit_code, 3);
  EXPECT_EQ(end.errors, "first\nsecond\n");
}

TEST(RunWithin, TellsThatAProgramIsNotThere) {
  ProgramCall call;
  call.command.words = {"/no/such/program"};
  const ProgramEnd end = RunWithin(call);
  EXPECT_EQ(end.how, How::kNotRun);
  EXPECT_EQ(end.error, ENOENT);
}

TEST(RunWithin, EndsAProgramThatTakesTooLong) {
  ProgramCall call = Shell("exec sleep 1000");
  call.child.group = ChildGroup::kOurs;
  call.deadline = milliseconds(50);
  const ProgramEnd end = RunWithin(call);
  EXPECT_EQ(end.how, How::kTooLate);
  EXPECT_EQ(ExplainTermination(call, end).message, "/bin/sh did not answer within 0.05 s");
}

TEST(RunWithin, EndsAProgramThatClosesItsOutputAndStays) {
  ProgramCall call = Shell("exec >&- 2>&-; sleep 1000");
  call.deadline = milliseconds(50);
  EXPECT_EQ(RunWithin(call).how, How::kTooLate);
}

TEST(RunWithin, EndsAProgramThatPrintsTooMuch) {
  ProgramCall call = Shell("exec cat /dev/zero");
  call.max_output_bytes = 100'000;
  call.ends_at_bound = true;
  const ProgramEnd end = RunWithin(call);
  EXPECT_EQ(ExplainTermination(call, end).message,
            "/bin/sh printed more than can be right; its answer is dropped");
}

TEST(RunWithin, DropsWhatIsOverTheBoundWhereThatIsNoError) {
  ProgramCall call = Shell("head -c 1000000 /dev/zero; exit 3");
  call.max_output_bytes = 1000;
  const ProgramEnd end = RunWithin(call);
  EXPECT_EQ(end.output.size(), 1000u);
  EXPECT_EQ(end.end.exit_code, 3);
}

TEST(RunWithin, EndsAProgramThatIsNotWantedAnyMore) {
  ProgramCall call = Shell("exec sleep 1000");
  call.stop = [] { return true; };
  EXPECT_EQ(RunWithin(call).how, How::kStopped);
}

TEST(RunWithin, TakesErrorsWithoutEnd) {
  const ProgramEnd end = RunWithin(Shell("head -c 1000000 /dev/zero >&2; echo ok"));
  EXPECT_EQ(end.output, "ok\n");
  EXPECT_EQ(end.errors.size(), 4096u);
}

TEST(RunningPrograms, InputGoesInAndOutputComesOut) {
  EXPECT_EQ(RunProgram("/bin/cat", {}, "hello", ChildErrors::kInherited), "hello");
  EXPECT_EQ(RunProgram("/bin/echo", {"a b", "$x"}, "", ChildErrors::kInherited), "a b $x\n");
}

TEST(RunningPrograms, LargeInputAndOutputDoNotBlock) {
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(RunProgram("/bin/cat", {}, large, ChildErrors::kInherited), large);
  EXPECT_EQ(RunProgram("/bin/true", {}, large, ChildErrors::kInherited), "");
}

TEST(RunningPrograms, FailureIsAnError) {
  EXPECT_EQ(RunProgram("/bin/false", {}, "", ChildErrors::kDiscarded).error().message,
            "/bin/false failed (exit status 1)");
  EXPECT_EQ(
      RunProgram("/bin/sh", {"-c", "kill -9 $$"}, "", ChildErrors::kDiscarded).error().message,
      "/bin/sh failed (signal 9)");
  EXPECT_NE(RunProgram("/nonexistent", {}, "", ChildErrors::kDiscarded)
                .error()
                .message.find("/nonexistent could not be run"),
            std::string::npos);
}

TEST(RunningPrograms, BothOutputsCanBeTakenTogether) {
  ProgramCall call = Shell("cat; echo out; echo err >&2; exit 3");
  call.child.errors = ChildErrors::kTogether;
  call.input = "in ";
  const ProgramEnd end = RunWithin(call);
  EXPECT_EQ(end.output, "in out\nerr\n");
  EXPECT_EQ(InWords(end.end), "exited with status 3");
}

TEST(RunningPrograms, ADeadlineEndsAProgramWithItsChildren) {
  const TemporaryFolder folder;
  ProgramCall call = Shell("sleep 600 & echo $! >" + folder.Path("pid") + "; wait");
  call.deadline = milliseconds(2500);
  const auto end = RunToCompletion(call);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message, "/bin/sh did not answer within 2.5 s");
  pid_t child = 0;
  std::ifstream(folder.Path("pid")) >> child;
  ASSERT_GT(child, 0);
  // Killed, but whoever adopted it may not have buried it yet.
  std::ifstream status("/proc/" + std::to_string(child) + "/stat");
  std::string words;
  std::getline(status, words);
  EXPECT_TRUE(words.empty() || words.find(") Z") != std::string::npos ||
              words.find(") X") != std::string::npos)
      << words;
}

TEST(RunningPrograms, ADeadlineThatIsKeptChangesNothing) {
  ProgramCall call = Shell("echo x");
  call.deadline = std::chrono::minutes(1);
  const auto end = RunToCompletion(call);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->output, "x\n");
  EXPECT_TRUE(end->ok());
}

TEST(FindingPrograms, TheFirstExecutableWins) {
  const TemporaryFolder folder;
  folder.Write("a/sbatch", "not executable");
  const std::string program = folder.WriteProgram("b/sbatch", "#!/bin/sh\n");
  const std::string path = folder.Path("none") + ":" + folder.Path("a") + ":" + folder.Path("b");
  EXPECT_EQ(FindInPath("sbatch", path.c_str()), program);
  EXPECT_EQ(FindInPath("sbatch", folder.Path("none").c_str()), "");
}

}  // namespace
}  // namespace gpuadvise
