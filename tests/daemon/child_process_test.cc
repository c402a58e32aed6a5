#include "daemon/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "tests/daemon/temp_folder.h"

namespace gpuadvise {
namespace {

/// Everything that comes until the other end closes.
std::string ReadAll(int descriptor) {
  std::string all;
  char buffer[4096];
  for (;;) {
    pollfd waiting{descriptor, POLLIN, 0};
    poll(&waiting, 1, 10'000);
    const ssize_t count = read(descriptor, buffer, sizeof(buffer));
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) break;
    all.append(buffer, static_cast<size_t>(count));
  }
  close(descriptor);
  return all;
}

/// Waits for the end; the output must have been read or be small.
std::string AwaitEnd(ChildProcess& child) {
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT);
  return child.Ended().value_or("runs on");
}

ChildProcess Start(const std::string& script, std::vector<std::string> environment = {}) {
  Result<ChildProcess> child =
      ChildProcess::Start({{"/bin/sh", "-c", script}, std::move(environment)});
  EXPECT_TRUE(child);
  return std::move(*child);
}

TEST(ChildProcess, WhatItPrintsArrivesOnTwoPipes) {
  ChildProcess child = Start("echo out; echo err >&2");
  EXPECT_EQ(ReadAll(child.TakeOutput()), "out\n");
  EXPECT_EQ(ReadAll(child.TakeErrors()), "err\n");
  EXPECT_EQ(AwaitEnd(child), "exited with status 0");
  EXPECT_TRUE(child.succeeded());
}

TEST(ChildProcess, ItsStatusIsToldInWords) {
  ChildProcess child = Start("exit 3");
  EXPECT_EQ(AwaitEnd(child), "exited with status 3");
  EXPECT_FALSE(child.succeeded());
  ChildProcess other = Start("kill -9 $$");
  EXPECT_EQ(AwaitEnd(other), "was ended by signal 9 (Killed)");
}

TEST(ChildProcess, AProgramThatIsNotThereSaysWhy) {
  Result<ChildProcess> child = ChildProcess::Start({{"/nowhere/collector"}, {}});
  ASSERT_TRUE(child);
  EXPECT_EQ(ReadAll(child->TakeErrors()),
            "cannot run /nowhere/collector: No such file or directory\n");
  EXPECT_EQ(AwaitEnd(*child), "exited with status 127");
}

TEST(ChildProcess, ItsEnvironmentIsOursWithTheGivenOnTop) {
  setenv("GPUADVISED_TEST_KEPT", "kept", 1);
  setenv("GPUADVISED_TEST_SET", "old", 1);
  setenv("NOTIFY_SOCKET", "/run/notify", 1);
  ChildProcess child = Start("echo $GPUADVISED_TEST_KEPT $GPUADVISED_TEST_SET $NOTIFY_SOCKET.",
                             {"GPUADVISED_TEST_SET=new"});
  unsetenv("NOTIFY_SOCKET");
  EXPECT_EQ(ReadAll(child.TakeOutput()), "kept new .\n");
}

TEST(ChildProcess, InheritsNoOtherDescriptor) {
  const int inherited = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  ChildProcess child = Start("ls /proc/self/fd | wc -l");
  close(inherited);
  EXPECT_EQ(std::stoi(ReadAll(child.TakeOutput())), 4);  // 0, 1, 2 and the folder ls looks at
}

TEST(ChildProcess, IgnoredSignalsOfTheDaemonAreNotIgnoredInIt) {
  signal(SIGPIPE, SIG_IGN);
  ChildProcess child = Start("kill -PIPE $$; echo survived");
  EXPECT_EQ(AwaitEnd(child), "was ended by signal 13 (Broken pipe)");
}

TEST(ChildProcess, KillTakesWhatItStartedWithIt) {
  ChildProcess child = Start("sleep 1000 & echo $!; wait");
  const int output = child.TakeOutput();
  char digits[32] = {};
  pollfd waiting{output, POLLIN, 0};
  ASSERT_EQ(poll(&waiting, 1, 10'000), 1);
  ASSERT_GT(read(output, digits, sizeof(digits) - 1), 0);
  child.Kill();
  EXPECT_EQ(ReadAll(output), "");  // ends only when the sleeper has let go of the pipe
  EXPECT_EQ(AwaitEnd(child), "was ended by signal 9 (Killed)");
}

TEST(ChildProcess, ADeadLeaderLeavesNobodyBehind) {
  ChildProcess child = Start("sleep 1000 & exit 0");
  const int output = child.TakeOutput();
  EXPECT_EQ(AwaitEnd(child), "exited with status 0");
  EXPECT_EQ(ReadAll(output), "");
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
