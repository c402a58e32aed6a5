#include "common/scheduler/licence_caps.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/base/words.h"

namespace gpuadvise {
namespace {

bool HasBegun(const Reservation& reservation, UnixSeconds now) {
  return reservation.start_time.value_or(now) <= now &&
         reservation.end_time.value_or(now + 1) > now;
}

}  // namespace

const License* FindLicence(const SchedulerConfig& config, const std::string& name) {
  const License* at_a_server = nullptr;
  for (const License& licence : config.licenses) {
    if (licence.name == name) return &licence;
    if (licence.name.starts_with(name + "@")) at_a_server = &licence;
  }
  return at_a_server;
}

LicenceCaps::LicenceCaps(const Snapshot& snapshot, UsageLimits& limits) {
  const SchedulerConfig& config = snapshot.config;
  std::map<std::string, int64_t> seen;  // used by running jobs in the snapshot
  for (const Job& job : snapshot.jobs) {
    if (!HoldsNodes(job)) continue;
    for (const auto& [name, count] : job.request.licenses) {
      if (const License* licence = FindLicence(config, name)) seen[licence->name] += count;
    }
  }
  std::map<std::string, int64_t> visible;  // set aside by reservations in the snapshot
  for (const Reservation& reservation : snapshot.reservations) {
    if (!HasBegun(reservation, snapshot.taken_at)) continue;
    for (const auto& [name, count] : reservation.licenses) {
      if (const License* licence = FindLicence(config, name)) visible[licence->name] += count;
    }
  }
  for (const License& licence : config.licenses) {
    const int64_t unseen = std::max<int64_t>(licence.used - seen[licence.name], 0) +
                           std::max<int64_t>(licence.reserved - visible[licence.name], 0);
    const int64_t most = std::max<int64_t>(licence.total - unseen, 0);
    pools_[{"", licence.name}] = {limits.AddCap(most, "licence " + licence.name), licence.total};
  }
  for (const Reservation& reservation : snapshot.reservations) {
    for (const auto& [name, count] : reservation.licenses) {
      const License* licence = FindLicence(config, name);
      if (licence == nullptr) continue;
      const std::string words =
          fmt::format("licence {} of reservation {}", licence->name, reservation.name);
      pools_[{reservation.name, licence->name}] = {limits.AddCap(count, words), count};
      if (!HasBegun(reservation, snapshot.taken_at)) continue;
      const int64_t until =
          reservation.end_time ? *reservation.end_time - snapshot.taken_at : kNever;
      aside_.push_back({{pools_[{"", licence->name}].cap, count}, until});
    }
  }
}

const LicenceCaps::Pool* LicenceCaps::Find(const std::string& reservation,
                                           const std::string& name) const {
  const std::vector<std::string> places = reservation.empty()
                                              ? std::vector<std::string>{""}
                                              : std::vector<std::string>{reservation, ""};
  for (const std::string& place : places) {
    const auto found = pools_.lower_bound({place, name});
    if (found == pools_.end() || found->first.first != place) continue;
    const std::string& there = found->first.second;
    if (there == name || there.starts_with(name + "@")) return &found->second;
  }
  return nullptr;
}

CapUses LicenceCaps::Count(const JobRequest& request) const {
  CapUses uses;
  const Pool* largest = nullptr;
  for (const auto& [name, count] : request.licenses) {
    const Pool* pool = Find(request.reservation, name);
    if (pool == nullptr || count <= 0) continue;
    if (!request.any_license || largest == nullptr) uses.push_back({pool->cap, count});
    if (request.any_license && largest != nullptr && pool->total > largest->total) {
      uses.front() = {pool->cap, count};
    }
    if (largest == nullptr || pool->total > largest->total) largest = pool;
  }
  return uses;
}

Result<void> LicenceCaps::Check(const JobRequest& request) const {
  if (pools_.empty() || request.licenses.empty()) return {};
  std::string why;
  for (const auto& [name, count] : request.licenses) {
    const Pool* pool = Find("", name);
    if (pool != nullptr && count <= pool->total) {
      if (request.any_license) return {};
      continue;
    }
    if (pool != nullptr) {
      why = fmt::format("the cluster has {} of licence {}, this job needs {}", pool->total, name,
                        count);
    } else {
      std::vector<std::string> names;
      for (const auto& [key, each] : pools_) {
        if (key.first.empty()) names.push_back(key.second);
      }
      why = fmt::format("there is no licence {}{}; there are {}", Quoted(name),
                        DidYouMean(name, names), JoinNames(names));
    }
    if (!request.any_license) break;
  }
  if (why.empty()) return {};
  return Fail(ErrorCode::kInfeasible, why);
}

}  // namespace gpuadvise
