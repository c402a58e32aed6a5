#include "daemon/advice_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gpuadvise {

std::string AdviceStore::IdOf(int64_t number) const { return fmt::format("a-{}-{}", run_, number); }

std::string AdviceStore::Add(int64_t uid, Given given) {
  const std::lock_guard lock(mutex_);
  const int64_t number = next_++;
  bytes_ += given.bytes();
  entries_.emplace(number, Entry{uid, std::move(given)});
  std::deque<int64_t>& own = numbers_of_[uid];
  own.push_back(number);
  if (own.size() > kMaxOfOneUser) Forget(own.front());
  while (entries_.size() > kMaxAdvice || (bytes_ > kMaxBytes && entries_.size() > 1)) {
    Forget(entries_.begin()->first);
  }
  return IdOf(number);
}

void AdviceStore::Forget(int64_t number) {
  const auto entry = entries_.find(number);
  bytes_ -= entry->second.given.bytes();
  const auto own = numbers_of_.find(entry->second.uid);
  own->second.pop_front();
  if (own->second.empty()) numbers_of_.erase(own);
  entries_.erase(entry);
}

std::optional<AdviceStore::Given> AdviceStore::Find(const std::string& id, int64_t uid) const {
  const std::lock_guard lock(mutex_);
  const auto own = numbers_of_.find(uid);
  if (own == numbers_of_.end()) return std::nullopt;
  const auto number = std::find_if(own->second.begin(), own->second.end(),
                                   [&](int64_t each) { return IdOf(each) == id; });
  if (number == own->second.end()) return std::nullopt;
  return entries_.at(*number).given;
}

}  // namespace gpuadvise
