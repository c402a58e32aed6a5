// GET /v1/queue: the jobs that a filter leaves, a page of them in the order of their starts.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/text.h"
#include "common/scheduler/node_pool.h"
#include "daemon/answers/job_json.h"
#include "daemon/answers/pool_counts.h"
#include "daemon/answers/views.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {

namespace {

// One job of the answer and where it stands in it.
struct Ordered {
  bool runs = false;
  double median = 0;  // of the start, where it waits
  const Job* job = nullptr;

  friend bool operator<(const Ordered& a, const Ordered& b) {
    return std::tie(a.runs, a.median, a.job->id) < std::tie(b.runs, b.median, b.job->id);
  }
};

// Those that wait in the order in which they are said to start, then those that run by id: the
// same for every page of one snapshot.
std::vector<Ordered> InOrder(const std::vector<const Job*>& jobs, const QueueStarts& starts) {
  constexpr double kNoStart = 1e18;
  std::vector<Ordered> ordered;
  ordered.reserve(jobs.size());
  for (const Job* job : jobs) {
    if (HoldsNodes(*job)) {
      ordered.push_back({true, 0, job});
      continue;
    }
    const auto found = starts.find(job->id);
    ordered.push_back({false, found == starts.end() ? kNoStart : found->second.Quantile(0.5), job});
  }
  std::sort(ordered.begin(), ordered.end());
  return ordered;
}

std::vector<const Job*> PageOf(const std::vector<Ordered>& ordered, const QueueFilter& filter) {
  const size_t from = std::min(filter.offset, ordered.size());
  const size_t end = from + std::min({filter.limit, kMostQueueRows, ordered.size() - from});
  std::vector<const Job*> page;
  for (size_t i = from; i < end; ++i) page.push_back(ordered[i].job);
  return page;
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
    if (filter_.user.empty() && (filter_.search.empty() || by_id)) return true;
    if (!MaySee(context_.snapshot, job, caller_)) {
      ++hidden_;
      return false;
    }
    if (!filter_.user.empty() && job.user != filter_.user) return false;
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

}  // namespace

nlohmann::json AnswerQueue(const QueueFilter& filter, const AdviceContext& context,
                           const QueueStarts& starts, const Submitter& caller) {
  const Visibility seen(context.snapshot, caller);
  GpuLabels gpus(context.snapshot, context.gpus);
  QueueChoice choice(filter, context, caller, seen, gpus);
  std::vector<const Job*> jobs;
  for (const Job& job : context.snapshot.jobs) {
    if (choice.Takes(job)) jobs.push_back(&job);
  }
  const std::vector<const Job*> page = PageOf(InOrder(jobs, starts), filter);
  const JobEnds ends(context.queue, IdsOf(page));
  const JobLookups lookups{gpus, seen, ends};
  api::Queue answer;
  for (const Job* job : page) {
    const auto start = starts.find(job->id);
    answer.jobs.push_back(
        QueueRow(*job, start == starts.end() ? nullptr : &start->second, context, caller, lookups));
  }
  answer.total = static_cast<int64_t>(jobs.size());
  answer.hidden = choice.hidden();
  answer.offset = static_cast<int64_t>(filter.offset);
  answer.pools = QueuePools(context.snapshot, seen, gpus);
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
