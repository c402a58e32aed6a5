#include "backtest/replay.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::backtest {
namespace {

LogJob JobOf(int64_t id, UnixSeconds submit, UnixSeconds start, UnixSeconds end, int64_t gpus = 4) {
  LogJob job;
  job.id = id;
  job.user = "ann";
  job.partition = "main";
  job.gpu = "a100";
  job.gpus_per_node = gpus;
  job.submit = job.eligible = submit;
  job.start = start;
  job.end = end;
  job.limit_seconds = 3600;
  return job;
}

// "submit 1, start 1, end 1": the order of events.
std::string OrderOf(std::vector<LogJob> jobs) {
  JobLog log;
  for (LogJob& job : jobs) AddJob(std::move(job), 0, log);
  FinishLog(log);
  std::string text;
  for (const LogEvent& event : ListEvents(log)) {
    static constexpr const char* kNames[] = {"end", "start", "submit", "vanish"};
    text += (text.empty() ? "" : ", ") + std::string(kNames[static_cast<int>(event.kind)]) + " " +
            std::to_string(log.jobs[event.job].id);
  }
  return text;
}

TEST(ListEvents, AtEqualTimesEndsThenStartsThenTheSubmissionThenItsOwnStart) {
  EXPECT_EQ(OrderOf({JobOf(1, 0, 0, 50), JobOf(2, 10, 50, 90), JobOf(3, 50, 50, 60)}),
            "submit 1, start 1, submit 2, end 1, start 2, submit 3, start 3, end 3, end 2");
}

TEST(ListEvents, AJobOfNoLengthEndsAfterItStarted) {
  EXPECT_EQ(OrderOf({JobOf(1, 5, 5, 5)}), "submit 1, start 1, end 1");
}

TEST(Replay, ShowsWhatCouldBeSeen) {
  JobLog log;
  for (LogJob job : {JobOf(1, 0, 10, 500), JobOf(2, 20, 500, 600)}) AddJob(std::move(job), 0, log);
  FinishLog(log);
  Replay replay(log, SnapshotOf("node n1 a100:4"));
  for (const LogEvent& event : ListEvents(log)) {
    if (event.time > 20) break;
    replay.Apply(event);
  }
  const Snapshot state = replay.At(30);
  ASSERT_EQ(state.jobs.size(), 2u);
  EXPECT_EQ(state.jobs[0].state, JobState::kRunning);
  EXPECT_EQ(state.jobs[0].end_time, 10 + 3600);  // its limit, not the end that the log knows
  EXPECT_EQ(state.jobs[0].allocations[0].node, "n1");
  EXPECT_EQ(state.jobs[1].state, JobState::kPending);
  EXPECT_FALSE(state.jobs[1].start_time.has_value());
  EXPECT_GT(state.jobs[0].priority, state.jobs[1].priority);
}

RC_GTEST_PROP(Replay, NeverRunsAJobTwiceAndGivesBackEverything, ()) {
  JobLog log;
  const int jobs = *rc::gen::inRange(0, 30);
  for (int i = 0; i < jobs; ++i) {
    const int64_t submit = *rc::gen::inRange(0, 200);
    const int64_t start = submit + *rc::gen::inRange(0, 100);
    AddJob(JobOf(i, submit, start, start + *rc::gen::inRange(0, 100), *rc::gen::inRange(1, 5)), 0,
           log);
  }
  FinishLog(log);
  Replay replay(log, SnapshotOf("node n[1-3] a100:4"));
  std::map<size_t, int> starts;
  for (const LogEvent& event : ListEvents(log)) {
    replay.Apply(event);
    if (event.kind == LogEventKind::kStart) ++starts[event.job];
    int64_t running = 0;
    const Snapshot state = replay.At(event.time);
    std::map<std::string, int64_t> gpus;
    for (const Job& job : state.jobs) {
      running += job.state == JobState::kRunning;
      for (const Allocation& held : job.allocations) gpus[held.node] += held.gpus[0].count;
    }
    for (const auto& [node, count] : gpus) RC_ASSERT(count <= 4);
    RC_ASSERT(running <= static_cast<int64_t>(starts.size()));
  }
  for (const auto& [job, count] : starts) RC_ASSERT(count == 1);
  RC_ASSERT(replay.At(1000).jobs.empty());
}

}  // namespace
}  // namespace gpuadvise::backtest
