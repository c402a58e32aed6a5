// Who gets what of the routes that are for a standby.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/api/routes.h"
#include "daemon/store/history_copy.h"
#include "tests/daemon/fake_clock.h"
#include "tests/daemon/store/past_jobs.h"
#include "tests/daemon/temp_folder.h"
#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

class StandbyApi : public ::testing::Test {
 protected:
  StandbyApi() {
    api_.boot = "b0";
    api_.copies = &copies_;
    api_.on_merged = [this] { ++merged_; };
  }

  ApiResponse Ask(const std::string& method, const std::string& target, const Peer& peer,
                  const std::string& body = "") {
    return Handle({method, target, body}, peer, api_);
  }

  const Peer own_{static_cast<int64_t>(::geteuid()), false};
  TempFolder folder_;
  FakeClock clock_{kSnapshotTime};
  ClusterState cluster_{
      clock_, std::make_shared<const Catalogues>(Catalogues{ShippedGpus(), ShippedModels()}), 120};
  AdviceStore advice_{"test"};
  UserNames users_{clock_};
  HistoryWriter history_{std::move(*History::Open(folder_.Path("s"), kSnapshotTime)), "", clock_,
                         int64_t{400} * 86'400};
  ExperimentLog experiments_{history_};
  CopyShelf copies_{folder_.Path("s")};
  ApiState api_{cluster_, history_, advice_, experiments_, users_, clock_};
  int merged_ = 0;
};

TEST_F(StandbyApi, OnlyForRootAndTheDaemonsUser) {
  const Peer somebody{54'321, false};
  const Peer over_tcp{-1, true};
  const std::pair<const char*, const char*> routes[] = {{"GET", "/v1/standby"},
                                                        {"POST", "/v1/standby/copy"},
                                                        {"GET", "/v1/standby/copy/x?offset=0"},
                                                        {"POST", "/v1/standby/rows"}};
  for (const auto& [method, target] : routes) {
    EXPECT_EQ(Ask(method, target, somebody).status, 404) << target;
    EXPECT_EQ(Ask(method, target, over_tcp).status, 404) << target;
  }
  EXPECT_EQ(json::parse(Ask("GET", "/v1/standby", own_).body)["boot"], "b0");
  EXPECT_EQ(Ask("GET", "/v1/standby", {0, false}).status, 200);
}

TEST_F(StandbyApi, ACopyIsReadInPieces) {
  history_.Put({WholeJob(7)});
  EXPECT_EQ(history_.Load().size(), 1u);  // it is written
  const json copy = json::parse(Ask("POST", "/v1/standby/copy", own_).body);
  const std::string piece = "/v1/standby/copy/" + copy["copy"].get<std::string>();
  const ApiResponse whole = Ask("GET", piece + "?offset=0", own_);
  EXPECT_EQ(whole.body.substr(0, 15), "SQLite format 3");
  EXPECT_EQ(static_cast<int64_t>(whole.body.size()), copy["bytes"]);
  EXPECT_EQ(Ask("GET", piece + "?offset=16", own_).body, whole.body.substr(16)) << "goes on there";
  for (const char* wrong :
       {"", "?offset=-1", "?offset=x", "?offset=99999999999999999999", "?offset=9999999999"}) {
    EXPECT_EQ(Ask("GET", piece + wrong, own_).status, 400) << wrong;
  }
}

TEST_F(StandbyApi, RowsAreLearnedFromOnlyWhereTheyAreNew) {
  TempFolder other;
  auto standby = std::move(*History::Open(other.Path("s"), kSnapshotTime));
  standby->SetBoot("standby");
  ASSERT_TRUE(standby->BeginReign());
  ASSERT_TRUE(standby->Save({WholeJob(7)}));
  const std::string rows = standby->RowsToReturn({})->bytes;
  EXPECT_EQ(json::parse(Ask("POST", "/v1/standby/rows", own_, rows).body)["taken"], 1);
  EXPECT_EQ(json::parse(Ask("POST", "/v1/standby/rows", own_, rows).body)["known"], 1);
  EXPECT_EQ(merged_, 1);
  EXPECT_EQ(Ask("POST", "/v1/standby/rows", own_, "nonsense").status, 400);
}

}  // namespace
}  // namespace gpuadvise::daemon
