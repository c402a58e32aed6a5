// GET /metrics as one object: what it is told, and the text of a scrape.
//
// Problem. A scrape must cost answers nothing, and forecasts of all GPU types take seconds on a
// large cluster.
// Idea. Three parts. The cluster is counted once for each state and kind of reader, when the first
// of them asks (O(nodes + jobs)). Forecasts are made by a thread of its own at a lower priority,
// once for each state, for as long as somebody has scraped in the last ten minutes: the first
// scrape has none, and later ones have those of the newest state or the one before. Counters of
// the daemon itself are live. A scrape copies text and waits for nobody. Safe from any thread.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/api_types.h"
#include "daemon/metrics/cluster_metrics.h"
#include "daemon/metrics/wait_histograms.h"
#include "daemon/state/cluster_state.h"
#include "daemon/store/history_writer.h"

namespace gpuadvise::daemon {

inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

class Metrics {
 public:
  struct Sources {
    const ClusterState& cluster;
    const HistoryWriter& history;
    const Clock& clock;
    // CPU time that the forecasts of one state may take.
    std::function<std::chrono::nanoseconds(const Snapshot*)> most_work;
    std::function<int64_t()> collector_starts;
  };

  // What `sources` refers to outlives this.
  explicit Metrics(Sources sources);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // After each new state.
  void OnNewState();

  // After each snapshot.
  void OnJobsChanged(const std::vector<PastJob>& jobs, const Snapshot& snapshot);

  // A request that was answered. `route`: one of a few fixed texts, never what a caller sent.
  void Count(std::string_view route, std::string_view method, const ApiResponse& response,
             bool over_tcp);

  // A scrape by `peer`: over TCP without accounts and hidden partitions; on the socket with
  // accounts where PrivateData allows; for root and the daemon's own user with everything.
  std::string Text(const Peer& peer);

 private:
  using Shared = std::shared_ptr<const std::string>;
  struct Kept {  // a part, and the state that it is of
    std::weak_ptr<const DaemonState> state;
    Shared text;
  };

  MetricsReader ReaderFor(const Peer& peer, const DaemonState* state) const;
  Shared ClusterText(const std::shared_ptr<const DaemonState>& state, const MetricsReader& reader);
  void ForecastSoon();
  void Forecast();
  MetricFamilies DaemonNow(const DaemonState* state, const MetricsReader& reader) const;

  const Sources sources_;
  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Counter>& cpu_;
  prometheus::Counter& snapshots_;
  prometheus::Family<prometheus::Counter>& slurm_requests_;
  prometheus::Histogram& refresh_;
  WaitHistograms waits_;
  std::atomic<bool> is_forecasting_ = false;  // or about to
  std::atomic<bool> stopping_ = false;

  mutable std::mutex mutex_;                             // guards all below
  std::map<std::pair<bool, bool>, Kept> cluster_texts_;  // by hidden, accounts
  Kept forecast_;
  std::optional<UnixSeconds> scraped_at_;

  boost::asio::thread_pool forecasting_{1};  // last: what it runs uses all above
};

}  // namespace gpuadvise::daemon
