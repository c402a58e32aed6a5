// GET /v1/usage: GPU-hours and their price by account and week.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu/gpu_labels.h"
#include "common/gpu/gpu_types.h"
#include "common/scheduler/node_pool.h"
#include "common/slurm/gres.h"
#include "common/slurm/job_record.h"
#include "common/slurm/policy.h"
#include "daemon/answers/account_views.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {
namespace {

constexpr int64_t kHoursOfAWeek = 7 * 24;

double SumOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// What one row of the answer sums up.
struct AccountSum {
  int64_t jobs = 0;
  std::vector<double> gpu_hours;  // by week
  std::vector<double> cost;       // the same, of GPUs that have a price
  double unpriced_gpu_hours = 0;  // of the others
  std::vector<WaitCounts> waits;  // by week

  explicit AccountSum(size_t weeks) : gpu_hours(weeks), cost(weeks), waits(weeks) {}

  AccountSum& operator+=(const AccountSum& more) {
    jobs += more.jobs;
    for (size_t i = 0; i < gpu_hours.size(); ++i) {
      gpu_hours[i] += more.gpu_hours[i];
      cost[i] += more.cost[i];
      waits[i].Add(more.waits[i]);
    }
    unpriced_gpu_hours += more.unpriced_gpu_hours;
    return *this;
  }
  double Hours() const { return SumOf(gpu_hours); }
};

double Tenths(double value) { return std::round(10 * value) / 10; }

std::vector<double> Rounded(std::vector<double> values) {
  for (double& value : values) value = Tenths(value);
  return values;
}

std::optional<int64_t> SecondsOf(const WaitCounts& waits, double share) {
  const std::optional<double> seconds = waits.Quantile(share);
  return seconds ? std::optional<int64_t>(std::llround(*seconds)) : std::nullopt;
}

api::AccountUsage RowOfSum(const std::optional<std::string>& account, const AccountSum& sum) {
  api::AccountUsage row;
  row.account = account;
  row.jobs = sum.jobs;
  row.gpu_hours = Tenths(sum.Hours());
  row.weekly_gpu_hours = Rounded(sum.gpu_hours);
  row.unpriced_gpu_hours = Tenths(sum.unpriced_gpu_hours);
  for (const WaitCounts& week : sum.waits) {
    row.weekly_waits.push_back({week.jobs(), SecondsOf(week, 0.5), SecondsOf(week, 0.9)});
  }
  if (const double cost = SumOf(sum.cost); cost > 0) {
    row.cost = Tenths(cost);
    row.weekly_cost = Rounded(sum.cost);
  }
  return row;
}

}  // namespace

UsageRights RightsToUsage(const Snapshot& snapshot, const Submitter& caller) {
  if (caller.uid < 0) return {};
  const std::string& hidden = snapshot.config.private_data;
  const bool is_private = HasFlag(hidden, "jobs") || HasFlag(hidden, "usage");
  if (caller.uid == 0 || !is_private) return {true, ""};
  return {true, caller.user.empty() ? std::string("-") : caller.user};  // no login name is "-"
}

UsageSums::UsageSums(const UsageQuestion& question, UnixSeconds now, const LocalTime& local)
    : now_(now) {
  const int64_t first_hour = now / kHourSeconds - question.weeks * kHoursOfAWeek + 1;
  week_starts_ = Period(first_hour, now, std::nullopt, local).week_starts();
  // The one that the first hour cuts is not among those that were asked for.
  const auto asked = static_cast<size_t>(question.weeks);
  if (week_starts_.size() > asked) {
    week_starts_.erase(week_starts_.begin(), week_starts_.end() - static_cast<int64_t>(asked));
  }
}

void UsageSums::Add(const JobRun& run) {
  if (run.end <= since() || run.end <= run.start || run.start >= now_) return;
  Use& use = uses_[{run.account, run.gpu}];
  use.gpu_seconds.resize(week_starts_.size());
  use.waits.resize(week_starts_.size());
  ++use.jobs;
  for (size_t i = 0; i < week_starts_.size(); ++i) {
    const UnixSeconds begin = week_starts_[i];
    const UnixSeconds until = i + 1 < week_starts_.size() ? week_starts_[i + 1] : now_;
    const int64_t seconds = std::min(run.end, until) - std::max(run.start, begin);
    if (seconds > 0) use.gpu_seconds[i] += run.gpus * seconds;
    if (run.start >= begin && run.start < until) {
      use.waits[i].Add(WaitClassOf(std::max<int64_t>(0, run.start - run.eligible)), 1);
    }
  }
}

api::Usage UsageSums::Answer(const UsageRights& rights, const AdviceContext& context,
                             const Submitter& caller) && {
  const Snapshot& snapshot = context.snapshot;
  const Visibility seen(snapshot, caller);
  for (const Job& job : snapshot.jobs) {
    if (!HoldsNodes(job) || !job.start_time || GpusOfJob(job) < 1) continue;
    if (!seen.SeesOneOf(job.request.partitions)) continue;
    if (!rights.user.empty() && job.user != rights.user) continue;
    const UnixSeconds start = *job.start_time;
    Add({job.user, job.account, RecordOf(job).gpu, GpusOfJob(job),
         job.eligible_time.value_or(start), start, now_});
  }
  const GpuTypes types(snapshot, context.gpus);
  std::map<std::string, AccountSum> accounts;
  AccountSum all(week_starts_.size());
  for (const auto& [key, use] : uses_) {
    const GpuType type = types.TypeOf(key.second);
    if (caller.uid < 0 && type.hidden) continue;
    const GpuModel* model = context.gpus.catalogue().Resolve(type.id);
    const double price = model == nullptr ? 0 : model->price_per_gpu_hour;
    AccountSum sum(week_starts_.size());
    sum.jobs = use.jobs;
    for (size_t i = 0; i < use.gpu_seconds.size(); ++i) {
      sum.gpu_hours[i] = static_cast<double>(use.gpu_seconds[i]) / kHourSeconds;
      sum.cost[i] = sum.gpu_hours[i] * price;
      sum.waits[i].Add(use.waits[i]);
    }
    if (price <= 0) sum.unpriced_gpu_hours = sum.Hours();
    all += sum;
    const std::string name = rights.named ? key.first : "";
    accounts.try_emplace(name, week_starts_.size()).first->second += sum;
  }
  std::vector<std::pair<std::string, AccountSum>> ordered(std::make_move_iterator(accounts.begin()),
                                                          std::make_move_iterator(accounts.end()));
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return a.second.Hours() > b.second.Hours();
  });
  api::Usage answer;
  AccountSum others(week_starts_.size());
  for (const auto& [account, sum] : ordered) {
    if (account.empty() || answer.accounts.size() == kMostAccounts) {
      others += sum;
    } else {
      answer.accounts.push_back(RowOfSum(account, sum));
    }
  }
  if (others.jobs > 0) answer.accounts.push_back(RowOfSum(std::nullopt, others));
  answer.weeks = week_starts_;
  answer.until = now_;
  answer.own_only = !rights.user.empty();
  answer.all = RowOfSum(std::nullopt, all);
  return answer;
}

}  // namespace gpuadvise::daemon
