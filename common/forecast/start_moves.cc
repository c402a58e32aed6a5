#include "common/forecast/start_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "common/base/words.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/queue_model.h"

namespace gpuadvise {
namespace {

constexpr double kLeastSeconds = 600;
constexpr double kLeastShare = 0.25;  // of the remaining wait
// A job is late when three in four like it would have ended, early when one in four would.
constexpr double kLate = 0.75;
constexpr double kEarly = 0.25;

// Jobs of one kind, with their resources.
struct Tally {
  int64_t jobs = 0;
  int64_t gpus = 0;
  int64_t nodes = 0;

  void Add(const JobRecord& job) {
    ++jobs;
    gpus += job.gpus;
    nodes += job.nodes;
  }
  std::string Words() const {
    return fmt::format("{} ({})", Plural(jobs, "job"),
                       gpus > 0 ? Plural(gpus, "GPU") : Plural(nodes, "node"));
  }
};

// Share of jobs of this run time that end by `elapsed`, of those still running at `before`.
double EndedBetween(const RunTimeDistribution& run_time, double before, double elapsed) {
  const double ended = run_time.Cdf(before);
  if (ended >= 1) return 0;
  return (run_time.Cdf(elapsed) - ended) / (1 - ended);
}

class Moves {
 public:
  Moves(const Job& job, UnixSeconds since, const QueueModel& queue)
      : job_(job), since_(since), queue_(queue) {
    for (const Job& each : queue.snapshot().jobs) jobs_.try_emplace(each.id, &each);
    const auto found = std::find_if(queue.pending().begin(), queue.pending().end(),
                                    [&](const PendingJob& each) { return each.id == job.id; });
    if (found == queue.pending().end()) return;
    place_ = static_cast<size_t>(found - queue.pending().begin());
    component_ = ComponentOf(*found);
  }

  std::vector<std::string> Later() {
    Tally ahead;
    for (size_t i = 0; i < place_; ++i) {
      const PendingJob& other = queue_.pending()[i];
      const Job* known = Known(other.id);
      if (other.id != job_.id && known != nullptr && ComponentOf(other) == component_ &&
          RecordOf(*known).submit > since_) {
        ahead.Add(RecordOf(*known));
      }
    }
    Tally overtook;
    Tally late;
    for (const RunningJob& other : queue_.running()) {
      const Job* known = Known(other.id);
      if (known == nullptr || !SharesNodes(other)) continue;
      const JobRecord record = RecordOf(*known);
      if (record.submit > since_) {
        overtook.Add(record);
      } else if (record.start && *record.start < since_ && other.run_time) {
        const auto before = static_cast<double>(since_ - *record.start);
        if (EndedBetween(*other.run_time, before, other.elapsed) > kLate) late.Add(record);
      }
    }
    Say(ahead,
        ahead.jobs == 1 ? "submitted later ranks above it" : "submitted later rank above it");
    Say(overtook, "submitted later already started");
    Say(late, late.jobs == 1
                  ? "on nodes it could use has run longer than three in four like it"
                  : "on nodes it could use have run longer than three in four like them");
    return Sorted();
  }

  std::vector<std::string> Earlier() {
    Tally early;
    Tally cancelled;
    for (const JobRecord& left : queue_.past()->left()) {
      if (!left.end || *left.end < since_ || left.submit > since_ || !IsAskedFor(left.partition)) {
        continue;
      }
      if (!left.start) {
        cancelled.Add(left);
      } else if (*left.start < since_) {
        const auto before = static_cast<double>(since_ - *left.start);
        const auto ran = static_cast<double>(*left.end - *left.start);
        const RunTimeDistribution run_time = queue_.past()->run_times.Of(left);
        if (EndedBetween(run_time, before, ran) < kEarly) early.Add(left);
      }
    }
    Say(early, early.jobs == 1 ? "ended sooner than three in four like it"
                               : "ended sooner than three in four like them");
    Say(cancelled, "that waited before it left the queue without starting");
    return Sorted();
  }

 private:
  int32_t ComponentOf(const PendingJob& job) const {
    const auto& demands = job.options.front().requirements->demands;
    if (demands.empty()) return -1;
    return queue_.component_of_group()[static_cast<size_t>(demands.front().group)];
  }

  bool SharesNodes(const RunningJob& job) const {
    return std::any_of(job.held.begin(), job.held.end(), [&](const HeldNodes& held) {
      return queue_.component_of_group()[static_cast<size_t>(held.group)] == component_;
    });
  }

  bool IsAskedFor(const std::string& partition) const {
    const auto& asked = job_.request.partitions;
    return std::find(asked.begin(), asked.end(), partition) != asked.end();
  }

  const Job* Known(int64_t id) const {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : found->second;
  }

  void Say(const Tally& tally, const char* what) {
    if (tally.jobs == 0) return;
    said_.emplace_back(tally.gpus > 0 ? tally.gpus : tally.nodes,
                       fmt::format("{} {}", tally.Words(), what));
  }

  std::vector<std::string> Sorted() {
    std::stable_sort(said_.begin(), said_.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> words;
    for (auto& [size, each] : said_) words.push_back(std::move(each));
    return words;
  }

  const Job& job_;
  UnixSeconds since_;
  const QueueModel& queue_;
  std::unordered_map<int64_t, const Job*> jobs_;
  size_t place_ = 0;
  int32_t component_ = -1;
  std::vector<std::pair<int64_t, std::string>> said_;
};

}  // namespace

std::optional<StartMove> FindStartMove(const Job& job, const QueueModel& queue,
                                       const StartSamples& start) {
  const PastJob* past = queue.past() == nullptr ? nullptr : queue.past()->Find(job.id);
  if (past == nullptr || !past->said || start.wait_seconds.empty()) return std::nullopt;
  const UnixSeconds since = past->record.eligible;
  const UnixSeconds taken_at = queue.snapshot().taken_at;
  StartMove move;
  move.said = since + std::llround(past->said->p50);
  move.now = taken_at + std::llround(start.Quantile(0.5));
  const auto moved = static_cast<double>(move.now - move.said);
  const auto left = static_cast<double>(std::max<int64_t>(move.said - taken_at, 0));
  if (std::abs(moved) <= std::max(kLeastSeconds, kLeastShare * left)) return std::nullopt;
  Moves moves(job, since, queue);
  move.because = moved > 0 ? moves.Later() : moves.Earlier();
  return move;
}

}  // namespace gpuadvise
