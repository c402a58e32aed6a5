// The snapshot and its parts as JSON, version 1 (docs/snapshot.md lists all members and units).
//
// Default values (0, "", false, empty list, absent number or time) are omitted, infinite is
// "infinite", node lists are host list expressions, and equal allocations share one entry, so that
// a job of 1,000 nodes is one line. Reading is strict about types and ignores unknown members, so
// that version 1 can grow; newer versions are refused with an error. For canonical snapshots
// FromJson(ToJson(x)) == x. Input is bounded: integers within ±2^53, non-negative counts, limited
// lists. Pure; safe from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

nlohmann::json ToJson(const Snapshot& snapshot);
nlohmann::json ToJson(const Node& node);
nlohmann::json ToJson(const Job& job);
nlohmann::json ToJson(const JobRequest& request);
nlohmann::json ToJson(const Partition& partition);
nlohmann::json ToJson(const Reservation& reservation);
nlohmann::json ToJson(const SchedulerConfig& config);
nlohmann::json ToJson(const Association& association);
nlohmann::json ToJson(const Qos& qos);
nlohmann::json ToJson(const JobRecord& record);

// Slurm's word: "PENDING".
std::string_view NameOf(JobState state);

// Decodes a type above: `FromJson<Node>(json)`. `pointer`: position of `json` in its document, for
// errors (kBadInput with the JSON pointer). Snapshots are put in canonical order; duplicates (nodes
// by name, jobs by id …) are refused.
template <typename T>
Result<T> FromJson(const nlohmann::json& json, const std::string& pointer = "");

// From and to text. Invalid UTF-8 becomes U+FFFD when writing and an error when reading.
std::string SnapshotToText(const Snapshot& snapshot);
Result<Snapshot> SnapshotFromText(std::string_view text);

}  // namespace gpuadvise
