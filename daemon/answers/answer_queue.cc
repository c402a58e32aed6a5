// GET /v1/queue: the jobs that a filter leaves, a page of them.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/scheduler/node_pool.h"
#include "daemon/answers/csv.h"
#include "daemon/answers/job_json.h"
#include "daemon/answers/pool_counts.h"
#include "daemon/answers/views.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {

namespace {

constexpr size_t kMostOwners = 500;  // of each kind

std::vector<const Job*> PageOf(const std::vector<const Job*>& ordered, const QueueFilter& filter,
                               size_t most) {
  const size_t from = std::min(filter.offset, ordered.size());
  const size_t count = std::min({filter.limit, most, ordered.size() - from});
  const auto begin = ordered.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

std::vector<int64_t> IdsOf(const std::vector<const Job*>& jobs) {
  std::vector<int64_t> ids;
  for (const Job* job : jobs) ids.push_back(job->id);
  return ids;
}

// Whether `search` is the number of the job, of its array or of the job that it is a part of.
bool IsIdOf(const Job& job, const std::string& search) {
  for (const int64_t id : {job.id, job.array_job_id, job.het_job_id}) {
    if (id > 0 && std::to_string(id) == search) return true;
  }
  return false;
}

bool IsFound(const Job& job, const std::string& search) {
  return ContainsIgnoringCase(job.name, search) || ContainsIgnoringCase(job.user, search) ||
         ContainsIgnoringCase(job.account, search);
}

// Which jobs a filter leaves, and how many it leaves out because the caller may not see whose
// they are.
class QueueChoice {
 public:
  QueueChoice(const QueueFilter& filter, const AdviceContext& context, const Submitter& caller,
              const Visibility& seen, GpuLabels& labels)
      : filter_(filter), context_(context), caller_(caller), seen_(seen), labels_(labels) {}

  bool Takes(const Job& job) {
    const auto& partitions = job.request.partitions;
    if (!filter_.partition.empty() && !seen_.IsVisible(filter_.partition)) return false;
    if (!filter_.partition.empty() &&
        std::find(partitions.begin(), partitions.end(), filter_.partition) == partitions.end()) {
      return false;
    }
    if (filter_.running && *filter_.running != HoldsNodes(job)) return false;
    if (!seen_.SeesOneOf(partitions)) return false;
    if (!filter_.gpu.empty() && labels_.FindJobLabel(job).id != filter_.gpu) return false;
    const bool by_id = !filter_.search.empty() && IsIdOf(job, filter_.search);
    const bool of_anybody = filter_.user.empty() && filter_.account.empty() && filter_.qos.empty();
    if (of_anybody && (filter_.search.empty() || by_id)) return true;
    if (!MaySee(context_.snapshot, job, caller_)) {
      ++hidden_;
      return false;
    }
    if (!filter_.user.empty() && job.user != filter_.user) return false;
    if (!filter_.account.empty() && job.account != filter_.account) return false;
    if (!filter_.qos.empty() && job.qos != filter_.qos) return false;
    return by_id || IsFound(job, filter_.search);
  }

  int64_t hidden() const { return hidden_; }

 private:
  const QueueFilter& filter_;
  const AdviceContext& context_;
  const Submitter& caller_;
  const Visibility& seen_;
  GpuLabels& labels_;
  int64_t hidden_ = 0;
};

struct ChosenJobs {
  std::vector<const Job*> jobs;  // in order
  int64_t hidden = 0;
};

ChosenJobs Choose(const QueueFilter& filter, const AdviceContext& context,
                  const QueueStarts& starts, const Submitter& caller, const Visibility& seen,
                  GpuLabels& gpus) {
  QueueChoice choice(filter, context, caller, seen, gpus);
  ChosenJobs chosen;
  for (const Job& job : context.snapshot.jobs) {
    if (choice.Takes(job)) chosen.jobs.push_back(&job);
  }
  chosen.hidden = choice.hidden();
  const bool by_end = filter.sort.key == QueueKey::kStart;
  const auto may_see = [&](const Job& job) { return MaySee(context.snapshot, job, caller); };
  SortQueue(filter.sort, starts,
            JobEnds(context.queue, by_end ? IdsOf(chosen.jobs) : std::vector<int64_t>()),
            context.snapshot.taken_at, may_see, chosen.jobs);
  return chosen;
}

const StartSamples* StartOrNull(const QueueStarts& starts, int64_t id) {
  const auto start = starts.find(id);
  return start == starts.end() ? nullptr : &start->second;
}

constexpr const char* kFileHeads[] = {"job_id",
                                      "array_tasks",
                                      "array_task_count",
                                      "name",
                                      "user",
                                      "account",
                                      "qos",
                                      "partition",
                                      "state",
                                      "reason",
                                      "gpu",
                                      "gpu_name",
                                      "gpus",
                                      "nodes",
                                      "time_limit_seconds",
                                      "priority",
                                      "submit_time",
                                      "start_time",
                                      "end_time",
                                      "end_p50",
                                      "end_p90",
                                      "run_p50_seconds",
                                      "jobs_before",
                                      "slurm_start",
                                      "wait_p50_seconds",
                                      "wait_p90_seconds",
                                      "start_p50",
                                      "start_p90"};

// In the order of kFileHeads.
void AddLine(const api::QueueJob& row, CsvText& file) {
  const api::JobEnd end = row.end.value_or(api::JobEnd());
  const api::JobWait wait = row.wait.value_or(api::JobWait());
  file.Add(row.job_id);
  file.Add(row.array_tasks);
  file.Add(row.array_task_count);
  for (const auto* text : {&row.name, &row.user, &row.account, &row.qos}) file.Add(*text);
  for (const auto* text : {&row.partition, &row.state, &wait.reason, &row.gpu, &row.gpu_name}) {
    file.Add(*text);
  }
  file.Add(row.gpus);
  file.Add(row.nodes);
  file.Add(row.time_limit_seconds);
  file.Add(row.priority);
  for (const auto& time : {row.submit_time, end.start_time, end.end_time, end.end_p50, end.end_p90,
                           wait.run_p50_seconds, wait.jobs_before, wait.slurm_start}) {
    file.Add(time);
  }
  const auto of_start = [&](auto figure) -> std::optional<int64_t> {
    return wait.start ? std::optional(figure(*wait.start)) : std::nullopt;
  };
  using Start = api::StartFigures;
  file.Add(of_start([](const Start& start) { return start.wait.p50_seconds; }));
  file.Add(of_start([](const Start& start) { return start.wait.p90_seconds; }));
  file.Add(of_start([](const Start& start) { return start.start_p50; }));
  file.Add(of_start([](const Start& start) { return start.start_p90; }));
  file.EndLine();
}

api::QueueOwners OwnersOf(const Snapshot& snapshot, const Visibility& seen,
                          const Submitter& caller) {
  std::set<std::string> users, accounts, qos;
  for (const Job& job : snapshot.jobs) {
    if (!seen.SeesOneOf(job.request.partitions) || !MaySee(snapshot, job, caller)) continue;
    users.insert(job.user);
    accounts.insert(job.account);
    qos.insert(job.qos);
  }
  const auto first = [](std::set<std::string> names) {
    names.erase("");
    std::vector<std::string> list(names.begin(), names.end());
    if (list.size() > kMostOwners) list.resize(kMostOwners);
    return list;
  };
  return {first(std::move(users)), first(std::move(accounts)), first(std::move(qos))};
}

}  // namespace

std::string QueueFile(const QueueFilter& filter, const AdviceContext& context,
                      const QueueStarts& starts, const Submitter& caller) {
  const Visibility seen(context.snapshot, caller);
  GpuLabels gpus(context.snapshot, context.gpus);
  const std::vector<const Job*> jobs =
      PageOf(Choose(filter, context, starts, caller, seen, gpus).jobs, filter, kMostFileRows);
  const JobEnds ends(context.queue, IdsOf(jobs));
  CsvText file;
  for (const char* head : kFileHeads) file.Add(head);
  file.EndLine();
  for (const Job* job : jobs) {
    if (context.budget != nullptr && context.budget->Spent()) break;
    AddLine(QueueRow(*job, StartOrNull(starts, job->id), context, caller, {gpus, seen, ends}),
            file);
  }
  return std::move(file).Take();
}

nlohmann::json AnswerQueue(const QueueFilter& filter, const AdviceContext& context,
                           const QueueStarts& starts, const Submitter& caller,
                           const Sweeps& sweeps) {
  const Visibility seen(context.snapshot, caller);
  GpuLabels gpus(context.snapshot, context.gpus);
  const ChosenJobs chosen = Choose(filter, context, starts, caller, seen, gpus);
  const std::vector<const Job*> page = PageOf(chosen.jobs, filter, kMostQueueRows);
  const JobEnds ends(context.queue, IdsOf(page));
  const JobLookups lookups{gpus, seen, ends};
  api::Queue answer;
  std::vector<std::pair<int64_t, int64_t>> named;
  for (const Job* job : page) {
    answer.jobs.push_back(QueueRow(*job, StartOrNull(starts, job->id), context, caller, lookups));
    const int64_t sweep = MaySee(context.snapshot, *job, caller) ? sweeps.of(*job) : 0;
    if (sweep == 0) continue;
    answer.jobs.back().sweep = sweep;
    named.emplace_back(sweep, job->uid);
  }
  if (!named.empty() && sweeps.progress) answer.sweeps = sweeps.progress(named);
  answer.total = static_cast<int64_t>(chosen.jobs.size());
  answer.hidden = chosen.hidden;
  answer.offset = static_cast<int64_t>(filter.offset);
  answer.pools = QueuePools(context.snapshot, seen, gpus);
  answer.owners = OwnersOf(context.snapshot, seen, caller);
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
