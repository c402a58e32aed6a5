#include "common/forecast/why_pending.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/host_list.h"
#include "common/base/words.h"
#include "common/scheduler/node_pool.h"
#include "common/scheduler/queue_model.h"
#include "common/slurm/pending_reason.h"
#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

std::string WithId(std::string text, int64_t id) {
  const std::string demand = "JOBID";
  for (size_t at = text.find(demand); at != std::string::npos; at = text.find(demand, at)) {
    text.replace(at, demand.size(), std::to_string(id));
  }
  return text;
}

class Reasons {
 public:
  Reasons(const Job& job, const QueueModel& queue, const StartSamples* start)
      : job_(job), queue_(queue), start_(start) {
    const auto found = std::find_if(queue.pending().begin(), queue.pending().end(),
                                    [&](const PendingJob& each) { return each.id == job.id; });
    if (found != queue.pending().end()) pending_ = &*found;
  }

  std::vector<WhyPending> Find() {
    const ReasonExplanation slurms = ExplainPendingReason(job_.reason);
    Add(slurms.meaning, WithId(slurms.clears, job_.id));
    AddLimits();
    AddDependencies();
    AddTimes();
    AddNodes();
    AddOrder();
    if (pending_ != nullptr && pending_->held) {
      Add("it could have started long ago: something that Slurm does not show holds it back",
          "ask the administrators");
    }
    return std::move(found_);
  }

 private:
  void Add(std::string words, std::string clears) {
    found_.push_back({std::move(words), std::move(clears)});
  }

  void AddLimits() {
    if (pending_ == nullptr) return;
    for (const LimitUse& use : pending_->caps) {
      const auto cap = static_cast<size_t>(use.cap);
      const int64_t most = queue_.limits().most()[cap];
      const int64_t used = queue_.cap_use()[cap];
      if (used + use.amount <= most) continue;
      Add(fmt::format("{}: {} of {} in use, it needs {}", queue_.limits().names()[cap], used, most,
                      use.amount),
          fmt::format("when {} of them are released", used + use.amount - most));
    }
  }

  void AddDependencies() {
    for (const int64_t id : DependsOn(job_.dependency)) {
      const auto& jobs = queue_.snapshot().jobs;
      const auto other = std::find_if(jobs.begin(), jobs.end(), [&](const Job& each) {
        return each.id == id || each.array_job_id == id;
      });
      if (other == jobs.end()) {
        Add(fmt::format("it waits for job {}, which no longer exists", id),
            fmt::format("see sacct -j {} for that job", id));
      } else {
        Add(fmt::format("it waits for job {}, which {}", id, HoldsNodes(*other) ? "runs" : "waits"),
            "when it has ended");
      }
    }
  }

  std::string In(UnixSeconds time) const {
    return "in " + DurationInWords(static_cast<double>(time - queue_.snapshot().taken_at));
  }

  void AddTimes() {
    const UnixSeconds now = queue_.snapshot().taken_at;
    if (job_.request.begin_time && *job_.request.begin_time > now) {
      Add("it must not start before its begin time", In(*job_.request.begin_time));
    }
    for (const Reservation& each : queue_.snapshot().reservations) {
      if (each.name != job_.request.reservation || each.name.empty()) continue;
      if (each.start_time && *each.start_time > now) {
        Add(fmt::format("reservation {} has not begun", each.name), In(*each.start_time));
      }
    }
  }

  // Whether the job could use `node`.
  bool IsWanted(const PoolNode& node) const {
    const auto& required = job_.request.required_nodes;
    if (!required.empty()) {
      return std::find(required.begin(), required.end(), node.name) != required.end();
    }
    const GpuCounts& gpus =
        job_.request.gpus_per_node.empty() ? job_.request.gpus_total : job_.request.gpus_per_node;
    return std::all_of(gpus.begin(), gpus.end(), [&](const GpuCount& gpu) {
      if (gpu.type.empty()) return !node.gpu_types.empty();
      return node.SlotOf(queue_.pool().FindGpuType(gpu.type)) >= 0;
    });
  }

  // Adds suitable nodes that are down or drained, by name.
  void AddNodes() {
    size_t wanted = 0;
    std::map<std::string, std::vector<std::string>> out;  // reason -> names
    size_t partition_index = 0;
    std::vector<bool> seen(queue_.pool().nodes().size(), false);
    for (const Partition& partition : queue_.snapshot().partitions) {
      const auto& named = job_.request.partitions;
      const bool asked = std::find(named.begin(), named.end(), partition.name) != named.end();
      const size_t index = partition_index++;
      if (!asked) continue;
      for (const int32_t member : queue_.Members(index)) {
        const PoolNode& node = queue_.pool().nodes()[static_cast<size_t>(member)];
        if (seen[static_cast<size_t>(member)] || !IsWanted(node)) continue;
        seen[static_cast<size_t>(member)] = true;
        ++wanted;
        if (!node.usable) out[node.why_unusable].push_back(node.name);
      }
    }
    size_t count = 0;
    for (const auto& [why, names] : out) count += names.size();
    if (count == 0) return;
    std::string words = fmt::format("{} of {} it could use cannot run jobs: ", count,
                                    Plural(static_cast<int64_t>(wanted), "node"));
    bool first = true;
    for (const auto& [why, names] : out) {
      words += fmt::format("{}{} {}", first ? "" : "; ", CompressHostList(names), why);
      first = false;
    }
    Add(std::move(words), "when an administrator resumes them");
  }

  void AddOrder() {
    if (start_ == nullptr || start_->jobs_before == 0) return;
    Add(fmt::format("{0} ahead of it (its priority is {1}) {2} the same nodes",
                    Plural(start_->jobs_before, "waiting job"), job_.priority,
                    start_->jobs_before == 1 ? "wants" : "want"),
        "when they have started; it may start first (backfill)");
  }

  const Job& job_;
  const QueueModel& queue_;
  const StartSamples* start_;
  const PendingJob* pending_ = nullptr;
  std::vector<WhyPending> found_;
};

}  // namespace

std::vector<WhyPending> ExplainWait(const Job& job, const QueueModel& queue,
                                    const StartSamples* start) {
  return Reasons(job, queue, start).Find();
}

}  // namespace gpuadvise
