#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/base/version.h"
#include "common/spec/sent_spec.h"
#include "tests/daemon/api/handlers_fixture.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

json Train() {
  return {{"spec",
           {{"name", "gr00t-finetune"},
            {"model", {{"preset", "gr00t-n1-2b"}}},
            {"training", {{"max_steps", 10000}, {"effective_batch_size", {120, 144}}}},
            {"command", "true"}}}};
}

TEST_F(HandlersTest, HealthSaysStartingBeforeTheFirstSnapshot) {
  const ApiResponse response = Raw("GET", "/healthz");
  EXPECT_EQ(response.status, 503);
  const json answer = json::parse(response.Bytes());
  EXPECT_EQ(answer["status"], "starting");
  EXPECT_EQ(answer["cause"],
            "no snapshot of the cluster yet: the first one is on its way; ask again in a moment");
  EXPECT_TRUE(answer["snapshot_age_seconds"].is_null());
}

TEST_F(HandlersTest, OneThatStandsByAnswersNothingButHowItIs) {
  history_.KeepTrying([]() -> Result<std::unique_ptr<History>> { return nullptr; },
                      kOpenServerAgain, true);
  for (const char* target : {"/v1/gpus", "/v1/me", "/v1/nothing", "/v1/events"}) {
    const ApiResponse response = Raw("GET", target);
    EXPECT_EQ(response.status, 503) << target;
    EXPECT_EQ(json::parse(response.Bytes())["errors"][0]["code"], "standby");
    EXPECT_EQ(response.fields.at(0), (std::pair<std::string, std::string>("Retry-After", "2")));
  }
  const ApiResponse health = Raw("GET", "/healthz");
  EXPECT_EQ(health.status, 200);
  EXPECT_EQ(json::parse(health.Bytes())["status"], "standby");
}

TEST_F(HandlersTest, HealthIsOkWhileSnapshotsArriveAndStaleWithTheCauseAfterwards) {
  ClusterIs("");
  EXPECT_EQ(Ask("GET", "/healthz")["status"], "ok");
  cluster_.SetCause("slurmctld does not answer");
  clock_.Advance(30);
  const ApiResponse response = Raw("GET", "/healthz");
  EXPECT_EQ(response.status, 200);
  const json answer = json::parse(response.Bytes());
  EXPECT_EQ(answer["status"], "stale");
  EXPECT_EQ(answer["cause"], "slurmctld does not answer");
  EXPECT_EQ(answer["snapshot_age_seconds"], 30);
}

TEST_F(HandlersTest, HealthSaysWhyABetterSourceIsNotUsed) {
  ClusterIs("");
  EXPECT_FALSE(Ask("GET", "/healthz").contains("passed_over"));
  cluster_.SetPassedOver("slurm-api: libslurm.so.37 cannot be loaded on this host");
  const json answer = Ask("GET", "/healthz");
  EXPECT_EQ(answer["status"], "ok");
  EXPECT_EQ(answer["passed_over"], "slurm-api: libslurm.so.37 cannot be loaded on this host");
}

TEST_F(HandlersTest, EveryAnswerSaysWhatIsHiddenFromTheDaemon) {
  ClusterIs("config hidden jobs");
  const json answer = Ask("GET", "/v1/gpus");
  const std::string unseen = answer["meta"].value("unseen", "");
  EXPECT_NE(unseen.find("PrivateData hides other users' jobs"), std::string::npos) << answer;
}

TEST_F(HandlersTest, EveryAnswerHasTheFrame) {
  ClusterIs("");
  clock_.Advance(12);
  const json answer = Ask("GET", "/v1/gpus");
  EXPECT_EQ(answer["meta"], (json{{"version", kVersion},
                                  {"cluster", "seed"},
                                  {"source", "slurm-cli"},
                                  {"snapshot_taken_at", kSnapshotTime},
                                  {"stale_cause", nullptr}}));
  EXPECT_EQ(answer["snapshot_age_seconds"], 12);
  EXPECT_EQ(answer["errors"], json::array());
  EXPECT_EQ(answer["warnings"], json::array());
  EXPECT_FALSE(answer["gpus"].empty());
}

TEST_F(HandlersTest, WithoutASnapshotQuestionsAre503WithTheCause) {
  cluster_.SetCause("slurm-api is not built in; slurm-cli: no sinfo");
  for (const auto& [method, target] : {std::pair{"POST", "/v1/advise"},
                                       {"POST", "/v1/when"},
                                       {"POST", "/v1/select"},
                                       {"GET", "/v1/gpus"}}) {
    const ApiResponse response = Raw(method, target, "{}");
    EXPECT_EQ(response.status, 503) << target;
    const json error = json::parse(response.Bytes())["errors"][0];
    EXPECT_EQ(error["code"], "unavailable");
    EXPECT_EQ(error["message"],
              "no snapshot of the cluster yet: slurm-api is not built in; slurm-cli: no sinfo");
  }
}

TEST_F(HandlersTest, AnOldSnapshotStillAnswersWithItsAgeAndCause) {
  ClusterIs("");
  cluster_.SetCause("slurmctld does not answer");
  clock_.Advance(3600);
  const json answer = Ask("POST", "/v1/advise", Train());
  EXPECT_FALSE(answer["strategies"].empty());
  EXPECT_EQ(answer["snapshot_age_seconds"], 3600);
  EXPECT_EQ(answer["meta"]["stale_cause"], "slurmctld does not answer");
}

TEST_F(HandlersTest, SelectAnswersWithinTheFrame) {
  ClusterIs("");
  const json job = {{"gres", "gpu:6"}, {"time_limit_seconds", 3600}, {"mem_mib", 1000}};
  const json answer = Ask("POST", "/v1/select", {{"job", job}});
  EXPECT_EQ(answer["job"]["gres"], "gpu:gpul40s:6") << answer;
  EXPECT_EQ(answer["snapshot_age_seconds"], 0);
  EXPECT_FALSE(Ask("POST", "/v1/select", {{"job", json::object()}}).contains("advice_id"));
  EXPECT_EQ(Raw("POST", "/v1/select", "{}").status, 400);
  EXPECT_EQ(Raw("GET", "/v1/select").status, 405);
}

TEST_F(HandlersTest, ASelectedJobMayBeReported) {
  ClusterIs("");
  const json job = {{"gres", "gpu:4090:4"}, {"time_limit_seconds", 3600}};
  const json first = Ask("POST", "/v1/select", {{"job", job}});
  const std::string path = "/v1/advice/" + first["advice_id"].get<std::string>() + "/submitted";
  EXPECT_EQ(Ask("POST", path, {{"job_id", 4711}, {"rank", 1}})["job_id"], 4711);
  EXPECT_EQ(Ask("GET", "/v1/advice?job=4711")["jobs"][0]["strategy"]["gres_type"], "gpu4090");
}

TEST_F(HandlersTest, AdviceHasAnIdOfItsOwn) {
  ClusterIs("");
  EXPECT_EQ(Ask("POST", "/v1/advise", Train())["advice_id"], "a-test-1");
  EXPECT_EQ(Ask("POST", "/v1/advise", Train())["advice_id"], "a-test-2");
}

// Ten invented jobs made everybody wait for as long as somebody went on reporting them.
TEST_F(HandlersTest, AReportMovesNoForecastBeforeASnapshotShowsItsJob) {
  ClusterIs("run 4700 classt06 gpu4070:1 cpus 4 ends 2h\n");
  json train = Train();
  train["constraints"] = {{"gpus", {"rtx4090"}}, {"gpus_per_node", 4}};
  const json first = Ask("POST", "/v1/advise", train);
  ASSERT_EQ(first["strategies"][0]["wait_p50_seconds"], 0) << first.dump(1);
  const std::string path = "/v1/advice/" + first["advice_id"].get<std::string>() + "/submitted";
  const auto before = cluster_.state();
  for (int64_t id = 4'701; id <= 4'710; ++id) {
    EXPECT_EQ(Ask("POST", path, {{"job_id", id}, {"rank", 1}})["job_id"], id);
  }
  EXPECT_EQ(cluster_.state(), before) << "nothing is prepared anew";
  EXPECT_EQ(Raw("GET", "/v1/queue", "", kSomebodyElse).Bytes().find("4701"), std::string::npos);
  for (const Peer& peer : {kMe, kSomebodyElse}) {
    const json again = Ask("POST", "/v1/advise", train, peer);
    EXPECT_EQ(again["strategies"][0]["wait_p50_seconds"], 0) << again.dump(1);
  }
  EXPECT_EQ(Ask("GET", "/v1/advice")["jobs"].size(), 10u) << "its user's log has them";
}

TEST_F(HandlersTest, AReportAsksForASnapshotUnlessOneShowsTheJob) {
  int asked = 0;
  state_.poll_soon = [&] { ++asked; };
  ClusterIs("run 55 classt25 gpu4090:2 cpus 4 ends 2h\n", 55);
  const std::string id = Ask("POST", "/v1/advise", Train())["advice_id"];
  const auto report = [&](int64_t job) {
    return Raw("POST", "/v1/advice/" + id + "/submitted", json{{"job_id", job}, {"rank", 1}}.dump())
        .status;
  };
  EXPECT_EQ(report(55), 200);
  EXPECT_EQ(report(70'000'000'000), 404);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(report(56), 200);
  EXPECT_EQ(asked, 1);
}

TEST_F(HandlersTest, OnlyWhoeverAskedMayReportAJob) {
  ClusterIs("");
  const std::string id = Ask("POST", "/v1/advise", Train())["advice_id"];
  const std::string target = "/v1/advice/" + id + "/submitted";
  const std::string body = R"({"job_id": 1, "rank": 1})";
  EXPECT_EQ(Raw("POST", target, body, kSomebodyElse).status, 404);
  EXPECT_EQ(Raw("POST", target, body, kNobody).status, 404);
  EXPECT_EQ(Raw("POST", "/v1/advice/a-other-1/submitted", body).status, 404);
  EXPECT_EQ(Raw("POST", target, body).status, 200);
}

// Whoever reports another's job first, or later, takes nothing from them.
TEST_F(HandlersTest, WhoseAReportedJobIsTheSnapshotDecides) {
  ClusterIs("run 4700 classt25 gpu4090:1 cpus 4 ends 2h\n");
  const auto report = [&](const Peer& peer) {
    const std::string id = Ask("POST", "/v1/advise", Train(), peer)["advice_id"];
    const json body = {{"job_id", 4'701}, {"rank", 1}};
    return Raw("POST", "/v1/advice/" + id + "/submitted", body.dump(), peer).status;
  };
  const auto row = [&](const Peer& peer) {
    return Raw("GET", "/v1/advice?job=4701", "", peer).status;
  };
  EXPECT_EQ(report(kMe), 200);
  EXPECT_EQ(report(kSomebodyElse), 200);
  EXPECT_EQ(row(kMe), 200);
  EXPECT_EQ(row(kSomebodyElse), 200);
  EXPECT_EQ(Raw("GET", "/v1/jobs/4701", "", kSomebodyElse).status, 404) << "nobody's queue has it";
  ClusterIs("pend 4701 gpu4090:1\n", 4'701);
  experiments_.OnSnapshot(*cluster_.state()->snapshot, clock_.Now());
  EXPECT_EQ(row(kMe), 200);
  EXPECT_EQ(row(kSomebodyElse), 404);
  EXPECT_EQ(report(kSomebodyElse), 404);
}

TEST_F(HandlersTest, NothingOfTheUsersScriptIsKeptOrToldAgain) {
  ClusterIs("");
  json train = Train();
  train["spec"]["env"] = {{"HF_TOKEN", "hf_SECRET"}};
  train["spec"]["setup"] = {"export W=hf_SECRET"};
  train["spec"]["command"] = "hf_SECRET {micro_batch}";
  const std::string id = Ask("POST", "/v1/advise", train)["advice_id"];
  Ask("POST", "/v1/advice/" + id + "/submitted", {{"job_id", 4711}, {"rank", 1}});
  const json job = Ask("GET", "/v1/advice?job=4711")["jobs"][0];
  EXPECT_EQ(job.dump().find("hf_SECRET"), std::string::npos);
  EXPECT_EQ(job["request"]["spec"], SentSpec(Train()["spec"])) << "what is counted with is kept";
}

json OutcomeOf(int64_t job_id) {
  return {{"version", 1},
          {"job_id", std::to_string(job_id)},
          {"attempts",
           {{{"micro_batch", 10},
             {"accumulation", 3},
             {"steps", 1000},
             {"steps_done", 1000},
             {"began", kSnapshotTime + 10},
             {"seconds", 8'000},
             {"seconds_per_step", 3.9},
             {"loss", 0.5}}}}};
}

TEST_F(HandlersTest, OfARequestOnlyMembersThatAreReadAreKept) {
  ClusterIs("");
  json train = Train();
  train["objective"] = "start";
  train["constraints"] = {{"nodes", 1}, {"token", "hf_SECRET"}};
  train["env"] = {{"HF_TOKEN", "hf_SECRET"}};
  const std::string id = Ask("POST", "/v1/advise", train)["advice_id"];
  EXPECT_EQ(advice_.Find(id, kMe.uid)->request.find("hf_SECRET"), std::string::npos);
  Ask("POST", "/v1/advice/" + id + "/submitted", {{"job_id", 4711}, {"rank", 1}});
  const json request = Ask("GET", "/v1/advice?job=4711")["jobs"][0]["request"];
  EXPECT_EQ(request, (json{{"spec", SentSpec(Train()["spec"])},
                           {"objective", "start"},
                           {"constraints", {{"nodes", 1}}}}));
}

TEST_F(HandlersTest, WhoHasNoNameMayAskButReportsNoJob) {
  ClusterIs("");
  const std::string id = Ask("POST", "/v1/advise", Train(), kNameless)["advice_id"];
  const ApiResponse refused =
      Raw("POST", "/v1/advice/" + id + "/submitted", R"({"job_id": 1, "rank": 1})", kNameless);
  EXPECT_EQ(refused.status, 404);
  EXPECT_NE(refused.Bytes().find("uid 165536 has no login name"), std::string::npos)
      << refused.body;
}

TEST_F(HandlersTest, AJobThatTheQueueShowsIsLoggedByItsTimeOfSubmission) {
  ClusterIs("run 55 classt25 gpu4090:2 cpus 4 ends 2h\n", 55);
  const std::string id = Ask("POST", "/v1/advise", Train())["advice_id"];
  EXPECT_EQ(Raw("POST", "/v1/outcomes", OutcomeOf(55).dump()).status, 200);
  clock_.Advance(7'200);
  EXPECT_EQ(Raw("POST", "/v1/advice/" + id + "/submitted", R"({"job_id": 55, "rank": 1})").status,
            200);
  const json jobs = Ask("GET", "/v1/advice")["jobs"];
  ASSERT_EQ(jobs.size(), 1u) << "one job is one row: " << jobs;
  EXPECT_EQ(jobs[0]["advice_id"], id);
  EXPECT_EQ(jobs[0]["submitted_at"], kSnapshotTime - 3'600);
  EXPECT_EQ(jobs[0]["seconds_per_step"], 3.9);
}

TEST_F(HandlersTest, ASubmittedJobIsInTheCallersLogWithWhatWasPromised) {
  ClusterIs("");
  const std::string id = Ask("POST", "/v1/advise", Train())["advice_id"];
  Ask("POST", "/v1/advice/" + id + "/submitted",
      {{"job_id", 4711}, {"rank", 1}, {"output_dir", "/scratch/me"}});
  const json jobs = Ask("GET", "/v1/advice")["jobs"];
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0]["job_id"], 4711);
  EXPECT_EQ(jobs[0]["advice_id"], id);
  EXPECT_EQ(jobs[0]["state"], "pending");
  EXPECT_EQ(jobs[0]["output_dir"], "/scratch/me");
  EXPECT_TRUE(jobs[0]["run_p50_seconds"].is_number());
  const json one = Ask("GET", "/v1/advice?job=4711")["jobs"][0];
  EXPECT_EQ(one["request"]["spec"], SentSpec(Train()["spec"]));
  EXPECT_EQ(one["strategy"]["rank"], 1);
}

TEST_F(HandlersTest, WhatMayBeLostIsAnsweredWithAWarning) {
  ClusterIs("");
  const auto warnings = [&](int64_t job) {
    const std::string id = Ask("POST", "/v1/advise", Train())["advice_id"];
    const json report = {{"job_id", job}, {"rank", 1}};
    return json{Ask("POST", "/v1/advice/" + id + "/submitted", report)["warnings"],
                Ask("POST", "/v1/outcomes", OutcomeOf(job))["warnings"]};
  };
  EXPECT_EQ(warnings(1), (json{json::array(), json::array()})) << "nothing is to be kept";
  history_.KeepTrying(
      []() -> Result<std::unique_ptr<History>> {
        return Fail(ErrorCode::kUnavailable, "the disk is full");
      },
      kOpenFileAgain);
  EXPECT_EQ(history_.TryToOpen(), HistoryWriter::Tried::kFailed);
  const json lost = {
      "kept in memory alone, and lost if gpuadvised ends before the history can be "
      "written: the disk is full"};
  EXPECT_EQ(warnings(2), (json{lost, lost}));
}

TEST_F(HandlersTest, WhereTheDatabaseIsOnlyItsAdministratorsLearn) {
  ClusterIs("");
  state_.history_in_server = true;
  history_.KeepTrying(
      []() -> Result<std::unique_ptr<History>> {
        return Fail(ErrorCode::kUnavailable, "postgresql://ann@db.site/x is away");
      },
      kOpenServerAgain);
  EXPECT_EQ(history_.TryToOpen(), HistoryWriter::Tried::kFailed);
  EXPECT_NE(Raw("GET", "/healthz").Bytes().find("ann@db.site"), std::string::npos);
  for (const Peer& peer : {kSomebodyElse, kNobody}) {
    for (const char* target : {"/healthz", "/v1/history", "/v1/usage"}) {
      EXPECT_EQ(Raw("GET", target, "", peer).Bytes().find("db.site"), std::string::npos) << target;
    }
  }
}

TEST_F(HandlersTest, AnOutcomeIsTakenFromTheOwnerOfTheJobAlone) {
  ClusterIs("");
  const std::string id = Ask("POST", "/v1/advise", Train())["advice_id"];
  Ask("POST", "/v1/advice/" + id + "/submitted", {{"job_id", 4711}, {"rank", 1}});
  const std::string body = OutcomeOf(4711).dump();
  EXPECT_EQ(Raw("POST", "/v1/outcomes", body, kSomebodyElse).status, 404);
  EXPECT_EQ(Raw("POST", "/v1/outcomes", body, kNobody).status, 404);
  EXPECT_EQ(Raw("POST", "/v1/outcomes", OutcomeOf(4712).dump()).status, 404);
  EXPECT_EQ(Raw("POST", "/v1/outcomes", body).status, 200);
  EXPECT_EQ(Ask("GET", "/v1/advice")["jobs"][0]["loss"], 0.5);
  EXPECT_EQ(Ask("GET", "/v1/advice", nullptr, kSomebodyElse)["jobs"], json::array());
  EXPECT_EQ(Raw("GET", "/v1/advice?job=4711", "", kSomebodyElse).status, 404);
  EXPECT_EQ(Raw("GET", "/v1/advice", "", kNobody).status, 404);
  EXPECT_NE(Raw("GET", "/v1/advice", "", kNobody).Bytes().find("is for users who are known: "),
            std::string::npos);
}

TEST_F(HandlersTest, AJobOfTheQueueThatNobodyAdvisedMayReport) {
  ClusterIs("run 55 classt25 gpu4090:2 cpus 4 ends 2h\nrun 56 classt25 gpu4090:1 cpus 4 ends 2h\n",
            55);
  EXPECT_EQ(Raw("POST", "/v1/outcomes", OutcomeOf(55).dump()).status, 200);
  EXPECT_EQ(Raw("POST", "/v1/outcomes", OutcomeOf(56).dump()).status, 404);
  const json job = Ask("GET", "/v1/advice?job=55")["jobs"][0];
  EXPECT_EQ(job["state"], "running");
  EXPECT_TRUE(job["advice_id"].is_null());
  EXPECT_EQ(job["seconds_per_step"], 3.9);
}

TEST_F(HandlersTest, AJobOfSomebodyElseCannotBeClaimed) {
  ClusterIs("run 56 classt25 gpu4090:1 cpus 4 ends 2h\n");
  const std::string id = Ask("POST", "/v1/advise", Train())["advice_id"];
  const std::string claim = R"({"job_id": 56, "rank": 1})";
  EXPECT_EQ(Raw("POST", "/v1/advice/" + id + "/submitted", claim).status, 404);
  EXPECT_EQ(Raw("GET", "/v1/advice?job=56").status, 404);
}

TEST_F(HandlersTest, OutcomesThatCannotBeAreRefusedWithTheirPlace) {
  ClusterIs("");
  json outcome = OutcomeOf(1);
  outcome["attempts"][0]["micro_batch"] = "x";
  const json error = Ask("POST", "/v1/outcomes", outcome)["errors"][0];
  EXPECT_EQ(error["pointer"], "/attempts/0/micro_batch");
  EXPECT_EQ(Raw("POST", "/v1/outcomes", "{\"version\": 1").status, 400);
  EXPECT_EQ(Raw("GET", "/v1/advice?job=x").status, 400);
}

TEST_F(HandlersTest, AnOutcomeBeyondWhatOursSendsIsRefused) {
  ClusterIs("run 55 classt25 gpu4090:2 cpus 4 ends 2h\n", 55);
  json large = OutcomeOf(55);
  large["padding"] = std::string(kMaxSentOutcomeBytes, 'x');
  const ApiResponse refused = Raw("POST", "/v1/outcomes", large.dump());
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.Bytes().find("65536 are taken"), std::string::npos) << refused.body;
}

TEST_F(HandlersTest, AnOutcomeMakesTheNextAdviceBetter) {
  ClusterIs("");
  json train = Train();
  train["constraints"] = {{"gpus", {"rtx4090"}}, {"gpus_per_node", 4}};
  const json before = Ask("POST", "/v1/advise", train);
  Ask("POST", "/v1/advice/" + before["advice_id"].get<std::string>() + "/submitted",
      {{"job_id", 4711}, {"rank", 1}});
  json outcome = OutcomeOf(4711);
  outcome["attempts"][0]["seconds_per_step"] = 7.8;
  ASSERT_EQ(Raw("POST", "/v1/outcomes", outcome.dump()).status, 200);
  EXPECT_EQ(Ask("POST", "/v1/advise", train)["strategies"][0]["reasons"].dump().find("your runs"),
            std::string::npos)
      << "Slurm has not seen it run yet";
  PastJob ran;
  ran.record.id = 4711;
  ran.record.user = users_.NameOf(kMe.uid);
  ran.record.submit = kSnapshotTime;
  ran.record.start = kSnapshotTime + 5;
  ran.record.end = kSnapshotTime + 9'000;
  experiments_.OnJobsChanged({ran});
  const json after = Ask("POST", "/v1/advise", train)["strategies"][0];
  EXPECT_NE(after["reasons"].dump().find("measured on 1 of your runs"), std::string::npos);
  EXPECT_GT(after["run_p50_seconds"].get<double>(),
            1.5 * before["strategies"][0]["run_p50_seconds"].get<double>());
}

TEST_F(HandlersTest, AReportWithoutAProperJobIdOrRankIsRefused) {
  ClusterIs("");
  const std::string id = Ask("POST", "/v1/advise", Train())["advice_id"];
  const auto refusal = [&](const json& body) {
    const ApiResponse response = Raw("POST", "/v1/advice/" + id + "/submitted", body.dump());
    const json error = json::parse(response.Bytes())["errors"][0];
    return std::to_string(response.status) + " " + error["pointer"].get<std::string>() + " " +
           error["message"].get<std::string>();
  };
  EXPECT_EQ(refusal({{"job_id", 4}, {"rank", 999}}),
            "404 /rank this advice has no strategy of rank 999");
  EXPECT_EQ(refusal({{"rank", 1}}), "400 /job_id job_id is missing or no positive whole number");
  EXPECT_EQ(refusal({{"job_id", -4}, {"rank", 1}}),
            "400 /job_id job_id is missing or no positive whole number");
  EXPECT_EQ(refusal({{"job_id", "4"}, {"rank", 1}}),
            "400 /job_id job_id is missing or no positive whole number");
  EXPECT_EQ(refusal({{"job_id", 18446744073709551615u}, {"rank", 1}}).substr(0, 11), "400 /job_id");
  EXPECT_EQ(refusal({{"job_id", 4}, {"rank", 0}}),
            "400 /rank rank is missing or no positive whole number");
}

TEST_F(HandlersTest, WhenAnswersEveryJobOfTheQuestion) {
  ClusterIs("");
  const json answer =
      Ask("POST", "/v1/when", {{"jobs", {{{"gres", "gpu:l40s:6"}}, {{"gres", "gpu:l40s:60"}}}}});
  ASSERT_EQ(answer["answers"].size(), 2u);
  EXPECT_EQ(answer["answers"][0]["wait_p50_seconds"], 0);
  EXPECT_TRUE(answer["answers"][0]["error"].is_null());
  EXPECT_FALSE(answer["answers"][1]["error"].is_null());
}

TEST_F(HandlersTest, AnErrorOfTheAnswerKeepsItsPointer) {
  ClusterIs("");
  json train = Train();
  train["spec"]["training"]["max_steps"] = -1;
  const ApiResponse response = Raw("POST", "/v1/advise", train.dump());
  EXPECT_EQ(response.status, 400);
  const json error = json::parse(response.Bytes())["errors"][0];
  EXPECT_EQ(error["code"], "bad_input");
  EXPECT_EQ(error["pointer"], "/spec/training/max_steps");
}

TEST_F(HandlersTest, WhatIsNoJsonObjectIsRefused) {
  ClusterIs("");
  for (const std::string& body :
       {std::string(""), std::string("[1]"), std::string("{\"a\": "), std::string("nul"),
        std::string("{\"a\": \"\xff\"}"), std::string(100000, '[')}) {
    const ApiResponse response = Raw("POST", "/v1/when", body);
    EXPECT_EQ(response.status, 400) << body.substr(0, 20);
    EXPECT_EQ(json::parse(response.Bytes())["errors"][0]["code"], "bad_input");
  }
}

TEST_F(HandlersTest, AnUnknownParameterIsRefusedWithThoseThatAreKnown) {
  ClusterIs("");
  const auto refusal = [&](const char* target) {
    const ApiResponse response = Raw("GET", target);
    EXPECT_EQ(response.status, 400) << target;
    return json::parse(response.Bytes())["errors"][0]["message"].get<std::string>();
  };
  EXPECT_EQ(refusal("/v1/gpus?pretty=1"), "unknown parameter 'pretty'; this takes none");
  EXPECT_EQ(refusal("/v1/history?x=1"), "unknown parameter 'x'; known are weeks, gpu");
  EXPECT_EQ(Raw("GET", "/v1/queue?state=&user=ann").status, 200);
}

TEST_F(HandlersTest, LongTextOfARequestIsNotSaidAgain) {
  ClusterIs("");
  const std::string large(100'000, 'x');
  for (const std::string& body :
       {json{{"spec", {{large, 1}}}}.dump(), json{{"spec", {{"objective", large}}}}.dump(),
        json{{"spec", {{"model", {{"preset", large}}}}}}.dump(),
        json{{"spec_yaml", "a: 1\n"}, {"section", large}}.dump(),
        json{{"spec_yaml", "model: {hf_config: /" + large + "}"}}.dump()}) {
    for (const char* target : {"/v1/advise", "/v1/fit", "/v1/when", "/v1/select"}) {
      const ApiResponse response = Raw("POST", target, body);
      EXPECT_NE(response.status, 200) << target << body.substr(0, 40);
      EXPECT_LT(response.Bytes().size(), 2000u) << target << body.substr(0, 40);
    }
  }
  EXPECT_LT(Raw("GET", "/v1/queue?limit=" + large).Bytes().size(), 1000u);
  EXPECT_LT(Raw("GET", "/" + large).Bytes().size(), 1000u);
}

TEST_F(HandlersTest, AnUnknownPathIsNotFound) {
  for (const char* target :
       {"/", "/v1", "/v1/gpus/", "/v1/advice//submitted", "/v1/advice/a/b/submitted", "*", ""}) {
    const ApiResponse response = Raw("GET", target);
    EXPECT_EQ(response.status, 404) << target;
    EXPECT_EQ(json::parse(response.Bytes())["errors"][0]["code"], "not_found") << target;
  }
}

TEST_F(HandlersTest, AWrongMethodIsToldTheRightOne) {
  const ApiResponse response = Raw("GET", "/v1/advise");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.allow, "POST");
  EXPECT_EQ(json::parse(response.Bytes())["errors"][0]["message"],
            "/v1/advise wants POST, not GET");
  EXPECT_EQ(Raw("DELETE", "/v1/gpus").allow, "GET");
}

TEST_F(HandlersTest, AnAnonymousCallerMayAskButGetsNothingToReportAgainst) {
  ClusterIs("");
  EXPECT_EQ(Raw("GET", "/v1/gpus", "", kNobody).status, 200);
  EXPECT_EQ(Raw("POST", "/v1/when", R"({"jobs": [{}]})", kNobody).status, 200);
  const json advice = Ask("POST", "/v1/advise", Train(), kNobody);
  EXPECT_FALSE(advice["strategies"].empty());
  EXPECT_FALSE(advice.contains("advice_id"));
}

TEST_F(HandlersTest, BytesThatAreNoUtf8DoNotBreakTheAnswer) {
  const ApiResponse response = Raw("GET", "/\xff\xfe");
  EXPECT_EQ(response.status, 404);
  EXPECT_TRUE(json::accept(response.Bytes()));
}

TEST_F(HandlersTest, NobodyHasTheWaitsOfAUserWithTheFewestRights) {
  const auto asked = [&](const Peer& peer) {
    const json job = {{"gres", "gpu:l40s:1"}, {"time_limit_seconds", 3600}};
    return Ask("POST", "/v1/when", {{"jobs", json::array({job})}}, peer);
  };
  const std::string said = "you have no account here";
  ClusterIs("config enforce associations\nassoc lab user ann default\n");
  const json nobodys = asked(kNobody);
  EXPECT_TRUE(nobodys["answers"][0].contains("wait_p50_seconds")) << nobodys;
  EXPECT_NE(nobodys["warnings"].dump().find(said), std::string::npos) << nobodys;
  const json strangers = asked(kSomebodyElse);
  EXPECT_FALSE(strangers["answers"][0]["error"].is_null()) << strangers;
  EXPECT_EQ(strangers["warnings"].dump().find(said), std::string::npos) << strangers;
  ClusterIs(
      "config enforce associations\nqos web\nassoc lab user ann default\nassoc www user web\n");
  cluster_.SetCatalogues(std::make_shared<const Catalogues>(
      Catalogues{ShippedGpus(), ShippedModels(), 0, "www", "web"}));
  EXPECT_EQ(asked(kNobody)["warnings"],
            json({said + ": waits are those of a user with the fewest rights in account www, with "
                         "QOS web"}));
  ClusterIs("assoc lab user ann default\n");
  EXPECT_EQ(asked(kNobody)["warnings"].dump().find(said), std::string::npos);
}

TEST_F(HandlersTest, WhatTheSiteLeavesOpenIsToldToUsersOnly) {
  ClusterIs("node x1 bigcard:4\n");
  state_.accounting_problem = [] { return "slurmdbd does not answer"; };
  for (const char* path : {"/healthz", "/v1/site"}) {
    const char* member = path[1] == 'h' ? "site_problems" : "problems";
    const json problems = Ask("GET", path)[member];
    ASSERT_EQ(problems.size(), 2u) << problems;
    EXPECT_NE(problems[0].dump().find("GRES gpu:bigcard of x1"), std::string::npos);
    EXPECT_EQ(problems[1], "slurmdbd does not answer");
    EXPECT_FALSE(Ask("GET", path, nullptr, kNobody).contains(member));
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
