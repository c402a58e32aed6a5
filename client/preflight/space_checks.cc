// Checks that the checkpoints of a run fit on disk and into the caller's quota, and finds how many
// to keep or how often to save so that they do.
//
// A trainer writes the next checkpoint before it removes the oldest, so `keep` needs room for one
// more. Estimated sizes give warnings, never errors. Pure functions.
#include <fmt/format.h>

#include <algorithm>

#include "client/preflight/preflight.h"
#include "common/base/bytes.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

constexpr int64_t kFull = 1'000'000;  // bytes: not enough for a log
constexpr int64_t kEnoughCheckpoints = 5;

std::string Gb(int64_t bytes) { return FormatDecimalBytes({bytes}); }

// Space left for the output folder.
struct Room {
  int64_t bytes = 0;
  int64_t before_grace = 0;  // before the grace period of a soft quota starts
  std::string words;         // "/home has 22.8 GB free"
};

int64_t Left(int64_t limit, int64_t used) { return std::max<int64_t>(0, limit - used); }

Room FindRoom(const JobFacts& facts) {
  const PathFacts& folder = facts.output->found;
  const std::string place = folder.mount_point.empty() ? folder.path : folder.mount_point;
  const int64_t free = folder.space->free_bytes;
  Room room{free, free, fmt::format("{} has {} free", place, Gb(free))};
  if (!facts.quota) return room;
  const DiskQuota& quota = *facts.quota;
  const int64_t limit = quota.hard_bytes > 0 ? quota.hard_bytes : quota.soft_bytes;
  if (limit > 0 && Left(limit, quota.used_bytes) < room.bytes) {
    room.bytes = Left(limit, quota.used_bytes);
    room.words = fmt::format("your quota of {} on {} leaves {}", Gb(limit), place, Gb(room.bytes));
  }
  room.before_grace = room.bytes;
  if (quota.soft_bytes > 0) {
    room.before_grace = std::min(room.bytes, Left(quota.soft_bytes, quota.used_bytes));
  }
  return room;
}

// Maximum number of checkpoints on disk, with the reason; 0: unknown.
struct Count {
  int64_t most = 0;
  std::string words;
};

Count CountCheckpoints(const CheckpointPlan& plan) {
  const bool saves_known = plan.save_steps && plan.steps > 0;
  const int64_t saves = saves_known ? std::max<int64_t>(1, plan.steps / *plan.save_steps) : 0;
  if (plan.keep && (!saves_known || saves > *plan.keep)) {
    return {*plan.keep + 1, fmt::format("{} and one more while the next is written",
                                        Plural(*plan.keep, "checkpoint"))};
  }
  if (saves_known) {
    return {saves, fmt::format("{} ({} steps, one every {})", Plural(saves, "checkpoint"),
                               Grouped(plan.steps), Grouped(*plan.save_steps))};
  }
  return {};
}

double Needed(int64_t count, int64_t bytes) {
  return static_cast<double>(count) * static_cast<double>(bytes);
}

std::string SizeWords(const CheckpointPlan& plan) {
  if (plan.estimated_from.empty()) return Gb(*plan.bytes);
  return fmt::format("about {} ({})", Gb(*plan.bytes), plan.estimated_from);
}

std::string Remedy(const CheckpointPlan& plan, int64_t fitting) {
  std::vector<std::string> options;
  if (fitting >= 2) options.push_back(fmt::format("keep: {}", fitting - 1));
  if (fitting >= 1 && plan.steps > 0) {
    options.push_back(
        fmt::format("save_steps: {}", RoundInterval((plan.steps + fitting - 1) / fitting)) +
        (plan.keep ? " without keep" : ""));
  }
  std::string words;
  for (const std::string& option : options) words += option + ", or ";
  return words + "an output.dir with more room";
}

std::string RoomFor(int64_t fitting) {
  return fitting == 0 ? "no room for even one" : fmt::format("room for {}", fitting);
}

Check KnownCount(const CheckpointPlan& plan, const Count& count, const Room& room) {
  const double needed = Needed(count.most, *plan.bytes);
  const std::string what = fmt::format("{}, each {}, take {}", count.words, SizeWords(plan),
                                       Gb(static_cast<int64_t>(std::min(needed, 4e18))));
  if (needed <= static_cast<double>(room.before_grace)) {
    return {Health::kOk, "space", what + "; " + room.words};
  }
  if (needed <= static_cast<double>(room.bytes)) {
    return {Health::kWarning, "space",
            what +
                "; that is over your soft quota, which is allowed only during the grace period: " +
                Remedy(plan, room.before_grace / *plan.bytes)};
  }
  const int64_t fitting = room.bytes / *plan.bytes;
  const Health health = plan.estimated_from.empty() ? Health::kError : Health::kWarning;
  return {
      health, "space",
      fmt::format("{}, but {}, {}: {}", what, room.words, RoomFor(fitting), Remedy(plan, fitting))};
}

Check UnknownCount(const CheckpointPlan& plan, const Room& room) {
  const int64_t fitting = room.bytes / *plan.bytes;
  const std::string what =
      fmt::format("a checkpoint is {}; {}, {}", SizeWords(plan), room.words, RoomFor(fitting));
  if (fitting >= kEnoughCheckpoints) return {Health::kOk, "space", what};
  const bool sure = plan.estimated_from.empty() && fitting == 0;
  return {sure ? Health::kError : Health::kWarning, "space", what + ": " + Remedy(plan, fitting)};
}

}  // namespace

int64_t RoundInterval(int64_t steps) {
  int64_t unit = 1;
  while (steps / unit >= 100) unit *= 10;
  return (steps + unit - 1) / unit * unit;
}

std::vector<Check> SpaceChecks(const JobFacts& facts) {
  if (!facts.output || !facts.output->found.space) return {};
  const DiskSpace& disk = *facts.output->found.space;
  const Room room = FindRoom(facts);
  if (disk.no_inodes || room.bytes < kFull) {
    return {
        {Health::kError, "space",
         disk.no_inodes
             ? facts.output->found.mount_point + " has no inodes left; remove some files"
             : room.words + ": not even a log fits; free some space, or use another output.dir"}};
  }
  const CheckpointPlan& plan = facts.checkpoints;
  if (!plan.bytes || *plan.bytes <= 0) {
    return {{Health::kOk, "space",
             room.words + "; the checkpoint size is not known (set output.checkpoint: 7 GB)"}};
  }
  const Count count = CountCheckpoints(plan);
  return {count.most > 0 ? KnownCount(plan, count, room) : UnknownCount(plan, room)};
}

std::vector<Check> QuotaChecks(const JobFacts& facts) {
  if (!facts.quota_trouble.empty()) {
    return {{Health::kWarning, "quota", facts.quota_trouble + ": quotas are not checked"}};
  }
  if (!facts.quota_asked) return {};
  if (!facts.quota) {
    return {{Health::kOk, "quota", "`quota` lists none for the output folder's file system"}};
  }
  const DiskQuota& quota = *facts.quota;
  const int64_t limit = quota.hard_bytes > 0 ? quota.hard_bytes : quota.soft_bytes;
  const std::string used =
      limit > 0
          ? fmt::format("{} of {} used on {}", Gb(quota.used_bytes), Gb(limit), quota.file_system)
          : fmt::format("{} used on {}, no limit", Gb(quota.used_bytes), quota.file_system);
  if (limit > 0 && quota.used_bytes >= limit) {
    return {{Health::kError, "quota", used + ": full; free some space"}};
  }
  if (quota.hard_files > 0 && quota.used_files >= quota.hard_files) {
    return {{Health::kError, "quota",
             fmt::format("{} of {} files on {}: file limit reached; remove some",
                         Grouped(quota.used_files), Grouped(quota.hard_files), quota.file_system)}};
  }
  if (quota.soft_bytes > 0 && quota.used_bytes > quota.soft_bytes) {
    return {{Health::kWarning, "quota",
             used + ": over the soft quota, allowed only during the grace period"}};
  }
  return {{Health::kOk, "quota", used}};
}

}  // namespace gpuadvise::client
