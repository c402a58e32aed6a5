#include "client/commands/doctor_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "embedded/default_sbatch_template.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

Surroundings Healthy() {
  return {"0.1.0",
          "/run/gpuadvise/gpuadvised.sock",
          "/usr/bin/sbatch",
          "slurm 22.05.8",
          "/etc/slurm/slurm.conf",
          true,
          {}};
}

json Health() {
  return json::parse(R"({"status": "ok", "snapshot_age_seconds": 12,
      "history": {"problem": null, "file": "/var/lib/gpuadvise/history.db", "bytes": 3210000, "max_bytes": 1000000000, "jobs": 1204,
                  "oldest_age_seconds": 1040000, "newest_age_seconds": 40},
      "meta": {"version": "0.1.0", "cluster": "seed", "source": "slurm-api", "stale_cause": null}})");
}

std::string Doctor(const json& health, const Surroundings& around, int expected) {
  FakeApi api;
  FakeConsole console;
  console.shown.width = 80;
  if (!health.is_null()) api.Answer(health);
  EXPECT_EQ(RunDoctor(api, around, console), expected);
  return console.printed;
}

TEST(Doctor, AHealthySiteIsAllOk) {
  ExpectGolden("doctor_ok.txt", Doctor(Health(), Healthy(), kExitOk));
}

TEST(Doctor, SaysWhatIsKnownOfTheAccuracyOfForecasts) {
  FakeApi api;
  FakeConsole console;
  api.Answer(Health());
  api.Answer({{"note", "accuracy not known yet (4 of 30 jobs needed)"}});
  EXPECT_EQ(RunDoctor(api, Healthy(), console), kExitOk);
  EXPECT_NE(
      console.printed.find("ok       forecast    accuracy not known yet (4 of 30 jobs needed)"),
      std::string::npos)
      << console.printed;
}

TEST(Doctor, EveryTroubleHasItsRemedy) {
  Surroundings around = Healthy();
  around.sbatch = "";
  around.slurm_conf_readable = false;
  around.settings_files = {"/home/me/.config/gpuadvise/client.yaml"};
  ExpectGolden("doctor_down.txt", Doctor(nullptr, around, kExitError));
}

TEST(Doctor, OldDataAndAnotherVersionAreWarnings) {
  json health = Health();
  health["status"] = "stale";
  health["cause"] = "slurmctld does not answer";
  health["meta"]["version"] = "0.2.0";
  Surroundings around = Healthy();
  around.slurm_conf = "";
  ExpectGolden("doctor_warnings.txt", Doctor(health, around, kExitOk));
}

TEST(Doctor, AStandbyHasNoDataOfItsOwn) {
  const std::string printed =
      Doctor({{"status", "standby"}, {"meta", {{"version", "0.1.0"}}}}, Healthy(), kExitOk);
  EXPECT_NE(printed.find("ok       data        a standby: another daemon holds the history"),
            std::string::npos)
      << printed;
}

TEST(Doctor, ASourceThatIsNotTheFirstSaysWhy) {
  json health = Health();
  health["meta"]["source"] = "slurm-cli";
  health["passed_over"] = "slurm-api: libslurm.so.37 cannot be loaded on this host";
  const std::string printed = Doctor(health, Healthy(), kExitOk);
  EXPECT_NE(printed.find("warning  source      slurm-cli is used; slurm-api: libslurm.so.37"),
            std::string::npos)
      << printed;
}

TEST(Doctor, WhatIsHiddenFromTheDaemonIsAWarning) {
  json health = Health();
  health["meta"]["unseen"] = "PrivateData hides other users' jobs";
  const std::string printed = Doctor(health, Healthy(), kExitOk);
  EXPECT_NE(printed.find("warning  rights      PrivateData hides other users' jobs"),
            std::string::npos)
      << printed;
}

TEST(Doctor, WhatTheSiteLeavesOpenIsAWarningOnce) {
  json health = Health();
  health["site_problems"] = {"GRES gpu:bigcard of n1 is of a GPU", "slurmdbd does not answer"};
  Surroundings around = Healthy();
  around.accounting_problem = "slurmdbd does not answer";
  const std::string printed = Doctor(health, around, kExitOk);
  EXPECT_NE(printed.find("warning  site        GRES gpu:bigcard of n1 is of a GPU\n"),
            std::string::npos);
  const size_t said = printed.find("slurmdbd does not");
  EXPECT_EQ(said, printed.find("warning  accounting  ") + 21) << printed;
  EXPECT_EQ(printed.find("slurmdbd does not", said + 1), std::string::npos) << printed;
}

TEST(Doctor, AHistoryWhoseFileIsNotToldHasASize) {  // through a relay
  json health = Health();
  health["history"].erase("file");
  EXPECT_NE(Doctor(health, Healthy(), kExitOk).find("ok       history     3.2 MB of 1000, 1204"),
            std::string::npos);
}

TEST(Doctor, AHistoryThatIsNotKeptIsAWarning) {
  json health = Health();
  health["history"] = {{"problem", "/var/lib/gpuadvise/history.db: database or disk is full"}};
  EXPECT_NE(
      Doctor(health, Healthy(), kExitOk).find("warning  history     not kept: /var/lib/gpuadvise"),
      std::string::npos);
}

TEST(Doctor, AnSbatchThatDoesNotRunIsAnError) {
  Surroundings around = Healthy();
  around.sbatch_version = "";
  EXPECT_NE(Doctor(Health(), around, kExitError).find("does not run"), std::string::npos);
}

class DoctorOfFile : public testing::Test, protected FakeProcess {
 protected:
  DoctorOfFile() {
    question.file = folder.Write(
        "train.yaml",
        "name: x\ntraining: {max_steps: 5}\ncommand: train {micro_batch} {accumulation}\n");
    site.facts.output = PathOf(GoodFolder("/scratch/me/x"));
    site.facts.logs = {PathOf(NoFolder("/home/me/logs", "/home/me", true))};
    site.facts.programs = {{"train", "/venv/bin/train"}};
    site.facts.checkpoints = {7'000'000'000, "", 5, 2000, 10000};
    console.shown.width = 100;
  }
  int Run() {
    return RunDoctorOfFile(question, api, {runner, site, std::string(DefaultSbatchTemplate())},
                           Healthy(), console);
  }
  void AnswerAdvice() {
    api.Answer(Health());
    api.Answer(json::parse(TestData("advice.json")));
  }

  TemporaryFolder folder;
  AdviceQuestion question;
};

TEST_F(DoctorOfFile, ShowsWhatAnAnswerAndTheJobNeed) {
  AnswerAdvice();
  runner.verdict = SbatchVerdict{true,
                                 "sbatch: Job 5 to start at 2026-09-21T20:14:19 using 4 "
                                 "processors on nodes n1 in partition gpu_shared\n"};
  EXPECT_EQ(Run(), kExitOk);
  ExpectGolden("doctor_file_ok.txt", console.printed);
  EXPECT_EQ(runner.tests, 1);
  EXPECT_EQ(runner.runs, 0);
  EXPECT_EQ(site.asked.command, "train 10 3");
}

TEST_F(DoctorOfFile, EveryTroubleHasItsRemedy) {
  AnswerAdvice();
  site.facts.output->found.writable = false;
  site.facts.quota = DiskQuota{"server:/home", 1'000'000'000, 0, 23'800'000'000, 10, 0};
  site.facts.quota_asked = true;
  site.facts.logs[0].only_in_job = "%j";
  site.facts.programs = {{"train", ""}};
  site.facts.data = {PathOf(NoFolder("/data/train", "/data", false))};
  site.facts.hub_models = {{"meta-llama/Llama-3.1-8B", false}};
  site.facts.login.token_file = "/home/me/.cache/huggingface/token";
  runner.verdict = SbatchVerdict{false, "allocation failure: Invalid qos specification\n"};
  EXPECT_EQ(Run(), kExitError);
  ExpectGolden("doctor_file_errors.txt", console.printed);
}

TEST_F(DoctorOfFile, WithoutADaemonTheFilesOwnChecksAreMade) {
  EXPECT_EQ(Run(), kExitError);
  EXPECT_NE(console.printed.find("error    advice      nothing listens there"), std::string::npos);
  EXPECT_NE(console.printed.find("ok       output"), std::string::npos);
  EXPECT_EQ(runner.tests, 0);
}

TEST_F(DoctorOfFile, WhatNothingCanRunIsAnErrorWithItsReasons) {
  api.Answer(Health());
  json advice = json::parse(TestData("advice.json"));
  advice["strategies"] = json::array();
  api.Answer(advice);
  EXPECT_EQ(Run(), kExitError);
  EXPECT_NE(console.printed.find("error    strategies"), std::string::npos);
  EXPECT_EQ(runner.tests, 0);
}

TEST_F(DoctorOfFile, AFileThatCannotBeReadIsExit2) {
  question.file = "/nonexistent.yaml";
  EXPECT_EQ(Run(), kExitUsage);
  EXPECT_EQ(console.printed, "");
}

TEST_F(DoctorOfFile, AFileWithoutACommandIsAnError) {
  AnswerAdvice();
  question.file = folder.Write("no.yaml", "training: {max_steps: 5}\n");
  EXPECT_EQ(Run(), kExitError);
  EXPECT_NE(console.printed.find("error    command"), std::string::npos);
}

TEST_F(DoctorOfFile, JsonListsAllChecks) {
  AnswerAdvice();
  console.shown.json = true;
  EXPECT_EQ(Run(), kExitOk);
  const json checks = json::parse(console.printed)["checks"];
  EXPECT_EQ(checks.front()["check"], "socket");
  EXPECT_EQ(checks.back()["check"], "slurm");
}

TEST(Doctor, JsonListsTheChecks) {
  FakeApi api;
  FakeConsole console;
  console.shown.json = true;
  api.Answer(Health());
  EXPECT_EQ(RunDoctor(api, Healthy(), console), kExitOk);
  const json printed = json::parse(console.printed);
  EXPECT_EQ(printed["checks"][0]["check"], "socket");
  EXPECT_EQ(printed["checks"][0]["health"], "ok");
}

json Site() {
  return json::parse(R"({"slurm_version": "24.11.5", "hidden": [], "settings": [
      {"place": "SchedulerParameters", "key": "bf_window", "value": "2880", "treatment": "simulated",
       "effect": "how far backfill plans ahead"},
      {"place": "SchedulerParameters", "key": "bf_licenses", "value": "yes", "treatment": "approximated",
       "effect": "jobs wait for licences, but none are kept for them ahead of time"},
      {"place": "partition", "key": "MaxCPUsPerSocket", "value": "gpu: 8", "treatment": "not known",
       "effect": "jobs may get fewer CPUs of a node, and wait longer"}]})");
}

class DoctorOfASite : public testing::Test, protected FakeProcess {};

TEST_F(DoctorOfASite, SaysWhatForecastsMakeOfEachKey) {
  console.shown.width = 80;
  api.Answer(Site());
  EXPECT_EQ(Gpuadvise({"doctor", "--site"}), kExitOk);
  ExpectGolden("doctor_site.txt", console.printed);
}

TEST_F(DoctorOfASite, PrintsTheAnswerAsJson) {
  api.Answer(Site());
  EXPECT_EQ(Gpuadvise({"doctor", "--site", "--json"}), kExitOk);
  EXPECT_EQ(json::parse(console.printed)["settings"].size(), 3u);
}

TEST_F(DoctorOfASite, TakesNoFile) {
  EXPECT_EQ(Gpuadvise({"doctor", "--site", "train.yaml"}), kExitUsage);
  EXPECT_EQ(console.complained, "gpuadvise: --site is about the cluster: leave out FILE\n");
}

}  // namespace
}  // namespace gpuadvise::client
