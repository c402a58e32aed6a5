// The state of the cluster that answers are made from: the newest snapshot with all that came
// before it (common/live_forecast.h), and the jobs that our client has just submitted already in
// it.
//
// Readers get an immutable View and keep it as long as they like. Preparing a view is done by the
// thread that brings the news (a worker), one at a time; several pieces of news that arrive while
// one is being prepared share the next. Safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/live_forecast.h"
#include "common/queue_starts.h"
#include "common/snapshot.h"
#include "daemon/clock.h"
#include "daemon/knowledge.h"

namespace gpuadvise {

/// One consistent picture. All members are set.
struct View : Outlook {
  std::shared_ptr<const Knowledge> knowledge;
  UnixSeconds received_at = 0;     // by the daemon's clock
  double prepared_in_seconds = 0;  // from the snapshot to this view

  /// When everybody in the queue will start: worked out when it is first asked for.
  const QueueStarts& Starts() const;

 private:
  struct Once {
    std::once_flag flag;
    QueueStarts starts;
  };
  std::shared_ptr<Once> starts_ = std::make_shared<Once>();
};

/// How good the picture is.
struct Freshness {
  int64_t age_seconds = 0;
  std::optional<std::string> cause;  // why no newer one came; nullopt while they arrive
};

class RetiredViews;

class ClusterState {
 public:
  /// `clock` must outlive the state. `stale_after_seconds`: an older view has a cause.
  ClusterState(const Clock& clock, std::shared_ptr<const Knowledge> knowledge,
               int64_t stale_after_seconds);

  /// Gets the jobs that something happened to, and the snapshot that shows it.
  using Told = std::function<void(std::vector<PastJob>, const Snapshot&)>;

  /// `told` is called after each snapshot, on the thread that brought it. Call before the first
  /// one.
  void TellOf(Told told);

  /// `published` is called after each new view, on the thread that made it. Call before the first.
  void TellOfViews(std::function<void()> published);

  /// From the next snapshot on what was learned is what `load` gives, which is called at once;
  /// no snapshot is taken in meanwhile.
  void Restore(const std::function<Past()>& load);

  /// nullptr before the first snapshot.
  std::shared_ptr<const View> view() const;

  /// Age of `view` (which may be null) and the cause.
  Freshness FreshnessOf(const View* view) const;

  /// A snapshot from the collector: clears the cause, settles submitted jobs, prepares the view.
  void Accept(std::shared_ptr<const Snapshot> snapshot);

  /// A job that our client has submitted counts as pending from now on: until a snapshot shows its
  /// id, or three later ones do not. Returns when the view has it. Bounded: beyond
  /// kMaxSubmitted the oldest is forgotten.
  void AddSubmitted(Job job);

  /// Why no newer snapshot comes.
  void SetCause(std::string cause);

  void SetKnowledge(std::shared_ptr<const Knowledge> knowledge);
  void SetStaleAfter(int64_t seconds);

  static constexpr size_t kMaxSubmitted = 10'000;
  static constexpr int kPollsUntilForgotten = 3;

 private:
  struct Submitted {
    Job job;
    int polls_without = 0;
  };

  void SettleSubmitted(const Snapshot& snapshot);  // REQUIRES: mutex_ held
  void Prepare();
  void See(std::shared_ptr<const Snapshot> snapshot);  // REQUIRES: preparing_ held
  Snapshot Merged(const Snapshot& base, const std::vector<Job>& submitted) const;

  const Clock& clock_;
  const std::shared_ptr<RetiredViews> retired_;
  std::mutex preparing_;   // one Prepare() at a time; taken before mutex_; guards until mutex_
  uint64_t prepared_ = 0;  // the news in view_
  LiveForecast live_;
  std::shared_ptr<const Outlook> outlook_;  // of the newest snapshot that live_ has seen
  Told told_;
  std::function<void()> published_;

  mutable std::mutex mutex_;  // guards all below
  uint64_t news_ = 0;
  std::shared_ptr<const Snapshot> base_;
  UnixSeconds received_at_ = 0;
  std::vector<Submitted> submitted_;
  std::shared_ptr<const Knowledge> knowledge_;
  std::shared_ptr<const View> view_;
  std::optional<std::string> cause_;
  int64_t stale_after_seconds_;
};

}  // namespace gpuadvise
