#include "common/slurm/snapshot_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "common/base/host_list.h"
#include "common/slurm/gres.h"
#include "common/slurm/node_state.h"

namespace gpuadvise::codec {
namespace {

constexpr std::array kJobStates = {
    std::pair{JobState::kPending, "PENDING"},
    std::pair{JobState::kRunning, "RUNNING"},
    std::pair{JobState::kSuspended, "SUSPENDED"},
    std::pair{JobState::kCompleting, "COMPLETING"},
    std::pair{JobState::kConfiguring, "CONFIGURING"},
};
constexpr std::array kPartitionStates = {
    std::pair{PartitionState::kUp, "UP"},
    std::pair{PartitionState::kDown, "DOWN"},
    std::pair{PartitionState::kDrain, "DRAIN"},
    std::pair{PartitionState::kInactive, "INACTIVE"},
};

template <typename Table, typename Enum>
const char* WordOf(const Table& table, Enum value) {
  for (const auto& [candidate, word] : table) {
    if (candidate == value) return word;
  }
  return table.front().second;
}

template <typename Table, typename Enum>
bool FindWord(const Table& table, const Json& json, Enum& value) {
  if (!json.is_string()) return false;
  for (const auto& [candidate, word] : table) {
    if (json.get_ref<const std::string&>() != word) continue;
    value = candidate;
    return true;
  }
  return false;
}

bool SameResources(const Allocation& a, const Allocation& b) {
  return a.cpus == b.cpus && a.memory_mib == b.memory_mib && a.gpus == b.gpus &&
         a.shards == b.shards && a.mps == b.mps;
}

}  // namespace

// ---- writing -------------------------------------------------------------------------------

Json Encode(const SlurmNumber& number) {
  return number.infinite() ? Json("infinite") : Json(number.value());
}

Json Encode(const GpuCounts& gpus) {
  Json object = Json::object();
  for (const GpuCount& gpu : gpus) object[gpu.type] = gpu.count;
  return object;
}

Json Encode(const NodeState& state) { return ToString(state); }
std::string_view NameOf(JobState state) { return WordOf(kJobStates, state); }
Json Encode(JobState state) { return WordOf(kJobStates, state); }
Json Encode(PartitionState state) { return WordOf(kPartitionStates, state); }

Json Encode(const std::vector<Allocation>& allocations) {
  Json list = Json::array();
  for (size_t begin = 0, end = 0; begin < allocations.size(); begin = end) {
    std::vector<std::string> nodes;
    while (end < allocations.size() && nodes.size() < kMaxHostNames &&
           SameResources(allocations[begin], allocations[end])) {
      nodes.push_back(allocations[end++].node);
    }
    Json entry = EncodeFields(allocations[begin]);
    entry["nodes"] = EncodeHosts(nodes);
    list.push_back(std::move(entry));
  }
  return list;
}

Json EncodeHosts(const std::vector<std::string>& names) {
  const bool writable =
      names.size() <= kMaxHostNames && std::all_of(names.begin(), names.end(), IsHostName);
  return writable ? Json(CompressHostList(names)) : Json(names);
}

// ---- reading -------------------------------------------------------------------------------

std::string EscapedForPointer(const std::string& key) {
  std::string escaped;
  for (char c : key) {
    if (c == '~')
      escaped += "~0";
    else if (c == '/')
      escaped += "~1";
    else
      escaped += c;
  }
  return escaped;
}

void Reader::Fail(const std::string& what) {
  if (error_) return;
  const std::string place = pointer_.empty() ? "The snapshot" : pointer_;
  error_ = Error{ErrorCode::kBadInput, fmt::format("{} {}.", place, what), pointer_};
}

void Reader::Expected(const char* what, const Json& found) {
  Fail(fmt::format("must be {}, not {}", what, found.type_name()));
}

bool Reader::IsList(const Json& json) {
  if (!json.is_array()) Expected("a list", json);
  return json.is_array();
}

bool Reader::IsObject(const Json& json) {
  if (!json.is_object()) Expected("an object", json);
  return json.is_object();
}

void Reader::Decode(const Json& json, int64_t& value, FieldKind kind) {
  if (!json.is_number_integer()) return Expected("a whole number", json);
  const bool beyond = json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{kMaxInteger};
  const int64_t number = beyond ? 0 : json.get<int64_t>();
  if (beyond || number < -kMaxInteger) return Fail("is beyond 2^53, which JSON cannot carry");
  if (number < 0 && kind != FieldKind::kSigned) return Fail("is negative, but counts something");
  value = number;
}

void Reader::Decode(const Json& json, bool& value, FieldKind) {
  if (!json.is_boolean()) return Expected("true or false", json);
  value = json.get<bool>();
}

void Reader::Decode(const Json& json, double& value, FieldKind) {
  if (!json.is_number()) return Expected("a number", json);
  if (!std::isfinite(json.get<double>())) return Fail("is too large for a number");
  value = json.get<double>();
}

void Reader::Decode(const Json& json, std::string& value, FieldKind) {
  if (!json.is_string()) return Expected("text", json);
  value = json.get_ref<const std::string&>();
}

void Reader::Decode(const Json& json, SlurmNumber& value, FieldKind kind) {
  if (json == "infinite") {
    value = SlurmNumber::Infinite();
    return;
  }
  if (!json.is_number_integer()) return Expected("a whole number or \"infinite\"", json);
  int64_t number = 0;
  Decode(json, number, kind);
  value = number;
}

void Reader::Decode(const Json& json, std::optional<UnixSeconds>& value, FieldKind kind) {
  UnixSeconds time = 0;
  Decode(json, time, kind);
  value = time;
}

void Reader::Decode(const Json& json, std::vector<std::string>& value, FieldKind kind) {
  if (kind == FieldKind::kHosts) return DecodeHosts(json, value);
  if (!IsList(json)) return;
  for (size_t i = 0; i < json.size(); ++i) {
    At(std::to_string(i), [&] { Decode(json[i], value.emplace_back(), FieldKind::kPlain); });
  }
}

void Reader::DecodeHosts(const Json& json, std::vector<std::string>& names) {
  if (json.is_array()) return Decode(json, names, FieldKind::kPlain);
  if (!json.is_string()) return Expected("a host list expression or a list of names", json);
  auto expanded =
      ExpandHostList(json.get_ref<const std::string&>(), std::min(kMaxHostNames, names_left_));
  if (!expanded) return Fail("is not a host list: " + expanded.error().message);
  names_left_ -= expanded->size();
  names = std::move(*expanded);
}

void Reader::Decode(const Json& json, GpuCounts& value, FieldKind) {
  if (!IsObject(json)) return;
  for (const auto& [type, number] : json.items()) {
    int64_t count = 0;
    At(EscapedForPointer(type), [&, &n = number] { Decode(n, count, FieldKind::kPlain); });
    value.push_back({type, count});
  }
  value = CanonicalGpus(std::move(value));
}

void Reader::Decode(const Json& json, NodeState& value, FieldKind) {
  if (!json.is_string()) return Expected("a node state such as \"IDLE+DRAIN\"", json);
  value = ParseNodeState(json.get_ref<const std::string&>());
}

void Reader::Decode(const Json& json, JobState& value, FieldKind) {
  if (FindWord(kJobStates, json, value)) return;
  Fail("must be PENDING, RUNNING, SUSPENDED, COMPLETING or CONFIGURING");
}

void Reader::Decode(const Json& json, PartitionState& value, FieldKind) {
  if (FindWord(kPartitionStates, json, value)) return;
  Fail("must be UP, DOWN, DRAIN or INACTIVE");
}

void Reader::Decode(const Json& json, std::vector<Allocation>& value, FieldKind) {
  if (!IsList(json)) return;
  for (size_t i = 0; i < json.size(); ++i) {
    At(std::to_string(i), [&] {
      Allocation allocation;
      DecodeFields(json[i], allocation);
      std::vector<std::string> nodes;
      const auto found = json[i].find("nodes");
      if (found == json[i].end()) return Fail("has no \"nodes\", which every one needs");
      At("nodes", [&] { DecodeHosts(*found, nodes); });
      for (std::string& node : nodes) {
        allocation.node = std::move(node);
        value.push_back(allocation);
      }
    });
  }
}

}  // namespace gpuadvise::codec
