#include "daemon/collect/slurm_conf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "daemon/collect/slurm_text.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise::collect {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestInclude = 8;
constexpr uintmax_t kMostConfBytes = 16 << 20;  // ten thousand lines of nodes are 2 MB

// A key as spelled by `scontrol show config`, with Slurm's default and the printed unit.
struct ConfKey {
  std::string_view name;
  std::string_view default_value;
  std::string_view unit = {};
};
constexpr std::array kConfKeys = {
    ConfKey{"AccountingStorageEnforce", "none"},
    ConfKey{"AccountingStorageType", "accounting_storage/none"},
    ConfKey{"ClusterName", ""},
    ConfKey{"DefMemPerCPU", ""},
    ConfKey{"DefMemPerNode", ""},
    ConfKey{"KillWait", "30", "sec"},
    ConfKey{"Licenses", ""},
    ConfKey{"MinJobAge", "300", "sec"},
    ConfKey{"OverTimeLimit", "0", "min"},
    ConfKey{"PreemptMode", "OFF"},
    ConfKey{"PreemptType", ""},
    ConfKey{"PriorityCalcPeriod", "00:05:00"},
    ConfKey{"PriorityDecayHalfLife", "7-00:00:00"},
    ConfKey{"PriorityFavorSmall", "No"},
    ConfKey{"PriorityFlags", ""},
    ConfKey{"PriorityMaxAge", "7-00:00:00"},
    ConfKey{"PriorityType", "priority/multifactor"},
    ConfKey{"PriorityWeightAge", "0"},
    ConfKey{"PriorityWeightAssoc", "0"},
    ConfKey{"PriorityWeightFairShare", "0"},
    ConfKey{"PriorityWeightJobSize", "0"},
    ConfKey{"PriorityWeightPartition", "0"},
    ConfKey{"PriorityWeightQOS", "0"},
    ConfKey{"PriorityWeightTRES", ""},
    ConfKey{"PrivateData", "none"},
    ConfKey{"ResumeTimeout", "60", "sec"},
    ConfKey{"SchedulerParameters", ""},
    ConfKey{"SchedulerType", "sched/backfill"},
    ConfKey{"SelectType", "select/cons_tres"},
    ConfKey{"SelectTypeParameters", "CR_CORE_MEMORY"},
    ConfKey{"SlurmUser", "root"},
    ConfKey{"SuspendProgram", ""},
    ConfKey{"SuspendTime", "INFINITE", "sec"},
    ConfKey{"SuspendTimeout", "30", "sec"},
    ConfKey{"TopologyParam", ""},
    ConfKey{"TopologyPlugin", "topology/default"},
};

// Keys whose values Slurm prints in upper case.
constexpr std::array<std::string_view, 3> kUpperCased = {"PreemptMode", "PriorityFlags",
                                                         "SelectTypeParameters"};

std::string UpperCase(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The line without its comment; "\#" is a plain '#'.
std::string WithoutComment(std::string_view line) {
  std::string plain;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '#') continue;
    if (line[i] == '#' && (i == 0 || line[i - 1] != '\\')) break;
    plain += line[i];
  }
  return plain;
}

// Takes the next KEY=VALUE off `rest`; blanks may surround the '='. A word without a
// '=' has no value.
std::pair<std::string, std::string> TakePair(std::string_view& rest) {
  const auto skip_blanks = [&] {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  };
  const size_t key_end = std::min(rest.find_first_of(" \t="), rest.size());
  std::string key = LowerCase(rest.substr(0, key_end));
  rest.remove_prefix(key_end);
  skip_blanks();
  if (!rest.starts_with('=')) return {std::move(key), ""};
  rest.remove_prefix(1);
  skip_blanks();
  const bool is_quoted = rest.starts_with('"');
  if (is_quoted) rest.remove_prefix(1);
  const size_t end = std::min(is_quoted ? rest.find('"') : rest.find_first_of(" \t"), rest.size());
  std::string value(rest.substr(0, end));
  rest.remove_prefix(std::min(end + (is_quoted ? 1 : 0), rest.size()));
  skip_blanks();
  return {std::move(key), std::move(value)};
}

class ConfReader {
 public:
  Result<void> ReadFile(const fs::path& path, int depth) {
    if (depth > kDeepestInclude) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("{} is included by itself, or too deep", path.string()));
    }
    std::error_code error;
    const uintmax_t size = fs::file_size(path, error);
    std::ifstream file(path);
    if (error || !file || size > kMostConfBytes) {
      return Fail(
          ErrorCode::kUnavailable,
          fmt::format("{} cannot be read: {}", path.string(),
                      error ? error.message() : (file ? "it is too large" : std::strerror(errno))));
    }
    std::string joined;
    for (std::string line; std::getline(file, line);) {
      line = WithoutComment(line);
      while (line.ends_with('\r')) line.pop_back();
      joined += line;
      if (joined.ends_with('\\')) {
        joined.back() = ' ';
        continue;
      }
      if (auto read = ReadLine(Trim(joined), path, depth); !read) return read;
      joined.clear();
    }
    return ReadLine(Trim(joined), path, depth);
  }

  SlurmConfFile Take() { return std::move(file_); }

 private:
  Result<void> ReadLine(std::string_view line, const fs::path& path, int depth) {
    if (LowerCase(line.substr(0, 8)) == "include ") {
      std::string name(Trim(line.substr(8)));
      const size_t cluster = name.find("%c");
      if (cluster != std::string::npos) name.replace(cluster, 2, file_.keys["clustername"]);
      return ReadFile(path.parent_path() / name, depth + 1);
    }
    const std::string record = LowerCase(line.substr(0, line.find_first_of(" =")));
    if (record == "partitionname") return ReadPartition(line);
    if (record == "nodename" || record == "nodeset" || record == "downnodes" ||
        record == "frontendname") {
      return {};
    }
    while (!line.empty()) {
      auto [key, value] = TakePair(line);
      if (!key.empty()) file_.keys[key] = std::move(value);
    }
    return {};
  }

  Result<void> ReadPartition(std::string_view line) {
    ConfKeys keys;
    const std::string names = TakePair(line).second;
    while (!line.empty()) {
      auto [key, value] = TakePair(line);
      keys[key] = std::move(value);
    }
    if (LowerCase(names) == "default") {
      for (auto& [key, value] : keys) defaults_[key] = value;
      return {};
    }
    keys.insert(defaults_.begin(), defaults_.end());
    for (std::string& name : Hosts(names)) file_.partitions[std::move(name)] = keys;
    return {};
  }

  SlurmConfFile file_;
  ConfKeys defaults_;  // from PartitionName=DEFAULT so far
};

std::string ShownAs(const ConfKey& key, const ConfKeys& keys) {
  const auto found = keys.find(LowerCase(key.name));
  const bool is_set = found != keys.end() && !found->second.empty();
  std::string value(is_set ? std::string_view(found->second) : key.default_value);
  if (key.name == "SuspendTime" && value == "-1") value = "INFINITE";
  if (IsOneOf(key.name, kUpperCased)) value = UpperCase(value);
  if (IsNumber(value) && !key.unit.empty()) value += fmt::format(" {}", key.unit);
  return value;
}

bool SaysYes(const ConfKeys& keys, const char* key) {
  const auto found = keys.find(key);
  if (found == keys.end()) return false;
  const std::string value = LowerCase(found->second);
  return value == "yes" || value == "true" || value == "up" || value == "1";
}

}  // namespace

Result<SlurmConfFile> ReadSlurmConfFile(const std::string& path) {
  ConfReader reader;
  if (auto read = reader.ReadFile(path, 0); !read) return tl::unexpected<Error>(read.error());
  return reader.Take();
}

ClusterConfig ConfigOf(const ConfKeys& keys) {
  std::string text;
  const auto priority = keys.find("prioritytype");
  const bool is_basic = priority != keys.end() && priority->second == "priority/basic";
  for (const ConfKey& key : kConfKeys) {
    // priority/basic has no weights or ages, and Slurm shows none.
    const bool is_factor = key.name.starts_with("Priority") && key.name != "PriorityType";
    if (is_basic && is_factor) continue;
    text += fmt::format("{} = {}\n", key.name, ShownAs(key, keys));
  }
  return ParseConfig(text);
}

void FillFlags(const SlurmConfFile& file, Partition& partition) {
  const auto found = file.partitions.find(partition.name);
  if (found == file.partitions.end()) return;
  const ConfKeys& keys = found->second;
  partition.is_default = SaysYes(keys, "default");
  partition.hidden = SaysYes(keys, "hidden");
  partition.root_only = SaysYes(keys, "rootonly");
  const std::string over_subscribe = partition.over_subscribe;
  FillSharing(over_subscribe, "", SaysYes(keys, "exclusiveuser"), SaysYes(keys, "exclusivetopo"),
              partition);
  const auto of_cluster = file.keys.find("preemptmode");
  const auto own = keys.find("preemptmode");
  partition.preempt_mode = own != keys.end()
                               ? own->second
                               : (of_cluster != file.keys.end() ? of_cluster->second : "OFF");
  partition.preempt_mode = UpperCase(partition.preempt_mode);
}

}  // namespace gpuadvise::collect
