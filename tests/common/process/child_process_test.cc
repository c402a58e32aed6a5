#include "common/process/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace gpuadvise {
namespace {

// Everything that comes until the other end closes.
std::string TextOf(Descriptor& descriptor) {
  std::string all;
  char buffer[4096];
  for (;;) {
    pollfd waiting{descriptor.get(), POLLIN, 0};
    poll(&waiting, 1, 10'000);
    const ssize_t count = read(descriptor.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) break;
    all.append(buffer, static_cast<size_t>(count));
  }
  return all;
}

// Waits for the end; the output must have been read or be small.
std::string AwaitEnd(ChildProcess& child) {
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT);
  const auto end = child.Ended();
  return end ? InWords(*end) : "runs on";
}

// As gpuadvised starts its collector.
ChildOptions Tied() {
  ChildOptions options;
  options.group = ChildGroup::kOwnAndEndsWithIt;
  options.dies_with_us = true;
  return options;
}

ChildProcess Start(const std::string& script, std::vector<std::string> environment = {},
                   const ChildOptions& options = Tied()) {
  auto child = ChildProcess::Start({{"/bin/sh", "-c", script}, std::move(environment)}, options);
  EXPECT_TRUE(child);
  return std::move(*child);
}

TEST(ChildProcess, WhatItPrintsArrivesOnTwoPipes) {
  ChildProcess child = Start("echo out; echo err >&2");
  EXPECT_EQ(TextOf(child.output()), "out\n");
  EXPECT_EQ(TextOf(child.errors()), "err\n");
  EXPECT_EQ(AwaitEnd(child), "exited with status 0");
  EXPECT_TRUE(child.Ended()->ok());
}

TEST(ChildProcess, ItsStatusIsToldInWords) {
  ChildProcess child = Start("exit 3");
  EXPECT_EQ(AwaitEnd(child), "exited with status 3");
  EXPECT_FALSE(child.Ended()->ok());
  ChildProcess other = Start("kill -9 $$");
  EXPECT_EQ(AwaitEnd(other), "was ended by signal 9 (Killed)");
}

TEST(ChildProcess, WhyAProgramCannotBeRunIsKnownAtItsEnd) {
  auto child = ChildProcess::Start({{"/nowhere/collector"}, {}}, Tied());
  ASSERT_TRUE(child);
  EXPECT_EQ(AwaitEnd(*child), "exited with status 127");
  EXPECT_EQ(child->Ended()->exec_error, ENOENT);
  ChildProcess other = Start("exit 127");
  EXPECT_EQ(AwaitEnd(other), "exited with status 127");
  EXPECT_EQ(other.Ended()->exec_error, 0);
}

TEST(ChildProcess, AProgramIsLookedUpInPath) {
  auto child = ChildProcess::Start({{"sh", "-c", "exit 4"}, {}}, {});
  ASSERT_TRUE(child);
  EXPECT_EQ(AwaitEnd(*child), "exited with status 4");
}

TEST(ChildProcess, ItsEnvironmentIsOursWithTheGivenOnTop) {
  setenv("GPUADVISED_TEST_KEPT", "kept", 1);
  setenv("GPUADVISED_TEST_SET", "old", 1);
  setenv("NOTIFY_SOCKET", "/run/notify", 1);
  ChildProcess child = Start("echo $GPUADVISED_TEST_KEPT $GPUADVISED_TEST_SET $NOTIFY_SOCKET.",
                             {"GPUADVISED_TEST_SET=new", "NOTIFY_SOCKET"});
  unsetenv("NOTIFY_SOCKET");
  EXPECT_EQ(TextOf(child.output()), "kept new .\n");
}

TEST(ChildProcess, InheritsNoOtherDescriptorUnlessAskedTo) {
  const Descriptor inherited(open("/dev/null", O_RDONLY));  // without O_CLOEXEC
  ChildProcess child = Start("ls /proc/self/fd | wc -l");
  EXPECT_EQ(std::stoi(TextOf(child.output())), 4);  // 0, 1, 2 and the folder ls looks at
  ChildOptions options;
  options.keeps_descriptors = true;
  ChildProcess keeping = Start("ls /proc/self/fd | wc -l", {}, options);
  EXPECT_GE(std::stoi(TextOf(keeping.output())), 5);
}

TEST(ChildProcess, ItsPipesMayHaveTheNumbersThatWeClosed) {
  const Descriptor input(dup(STDIN_FILENO));
  const Descriptor output(dup(STDOUT_FILENO));
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
  std::string said;
  {
    ChildOptions options;
    options.input = ChildInput::kPipe;
    ChildProcess child = Start("cat; echo out; echo err >&2", {}, options);
    child.input().Close();
    said = TextOf(child.output()) + TextOf(child.errors());
  }
  dup2(input.get(), STDIN_FILENO);
  dup2(output.get(), STDOUT_FILENO);
  EXPECT_EQ(said, "out\nerr\n");
}

TEST(ChildProcess, IgnoredSignalsOfTheDaemonAreNotIgnoredInIt) {
  signal(SIGPIPE, SIG_IGN);
  ChildProcess child = Start("kill -PIPE $$; echo survived");
  EXPECT_EQ(AwaitEnd(child), "was ended by signal 13 (Broken pipe)");
}

TEST(ChildProcess, OnlyTheGivenSignalsAreBlockedInIt) {
  sigset_t ours;
  sigset_t before;
  sigemptyset(&ours);
  sigaddset(&ours, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &ours, &before);
  const Command command{{"grep", "SigBlk", "/proc/self/status"}, {}};
  auto child = ChildProcess::Start(command, {});
  ChildOptions options;
  sigaddset(&options.blocked, SIGUSR2);
  auto other = ChildProcess::Start(command, options);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(TextOf(child->output()), "SigBlk:\t0000000000000000\n");
  EXPECT_EQ(TextOf(other->output()), "SigBlk:\t0000000000000800\n");
}

TEST(ChildProcess, ItsStatusIsKnownWhereWeIgnoreTheEndOfChildren) {
  signal(SIGCHLD, SIG_IGN);
  ChildProcess child = Start("exit 3");
  EXPECT_EQ(AwaitEnd(child), "exited with status 3");
}

TEST(ChildProcess, ItIsToldWhenItWasStopped) {
  ChildProcess child = Start("kill -STOP $$; exit 5");
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child.pid()), &info, WSTOPPED | WNOWAIT);
  EXPECT_TRUE(child.WasStopped());
  EXPECT_FALSE(child.WasStopped());
  EXPECT_FALSE(child.Ended());
  child.Signal(SIGCONT);
  EXPECT_EQ(AwaitEnd(child), "exited with status 5");
}

TEST(ChildProcess, StaysInOurGroupWhereItIsToldTo) {
  ChildOptions options;
  options.group = ChildGroup::kOurs;
  const ChildProcess child = Start("sleep 1000", {}, options);
  EXPECT_EQ(getpgid(child.pid()), getpgrp());
  const ChildProcess other = Start("sleep 1000");
  EXPECT_EQ(getpgid(other.pid()), other.pid());
}

TEST(ChildProcess, KillTakesWhatItStartedWithIt) {
  ChildProcess child = Start("sleep 1000 & echo $!; wait");
  Descriptor& output = child.output();
  char digits[32] = {};
  pollfd waiting{output.get(), POLLIN, 0};
  ASSERT_EQ(poll(&waiting, 1, 10'000), 1);
  ASSERT_GT(read(output.get(), digits, sizeof(digits) - 1), 0);
  child.Kill();
  EXPECT_EQ(TextOf(output), "");  // ends only when the sleeper has let go of the pipe
  EXPECT_EQ(AwaitEnd(child), "was ended by signal 9 (Killed)");
}

TEST(ChildProcess, ADeadLeaderLeavesNobodyBehind) {
  ChildProcess child = Start("sleep 1000 & exit 0");
  Descriptor& output = child.output();
  EXPECT_EQ(AwaitEnd(child), "exited with status 0");
  EXPECT_EQ(TextOf(output), "");
}

TEST(ChildProcess, WhatTheLeaderLeavesGoesOnUnlessTheGroupEndsWithIt) {
  ChildProcess child = Start("(sleep 0.2; echo later) & exit 0", {}, {});
  EXPECT_EQ(AwaitEnd(child), "exited with status 0");
  EXPECT_EQ(TextOf(child.output()), "later\n");
  ChildProcess other = Start("sleep 1000 & exit 0", {}, {});
  other.EndGroupWithIt();
  EXPECT_EQ(AwaitEnd(other), "exited with status 0");
  EXPECT_EQ(TextOf(other.output()), "");
}

TEST(ChildProcess, GoesWithItsObject) {
  pid_t pid = 0;
  {
    const ChildProcess child = Start("sleep 1000");
    pid = child.pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace gpuadvise
