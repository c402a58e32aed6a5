// GET /v1/users: what each user runs, waits for and has used.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "common/base/statistics.h"
#include "common/gpu/gpu_labels.h"
#include "common/scheduler/node_pool.h"
#include "daemon/answers/account_views.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {
namespace {

constexpr int64_t kSecondsOfAWeek = 7 * 24 * kHourSeconds;

std::optional<int64_t> MedianOf(std::vector<int64_t> waits) {
  if (waits.empty()) return std::nullopt;
  std::sort(waits.begin(), waits.end());
  return std::llround(InterpolatedQuantile(waits, 0.5));
}

double HoursOf(int64_t seconds) {
  return std::round(10 * static_cast<double>(seconds) / kHourSeconds) / 10;
}

std::vector<std::string> AccountsOf(const Snapshot& snapshot, const std::string& user) {
  std::set<std::string> accounts;
  for (const Association& association : snapshot.associations) {
    if (!user.empty() && association.user == user) accounts.insert(association.account);
  }
  return {accounts.begin(), accounts.end()};
}

}  // namespace

UserSums::Sum& UserSums::Sum::operator+=(const Sum& more) {
  accounts.insert(more.accounts.begin(), more.accounts.end());
  queue += more.queue;
  jobs += more.jobs;
  gpu_seconds += more.gpu_seconds;
  waits.insert(waits.end(), more.waits.begin(), more.waits.end());
  stalled_seconds += more.stalled_seconds;
  return *this;
}

api::UserActivity UserSums::RowOf(const std::optional<std::string>& user, const Sum& sum) {
  int64_t waited = 0;
  for (const int64_t wait : sum.waits) waited += wait;
  return {.user = user,
          .accounts = {sum.accounts.begin(), sum.accounts.end()},
          .pending = sum.queue.pending,
          .pending_gpus = sum.queue.pending_gpus,
          .running = sum.queue.running,
          .running_gpus = sum.queue.running_gpus,
          .oldest_submit = sum.queue.oldest_submit,
          .next_start_p50 = sum.queue.next_start,
          .jobs = sum.jobs,
          .gpu_hours = HoursOf(sum.gpu_seconds),
          .waited_hours = HoursOf(waited),
          .stalled_hours = HoursOf(sum.stalled_seconds),
          .wait_p50_seconds = MedianOf(sum.waits)};
}

UserSums::UserSums(UsersQuestion question, UsageRights rights, UnixSeconds now)
    : question_(std::move(question)),
      rights_(std::move(rights)),
      now_(now),
      since_(now - question_.weeks * kSecondsOfAWeek) {}

UserSums::Sum* UserSums::SumFor(const std::string& user, const std::string& account) {
  if (!rights_.user.empty() && user != rights_.user) return nullptr;
  accounts_.insert(account);
  if (!question_.account.empty() && account != question_.account) return nullptr;
  Sum& sum = users_[user];
  sum.accounts.insert(account);
  return &sum;
}

void UserSums::Add(const JobRun& run) {
  if (run.end <= since_ || run.start >= now_) return;
  const bool started = run.start >= since_;
  const int64_t wait = std::max<int64_t>(run.start - run.eligible, 0);
  if (started) waits_.push_back(wait);
  Sum* sum = SumFor(run.user, run.account);
  if (sum == nullptr) return;
  sum->times.Ran(run.eligible, run.start, run.end);
  ++sum->jobs;
  sum->gpu_seconds += run.gpus * (std::min(run.end, now_) - std::max(run.start, since_));
  if (started) sum->waits.push_back(wait);
}

void UserSums::AddQueue(const Snapshot& snapshot, const QueueStarts& starts,
                        const Submitter& caller) {
  const Visibility seen(snapshot, caller);
  for (const Job& job : snapshot.jobs) {
    const int64_t gpus = GpusOfJob(job);
    if (gpus < 1 || !seen.SeesOneOf(job.request.partitions)) continue;
    if (HoldsNodes(job)) {
      const UnixSeconds start = job.start_time.value_or(now_);
      Add({job.user, job.account, "", gpus, job.eligible_time.value_or(start), start, now_ + 1});
      if (Sum* sum = SumFor(job.user, job.account)) sum->queue.AddRunning(job);
    } else if (Sum* sum = SumFor(job.user, job.account)) {
      sum->queue.AddPending(job, starts, now_);
      if (job.eligible_time) sum->times.Waits(*job.eligible_time);
    }
  }
}

api::Users UserSums::Answer(const AdviceContext& context, const QueueStarts& starts,
                            const Submitter& caller) && {
  AddQueue(context.snapshot, starts, caller);
  for (auto& [user, sum] : users_) {
    sum.stalled_seconds = std::exchange(sum.times, {}).SecondsBetween(since_, now_);
  }
  std::vector<std::pair<std::string, Sum>> ordered(users_.begin(), users_.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.queue.running_gpus + a.second.queue.pending_gpus,
                     a.second.gpu_seconds) >
           std::pair(b.second.queue.running_gpus + b.second.queue.pending_gpus,
                     b.second.gpu_seconds);
  });
  api::Users answer;
  Sum all, others;
  for (const auto& [user, sum] : ordered) {
    all += sum;
    if (answer.users.size() < kMostUsers) {
      answer.users.push_back(RowOf(user, sum));
    } else {
      others += sum;
    }
  }
  if (others.jobs + others.queue.pending + others.queue.running > 0) {
    answer.users.push_back(RowOf(std::nullopt, others));
  }
  answer.since = since_;
  answer.until = now_;
  answer.own_only = !rights_.user.empty();
  answer.own_accounts = AccountsOf(context.snapshot, caller.user);
  answer.accounts = {accounts_.begin(), accounts_.end()};
  answer.cluster_wait_p50_seconds = MedianOf(std::move(waits_));
  answer.all = RowOf(std::nullopt, all);
  return answer;
}

}  // namespace gpuadvise::daemon
