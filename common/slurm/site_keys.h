// What the forecast makes of a site's slurm.conf, key by key: the one table behind
// `gpuadvise doctor --site` and docs/slurm-conf.md. Pure; safe from any thread.
//
// Keys are those that change when a job starts, in slurm.conf's words
// (https://slurm.schedmd.com/slurm.conf.html). What only changes how a job runs is not here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

enum class Treatment {
  kPlayed,        // the simulation does the same
  kApproximated,  // it does something near; `effect` says what differs
  kNotKnown,      // it does nothing; `effect` says what that may cost
};

// "played", "approximated", "not known".
std::string_view ToWords(Treatment treatment);

struct SiteKey {
  std::string_view place;  // "SchedulerParameters", "slurm.conf", "partition", …
  std::string_view key;
  Treatment treatment = Treatment::kPlayed;
  std::string_view effect;
  std::string (*value)(const Snapshot&) = nullptr;  // "": not set; null: a word of the place
};

// All keys, by place.
std::span<const SiteKey> SiteKeys();

struct SiteSetting {
  std::string place;
  std::string key;
  std::string value;  // as configured; "yes" for a word without a value
  Treatment treatment = Treatment::kPlayed;
  std::string effect;
};

// What the snapshot's cluster has set, in the order of the table; then words of
// SchedulerParameters that the table does not have.
std::vector<SiteSetting> SettingsOf(const Snapshot& snapshot);

// The table as docs/slurm-conf.md has it.
std::string SiteKeysAsMarkdown();

}  // namespace gpuadvise
