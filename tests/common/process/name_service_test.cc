// Compiled twice: with the machine's NSS, and with getent as static programs ask it.
#include "common/process/name_service.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace gpuadvise {
namespace {

TEST(NameService, KnowsTheMachinesUsersAndGroups) {
  EXPECT_EQ(UserName(0), "root");
  EXPECT_EQ(GroupId("root"), gid_t{0});
  EXPECT_EQ(GroupNames({0}), std::vector<std::string>{"root"});
  const std::map<std::string, int64_t> found = UserIds({"no-such-user-here", "root", "daemon"});
  EXPECT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("root"), 0);
}

TEST(NameService, OfUnknownOnesThereIsNothing) {
  EXPECT_EQ(UserName(3'999'999'999), "");
  EXPECT_FALSE(GroupId("no-such-group-here"));
  EXPECT_TRUE(GroupNames({3'999'999'999}).empty());
  EXPECT_TRUE(GroupNames({}).empty());
  EXPECT_TRUE(UserIds({}).empty());
}

TEST(NameService, ANumberIsNoNameOfAUserOrGroup) {
  EXPECT_TRUE(UserIds({"0"}).empty());
  EXPECT_TRUE(UserIds({"+0"}).empty());
  EXPECT_TRUE(UserIds({" 0"}).empty());
  EXPECT_FALSE(GroupId("0"));
  EXPECT_FALSE(GroupId("+0"));
}

TEST(NameService, ANameIsNeverAnOption) {
  EXPECT_TRUE(UserIds({"--help", "-s"}).empty());
  EXPECT_FALSE(GroupId("--version"));
}

TEST(NameService, ManyNamesAreAskedInParts) {
  std::vector<std::string> names(1000, "no-such-user-here");
  for (size_t i = 0; i < names.size(); ++i) names[i] += std::to_string(i);
  names.emplace_back("root");
  EXPECT_EQ(UserIds(names), (std::map<std::string, int64_t>{{"root", 0}}));
}

TEST(NameService, AnAddressIsItself) {
  EXPECT_EQ(ReachableHost("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(ReachableHost("::1"), "::1");
}

#ifdef GPUADVISE_STATIC
TEST(NameService, AHostIsItsAddress) {
  EXPECT_EQ(ReachableHost("127.1"), "127.0.0.1");
  EXPECT_EQ(ReachableHost("localhost"), "127.0.0.1");
}

TEST(NameService, WithoutGetentThereAreTheMachinesOwnUsers) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nothing", 1);
  EXPECT_EQ(UserName(0), "root");
  EXPECT_EQ(GroupId("root"), gid_t{0});
  EXPECT_TRUE(UserIds({"no-such-user-here"}).empty());
  EXPECT_EQ(ReachableHost("login1"), "");
  ::setenv("PATH", path.c_str(), 1);
}
#endif

}  // namespace
}  // namespace gpuadvise
