// Which limits would have been enough, by groups of a user's runs, and the whole in sentences. What
// they would have saved is played in limit_replay.cc.
#include "common/forecast/past_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "common/base/slurm_time.h"
#include "common/base/statistics.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/forecast/limit_advice.h"

namespace gpuadvise {
namespace {

constexpr int64_t kLongestNeed = 365 * kDaySeconds;  // of a run that was cut off
constexpr double kShorterBy = 0.9;                   // a limit hardly shorter is none

double RunOf(const JobRecord& job) { return static_cast<double>(*job.end - *job.start); }

double LimitOf(const JobRecord& job) { return static_cast<double>(job.limit_seconds.value()); }

// Whether its run time says how long a run takes; of one that was cut, at least how long.
bool IsWhole(const JobRecord& job) {
  const std::string& state = job.state;
  return state.empty() || state.starts_with("COMPLETED") || state.starts_with("TIMEOUT") ||
         state.starts_with("RUNNING");
}

using PastRuns = std::vector<const JobRecord*>;
using GroupKey = std::tuple<std::string, std::string, std::string>;  // name, partition, GPU

size_t WholeRuns(const PastRuns& runs) {
  return static_cast<size_t>(
      std::count_if(runs.begin(), runs.end(), [](const JobRecord* run) { return IsWhole(*run); }));
}

// By name and partition; names of few runs together by partition and GPU type.
std::map<GroupKey, PastRuns> GroupsOf(const std::vector<JobRecord>& own) {
  std::map<GroupKey, PastRuns> named, groups;
  for (const JobRecord& job : own) {
    if (HasRun(job)) named[{NameStem(job.name), job.partition, ""}].push_back(&job);
  }
  for (auto& [key, runs] : named) {
    if (!std::get<0>(key).empty() && WholeRuns(runs) >= kFewestRunsOfGroup) {
      groups[key] = std::move(runs);
      continue;
    }
    for (const JobRecord* run : runs) groups[{"", run->partition, run->gpu}].push_back(run);
  }
  return groups;
}

// The limit that kSufficientShare of `needed`, ascending, stay under.
std::optional<int64_t> EnoughFor(const std::vector<int64_t>& needed, int64_t usual_limit) {
  if (needed.size() < kFewestRunsOfGroup) return std::nullopt;
  const auto whole =
      static_cast<size_t>(std::ceil(kSufficientShare * static_cast<double>(needed.size()) - 1e-9));
  const int64_t limit = LimitThatPeopleWrite(static_cast<double>(needed[whole - 1]));
  if (static_cast<double>(limit) > kShorterBy * static_cast<double>(usual_limit)) {
    return std::nullopt;
  }
  return limit;
}

PastLimitGroup GroupOf(const GroupKey& key, const PastRuns& runs) {
  PastLimitGroup group;
  std::tie(group.name, group.partition, group.gpu) = key;
  std::vector<double> limits, ran;
  std::vector<int64_t> needed;
  for (const JobRecord* run : runs) {
    ++group.jobs;
    group.asked_seconds += LimitOf(*run);
    group.used_seconds += RunOf(*run);
    limits.push_back(LimitOf(*run));
    if (!IsWhole(*run)) {
      ++group.failed;
      continue;
    }
    const int64_t seconds = *run->end - *run->start;
    ran.push_back(RunOf(*run));
    // One that was cut needed more than its limit, nobody knows how much.
    const bool cut = seconds >= run->limit_seconds.value();
    needed.push_back(cut ? kLongestNeed : seconds);
  }
  group.usual_limit = std::llround(UpperMedianOf(limits));
  group.run_p50 = std::llround(UpperMedianOf(ran));
  group.longest = ran.empty() ? 0 : std::llround(*std::max_element(ran.begin(), ran.end()));
  std::sort(needed.begin(), needed.end());
  group.limit = EnoughFor(needed, group.usual_limit);
  if (!group.limit) return group;
  for (const JobRecord* run : runs) {
    const int64_t limit = *group.limit;
    const bool cut = limit < run->limit_seconds.value() && RunOf(*run) > static_cast<double>(limit);
    group.cut += cut ? 1 : 0;
  }
  return group;
}

}  // namespace

bool HasRun(const JobRecord& job) {
  return job.start && job.end && *job.end >= *job.start && job.limit_seconds.has_value() &&
         job.limit_seconds.value() > 0;
}

std::string NameStem(const std::string& name) {
  size_t end = name.size();
  while (end > 0 && (IsDigit(name[end - 1]) || name[end - 1] == '-' || name[end - 1] == '_' ||
                     name[end - 1] == '.')) {
    --end;
  }
  return end == 0 ? name : name.substr(0, end);
}

PastLimits ReviewLimits(const std::vector<JobRecord>& own) {
  PastLimits review;
  for (const auto& [key, runs] : GroupsOf(own)) {
    review.groups.push_back(GroupOf(key, runs));
    for (const JobRecord* run : runs) {
      const auto gpus = static_cast<double>(run->gpus);
      ++review.jobs;
      review.asked_seconds += LimitOf(*run);
      review.used_seconds += RunOf(*run);
      review.asked_gpu_seconds += gpus * LimitOf(*run);
      review.used_gpu_seconds += gpus * RunOf(*run);
    }
  }
  const auto unused = [](const PastLimitGroup& group) {
    return group.asked_seconds - group.used_seconds;
  };
  std::stable_sort(
      review.groups.begin(), review.groups.end(),
      [&](const PastLimitGroup& a, const PastLimitGroup& b) { return unused(a) > unused(b); });
  return review;
}

namespace {

std::string SharePercent(double share) {
  return share < 0.095 ? fmt::format("{:.1f} %", 100 * share)
                       : fmt::format("{:.0f} %", 100 * share);
}

// Hours of many jobs: "31 h", "0.4 h".
std::string HoursInWords(double seconds) {
  const double hours = seconds / kHourSeconds;
  return std::abs(hours) < 9.95 ? fmt::format("{:.1f} h", hours) : fmt::format("{:.0f} h", hours);
}

std::string SavedInWords(const LimitReplay& replay) {
  const double saved = replay.saved();
  const double worth =
      std::max(0.02 * replay.own_wait, 60.0 * static_cast<double>(replay.own_jobs));
  if (std::abs(saved) < worth) {
    return "With the limits below they would have waited about as long.";
  }
  std::string words = fmt::format("With the limits below they would have waited {} {}",
                                  HoursInWords(std::abs(saved)), saved > 0 ? "less" : "more");
  if (replay.saved_high - replay.saved_low > 0.2 * std::abs(saved)) {
    const double low = saved > 0 ? replay.saved_low : -replay.saved_high;
    const double high = saved > 0 ? replay.saved_high : -replay.saved_low;
    words += fmt::format(" (from {} to {})", HoursInWords(low), HoursInWords(high));
  }
  words +=
      fmt::format(": {} instead of {}.", HoursInWords(replay.wait), HoursInWords(replay.own_wait));
  return words;
}

}  // namespace

std::vector<std::string> InWords(const PastLimits& review, UnixSeconds now) {
  std::vector<std::string> words;
  if (review.jobs == 0) return {"No job with a time limit ended in that period."};
  words.push_back(
      fmt::format("{} used {} of the requested time: {} of {}.",
                  review.jobs == 1 ? "1 job" : fmt::format("{} jobs", Grouped(review.jobs)),
                  SharePercent(review.used_seconds / review.asked_seconds),
                  HoursInWords(review.used_seconds), HoursInWords(review.asked_seconds)));
  if (!review.replay) {
    words.push_back("The savings of shorter limits are not known: " + review.no_replay + ".");
    return words;
  }
  const LimitReplay& replay = *review.replay;
  words.push_back(SavedInWords(replay));
  if (replay.cut > 0) {
    words.push_back(fmt::format(
        "{} of {} would have been cut off and repeated, {} of them in vain.", replay.cut,
        Plural(replay.own_jobs, "run"), HoursInWords(replay.redone_seconds)));
  } else {
    words.push_back("No run would have been cut off.");
  }
  words.push_back(fmt::format(
      "Method: {} of all users since {} ago, replayed through the simulated scheduler with the "
      "limits that {} of these jobs had and again with the shorter ones. They actually waited {}.",
      Plural(replay.all_jobs, "job"), DurationInWords(static_cast<double>(now - replay.from)),
      Grouped(replay.own_jobs), HoursInWords(replay.recorded_wait)));
  return words;
}

}  // namespace gpuadvise
