#include "daemon/state/advice_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gpuadvise::daemon {
namespace {

size_t HeapBytesOf(const AdviceStore::Given& given) {
  size_t bytes = given.name.capacity() + given.request.capacity();
  for (const std::string& strategy : given.strategies) {
    bytes += sizeof(std::string) + strategy.capacity();
  }
  return bytes;
}

}  // namespace

std::string AdviceStore::IdOf(int64_t number) const { return fmt::format("a-{}-{}", run_, number); }

std::string AdviceStore::Add(int64_t uid, Given given) {
  Entry entry{uid, std::move(given), sizeof(Entry)};
  entry.bytes += HeapBytesOf(entry.given);
  const std::lock_guard lock(mutex_);
  const int64_t number = next_++;
  User& user = users_[uid];
  user.numbers.push_back(number);
  user.bytes += entry.bytes;
  bytes_ += entry.bytes;
  entries_.emplace(number, std::move(entry));
  while (entries_.size() > kMaxAdvice || (bytes_ > kMaxBytes && entries_.size() > 1)) {
    ForgetOneBut(number);
  }
  return IdOf(number);
}

// The oldest of who holds most bytes; of all, where that is the newest.
void AdviceStore::ForgetOneBut(int64_t newest) {
  const auto less = [](const auto& a, const auto& b) {  // the older first among equals
    return std::pair(a.second.bytes, -a.second.numbers.front()) <
           std::pair(b.second.bytes, -b.second.numbers.front());
  };
  const auto most = std::max_element(users_.begin(), users_.end(), less);
  int64_t number = most->second.numbers.front();
  if (number == newest) number = entries_.begin()->first;
  const auto entry = entries_.find(number);
  const auto user = users_.find(entry->second.uid);
  const size_t bytes = entry->second.bytes;
  entries_.erase(entry);
  bytes_ -= bytes;
  user->second.bytes -= bytes;
  user->second.numbers.pop_front();
  if (user->second.numbers.empty()) users_.erase(user);
}

std::optional<AdviceStore::Given> AdviceStore::Find(const std::string& id, int64_t uid) const {
  const std::lock_guard lock(mutex_);
  const auto user = users_.find(uid);
  if (user == users_.end()) return std::nullopt;
  const std::deque<int64_t>& numbers = user->second.numbers;
  const auto number =
      std::find_if(numbers.begin(), numbers.end(), [&](int64_t each) { return IdOf(each) == id; });
  if (number == numbers.end()) return std::nullopt;
  return entries_.at(*number).given;
}

}  // namespace gpuadvise::daemon
