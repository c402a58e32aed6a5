#include "common/process/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace gpuadvise {
namespace {

Descriptor OpenOne() { return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

bool IsOpen(int number) { return ::fcntl(number, F_GETFD) >= 0; }

TEST(Descriptor, IsClosedWithItsOwner) {
  int number = -1;
  {
    const Descriptor file = OpenOne();
    number = file.get();
    EXPECT_TRUE(file);
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(Descriptor, AMovedOneHasOneOwner) {
  Descriptor first = OpenOne();
  Descriptor second = OpenOne();
  const int kept = first.get();
  const int replaced = second.get();
  second = std::move(first);
  EXPECT_EQ(second.get(), kept);
  EXPECT_FALSE(first);
  EXPECT_TRUE(IsOpen(kept));
  EXPECT_FALSE(IsOpen(replaced));
}

TEST(Descriptor, AReleasedOneIsTheCallers) {
  const int number = OpenOne().Release();
  EXPECT_TRUE(IsOpen(number));
  EXPECT_TRUE(Descriptor(number).Close());
}

TEST(Descriptor, AnErrorOfClosingIsTold) {
  Descriptor file = OpenOne();
  ::close(file.get());
  EXPECT_FALSE(file.Close());
  EXPECT_TRUE(file.Close()) << "there is none any more";
}

}  // namespace
}  // namespace gpuadvise
