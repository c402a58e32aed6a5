// Questions that are too large: what bounds one answer (docs/api.md, "Bounds").
#include <algorithm>
#include <chrono>

#include "common/base/json_fields.h"
#include "daemon/api/answer_cache.h"
#include "daemon/api/requests.h"
#include "tests/daemon/api/handlers_fixture.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

json Spec() {
  return {{"model", {{"hidden_size", 1024}, {"num_hidden_layers", 8}, {"num_attention_heads", 8}}},
          {"training", {{"max_steps", 100}, {"effective_batch_size", 16}}}};
}

class LargeQuestions : public HandlersTest {
 protected:
  LargeQuestions() { ClusterIs(""); }

  // The sentence of the refusal.
  std::string Refused(const char* target, const json& body) {
    const ApiResponse response = Raw("POST", target, body.dump());
    EXPECT_EQ(response.status, 400) << response.body.substr(0, 200);
    const json answer = json::parse(response.body);
    return response.status == 400 ? answer["errors"][0]["message"].get<std::string>() : "";
  }
};

TEST_F(LargeQuestions, ListsOfASpecHaveBounds) {
  json spec = Spec();
  const json line = {{"gpu", "l40s"}, {"batch", 1}, {"seconds_per_step", 1}};
  spec["training"]["measured"] = json(257, line);
  EXPECT_EQ(Refused("/v1/advise", {{"spec", spec}}),
            "measured has 257 entries; the limit is 256: remove some");
  spec = Spec();
  spec["stages"] = json(33, json::object());
  EXPECT_EQ(Refused("/v1/scale", {{"spec", spec}}),
            "stages has 33 entries; the limit is 32: remove some");
  spec["stages"] = json(32, json::object());
  spec["training"]["measured"] = json(256, line);
  EXPECT_EQ(Refused("/v1/fit", {{"spec", spec}}),
            "the stages have 8,192 measured lines together, each with those of training.measured; "
            "1,024 are possible: keep the newest");
  spec = Spec();
  spec["training"]["lora"]["target_modules"] = json(65, "q_proj");
  EXPECT_EQ(Refused("/v1/fit", {{"spec", spec}}),
            "target_modules has 65 entries; the limit is 64: remove some");
  spec = Spec();
  spec["resources"]["gpus"] = json(257, "l40s");
  EXPECT_EQ(Refused("/v1/advise", {{"spec", spec}}),
            "gpus has 257 entries; the limit is 256: remove some");
}

TEST_F(LargeQuestions, TextsHaveBounds) {
  json spec = Spec();
  spec["name"] = std::string(1025, 'n');
  EXPECT_EQ(Refused("/v1/advise", {{"spec", spec}}),
            "name has 1,025 bytes; the limit is 1,024: shorten it");
  EXPECT_EQ(Refused("/v1/advise", {{"spec_yaml", std::string(kMaxSpecTextBytes + 1, '#')}}),
            "spec_yaml has 262,145 bytes; 262,144 are possible: leave out what is no training");
  const auto job = [](const char* key, const std::string& value) {
    return json{{"jobs", {{{"gres", "gpu:1"}, {key, value}}}}};
  };
  std::string features = "a";
  for (int i = 0; i < 256; ++i) features += "|a";
  const json answer = Ask("POST", "/v1/when", job("constraint", features));
  EXPECT_NE(answer["answers"][0]["error"]["message"].get<std::string>().find("256 features"),
            std::string::npos);
  EXPECT_EQ(Refused("/v1/when", job("partition", std::string(5000, 'p'))),
            "partition has 5,000 bytes; the limit is 4,096: shorten it");
}

TEST_F(LargeQuestions, AHostListStandsForNoMoreNodesThanAClusterHas) {
  const std::string list = "n[000000000000000001-000000000000001001]";
  const std::string refusal =
      "The host list \"" + list + "\" cannot be read: it stands for more than 1000 names.";
  EXPECT_EQ(Refused("/v1/when", {{"jobs", {{{"gres", "gpu:1"}, {"exclude", list}}}}}), refusal);
  EXPECT_EQ(Refused("/v1/advise", {{"spec", Spec()}, {"constraints", {{"nodelist", list}}}}),
            refusal);
}

TEST_F(LargeQuestions, ValuesAreCountedBeforeTheyAreRead) {
  const std::string refusal = Refused("/v1/when", {{"jobs", json(20'000, 0)}});
  EXPECT_NE(refusal.find("20,000 are possible"), std::string::npos) << refusal;
  EXPECT_TRUE(ParseRequestJson(json{{"a", json(19'000, 0)}}.dump()));
  EXPECT_TRUE(ParseRequestJson(json{{"a", std::string(50'000, ',')}}.dump()));
}

// Every look at the clock says that another millisecond was worked.
class SlowWorld : public LargeQuestions {
 protected:
  SlowWorld() {
    state_.cpu_time = [this] { return nanoseconds(milliseconds(++worked_)); };
  }

  void MayTake(milliseconds most) { state_.most_work = {most}; }

  int worked_ = 0;
};

TEST_F(SlowWorld, AnAnswerThatTakesTooMuchIsRefusedAndSaysWhatToCut) {
  const json jobs = {{"jobs", json(64, {{"gres", "gpu:1"}})}};
  const std::vector<std::pair<const char*, json>> questions = {
      {"/v1/when", jobs},
      {"/v1/advise", {{"spec", Spec()}}},
      {"/v1/select", {{"job", {{"gres", "gpu:1"}}}}},
      {"/v1/fit", {{"spec", Spec()}}},
      {"/v1/scale", {{"spec", Spec()}}}};
  for (const auto& [target, body] : questions) {
    MayTake(std::chrono::hours(1));
    EXPECT_EQ(Raw("POST", target, body.dump()).status, 200) << target;
    MayTake(milliseconds(2));
    const ApiResponse response = Raw("POST", target, body.dump());
    EXPECT_EQ(response.status, 422) << target << response.body.substr(0, 200);
    const json answer = json::parse(response.body);
    EXPECT_EQ(answer["errors"][0]["code"], "bad_input");
    EXPECT_TRUE(answer["errors"][0]["message"].get<std::string>().starts_with(
        "the question is too large: it needs more than 2 ms of CPU time"));
    EXPECT_FALSE(answer.contains("advice_id"));
    EXPECT_GT(response.cpu_time, milliseconds(1));
  }
}

TEST_F(SlowWorld, PagesAreBoundedToo) {
  MayTake(milliseconds(2));
  EXPECT_EQ(Raw("GET", "/v1/gpus").status, 422);
  EXPECT_EQ(Raw("GET", "/v1/waits").status, 422);
}

TEST_F(SlowWorld, HalfAnAnswerIsNotShared) {
  AnswerCache cache;
  state_.shared = &cache;
  MayTake(milliseconds(2));
  EXPECT_EQ(Raw("GET", "/v1/gpus", "", kNobody).status, 422);
  MayTake(std::chrono::hours(1));
  EXPECT_EQ(Raw("GET", "/v1/gpus", "", kNobody).status, 200);
}

TEST(AnswerCost, GrowsWithTheCluster) {
  const AnswerCost cost{milliseconds(250), std::chrono::microseconds(20),
                        std::chrono::microseconds(10), std::chrono::microseconds(300)};
  EXPECT_EQ(cost.For(nullptr), milliseconds(250));
  Snapshot snapshot;
  snapshot.nodes.resize(10'000);
  snapshot.jobs.resize(50'000);
  EXPECT_EQ(cost.For(&snapshot), milliseconds(950));
  snapshot.nodes.clear();
  snapshot.jobs.resize(1'000);  // played anew for each question
  EXPECT_EQ(cost.For(&snapshot), milliseconds(560));
}

class Strangers : public LargeQuestions {
 protected:
  Strangers() {
    Snapshot snapshot = SnapshotOf(kSeedCluster);
    Partition secret = snapshot.partitions.front();
    secret.name = "SECRETPART";
    secret.hidden = true;
    snapshot.partitions.push_back(secret);
    Reservation reservation;
    reservation.name = "SECRETRES";
    reservation.users = {"ann"};
    snapshot.reservations.push_back(reservation);
    Qos qos;
    qos.name = "SECRETQOS";
    snapshot.qos.push_back(qos);
    for (Partition& partition : snapshot.partitions) partition.allow_accounts = {"SECRETACC"};
    for (Node& node : snapshot.nodes) node.reason = "SECRETREASON [ann@2026-11-20]";
    cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
  }
};

TEST_F(Strangers, LearnNoHiddenNameFromAnError) {
  std::vector<json> jobs;
  for (const char* partition : {"nope", "SECRETPAR", "SECRETPART"}) {
    jobs.push_back({{"gres", "gpu:1"}, {"partition", partition}});
  }
  jobs.push_back({{"gres", "gpu:1"}, {"qos", "nope"}});
  jobs.push_back({{"gres", "gpu:1"}, {"account", "nope"}});
  for (json& job : jobs) {
    const std::string own = job.value("partition", "");
    for (const json& body : {json{{"jobs", {job}}}, json{{"job", job}}}) {
      const char* target = body.contains("job") ? "/v1/select" : "/v1/when";
      std::string told = Raw("POST", target, body.dump(), kNobody).body;
      if (const size_t at = told.find("'" + own + "'"); !own.empty() && at != told.npos) {
        told.erase(at, own.size() + 2);  // what the caller wrote
      }
      EXPECT_EQ(told.find("SECRET"), std::string::npos) << told;
      EXPECT_EQ(told.find("user  "), std::string::npos) << told;
    }
    const json advise = {{"spec", Spec()}, {"constraints", {{"partition", own}}}};
    std::string told = Raw("POST", "/v1/advise", advise.dump(), kNobody).body;
    if (const size_t at = told.find("'" + own + "'"); at != told.npos) told.erase(at, own.size());
    EXPECT_EQ(told.find("SECRET"), std::string::npos) << told;
  }
  for (const char* name : {"SECRETRES", "nope"}) {
    const json body = {{"jobs", {{{"gres", "gpu:1"}, {"reservation", name}}}}};
    const json answer = Ask("POST", "/v1/when", body, kNobody);
    EXPECT_EQ(answer["errors"][0]["message"],
              "reservations are for users: ask on the cluster itself");
  }
}

TEST_F(Strangers, DoNotReadWhatAdminsWriteAboutNodes) {
  const std::string shown = Raw("GET", "/v1/nodes", "", kNobody).body;
  EXPECT_EQ(shown.find("SECRETREASON"), std::string::npos);
  EXPECT_EQ(Ask("GET", "/v1/nodes?search=SECRETREASON", nullptr, kNobody)["total"], 0);
  EXPECT_NE(Raw("GET", "/v1/nodes").body.find("SECRETREASON"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::daemon
