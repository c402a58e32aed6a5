// Encodes and decodes snapshot values by their field lists (snapshot_fields.h).
//
// One Encode and Decode overload per member type. Internal to snapshot_json.cc. The reader tracks
// the JSON pointer and keeps the first error; it continues afterwards, because the caller checks
// once at the end.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "common/slurm/snapshot_fields.h"

namespace gpuadvise::codec {

using Json = nlohmann::json;

// JSON integers are exact up to 2^53 in all programs.
inline constexpr int64_t kMaxInteger = int64_t{1} << 53;
// Limit on expanded node names per document: 10,000 nodes in 400 partitions and jobs.
inline constexpr size_t kMaxExpandedNames = 4'000'000;

// ---- writing -------------------------------------------------------------------------------

template <typename T>
Json EncodeFields(const T& value);

inline Json Encode(int64_t value) { return value; }
inline Json Encode(bool value) { return value; }
inline Json Encode(double value) { return value; }
inline Json Encode(const std::string& value) { return value; }
inline Json Encode(const std::optional<UnixSeconds>& time) { return *time; }
inline Json Encode(const std::vector<std::string>& list) { return list; }
template <typename Number>
Json Encode(const std::map<std::string, Number>& map) {
  return map;
}
Json Encode(const SlurmNumber& number);  // REQUIRES: not absent
Json Encode(const GpuCounts& gpus);
Json Encode(const NodeState& state);
std::string_view NameOf(JobState state);
Json Encode(JobState state);
Json Encode(PartitionState state);
Json Encode(const std::vector<Allocation>& allocations);
inline Json Encode(const JobRequest& value) { return EncodeFields(value); }
inline Json Encode(const PriorityWeights& value) { return EncodeFields(value); }
inline Json Encode(const SchedulerCycles& value) { return EncodeFields(value); }
inline Json Encode(const SchedulerHealth& value) { return EncodeFields(value); }
inline Json Encode(const SchedulerConfig& value) { return EncodeFields(value); }
inline Json Encode(const Limits& value) { return EncodeFields(value); }
template <typename T>
Json Encode(const std::vector<T>& table) {
  Json list = Json::array();
  for (const T& row : table) list.push_back(EncodeFields(row));
  return list;
}

// A host list expression if it expands to `names`, else a JSON list.
Json EncodeHosts(const std::vector<std::string>& names);

template <typename T>
Json EncodeFields(const T& value) {
  [[maybe_unused]] static const T kDefault{};
  Json object = Json::object();
  VisitFields(&value, [&](const char* name, auto member, FieldKind kind) {
    if (kind != FieldKind::kKey && value.*member == kDefault.*member) return;
    if constexpr (std::is_same_v<decltype(member), std::vector<std::string> T::*>) {
      if (kind == FieldKind::kHosts) {
        object[name] = EncodeHosts(value.*member);
        return;
      }
    }
    object[name] = Encode(value.*member);
  });
  return object;
}

// ---- reading -------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(std::string pointer) : pointer_(std::move(pointer)) {}

  template <typename T>
  void DecodeFields(const Json& json, T& value);

  void Decode(const Json& json, int64_t& value, FieldKind kind);
  void Decode(const Json& json, bool& value, FieldKind kind);
  void Decode(const Json& json, double& value, FieldKind kind);
  void Decode(const Json& json, std::string& value, FieldKind kind);
  void Decode(const Json& json, SlurmNumber& value, FieldKind kind);
  void Decode(const Json& json, std::optional<UnixSeconds>& value, FieldKind kind);
  void Decode(const Json& json, std::vector<std::string>& value, FieldKind kind);
  void Decode(const Json& json, GpuCounts& value, FieldKind kind);
  void Decode(const Json& json, NodeState& value, FieldKind kind);
  void Decode(const Json& json, JobState& value, FieldKind kind);
  void Decode(const Json& json, PartitionState& value, FieldKind kind);
  void Decode(const Json& json, std::vector<Allocation>& value, FieldKind kind);
  template <typename Number>
  void Decode(const Json& json, std::map<std::string, Number>& value, FieldKind kind);
  template <typename T>
  void Decode(const Json& json, std::vector<T>& value, FieldKind kind);
  template <typename T>
  requires std::is_class_v<T>
  void Decode(const Json& json, T& value, FieldKind) { DecodeFields(json, value); }

  const std::optional<Error>& error() const { return error_; }
  void Fail(const std::string& what);
  void Expected(const char* what, const Json& found);

 private:
  // Runs `body` one level deeper in the document.
  template <typename Body>
  void At(const std::string& key, Body&& body) {
    const size_t length = pointer_.size();
    pointer_ += '/' + key;
    body();
    pointer_.resize(length);
  }
  bool IsList(const Json& json);
  bool IsObject(const Json& json);
  void DecodeHosts(const Json& json, std::vector<std::string>& names);

  std::string pointer_;
  size_t names_left_ = kMaxExpandedNames;
  std::optional<Error> error_;
};

// `key` with RFC 6901 escapes.
std::string EscapedForPointer(const std::string& key);

template <typename T>
void Reader::DecodeFields(const Json& json, T& value) {
  if (!IsObject(json)) return;
  VisitFields(&value, [&](const char* name, auto member, FieldKind kind) {
    const auto found = json.find(name);
    if (found != json.end()) {
      At(name, [&] { Decode(*found, value.*member, kind); });
    } else if (kind == FieldKind::kKey) {
      Fail(std::string("has no \"") + name + "\", which every one needs");
    }
  });
}

template <typename Number>
void Reader::Decode(const Json& json, std::map<std::string, Number>& value, FieldKind) {
  if (!IsObject(json)) return;
  for (const auto& [key, number] : json.items()) {
    At(EscapedForPointer(key),
       [&, &k = key, &n = number] { Decode(n, value[k], FieldKind::kPlain); });
  }
}

template <typename T>
void Reader::Decode(const Json& json, std::vector<T>& value, FieldKind) {
  if (!IsList(json)) return;
  value.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    At(std::to_string(i), [&] { DecodeFields(json[i], value.emplace_back()); });
  }
}

}  // namespace gpuadvise::codec
