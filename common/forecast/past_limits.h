// What shorter time limits would have been worth: a user's ended jobs in groups of a kind, the
// limit that 95 % of each group would have stayed under, and the waiting that it would have saved.
// See limit_replay.cc for the method. Pure; times are unix seconds, durations seconds.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/history/forecast_history.h"
#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Of a group so many runs that did not fail, at least, for a limit to be said.
inline constexpr size_t kFewestRunsOfGroup = 5;
// The share of them that the limit leaves whole.
inline constexpr double kSufficientShare = 0.95;
// Jobs of everybody that one review plays at most; what that costs is in limit_replay.cc.
inline constexpr size_t kMostReplayedJobs = 3'000;

// A user's runs of one name and partition; or of one partition and GPU type, where each name has
// few.
struct PastLimitGroup {
  std::string name;  // without the digits at its end; "": of several names
  std::string partition;
  std::string gpu;           // GRES type; "" none, untyped, or several
  int64_t jobs = 0;          // that ran and had a limit
  int64_t failed = 0;        // of those: ended by a failure or by their user; their run time says
                             // nothing of what a whole run needs
  int64_t usual_limit = 0;   // median of their limits
  int64_t run_p50 = 0;       // of those that did not fail
  int64_t longest = 0;       // of those that did not fail
  double asked_seconds = 0;  // sum of the limits
  double used_seconds = 0;   // sum of the run times
  std::optional<int64_t> limit;         // what would have been enough; nullopt: too few runs, or
                                        // nothing shorter would
  int64_t cut = 0;                      // runs that it would have cut off
  int64_t replayed = 0;                 // jobs of the group in the replay
  std::optional<double> saved_seconds;  // of their waits; < 0: more; nullopt: not replayed
};

// The recorded days played twice: with the limits that jobs had, and with those of the groups.
struct LimitReplay {
  UnixSeconds from = 0, until = 0;
  int64_t spans = 0;         // half days with jobs of the user, each played by itself
  int64_t all_jobs = 0;      // of everybody
  int64_t own_jobs = 0;      // of the user, whose waits are summed up
  double recorded_wait = 0;  // sums over own_jobs: what they really waited,
  double own_wait = 0;       // played with their own limits,
  double wait = 0;           // played with the groups' limits, the second wait of cut ones too
  double saved_low = 0, saved_high = 0;  // the least and most of all pairs of plays
  int64_t cut = 0;                       // runs that were cut off and played again
  double redone_seconds = 0;             // that those ran in vain
  double saved() const { return own_wait - wait; }
};

struct PastLimits {
  int64_t jobs = 0;  // of the user, that ran, have ended and had a limit
  double asked_seconds = 0, used_seconds = 0;
  double asked_gpu_seconds = 0, used_gpu_seconds = 0;
  std::vector<PastLimitGroup> groups;  // most unused time first
  std::optional<LimitReplay> replay;
  std::string no_replay;  // why there is none; "" there is one
};

// Whether a job ran, has ended and had a limit: others are in no group.
bool HasRun(const JobRecord& job);

// A job's name without the digits and marks at its end: "train" of "train-12". All of it where
// there is nothing else.
std::string NameStem(const std::string& name);

// The groups of `own`, records of one user, without a replay.
PastLimits ReviewLimits(const std::vector<JobRecord>& own);

struct ReplayQuestion {
  const Snapshot& snapshot;          // the cluster as it is now; its jobs are not looked at
  const std::vector<PastJob>& jobs;  // of everybody, who ran at some time of the days to play
  UnixSeconds from = 0;              // all of those who ran after it are in `jobs`
  std::string user;                  // whose limits are shortened
  std::function<bool()> stop;        // asked between two plays; null: never
};

// Plays the days after question.from and puts what came into `review`: replay, and saved_seconds of
// its groups; or why not.
void ReplayLimits(const ReplayQuestion& question, PastLimits& review);

// From when on the days are played: the first of `own` on.
std::optional<UnixSeconds> ReplayFrom(const std::vector<JobRecord>& own);

// The review in two or three sentences.
std::vector<std::string> InWords(const PastLimits& review, UnixSeconds now);

}  // namespace gpuadvise
