// Questions that are too large: what bounds one answer (docs/api.md, "Bounds").
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

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
    EXPECT_EQ(response.status, 400) << response.Bytes().substr(0, 200);
    const json answer = json::parse(response.Bytes());
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

// 100 ms are meant for an answer. Each has taken `used` from the first look at the clock on.
class SlowWorld : public LargeQuestions {
 protected:
  SlowWorld() {
    state_.most_work = {milliseconds(100)};
    state_.cpu_time = [this] { return looks_++ == 0 ? nanoseconds(0) : used_; };
  }

  ApiResponse After(milliseconds used, const char* method, const char* target,
                    const json& body = nullptr, const Peer& peer = kMe) {
    looks_ = 0;
    used_ = used;
    return Raw(method, target, body.is_null() ? "" : body.dump(), peer);
  }

  json WarningsAfter(milliseconds used, const char* target, const json& body) {
    const ApiResponse response = After(used, "POST", target, body);
    EXPECT_EQ(response.status, 200) << target << response.Bytes().substr(0, 200);
    return json::parse(response.Bytes())["warnings"];
  }

  int looks_ = 0;
  nanoseconds used_{0};
};

const json kManyJobs = {{"jobs", json(20, {{"gres", "gpu:1"}})}};
const json kSelected = {{"job", {{"gres", "gpu:1"}}}};

TEST_F(SlowWorld, AnOrdinaryQuestionIsAnsweredAndSaysWhatWasGivenUp) {
  const json gave_up = {
      "the question is large: its last forecasts are made from few samples, and not all ways to "
      "start sooner, shorter limits and tips were looked for"};
  for (const auto& [target, body] : {std::pair<const char*, json>{"/v1/when", kManyJobs},
                                     {"/v1/advise", {{"spec", Spec()}}},
                                     {"/v1/select", kSelected}}) {
    EXPECT_EQ(WarningsAfter(milliseconds(70), target, body), json::array()) << target;
    EXPECT_EQ(WarningsAfter(milliseconds(76), target, body), gave_up) << target;
    EXPECT_EQ(WarningsAfter(milliseconds(1'199), target, body), gave_up) << target;
  }
  for (const char* target : {"/v1/fit", "/v1/scale"}) {
    EXPECT_EQ(WarningsAfter(milliseconds(1'199), target, {{"spec", Spec()}}), json::array());
  }
}

TEST_F(SlowWorld, AnAnswerThatTakesTwelveTimesAsLongIsRefusedAndSaysWhatToCut) {
  const std::vector<std::pair<const char*, json>> questions = {{"/v1/when", kManyJobs},
                                                               {"/v1/advise", {{"spec", Spec()}}},
                                                               {"/v1/select", kSelected},
                                                               {"/v1/fit", {{"spec", Spec()}}},
                                                               {"/v1/scale", {{"spec", Spec()}}}};
  for (const auto& [target, body] : questions) {
    const ApiResponse response = After(milliseconds(1'200), "POST", target, body);
    EXPECT_EQ(response.status, 422) << target << response.Bytes().substr(0, 200);
    const json answer = json::parse(response.Bytes());
    EXPECT_EQ(answer["errors"][0]["code"], "bad_input");
    EXPECT_TRUE(answer["errors"][0]["message"].get<std::string>().starts_with(
        "the question is too large: it needs more than 1200 ms of CPU time"));
    EXPECT_FALSE(answer.contains("advice_id"));
    EXPECT_EQ(response.cpu_time, milliseconds(1'200));
  }
}

TEST_F(SlowWorld, PagesAreBoundedToo) {
  for (const char* page : {"/v1/gpus", "/v1/waits"}) {
    EXPECT_EQ(After(milliseconds(1'199), "GET", page).status, 200) << page;
  }
  EXPECT_EQ(After(milliseconds(1'200), "GET", "/v1/waits").status, 422);
}

TEST_F(SlowWorld, HalfAnAnswerIsNotShared) {
  AnswerCache cache;
  state_.shared = &cache;
  EXPECT_EQ(After(milliseconds(1'200), "GET", "/v1/waits", nullptr, kNobody).status, 422);
  EXPECT_EQ(After(milliseconds(0), "GET", "/v1/waits", nullptr, kNobody).status, 200);
}

class DefaultBudget : public LargeQuestions {
 protected:
  DefaultBudget() { state_.most_work = AnswerCost::Within(milliseconds(250)); }
};

TEST_F(DefaultBudget, AnswersTheExample) {
  std::ifstream file(EXAMPLE_FILE);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const json answer = Ask("POST", "/v1/advise", {{"spec_yaml", text}});
  EXPECT_FALSE(answer["strategies"].empty()) << answer.dump(1).substr(0, 1'000);
}

TEST_F(DefaultBudget, AnswersAFormAboutTenThousandNodes) {
  std::string text = "node n[00001-10000] gpu4090:8 cpus 64 mem 512000\n";
  for (int job = 1; job <= 300; ++job) {
    text += fmt::format("run {} n{:05} gpu4090:8 cpus 8 ends {}m\n", job, job, job);
    text += fmt::format("pend {} gpu4090:8 nodes {} limit {}h\n", 1'000 + job, 1 + job % 40,
                        1 + job % 20);
  }
  Snapshot snapshot = SnapshotOf(text);
  snapshot.source = "slurm-cli";
  cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
  json jobs = json::array();
  for (int gpus = 1; gpus <= 20; ++gpus) {
    jobs.push_back({{"gres", "gpu:8"}, {"nodes", 8 * gpus}, {"time_limit_seconds", 3'600 * gpus}});
  }
  const json answer = Ask("POST", "/v1/when", {{"jobs", jobs}});
  ASSERT_EQ(answer["answers"].size(), 20u) << answer.dump(1).substr(0, 1'000);
  for (const json& one : answer["answers"]) EXPECT_TRUE(one["error"].is_null()) << one;
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
      std::string told = Raw("POST", target, body.dump(), kNobody).Bytes();
      if (const size_t at = told.find("'" + own + "'"); !own.empty() && at != told.npos) {
        told.erase(at, own.size() + 2);  // what the caller wrote
      }
      EXPECT_EQ(told.find("SECRET"), std::string::npos) << told;
      EXPECT_EQ(told.find("user  "), std::string::npos) << told;
    }
    const json advise = {{"spec", Spec()}, {"constraints", {{"partition", own}}}};
    std::string told = Raw("POST", "/v1/advise", advise.dump(), kNobody).Bytes();
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
  const std::string shown = Raw("GET", "/v1/nodes", "", kNobody).Bytes();
  EXPECT_EQ(shown.find("SECRETREASON"), std::string::npos);
  EXPECT_EQ(Ask("GET", "/v1/nodes?search=SECRETREASON", nullptr, kNobody)["total"], 0);
  EXPECT_NE(Raw("GET", "/v1/nodes").Bytes().find("SECRETREASON"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::daemon
