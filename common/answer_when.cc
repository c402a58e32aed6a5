// POST /v1/when: the start of any job, asked with sbatch's own words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/advice_json.h"
#include "common/answer_jobs.h"
#include "common/answers.h"
#include "common/gres.h"
#include "common/gres_names.h"
#include "common/host_list.h"
#include "common/json_fields.h"
#include "common/words.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

constexpr size_t kMaxJobs = 64;
constexpr int64_t kMaxCount = 10'000'000;
constexpr int64_t kMaxMemoryMib = int64_t{1} << 40;
constexpr int64_t kMaxLimitSeconds = 10LL * 365 * 86400;

std::vector<std::string> SplitNames(const std::string& list) {
  std::vector<std::string> names;
  size_t start = 0;
  while (start <= list.size() && !list.empty()) {
    size_t comma = std::min(list.find(',', start), list.size());
    if (comma > start) names.push_back(list.substr(start, comma - start));
    start = comma + 1;
  }
  return names;
}

std::string DefaultPartition(const Snapshot& snapshot) {
  for (const Partition& partition : snapshot.partitions) {
    if (partition.is_default) return partition.name;
  }
  return snapshot.partitions.empty() ? "" : snapshot.partitions.front().name;
}

class QuestionReader {
 public:
  QuestionReader(const json& item, const std::string& pointer, const ClusterView& view,
                 const std::vector<GpuPool>& pools)
      : reader_(item, pointer, &errors_), view_(view), pools_(pools) {}

  Result<JobRequest> Read() {
    request_.partitions = SplitNames(reader_.Text("partition").value_or(""));
    if (request_.partitions.empty()) request_.partitions = {DefaultPartition(view_.snapshot)};
    ReadShape();
    ReadGpus();
    request_.features = reader_.Text("constraint").value_or("");
    request_.required_nodes = HostList("nodelist");
    request_.excluded_nodes = HostList("exclude");
    request_.exclusive = reader_.Bool("exclusive").value_or(false);
    request_.begin_time = reader_.Int("begin", 0, int64_t{1} << 40);
    request_.reservation = reader_.Text("reservation").value_or("");
    if (auto limit = reader_.Int("time_limit_seconds", 1, kMaxLimitSeconds)) {
      request_.time_limit_seconds = *limit;
    } else {
      UseDefaultLimit();
    }
    if (errors_.failed()) return tl::unexpected<Error>(errors_.AsResult().error());
    return request_;
  }

  Submitter SubmitterFor(const Submitter& caller) {
    Submitter submitter = caller;
    submitter.account = reader_.Text("account").value_or("");
    submitter.qos = reader_.Text("qos").value_or("");
    return submitter;
  }

 private:
  void ReadShape() {
    auto nodes = reader_.Int("nodes", 1, kMaxCount);
    auto tasks = reader_.Int("ntasks", 1, kMaxCount);
    request_.nodes_min = nodes.value_or(1);
    request_.tasks = std::max(tasks.value_or(request_.nodes_min), int64_t{1});
    request_.cpus_per_task = reader_.Int("cpus_per_task", 1, kMaxCount).value_or(1);
    request_.cpus = request_.tasks * request_.cpus_per_task;
    if (auto mib = reader_.Int("mem_mib", 0, kMaxMemoryMib)) request_.memory_per_node_mib = *mib;
    if (auto mib = reader_.Int("mem_per_cpu_mib", 1, kMaxMemoryMib))
      request_.memory_per_cpu_mib = *mib;
  }

  void ReadGpus() {
    std::string gres = reader_.Text("gres").value_or("");
    if (Result<Gres> parsed = ParseGres(gres); !parsed) {
      reader_.Refuse("gres", parsed.error().message);
    } else {
      request_.gpus_per_node = SlurmTypes(parsed->gpus, "gres");
      request_.shards_per_node = parsed->shards;
    }
    GpuCounts per_node = GpusOption("gpus_per_node");
    if (!per_node.empty()) request_.gpus_per_node = per_node;
    request_.gpus_total = GpusOption("gpus");
  }

  GpuCounts GpusOption(const std::string& key) {
    std::string text = reader_.Text(key).value_or("");
    if (text.empty()) return {};
    Result<GpuCounts> counts = ParseGpusOption(text);
    if (counts) return SlurmTypes(*counts, key);
    reader_.Refuse(key, counts.error().message);
    return {};
  }

  GpuCounts SlurmTypes(const GpuCounts& counts, const std::string& key) {
    std::string partition = request_.partitions.size() == 1 ? request_.partitions.front() : "";
    Result<GpuCounts> types = ToSlurmTypes(counts, partition, pools_, view_.gpus.catalogue());
    if (types) return *types;
    reader_.Refuse(key, types.error().message);
    return {};
  }

  std::vector<std::string> HostList(const std::string& key) {
    std::string text = reader_.Text(key).value_or("");
    if (text.empty()) return {};
    Result<std::vector<std::string>> nodes = ExpandHostList(text);
    if (nodes) return *nodes;
    reader_.Refuse(key, fmt::format("{}: {}", key, nodes.error().message));
    return {};
  }

  // Without -t Slurm takes the partition's default, else its maximum.
  void UseDefaultLimit() {
    for (const Partition& partition : view_.snapshot.partitions) {
      if (partition.name != request_.partitions.front()) continue;
      request_.time_limit_seconds = partition.default_time_seconds.absent()
                                        ? partition.max_time_seconds
                                        : partition.default_time_seconds;
    }
  }

  FirstError errors_;
  FieldReader reader_;
  const ClusterView& view_;
  const std::vector<GpuPool>& pools_;
  JobRequest request_;
};

std::vector<std::string> WaitReasons(const StartSamples& start) {
  if (start.Mean() < 30) return {"fits now"};
  if (start.jobs_before == 0) return {"waits for running jobs or a reservation to end"};
  return {fmt::format("waits for running jobs to end and for {} before it",
                      Plural(start.jobs_before, "waiting job"))};
}

std::vector<std::string> ReasonsOf(const StartSamples& start) {
  std::vector<std::string> reasons = WaitReasons(start);
  if (const std::string risk = PreemptionInWords(start); !risk.empty()) reasons.push_back(risk);
  return reasons;
}

json ErrorJson(const Error& error) {
  static const std::map<ErrorCode, const char*> kNames = {
      {ErrorCode::kBadInput, "bad_input"},    {ErrorCode::kNotFound, "not_found"},
      {ErrorCode::kInfeasible, "infeasible"}, {ErrorCode::kUnavailable, "unavailable"},
      {ErrorCode::kStale, "stale"},           {ErrorCode::kInternal, "internal"}};
  return {{"code", kNames.at(error.code)}, {"message", error.message}, {"pointer", error.pointer}};
}

json AnswerOf(const JobRequest& request, const StartSamples& start,
              const Result<StartSamples>& at_limits, UnixSeconds now) {
  json answer = {{"partition", start.partition},
                 {"priority", start.priority},
                 {"jobs_before", start.jobs_before},
                 {"reasons", ReasonsOf(start)},
                 {"gres", ToGresText(request.gpus_per_node)},
                 {"error", nullptr}};
  answer["time_limit_seconds"] =
      request.time_limit_seconds.has_value() ? json(request.time_limit_seconds.value()) : json();
  AddStart(start, now, answer);
  answer["wait_at_limits_seconds"] = at_limits ? json(at_limits->wait_seconds.front()) : json();
  answer["lost_mean_seconds"] = std::llround(start.MeanLost());
  return answer;
}

}  // namespace

Result<json> AnswerWhen(const json& body, const ClusterView& view, const Submitter& caller) {
  FirstError errors;
  FieldReader reader(body, "", &errors);
  const std::vector<const json*> items = reader.List("jobs");
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());
  if (items.empty() || items.size() > kMaxJobs) {
    return BadInput(fmt::format("jobs must list 1 to {} jobs, not {}", kMaxJobs, items.size()),
                    "/jobs");
  }
  const std::vector<GpuPool> pools = FindGpuPools(view.snapshot, view.gpus);
  json answers = json::array();
  size_t samples = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    QuestionReader question(*items[i], fmt::format("/jobs/{}", i), view, pools);
    Submitter submitter = question.SubmitterFor(caller);
    Result<JobRequest> request = question.Read();
    if (!request) return tl::unexpected<Error>(request.error());
    Result<StartSamples> start = StartOf(view.queue, *request, submitter);
    if (!start) {
      answers.push_back({{"error", ErrorJson(start.error())}});
      continue;
    }
    samples = std::max(samples, start->wait_seconds.size());
    answers.push_back(AnswerOf(*request, *start, StartOf(view.at_limits, *request, submitter),
                               view.snapshot.taken_at));
    answers.back()["cheaper"] = CheaperOf(*request, *start, view, [&](const JobRequest& other) {
      return StartOf(view.queue, other, submitter);
    });
  }
  return json{{"answers", answers}, {"forecast", ForecastNote(samples, PastBehind(view.queue))}};
}

}  // namespace gpuadvise
