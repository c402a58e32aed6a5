#include "daemon/api/event_teller.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/daemon/fake_clock.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

const Peer kAnn{1000, false};
const Peer kNobody{};

class EventTellerTest : public testing::Test {
 protected:
  void ClusterIs(const std::string& lines) {
    Snapshot snapshot = SnapshotOf("node n[1-2] l40s:4\n" + lines);
    snapshot.cluster = "lab";
    snapshot.source = "slurm-cli";
    cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
    teller_.Publish();
  }

  // Name and data of the next event; "" and null: there is none.
  static std::pair<std::string, json> Next(EventFeed& feed) {
    const SharedText event = feed.Take();
    if (!event) return {"", nullptr};
    const size_t line = event->find('\n');
    return {event->substr(7, line - 7), json::parse(event->substr(line + 7))};
  }

  FakeClock clock_{kSnapshotTime};
  ClusterState cluster_{
      clock_, std::make_shared<const Catalogues>(Catalogues{ShippedGpus(), ShippedModels()}), 120};
  EventTeller teller_{cluster_};
};

TEST_F(EventTellerTest, BeforeTheFirstSnapshotItSaysWhy) {
  cluster_.SetCause("slurmctld does not answer");
  const auto feed = teller_.Join(kNobody);
  const auto [name, data] = Next(*feed);
  EXPECT_EQ(name, "snapshot");
  EXPECT_EQ(data["number"], 0);
  EXPECT_TRUE(data["snapshot_taken_at"].is_null());
  EXPECT_EQ(data["stale_cause"], "slurmctld does not answer");
}

TEST_F(EventTellerTest, BeginsWithThePictureAsItIs) {
  ClusterIs("run 7 n1 l40s:3 ends 2h\npend 8 l40s:4\n");
  const auto feed = teller_.Join(kNobody);
  const json data = Next(*feed).second;
  EXPECT_EQ(data["running"], 1);
  EXPECT_EQ(data["pending"], 1);
  EXPECT_EQ(data["free"][0]["gpu"], "l40s");
  EXPECT_EQ(data["free"][0]["free"], 5);
  EXPECT_EQ(data["free"][0]["total"], 8);
}

TEST_F(EventTellerTest, ANewSnapshotIsToldOnce) {
  ClusterIs("");
  const auto feed = teller_.Join(kNobody);
  Next(*feed);
  ClusterIs("run 7 n1 l40s:3 ends 2h\n");
  teller_.Publish();
  EXPECT_EQ(Next(*feed).second["number"], 2);
  EXPECT_EQ(feed->Take(), nullptr);
}

TEST_F(EventTellerTest, GpusThatBecameFreeAreToldByType) {
  ClusterIs("run 7 n1 l40s:3 ends 2h\n");
  const auto feed = teller_.Join(kNobody);
  ClusterIs("");
  Next(*feed);
  Next(*feed);
  const auto [name, data] = Next(*feed);
  EXPECT_EQ(name, "freed");
  EXPECT_EQ(data, (json{{"gpu", "l40s"}, {"gpu_name", "L40S"}, {"free", 8}, {"before", 5}}));
}

TEST_F(EventTellerTest, ASnapshotThatGrowsOldIsNews) {
  ClusterIs("");
  const auto feed = teller_.Join(kNobody);
  Next(*feed);
  clock_.Advance(300);
  teller_.Publish();
  const json data = Next(*feed).second;
  EXPECT_EQ(data["snapshot_age_seconds"], 300);
  EXPECT_TRUE(data["stale_cause"].is_string());
}

TEST_F(EventTellerTest, ASnapshotThatStaysOldIsNoNews) {
  ClusterIs("");
  clock_.Advance(300);
  teller_.Publish();
  const auto feed = teller_.Join(kNobody);
  Next(*feed);
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(5);
    teller_.Publish();
    teller_.Join(kNobody);
  }
  EXPECT_EQ(feed->Take(), nullptr);
}

TEST_F(EventTellerTest, AStartIsToldToTheJobsOwnerAlone) {
  ClusterIs("run 7 n1 l40s:3 ends 2h\n");
  const auto ann = teller_.Join(kAnn);
  const auto nobody = teller_.Join(kNobody);
  Next(*ann);
  Next(*nobody);
  auto job = std::make_shared<Job>();
  job->uid = kAnn.uid;
  PastJob started;
  started.record.id = 7;
  started.record.start = kSnapshotTime;
  started.submission = job;
  PastJob waits = started;
  waits.record.start.reset();
  teller_.OnJobsChanged({waits, started});
  const auto [name, data] = Next(*ann);
  EXPECT_EQ(name, "job");
  EXPECT_EQ(data["job_id"], 7);
  EXPECT_EQ(ann->Take(), nullptr);
  EXPECT_EQ(nobody->Take(), nullptr);
}

}  // namespace
}  // namespace gpuadvise::daemon
