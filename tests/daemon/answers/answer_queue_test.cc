#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/text.h"
#include "common/scheduler/node_pool.h"
#include "daemon/answers/views.h"
#include "tests/daemon/answers/answer_world.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

json Ask(const AnswerWorld& world, const QueueFilter& filter = {},
         const Submitter& caller = kAnnAsks) {
  return AnswerQueue(filter, world.Context(), world.starts, caller);
}

const char* const kBusy =
    "node n[1-2] gpu4090:4 cpus 32\nnode m1 gpul40s:6 cpus 64\n"
    "partition gpu n[1-2] default\npartition big m1\n"
    "run 1 n1 gpu4090:4 cpus 4 ends 2h in gpu\n"
    "run 2 m1 gpul40s:2 cpus 4 ends 1h in big user bob\n"
    "pend 10 gpu4090:4 nodes 2 limit 4h in gpu\n"
    "pend 11 gpul40s:6 limit 3h in big user bob\n"
    "pend 12 gpu4090:1 limit 1h in gpu count 5 array 12\n"
    "pend 13 cpus 2 in gpu,big\n";

TEST(AnswerQueue, ARowSaysWhichGpusHowManyAndUntilWhen) {
  const json jobs = Ask(AnswerWorld(kBusy))["jobs"];
  const json runs = RowWith(jobs, "job_id", 1);
  EXPECT_EQ(runs["gpu"], "rtx4090");
  EXPECT_EQ(runs["gpu_name"], "RTX 4090");
  EXPECT_EQ(runs["gpus"], 4);
  EXPECT_EQ(runs["end_p50"], kSnapshotTime + 2 * 3600);
  EXPECT_EQ(runs["end_p90"], kSnapshotTime + 2 * 3600);
  const json waits = RowWith(jobs, "job_id", 10);
  EXPECT_EQ(waits["gpus"], 8);
  EXPECT_EQ(waits["run_p50_seconds"], 4 * 3600);
  EXPECT_EQ(waits["start_p50"], kSnapshotTime + 2 * 3600);
  EXPECT_EQ(RowWith(jobs, "job_id", 12)["array_task_count"], 5);
  EXPECT_EQ(RowWith(jobs, "job_id", 13)["gpu"], "");
  EXPECT_EQ(RowWith(jobs, "job_id", 13)["gpus"], 0);
}

TEST(AnswerQueue, AFileHasTheSameJobsInTheSameOrder) {
  const AnswerWorld world(kBusy);
  QueueFilter filter;
  filter.sort = *ParseQueueSort("-gpus");
  filter.running = false;
  const auto lines = [&](const Submitter& caller) {
    const std::string file = QueueFile(filter, world.Context(), world.starts, caller);
    return SplitAt(file, '\n').size() - 2;  // the heads, and what follows the last line
  };
  const std::string file = QueueFile(filter, world.Context(), world.starts, kAnnAsks);
  std::string ids;
  for (const json& job : Ask(world, filter)["jobs"]) {
    ids += "\r\n" + std::to_string(job["job_id"].get<int64_t>()) + ",";
    EXPECT_NE(file.find(ids.substr(ids.rfind('\n') + 1)), std::string::npos);
  }
  EXPECT_TRUE(file.starts_with("\"job_id\",\"array_tasks\",\"array_task_count\",\"name\"")) << file;
  EXPECT_NE(file.find("\"big\",\"PENDING\","), std::string::npos) << file;
  EXPECT_NE(file.find("\"bob\""), std::string::npos);
  EXPECT_EQ(QueueFile(filter, world.Context(), world.starts, kNobodyAsks).find("\"bob\""),
            std::string::npos);
  EXPECT_EQ(lines(kAnnAsks), 4u);
  filter.offset = 1;
  filter.limit = 2;
  EXPECT_EQ(lines(kNobodyAsks), 2u);
}

TEST(AnswerQueue, PoolsCountBeforeFiltersAndAnArrayAsOneJobWithAllItsGpus) {
  const AnswerWorld world(kBusy);
  QueueFilter filter;
  filter.partition = "big";
  filter.running = true;
  const json answer = Ask(world, filter);
  EXPECT_EQ(answer["total"], 1);
  EXPECT_EQ(RowWith(answer["pools"], "gpu", "rtx4090"), (json{{"partition", "gpu"},
                                                              {"gpu", "rtx4090"},
                                                              {"gpu_name", "RTX 4090"},
                                                              {"pending", 2},
                                                              {"pending_gpus", 13},
                                                              {"running", 1},
                                                              {"running_gpus", 4},
                                                              {"free", 4}}));
  EXPECT_EQ(RowWith(answer["pools"], "gpu", "l40s")["free"], 4);
  EXPECT_EQ(answer["pools"].size(), 4u);  // and the job without GPUs, in each of its partitions
  EXPECT_EQ(RowWith(answer["pools"], "gpu", "")["pending"], 1);
}

TEST(AnswerQueue, AGpuTypeIsAskedForByItsCatalogueId) {
  const AnswerWorld world(kBusy);
  QueueFilter filter;
  filter.gpu = "l40s";
  EXPECT_EQ(Ask(world, filter)["total"], 2);
  filter.gpu = "gpul40s";
  EXPECT_EQ(Ask(world, filter)["total"], 0);
  EXPECT_EQ(Ask(world, filter)["jobs"], json::array());
}

TEST(AnswerQueue, SearchFindsNumbersAndNamesThatTheCallerMaySee) {
  Snapshot snapshot = SnapshotOf(kBusy);
  for (Job& job : snapshot.jobs) job.name = "Train_" + std::to_string(job.id);
  const AnswerWorld world(std::move(snapshot));
  const auto found = [&](const std::string& text, const Submitter& caller) {
    QueueFilter filter;
    filter.search = text;
    return Ask(world, filter, caller);
  };
  EXPECT_EQ(found("11", kAnnAsks)["total"], 1);
  EXPECT_EQ(found("11", kNobodyAsks)["total"], 1);
  EXPECT_EQ(found("BOB", kAnnAsks)["total"], 2);
  EXPECT_EQ(found("train_1", kAnnAsks)["total"], 5);
  EXPECT_EQ(found("lab", kAnnAsks)["total"], 6);
  EXPECT_EQ(found("bob", kNobodyAsks)["total"], 0);
  EXPECT_EQ(found("bob", kNobodyAsks)["hidden"], 6);
  EXPECT_EQ(found("%", kAnnAsks)["total"], 0);
}

TEST(AnswerQueue, PrivateJobsAreNotFoundByTheirNames) {
  Snapshot snapshot = SnapshotOf(kBusy);
  snapshot.config.private_data = "jobs";
  for (Job& job : snapshot.jobs) job.uid = job.user == "bob" ? 1002 : 1001;
  const AnswerWorld world(std::move(snapshot));
  QueueFilter filter;
  filter.search = "bob";
  EXPECT_EQ(Ask(world, filter)["total"], 0);
  EXPECT_EQ(Ask(world, filter)["hidden"], 2);
  EXPECT_EQ(Ask(world, filter, kRootAsks)["total"], 2);
  EXPECT_EQ(Ask(world, {})["total"], 6);
  EXPECT_EQ(Ask(world, filter)["owners"]["users"], json{"ann"});
  EXPECT_EQ(Ask(world, filter, kRootAsks)["owners"]["users"], (json{"ann", "bob"}));
  EXPECT_EQ(Ask(world, filter, kNobodyAsks)["owners"]["users"], json::array());
}

std::vector<int64_t> SortedBy(const AnswerWorld& world, const char* sort,
                              const Submitter& caller = kAnnAsks) {
  QueueFilter filter;
  filter.sort = ParseQueueSort(sort).value();
  std::vector<int64_t> ids;
  const json answer = Ask(world, filter, caller);
  for (const json& job : answer["jobs"]) ids.push_back(job["job_id"]);
  return ids;
}

using Ids = std::vector<int64_t>;

TEST(AnswerQueue, IsSortedOverAllPages) {
  const AnswerWorld world(kBusy);
  EXPECT_EQ(SortedBy(world, "-job_id"), (Ids{13, 12, 11, 10, 2, 1}));
  EXPECT_EQ(SortedBy(world, "-gpus"), (Ids{10, 11, 1, 2, 12, 13}));
  EXPECT_EQ(SortedBy(world, "user"), (Ids{1, 10, 12, 13, 2, 11}));
  EXPECT_EQ(SortedBy(world, "partition").front(), 2);
  QueueFilter filter;
  filter.sort = ParseQueueSort("-job_id").value();
  filter.offset = 1;
  filter.limit = 1;
  EXPECT_EQ(Ask(world, filter)["jobs"][0]["job_id"], 12);
}

TEST(AnswerQueue, SortingByUserTellsNothingOfHiddenOnes) {
  const AnswerWorld world(kBusy);
  EXPECT_EQ(SortedBy(world, "user", kNobodyAsks), (Ids{1, 2, 10, 11, 12, 13}));
  EXPECT_EQ(SortedBy(world, "-user", kNobodyAsks), (Ids{1, 2, 10, 11, 12, 13}));
}

TEST(AnswerQueue, AnAccountLeavesItsJobs) {
  const AnswerWorld world("node n1 gpu4090:4\npend 1 gpu4090:1 account vision\npend 2 gpu4090:1\n");
  QueueFilter filter;
  filter.account = "vision";
  EXPECT_EQ(Ask(world, filter)["total"], 1);
  EXPECT_EQ(Ask(world, filter, kNobodyAsks)["hidden"], 2);
  EXPECT_EQ(ParseQueueSort("colour").error().code, ErrorCode::kBadInput);
}

TEST(AnswerQueue, AQosLeavesItsJobsAndIsNotToldToStrangers) {
  AnswerWorld world("node n1 gpu4090:4\npend 1 gpu4090:1 qos high\npend 2 gpu4090:1\n");
  QueueFilter filter;
  filter.qos = "high";
  const json answer = Ask(world, filter);
  EXPECT_EQ(answer["total"], 1);
  EXPECT_EQ(answer["jobs"][0]["job_id"], 1);
  EXPECT_EQ(Ask(world, filter, kNobodyAsks)["total"], 0);
  EXPECT_EQ(Ask(world, filter, kNobodyAsks)["hidden"], 2);
}

TEST(AnswerQueue, APageBeyondTheEndIsEmpty) {
  const AnswerWorld world(kBusy);
  QueueFilter filter;
  filter.offset = 1'000'000'000;
  const json answer = Ask(world, filter);
  EXPECT_EQ(answer["jobs"], json::array());
  EXPECT_EQ(answer["total"], 6);
  EXPECT_EQ(answer["offset"], 1'000'000'000);
}

TEST(AnswerQueue, HiddenPartitionsHaveNoPoolForAnAnonymousCaller) {
  Snapshot snapshot = SnapshotOf(kBusy);
  for (Partition& partition : snapshot.partitions) partition.hidden = partition.name == "big";
  const AnswerWorld world(std::move(snapshot));
  const json answer = Ask(world, {}, kNobodyAsks);
  EXPECT_TRUE(RowWith(answer["pools"], "partition", "big").is_null());
  EXPECT_EQ(answer["total"], 4);
  EXPECT_FALSE(RowWith(Ask(world)["pools"], "partition", "big").is_null());
}

TEST(AnswerQueue, NamesOfHiddenPartitionsAreNotShownEither) {
  Snapshot snapshot = SnapshotOf(kBusy);
  for (Partition& partition : snapshot.partitions) partition.hidden = partition.name == "big";
  const AnswerWorld world(std::move(snapshot));
  EXPECT_EQ(RowWith(Ask(world, {}, kNobodyAsks)["jobs"], "job_id", 13)["partition"], "gpu");
  EXPECT_EQ(RowWith(Ask(world)["jobs"], "job_id", 13)["partition"], "gpu,big");
  EXPECT_FALSE(AnswerJob("11", world.Context(), kNobodyAsks));
  EXPECT_TRUE(AnswerJob("11", world.Context(), kAnnAsks));
  EXPECT_TRUE(AnswerJob("10", world.Context(), kNobodyAsks));
}

// A queue of jobs that wait and run in two partitions.
std::string AnyQueue() {
  std::string text =
      "node n[1-4] a100:4 cpus 64\nnode m[1-2] l40s:2 cpus 64\n"
      "partition a n[1-4] default\npartition b m[1-2]\n";
  const int count = *rc::gen::inRange(0, 20);
  for (int i = 1; i <= count; ++i) {
    const bool in_a = *rc::gen::arbitrary<bool>();
    const std::string gpus = (in_a ? "a100:" : "l40s:") + std::to_string(*rc::gen::inRange(1, 3));
    const std::string id = std::to_string(i);
    if (*rc::gen::inRange(0, 3) == 0) {
      text += "run " + id + (in_a ? " n1 " : " m1 ") + gpus + " ends 1h in " + (in_a ? "a" : "b");
    } else {
      text += "pend " + id + " " + gpus + " limit " + std::to_string(*rc::gen::inRange(1, 5)) +
              "h in " + (in_a ? "a" : "b");
    }
    text += "\n";
  }
  return text;
}

RC_GTEST_PROP(AnswerQueue, PagesTogetherAreTheWholeInOrder, ()) {
  const AnswerWorld world(AnyQueue());
  const json whole = Ask(world)["jobs"];
  json together = json::array();
  QueueFilter filter;
  filter.limit = *rc::gen::inRange<size_t>(1, 7);
  for (; filter.offset <= whole.size(); filter.offset += filter.limit) {
    const json page = Ask(world, filter)["jobs"];
    RC_ASSERT(page.size() <= filter.limit);
    together.insert(together.end(), page.begin(), page.end());
  }
  RC_ASSERT(together == whole);
  RC_ASSERT(whole.size() == world.snapshot->jobs.size());
}

RC_GTEST_PROP(AnswerQueue, PoolsAreWhatOneCountsByHand, ()) {
  const AnswerWorld world(AnyQueue());
  std::map<std::string, std::pair<int64_t, int64_t>> by_hand;  // pending and running GPUs
  for (const Job& job : world.snapshot->jobs) {
    auto& [pending, running] = by_hand[job.request.partitions.front()];
    (HoldsNodes(job) ? running : pending) += job.request.gpus_per_node.front().count;
  }
  const json pools = Ask(world)["pools"];
  RC_ASSERT(pools.size() == 2u);
  for (const json& pool : pools) {
    const auto& [pending, running] = by_hand[pool["partition"]];
    RC_ASSERT(pool["pending_gpus"] == pending);
    RC_ASSERT(pool["running_gpus"] == running);
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
