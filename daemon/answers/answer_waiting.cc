// GET /v1/waiting: who waits for GPUs and why, by account, and what the cluster's GPUs do now.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/forecast/job_ends.h"
#include "common/gpu/gpu_labels.h"
#include "common/scheduler/node_pool.h"
#include "common/slurm/pending_reason.h"
#include "daemon/answers/account_views.h"
#include "daemon/answers/job_json.h"
#include "daemon/answers/pool_counts.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {
namespace {

struct WaitingFor {
  int64_t jobs = 0;
  int64_t gpus = 0;
};

// What one account has in the queue.
struct AccountQueue : QueueSums {
  double gpu_hours = 0;
  std::map<std::string, WaitingFor> reasons;  // by Slurm's word

  AccountQueue& operator+=(const AccountQueue& more) {
    QueueSums::operator+=(more);
    gpu_hours += more.gpu_hours;
    for (const auto& [reason, waiting] : more.reasons) {
      reasons[reason].jobs += waiting.jobs;
      reasons[reason].gpus += waiting.gpus;
    }
    return *this;
  }
};

void KeepEarlier(std::optional<UnixSeconds>& kept, std::optional<UnixSeconds> other) {
  if (other && (!kept || *other < *kept)) kept = other;
}

// Each node once, though it may be in several partitions.
GpuTally TallyOfAll(const Snapshot& snapshot, const Visibility& seen) {
  const KeptNodes kept = NodesKeptNow(snapshot);
  std::unordered_set<std::string_view> visible;
  for (const Partition& partition : snapshot.partitions) {
    if (seen.Sees(partition)) visible.insert(partition.nodes.begin(), partition.nodes.end());
  }
  GpuTally all;
  for (const Node& node : snapshot.nodes) {
    if (!visible.contains(node.name)) continue;
    for (const GpuCount& gpus : node.gpus) {
      all += GpuTallyOf(node, gpus.type, kept.contains(node.name));
    }
  }
  return all;
}

void CountPending(const Job& job, const JobEnds& ends, const QueueStarts& starts, UnixSeconds now,
                  AccountQueue& queue) {
  const int64_t gpus = GpusOfJob(job) * job.array_task_count;
  queue.AddPending(job, starts, now);
  std::optional<int64_t> seconds = ends.RunTimeOf(job.id);
  if (!seconds && job.request.time_limit_seconds.has_value()) {
    seconds = job.request.time_limit_seconds.value();
  }
  if (seconds) queue.gpu_hours += static_cast<double>(gpus) * static_cast<double>(*seconds) / 3600;
  WaitingFor& reason = queue.reasons[job.reason];
  ++reason.jobs;
  reason.gpus += gpus;
}

std::vector<api::WaitingReason> ReasonsOf(const std::map<std::string, WaitingFor>& reasons) {
  std::vector<std::pair<std::string, WaitingFor>> ordered(reasons.begin(), reasons.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.gpus > b.second.gpus; });
  std::vector<api::WaitingReason> list;
  for (const auto& [reason, waiting] : ordered) {
    const ReasonExplanation words = ExplainPendingReason(reason);
    list.push_back({reason, words.meaning, words.clears, waiting.jobs, waiting.gpus});
  }
  return list;
}

api::AccountQueue RowOfQueue(const std::optional<std::string>& account, const AccountQueue& queue) {
  return {.account = account,
          .pending = queue.pending,
          .pending_gpus = queue.pending_gpus,
          .pending_gpu_hours = std::round(10 * queue.gpu_hours) / 10,
          .running = queue.running,
          .running_gpus = queue.running_gpus,
          .oldest_submit = queue.oldest_submit,
          .next_start_p50 = queue.next_start,
          .reasons = ReasonsOf(queue.reasons)};
}

// Those with most waiting first; those beyond kMostAccounts go to `others`.
std::vector<std::pair<std::string, AccountQueue>> InOrder(
    std::map<std::string, AccountQueue>& accounts, AccountQueue& others) {
  std::vector<std::pair<std::string, AccountQueue>> ordered(accounts.begin(), accounts.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.pending_gpus, a.second.running_gpus) >
           std::pair(b.second.pending_gpus, b.second.running_gpus);
  });
  for (size_t i = kMostAccounts; i < ordered.size(); ++i) others += ordered[i].second;
  ordered.resize(std::min(ordered.size(), kMostAccounts));
  return ordered;
}

}  // namespace

void QueueSums::AddPending(const Job& job, const QueueStarts& starts, UnixSeconds now) {
  ++pending;
  pending_gpus += GpusOfJob(job) * job.array_task_count;
  KeepEarlier(oldest_submit, job.submit_time);
  if (const auto start = starts.find(job.id); start != starts.end()) {
    KeepEarlier(next_start, now + std::llround(start->second.Quantile(0.5)));
  }
}

void QueueSums::AddRunning(const Job& job) {
  ++running;
  running_gpus += GpusOfJob(job);
}

QueueSums& QueueSums::operator+=(const QueueSums& more) {
  pending += more.pending;
  pending_gpus += more.pending_gpus;
  running += more.running;
  running_gpus += more.running_gpus;
  KeepEarlier(oldest_submit, more.oldest_submit);
  KeepEarlier(next_start, more.next_start);
  return *this;
}

nlohmann::json AnswerWaiting(const AdviceContext& context, const QueueStarts& starts,
                             const Submitter& caller) {
  const Snapshot& snapshot = context.snapshot;
  const Visibility seen(snapshot, caller);
  std::vector<const Job*> jobs;
  std::vector<int64_t> waiting;
  for (const Job& job : snapshot.jobs) {
    if (GpusOfJob(job) < 1 || !seen.SeesOneOf(job.request.partitions)) continue;
    jobs.push_back(&job);
    if (!HoldsNodes(job)) waiting.push_back(job.id);
  }
  const JobEnds ends(context.queue, waiting);
  std::map<std::string, AccountQueue> accounts;
  AccountQueue others;
  for (const Job* job : jobs) {
    const bool named = MaySee(snapshot, *job, caller) && !job->account.empty();
    AccountQueue& queue = named ? accounts[job->account] : others;
    if (HoldsNodes(*job)) {
      queue.AddRunning(*job);
    } else {
      CountPending(*job, ends, starts, snapshot.taken_at, queue);
    }
  }
  api::Waiting answer;
  AccountQueue all;
  for (const auto& [account, queue] : InOrder(accounts, others)) {
    answer.accounts.push_back(RowOfQueue(account, queue));
    all += queue;
  }
  if (others.pending + others.running > 0) {
    answer.accounts.push_back(RowOfQueue(std::nullopt, others));
  }
  all += others;
  const GpuTally gpus = TallyOfAll(snapshot, seen);
  answer.gpus = {gpus.total, gpus.used, gpus.free, gpus.promised, gpus.unavailable};
  answer.all = RowOfQueue(std::nullopt, all);
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
