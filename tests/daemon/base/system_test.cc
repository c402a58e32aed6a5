#include "daemon/base/system.h"

#include <gtest/gtest.h>

#include "tests/daemon/fake_clock.h"

namespace gpuadvise::daemon {
namespace {

TEST(UserNames, KnowsTheSystemsUsers) {
  const FakeClock clock;
  UserNames users(clock);
  EXPECT_EQ(users.NameOf(0), "root");
  EXPECT_EQ(users.NameOf(0), "root");
}

TEST(UserNames, AUidWithoutAUserHasNoName) {
  const FakeClock clock;
  UserNames users(clock);
  EXPECT_EQ(users.NameOf(3'999'999'999), "");
  EXPECT_EQ(users.UidOf("root"), 0);
  EXPECT_FALSE(users.UidOf("no-such-user-here"));
  EXPECT_FALSE(users.UidOf("0"));
}

TEST(UserNames, AsksAgainAfterAWhile) {
  FakeClock clock;
  UserNames users(clock);
  EXPECT_EQ(users.NameOf(0), "root");
  clock.Advance(UserNames::kRememberedSeconds + 1);
  EXPECT_EQ(users.NameOf(0), "root");
}

TEST(SubordinateUids, CountAsThoseOfTheirOwner) {
  const SubordinateUids uids(
      "root:100000:65536\n1001:165536:65536\nno-such-user:300000:10\nx:y\n\n");
  EXPECT_EQ(uids.OwnerOf(1001), 1001);
  EXPECT_EQ(uids.OwnerOf(99'999), 99'999);
  EXPECT_EQ(uids.OwnerOf(100'000), 0);
  EXPECT_EQ(uids.OwnerOf(165'535), 0);
  EXPECT_EQ(uids.OwnerOf(165'536), 1001);
  EXPECT_EQ(uids.OwnerOf(231'071), 1001);
  EXPECT_EQ(uids.OwnerOf(231'072), 231'072);
  EXPECT_EQ(uids.OwnerOf(300'009), 300'000);
}

}  // namespace
}  // namespace gpuadvise::daemon
