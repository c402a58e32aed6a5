#include "daemon/answers/queue_sort.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/gpu/gpu_labels.h"
#include "common/scheduler/node_pool.h"

namespace gpuadvise::daemon {
namespace {

constexpr std::pair<std::string_view, QueueKey> kKeys[] = {
    {"job_id", QueueKey::kJob},        {"user", QueueKey::kUser},
    {"gpus", QueueKey::kGpus},         {"partition", QueueKey::kPartition},
    {"state", QueueKey::kState},       {"submit_time", QueueKey::kSubmit},
    {"priority", QueueKey::kPriority}, {"start", QueueKey::kStart}};

constexpr double kNoStart = 1e17;  // behind all that have one
constexpr double kRuns = 1e18;

// Where a job stands: numbers, then texts; unknown ones last.
struct Place {
  bool unknown = false;
  double number = 0;
  std::string text;
  const Job* job = nullptr;
};

double StartOrEnd(const Job& job, const QueueStarts& starts, const JobEnds& ends, UnixSeconds now,
                  bool& unknown) {
  if (HoldsNodes(job)) {
    const auto end = ends.EndOf(job.id);
    unknown = !end;
    return end ? static_cast<double>(end->p50 - now) : 0;
  }
  const auto start = starts.find(job.id);
  unknown = start == starts.end();
  return unknown ? 0 : start->second.Quantile(0.5);
}

std::string StateOf(const Job& job) {
  return HoldsNodes(job) ? "~running" : job.reason;  // behind all reasons
}

}  // namespace

Result<QueueSort> ParseQueueSort(std::string_view text) {
  QueueSort sort;
  sort.down = text.starts_with('-');
  const std::string_view name = sort.down ? text.substr(1) : text;
  for (const auto& [known, key] : kKeys) {
    if (known == name) sort.key = key;
  }
  if (sort.key == QueueKey::kNone) {
    return BadInput("sort is " + Quoted(std::string(text)) +
                    "; write job_id, user, gpus, partition, state, submit_time, priority or "
                    "start, with - before it for the largest first");
  }
  return sort;
}

void SortQueue(const QueueSort& sort, const QueueStarts& starts, const JobEnds& ends,
               UnixSeconds now, const std::function<bool(const Job&)>& may_see,
               std::vector<const Job*>& jobs) {
  std::vector<Place> places;
  places.reserve(jobs.size());
  for (const Job* job : jobs) {
    Place place{false, 0, "", job};
    switch (sort.key) {
      case QueueKey::kNone:
        place.number =
            HoldsNodes(*job) ? kRuns : StartOrEnd(*job, starts, ends, now, place.unknown);
        if (std::exchange(place.unknown, false)) place.number = kNoStart;
        break;
      case QueueKey::kJob:
        place.number = static_cast<double>(job->id);
        break;
      case QueueKey::kUser:
        place.unknown = !may_see(*job);
        if (!place.unknown) place.text = job->user;
        break;
      case QueueKey::kGpus:
        place.number = static_cast<double>(GpusOfJob(*job));
        break;
      case QueueKey::kPartition:
        place.text = Join(job->request.partitions, ",");
        break;
      case QueueKey::kState:
        place.text = StateOf(*job);
        break;
      case QueueKey::kSubmit:
        place.unknown = !job->submit_time;
        place.number = static_cast<double>(job->submit_time.value_or(0));
        break;
      case QueueKey::kPriority:
        place.number = static_cast<double>(job->priority);
        break;
      case QueueKey::kStart:
        place.number = StartOrEnd(*job, starts, ends, now, place.unknown);
        break;
    }
    places.push_back(std::move(place));
  }
  std::sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
    const auto rank = [](const Place& p) { return std::tie(p.number, p.text); };
    if (a.unknown != b.unknown) return b.unknown;
    if (rank(a) != rank(b)) return sort.down ? rank(b) < rank(a) : rank(a) < rank(b);
    return a.job->id < b.job->id;
  });
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i] = places[i].job;
}

}  // namespace gpuadvise::daemon
