#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class SubmitTest : public testing::Test, protected FakeProcess {
 protected:
  SubmitTest() { api.Answer(json::parse(TestData("advice.json"))); }
  // `gpuadvise submit FILE WORDS`
  int Submit(Words words) {
    words.insert(words.begin(), {"submit", file});
    return Gpuadvise(std::move(words));
  }
  void MakeOutputUnwritable() {
    site.facts.output = PathOf(GoodFolder("/data"));
    site.facts.output->found.writable = false;
  }

  TemporaryFolder folder;
  std::string file = folder.Write(
      "train.yaml",
      "name: x\ntraining: {max_steps: 5}\ncommand: train {micro_batch} {accumulation}\n");
};

TEST_F(SubmitTest, SubmitsTheFirstAndTellsTheDaemon) {
  api.Answer({{"job_id", 4711}});
  EXPECT_EQ(Submit({"--yes"}), kExitOk);
  ExpectGolden("submit.txt", console.printed);
  EXPECT_EQ(runner.given.front(), "--parsable");
  EXPECT_NE(runner.stdin_text.find("\ncommand='train 10 3'\n"), std::string::npos);
  ASSERT_EQ(api.asked.size(), 2u);
  EXPECT_EQ(api.asked[1].first, "/v1/advice/a-17/submitted");
  EXPECT_EQ(api.asked[1].second, json::parse(R"({"job_id": 4711, "rank": 1})"));
}

TEST_F(SubmitTest, SaysWhatAShorterLimitOfTheChosenRowIsWorth) {
  for (const int64_t rank : {1, 2}) {
    json answer = json::parse(TestData("advice.json"));
    answer["limit_advice"] = {{"rank", rank}, {"words", "-t 03:30:00 instead of 13:00:00: …"}};
    api = FakeApi();
    api.Answer(answer);
    api.Answer({{"job_id", 4711}});
    console.printed.clear();
    EXPECT_EQ(Submit({"--yes"}), kExitOk);
    const bool said = console.printed.find("-t 03:30:00 instead of 13:00:00") != std::string::npos;
    EXPECT_EQ(said, rank == 1);  // of another row it would be no help
  }
}

TEST_F(SubmitTest, AScriptThatIsStillTheSameIsSubmitted) {
  EXPECT_EQ(Submit({"--dry-run"}), kExitOk);
  const std::string script = console.printed;
  const std::string seen = folder.Write("seen.sh", script);
  api.Answer(json::parse(TestData("advice.json")));
  api.Answer({{"job_id", 4711}});
  EXPECT_EQ(Submit({"--yes", "--same-as", seen}), kExitOk);
  EXPECT_EQ(runner.runs, 1);
  const std::string of_other =
      folder.Write("other_advice.sh", "export GPUADVISE_ADVICE=a-9-9\n" + script);
  api.Answer(json::parse(TestData("advice.json")));
  api.Answer({{"job_id", 4712}});
  EXPECT_EQ(Submit({"--yes", "--same-as", of_other}), kExitOk);  // each advice has its own name
}

TEST_F(SubmitTest, AScriptThatIsNoLongerTheSameIsNotSubmitted) {
  const std::string seen = folder.Write("seen.sh", "#!/bin/bash\nother\n");
  EXPECT_EQ(Submit({"--yes", "--same-as", seen}), kExitError);
  EXPECT_EQ(runner.runs + runner.tests, 0);
  EXPECT_NE(console.complained.find("is no longer the one in"), std::string::npos);
  api.Answer(json::parse(TestData("advice.json")));
  EXPECT_NE(Submit({"--yes", "--same-as", folder.Path("nonexistent")}), kExitOk);
  EXPECT_EQ(runner.runs, 0);
}

TEST_F(SubmitTest, OptionsStandOnTheCommandLineToo) {
  EXPECT_EQ(Submit({"--yes"}), kExitOk);
  EXPECT_EQ(runner.given, (Words{"--parsable", "--account=lab", "--cpus-per-task=32",
                                 "--gres=gpu:gpu4090:4", "--job-name=x", "--mem=80G", "--nodes=1",
                                 "--ntasks-per-node=1", "--output=x-%j.out",
                                 "--partition=gpu_shared", "--qos=normal", "--time=13:00:00"}));
}

TEST_F(SubmitTest, ACommandThatCannotFollowTheAdviceStopsIt) {
  file = folder.Write(
      "fixed.yaml",
      "training: {max_steps: 5}\ncommand: torchrun --nproc_per_node 2 t.py --batch-size 7 "
      "--grad_accum {accumulation}\n");
  EXPECT_EQ(Submit({"--yes"}), kExitError);
  EXPECT_TRUE(runner.stdin_text.empty());
  EXPECT_NE(console.printed.find("the command has --batch-size 7, this strategy needs 10"),
            std::string::npos);
  api.Answer(json::parse(TestData("advice.json")));
  api.Answer({{"job_id", 4711}});
  EXPECT_EQ(Submit({"--yes", "--force"}), kExitOk);
}

TEST_F(SubmitTest, TheFirstRowThatTheCommandFollowsIsTaken) {
  file = folder.Write("fixed.yaml",
                      "name: x\ntraining: {max_steps: 5}\n"
                      "command: python t.py --batch-size 12 --grad_accum 2 --num-gpus 6\n");
  api.Answer({{"job_id", 4711}});
  EXPECT_EQ(Submit({"--yes"}), kExitOk);
  EXPECT_EQ(api.asked[1].second["rank"], 2);
  EXPECT_NE(console.complained.find("row 2, not 1: the command has --batch-size 12"),
            std::string::npos)
      << console.complained;
}

TEST_F(SubmitTest, AJobScriptStandsForTheFile) {
  const std::string script = folder.Write(
      "job.sh",
      "#SBATCH --gres=gpu:4\ntorchrun --nproc_per_node 4 t.py --per_device_train_batch_size 10 "
      "--gradient_accumulation_steps 3 --max_steps 5\n");
  api.Answer({{"job_id", 4711}});
  EXPECT_EQ(Gpuadvise({"submit", "--from", script, "--yes"}), kExitOk);
  EXPECT_EQ(api.asked[0].second["spec"]["training"]["effective_batch_size"], 120);
  EXPECT_NE(runner.stdin_text.find("--per_device_train_batch_size 10"), std::string::npos);
}

TEST_F(SubmitTest, TheDaemonChoosesNoOptionButItsOwn) {
  for (const char* name : {"wrap", "get_user_env", "output", "x\ntouch /tmp/x; #", "export",
                           "mail-user", "ntasks-per-node", "PARTITION", ""}) {
    json answer = json::parse(TestData("advice.json"));
    answer["strategies"][0]["sbatch"][name] = "id";
    api = FakeApi();
    api.Answer(answer);
    console.complained.clear();
    EXPECT_EQ(Submit({"--yes"}), kExitError) << name;
    EXPECT_EQ(console.complained.find("gpuadvise: gpuadvised chose the sbatch option '"), 0u)
        << console.complained;
  }
  for (const char* value : {"gpu\nrm", "gpu\u202e", "g\u200bpu", "gpu\033[2J"}) {
    json answer = json::parse(TestData("advice.json"));
    answer["strategies"][0]["sbatch"]["partition"] = value;
    api = FakeApi();
    api.Answer(answer);
    console.complained.clear();
    EXPECT_EQ(Submit({"--yes"}), kExitError) << value;
    EXPECT_EQ(console.complained,
              "gpuadvise: gpuadvised chose a partition with control characters; set it yourself "
              "with --partition\n");
  }
  EXPECT_EQ(runner.runs, 0);
}

TEST_F(SubmitTest, APersonIsAsked) {
  console.can_ask = true;
  console.answer = true;
  EXPECT_EQ(Submit({}), kExitOk);
  EXPECT_TRUE(console.asked);
  EXPECT_TRUE(console.complained.starts_with("Submit this job? [y/N] ")) << console.complained;
  EXPECT_EQ(runner.runs, 1);
}

TEST_F(SubmitTest, NoMeansNo) {
  console.can_ask = true;
  EXPECT_EQ(Submit({}), kExitError);
  EXPECT_EQ(runner.runs, 0);
  EXPECT_EQ(console.complained, "Submit this job? [y/N] Nothing was submitted.\n");
}

TEST_F(SubmitTest, WithJsonNoIsNoErrorButADocumentWithoutAJob) {
  console.can_ask = true;
  EXPECT_EQ(Submit({"--json"}), kExitError);
  EXPECT_EQ(runner.runs, 0);
  EXPECT_EQ(console.complained, "Submit this job? [y/N] Nothing was submitted.\n");
  const json document = json::parse(console.printed);
  EXPECT_TRUE(document.at("job_id").is_null());
  EXPECT_FALSE(document.contains("errors"));
}

TEST_F(SubmitTest, WithJsonItsErrorsAreADocument) {
  EXPECT_EQ(Submit({"--json"}), kExitUsage);
  EXPECT_EQ(json::parse(console.printed)["errors"][0]["code"], "bad_input");
  console.printed.clear();
  api.Answer(json::parse(TestData("advice.json")));
  EXPECT_EQ(Submit({"--json", "--max-age", "1"}), kExitStale);
  EXPECT_EQ(json::parse(console.printed)["errors"][0]["code"], "unavailable");
  console.printed.clear();
  api.Answer({{"strategies", json::array()}});
  EXPECT_EQ(Submit({"--json"}), kExitInfeasible);
  EXPECT_EQ(json::parse(console.printed)["strategies"], json::array());
  console.printed.clear();
  MakeOutputUnwritable();
  file = folder.Write("o.yaml", "training: {max_steps: 5}\ncommand: train\noutput: {dir: /data}\n");
  api.Answer(json::parse(TestData("advice.json")));
  EXPECT_EQ(Submit({"--yes", "--json"}), kExitError);
  const json document = json::parse(console.printed);
  EXPECT_EQ(document["errors"][0]["code"], "infeasible");
  EXPECT_FALSE(document["checks"].empty());
}

TEST_F(SubmitTest, WithoutATerminalItMustBeSaid) {
  EXPECT_EQ(Submit({}), kExitUsage);
  EXPECT_EQ(runner.runs, 0);
  EXPECT_NE(console.complained.find("use --yes to submit"), std::string::npos);
}

TEST_F(SubmitTest, ADryRunPrintsTheScriptAlone) {
  EXPECT_EQ(Submit({"--dry-run"}), kExitOk);
  EXPECT_EQ(runner.runs, 0);
  EXPECT_TRUE(console.printed.starts_with("#!/bin/bash\n#SBATCH --account=lab\n"));
  EXPECT_TRUE(console.complained.starts_with("✔ 1 RTX 4090 × 4 in gpu_shared"));
}

TEST_F(SubmitTest, AnotherRowCanBePicked) {
  EXPECT_EQ(Submit({"--yes", "--pick", "4"}), kExitOk);
  EXPECT_NE(runner.stdin_text.find("--gres=gpu:gpu2080:4"), std::string::npos);
  EXPECT_EQ(api.asked[1].second["rank"], 4);
}

TEST_F(SubmitTest, ARowThatIsNotThereIsExit2) {
  EXPECT_EQ(Submit({"--pick", "9"}), kExitUsage);
  EXPECT_EQ(console.complained,
            "gpuadvise: --pick 9: no such row; `advise --all` shows 1, 2, 3, 4 and 5\n");
}

TEST_F(SubmitTest, FlagsReachSbatchInSlurmsWordsAndBesideTheStrategysOwn) {
  json answer = json::parse(TestData("advice.json"));
  answer["strategies"][0]["sbatch"]["exclude"] = "n[7-9]";
  api = FakeApi();
  api.Answer(answer);
  EXPECT_EQ(Submit({"--yes", "--gres", "gpu:rtx4090:4", "--exclude=n9"}), kExitOk);
  EXPECT_EQ(std::count(runner.given.begin(), runner.given.end(), "--gres=gpu:gpu4090:4"), 1);
  EXPECT_EQ(std::count(runner.given.begin(), runner.given.end(), "--exclude=n[7-9]"), 1);
  EXPECT_EQ(runner.stdin_text.find("rtx4090:4"), std::string::npos);
}

TEST_F(SubmitTest, OtherGenericResourcesOfAFlagAreKeptAsWritten) {
  EXPECT_EQ(Submit({"--yes", "--gres", "gpu:gpu4090:4,lustre:1"}), kExitOk);
  EXPECT_EQ(std::count(runner.given.begin(), runner.given.end(), "--gres=gpu:gpu4090:4,lustre:1"),
            1);
}

TEST_F(SubmitTest, WhatFollowsTheDashesGoesOnUntouchedAndWins) {
  EXPECT_EQ(
      Submit({"--yes", "--", "-t", "10:00:00", "--mem=64G", "--site-plugin", "--mail-type=END"}),
      kExitOk);
  EXPECT_EQ(Words(runner.given.end() - 5, runner.given.end()),
            (Words{"-t", "10:00:00", "--mem=64G", "--site-plugin", "--mail-type=END"}));
  EXPECT_EQ(std::count(runner.given.begin(), runner.given.end(), "--time=13:00:00"), 0);
  EXPECT_EQ(api.asked[0].second["constraints"]["time_limit_seconds"], 36000);
  EXPECT_NE(console.printed.find("fixed by you: --mail-type=END --mem=64G --time=10:00:00"),
            std::string::npos);
  EXPECT_NE(console.printed.find("not in the forecast: --mem=64G"), std::string::npos);
}

TEST_F(SubmitTest, AFlagWithACataloguesNameBecomesSlurmsOwnWord) {
  EXPECT_EQ(Submit({"--yes", "--gres=gpu:rtx4090:4"}), kExitOk);
  EXPECT_EQ(std::count(runner.given.begin(), runner.given.end(), "--gres=gpu:gpu4090:4"), 1);
}

TEST_F(SubmitTest, OtherResourcesOfAGresFlagAreKept) {
  EXPECT_EQ(Submit({"--yes", "--", "--gres=gpu:gpu4090:4,lustre:1"}), kExitOk);
  EXPECT_EQ(std::count(runner.given.begin(), runner.given.end(), "--gres=gpu:gpu4090:4,lustre:1"),
            1);
}

TEST_F(SubmitTest, AFailingSbatchIsExit1) {
  runner.answer = Fail(ErrorCode::kInternal, "/usr/bin/sbatch failed (exit status 1)");
  EXPECT_EQ(Submit({"--yes"}), kExitError);
  EXPECT_EQ(console.complained,
            "gpuadvise: /usr/bin/sbatch failed (exit status 1); nothing was submitted\n");
  EXPECT_EQ(api.asked.size(), 1u);
}

TEST_F(SubmitTest, JobIdsOfOtherClustersAndNoisySitesAreRead) {
  runner.answer = "Welcome to the cluster\n4712;seed\n";
  EXPECT_EQ(Submit({"--yes"}), kExitOk);
  EXPECT_EQ(api.asked[1].second["job_id"], 4712);
}

TEST_F(SubmitTest, NoJobIdIsSaid) {
  runner.answer = "\n";
  EXPECT_EQ(Submit({"--yes"}), kExitError);
  EXPECT_NE(console.complained.find("sbatch printed no job id"), std::string::npos);
}

TEST_F(SubmitTest, ADaemonThatCannotBeToldSpoilsNothing) {
  EXPECT_EQ(Submit({"--yes"}), kExitOk);
  EXPECT_NE(console.printed.find("Submitted job 4711"), std::string::npos);
  EXPECT_NE(console.complained.find("gpuadvised could not be informed"), std::string::npos);
}

TEST_F(SubmitTest, DataThatIsTooOldSubmitsNothing) {
  EXPECT_EQ(Submit({"--yes", "--max-age", "5"}), kExitStale);
  EXPECT_EQ(runner.runs, 0);
}

TEST_F(SubmitTest, JsonHasJobAndScript) {
  EXPECT_EQ(Submit({"--yes", "--json"}), kExitOk);
  const json printed = json::parse(console.printed);
  EXPECT_EQ(printed["job_id"], 4711);
  EXPECT_EQ(printed["strategy"]["rank"], 1);
  EXPECT_EQ(printed["script"], runner.stdin_text);
}

TEST_F(SubmitTest, SlurmIsAskedOnceForExactlyTheJobThatIsSubmitted) {
  EXPECT_EQ(Submit({"--yes"}), kExitOk);
  EXPECT_EQ(runner.tests, 1);
  EXPECT_EQ(runner.tested, runner.given);
  EXPECT_EQ(runner.tested_script, runner.stdin_text);
}

TEST_F(SubmitTest, AnErrorStopsTheSubmissionBeforeAnybodyIsAsked) {
  console.can_ask = true;
  console.answer = true;
  MakeOutputUnwritable();
  EXPECT_EQ(Submit({}), kExitError);
  EXPECT_EQ(runner.runs, 0);
  EXPECT_FALSE(console.asked);
  EXPECT_NE(console.printed.find("\n\nerror    output      /data is not writable"),
            std::string::npos)
      << console.printed;
  EXPECT_EQ(console.complained,
            "gpuadvise: a check failed, so nothing was submitted; --force submits anyway\n");
}

TEST_F(SubmitTest, ForceSubmitsAnyway) {
  MakeOutputUnwritable();
  EXPECT_EQ(Submit({"--yes", "--force"}), kExitOk);
  EXPECT_EQ(runner.runs, 1);
  EXPECT_NE(console.printed.find("error    output"), std::string::npos);
}

TEST_F(SubmitTest, ARefusalOfTheSiteStopsTheSubmission) {
  runner.verdict = SbatchVerdict{false, "allocation failure: Invalid qos specification\n"};
  EXPECT_EQ(Submit({"--yes"}), kExitError);
  EXPECT_EQ(runner.runs, 0);
  EXPECT_NE(console.printed.find("Invalid qos specification"), std::string::npos);
}

TEST_F(SubmitTest, WarningsAreShownAndStopNothing) {
  site.facts.quota_trouble = "/usr/bin/quota did not answer within 5 s";
  runner.verdict =
      SbatchVerdict{false, "allocation failure: Requested node configuration is not available\n"};
  EXPECT_EQ(Submit({"--yes"}), kExitOk);
  EXPECT_NE(console.printed.find("warning  quota"), std::string::npos);
  EXPECT_NE(console.printed.find("warning  slurm"), std::string::npos);
  EXPECT_EQ(console.printed.find("ok       "), std::string::npos);
}

TEST_F(SubmitTest, ADryRunLooksAtThisMachineButAsksSlurmNothing) {
  MakeOutputUnwritable();
  EXPECT_EQ(Submit({"--dry-run"}), kExitOk);
  EXPECT_EQ(runner.tests, 0);
  EXPECT_TRUE(console.printed.starts_with("#!/bin/bash\n"));
  EXPECT_NE(console.complained.find("error    output"), std::string::npos);
}

TEST_F(SubmitTest, WhereNobodyCanAgreeSlurmIsNotAsked) {
  EXPECT_EQ(Submit({}), kExitUsage);
  EXPECT_EQ(runner.tests, 0);
}

TEST_F(SubmitTest, LogFoldersAreMadeOnceSomebodyAgreed) {
  site.facts.logs = {PathOf(NoFolder(folder.Path("a/logs"), folder.Path(""), true))};
  console.can_ask = true;
  EXPECT_EQ(Submit({}), kExitError);
  EXPECT_FALSE(std::filesystem::exists(folder.Path("a")));
  api.Answer(json::parse(TestData("advice.json")));
  console.answer = true;
  EXPECT_EQ(Submit({}), kExitOk);
  EXPECT_TRUE(std::filesystem::is_directory(folder.Path("a/logs")));
}

TEST_F(SubmitTest, ALogFolderThatCannotBeMadeIsSaid) {
  folder.Write("file", "");
  site.facts.logs = {PathOf(NoFolder(folder.Path("file/logs"), folder.Path(""), true))};
  EXPECT_EQ(Submit({"--yes"}), kExitError);
  EXPECT_EQ(runner.runs, 0);
  EXPECT_NE(console.complained.find("could not be made: Not a directory; nothing was submitted"),
            std::string::npos)
      << console.complained;
}

TEST_F(SubmitTest, JsonHasTheChecks) {
  EXPECT_EQ(Submit({"--yes", "--json"}), kExitOk);
  const json checks = json::parse(console.printed)["checks"];
  ASSERT_FALSE(checks.empty());
  EXPECT_EQ(checks.back()["check"], "slurm");
  EXPECT_EQ(checks.back()["health"], "ok");
}

TEST_F(SubmitTest, WithJsonAnErrorIsAmongTheChecksAndASentenceOnStandardError) {
  MakeOutputUnwritable();
  EXPECT_EQ(Submit({"--yes", "--json"}), kExitError);
  const json printed = json::parse(console.printed);
  EXPECT_TRUE(printed["job_id"].is_null());
  EXPECT_EQ(std::count_if(printed["checks"].begin(), printed["checks"].end(),
                          [](const json& check) { return check["health"] == "error"; }),
            1);
  EXPECT_TRUE(console.complained.starts_with("gpuadvise: output: /data is not writable"))
      << console.complained;
}

TEST_F(SubmitTest, APathCannotWriteToTheTerminal) {
  MakeOutputUnwritable();
  site.facts.output->found.path = "/data\n\x1b[31mok";
  EXPECT_EQ(Submit({"--yes"}), kExitError);
  EXPECT_NE(console.printed.find("/data??[31mok is not writable"), std::string::npos);
}

TEST_F(SubmitTest, AFileWithoutACommandIsNamed) {
  file = folder.Write("no.yaml", "training: {max_steps: 5}\n");
  EXPECT_EQ(Submit({}), kExitUsage);
  EXPECT_NE(console.complained.find("no.yaml: command: is missing"), std::string::npos);
}

TEST_F(SubmitTest, NoStrategyIsExit3) {
  api = FakeApi();
  json advice = json::parse(TestData("advice.json"));
  advice["strategies"] = json::array();
  api.Answer(advice);
  file = folder.Write("train.yaml", "training: {max_steps: 5}\ncommand: x\n");
  EXPECT_EQ(Submit({"--yes"}), kExitInfeasible);
  EXPECT_EQ(runner.runs, 0);
  EXPECT_NE(console.printed.find("Not possible"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::client
