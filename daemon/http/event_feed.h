// Server-sent events (GET /v1/events): what many listeners are told, each at its own pace.
//
// The hub puts every event into the feed of each listener; a feed is a short queue. A listener that
// does not keep up loses the oldest events, not the newest, and costs nobody anything: the text of
// an event is shared. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gpuadvise::daemon {

using SharedText = std::shared_ptr<const std::string>;

// One event as it goes over the wire: "event: NAME\ndata: DATA\n\n". REQUIRES: no line break in
// either.
SharedText EventText(const std::string& name, const std::string& data);

class EventFeed {
 public:
  static constexpr size_t kMostWaiting = 16;

  void Put(SharedText event);

  // The oldest event that waits; null: none.
  SharedText Take();

  // Nothing will be put any more: once all was taken, the listener's connection ends.
  void End();
  bool ended() const;

  // `wake` is called, from any thread, whenever something was put; at once where something
  // waits. It must not call back. An empty function ends that.
  void OnNews(std::function<void()> wake);

 private:
  mutable std::mutex mutex_;
  bool ended_ = false;
  std::deque<SharedText> waiting_;
  std::function<void()> wake_;
};

class EventHub {
 public:
  // A feed of a listener who may be told what concerns user `uid` (-1: nobody's); `first` waits
  // in it already. It ends when its last owner lets go of it.
  std::shared_ptr<EventFeed> Join(int64_t uid, SharedText first);

  void TellAll(const SharedText& event);
  void Tell(int64_t uid, const SharedText& event);

 private:
  struct Listener {
    int64_t uid = -1;
    std::weak_ptr<EventFeed> feed;
  };

  void TellThose(const std::function<bool(const Listener&)>& which, const SharedText& event);

  std::mutex mutex_;
  std::vector<Listener> listeners_;
};

}  // namespace gpuadvise::daemon
