#include "daemon/http/listening.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "tests/daemon/http/http_peer.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

TEST(UnixListener, MakesItsFolderAndSetsThePermissions) {
  const TempFolder folder;
  const std::string path = folder.Path("run/gpuadvise/d.sock");
  const auto listener = UnixListener::Bind(path, 0660, "");
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_EQ(ModeOf(path), 0660u);
  EXPECT_TRUE(HttpPeer(path).connected());
}

// From now on no mode of this process's files can be changed.
bool ForbidChmod() {
  std::vector<sock_filter> steps = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  for (const long call : {
#ifdef SYS_chmod
           SYS_chmod,
#endif
           SYS_fchmod, SYS_fchmodat}) {
    steps.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1));
    steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// It was changed after bind(), by its path: in a folder where others can write that may be a link.
TEST(UnixListener, HasItsModeFromTheFirstMomentOn) {
  const TempFolder folder;
  const std::string path = folder.Path("d.sock");
  const auto bind = [&] {
    if (!ForbidChmod()) std::_Exit(77);
    const auto listener = UnixListener::Bind(path, 0666, "");
    std::_Exit(listener && ModeOf(path) == 0666 ? 0 : 1);
  };
  EXPECT_EXIT(bind(), testing::ExitedWithCode(0), "");
}

TEST(UnixListener, GivesTheSocketToItsGroup) {
  const TempFolder folder;
  const std::string path = folder.Path("d.sock");
  const std::string own_group = getgrgid(getgid())->gr_name;
  const auto listener = UnixListener::Bind(path, 0660, own_group);
  ASSERT_TRUE(listener) << listener.error().message;
  struct stat info {};
  ASSERT_EQ(lstat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_gid, getgid());
}

TEST(UnixListener, RemovesItsFileWhenItGoes) {
  const TempFolder folder;
  const std::string path = folder.Path("d.sock");
  { const auto listener = UnixListener::Bind(path, 0600, ""); }
  EXPECT_FALSE(Exists(path));
}

TEST(UnixListener, KnowsWhetherItsFileIsGone) {
  const TempFolder folder;
  const std::string path = folder.Path("d.sock");
  const auto listener = UnixListener::Bind(path, 0600, "");
  ASSERT_TRUE(listener);
  EXPECT_FALSE(listener->IsGone());
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_TRUE(listener->IsGone());
}

TEST(UnixListener, ReplacesTheFileOfADaemonThatIsGone) {
  const TempFolder folder;
  const std::string path = folder.Path("d.sock");
  {
    auto dead = UnixListener::Bind(path, 0600, "");
    dead->TakeDescriptor().Close();
    rename(path.c_str(), folder.Path("kept").c_str());
  }
  rename(folder.Path("kept").c_str(), path.c_str());
  ASSERT_TRUE(Exists(path));
  const auto listener = UnixListener::Bind(path, 0600, "");
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_TRUE(HttpPeer(path).connected());
}

TEST(UnixListener, LeavesALiveDaemonAlone) {
  const TempFolder folder;
  const std::string path = folder.Path("d.sock");
  const auto first = UnixListener::Bind(path, 0600, "");
  const auto second = UnixListener::Bind(path, 0600, "");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            "another gpuadvised answers on " + path +
                "; stop it first or set socket: (--socket) to another path");
  EXPECT_TRUE(HttpPeer(path).connected());
}

TEST(UnixListener, LeavesTheFileOfASuccessorAlone) {
  const TempFolder folder;
  const std::string path = folder.Path("d.sock");
  {
    const auto old = UnixListener::Bind(path, 0600, "");
    unlink(path.c_str());
    folder.Write("d.sock", "a successor's");
  }
  EXPECT_TRUE(Exists(path));
}

// The error of binding `path`.
std::string Refusal(const std::string& path, const std::string& group = "") {
  const auto listener = UnixListener::Bind(path, 0600, group);
  return listener ? "" : listener.error().message;
}

TEST(UnixListener, WhatIsNoSocketIsNotReplaced) {
  const TempFolder folder;
  const std::string path = folder.Write("precious", "data");
  EXPECT_EQ(Refusal(path),
            path + " exists and is not a socket; remove it or set socket: to another path");
  EXPECT_EQ(folder.Read("precious"), "data");
}

TEST(UnixListener, APathThatIsTooLongIsRefused) {
  const std::string path = "/tmp/" + std::string(120, 'x');
  EXPECT_EQ(Refusal(path),
            "the socket path " + path + " is longer than 107 bytes; choose a shorter one");
}

TEST(UnixListener, AnUnknownGroupIsRefusedAndLeavesNoFile) {
  const TempFolder folder;
  const std::string path = folder.Path("d.sock");
  EXPECT_EQ(Refusal(path, "no_such_group_here"),
            "socket_group no_such_group_here is not a group of this machine; create it or leave "
            "socket_group empty");
  EXPECT_FALSE(Exists(path));
}

TEST(UnixListener, AFolderThatCannotBeMadeIsRefused) {
  const TempFolder folder;
  folder.Write("file", "");
  const std::string message = Refusal(folder.Path("file/below/d.sock"));
  EXPECT_NE(message.find("the folder " + folder.Path("file/below") + " cannot be created"),
            std::string::npos)
      << message;
}

TEST(TcpListener, BindsLoopbackWhenNoHostIsGiven) {
  const auto listener = BindTcp(":0");
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_TRUE(listener->address.starts_with("127.0.0.1:")) << listener->address;
}

TEST(TcpListener, ABusyPortIsRefused) {
  const auto first = BindTcp("127.0.0.1:0");
  ASSERT_TRUE(first);
  const auto second = BindTcp(first->address);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("choose another port"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::daemon
