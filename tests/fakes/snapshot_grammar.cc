#include "tests/fakes/snapshot_grammar.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

#include "common/base/host_list.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace snapshot_text {

void Bad(const std::string& what) { throw std::invalid_argument(what); }

Words Split(std::string_view text, char at) {
  Words parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, at);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

const std::string& Word(const Words& words, size_t index) {
  if (index >= words.size()) Bad("the line ends too early");
  return words[index];
}

int64_t Number(const std::string& word) {
  size_t end = 0;
  int64_t value = 0;
  try {
    value = std::stoll(word, &end);
  } catch (const std::exception&) {
    Bad("not a number: " + word);
  }
  if (end != word.size()) Bad("not a number: " + word);
  return value;
}

int64_t Mebibytes(const std::string& word) {
  if (word.ends_with("G")) return 1024 * Number(word.substr(0, word.size() - 1));
  return Number(word.ends_with("M") ? word.substr(0, word.size() - 1) : word);
}

SlurmNumber Duration(const std::string& word) {
  if (word == "unlimited") return SlurmNumber::Infinite();
  if (word == "none") return SlurmNumber::Absent();
  return SecondsOf(word);
}

std::vector<std::string> Hosts(const std::string& word) {
  auto hosts = ExpandHostList(word);
  if (!hosts) Bad(hosts.error().message);
  return *hosts;
}

TresCounts Tres(const std::string& word) {
  TresCounts counts;
  for (const std::string& item : Split(word, ',')) {
    const size_t equals = item.find('=');
    if (equals == std::string::npos) Bad("not name=count: " + item);
    counts[item.substr(0, equals)] = Number(item.substr(equals + 1));
  }
  return counts;
}

static bool IsGpu(const std::string& word) {
  const size_t colon = word.rfind(':');
  return colon != std::string::npos && colon + 1 < word.size() && colon > 0 &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(colon) + 1, word.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

static GpuCount Gpu(const std::string& word) {
  const size_t colon = word.rfind(':');
  std::string type = word.substr(0, colon);
  if (type == "gpu") type.clear();
  return {type, Number(word.substr(colon + 1))};
}

void AddGpu(GpuCounts& gpus, const GpuCount& more) {
  if (more.count == 0) return;
  auto at = std::lower_bound(gpus.begin(), gpus.end(), more,
                             [](const GpuCount& a, const GpuCount& b) { return a.type < b.type; });
  if (at != gpus.end() && at->type == more.type) {
    at->count += more.count;
  } else {
    gpus.insert(at, more);
  }
}

void Parse(const Words& words, size_t from, const Grammar& grammar) {
  for (size_t i = from; i < words.size(); ++i) {
    if (auto flag = grammar.flags.find(words[i]);
        flag != grammar.flags.end() &&
        (i + 1 == words.size() || !grammar.keys.contains(words[i]))) {
      flag->second();
    } else if (auto key = grammar.keys.find(words[i]); key != grammar.keys.end()) {
      if (++i == words.size()) Bad("no value after " + words[i - 1]);
      key->second(words[i]);
    } else if (grammar.gpu && IsGpu(words[i])) {
      grammar.gpu(Gpu(words[i]));
    } else {
      Bad("what is '" + words[i] + "'?");
    }
  }
}

static void Nodes(JobRequest& request, const std::string& word) {
  const size_t dash = word.find('-');
  request.nodes_min = Number(word.substr(0, dash));
  if (dash != std::string::npos) request.nodes_max = Number(word.substr(dash + 1));
}

void AddRequest(Grammar& grammar, JobRequest& request, bool& cpus_given) {
  auto& keys = grammar.keys;
  grammar.gpu = [&request](const GpuCount& gpu) { AddGpu(request.gpus_per_node, gpu); };
  grammar.flags["exclusive"] = [&request] { request.exclusive = true; };
  keys["total"] = [&request](const std::string& w) { AddGpu(request.gpus_total, Gpu(w)); };
  keys["nodes"] = [&request](const std::string& w) { Nodes(request, w); };
  keys["cpus"] = [&](const std::string& w) { request.cpus = Number(w), cpus_given = true; };
  keys["tasks"] = [&request](const std::string& w) { request.tasks = Number(w); };
  keys["cpus-per-task"] = [&request](const std::string& w) { request.cpus_per_task = Number(w); };
  keys["mem"] = [&request](const std::string& w) {
    // Infinite marks "said to be not said" until FinishRequest.
    request.memory_per_node_mib =
        w == "default" ? SlurmNumber::Infinite() : SlurmNumber(Mebibytes(w));
  };
  keys["mem-per-cpu"] = [&request](const std::string& w) {
    request.memory_per_cpu_mib = Mebibytes(w);
  };
  keys["limit"] = [&request](const std::string& w) { request.time_limit_seconds = Duration(w); };
  keys["in"] = [&request](const std::string& w) { request.partitions = Split(w, ','); };
  keys["features"] = [&request](const std::string& w) { request.features = w; };
  keys["on"] = [&request](const std::string& w) { request.required_nodes = Hosts(w); };
  keys["not"] = [&request](const std::string& w) { request.excluded_nodes = Hosts(w); };
  keys["shards"] = [&request](const std::string& w) { request.shards_per_node = Number(w); };
  keys["mps"] = [&request](const std::string& w) { request.mps_per_node = Number(w); };
  keys["exclusive-to"] = [&request](const std::string& w) { request.exclusive_to = w; };
  keys["switches"] = [&request](const std::string& w) { request.switches = Number(w); };
  keys["segment"] = [&request](const std::string& w) { request.segment_nodes = Number(w); };
  keys["licenses"] = [&request](const std::string& w) { request.licenses = Tres(w); };
  keys["any-license"] = [&request](const std::string& w) {
    request.licenses = Tres(w), request.any_license = true;
  };
  keys["begin"] = [&request](const std::string& w) {
    request.begin_time = kSnapshotTime + SecondsOf(w);
  };
  keys["reservation"] = [&request](const std::string& w) { request.reservation = w; };
}

void FinishRequest(JobRequest& request, bool cpus_given) {
  int64_t gpus = 0;
  for (const GpuCount& gpu : request.gpus_per_node) gpus += gpu.count * request.nodes_min;
  for (const GpuCount& gpu : request.gpus_total) gpus += gpu.count;
  const int64_t tasks = std::max(request.tasks, request.nodes_min);
  if (request.cpus_per_task > 1 || request.tasks > 1) {
    if (!cpus_given) request.cpus = tasks * request.cpus_per_task;
  } else if (!cpus_given) {
    request.cpus = std::max(gpus, request.nodes_min);
  }
  request.tasks = tasks;
  if (request.memory_per_node_mib.absent() && request.memory_per_cpu_mib.absent()) {
    request.memory_per_cpu_mib = 1000;
  }
  if (request.memory_per_node_mib.infinite()) request.memory_per_node_mib = SlurmNumber::Absent();
}

void AddLimits(Grammar& grammar, Limits& limits) {
  auto& keys = grammar.keys;
  keys["max-wall"] = [&limits](const std::string& w) { limits.max_wall_seconds = SecondsOf(w); };
  keys["per-job"] = [&limits](const std::string& w) { limits.max_tres_per_job = Tres(w); };
  keys["per-user"] = [&limits](const std::string& w) { limits.max_tres_per_user = Tres(w); };
  keys["per-account"] = [&limits](const std::string& w) { limits.max_tres_per_account = Tres(w); };
  keys["group"] = [&limits](const std::string& w) { limits.group_tres = Tres(w); };
  keys["min"] = [&limits](const std::string& w) { limits.min_tres_per_job = Tres(w); };
  keys["max-jobs"] = [&limits](const std::string& w) { limits.max_jobs = Number(w); };
  keys["group-jobs"] = [&limits](const std::string& w) { limits.group_jobs = Number(w); };
}

}  // namespace snapshot_text

using namespace snapshot_text;  // NOLINT(google-build-using-namespace): the words of this file

JobRequest RequestOf(std::string_view text) {
  JobRequest request;
  request.time_limit_seconds = 3600;
  bool cpus_given = false;
  Grammar grammar;
  AddRequest(grammar, request, cpus_given);
  Parse(Split(text, ' '), 0, grammar);
  FinishRequest(request, cpus_given);
  return request;
}

int64_t SecondsOf(std::string_view text) {
  static const std::map<char, int64_t> kUnits = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  int64_t total = 0;
  int64_t number = -1;
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      number = std::max<int64_t>(number, 0) * 10 + (c - '0');
    } else if (kUnits.contains(c) && number >= 0) {
      total += number * kUnits.at(c);
      number = -1;
    } else {
      Bad("not a duration: " + std::string(text));
    }
  }
  if (number > 0 || text.empty()) Bad("a duration without unit: " + std::string(text));
  return total;
}

}  // namespace gpuadvise
