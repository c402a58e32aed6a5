#include "daemon/state/cluster_state.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include "common/base/text.h"
#include "common/gpu/gpu_pool.h"
#include "daemon/base/system.h"
#include "daemon/state/site_problems.h"

namespace gpuadvise::daemon {
namespace {

// CPU time of a forecast of free GPUs at most, once for each state.
constexpr std::chrono::duration<double> kFreeGpusTime{1};

// Time inside a simulation or a recording is not ours: their age counts from arrival.
bool HasOwnTime(const Snapshot& snapshot) {
  return snapshot.source == "sim" || snapshot.source == "replay";
}

}  // namespace

// Frees states that nobody reads any more, on a thread of its own: with a large cluster that takes
// longer than to answer a request, and whoever reads one last would have to.
class RetiredStates {
 public:
  void Add(std::unique_ptr<const DaemonState> state) {
    const std::lock_guard lock(mutex_);
    states_.push_back(std::move(state));
    some_.notify_one();
  }

 private:
  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<std::unique_ptr<const DaemonState>> freed;
      std::unique_lock lock(mutex_);
      some_.wait(lock, stop, [&] { return !states_.empty(); });
      freed.swap(states_);
      lock.unlock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any some_;
  std::vector<std::unique_ptr<const DaemonState>> states_;
  std::jthread thread_{[this](const std::stop_token& stop) { Run(stop); }};  // last: ends first
};

AdviceContext DaemonState::Context(ForEach for_each, const LearnedRuns* learned,
                                   WorkBudget* budget) const {
  return {*snapshot,           *queue,  *by_time_limit, catalogues->gpus,     catalogues->models,
          std::move(for_each), learned, budget,         catalogues->courtesy, pools_};
}

Submitter DaemonState::Anybody() const {
  Submitter anybody;
  anybody.public_account = catalogues->public_account;
  anybody.public_qos = catalogues->public_qos;
  return anybody;
}

const QueueStarts& DaemonState::Starts() const {
  std::call_once(starts_->flag, [this] { starts_->value = StartsInQueue(*queue); });
  return starts_->value;
}

const ArrayEnds& DaemonState::Ends() const {
  std::call_once(ends_->flag, [this] { ends_->value = ArrayEndsOf(*queue); });
  return ends_->value;
}

const FreeForecast& DaemonState::Free() const {
  std::call_once(free_->flag, [this] {
    std::map<std::pair<std::string_view, std::string_view>, std::string> types;
    for (const GpuPool& pool : Pools()) {
      for (const Node* node : pool.usable) types[{node->name, pool.gres_type}] = pool.Id();
    }
    const auto type_of = [&](const std::string& node, const std::string& gres_type) {
      const auto found = types.find({node, gres_type});
      return found == types.end() ? std::string() : found->second;
    };
    const std::chrono::nanoseconds begun = ThreadCpuTime();
    free_->value = ForecastFreeGpus(*queue, type_of, [&] {
      return std::chrono::duration<double>(ThreadCpuTime() - begun) / kFreeGpusTime;
    });
  });
  return free_->value;
}

ClusterState::ClusterState(const Clock& clock, std::shared_ptr<const Catalogues> catalogues,
                           int64_t stale_after_seconds)
    : clock_(clock),
      retired_(std::make_shared<RetiredStates>()),
      catalogues_(std::move(catalogues)),
      stale_after_seconds_(stale_after_seconds) {}

void ClusterState::SetOnJobsChanged(OnJobsChanged on_jobs_changed) {
  const std::lock_guard lock(preparing_);
  on_jobs_changed_ = std::move(on_jobs_changed);
}

void ClusterState::SetOnNewState(std::function<void()> on_new_state) {
  const std::lock_guard lock(preparing_);
  on_new_state_ = std::move(on_new_state);
}

void ClusterState::Restore(const std::function<ForecastHistory()>& load) {
  const std::lock_guard lock(preparing_);
  live_.Restore(load());
}

std::shared_ptr<const DaemonState> ClusterState::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

Freshness ClusterState::FreshnessOf(const DaemonState* state) const {
  const std::lock_guard lock(mutex_);
  Freshness freshness;
  freshness.cause = cause_;
  freshness.passed_over = passed_over_;
  if (state == nullptr) return freshness;
  const UnixSeconds since =
      HasOwnTime(*state->snapshot) ? state->received_at : state->snapshot->taken_at;
  freshness.age_seconds = std::max<int64_t>(0, clock_.Now() - since);
  if (!freshness.cause && freshness.age_seconds > stale_after_seconds_) {
    freshness.cause = fmt::format("{} has provided nothing new for more than {} s",
                                  state->snapshot->source, stale_after_seconds_);
  }
  return freshness;
}

void ClusterState::Accept(std::shared_ptr<const Snapshot> snapshot) {
  {
    const std::lock_guard lock(mutex_);
    base_ = std::move(snapshot);
    received_at_ = clock_.Now();
    cause_.reset();
    ++news_;
  }
  Prepare();
}

void ClusterState::SetCause(std::string cause) {
  const std::lock_guard lock(mutex_);
  cause_ = std::move(cause);
}

void ClusterState::SetPassedOver(std::string causes) {
  const std::lock_guard lock(mutex_);
  passed_over_ = std::move(causes);
}

void ClusterState::SetCatalogues(std::shared_ptr<const Catalogues> catalogues) {
  {
    const std::lock_guard lock(mutex_);
    catalogues_ = std::move(catalogues);
    ++news_;
  }
  Prepare();
}

void ClusterState::SetStaleAfter(int64_t seconds) {
  const std::lock_guard lock(mutex_);
  stale_after_seconds_ = seconds;
}

void ClusterState::Observe(std::shared_ptr<const Snapshot> snapshot) {
  LiveStep step = live_.See(std::move(snapshot));
  forecast_ = std::move(step.state);
  if (step.not_forecast > 0) {
    spdlog::info("{} submissions since the last snapshot were too many to forecast",
                 step.not_forecast);
  }
  if (on_jobs_changed_) on_jobs_changed_(std::move(step.changed), *forecast_->snapshot);
}

void ClusterState::Prepare() {
  const std::lock_guard one_at_a_time(preparing_);
  const auto begun = std::chrono::steady_clock::now();
  auto state = std::make_unique<DaemonState>();
  std::shared_ptr<const Snapshot> base;
  uint64_t news = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!base_ || prepared_ == news_) return;
    news = news_;
    base = base_;
    state->catalogues = catalogues_;
    state->received_at = received_at_;
  }
  if (!forecast_ || forecast_->snapshot != base) Observe(std::move(base));
  static_cast<ForecastState&>(*state) = *forecast_;
  prepared_ = news;
  state->site_problems = FindSiteProblems(*state->snapshot, *state->catalogues);
  for (const std::string& problem : state->site_problems) {
    if (!IsOneOf(problem, said_problems_)) spdlog::warn("{}", problem);
  }
  said_problems_ = state->site_problems;
  const auto prepared = std::chrono::steady_clock::now();
  state->prepared_in_seconds = std::chrono::duration<double>(prepared - begun).count();
  spdlog::debug("a view of {} nodes and {} jobs took {:.3f} s", state->snapshot->nodes.size(),
                state->snapshot->jobs.size(), state->prepared_in_seconds);
  std::shared_ptr<const DaemonState> published(
      state.release(), [retired = retired_](const DaemonState* old) {
        retired->Add(std::unique_ptr<const DaemonState>(old));
      });
  {
    const std::lock_guard lock(mutex_);
    state_.swap(published);
  }
  if (on_new_state_) on_new_state_();
}

}  // namespace gpuadvise::daemon
