#include "client/questions/job_question.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "client/models/built_in.h"
#include "client/sbatch/option_values.h"
#include "common/base/bytes.h"
#include "common/base/date_time.h"
#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "common/slurm/array_tasks.h"
#include "common/slurm/gres.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// Collects members; skips the rest after the first error.
class QuestionBuilder {
 public:
  QuestionBuilder(const SbatchOptions& options, int64_t now) : options_(options), now_(now) {}

  void Text(const std::string& option, const char* member) {
    if (const auto value = options_.Get(option); value && !value->empty()) json_[member] = *value;
  }
  void Count(const std::string& option, const char* member) {
    const auto value = options_.Get(option);
    if (value && !error_) Take(ParseCount(option, *value), member);
  }
  void Nodes() {
    const auto value = options_.Get("nodes");
    if (value && !error_) Take(ParseNodeCount(*value), "nodes");
  }
  void Memory(const std::string& option, const char* member) {
    const auto value = options_.Get(option);
    if (!value || error_) return;
    const Result<Bytes> bytes = ParseSlurmMemory(*value);
    if (!bytes) return Fail(option, bytes.error().message);
    json_[member] = bytes->MiBRoundedUp();
  }
  void TimeLimit() {
    const auto value = options_.Get("time");
    if (!value || error_) return;
    const Result<SlurmNumber> limit = ParseTimeLimit(*value);
    if (!limit) return Fail("time", limit.error().message);
    if (limit->has_value()) json_["time_limit_seconds"] = limit->value();
  }
  void Begin() {
    const auto value = options_.Get("begin");
    if (!value || error_) return;
    const Result<int64_t> begin = ParseDateTime(*value, now_);
    if (!begin) return Fail("begin", begin.error().message);
    json_["begin"] = *begin;
  }
  // Of a singleton the name matters.
  void Dependency() {
    Text("dependency", "dependency");
    if (TextOf("dependency").find("singleton") != std::string::npos) Text("job-name", "name");
  }
  // --nice without a value is 100, as in sbatch.
  void Nice() {
    const auto value = options_.Get("nice");
    if (!value || error_) return;
    int64_t nice = value->empty() ? 100 : 0;
    const char* end = value->data() + value->size();
    const auto [rest, status] = std::from_chars(value->data(), end, nice);
    if (!value->empty() && (status != std::errc() || rest != end)) {
      return Fail("nice", "write a whole number");
    }
    json_["nice"] = nice;
  }
  // "1-40%4", "0-30:2", "1,3,7-9".
  void Array() {
    const auto value = options_.Get("array");
    if (!value || error_) return;
    const Result<ArrayTasks> array = ParseArrayTasks(*value);
    if (!array) return Fail("array", array.error().message);
    json_["array_tasks"] = static_cast<int64_t>(array->numbers.size());
    if (array->throttle > 0) json_["array_throttle"] = array->throttle;
  }
  void Exclusive() {
    const auto value = options_.Get("exclusive");
    if (!value) return;
    const bool whole = value->empty() || *value == "exclusive";
    json_["exclusive"] = whole || *value == "topo";
    if (!whole) json_["exclusive_to"] = *value;
  }
  // Sharing of CPUs, and topology of nodes.
  void Sharing() {
    if (options_.Has("oversubscribe")) json_["oversubscribe"] = true;
    if (const auto switches = options_.Get("switches")) {
      const std::string count = switches->substr(0, switches->find('@'));
      if (!error_) Take(ParseCount("switches", count), "switches");
    }
    Count("segment", "segment");
  }

  void Set(const char* member, json value) { json_[member] = std::move(value); }
  int64_t NumberOr(const char* member, int64_t other) const { return json_.value(member, other); }
  std::string TextOf(const char* member) const { return json_.value(member, std::string()); }
  bool Has(const char* member) const { return json_.contains(member); }
  bool failed() const { return error_.has_value(); }
  void Fail(const std::string& option, const std::string& sentence) {
    Refuse(BadOption(option, sentence).value());
  }
  void Refuse(const Error& error) {
    if (!error_) error_ = error;
  }
  Result<json> Done() {
    if (error_) return tl::unexpected<Error>(*error_);
    return std::move(json_);
  }

 private:
  void Take(const Result<int64_t>& count, const char* member) {
    if (count) {
      json_[member] = *count;
    } else if (!error_) {
      error_ = count.error();
    }
  }

  const SbatchOptions& options_;
  int64_t now_;
  json json_ = json::object();
  std::optional<Error> error_;
};

bool IsCard(std::string_view name) {
  const Result<GpuCatalogue> cards = KnownCards({}, "", nullptr);
  return cards && cards->Resolve(name) != nullptr;
}

// Refuses a GPU that --gres names as if it were a GRES of its own: l40s:6, gpus:2. sbatch would,
// too.
Result<void> CheckGresNames(const std::string& gres) {
  for (const std::string_view item : SplitAt(gres, ',')) {
    std::string_view name =
        item.starts_with("gres:") || item.starts_with("gres/") ? item.substr(5) : item;
    name = name.substr(0, name.find_first_of(":=("));
    const std::string plain = LowerCase(std::string(name));
    if (IsOneOf(plain, {"", "gpu", "gpumem", "gpuutil", "shard", "mps"})) continue;
    const bool like_gpu = plain.starts_with("gpu");
    if (!like_gpu && !IsCard(name)) continue;
    const std::string rest(item.substr(item.find(name) + name.size()));
    return BadOption(
        "gres", fmt::format("\"{}\" is no GRES of GPUs; write {}", name,
                            like_gpu ? "gpu:TYPE" + rest : fmt::format("gpu:{}{}", name, rest)));
  }
  return {};
}

std::string GpuOptionText(const GpuCounts& gpus) {
  std::string text;
  for (const GpuCount& gpu : gpus) {
    if (!text.empty()) text += ",";
    text += (gpu.type.empty() ? "" : gpu.type + ":") + std::to_string(gpu.count);
  }
  return text;
}

// Tasks as in sbatch: -n, else --ntasks-per-node × nodes, else one per node.
void AddTasks(const SbatchOptions& options, QuestionBuilder* question) {
  question->Count("ntasks", "ntasks");
  if (question->Has("ntasks") || question->failed()) return;
  const int64_t nodes = question->NumberOr("nodes", 1);
  int64_t per_node = 1;
  if (const auto text = options.Get("ntasks-per-node")) {
    const Result<int64_t> count = ParseCount("ntasks-per-node", *text);
    if (!count) return question->Fail("ntasks-per-node", "write a number of 1 or more");
    per_node = *count;
  }
  if (nodes * per_node > 1) question->Set("ntasks", nodes * per_node);
}

// Converts --gpus-per-task, which the API lacks, to a total.
void AddGpus(const SbatchOptions& options, QuestionBuilder* question) {
  if (const Result<void> names = CheckGresNames(options.Get("gres").value_or("")); !names) {
    return question->Refuse(names.error());
  }
  question->Text("gres", "gres");
  question->Text("gpus", "gpus");
  question->Text("gpus-per-node", "gpus_per_node");
  const auto per_task = options.Get("gpus-per-task");
  if (!per_task || question->Has("gpus") || question->failed()) return;
  const Result<GpuCounts> gpus = ParseGpusOption(*per_task);
  if (!gpus) return question->Fail("gpus-per-task", gpus.error().message);
  question->Set("gpus", GpuOptionText(MultiplyGpus(*gpus, question->NumberOr("ntasks", 1))));
}

Result<GpuCounts> GpusPerNode(const SbatchOptions& options) {
  if (const auto gres = options.Get("gres")) {
    if (const Result<void> names = CheckGresNames(*gres); !names) {
      return tl::unexpected<Error>(names.error());
    }
    const Result<Gres> parsed = ParseGres(*gres);
    if (!parsed) return BadOption("gres", parsed.error().message);
    const Result<GpuCounts> also = ParseGpusOption(options.Get("gpus-per-node").value_or(""));
    if (also && !also->empty() && !parsed->gpus.empty() &&
        TotalGpus(*also) != TotalGpus(parsed->gpus)) {
      return BadOption(
          "gres", fmt::format("{} and --gpus-per-node={} contradict each other: keep one", *gres,
                              *options.Get("gpus-per-node")));
    }
    if (!parsed->gpus.empty()) return parsed->gpus;
  }
  if (const auto gpus = options.Get("gpus-per-node")) {
    const Result<GpuCounts> parsed = ParseGpusOption(*gpus);
    if (!parsed) return BadOption("gpus-per-node", parsed.error().message);
    return *parsed;
  }
  return GpuCounts{};
}

// GPUs per node; a total is divided evenly among the nodes. 0: none.
int64_t GpusOfANode(const SbatchOptions& options, const QuestionBuilder& question) {
  const Result<GpuCounts> per_node = GpusPerNode(options);
  if (per_node && !per_node->empty()) return TotalGpus(*per_node);
  const Result<GpuCounts> total = ParseGpusOption(question.TextOf("gpus"));
  if (!total || total->empty()) return 0;
  const int64_t nodes = question.NumberOr("nodes", 1);
  return (TotalGpus(*total) + nodes - 1) / nodes;
}

// Converts --mem-per-gpu and --cpus-per-gpu to the API's values per node and per task.
void AddPerGpu(const SbatchOptions& options, QuestionBuilder* question) {
  if (question->failed()) return;
  const int64_t gpus = GpusOfANode(options, *question);
  if (gpus == 0) return;
  if (const auto mem = options.Get("mem-per-gpu"); mem && !question->Has("mem_mib")) {
    const Result<Bytes> bytes = ParseSlurmMemory(*mem);
    if (!bytes) return question->Fail("mem-per-gpu", bytes.error().message);
    question->Set("mem_mib", bytes->MiBRoundedUp() * gpus);
  }
  if (const auto cpus = options.Get("cpus-per-gpu"); cpus && !question->Has("cpus_per_task")) {
    const Result<int64_t> count = ParseCount("cpus-per-gpu", *cpus);
    if (!count) return question->Fail("cpus-per-gpu", "write a number of 1 or more");
    const int64_t nodes = question->NumberOr("nodes", 1);
    const int64_t tasks = question->NumberOr("ntasks", nodes);
    question->Set("cpus_per_task", (*count * gpus * nodes + tasks - 1) / tasks);
  }
}

json GpuNames(const GpuCounts& gpus) {
  json names = json::array();
  for (const GpuCount& gpu : gpus) {
    if (!gpu.type.empty()) names.push_back(gpu.type);
  }
  return names;
}

Result<GpuCounts> GpusInAll(const SbatchOptions& options) {
  const auto text = options.Get("gpus");
  if (!text) return GpuCounts{};
  const Result<GpuCounts> parsed = ParseGpusOption(*text);
  if (!parsed) return BadOption("gpus", parsed.error().message);
  return *parsed;
}

// --time-min in seconds; nullopt: not given, or no limit.
Result<std::optional<int64_t>> LeastTime(const SbatchOptions& options) {
  const auto least = options.Get("time-min");
  if (!least) return std::optional<int64_t>();
  const Result<SlurmNumber> limit = ParseTimeLimit(*least);
  if (!limit) return BadOption("time-min", limit.error().message);
  if (!limit->has_value() || limit->value() <= 0) return std::optional<int64_t>();
  return std::optional<int64_t>(limit->value());
}

void AddGpuConstraints(const SbatchOptions& options, QuestionBuilder* question) {
  const Result<GpuCounts> per_node = GpusPerNode(options);
  if (!per_node) return question->Refuse(per_node.error());
  const Result<GpuCounts> total = GpusInAll(options);
  if (!total) return question->Refuse(total.error());
  const GpuCounts& named = per_node->empty() ? *total : *per_node;
  if (const json names = GpuNames(named); !names.empty()) question->Set("gpus", names);
  if (!per_node->empty()) question->Set("gpus_per_node", TotalGpus(*per_node));
  if (total->empty()) {
    if (options.Has("gpus")) question->Fail("gpus", "a training needs a GPU");
    return;
  }
  if (!per_node->empty() && question->Has("nodes") &&
      TotalGpus(*total) != TotalGpus(*per_node) * question->NumberOr("nodes", 1)) {
    return question->Fail(
        "gpus",
        fmt::format("{} GPUs are not {} on each of {}; keep two of the three", TotalGpus(*total),
                    TotalGpus(*per_node), Plural(question->NumberOr("nodes", 1), "node")));
  }
  if (!question->Has("nodes")) return question->Set("gpus_total", TotalGpus(*total));
  if (!per_node->empty()) return;
  const int64_t nodes = question->NumberOr("nodes", 1);
  if (TotalGpus(*total) % nodes != 0) {
    return question->Fail("gpus", std::to_string(TotalGpus(*total)) +
                                      " GPUs cannot be divided evenly among " +
                                      std::to_string(nodes) + " nodes; change --gpus or --nodes");
  }
  question->Set("gpus_per_node", TotalGpus(*total) / nodes);
}

// The options of sbatch, not of its plugins, but `seen` and those that move no start. What holds a
// placeholder is not seen.
std::vector<std::string> Unseen(SbatchOptions options, std::initializer_list<const char*> seen) {
  for (const char* name : seen) {
    if (options.Get(name).value_or("").find('{') == std::string::npos) options.Erase(name);
  }
  for (const char* name : {"acctg-freq",
                           "chdir",
                           "comment",
                           "container",
                           "distribution",
                           "error",
                           "export",
                           "export-file",
                           "get-user-env",
                           "gpu-bind",
                           "hint",
                           "input",
                           "job-name",
                           "kill-on-invalid-dep",
                           "mail-type",
                           "mail-user",
                           "mem-bind",
                           "no-requeue",
                           "ntasks-per-node",
                           "open-mode",
                           "output",
                           "parsable",
                           "propagate",
                           "quiet",
                           "requeue",
                           "signal",
                           "verbose",
                           "wait",
                           "wckey",
                           "wrap"}) {
    options.Erase(name);
  }
  const auto table = SbatchOptionTable();
  for (const auto& option : std::map(options.values())) {
    const bool of_sbatch = std::any_of(table.begin(), table.end(), [&](const SbatchOption& each) {
      return each.name == option.first;
    });
    if (!of_sbatch) options.Erase(option.first);
  }
  return options.ToArguments();
}

}  // namespace

Result<json> JobQuestion(const SbatchOptions& options, int64_t now) {
  QuestionBuilder question(options, now);
  for (const char* text :
       {"partition", "account", "qos", "constraint", "nodelist", "exclude", "reservation"}) {
    question.Text(text, text);
  }
  question.Nodes();
  AddTasks(options, &question);
  question.Count("cpus-per-task", "cpus_per_task");
  AddGpus(options, &question);
  question.Memory("mem", "mem_mib");
  question.Memory("mem-per-cpu", "mem_per_cpu_mib");
  AddPerGpu(options, &question);
  question.TimeLimit();
  question.Begin();
  question.Dependency();
  question.Nice();
  if (options.Has("hold")) question.Set("hold", true);
  question.Exclusive();
  question.Sharing();
  question.Text("licenses", "licenses");
  question.Array();
  return question.Done();
}

Result<json> AdviceConstraints(const SbatchOptions& options) {
  QuestionBuilder question(options, 0);
  for (const char* text : {"partition", "account", "qos", "constraint", "nodelist", "exclude"}) {
    question.Text(text, text);
  }
  question.Nodes();
  question.TimeLimit();
  const Result<std::optional<int64_t>> least = LeastTime(options);
  if (!least) return tl::unexpected<Error>(least.error());
  if (*least) question.Set("time_min_seconds", **least);
  if (!question.failed()) AddGpuConstraints(options, &question);
  return question.Done();
}

std::vector<std::string> UnseenByJobQuestion(const SbatchOptions& options) {
  return Unseen(
      options, {"partition",     "account",       "qos",         "constraint",    "nodelist",
                "exclude",       "reservation",   "nodes",       "ntasks",        "ntasks-per-node",
                "cpus-per-task", "gres",          "gpus",        "gpus-per-node", "gpus-per-task",
                "mem",           "mem-per-cpu",   "mem-per-gpu", "cpus-per-gpu",  "time",
                "time-min",      "begin",         "dependency",  "nice",          "hold",
                "exclusive",     "oversubscribe", "licenses",    "array"});
}

std::vector<std::string> UnseenByAdvice(const SbatchOptions& options) {
  return Unseen(options, {"partition", "account", "qos", "constraint", "nodelist", "exclude",
                          "nodes", "time", "time-min", "gres", "gpus", "gpus-per-node", "array"});
}

Result<void> AddRunWords(const SbatchOptions& options, json& job) {
  if (const auto name = options.Get("job-name"); name && !name->empty()) job["name"] = *name;
  const Result<std::optional<int64_t>> least = LeastTime(options);
  if (!least) return tl::unexpected<Error>(least.error());
  if (*least) job["time_min_seconds"] = **least;
  return {};
}

Result<void> AddLeastGpuMemory(const std::string& size, json& question) {
  if (size.empty()) return {};
  const Result<Bytes> least = ParseSlurmMemory(size);
  if (!least || least->count < 1 || IsDigit(size.back())) {  // Slurm would read megabytes
    return BadInput("--gpu-memory: write a size with its unit, such as 40G");
  }
  question["min_gpu_memory_bytes"] = least->count;
  return {};
}

}  // namespace gpuadvise::client
