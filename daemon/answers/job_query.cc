#include "daemon/answers/job_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/host_list.h"
#include "common/base/json_fields.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/gpu/gres_names.h"
#include "common/slurm/dependency.h"
#include "common/slurm/feature_expression.h"
#include "common/slurm/gres.h"

namespace gpuadvise::daemon {

using nlohmann::json;

namespace {

constexpr int64_t kMaxCount = 10'000'000;
constexpr int64_t kMaxNice = 2'147'483'645;  // as sbatch
constexpr int64_t kMaxMemoryMib = int64_t{1} << 40;
constexpr int64_t kMaxLimitSeconds = 10LL * 365 * 86400;

class QuestionReader {
 public:
  QuestionReader(const json& item, const std::string& pointer, const AdviceContext& context,
                 const std::vector<GpuPool>& pools)
      : reader_(item, pointer, &errors_), context_(context), pools_(pools) {}

  Result<JobRequest> Read(const std::string& standard_partition, int64_t uid) {
    request_.partitions = SplitNames(reader_.Text("partition").value_or(""));
    if (request_.partitions.size() > kMaxListItems) {
      reader_.Refuse("partition", fmt::format("partition names {} partitions; {} are possible",
                                              request_.partitions.size(), kMaxListItems));
    }
    if (request_.partitions.empty() && !standard_partition.empty()) {
      request_.partitions = {standard_partition};
    }
    ReadShape();
    ReadGpus();
    request_.features = reader_.Text("constraint", kMaxFeatureTextBytes).value_or("");
    request_.required_nodes = HostList("nodelist");
    request_.excluded_nodes = HostList("exclude");
    request_.exclusive = reader_.Bool("exclusive").value_or(false);
    request_.exclusive_to = reader_.Text("exclusive_to").value_or("");
    request_.over_subscribe = reader_.Bool("oversubscribe").value_or(false);
    request_.switches = reader_.Int("switches", 1, kMaxCount).value_or(0);
    request_.segment_nodes = reader_.Int("segment", 1, kMaxCount).value_or(0);
    ReadLicences();
    request_.begin_time = reader_.Int("begin", 0, int64_t{1} << 40);
    request_.reservation = reader_.Text("reservation").value_or("");
    if (!request_.reservation.empty() && uid < 0) {
      reader_.Refuse("reservation", "reservations are for users: ask on the cluster itself");
    }
    if (auto limit = reader_.Int("time_limit_seconds", 1, kMaxLimitSeconds)) {
      request_.time_limit_seconds = *limit;
    } else {
      UseDefaultLimit();
    }
    if (errors_.failed()) return tl::unexpected<Error>(errors_.AsResult().error());
    return request_;
  }

  ArrayShape Array() {
    return {reader_.Int("array_tasks", 1, kMaxCount).value_or(1),
            reader_.Int("array_throttle", 1, kMaxCount).value_or(0)};
  }

  // Reads --hold, --nice and --dependency; the sentences are doubts.
  std::vector<std::string> WaitsFor(const Submitter& submitter, const std::string& name) {
    request_.nice = reader_.Int("nice", -kMaxNice, kMaxNice).value_or(0);
    std::vector<std::string> doubts;
    if (reader_.Bool("hold").value_or(false)) {
      doubts.emplace_back(
          "held (--hold): it starts only after scontrol release; the forecast is as if it were "
          "not held");
    }
    const std::string text = reader_.Text("dependency", kMaxHostListBytes).value_or("");
    if (text.empty()) return doubts;
    Result<Dependencies> found = ReadDependencies(text, submitter, name, context_.snapshot);
    if (!found) {
      reader_.Refuse("dependency", found.error().message);
      return doubts;
    }
    request_.after = std::move(found->after);
    doubts.insert(doubts.end(), found->doubts.begin(), found->doubts.end());
    return doubts;
  }

  std::string Name() { return reader_.Text("name").value_or(""); }
  int64_t TimeMin() { return reader_.Int("time_min_seconds", 1, kMaxLimitSeconds).value_or(0); }

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
      request_.mps_per_node = parsed->mps;
    }
    GpuCounts per_node = GpusOption("gpus_per_node");
    if (!per_node.empty()) request_.gpus_per_node = per_node;
    request_.gpus_total = GpusOption("gpus");
  }

  // "matlab:2,ansys" as sbatch's -L has it; with "|" one of them is enough.
  void ReadLicences() {
    std::string text = reader_.Text("licenses").value_or("");
    request_.any_license = text.find('|') != std::string::npos;
    std::replace(text.begin(), text.end(), '|', ',');
    std::replace(text.begin(), text.end(), ';', ',');
    for (const std::string& part : SplitNames(text)) {
      const size_t colon = part.find_last_of(":=");
      int64_t count = 1;
      if (colon != std::string::npos) {
        count = WholeNumber(part.substr(colon + 1)).value_or(-1);
        if (count < 0 || count > kMaxCount) {
          reader_.Refuse("licenses",
                         fmt::format("{} is no licence with a count like matlab:2", Quoted(part)));
          return;
        }
      }
      request_.licenses[part.substr(0, colon)] += count;
    }
    if (request_.licenses.size() > kMaxListItems) {
      reader_.Refuse("licenses", fmt::format("{} licences are asked for; {} are possible",
                                             request_.licenses.size(), kMaxListItems));
    }
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
    Result<GpuCounts> types = ToSlurmTypes(counts, partition, pools_, context_.gpus.catalogue());
    if (types) return *types;
    reader_.Refuse(key, types.error().message);
    return {};
  }

  std::vector<std::string> HostList(const std::string& key) {
    std::string text = reader_.Text(key, kMaxHostListBytes).value_or("");
    if (text.empty()) return {};
    Result<std::vector<std::string>> nodes =
        ExpandHostList(text, MostHostsAsked(context_.snapshot));
    if (nodes) return *nodes;
    reader_.Refuse(key, nodes.error().message);
    return {};
  }

  // Without -t Slurm takes the partition's default, else its maximum.
  void UseDefaultLimit() {
    if (request_.partitions.empty()) return;
    for (const Partition& partition : context_.snapshot.partitions) {
      if (partition.name != request_.partitions.front()) continue;
      request_.time_limit_seconds = partition.default_time_seconds.absent()
                                        ? partition.max_time_seconds
                                        : partition.default_time_seconds;
    }
  }

  DocumentErrors errors_;
  FieldReader reader_;
  const AdviceContext& context_;
  const std::vector<GpuPool>& pools_;
  JobRequest request_;
};

}  // namespace

size_t MostHostsAsked(const Snapshot& snapshot) {
  constexpr size_t kFew = 1000;  // also those that are not there have a name
  return std::max(snapshot.nodes.size(), kFew);
}

std::vector<std::string> SplitNames(const std::string& list) {
  std::vector<std::string> names;
  for (const std::string_view name : SplitAt(list, ',')) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

Result<JobQuery> ReadJobQuery(const json& item, const std::string& pointer,
                              const AdviceContext& context, const std::vector<GpuPool>& pools,
                              const Submitter& caller, const std::string& standard_partition) {
  QuestionReader question(item, pointer, context, pools);
  Submitter submitter = question.SubmitterFor(caller);
  const ArrayShape array = question.Array();
  std::string name = question.Name();
  const int64_t time_min = question.TimeMin();
  std::vector<std::string> doubts = question.WaitsFor(submitter, name);
  Result<JobRequest> request = question.Read(standard_partition, caller.uid);
  if (!request) return tl::unexpected<Error>(request.error());
  return JobQuery{std::move(*request), std::move(submitter), array, std::move(name), time_min,
                  std::move(doubts)};
}

}  // namespace gpuadvise::daemon
