#include "daemon/advice_store.h"

#include <fmt/format.h>

#include <utility>

namespace gpuadvise {

std::string AdviceStore::Add(int64_t uid, std::string answer) {
  const std::lock_guard lock(mutex_);
  std::string id = fmt::format("a-{}-{}", run_, next_++);
  bytes_ += answer.size();
  entries_.emplace(id, Entry{uid, std::move(answer)});
  order_.push_back(id);
  while (order_.size() > kMaxAdvice || (bytes_ > kMaxBytes && order_.size() > 1)) {
    const auto oldest = entries_.find(order_.front());
    bytes_ -= oldest->second.answer.size();
    entries_.erase(oldest);
    order_.pop_front();
  }
  return id;
}

std::optional<std::string> AdviceStore::Find(const std::string& id, int64_t uid) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.uid != uid) return std::nullopt;
  return found->second.answer;
}

}  // namespace gpuadvise
