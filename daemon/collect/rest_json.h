// slurmrestd's JSON (data_parser v0.0.40 and later), as values of the snapshot.
//
// Numbers come as {set, infinite, number}, flags as lists of words. What a version does not tell,
// or tells in another form, keeps the default: records without a name are left out and nothing here
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

// An answer's body. The cores of a job's sockets become how many of them it holds: they are most of
// the text. Errors: kUnavailable with where it is no JSON object.
Result<RestJson> ReadRestJson(std::string_view text);

// ---- single values, by the path of their keys ("priority/tier") --------------------------------

const RestJson* RestValue(const RestJson& object, std::string_view path);
SlurmNumber RestNumber(const RestJson& object, std::string_view path);
int64_t RestCount(const RestJson& object, std::string_view path, int64_t fallback = 0);
double RestReal(const RestJson& object, std::string_view path, double fallback = 0);
std::string RestText(const RestJson& object, std::string_view path);
// A list of words, or the words of one text between commas.
std::vector<std::string> RestList(const RestJson& object, std::string_view path);
// The list at `path`; an empty one where there is none.
const RestJson& RestTable(const RestJson& object, std::string_view path);
bool RestIsTrue(const RestJson& object, std::string_view path, bool fallback = false);
bool RestHasWord(const RestJson& object, std::string_view path, std::string_view word);

// ---- tables: what stands under "jobs", "nodes", … of an answer ---------------------------------

struct RestJobsContext {
  UnixSeconds now = 0;
  std::vector<Node> nodes;  // of this poll: threads of a core, GPUs
};
// Without those that have ended. What cannot be told right is said in `left_out`.
std::vector<Job> RestJobs(const RestJson& answer, const RestJobsContext& context,
                          LeftOut& left_out);
std::vector<Node> RestNodes(const RestJson& answer);
std::vector<Partition> RestPartitions(const RestJson& answer);
std::vector<Reservation> RestReservations(const RestJson& answer);
std::vector<License> RestLicenses(const RestJson& answer);

// The partitions that jobs name which asked for none; they are the default, where only one is.
std::string DefaultPartitionOf(const RestJson& jobs_answer);

}  // namespace gpuadvise::collect
