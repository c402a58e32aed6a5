// Runs the same work for many items, on the caller's threads.
#pragma once

#include <cstddef>
#include <functional>

namespace gpuadvise {

// Calls body(0) … body(count - 1), each once, in any order and possibly in parallel; returns when
// all are done. Rethrows an exception of a body after the others finished. With a spent work budget
// (work_budget.h), skips bodies that have not begun.
using ForEach = std::function<void(size_t count, const std::function<void(size_t)>& body)>;

inline void Serial(size_t count, const std::function<void(size_t)>& body) {
  for (size_t i = 0; i < count; ++i) body(i);
}

}  // namespace gpuadvise
