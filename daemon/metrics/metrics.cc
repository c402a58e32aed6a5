#include "daemon/metrics/metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <optional>

#include "common/base/version.h"
#include "common/base/work_budget.h"
#include "common/slurm/policy.h"
#include "daemon/base/system.h"
#include "daemon/metrics/forecast_metrics.h"

namespace gpuadvise::daemon {
namespace {

// After so long without a scrape no forecasts are made: the longest scrape intervals are minutes.
constexpr int64_t kForecastForSeconds = 600;
// As of callers over TCP: behind everybody else.
constexpr int kMetricsNiceness = 15;

prometheus::Family<prometheus::Counter>& CounterFamily(prometheus::Registry& registry,
                                                       const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Histogram& RefreshHistogram(prometheus::Registry& registry) {
  return prometheus::BuildHistogram()
      .Name("gpuadvise_refresh_seconds")
      .Help("From a snapshot, or a submission told by the client, to new forecasts")
      .Register(registry)
      .Add({}, prometheus::Histogram::BucketBoundaries{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30});
}

// Where that is refused everything works all the same.
void StepBehindAnswers() {
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kMetricsNiceness));
}

}  // namespace

Metrics::Metrics(Sources sources)
    : sources_(std::move(sources)),
      requests_(CounterFamily(registry_, "gpuadvise_requests_total", "Requests answered")),
      cpu_(CounterFamily(registry_, "gpuadvise_request_cpu_seconds_total",
                         "CPU time that answers took, of all threads")),
      snapshots_(
          CounterFamily(registry_, "gpuadvise_snapshots_total", "Snapshots taken in").Add({})),
      slurm_requests_(CounterFamily(registry_, "gpuadvise_slurm_requests_total",
                                    "What Slurm was asked for these snapshots: RPCs of slurm-api, "
                                    "commands of slurm-cli, HTTP requests of slurm-rest")),
      refresh_(RefreshHistogram(registry_)) {}

Metrics::~Metrics() {
  stopping_ = true;
  forecasting_.stop();
  forecasting_.join();
}

void Metrics::OnNewState() {
  const auto state = sources_.cluster.state();
  if (state) refresh_.Observe(state->prepared_in_seconds);
  ForecastSoon();
}

void Metrics::OnJobsChanged(const std::vector<PastJob>& jobs, const Snapshot& snapshot) {
  snapshots_.Increment();
  slurm_requests_.Add({{"source", snapshot.source}})
      .Increment(static_cast<double>(std::max<int64_t>(0, snapshot.requests)));
  const auto state = sources_.cluster.state();
  if (state) waits_.OnJobsChanged(jobs, snapshot, state->catalogues->gpus);
}

void Metrics::Count(std::string_view route, std::string_view method, const ApiResponse& response,
                    bool over_tcp) {
  requests_
      .Add({{"route", std::string(route)},
            {"method", method == "GET" || method == "POST" ? std::string(method) : "other"},
            {"status", std::to_string(response.status)},
            {"over", over_tcp ? "tcp" : "socket"}})
      .Increment();
  cpu_.Add({{"route", std::string(route)}})
      .Increment(std::chrono::duration<double>(response.cpu_time).count());
}

MetricsReader Metrics::ReaderFor(const Peer& peer, const DaemonState* state) const {
  if (peer.anonymous) return {false, false};
  const bool is_own = peer.uid == 0 || peer.uid == static_cast<int64_t>(::geteuid());
  if (is_own && !peer.shown_uid) return {true, true};
  if (state == nullptr) return {false, false};
  const std::string& hidden = state->snapshot->config.private_data;
  const bool are_private =
      HasFlag(hidden, "jobs") || HasFlag(hidden, "accounts") || HasFlag(hidden, "usage");
  return {false, !are_private};
}

Metrics::Shared Metrics::ClusterText(const std::shared_ptr<const DaemonState>& state,
                                     const MetricsReader& reader) {
  {
    const std::lock_guard lock(mutex_);
    const Kept& kept = cluster_texts_[{reader.sees_hidden, reader.sees_accounts}];
    if (kept.text && kept.state.lock() == state) return kept.text;
  }
  auto text = std::make_shared<const std::string>(
      MetricText(ClusterMetrics(*state->snapshot, state->catalogues->gpus, reader)));
  const std::lock_guard lock(mutex_);
  cluster_texts_[{reader.sees_hidden, reader.sees_accounts}] = {state, text};
  return text;
}

// Once for each state; while one is being made the next is not begun.
void Metrics::ForecastSoon() {
  const auto state = sources_.cluster.state();
  if (!state || stopping_) return;
  {
    const std::lock_guard lock(mutex_);
    const bool is_read = scraped_at_ && sources_.clock.Now() - *scraped_at_ <= kForecastForSeconds;
    if (!is_read || forecast_.state.lock() == state) return;
  }
  if (is_forecasting_.exchange(true)) return;
  boost::asio::post(forecasting_, [this] { Forecast(); });
}

void Metrics::Forecast() {
  thread_local const bool behind = (StepBehindAnswers(), true);
  static_cast<void>(behind);
  if (const auto state = sources_.cluster.state()) {
    // A daemon that stops does not wait for it.
    WorkBudget budget(sources_.most_work(state->snapshot.get()), [this] {
      return stopping_ ? std::chrono::nanoseconds(std::chrono::hours(24)) : ThreadCpuTime();
    });
    const WorkBudget::Share share(budget);
    auto text = std::make_shared<const std::string>(
        MetricText(ForecastMetrics(state->Context(Serial, nullptr, &budget), state->Anybody())));
    const std::lock_guard lock(mutex_);
    forecast_ = {state, std::move(text)};
  }
  is_forecasting_ = false;
}

MetricFamilies Metrics::DaemonNow(const DaemonState* state, const MetricsReader& reader) const {
  MetricFamilies families = registry_.Collect();
  Gauges info("gpuadvise_build_info", "1; versions and the source of snapshots",
              {"version", "slurm", "source"});
  if (state != nullptr) {
    const Snapshot& snapshot = *state->snapshot;
    info.Add({kVersion, snapshot.config.slurm_version, snapshot.source}, 1);
  } else {
    info.Add({kVersion, "", ""}, 1);
  }
  std::move(info).MoveTo(families);
  Gauges age("gpuadvise_snapshot_age_seconds", "Age of the snapshot that answers are made from");
  const Freshness freshness = sources_.cluster.FreshnessOf(state);
  if (state != nullptr) age.Set(static_cast<double>(freshness.age_seconds));
  std::move(age).MoveTo(families);
  AddGauge("gpuadvise_snapshot_stale", "1 while no newer snapshot comes; /healthz has the cause",
           state == nullptr || freshness.cause ? 1 : 0, families);
  prometheus::MetricFamily starts{"gpuadvise_collector_starts_total",
                                  "Starts of gpuadvise-collect",
                                  prometheus::MetricType::Counter,
                                  {{}}};
  starts.metric[0].counter.value = static_cast<double>(sources_.collector_starts());
  families.push_back(std::move(starts));
  AddGauge("gpuadvise_standby", "1 where another daemon holds the history and answers",
           sources_.history.StandsBy() ? 1 : 0, families);
  const HistoryState history = sources_.history.state();
  AddGauge("gpuadvise_history_kept", "1 where a history is kept on disk", history.info ? 1 : 0,
           families);
  Gauges bytes("gpuadvise_history_bytes", "Size of the history on disk");
  Gauges jobs("gpuadvise_history_jobs", "Jobs in the history");
  if (history.info) {
    bytes.Set(static_cast<double>(history.info->bytes));
    jobs.Set(static_cast<double>(history.info->jobs));
  }
  std::move(bytes).MoveTo(families);
  std::move(jobs).MoveTo(families);
  if (state != nullptr) {
    Submitter caller;
    if (reader.sees_hidden) caller.uid = 0;
    families.push_back(waits_.Family(Visibility(*state->snapshot, caller), reader.sees_accounts));
  }
  return families;
}

std::string Metrics::Text(const Peer& peer) {
  const auto state = sources_.cluster.state();
  const MetricsReader reader = ReaderFor(peer, state.get());
  std::string text;
  if (state) {
    text += *ClusterText(state, reader);
    const std::lock_guard lock(mutex_);
    scraped_at_ = sources_.clock.Now();
    if (forecast_.text) text += *forecast_.text;
  }
  ForecastSoon();
  return text + MetricText(DaemonNow(state.get(), reader));
}

}  // namespace gpuadvise::daemon
