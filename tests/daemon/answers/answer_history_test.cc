#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "daemon/answers/views.h"
#include "tests/common/history/past_job_gen.h"
#include "tests/common/history/usage_model.h"
#include "tests/common/history/wall_clocks.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

constexpr const char* kCluster = "node n[1-2] a100:4\nnode m1 l40s:2\n";
// kSnapshotTime is a Monday, 14:13:20 UTC, 15:13:20 on the wall.
constexpr UnixSeconds kHour = kSnapshotTime / kHourSeconds * kHourSeconds;

PastJob JobOf(int64_t id, const std::string& gpu, int64_t gpus, UnixSeconds eligible,
              std::optional<UnixSeconds> start, std::optional<UnixSeconds> end) {
  PastJob job;
  job.record.id = id;
  job.record.submit = eligible;
  job.record.eligible = eligible;
  job.record.start = start;
  job.record.end = end;
  job.record.gpu = gpu;
  job.record.gpus = gpus;
  return job;
}

struct World {
  Snapshot snapshot = SnapshotOf(kCluster);
  UsageHistory history;

  explicit World(const std::vector<PastJob>& jobs = {}) {
    history.Advance(snapshot.taken_at);
    for (const PastJob& job : jobs) history.Tell(job);
  }

  World& WatchedSince(UnixSeconds since) {
    history.WatchedSince(since);
    return *this;
  }

  Result<json> Try(const HistoryQuestion& question, const LocalTime& local = OneHourEast) const {
    return AnswerHistory(question, history, snapshot, ShippedGpus(), local);
  }
  json Ask(const HistoryQuestion& question = {}, const LocalTime& local = OneHourEast) const {
    const Result<json> answer = Try(question, local);
    return answer ? *answer : json{{"error", answer.error().message}};
  }
};

const json& HeatAt(const json& answer, size_t weekday, size_t hour) {
  return answer["heat"][weekday * 24 + hour];
}

json NamesIn(const json& answer) {
  json names = json::array();
  for (const json& row : answer["gpus"]) names.push_back(row["gpu_name"]);
  return names;
}

TEST(AnswerHistory, WithoutAnyJobNothingIsKnownAndItSaysSo) {
  const json answer = World().Ask();
  EXPECT_EQ(answer["since"], nullptr);
  EXPECT_EQ(answer["until"], kSnapshotTime);
  EXPECT_EQ(answer["time_zone"], "CET");
  EXPECT_EQ(answer["utc_offset_seconds"], 3'600);
  ASSERT_EQ(answer["heat"].size(), 168u);
  EXPECT_EQ(answer["heat"][167], (json{{"weekday", 6},
                                       {"hour", 23},
                                       {"jobs", 0},
                                       {"wait_p50_seconds", nullptr},
                                       {"wait_p90_seconds", nullptr},
                                       {"use", nullptr},
                                       {"queue", nullptr}}));
  EXPECT_EQ(answer["by_week"], json::array());
  EXPECT_EQ(answer["series"], json::array());
  EXPECT_EQ(answer["note"], "nothing is known yet: no job with GPUs has been seen");
  EXPECT_EQ(answer["gpus"][0], (json{{"gpu", "a100-40gb-sxm"},
                                     {"gpu_name", "A100 40GB SXM"},
                                     {"total", 8},
                                     {"last_day", json::array()}}));
}

TEST(AnswerHistory, EachTypeHasItsUseByHourOfTheLastDayAsFarAsItIsKnown) {
  World world({JobOf(1, "a100", 4, kHour - 90 * 3'600, kHour - 90 * 3'600, kHour - 3'600),
               JobOf(2, "l40s", 1, kHour - 5'400, kHour - 5'400, std::nullopt)});
  world.WatchedSince(kHour - 3 * 3'600);
  const json young = world.Ask();
  EXPECT_EQ(young["gpus"][0]["last_day"], (json{.5, .5, 0.0, 0.0}));
  EXPECT_EQ(young["gpus"][1]["last_day"], (json{0.0, .25, .5, .5}));
  world.WatchedSince(kHour - 90 * 3'600);
  EXPECT_EQ(world.Ask({.weeks = 1})["gpus"][0]["last_day"].size(), 24u);
}

TEST(AnswerHistory, AnHourOfTheWeekHasItsWaitsItsUseAndItsQueue) {
  // From 13:00 on the wall an hour of waiting; then 4 of 8 GPUs for half an hour.
  const World world({JobOf(1, "a100", 4, kHour - 7'200, kHour - 3'600, kHour - 1'800)});
  const json answer = world.Ask({.gpu = "a100-40gb-sxm"});
  EXPECT_EQ(answer["since"], kHour - 7'200);
  EXPECT_EQ(HeatAt(answer, 0, 13)["jobs"], 1);
  EXPECT_NEAR(HeatAt(answer, 0, 13)["wait_p50_seconds"].get<double>(), 3'600, 360);
  EXPECT_EQ(HeatAt(answer, 0, 13)["use"], nullptr);  // nobody watched then
  EXPECT_EQ(HeatAt(answer, 0, 14)["use"], 0.25);
  EXPECT_EQ(HeatAt(answer, 0, 14)["queue"], 0);
  EXPECT_EQ(HeatAt(answer, 0, 15)["use"], 0);
  EXPECT_EQ(HeatAt(answer, 0, 16)["use"], nullptr);
  EXPECT_EQ(answer["note"],
            "1 job with GPUs started within the last 2 h 13; use and queue are known for the last "
            "43 m");
}

TEST(AnswerHistory, WhatIsWatchedIsKnownFromThenOn) {
  World world({JobOf(1, "a100", 4, kHour - 7'200, std::nullopt, std::nullopt)});
  EXPECT_EQ(HeatAt(world.Ask(), 0, 15)["queue"], nullptr);
  EXPECT_EQ(world.Ask()["note"],
            "0 jobs with GPUs started within the last 2 h 13; use and queue are not known yet");
  const json answer = world.WatchedSince(kHour - 4'000).Ask();
  EXPECT_EQ(HeatAt(answer, 0, 13)["queue"], 1);
  EXPECT_EQ(HeatAt(answer, 0, 15)["queue"], 1);
  EXPECT_EQ(answer["series"].size(), 3u);
  EXPECT_EQ(answer["series"][2], (json{{"time", kHour},
                                       {"seconds", 3'600},
                                       {"pending", 1.0},
                                       {"pending_gpus", 4.0},
                                       {"busy_gpus", 0.0}}));
}

TEST(AnswerHistory, GpusTogetherAndOneTypeAlone) {
  World world({JobOf(1, "a100", 8, kHour - 3'600, kHour - 3'600, kHour),
               JobOf(2, "l40s", 1, kHour - 3'600, kHour - 3'600, kHour)});
  world.WatchedSince(kHour - 3'600);
  EXPECT_EQ(HeatAt(world.Ask(), 0, 14)["use"], 0.9);
  EXPECT_EQ(HeatAt(world.Ask({.gpu = "l40s"}), 0, 14)["use"], 0.5);
  EXPECT_EQ(world.Ask({.gpu = "l40s"})["by_week"], world.Ask()["by_week"]);
  const json weeks = world.Ask()["by_week"];
  ASSERT_EQ(weeks.size(), 2u);
  EXPECT_EQ(weeks[0]["gpu"], "a100-40gb-sxm");
  EXPECT_EQ(weeks[1]["gpu"], "l40s");
  EXPECT_EQ(weeks[0]["week_start"], OneHourEast(kHour).week_start);
  EXPECT_EQ(weeks[0]["jobs"], 1);
}

TEST(AnswerHistory, GpusThatAreGoneAreShownButAreNoUseOfThoseThatAreThere) {
  World world({JobOf(1, "v100", 8, kHour - 3'600, kHour - 3'600, kHour),
               JobOf(2, "l40s", 1, kHour - 3'600, kHour - 3'600, kHour)});
  world.WatchedSince(kHour - 3'600);
  const json answer = world.Ask();
  EXPECT_EQ(HeatAt(answer, 0, 14)["use"], 0.1);
  EXPECT_EQ(answer["series"][0]["busy_gpus"], 9.0);
  EXPECT_EQ(NamesIn(answer), (json{"A100 40GB SXM", "L40S", "v100"}));
  EXPECT_EQ(HeatAt(world.Ask({.gpu = "v100"}), 0, 14)["use"], nullptr);
}

TEST(AnswerHistory, UntypedRequestsAreOfTheOnlyTypeOrOfAnyType) {
  World world({JobOf(1, "", 2, kHour - 3'600, kHour - 3'600, kHour)});
  world.WatchedSince(kHour - 3'600);
  EXPECT_EQ(NamesIn(world.Ask()), (json{"A100 40GB SXM", "untyped GPU", "L40S"}));
  EXPECT_EQ(HeatAt(world.Ask(), 0, 14)["use"], 0.2);
  world.snapshot = SnapshotOf("node n1 l40s:4\n");
  EXPECT_EQ(NamesIn(world.Ask()), (json{"L40S"}));
  EXPECT_EQ(HeatAt(world.Ask({.gpu = "l40s"}), 0, 14)["use"], 0.5);
}

TEST(AnswerHistory, HiddenPartitionsAreNotToldToWhomNobodyKnows) {
  World world({JobOf(1, "l40s", 1, kHour - 3'600, kHour - 3'600, kHour)});
  world.snapshot = SnapshotOf(std::string(kCluster) + "partition all n[1-2]\npartition own m1\n");
  for (Partition& partition : world.snapshot.partitions) partition.hidden = partition.name == "own";
  EXPECT_EQ(NamesIn(world.Ask()), (json{"A100 40GB SXM", "L40S"}));
  const json answer = world.Ask({.anonymous = true});
  EXPECT_EQ(NamesIn(answer), (json{"A100 40GB SXM"}));
  EXPECT_EQ(answer.dump().find("l40s"), std::string::npos);
  EXPECT_EQ(answer["since"], nullptr);
  EXPECT_EQ(world.Ask({.gpu = "l40s", .anonymous = true})["error"],
            "gpu is 'l40s'; the history has a100-40gb-sxm");
}

TEST(AnswerHistory, AWeekThatTheQuestionCutsIsLeftOut) {
  constexpr int64_t kWeek = 7 * 86'400;
  const World world({JobOf(1, "l40s", 1, kHour - 9 * kWeek, kHour - 9 * kWeek, kHour)});
  EXPECT_EQ(world.Ask({.weeks = 2})["by_week"].size(), 2 * 2u);
  EXPECT_EQ(world.Ask({.weeks = 1})["since"], kHour - kWeek + 3'600);
  const json all = world.Ask({.weeks = 57});
  EXPECT_EQ(all["by_week"].size(), 10 * 2u);
  EXPECT_EQ(all["since"], kHour - 9 * kWeek);
}

TEST(AnswerHistory, WhereClocksGoBackTheWeekIsAnHourLonger) {
  constexpr UnixSeconds kBegin = kClocksGoBack - 7 * 86'400;
  World world;
  world.snapshot.taken_at = kClocksGoBack + 2 * 86'400;
  world.history.Advance(world.snapshot.taken_at);
  world.history.Tell(JobOf(1, "l40s", 2, kBegin, kBegin, std::nullopt));
  const json answer = world.WatchedSince(kBegin).Ask({.gpu = "l40s"}, WithSummer);
  EXPECT_EQ(answer["time_zone"], "CET");
  std::vector<UnixSeconds> starts;
  for (const json& week : answer["by_week"]) {
    if (week["gpu"] == "l40s") starts.push_back(week["week_start"]);
  }
  ASSERT_EQ(starts.size(), 3u);
  EXPECT_EQ(starts[1] - starts[0], 7 * 86'400);
  EXPECT_EQ(starts[2] - starts[1], 7 * 86'400 + 3'600);
  for (const json& hour : answer["heat"]) EXPECT_EQ(hour["use"], 1.0) << hour;
}

TEST(AnswerHistory, WhyNothingIsKeptIsSaid) {
  const World world({JobOf(1, "l40s", 1, kHour - 3'600, kHour - 3'600, kHour)});
  EXPECT_NE(world.Ask({.not_kept = "state_dir lies on NFS"})["note"].get<std::string>().find(
                "; none of it is kept when gpuadvised stops: state_dir lies on NFS"),
            std::string::npos);
}

// `value` as the answer rounds it; of no time nothing is known.
json Rounded(double sum, double over) {
  if (over <= 0) return nullptr;
  return std::round(1'000 * sum / over) / 1'000;
}

bool IsNear(const json& a, const json& b) {
  if (a.is_null() || b.is_null()) return a.is_null() == b.is_null();
  return std::abs(a.get<double>() - b.get<double>()) <= 0.0011;
}

// What the model has of the hours that `key` names.
struct ModelSum {
  Usage seconds;
  double known = 0;
  std::vector<int64_t> waits;
};

// The heat map, the weeks and the series are what the jobs add up to, hour by hour.
RC_GTEST_PROP(AnswerHistory, IsWhatTheJobsAddUpTo, ()) {
  constexpr int64_t kSpan = 20 * 86'400;
  const UnixSeconds now = kClocksGoBack + *rc::gen::inRange<int64_t>(-kSpan, kSpan);
  World world;
  world.snapshot.taken_at = now;
  world.history.Advance(now);
  const UnixSeconds watched = now - *rc::gen::inRange<int64_t>(0, kSpan);
  world.history.WatchedSince(watched);
  UsageModel model;
  for (int i = *rc::gen::inRange(1, 15); i > 0; --i) {
    PastJob job = AnyPastJob(std::max(now - kSpan, watched), now);
    job.record.gpu = "l40s";
    world.history.Tell(job);
    model.Tell(job);
  }
  const HistoryQuestion question{.weeks = *rc::gen::inRange<int64_t>(1, 58), .gpu = "l40s"};
  const json answer = world.Ask(question, WithSummer);
  RC_PRE(!answer["since"].is_null());
  std::map<size_t, ModelSum> heat;
  std::map<UnixSeconds, ModelSum> weeks;
  std::map<UnixSeconds, ModelSum> series;
  const int64_t step = answer["series"][0]["seconds"];
  RC_ASSERT(answer["series"].size() <= static_cast<size_t>(kMostSteps));
  for (UnixSeconds hour = answer["since"]; hour <= now; hour += kHourSeconds) {
    const LocalDateTime moment = WithSummer(hour);
    for (ModelSum* sum : {&heat[moment.weekday * 24 + moment.hour], &weeks[moment.week_start],
                          &series[hour / step * step]}) {
      for (const int64_t wait : model.WaitsIn("l40s", hour)) sum->waits.push_back(wait);
      if (hour / kHourSeconds < watched / kHourSeconds) continue;
      sum->seconds += model.SecondsIn("l40s", hour, now);
      sum->known += static_cast<double>(std::min(now - hour, kHourSeconds));
    }
  }
  const auto check = [&](const json& row, const ModelSum& sum) {
    RC_ASSERT(row["jobs"] == sum.waits.size());
    RC_ASSERT(IsNear(row["queue"], Rounded(double(sum.seconds.pending), sum.known)));
    const json use = Rounded(double(sum.seconds.busy_gpus), 2 * sum.known);
    RC_ASSERT(IsNear(row["use"], use > 1.0 ? json(1.0) : use));
    RC_ASSERT(row["wait_p50_seconds"].is_null() == sum.waits.empty());
  };
  for (const json& row : answer["heat"]) {
    const size_t hour = row["weekday"].get<size_t>() * 24 + row["hour"].get<size_t>();
    check(row, heat[hour]);
  }
  for (const json& row : answer["by_week"]) {
    if (row["gpu"] == "l40s") check(row, weeks.at(row["week_start"]));
  }
  for (const json& row : answer["series"]) {
    const ModelSum& sum = series.at(row["time"]);
    RC_ASSERT(row["seconds"] == step);
    RC_ASSERT(IsNear(row["pending"], Rounded(double(sum.seconds.pending), sum.known)));
    RC_ASSERT(IsNear(row["pending_gpus"], Rounded(double(sum.seconds.pending_gpus), sum.known)));
    RC_ASSERT(IsNear(row["busy_gpus"], Rounded(double(sum.seconds.busy_gpus), sum.known)));
  }
  RC_ASSERT(answer["series"].size() == series.size());
}

// Four weeks of a job every half hour; from 4:00 to 8:00 on working days they wait a minute, else
// `usual` seconds.
std::vector<PastJob> JobsThatWait(int64_t usual) {
  std::vector<PastJob> jobs;
  for (int64_t i = 2; i < 28 * 48; ++i) {
    const UnixSeconds at = kHour - i * 1'800;
    const LocalDateTime wall = OneHourEast(at);
    const int64_t hour = (at + wall.utc_offset_seconds) / 3'600 % 24;
    const int64_t weekday = ((at + wall.utc_offset_seconds) / 86'400 + 3) % 7;  // 1970: a Thursday
    const bool early = weekday < 5 && hour >= 4 && hour < 8;
    const UnixSeconds start = at + (early ? 60 : usual);
    if (start > kSnapshotTime) continue;
    jobs.push_back(JobOf(i, "a100", 1, at, start, std::min(start + 600, kSnapshotTime)));
  }
  return jobs;
}

TEST(AnswerHistoryBestTime, IsWhereTheTailOfTheWaitsIsClearlyShorter) {
  const json best = World(JobsThatWait(7'200)).Ask({.weeks = 4})["best_time"];
  ASSERT_TRUE(best.is_object());
  EXPECT_FALSE(best["weekend"]);
  EXPECT_EQ(best["hour_from"], 4);
  EXPECT_EQ(best["hour_to"], 8);
  EXPECT_NEAR(best["wait_p90_seconds"].get<double>(), 60, 7);
  EXPECT_NEAR(best["usual_wait_p90_seconds"].get<double>(), 7'200, 800);
}

TEST(AnswerHistoryBestTime, IsNotSaidWhereItMakesNoDifference) {
  const json answer = World(JobsThatWait(70)).Ask({.weeks = 4});
  EXPECT_EQ(answer["best_time"], nullptr);
  EXPECT_EQ(answer["best_time_unknown"], "no_difference");
}

TEST(AnswerHistoryBestTime, IsNotKnownFromFewJobs) {
  std::vector<PastJob> few = JobsThatWait(7'200);
  few.resize(200);
  EXPECT_EQ(World(JobsThatWait(7'200)).Ask({.weeks = 1})["best_time_unknown"], "few_jobs");
  const json answer = World(few).Ask({.weeks = 4});
  EXPECT_EQ(answer["best_time"], nullptr);
  EXPECT_EQ(answer["best_time_unknown"], "few_jobs");
  EXPECT_EQ(World().Ask()["best_time_unknown"], "few_jobs");
}

}  // namespace
}  // namespace gpuadvise::daemon
