// Advice given lately, by id, with who asked: what `submitted` refers to.
//
// Bounded by number and bytes; who holds most loses their oldest first, so that one who asks again
// and again pushes out their own. Ids start with a word that differs from one run of the daemon to
// the next, so that an old id never means new advice. Safe from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpuadvise::daemon {

class AdviceStore {
 public:
  static constexpr size_t kMaxAdvice = 1000;
  static constexpr size_t kMaxBytes = 16u << 20;

  // `run` is that word; letters and digits.
  explicit AdviceStore(std::string run) : run_(std::move(run)) {}

  struct Given {
    std::string name;                     // of the job; "" where the question has none
    std::string request;                  // JSON text
    std::vector<std::string> strategies;  // as they were answered, JSON text; by rank, from 1
  };

  // Keeps `given` for `uid` and returns its id.
  std::string Add(int64_t uid, Given given);

  // If `id` is kept and was given to `uid`.
  std::optional<Given> Find(const std::string& id, int64_t uid) const;

 private:
  struct Entry {
    int64_t uid;
    Given given;
    size_t bytes;  // that it takes, with the heap
  };

  struct User {
    std::deque<int64_t> numbers;  // oldest first
    size_t bytes = 0;
  };

  std::string IdOf(int64_t number) const;
  void ForgetOneBut(int64_t newest);  // REQUIRES: mutex_ held, and there is another

  const std::string run_;
  mutable std::mutex mutex_;
  int64_t next_ = 1;
  size_t bytes_ = 0;
  std::map<int64_t, Entry> entries_;  // by number, oldest first
  std::unordered_map<int64_t, User> users_;
};

}  // namespace gpuadvise::daemon
