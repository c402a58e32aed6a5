// Doing the same for many things, on as many threads as the caller of this library lends.
#pragma once

#include <cstddef>
#include <functional>

namespace gpuadvise {

// Calls body(0) … body(count - 1), each once, in any order and perhaps several at a time; returns
// when all have. What a body throws is thrown again, once the others are done. Where the work has a
// budget (work_budget.h) and that is spent, those that have not begun are left out.
using ForEach = std::function<void(size_t count, const std::function<void(size_t)>& body)>;

inline void Serial(size_t count, const std::function<void(size_t)>& body) {
  for (size_t i = 0; i < count; ++i) body(i);
}

}  // namespace gpuadvise
