#include "client/mcp/line_input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "process/descriptor.h"

namespace gpuadvise::client {
namespace {

using Kind = InputLine::Kind;
constexpr std::chrono::milliseconds kNow(0), kLong(10'000);

class LineInputTest : public testing::Test {
 protected:
  LineInputTest() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reading = Descriptor(ends[0]);
    writing = Descriptor(ends[1]);
  }
  void Write(const std::string& text) {
    EXPECT_EQ(::write(writing.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  Descriptor reading, writing;
};

TEST_F(LineInputTest, GivesLinesAndWaitsForTheRest) {
  DescriptorInput input(reading.get(), 100);
  EXPECT_EQ(input.Next(kNow).kind, Kind::kNothingYet);
  Write("one\ntwo\nthr");
  EXPECT_EQ(input.Next(kLong).text, "one");
  EXPECT_EQ(input.Next(kLong).text, "two");
  EXPECT_EQ(input.Next(kNow).kind, Kind::kNothingYet);
  Write("ee\n");
  EXPECT_EQ(input.Next(kLong).text, "three");
}

TEST_F(LineInputTest, ALineThatIsTooLongIsSkippedAndTheNextOneRead) {
  DescriptorInput input(reading.get(), 10);
  Write(std::string(5'000, 'x') + "\n" + "short\n" + std::string(11, 'y') + "\nend\n");
  EXPECT_EQ(input.Next(kLong).kind, Kind::kTooLong);
  EXPECT_EQ(input.Next(kLong).text, "short");
  EXPECT_EQ(input.Next(kLong).kind, Kind::kTooLong);
  EXPECT_EQ(input.Next(kLong).text, "end");
}

TEST_F(LineInputTest, TheEndStaysAndALastLineCounts) {
  DescriptorInput input(reading.get(), 100);
  Write("last");
  writing.Close();
  EXPECT_EQ(input.Next(kLong).text, "last");
  EXPECT_EQ(input.Next(kLong).kind, Kind::kEnd);
  EXPECT_EQ(input.Next(kNow).kind, Kind::kEnd);
}

TEST_F(LineInputTest, ADescriptorThatCannotBeReadIsAtItsEnd) {
  DescriptorInput input(-1, 100);
  EXPECT_EQ(input.Next(kNow).kind, Kind::kNothingYet);  // poll() leaves it out
  DescriptorInput written(writing.get(), 100);
  reading.Close();
  EXPECT_EQ(written.Next(kLong).kind, Kind::kEnd);
}

}  // namespace
}  // namespace gpuadvise::client
