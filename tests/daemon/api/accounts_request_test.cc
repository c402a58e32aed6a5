// GET /v1/waiting, /v1/usage, /v1/presets and /v1/me: whose accounts are named to whom, and the
// sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/api/routes.h"
#include "tests/daemon/fake_clock.h"
#include "tests/daemon/temp_folder.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

const Peer kAnn{1001, false};
const Peer kBob{1002, false};
const Peer kRoot{0, false};
const Peer kNobody{};
const Peer kNameless{4'000'000, false};

constexpr int64_t kHour = 3'600;
constexpr int64_t kDay = 24 * kHour;

class AccountsRequest : public testing::Test {
 protected:
  void ClusterIs(const std::string& lines, const std::string& config = "") {
    Snapshot snapshot = SnapshotOf(
        "node n[1-2] gpul40s:4 cpus 16\nnode h1 a100:8 cpus 16\n"
        "partition main n[1-2]\npartition secret h1\n" +
        config + lines);
    for (Partition& partition : snapshot.partitions) partition.hidden = partition.name == "secret";
    for (Job& job : snapshot.jobs) job.uid = job.user == "bob" ? 1002 : 1001;
    cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
  }

  static constexpr const char* kQueue =
      "run 1 n1 gpul40s:4 ends 2h user ann account vision in main\n"
      "run 2 n2 gpul40s:3 ends 4h user bob account nlp in main\n"
      "pend 3 gpul40s:2 limit 3h reason Resources user ann account vision in main\n"
      "pend 4 gpul40s:1 limit 2h count 5 reason Priority user bob account nlp in main\n"
      "pend 5 gpul40s:4 limit 1h reason Priority user bob account nlp in main\n"
      "pend 6 cpus 4 limit 1h user bob account nlp in main\n"
      "pend 7 a100:8 limit 1h user bob account nlp in secret\n";

  void Ran(int64_t id, const char* user, const char* account, const char* gpu, int64_t gpus,
           int64_t ago, int64_t hours) {
    PastJob job;
    job.record.id = id;
    job.record.user = user;
    job.record.account = account;
    job.record.partition = "main";
    job.record.gpu = gpu;
    job.record.gpus = job.record.cpus = gpus;
    job.record.nodes = 1;
    job.record.submit = job.record.eligible = kSnapshotTime - ago - 60;
    job.record.start = kSnapshotTime - ago;
    job.record.end = *job.record.start + hours * kHour;
    history_.Put({job});
  }

  void WaitedAndRan(int64_t id, const char* user, int64_t eligible_ago, int64_t start_ago,
                    int64_t end_ago) {
    PastJob job;
    job.record.id = id;
    job.record.user = user;
    job.record.account = "vision";
    job.record.partition = "main";
    job.record.gpu = "gpul40s";
    job.record.gpus = job.record.cpus = job.record.nodes = 1;
    job.record.submit = job.record.eligible = kSnapshotTime - eligible_ago;
    job.record.start = kSnapshotTime - start_ago;
    job.record.end = kSnapshotTime - end_ago;
    history_.Put({job});
  }

  ApiResponse Raw(const std::string& target, const Peer& peer) {
    return Handle({"GET", target, ""}, peer, state_);
  }
  json Ask(const std::string& target, const Peer& peer = kAnn) {
    return json::parse(Raw(target, peer).Bytes());
  }
  // What the jobs of an account would take by the run times that the queue tells.
  double GpuHoursInQueue(const std::string& account) {
    double hours = 0;
    const json queue = Ask("/v1/queue?state=pending");
    for (const json& job : queue["jobs"]) {
      if (job["account"] != account || job["gpus"] == 0) continue;
      EXPECT_GT(job["run_p50_seconds"], 0);
      hours += job["gpus"].get<double>() * job["array_task_count"].get<double>() *
               job["run_p50_seconds"].get<double>() / kHour;
    }
    return hours;
  }
  static json RowOf(const json& answer, const json& account) {
    for (const json& row : answer["accounts"]) {
      if (row["account"] == account) return row;
    }
    return nullptr;
  }

  static json UserOf(const json& answer, const std::string& user) {
    for (const json& row : answer["users"]) {
      if (row["user"] == user) return row;
    }
    return nullptr;
  }

  static std::string NameOf(int64_t uid) {
    return uid == 1001 ? "ann" : uid == 1002 ? "bob" : uid == 0 ? "root" : "";
  }

  TempFolder folder_;
  FakeClock clock_{kSnapshotTime};
  ClusterState cluster_{
      clock_, std::make_shared<const Catalogues>(Catalogues{ShippedGpus(), ShippedModels()}), 120};
  AdviceStore advice_{"test"};
  UserNames users_{clock_, NameOf};
  HistoryWriter history_{History::Open(folder_.Path("state"), kSnapshotTime).value(), "", clock_,
                         400 * 86'400};
  ExperimentLog experiments_{history_};
  ApiState state_{cluster_, history_, advice_, experiments_, users_, clock_};
};

TEST_F(AccountsRequest, UsersHaveWhatTheyRunWaitForAndHaveUsed) {
  ClusterIs(kQueue);
  Ran(11, "ann", "vision", "gpul40s", 2, 3 * kDay, 5);
  Ran(12, "bob", "nlp", "gpul40s", 1, 40 * kDay, 5);  // before the weeks
  const json answer = Ask("/v1/users");
  const json ann = UserOf(answer, "ann");
  EXPECT_EQ(ann["accounts"], json::array({"vision"}));
  EXPECT_EQ(ann["pending"], 1);
  EXPECT_EQ(ann["pending_gpus"], 2);
  EXPECT_EQ(ann["running_gpus"], 4);
  EXPECT_EQ(ann["jobs"], 2);
  EXPECT_TRUE(ann["next_start_p50"].is_number());
  const json bob = UserOf(answer, "bob");
  EXPECT_EQ(bob["pending"], 3);
  EXPECT_EQ(bob["pending_gpus"], 5 + 4 + 8);
  EXPECT_EQ(bob["jobs"], 1);
  EXPECT_EQ(answer["all"]["running_gpus"], 7);
  EXPECT_EQ(answer["accounts"], json::array({"nlp", "vision"}));
  EXPECT_EQ(answer["users"][0]["user"], "bob") << "the most comes first";
  const json vision = Ask("/v1/users?account=vision");
  EXPECT_EQ(vision["users"].size(), 1u);
  EXPECT_EQ(vision["accounts"].size(), 2u);
}

TEST_F(AccountsRequest, MedianWaitsOfAUserStandBesideTheClusters) {
  ClusterIs("");
  for (int64_t id = 1; id <= 3; ++id) Ran(id, "ann", "vision", "gpul40s", 1, 2 * kDay, 1);
  const json answer = Ask("/v1/users");
  EXPECT_EQ(UserOf(answer, "ann")["wait_p50_seconds"], 60);
  EXPECT_EQ(UserOf(answer, "ann")["gpu_hours"], 3);
  EXPECT_EQ(UserOf(answer, "ann")["waited_hours"], 0.1) << "three minutes of jobs";
  EXPECT_EQ(UserOf(answer, "ann")["stalled_hours"], 0.0) << "one minute of a person";
  EXPECT_EQ(answer["cluster_wait_p50_seconds"], 60);
  EXPECT_EQ(Ask("/v1/users", kBob)["cluster_wait_p50_seconds"], 60);
}

TEST_F(AccountsRequest, HoursInWhichSomebodyWaitsCountOnceHoweverManyJobsWait) {
  ClusterIs("");
  for (int64_t id = 1; id <= 3; ++id) {
    WaitedAndRan(id, "ann", 10 * kHour, 7 * kHour, 5 * kHour);  // three hours beside each other
  }
  WaitedAndRan(4, "ann", 8 * kHour, 6 * kHour, 5 * kHour);  // the second hour beside a running one
  WaitedAndRan(5, "bob", 4 * kHour, 3 * kHour, 2 * kHour);
  const json answer = Ask("/v1/users");
  EXPECT_EQ(UserOf(answer, "ann")["waited_hours"], 11.0);
  EXPECT_EQ(UserOf(answer, "ann")["stalled_hours"], 3.0);
  EXPECT_EQ(answer["all"]["stalled_hours"], 4.0);
}

TEST_F(AccountsRequest, PrivateJobsLeaveAUserTheirOwn) {
  ClusterIs(kQueue, "config private jobs\n");
  Ran(11, "ann", "vision", "gpul40s", 2, 3 * kDay, 5);
  const json answer = Ask("/v1/users", kBob);
  EXPECT_EQ(answer["users"].size(), 1u);
  EXPECT_EQ(answer["own_only"], true);
  EXPECT_EQ(answer["accounts"], json::array({"nlp"}));
  EXPECT_EQ(answer["all"]["running_gpus"], 3);
  EXPECT_EQ(answer["cluster_wait_p50_seconds"].is_null(), false);
  EXPECT_EQ(Ask("/v1/users", kRoot)["users"].size(), 2u);
  EXPECT_EQ(Raw("/v1/users", kNobody).status, 404);
  EXPECT_EQ(Raw("/v1/users?weeks=0", kAnn).status, 400);
}

TEST_F(AccountsRequest, WaitingIsSummedUpByAccountWithItsReasons) {
  ClusterIs(kQueue);
  const json answer = Ask("/v1/waiting");
  EXPECT_EQ(answer["gpus"],
            (json{{"total", 16}, {"used", 7}, {"free", 9}, {"promised", 0}, {"unavailable", 0}}));
  const json vision = RowOf(answer, "vision");
  EXPECT_EQ(vision["pending"], 1);
  EXPECT_EQ(vision["pending_gpus"], 2);
  EXPECT_NEAR(vision["pending_gpu_hours"].get<double>(), GpuHoursInQueue("vision"), 0.1);
  EXPECT_EQ(vision["running_gpus"], 4);
  EXPECT_EQ(vision["reasons"][0]["reason"], "Resources");
  const json nlp = RowOf(answer, "nlp");
  EXPECT_EQ(nlp["pending"], 3);
  EXPECT_EQ(nlp["pending_gpus"], 5 + 4 + 8);
  EXPECT_NEAR(nlp["pending_gpu_hours"].get<double>(), GpuHoursInQueue("nlp"), 0.1);
  int64_t gpus = 0;
  for (const json& reason : nlp["reasons"]) gpus += reason["gpus"].get<int64_t>();
  EXPECT_EQ(gpus, 17);
  EXPECT_TRUE(nlp["next_start_p50"].is_number());
  EXPECT_EQ(answer["accounts"][0]["account"], "nlp") << "the most comes first";
  EXPECT_EQ(answer["all"]["pending_gpus"], 19);
  EXPECT_EQ(answer["all"]["running_gpus"], 7);
}

TEST_F(AccountsRequest, StrangersAreToldNoAccountAndNothingHidden) {
  ClusterIs(kQueue);
  const json answer = Ask("/v1/waiting", kNobody);
  ASSERT_EQ(answer["accounts"].size(), 1u);
  EXPECT_EQ(answer["accounts"][0]["account"], nullptr);
  EXPECT_EQ(answer["accounts"][0]["pending_gpus"], 11) << "without the hidden partition's job";
  EXPECT_EQ(answer["gpus"]["total"], 8);
  EXPECT_EQ(answer.dump().find("vision"), std::string::npos);
}

TEST_F(AccountsRequest, WherePrivateDataHasJobsOthersAreOneRowWithoutAName) {
  ClusterIs(kQueue, "config private jobs\n");
  const json answer = Ask("/v1/waiting", kAnn);
  EXPECT_EQ(RowOf(answer, "vision")["pending_gpus"], 2);
  EXPECT_EQ(RowOf(answer, "nlp"), nullptr);
  EXPECT_EQ(RowOf(answer, nullptr)["pending_gpus"], 17);
  EXPECT_EQ(RowOf(Ask("/v1/waiting", kRoot), "nlp")["pending_gpus"], 17);
}

TEST_F(AccountsRequest, ManyAccountsAreABoundedNumberOfRows) {
  std::string lines;
  for (int i = 0; i < 80; ++i) {
    lines += "pend " + std::to_string(100 + i) + " gpul40s:1 account a" + std::to_string(i) +
             " in main\n";
  }
  ClusterIs(lines);
  const json answer = Ask("/v1/waiting");
  EXPECT_EQ(answer["accounts"].size(), 51u);
  EXPECT_EQ(answer["accounts"].back()["account"], nullptr);
  EXPECT_EQ(answer["accounts"].back()["pending"], 30);
  EXPECT_EQ(answer["all"]["pending"], 80);
}

TEST_F(AccountsRequest, UsageIsGpuHoursByAccountAndWeek) {
  ClusterIs("run 1 n1 gpul40s:4 ends 2h user ann account vision in main\n");
  Ran(10, "ann", "vision", "gpul40s", 2, 3 * kHour, 1);
  Ran(11, "bob", "nlp", "gpul40s", 4, 15 * kDay, 10);
  Ran(12, "bob", "nlp", "gpul40s", 4, 200 * kDay, 10);
  const json answer = Ask("/v1/usage?weeks=4");
  ASSERT_EQ(answer["weeks"].size(), 4u) << answer;
  EXPECT_LE(answer["weeks"].back(), kSnapshotTime);
  EXPECT_GT(answer["weeks"].back().get<int64_t>() + 7 * kDay, kSnapshotTime);
  const json nlp = RowOf(answer, "nlp");
  EXPECT_EQ(nlp["gpu_hours"], 40.0);
  EXPECT_EQ(nlp["jobs"], 1);
  EXPECT_EQ(nlp["weekly_gpu_hours"].back(), 0.0);
  EXPECT_EQ(nlp["cost"], nullptr) << "no price is given";
  const double running = answer["all"]["gpu_hours"].get<double>() - 40 - 2;
  EXPECT_GT(RowOf(answer, "vision")["gpu_hours"], 2.0) << "what runs counts up to now";
  EXPECT_NEAR(running + 2, RowOf(answer, "vision")["gpu_hours"].get<double>(), 0.11);
  EXPECT_FALSE(answer["own_only"]);
  EXPECT_EQ(answer["note"], nullptr);
  EXPECT_EQ(answer["known_since"], kSnapshotTime - 200 * kDay - 60);
}

TEST_F(AccountsRequest, CostIsOfGpusThatHaveAPrice) {
  json entries = json::array();
  for (const GpuModel& gpu : ShippedGpus().catalogue().models()) {
    entries.push_back(EntryOf(gpu));
    if (gpu.id == "l40s") entries.back()["price_per_gpu_hour"] = 2;
  }
  const Catalogues priced{GpuNaming(*GpuCatalogue::FromJson({{"gpus", entries}}), {}),
                          ShippedModels()};
  ClusterState cluster(clock_, std::make_shared<const Catalogues>(priced), 120);
  cluster.Accept(std::make_shared<const Snapshot>(SnapshotOf("node n1 gpul40s:4 a100:4")));
  Ran(10, "ann", "vision", "gpul40s", 2, 3 * kHour, 1);
  Ran(11, "ann", "vision", "a100", 4, 3 * kHour, 2);
  Ran(12, "bob", "nlp", "a100", 1, 3 * kHour, 1);
  ApiState state{cluster, history_, advice_, experiments_, users_, clock_};
  const json answer = json::parse(Handle({"GET", "/v1/usage?weeks=1", ""}, kAnn, state).Bytes());
  EXPECT_EQ(RowOf(answer, "vision")["cost"], 4.0);
  EXPECT_EQ(RowOf(answer, "vision")["weekly_cost"], json{4.0});
  EXPECT_EQ(RowOf(answer, "vision")["unpriced_gpu_hours"], 8.0);
  EXPECT_EQ(RowOf(answer, "nlp")["cost"], nullptr);
  EXPECT_EQ(answer["all"]["cost"], 4.0);
  EXPECT_EQ(answer["all"]["unpriced_gpu_hours"], 9.0);
}

TEST_F(AccountsRequest, WithoutAHistoryUsageSaysThatItIsOfRunningJobsAlone) {
  ClusterIs("run 1 n1 gpul40s:4 ends 2h user ann account vision in main\n");
  HistoryWriter none(nullptr, "the cluster is simulated", clock_, 1);
  ApiState state{cluster_, none, advice_, experiments_, users_, clock_};
  const json answer = json::parse(Handle({"GET", "/v1/usage", ""}, kAnn, state).Bytes());
  EXPECT_EQ(RowOf(answer, "vision")["jobs"], 1);
  EXPECT_EQ(answer["note"],
            "only jobs that run now are counted, because no history is kept: the cluster is "
            "simulated");
}

TEST_F(AccountsRequest, ARunOverTheEndOfAWeekIsInBoth) {
  ClusterIs("");
  const json weeks = Ask("/v1/usage?weeks=2")["weeks"];
  const int64_t monday = weeks[1];
  Ran(10, "ann", "vision", "gpul40s", 2, kSnapshotTime - (monday - 3 * kHour), 4);
  const json row = RowOf(Ask("/v1/usage?weeks=2"), "vision");
  EXPECT_EQ(row["weekly_gpu_hours"], (json{6.0, 2.0}));
  EXPECT_EQ(row["weekly_waits"][0]["jobs"], 1);
  EXPECT_NEAR(row["weekly_waits"][0]["p90_seconds"].get<double>(), 60, 6);
  EXPECT_EQ(row["weekly_waits"][1],
            (json{{"jobs", 0}, {"p50_seconds", nullptr}, {"p90_seconds", nullptr}}));
  EXPECT_EQ(RowOf(Ask("/v1/usage?weeks=1"), "vision")["weekly_gpu_hours"], (json{2.0}));
}

TEST_F(AccountsRequest, UsageOfOthersIsToldAsPrivateDataAllows) {
  for (const char* hidden : {"jobs", "usage"}) {
    ClusterIs("", std::string("config private ") + hidden + "\n");
    Ran(10, "ann", "vision", "gpul40s", 2, 3 * kHour, 1);
    Ran(11, "bob", "nlp", "gpul40s", 4, 3 * kHour, 1);
    const json ann = Ask("/v1/usage", kAnn);
    EXPECT_TRUE(ann["own_only"]);
    EXPECT_EQ(ann["all"]["gpu_hours"], 2.0);
    EXPECT_EQ(ann.dump().find("nlp"), std::string::npos);
    EXPECT_EQ(Ask("/v1/usage", kRoot)["all"]["gpu_hours"], 6.0);
    EXPECT_EQ(Ask("/v1/usage", kNameless)["accounts"], json::array());
  }
}

TEST_F(AccountsRequest, StrangersAreToldTheSumAndNoHiddenType) {
  ClusterIs("");
  Ran(10, "ann", "vision", "gpul40s", 2, 3 * kHour, 1);
  Ran(11, "bob", "nlp", "a100", 8, 3 * kHour, 1);
  const json answer = Ask("/v1/usage", kNobody);
  ASSERT_EQ(answer["accounts"].size(), 1u);
  EXPECT_EQ(answer["accounts"][0]["account"], nullptr);
  EXPECT_EQ(answer["all"]["gpu_hours"], 2.0);
}

TEST_F(AccountsRequest, WeeksThatAreNoneAreRefused) {
  ClusterIs("");
  for (const char* weeks : {"0", "27", "-1", "x", "1.5", ""}) {
    EXPECT_EQ(Raw(std::string("/v1/usage?weeks=") + weeks, kAnn).status, 400) << weeks;
  }
  EXPECT_EQ(Raw("/v1/usage?week=1", kAnn).status, 400);
  EXPECT_EQ(Raw("/v1/waiting?account=x", kAnn).status, 400);
}

TEST_F(AccountsRequest, BeforeTheFirstSnapshotNothingIsKnown) {
  for (const char* target : {"/v1/waiting", "/v1/usage", "/v1/presets"}) {
    EXPECT_EQ(Raw(target, kAnn).status, 503) << target;
  }
  EXPECT_EQ(Ask("/v1/me")["user"], "ann");
}

TEST_F(AccountsRequest, PresetsAreThoseOfTheCatalogue) {
  ClusterIs("");
  const json presets = Ask("/v1/presets", kNobody)["presets"];
  EXPECT_NE(std::find(presets.begin(), presets.end(), "gpt2"), presets.end());
}

TEST_F(AccountsRequest, MeIsTheCaller) {
  ClusterIs("");
  EXPECT_EQ(Ask("/v1/me", kBob)["user"], "bob");
  EXPECT_EQ(Ask("/v1/me", kNobody)["user"], nullptr);
  EXPECT_TRUE(Ask("/v1/me", kNobody)["anonymous"]);
  EXPECT_EQ(Ask("/v1/me", kNameless)["user"], nullptr);
  EXPECT_FALSE(Ask("/v1/me", kNameless)["anonymous"]);
}

}  // namespace
}  // namespace gpuadvise::daemon
