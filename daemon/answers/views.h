// What the pages of a cluster show, as pure functions: queue, nodes, waits, history and the record
// of forecasts (docs/api.md has the shapes).
//
// A list is answered a page at a time, with counts over all of it. Safe from any thread: everything
// comes in as an argument.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/advise/advice_context.h"
#include "common/api/accuracy.h"
#include "common/api/sweep.h"
#include "common/base/error.h"
#include "common/base/local_time.h"
#include "common/forecast/free_gpus.h"
#include "common/forecast/queue_starts.h"
#include "common/gpu/gpu_naming.h"
#include "common/history/node_past.h"
#include "common/history/usage_history.h"
#include "daemon/answers/node_use.h"
#include "daemon/answers/queue_sort.h"

namespace gpuadvise::daemon {

// Jobs of one answer at most, and of one file.
inline constexpr size_t kMostQueueRows = 10'000;
inline constexpr size_t kMostFileRows = 100'000;

// Which jobs of the queue are asked for; empty and nullopt: all.
struct QueueFilter {
  std::string user;
  std::string account;
  std::string qos;
  std::string partition;
  std::string gpu;              // catalogue id
  std::string search;           // a job's number, or part of its name, user or account
  std::optional<bool> running;  // true: that run, false: that wait
  QueueSort sort;
  size_t offset = 0;
  size_t limit = kMostFileRows;
  bool as_file = false;  // CSV
};

// What is known of sweeps: of which a job is a part (0: of none), and how far those are that are
// named by job id and owner.
struct Sweeps {
  std::function<int64_t(const Job&)> of = [](const Job&) { return 0; };
  std::function<std::vector<api::SweepProgress>(const std::vector<std::pair<int64_t, int64_t>>&)>
      progress = nullptr;
};

// GET /v1/queue: the jobs of the cluster with when each will start and end, and how many of them
// there are by partition and GPU type. O(jobs) a request, whatever the page. `starts`:
// StartsInQueue(context.queue).
nlohmann::json AnswerQueue(const QueueFilter& filter, const AdviceContext& context,
                           const QueueStarts& starts, const Submitter& caller,
                           const Sweeps& sweeps = {});

// The same jobs as CSV, in the same order: a line of names, then one for each of at most
// kMostFileRows jobs. Ends early, as no file for anybody, once the context's budget is spent.
std::string QueueFile(const QueueFilter& filter, const AdviceContext& context,
                      const QueueStarts& starts, const Submitter& caller);

// Nodes of one answer at most.
inline constexpr size_t kMostNodes = 1'000;

// Jobs of one node in an answer at most.
inline constexpr size_t kMostJobsOfNode = 16;

// Which nodes are asked for; empty and nullopt: all.
struct NodesFilter {
  std::string partition;
  std::string gpu;  // catalogue id
  std::optional<NodeUse> condition;
  bool broken = false;          // down and drained ones
  bool idle_allocated = false;  // those with allocated GPUs that do nothing
  std::string node;             // a whole name
  std::string search;           // part of the name, a feature, the state or the reason, in any case
  size_t offset = 0;
  size_t limit = 200;
};

// GET /v1/nodes: what each node has and who holds it until when, with what there is by partition
// and GPU type. O(nodes + jobs) a request, whatever the page. `starts`: as above.
nlohmann::json AnswerNodes(const NodesFilter& filter, const AdviceContext& context,
                           const QueueStarts& starts, const Submitter& caller);

// GET /v1/map: what the GPUs of every node do, as texts with a letter for each node, for a picture
// of the whole cluster. O(nodes).
nlohmann::json AnswerMap(const AdviceContext& context, const Submitter& caller);

// Which nodes, and how much time before and after now.
inline constexpr int64_t kMostTimelineHours = NodePast::kKeptSeconds / 3600;
inline constexpr size_t kMostTimelineNodes = 200;
inline constexpr size_t kMostTimelineJobs = 100;  // of one node
struct TimelineFilter : NodesFilter {
  int64_t hours = 24;  // 1 to kMostTimelineHours
};

// GET /v1/timeline: who had, has and will have the GPUs of each node, as far as is known. O(nodes +
// jobs) a request. `starts`: as above; `past`: null: nothing is known of it.
nlohmann::json AnswerTimeline(const TimelineFilter& filter, const AdviceContext& context,
                              const QueueStarts& starts, const NodePast* past,
                              const Submitter& caller);

// GET /v1/scheduler: cycles, queues and RPCs of slurmctld, as its sdiag prints them.
nlohmann::json AnswerScheduler(const Snapshot& snapshot, const Submitter& caller);

// GET /v1/site: what of the cluster's configuration changes when jobs start, and what the forecast
// makes of each.
nlohmann::json AnswerSite(const Snapshot& snapshot, std::vector<std::string> problems);

// GET /v1/waits: how long jobs of common shapes and limits would wait for each GPU type, and the
// best places to go. Every figure is one StartOf (answer_waits.cc says how many there are and what
// that costs); the same for every caller without a name, so that an edge may keep it as long as the
// state.
nlohmann::json AnswerWaits(const AdviceContext& context, const Submitter& caller);

// GET /v1/free: how many GPUs of each type will be free in the next `hours` (1 to kMostFreeHours).
// `forecast`: by catalogue id.
inline constexpr int64_t kMostFreeHours = kFreeSeconds / 3600;
nlohmann::json AnswerFree(int64_t hours, const AdviceContext& context,
                          const FreeForecast& forecast);

// Weeks of GET /v1/history at most.
inline constexpr int64_t kMostWeeks = 57;
inline constexpr int64_t kMostSteps = 700;  // of the series

struct HistoryQuestion {
  int64_t weeks = 8;          // 1 to kMostWeeks, back from the snapshot
  std::string gpu = {};       // a catalogue id or GRES type; "" all
  bool anonymous = false;     // types that are only in hidden partitions are not told
  std::string not_kept = {};  // why the history does not outlive the daemon; "" it does
};

// GET /v1/history: waits and use by the hour of the week, by week and over time, of each GPU type.
// Only sums over all jobs are told, nothing of a single user.
// Errors: kBadInput for a GPU type that is neither in the cluster nor in the history.
Result<nlohmann::json> AnswerHistory(const HistoryQuestion& question, const UsageHistory& history,
                                     const Snapshot& snapshot, const GpuNaming& naming,
                                     const LocalTime& local);

// So many forecasts are told one by one at most.
inline constexpr size_t kToldScores = 400;

// The range in which a share of all lies with 95 % confidence when `part` of `all` are seen
// (Wilson's score interval, which holds near 0 and 1 and for few). REQUIRES: 0 <= part <= all > 0.
struct ShareRange {
  double low = 0;
  double high = 1;
};
ShareRange WilsonRange(int64_t part, int64_t all);

// What GET /v1/accuracy tells beside its figures: how often each quantile held, how right forecasts
// were week by week, and the newest of them one by one, without whose they were. Adds calibration,
// weeks and points to an AnswerAccuracy.
void AddScores(const AdviceContext& context, const LocalTime& local, api::Accuracy& answer);

}  // namespace gpuadvise::daemon
