// Answers that are the same for everybody who asks without a name, made once for each state; and
// how many large ones may be on their way.
//
// Problem. Hundreds of dashboards ask for the same few things after every snapshot.
// Idea. What an answer says depends on the state and the request alone; only the frame around it
// (the snapshot's age) changes by the second. So the answer's text is made once, the frame put
// around it once a second, and all listeners share the bytes. Answers are made one after the other;
// errors are not kept. Bounded by bytes: what nobody has asked for longest goes first. Safe from
// any thread.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/base/error.h"
#include "daemon/api/frame.h"
#include "daemon/state/cluster_state.h"

namespace gpuadvise::daemon {

class AnswerCache {
 public:
  static constexpr size_t kMostBytes = 16u << 20;  // requests and answers together
  static constexpr size_t kMostAnswers = 2048;     // the oldest is looked for among all
  static constexpr size_t kMostFiles = 4;
  using Make = std::function<Result<nlohmann::json>()>;

  // The framed text of what `make` gives for `request` in `state`. Errors: those of `make`, which
  // are not kept.
  Result<FramedAnswer> Get(const std::shared_ptr<const DaemonState>& state,
                           const Freshness& freshness, const std::string& request,
                           const Make& make);

  // A place for a file that is made for one caller alone, to be held until it is sent, because such
  // files are large; null: kMostFiles are on their way.
  std::shared_ptr<const void> TakeFile();

 private:
  struct Answer {
    FramedAnswer framed;
    Freshness freshness;  // that the frame tells
    uint64_t asked = 0;   // when last, as a count
  };

  static size_t BytesOf(const std::string& request, const Answer& answer);
  void Keep(const std::string& request, Answer answer);

  std::mutex mutex_;  // guards all below
  std::weak_ptr<const DaemonState> state_;
  std::map<std::string, Answer> answers_;
  size_t bytes_ = 0;
  uint64_t count_ = 0;
  std::array<std::weak_ptr<const void>, kMostFiles> files_;
};

}  // namespace gpuadvise::daemon
