// GET /v1/limits: whose jobs are told to whom, and what is said where nothing is known.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

class LimitsRequest : public testing::Test {
 protected:
  void ClusterIs(const std::string& lines = "") {
    cluster_.Accept(
        std::make_shared<const Snapshot>(SnapshotOf("node n[1-2] gpul40s:4 cpus 16\n" + lines)));
  }

  // Every ten hours bob's long job, one of his that wants both nodes, and ann's short one.
  static std::vector<PastJob> Past() {
    constexpr int64_t kHour = 3'600;
    std::vector<PastJob> jobs;
    const auto ran = [&](const char* user, int64_t at, int64_t start, int64_t hours, int64_t limit,
                         int64_t nodes) {
      JobRecord& job = jobs.emplace_back().record;
      job.id = static_cast<int64_t>(jobs.size());
      job.name = "train";
      job.user = user;
      job.account = "lab";
      job.qos = "normal";
      job.partition = "main";
      job.gpu = "gpul40s";
      job.nodes = nodes;
      job.gpus = job.cpus = 4 * nodes;
      job.limit_seconds = limit * kHour;
      job.submit = job.eligible = kSnapshotTime - 200 * kHour + at;
      job.start = job.eligible - at + start;
      job.end = *job.start + hours * kHour;
    };
    for (int64_t i = 0; i < 6; ++i) {
      const int64_t at = i * 10 * kHour;
      ran("bob", at, at, 8, 8, 1);
      ran("bob", at + 60, at + 8 * kHour, 1, 1, 2);
      ran("ann", at + 120, at + 9 * kHour, 1, 12, 1);
    }
    return jobs;
  }

  ApiResponse Raw(const std::string& target, const Peer& peer) {
    return Handle({"GET", target, ""}, peer, state_);
  }
  json Ask(const std::string& target, const Peer& peer = kAnn) {
    return json::parse(Raw(target, peer).body);
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

TEST_F(LimitsRequest, TellsTheCallersOwnJobsWithWhatAReplaySaves) {
  ClusterIs();
  history_.Put(Past());
  const json answer = Ask("/v1/limits");
  EXPECT_EQ(answer["user"], "ann");
  EXPECT_EQ(answer["jobs"], 6) << answer;
  EXPECT_EQ(answer["since"], kSnapshotTime - 30 * 86'400);
  ASSERT_EQ(answer["groups"].size(), 1U);
  EXPECT_EQ(answer["groups"][0]["limit_seconds"], 3'600);
  EXPECT_EQ(answer["replay"]["jobs"], 18);
  EXPECT_NEAR(answer["replay"]["saved_seconds"].get<double>(), 6 * 9 * 3'600, 6 * 300);
  EXPECT_EQ(answer["words"][0], "6 jobs used 8.3 % of the requested time: 6.0 h of 72 h.");
}

TEST_F(LimitsRequest, SinceLeavesOutWhatIsOlder) {
  ClusterIs();
  history_.Put(Past());
  const std::string since = std::to_string(kSnapshotTime - 155 * 3'600);
  EXPECT_EQ(Ask("/v1/limits?since=" + since)["jobs"], 1);
  EXPECT_EQ(Raw("/v1/limits?since=yesterday", kAnn).status, 400);
  EXPECT_EQ(Raw("/v1/limits?sinse=1", kAnn).status, 400);
}

TEST_F(LimitsRequest, OthersAreToldWherePrivateDataDoesNotHideThem) {
  ClusterIs();
  history_.Put(Past());
  EXPECT_EQ(Ask("/v1/limits?user=ann", kBob)["jobs"], 6);
  for (const char* hidden : {"jobs", "usage"}) {
    ClusterIs(std::string("config private ") + hidden);
    EXPECT_EQ(Raw("/v1/limits?user=ann", kBob).status, 422);
    EXPECT_EQ(Ask("/v1/limits?user=ann", kAnn)["jobs"], 6);
    EXPECT_EQ(Ask("/v1/limits?user=ann", kRoot)["jobs"], 6);
  }
  EXPECT_EQ(Raw("/v1/limits", Peer{}).status, 404);  // strangers: there is no such path
  EXPECT_EQ(Raw("/v1/limits", Peer{77'777, false}).status, 404);  // no login name
}

TEST_F(LimitsRequest, WhereNothingIsKnownOneSentenceSaysSo) {
  EXPECT_EQ(Raw("/v1/limits", kAnn).status, 503);  // no snapshot yet
  ClusterIs();
  const json answer = Ask("/v1/limits");
  EXPECT_EQ(answer["words"], json::array({"No job with a time limit ended in that period."}));
  EXPECT_TRUE(answer["replay"].is_null());

  HistoryWriter none{nullptr, "the cluster is simulated", clock_, 1};
  ExperimentLog log{none};
  ApiState state{cluster_, none, advice_, log, users_, clock_};
  const ApiResponse refused = Handle({"GET", "/v1/limits", ""}, kAnn, state);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(json::parse(refused.body)["errors"][0]["message"],
            "no job that has ended is remembered: the cluster is simulated");
}

}  // namespace
}  // namespace gpuadvise::daemon
