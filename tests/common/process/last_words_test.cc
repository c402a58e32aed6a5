#include "common/process/last_words.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace gpuadvise {
namespace {

template <typename Thrown>
void EndBy(const Thrown& thrown) {
  ReportUncaughtExceptions("prog");
  std::thread([&] { throw thrown; }).join();
}

TEST(LastWordsDeathTest, WantOfMemoryOnAnyThreadIsASentenceAndAStatus) {
  EXPECT_EXIT(EndBy(std::bad_alloc()), testing::ExitedWithCode(1),
              "^prog: ended by want of memory; allow it more");
}

TEST(LastWordsDeathTest, WantOfThreadsNamesTheLimits) {
  EXPECT_EXIT(EndBy(std::system_error(EAGAIN, std::generic_category(), "no thread")),
              testing::ExitedWithCode(1), "^prog: ended by no thread: .*ulimit -u");
}

TEST(LastWordsDeathTest, AllElseIsABug) {
  EXPECT_EXIT(EndBy(std::out_of_range("index 7")), testing::ExitedWithCode(1),
              "^prog: ended by a bug: index 7\n");
  EXPECT_EXIT(EndBy(7), testing::ExitedWithCode(1), "^prog: ended by a bug\n");
}

}  // namespace
}  // namespace gpuadvise
