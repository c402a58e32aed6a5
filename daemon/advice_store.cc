#include "daemon/advice_store.h"

#include <fmt/format.h>

#include <utility>

namespace gpuadvise {

std::string AdviceStore::Add(int64_t uid, Given given) {
  const std::lock_guard lock(mutex_);
  std::string id = fmt::format("a-{}-{}", run_, next_++);
  bytes_ += given.bytes();
  entries_.emplace(id, Entry{uid, std::move(given)});
  order_.push_back(id);
  while (order_.size() > kMaxAdvice || (bytes_ > kMaxBytes && order_.size() > 1)) {
    const auto oldest = entries_.find(order_.front());
    bytes_ -= oldest->second.given.bytes();
    entries_.erase(oldest);
    order_.pop_front();
  }
  return id;
}

std::optional<AdviceStore::Given> AdviceStore::Find(const std::string& id, int64_t uid) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.uid != uid) return std::nullopt;
  return found->second.given;
}

}  // namespace gpuadvise
