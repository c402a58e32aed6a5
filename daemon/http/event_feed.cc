#include "daemon/http/event_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gpuadvise::daemon {

SharedText EventText(const std::string& name, const std::string& data) {
  return std::make_shared<const std::string>(fmt::format("event: {}\ndata: {}\n\n", name, data));
}

void EventFeed::Put(SharedText event) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMostWaiting) waiting_.pop_front();
  waiting_.push_back(std::move(event));
  if (wake_) wake_();
}

SharedText EventFeed::Take() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return nullptr;
  SharedText event = std::move(waiting_.front());
  waiting_.pop_front();
  return event;
}

void EventFeed::End() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  if (wake_) wake_();
}

bool EventFeed::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void EventFeed::OnNews(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
  if (wake_ && !waiting_.empty()) wake_();
}

std::shared_ptr<EventFeed> EventHub::Join(int64_t uid, SharedText first) {
  auto feed = std::make_shared<EventFeed>();
  if (first) feed->Put(std::move(first));
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const Listener& listener) { return listener.feed.expired(); });
  listeners_.push_back({uid, feed});
  return feed;
}

void EventHub::TellAll(const SharedText& event) {
  TellThose([](const Listener&) { return true; }, event);
}

void EventHub::Tell(int64_t uid, const SharedText& event) {
  TellThose([uid](const Listener& listener) { return listener.uid == uid; }, event);
}

void EventHub::TellThose(const std::function<bool(const Listener&)>& which,
                         const SharedText& event) {
  const std::lock_guard lock(mutex_);
  for (const Listener& listener : listeners_) {
    if (!which(listener)) continue;
    if (const auto feed = listener.feed.lock()) feed->Put(event);
  }
}

}  // namespace gpuadvise::daemon
