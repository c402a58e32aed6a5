#include "common/slurm/snapshot_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/slurm/snapshot_codec.h"
#include "common/slurm/snapshot_order.h"

namespace gpuadvise {
namespace {

using codec::Json;

// Checks the version first: members of a newer one have unknown meaning.
Result<void> CheckVersion(const Json& json, const std::string& pointer) {
  if (!json.is_object()) return BadInput("The snapshot must be a JSON object.", pointer);
  const auto version = json.find("version");
  if (version == json.end() || !version->is_number_integer()) {
    return BadInput("The snapshot has no \"version\"; version 1 is the one known here.",
                    pointer + "/version");
  }
  if (*version != kSnapshotVersion) {
    return BadInput(fmt::format("The snapshot has version {}, but this program reads version {}; "
                                "update the older of the two programs.",
                                version->dump(), kSnapshotVersion),
                    pointer + "/version");
  }
  return {};
}

}  // namespace

Json ToJson(const Snapshot& snapshot) {
  Json json = codec::EncodeFields(snapshot);
  json["version"] = kSnapshotVersion;
  return json;
}
Json ToJson(const Node& node) { return codec::EncodeFields(node); }
Json ToJson(const Job& job) { return codec::EncodeFields(job); }
Json ToJson(const JobRequest& request) { return codec::EncodeFields(request); }
Json ToJson(const Partition& partition) { return codec::EncodeFields(partition); }
Json ToJson(const Reservation& reservation) { return codec::EncodeFields(reservation); }
Json ToJson(const SchedulerConfig& config) { return codec::EncodeFields(config); }
Json ToJson(const Association& association) { return codec::EncodeFields(association); }
Json ToJson(const Qos& qos) { return codec::EncodeFields(qos); }
std::string_view NameOf(JobState state) { return codec::NameOf(state); }
Json ToJson(const JobRecord& record) { return codec::EncodeFields(record); }

template <typename T>
Result<T> FromJson(const Json& json, const std::string& pointer) {
  T value;
  codec::Reader reader(pointer);
  reader.DecodeFields(json, value);
  if (reader.error()) return tl::unexpected(*reader.error());
  return value;
}

template <>
Result<Snapshot> FromJson<Snapshot>(const Json& json, const std::string& pointer) {
  if (auto version = CheckVersion(json, pointer); !version) return tl::unexpected(version.error());
  Snapshot snapshot;
  codec::Reader reader(pointer);
  reader.DecodeFields(json, snapshot);
  if (reader.error()) return tl::unexpected(*reader.error());
  SortCanonically(snapshot);
  if (auto unique = CheckUnique(snapshot); !unique) return tl::unexpected(unique.error());
  return snapshot;
}

template Result<Node> FromJson<Node>(const Json&, const std::string&);
template Result<Job> FromJson<Job>(const Json&, const std::string&);
template Result<JobRequest> FromJson<JobRequest>(const Json&, const std::string&);
template Result<Partition> FromJson<Partition>(const Json&, const std::string&);
template Result<Reservation> FromJson<Reservation>(const Json&, const std::string&);
template Result<SchedulerConfig> FromJson<SchedulerConfig>(const Json&, const std::string&);
template Result<Association> FromJson<Association>(const Json&, const std::string&);
template Result<Qos> FromJson<Qos>(const Json&, const std::string&);
template Result<JobRecord> FromJson<JobRecord>(const Json&, const std::string&);

std::string SnapshotToText(const Snapshot& snapshot) {
  return ToJson(snapshot).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Snapshot> SnapshotFromText(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return BadInput("The snapshot is not JSON; it may have been cut off.");
  return FromJson<Snapshot>(json);
}

}  // namespace gpuadvise
