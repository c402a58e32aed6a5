// Sweeps as requests: what is reported of their arrays, and what the queue and the log say of them.
#include <gmock/gmock.h>

#include "tests/daemon/api/handlers_fixture.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int64_t kYear = int64_t{366} * 86'400;

class SweepProgressTest : public HandlersTest {
 protected:
  SweepProgressTest() { Restart(); }

  // As a daemon that begins anew on the same history.
  void Restart() {
    log_.reset();
    history_on_disk_.reset();
    auto history = History::Open(folder_.Path("state"), kSnapshotTime);
    EXPECT_TRUE(history);
    history_on_disk_ = std::make_unique<HistoryWriter>(std::move(*history), "", clock_, kYear);
    log_ = std::make_unique<ExperimentLog>(*history_on_disk_);
    log_->Load();
    kept_ = std::make_unique<ApiState>(
        ApiState{cluster_, *history_on_disk_, advice_, *log_, users_, clock_});
  }

  // `lines`: a cluster whose jobs are all of `peer`.
  void QueueIs(const std::string& lines, const Peer& peer = kMe) {
    Snapshot snapshot = SnapshotOf("node n1 gpu4090:4 cpus 32\n" + lines);
    for (Job& job : snapshot.jobs) job.uid = peer.uid;
    snapshot.source = "slurm-cli";
    snapshot.taken_at += ++polls_;
    cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
  }

  ApiResponse Answer(const std::string& method, const std::string& target,
                     const json& body = nullptr, const Peer& peer = kMe) {
    return Handle({method, target, body.is_null() ? "" : body.dump()}, peer, *kept_);
  }
  json Asked(const std::string& target, const Peer& peer = kMe) {
    return json::parse(Answer("GET", target, nullptr, peer).Bytes());
  }

  // Reports that `job` was submitted as a part of `sweep`.
  ApiResponse Report(int64_t job, const json& sweep, const Peer& peer = kMe) {
    if (advice_id_.empty()) {
      const json spec = {
          {"name", "search"},
          {"model", {{"memory", {{"base", "10 GB"}, {"per_sample", "1 GB"}}}}},
          {"training",
           {{"max_steps", 1000},
            {"effective_batch_size", 8},
            {"measured",
             {{{"gpu", "rtx4090"}, {"gpus", 1}, {"batch", 8}, {"seconds_per_step", 1.0}}}}}}};
      const ApiResponse advice = Answer("POST", "/v1/advise", {{"spec", spec}}, peer);
      advice_id_ = json::parse(advice.Bytes()).value("advice_id", "");
      EXPECT_NE(advice_id_, "") << advice.body;
    }
    return Answer("POST", "/v1/advice/" + advice_id_ + "/submitted",
                  {{"job_id", job}, {"rank", 1}, {"sweep", sweep}}, peer);
  }

  // Accounting says of tasks of `array`, from job id `first` on, how they ended.
  void Accounted(int64_t array, int64_t first, const std::vector<std::string>& states) {
    std::vector<JobRecord> records;
    for (const std::string& state : states) {
      JobRecord record;
      record.id = first++;
      record.array_job_id = array;
      record.submit = record.eligible = kSnapshotTime;
      record.start = kSnapshotTime + 1;
      record.end = kSnapshotTime + 60;
      record.state = state;
      records.push_back(record);
    }
    history_on_disk_->Complete(records);
  }

  TempFolder folder_;
  std::unique_ptr<HistoryWriter> history_on_disk_;
  std::unique_ptr<ExperimentLog> log_;
  std::unique_ptr<ApiState> kept_;
  std::string advice_id_;
  int64_t polls_ = 0;
};

TEST_F(SweepProgressTest, ArraysThatWereSubmittedAsOneAreCountedAsOne) {
  QueueIs("");
  ASSERT_EQ(Report(4711, {{"job_id", 4711}, {"runs", 10}}).status, 200);
  ASSERT_EQ(Report(4712, {{"job_id", 4711}, {"runs", 10}, {"moved", 2}}).status, 200);
  QueueIs(
      "run 4713 n1 gpu4090:1 cpus 1 ends 1h array 4711\n"
      "run 4714 n1 gpu4090:1 cpus 1 ends 2h array 4712\n"
      "pend 4712 gpu4090:1 limit 1h count 3 array 4712\n");
  Accounted(4711, 4720, {"COMPLETED", "COMPLETED", "FAILED"});
  for (const char* target : {"/v1/advice", "/v1/advice?job=4712", "/v1/queue"}) {
    const json answer = Asked(target);
    ASSERT_EQ(answer["sweeps"].size(), 1u) << answer.dump(1);
    const json& sweep = answer["sweeps"][0];
    EXPECT_EQ(sweep["job_id"], 4711);
    EXPECT_EQ(sweep["name"], "search");
    EXPECT_EQ(sweep["arrays"], json({4711, 4712}));
    EXPECT_EQ(sweep["runs"], 10);
    EXPECT_EQ(sweep["done"], 2);
    EXPECT_EQ(sweep["failed"], 1);
    EXPECT_EQ(sweep["running"], 2);
    EXPECT_EQ(sweep["waiting"], 3);
    EXPECT_EQ(sweep["unknown"], 2);
    EXPECT_EQ(sweep["moved"], 2);
    EXPECT_GT(sweep["end_p50"], kSnapshotTime);
    EXPECT_GE(sweep["end_p90"], sweep["end_p50"]);
    for (const json& job : answer["jobs"]) {
      EXPECT_EQ(job["sweep"], 4711) << job.dump(1);
      const json end = job.value("end_p50", json());
      EXPECT_TRUE(end.is_null() || sweep["end_p50"] >= end) << job.dump(1);
    }
  }
}

TEST_F(SweepProgressTest, ARestartForgetsNothing) {
  QueueIs("");
  ASSERT_EQ(Report(4711, {{"job_id", 4711}, {"runs", 3}}).status, 200);
  Accounted(4711, 4720, {"COMPLETED", "TIMEOUT"});
  QueueIs("run 4711 n1 gpu4090:1 cpus 1 ends 1h array 4711\n");
  const json before = Asked("/v1/advice")["sweeps"];
  Restart();
  EXPECT_EQ(Asked("/v1/advice")["sweeps"], before);
  EXPECT_EQ(Asked("/v1/queue")["sweeps"], before);
  EXPECT_EQ(before[0]["done"], 1);
  EXPECT_EQ(before[0]["failed"], 1);
}

TEST_F(SweepProgressTest, ARunThatIsRetriedOrEndsTwiceCountsOnce) {
  QueueIs("");
  ASSERT_EQ(Report(4711, {{"job_id", 4711}, {"runs", 2}}).status, 200);
  ASSERT_EQ(Report(4712, {{"job_id", 4711}, {"runs", 2}}).status, 200);
  Accounted(4711, 4720, {"FAILED", "COMPLETED"});
  QueueIs("pend 4712 gpu4090:1 limit 1h array 4712\n");
  json sweep = Asked("/v1/advice")["sweeps"][0];
  EXPECT_EQ(sweep["failed"], 0) << "it waits again";
  EXPECT_EQ(sweep["waiting"], 1);
  Accounted(4712, 4730, {"COMPLETED"});
  QueueIs("");
  sweep = Asked("/v1/advice")["sweeps"][0];
  EXPECT_EQ(sweep["done"], 2);
  EXPECT_EQ(sweep["failed"], 0);
  EXPECT_TRUE(sweep["end_p50"].is_null());
}

TEST_F(SweepProgressTest, BeforeASnapshotShowsItsArraysAllRunsWait) {
  QueueIs("");
  clock_.Advance(10);
  ASSERT_EQ(Report(4711, {{"job_id", 4711}, {"runs", 5}}).status, 200);
  EXPECT_EQ(Asked("/v1/advice")["sweeps"][0]["waiting"], 5);
}

TEST_F(SweepProgressTest, AnArrayOfNoSweepIsAsBefore) {
  QueueIs("");
  ASSERT_EQ(Report(4711, nullptr).status, 200);
  QueueIs("pend 4711 gpu4090:1 count 5 array 4711\n");
  for (const char* target : {"/v1/advice", "/v1/queue"}) {
    const json answer = Asked(target);
    EXPECT_FALSE(answer.contains("sweeps")) << answer.dump(1);
    EXPECT_FALSE(answer["jobs"][0].contains("sweep"));
  }
}

TEST_F(SweepProgressTest, WhatCannotBeIsASentence) {
  QueueIs("pend 55 gpu4090:1\n", kSomebodyElse);
  const auto refusal = [&](int64_t job, const json& sweep) {
    const ApiResponse response = Report(job, sweep);
    EXPECT_GE(response.status, 400) << sweep;
    return json::parse(response.Bytes())["errors"][0]["message"].get<std::string>();
  };
  EXPECT_THAT(refusal(4711, {{"job_id", 55}, {"runs", 2}}), HasSubstr("job 55 is not yours"));
  EXPECT_THAT(refusal(4711, {{"job_id", 70'000'000'000}, {"runs", 2}}),
              HasSubstr("the sweep's first array: job 70000000000 cannot have been submitted"));
  EXPECT_THAT(refusal(4711, {{"job_id", 4711}, {"runs", 10'000'000}}), HasSubstr("runs"));
  EXPECT_THAT(refusal(4711, {{"job_id", 4711}, {"runs", 0}}), HasSubstr("runs"));
  EXPECT_THAT(refusal(4711, {{"job_id", 4711}}), HasSubstr("runs"));
  EXPECT_THAT(refusal(4711, {{"runs", 3}}), HasSubstr("job_id"));
  EXPECT_THAT(refusal(4711, {{"job_id", 4711}, {"runs", 3}, {"moved", 4}}), HasSubstr("moved"));
  EXPECT_THAT(refusal(4711, "4711"), HasSubstr("sweep"));
  EXPECT_TRUE(Asked("/v1/advice")["jobs"].empty()) << "nothing of it is kept";
}

TEST_F(SweepProgressTest, NobodyElseSeesASweepThatPrivateDataHides) {
  QueueIs("");
  ASSERT_EQ(Report(4711, {{"job_id", 4711}, {"runs", 5}}).status, 200);
  QueueIs("pend 4711 gpu4090:1 count 5 array 4711\n");
  EXPECT_EQ(Asked("/v1/queue", kSomebodyElse)["sweeps"].size(), 1u) << "as squeue shows the array";
  EXPECT_FALSE(Asked("/v1/queue", kNobody).contains("sweeps"));
  QueueIs("config private jobs\npend 4711 gpu4090:1 count 5 array 4711\n");
  EXPECT_FALSE(Asked("/v1/queue", kSomebodyElse).contains("sweeps"));
  EXPECT_TRUE(Asked("/v1/advice", kSomebodyElse)["jobs"].empty());
}

}  // namespace
}  // namespace gpuadvise::daemon
