// Requests to the handlers without any HTTP: a small cluster, a caller, somebody else and nobody.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/api/routes.h"
#include "tests/daemon/fake_clock.h"
#include "tests/fakes/seed_cluster.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {

inline const Peer kMe{static_cast<int64_t>(getuid()), false};
inline const Peer kSomebodyElse{54321, false};
inline const Peer kNobody{};
inline const Peer kNameless{165'536, false};  // a subuid: the system knows no such user

class HandlersTest : public testing::Test {
 protected:
  HandlersTest()
      : cluster_(clock_,
                 std::make_shared<const Catalogues>(Catalogues{ShippedGpus(), ShippedModels()}),
                 120) {}

  // `mine`: a job of `lines` that is the caller's.
  void ClusterIs(const std::string& lines, int64_t mine = 0) {
    Snapshot snapshot = SnapshotOf(kSeedCluster + lines);
    for (Job& job : snapshot.jobs) job.uid = job.id == mine ? kMe.uid : kSomebodyElse.uid;
    snapshot.cluster = "seed";
    snapshot.source = "slurm-cli";
    cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
  }

  ApiResponse Raw(const std::string& method, const std::string& target,
                  const std::string& body = "", const Peer& peer = kMe) {
    return Handle({method, target, body}, peer, state_);
  }

  nlohmann::json Ask(const std::string& method, const std::string& target,
                     const nlohmann::json& body = nullptr, const Peer& peer = kMe) {
    return nlohmann::json::parse(
        Raw(method, target, body.is_null() ? "" : body.dump(), peer).Bytes());
  }

  FakeClock clock_{kSnapshotTime};
  ClusterState cluster_;
  AdviceStore advice_{"test"};
  UserNames users_{
      clock_, [](int64_t uid) { return uid == kNameless.uid ? "" : "user" + std::to_string(uid); }};
  HistoryWriter history_{nullptr, "none in this test", clock_, 1};
  ExperimentLog experiments_{history_};
  ApiState state_{cluster_, history_, advice_, experiments_, users_, clock_};
};

}  // namespace gpuadvise::daemon
