#include "client/commands/job_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/run/outcome_file.h"
#include "tests/client/fake_api.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int64_t kNow = 1790000000;  // Mon 21 Sep 2026 14:13:20 UTC

json Job(const std::string& state) {
  return {{"job_id", 4711},
          {"state", state},
          {"gpu", "RTX 4090"},
          {"gpus_per_node", 4},
          {"nodes", 1},
          {"partition", "gpu_shared"},
          {"run_p50_seconds", 36000},
          {"run_p90_seconds", 40000},
          {"request", {{"spec", {{"name", "x"}}}}},
          {"strategy", {{"gpu", "rtx4090"}}}};
}

json Answer(json job) { return {{"jobs", {std::move(job)}}}; }

json Queued(double p50, double p90, const std::string& reason = "other jobs are ahead of it") {
  return {{"job_id", 4711},          {"state", "PENDING"},      {"wait_p10_seconds", p50},
          {"wait_p50_seconds", p50}, {"wait_p90_seconds", p90}, {"wait_mean_seconds", p50},
          {"reason_words", reason}};
}

// Its mean says another thing than its median, by which nothing is chosen.
json Strategy(double p50, double p90) {
  return {{"gpu", "l40s"},
          {"gpu_name", "L40S"},
          {"gpus_per_node", 6},
          {"nodes", 1},
          {"partition", "gpu_shared"},
          {"total_mean_seconds", 3 * p50},
          {"total_p50_seconds", p50},
          {"total_p90_seconds", p90},
          {"sbatch", {{"gres", "gpu:gpul40s:6"}}}};
}

class JobWatchTest : public testing::Test {
 protected:
  JobWatchTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  // One look at a job that waits.
  WatchStatus LookWaiting(const json& queued, int64_t now) {
    api.Answer(Answer(Job("pending")));
    api.Answer(queued);
    return watch.Step(now);
  }
  WatchStatus Inspect(const json& job, int64_t now = kNow) {
    api.Answer(Answer(job));
    return watch.Step(now);
  }

  FakeApi api;
  JobWatch watch{"4711", {::geteuid(), ""}, api};
};

TEST_F(JobWatchTest, SaysWhenItStartsAndOnlyWhatChanged) {
  const WatchStatus first = LookWaiting(Queued(3600, 7200), kNow);
  EXPECT_EQ(first.line,
            "pending · starts in 1 h (2 h): today 15:13 (16:13) · other jobs are ahead of it");
  EXPECT_TRUE(first.changed);
  EXPECT_TRUE(first.notes.empty());
  const WatchStatus second = LookWaiting(Queued(3570, 7170), kNow + 30);
  EXPECT_FALSE(second.changed);
  const WatchStatus third = LookWaiting(Queued(1800, 3600), kNow + 60);
  EXPECT_TRUE(third.changed);
  ASSERT_EQ(third.notes.size(), 1u);
  EXPECT_EQ(third.notes[0], "start p50 moved from today 15:13 to today 14:44");
  EXPECT_TRUE(LookWaiting(Queued(1770, 3570, "the nodes are down"), kNow + 90).changed);
  EXPECT_EQ(api.asked[1].first, "/v1/jobs/4711");
}

// One look at a sweep of ten runs, whose first array is watched.
class SweepWatchTest : public JobWatchTest {
 protected:
  WatchStatus Look(json counts, int64_t now = kNow) {
    json sweep = {{"job_id", 4711}, {"arrays", {4711, 4712}}, {"runs", 10}};
    sweep.update(counts);
    json job = Job("running");
    job["sweep"] = 4711;
    api.Answer({{"jobs", {job}}, {"sweeps", {sweep}}});
    return watch.Step(now);
  }
};

TEST_F(SweepWatchTest, SaysHowManyHaveEndedAndWhenTheLastWill) {
  WatchStatus status = Look({{"waiting", 10}, {"end_p50", kNow + 3600}, {"end_p90", kNow + 7200}});
  EXPECT_EQ(status.line, "0 of 10 done, 10 waiting · done by today 15:13 (16:13)");
  EXPECT_EQ(status.state, "pending");
  EXPECT_TRUE(status.changed);
  status = Look({{"waiting", 6}, {"running", 3}, {"done", 1}, {"end_p50", kNow + 3600}});
  EXPECT_EQ(status.state, "running");
  ASSERT_EQ(status.news.size(), 1u);
  EXPECT_EQ(status.news[0].event, "started");
  EXPECT_FALSE(Look({{"waiting", 6}, {"running", 3}, {"done", 1}}).changed);
  status = Look({{"waiting", 2}, {"running", 4}, {"done", 2}, {"failed", 2}, {"moved", 2}});
  EXPECT_EQ(status.line, "2 of 10 done, 4 running, 2 waiting, 2 failed, 2 moved");
  EXPECT_EQ(status.news.at(0).text, "2 runs failed.");
  EXPECT_EQ(status.notes, std::vector<std::string>({"2 runs moved to where they end first"}));
}

TEST_F(SweepWatchTest, AnEndThatMovesFarIsNews) {
  Look({{"waiting", 10}, {"end_p50", kNow + 3600}});
  EXPECT_TRUE(Look({{"waiting", 10}, {"end_p50", kNow + 3700}}).news.empty());
  const WatchStatus status = Look({{"waiting", 10}, {"end_p50", kNow + 9000}});
  EXPECT_EQ(status.news.at(0).event, "moved");
  EXPECT_EQ(status.news[0].text, "The forecast end moved from today 15:13 to today 16:43.");
}

TEST_F(SweepWatchTest, EndsWithItsLastRun) {
  EXPECT_FALSE(Look({{"done", 9}, {"running", 1}}).exit_code);
  const WatchStatus good = Look({{"done", 10}});
  EXPECT_EQ(good.exit_code, kExitOk);
  EXPECT_EQ(good.state, "ended");
  EXPECT_EQ(good.news.back().event, "ended");
  EXPECT_EQ(Look({{"done", 9}, {"failed", 1}}).exit_code, kExitError);
}

TEST_F(SweepWatchTest, WaitsForAccountingBeforeItGivesUp) {
  for (int look = 1; look < 40; ++look) {
    ASSERT_FALSE(Look({{"done", 9}, {"unknown", 1}}).exit_code) << look;
  }
  const WatchStatus status = Look({{"done", 9}, {"unknown", 1}});
  EXPECT_EQ(status.exit_code, kExitError);
  EXPECT_EQ(status.line, "9 of 10 done, 1 out of the queue; for their states see sacct");
}

TEST_F(SweepWatchTest, ATaskOfItIsWatchedAsAJob) {
  json job = Job("running");
  job["started_at"] = kNow - 60;
  api.Answer({{"jobs", {job}}, {"sweeps", {{{"job_id", 4700}, {"arrays", {4700}}, {"runs", 9}}}}});
  EXPECT_EQ(watch.Step(kNow).line.find("running since"), 0u);
}

TEST_F(JobWatchTest, AWaitWithoutAForecastIsSaid) {
  EXPECT_THAT(LookWaiting({{"wait_p50_seconds", nullptr}}, kNow).line,
              HasSubstr("no start time can be forecast for it as it is"));
  api.Answer(Answer(Job("pending")));
  api.AnswerError({ErrorCode::kNotFound, "no job 4711", ""});
  const WatchStatus status = watch.Step(kNow);
  EXPECT_EQ(status.line, "pending · no forecast yet");
  EXPECT_FALSE(status.exit_code);
}

TEST_F(JobWatchTest, EveryFifthLookAsksForAnotherWayAndSaysItOnce) {
  std::vector<std::string> notes;
  for (int status = 1; status <= 10; ++status) {
    api.Answer(Answer(Job("pending")));
    api.Answer(Queued(36000, 40000));
    if (status % 5 == 0) api.Answer({{"strategies", {Strategy(30000, 40000)}}});
    for (const std::string& note : watch.Step(kNow).notes) notes.push_back(note);
  }
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0],
            "L40S × 6 is now better: done today 22:33 (tomorrow 01:20), 12 h 01 before this job: "
            "scancel 4711 && gpuadvise submit FILE -p gpu_shared --gres gpu:gpul40s:6");
  int asked = 0;
  for (const auto& [target, body] : api.asked) {
    if (target != "/v1/advise") continue;
    ++asked;
    EXPECT_EQ(body, Job("pending")["request"]);
  }
  EXPECT_EQ(asked, 2);
}

// The notes of five looks, the last of which gets this strategy.
std::vector<std::string> NotesFor(const json& job, const json& answer) {
  FakeApi api;
  JobWatch watch("4711", {::geteuid(), ""}, api);
  std::vector<std::string> notes;
  for (int status = 0; status < 5; ++status) {
    api.Answer(Answer(job));
    api.Answer(Queued(3600, 7200));
  }
  api.Answer(answer);
  for (int status = 0; status < 5; ++status) notes = watch.Step(kNow).notes;
  return notes;
}

TEST_F(JobWatchTest, ALittleBetterIsNotSaid) {
  // The job itself: 40,700 s in the median, p90 at some 47,000 s.
  const json job = Job("pending");
  EXPECT_EQ(NotesFor(job, {{"strategies", {Strategy(35000, 44000)}}}).size(), 1u);
  EXPECT_TRUE(NotesFor(job, {{"strategies", {Strategy(37000, 44000)}}}).empty());
  EXPECT_TRUE(NotesFor(job, {{"strategies", {Strategy(30000, 50000)}}}).empty());
  EXPECT_TRUE(NotesFor(job, {{"strategies", json::array()}}).empty());
  json own = Strategy(10000, 20000);
  own.update({{"gpu", "rtx4090"}, {"gpus_per_node", 4}});
  EXPECT_TRUE(NotesFor(job, {{"strategies", {own}}}).empty());
}

TEST_F(JobWatchTest, WhereCostWasTheAimNothingDearerIsSaid) {
  json job = Job("pending");
  job["cost"] = 40;
  json strategy = Strategy(20000, 30000);
  strategy["cost"] = 41;
  EXPECT_TRUE(NotesFor(job, {{"objective", "cost"}, {"strategies", {strategy}}}).empty());
  strategy["cost"] = 39;
  EXPECT_EQ(NotesFor(job, {{"objective", "cost"}, {"strategies", {strategy}}}).size(), 1u);
}

TEST_F(JobWatchTest, WithoutTheRequestNothingIsAsked) {
  json job = Job("pending");
  job["request"] = nullptr;
  EXPECT_TRUE(NotesFor(job, {{"strategies", {Strategy(1, 2)}}}).empty());
}

TEST_F(JobWatchTest, CommandsAreQuotedForTheShell) {
  json strategy = Strategy(20000, 30000);
  strategy["partition"] = "x; rm -rf /";
  const auto notes = NotesFor(Job("pending"), {{"strategies", {strategy}}});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("-p 'x; rm -rf /'"));
}

json RunningJob(int64_t steps, double seconds) {
  json job = Job("running");
  job["started_at"] = kNow - 600;
  json attempt = {{"total_steps", 1000}, {"seconds_per_step", 3.5}, {"loss", 0.41}};
  attempt.update({{"began", kNow - 590}, {"seconds", seconds}, {"steps", steps}});
  job["outcome"] = {{"running", true}, {"attempts", {attempt}}};
  return job;
}

TEST_F(JobWatchTest, SaysProgressAndNotEveryStep) {
  const WatchStatus first = Inspect(RunningJob(100, 300));
  EXPECT_EQ(first.line,
            "running since today 14:03 · step 100/1,000 · 3.5 s a step · 53 m left · loss 0.41");
  EXPECT_TRUE(first.changed);
  EXPECT_FALSE(Inspect(RunningJob(120, 370), kNow + 30).changed);
  EXPECT_TRUE(Inspect(RunningJob(150, 450), kNow + 60).changed);
  EXPECT_TRUE(Inspect(RunningJob(160, 460), kNow + 660).changed);
  EXPECT_FALSE(Inspect(RunningJob(160, 460), kNow + 2000).changed);
}

TEST_F(JobWatchTest, WithoutAReportItSaysTheForecastEnd) {
  json job = Job("running");
  job["started_at"] = kNow - 600;
  EXPECT_EQ(Inspect(job).line,
            "running since today 14:03 · forecast to end tomorrow 00:03 (01:10)");
}

TEST_F(JobWatchTest, ANewerFileInTheOutputFolderCounts) {
  const TemporaryFolder folder;
  json document = ToJson({4711, "", "h", {}, {Attempt{}, Attempt{}}, false});
  document["running"] = true;
  document["attempts"][1].update({{"began", kNow - 100}, {"seconds", 90}, {"steps", 7}});
  folder.Write(kOutcomeFile, document.dump());
  json job = RunningJob(100, 300);
  job["output_dir"] = folder.Path("");
  EXPECT_EQ(Inspect(job).line, "running since today 14:03 · start 2 of its command · step 7");
  document["job_id"] = "4710";
  folder.Write(kOutcomeFile, document.dump());
  EXPECT_THAT(Inspect(job).line, HasSubstr("step 100/1,000"));
}

json EndedJob(const json& exit_code, const json& signal) {
  json job = Job("ended");
  job.update({{"ended_at", kNow - 60}, {"run_seconds", 38400}, {"loss", 0.41}});
  job.update({{"has_outcome", !exit_code.is_null()}, {"exit_code", exit_code}, {"signal", signal}});
  return job;
}

TEST_F(JobWatchTest, EndsWithHowTheJobEnded) {
  const WatchStatus good = Inspect(EndedJob(0, 0));
  EXPECT_EQ(good.line, "ended today 14:12 after 10 h 40: ok · loss 0.41");
  EXPECT_EQ(good.exit_code, kExitOk);
  EXPECT_EQ(Inspect(EndedJob(3, 0)).exit_code, kExitError);
  const WatchStatus killed = Inspect(EndedJob(nullptr, 9));
  EXPECT_THAT(killed.line, HasSubstr("signal 9"));
  EXPECT_EQ(killed.exit_code, kExitError);
}

TEST_F(JobWatchTest, AnEndThatIsNotReportedYetIsWaitedForAWhile) {
  EXPECT_FALSE(Inspect(EndedJob(nullptr, nullptr)).exit_code);
  EXPECT_FALSE(Inspect(EndedJob(nullptr, nullptr)).exit_code);
  const WatchStatus last = Inspect(EndedJob(nullptr, nullptr));
  EXPECT_EQ(last.exit_code, kExitError);
  EXPECT_THAT(last.line, HasSubstr("sacct -j 4711"));
}

TEST_F(JobWatchTest, AJobThatHasLeftTheQueueIsWaitedFor) {
  EXPECT_EQ(Inspect(Job("unknown")).line, "not seen in the queue yet");
  Inspect(RunningJob(100, 300));
  for (int status = 1; status < 20; ++status) {
    const WatchStatus waits = Inspect(Job("unknown"));
    EXPECT_THAT(waits.line, HasSubstr("not in accounting yet"));
    EXPECT_EQ(waits.changed, status == 1);
    EXPECT_FALSE(waits.exit_code);
  }
  EXPECT_EQ(Inspect(Job("unknown")).exit_code, kExitError);
}

TEST_F(JobWatchTest, AFileThatTheDaemonHasNotHeardOfSaysHowItEnded) {
  const TemporaryFolder folder;
  folder.Write(kOutcomeFile, ToJson({4711, "", "h", {}, {Attempt{}}, false}).dump());
  json job = Job("unknown");
  job["output_dir"] = folder.Path("");
  api.Answer(Answer(job));
  api.Answer({{"job_id", 4711}});
  api.Answer(Answer(EndedJob(0, 0)));
  EXPECT_EQ(watch.Step(kNow).exit_code, kExitOk);
}

TEST_F(JobWatchTest, AnOutcomeInTheFolderOfAJobThatEndedIsReported) {
  const TemporaryFolder folder;
  folder.Write(kOutcomeFile, ToJson({4711, "", "h", {}, {Attempt{}}, false}).dump());
  json job = EndedJob(nullptr, nullptr);
  job["output_dir"] = folder.Path("");
  api.Answer(Answer(job));
  api.Answer({{"job_id", 4711}});
  api.Answer(Answer(EndedJob(0, 0)));
  EXPECT_EQ(watch.Step(kNow).exit_code, kExitOk);
  EXPECT_EQ(api.asked[1].first, "/v1/outcomes");
}

TEST_F(JobWatchTest, AJobThatIsNotTheCallersEndsIt) {
  api.AnswerError({ErrorCode::kNotFound, "no job 4711 of yours is known", ""});
  const WatchStatus status = watch.Step(kNow);
  EXPECT_EQ(status.exit_code, kExitError);
  EXPECT_EQ(status.complaints,
            (std::vector<std::string>{"gpuadvise: no job 4711 of yours is known"}));
}

const Error kUnknown{ErrorCode::kNotFound, "no job 4711 of yours is known", ""};

TEST_F(JobWatchTest, AJobThatWasSubmittedAnotherWayIsWatchedInTheQueue) {
  JobWatch plain("4711", {::geteuid(), "ann"}, api);
  const json queued = Queued(3600, 7200);
  json own = queued;
  own["user"] = "ann";
  api.AnswerError(kUnknown);
  api.Answer(own);
  api.Answer(own);
  EXPECT_THAT(plain.Step(kNow).line, HasSubstr("pending · starts in 1 h (2 h)"));
  own.update({{"state", "RUNNING"}, {"start_time", kNow - 600}});
  api.AnswerError(kUnknown);
  api.Answer(own);
  EXPECT_EQ(plain.Step(kNow).line, "running since today 14:03");
  api.AnswerError(kUnknown);
  api.AnswerError(kUnknown);
  const WatchStatus gone = plain.Step(kNow);
  EXPECT_THAT(gone.line, HasSubstr("no longer in the queue"));
  EXPECT_EQ(gone.exit_code, kExitError);
}

TEST_F(JobWatchTest, AQueuedJobOfSomebodyElseIsNotWatched) {
  JobWatch plain("4711", {::geteuid(), "ann"}, api);
  json queued = Queued(3600, 7200);
  queued["user"] = "bob";
  api.AnswerError(kUnknown);
  api.Answer(queued);
  const WatchStatus status = plain.Step(kNow);
  EXPECT_EQ(status.exit_code, kExitError);
  EXPECT_EQ(status.complaints.front(), "gpuadvise: no job 4711 of yours is known");
}

TEST_F(JobWatchTest, ADaemonThatGoesAwayIsSaidOnce) {
  Inspect(RunningJob(100, 300));
  const WatchStatus away = watch.Step(kNow + 30);
  EXPECT_EQ(away.complaints,
            (std::vector<std::string>{"gpuadvise: nothing listens there; still watching"}));
  EXPECT_FALSE(away.exit_code);
  EXPECT_THAT(away.line, HasSubstr("step 100"));
  EXPECT_TRUE(watch.Step(kNow + 60).complaints.empty());
  const WatchStatus back = Inspect(RunningJob(100, 300), kNow + 90);
  EXPECT_EQ(back.notes, (std::vector<std::string>{"gpuadvised answers again"}));
  EXPECT_TRUE(Inspect(RunningJob(100, 300), kNow + 120).notes.empty());
}

TEST_F(JobWatchTest, ADaemonThatForgetsTheJobIsAskedThreeTimes) {
  Inspect(RunningJob(100, 300));
  const Error missing{ErrorCode::kNotFound, "no such job", ""};
  for (int status = 0; status < 3; ++status) api.AnswerError(missing);
  EXPECT_FALSE(watch.Step(kNow).exit_code);
  EXPECT_FALSE(watch.Step(kNow).exit_code);
  EXPECT_EQ(watch.Step(kNow).exit_code, kExitError);
}

TEST_F(JobWatchTest, AnswersOfAnyShapeAreALookToo) {
  for (const json& odd : {json::object(), json{{"jobs", 7}}, json{{"jobs", {7}}}}) {
    FakeApi other;
    other.Answer(odd);
    EXPECT_EQ(JobWatch("4711", {::geteuid(), ""}, other).Step(kNow).exit_code, kExitError);
  }
  EXPECT_THAT(Inspect({{"state", "\x1b"}, {"output_dir", 7}}).line,
              HasSubstr("not seen in the queue yet"));
}

std::vector<std::string> Events(const WatchStatus& status) {
  std::vector<std::string> events;
  for (const WatchNews& news : status.news) events.push_back(news.event);
  return events;
}

using EventNames = std::vector<std::string>;

TEST_F(JobWatchTest, AStartOutOfItsRangeIsNewsAndOneWithinIsNot) {
  EXPECT_EQ(Events(LookWaiting(Queued(3600, 7200), kNow)), EventNames());
  EXPECT_EQ(Events(LookWaiting(Queued(6000, 7200), kNow + 30)), EventNames());
  EXPECT_EQ(Events(LookWaiting(Queued(9000, 12000), kNow + 60)), EventNames{"moved"});
  EXPECT_EQ(Events(LookWaiting(Queued(9000, 12000), kNow + 90)), EventNames());
  EXPECT_EQ(Events(LookWaiting(Queued(60, 120), kNow + 120)), EventNames{"moved"});
}

TEST_F(JobWatchTest, AStartAndAnEndAreNewsOnce) {
  LookWaiting(Queued(3600, 7200), kNow);
  EXPECT_EQ(Events(Inspect(Job("running"))), EventNames{"started"});
  EXPECT_EQ(Events(Inspect(Job("running"))), EventNames());
  json ended = Job("ended");
  ended["exit_code"] = 0;
  const WatchStatus last = Inspect(ended);
  EXPECT_EQ(Events(last), EventNames{"ended"});
  EXPECT_THAT(last.news[0].text, HasSubstr("ok"));
}

TEST_F(JobWatchTest, AJobThatRunsAlreadyHasNotJustStarted) {
  EXPECT_EQ(Events(Inspect(Job("running"))), EventNames());
}

TEST_F(JobWatchTest, NoStepForLongAndNoUseOfGpusAreNews) {
  const auto at = [&](int64_t step, double use, int64_t after) {
    json job = Job("running");
    job["outcome"]["attempts"] = {
        {{"steps", step},
         {"seconds", after},
         {"gpus", {{{"mean_utilisation", use}}, {{"mean_utilisation", 0}}}}}};
    return Events(Inspect(job, kNow + after));
  };
  EXPECT_EQ(at(100, 0.9, 0), EventNames());
  EXPECT_EQ(at(100, 0.9, 1'700), EventNames());
  EXPECT_EQ(at(100, 0.9, 1'900), EventNames{"hang"});
  EXPECT_EQ(at(100, 0.9, 2'000), EventNames());
  EXPECT_EQ(at(200, 0.0, 2'100), EventNames{"idle"});
  EXPECT_EQ(at(200, 0.0, 4'000), EventNames{"hang"});
}

TEST_F(JobWatchTest, ATimeLimitThatIsNearIsNewsOnce) {
  json job = Job("running");
  job["started_at"] = kNow;
  job["time_limit_seconds"] = 7'200;
  EXPECT_EQ(Events(Inspect(job, kNow + 6'000)), EventNames());
  EXPECT_EQ(Events(Inspect(job, kNow + 6'500)), EventNames{"limit"});
  EXPECT_EQ(Events(Inspect(job, kNow + 6'600)), EventNames());
}

}  // namespace
}  // namespace gpuadvise::client
