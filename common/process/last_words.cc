#include "common/process/last_words.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>

namespace gpuadvise {
namespace {

const char* program_name = "";

// Does not allocate: memory may be exhausted.
void Say(const char* what, const char* remedy) {
  std::array<char, 500> sentence{};
  const int length = std::snprintf(sentence.data(), sentence.size(), "%s: ended by %s%s\n",
                                   program_name, what, remedy);
  const auto bytes = std::min(static_cast<size_t>(std::max(length, 0)), sentence.size() - 1);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, sentence.data(), bytes);
}

[[noreturn]] void End() {
  try {
    if (std::exception_ptr last = std::current_exception()) std::rethrow_exception(last);
    Say("a bug", "");
  } catch (const std::bad_alloc&) {
    Say("want of memory", "; allow it more (ulimit -v, MemoryMax= of a unit)");
  } catch (const std::runtime_error& error) {  // std::system_error too
    Say(error.what(),
        "; if that is for want of threads, files or memory, allow it more (ulimit -u, -n, -v; "
        "TasksMax=, LimitNOFILE= and MemoryMax= of a unit)");
  } catch (const std::exception& error) {
    Say("a bug: ", error.what());
  } catch (...) {
    Say("a bug", "");
  }
  std::_Exit(1);
}

}  // namespace

void ReportUncaughtExceptions(const char* program) {
  program_name = program;
  std::set_terminate(End);
}

}  // namespace gpuadvise
