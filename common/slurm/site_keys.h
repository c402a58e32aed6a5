// How the forecast treats a site's slurm.conf, key by key: the table behind `gpuadvise doctor
// --site` and docs/slurm-conf.md. Pure; safe from any thread.
//
// Contains the keys that affect when a job starts, in slurm.conf's words
// (https://slurm.schedmd.com/slurm.conf.html), not those that only affect how it runs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

enum class Treatment {
  kSimulated,     // the simulation behaves the same
  kApproximated,  // similar; `effect` states the difference
  kNotKnown,      // ignored; `effect` states the possible loss
};

// "simulated", "approximated", "not known".
std::string_view ToWords(Treatment treatment);

struct SiteKey {
  std::string_view place;  // "SchedulerParameters", "slurm.conf", "partition", …
  std::string_view key;
  Treatment treatment = Treatment::kSimulated;
  std::string_view effect;
  std::string (*value)(const Snapshot&) = nullptr;  // "": not set; null: a word of the place
};

// All keys, by place.
std::span<const SiteKey> SiteKeys();

struct SiteSetting {
  std::string place;
  std::string key;
  std::string value;  // as configured; "yes" for a word without a value
  Treatment treatment = Treatment::kSimulated;
  std::string effect;
};

// Settings of the snapshot's cluster, in table order, then words of SchedulerParameters missing in
// the table.
std::vector<SiteSetting> FindSiteSettings(const Snapshot& snapshot);

// The table for docs/slurm-conf.md.
std::string SiteKeysAsMarkdown();

}  // namespace gpuadvise
