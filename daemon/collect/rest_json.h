// Reads slurmrestd's JSON (data_parser v0.0.40 and later) into values of the snapshot.
//
// Numbers come as {set, infinite, number}, flags as lists of words. A field that a version lacks or
// writes in another form keeps its default; records without a name are left out; nothing here
// fails. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/slurm_number.h"
#include "common/slurm/snapshot.h"
#include "common/slurm/snapshot_order.h"

namespace gpuadvise::collect {

using RestJson = nlohmann::json;

// Parses the body of an answer. Replaces the list of cores in each socket of a job, the bulk of the
// text, by the number allocated. Errors: kUnavailable with the position if not a JSON object.
Result<RestJson> ReadRestJson(std::string_view text);

// ---- single values, by the path of their keys ("priority/tier") --------------------------------

const RestJson* RestValue(const RestJson& object, std::string_view path);
SlurmNumber RestNumber(const RestJson& object, std::string_view path);
int64_t RestCount(const RestJson& object, std::string_view path, int64_t fallback = 0);
double RestReal(const RestJson& object, std::string_view path, double fallback = 0);
std::string RestText(const RestJson& object, std::string_view path);
// A list of words, or a comma-separated string.
std::vector<std::string> RestList(const RestJson& object, std::string_view path);
// The list at `path`; empty if absent.
const RestJson& RestTable(const RestJson& object, std::string_view path);
bool RestIsTrue(const RestJson& object, std::string_view path, bool fallback = false);
bool RestHasWord(const RestJson& object, std::string_view path, std::string_view word);

// ---- tables: "jobs", "nodes", … of an answer ---------------------------------------------------

struct RestJobsContext {
  UnixSeconds now = 0;
  std::vector<Node> nodes;  // of this poll; for threads per core and GPUs
};
// Jobs that have not ended. Adds those that cannot be represented correctly to `left_out`.
std::vector<Job> RestJobs(const RestJson& answer, const RestJobsContext& context,
                          LeftOut& left_out);
std::vector<Node> RestNodes(const RestJson& answer);
std::vector<Partition> RestPartitions(const RestJson& answer);
std::vector<Reservation> RestReservations(const RestJson& answer);
std::vector<License> RestLicenses(const RestJson& answer);

// The partition of jobs that requested none; "" unless there is exactly one.
std::string DefaultPartitionOf(const RestJson& jobs_answer);

}  // namespace gpuadvise::collect
