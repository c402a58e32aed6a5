#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

class WhenTest : public testing::Test, protected FakeProcess {
 protected:
  int When(std::vector<std::string> words) {
    words.insert(words.begin(), "when");
    return Gpuadvise(std::move(words));
  }
  static json Answer() { return json::parse(TestData("when.json")); }
  json JobQuery() const { return api.asked.at(0).second["jobs"][0]; }

  TemporaryFolder folder;
};

TEST_F(WhenTest, SaysWhenAJobStarts) {
  api.Answer(Answer());
  EXPECT_EQ(When({"-p", "gpu_shared", "--gres", "gpu:l40s:6", "-t", "600"}), kExitOk);
  ExpectGolden("when.txt", console.printed);
  EXPECT_EQ(JobQuery(), json::parse(R"({"partition": "gpu_shared", "gres": "gpu:l40s:6",
                                        "time_limit_seconds": 36000})"));
}

TEST_F(WhenTest, SaysWhatAShorterLimitIsWorth) {
  json answer = Answer();
  const auto row = [](int64_t limit, int64_t wait, int64_t sooner, double risk) {
    return json{
        {"time_limit_seconds", limit}, {"wait_p50_seconds", wait}, {"wait_p90_seconds", 2 * wait},
        {"sooner_seconds", sooner},    {"options", "-t"},          {"risk", risk}};
  };
  answer["answers"][0]["limits"] = {row(86400, 11400, 0, .004), row(28800, 9000, 2400, .012),
                                    row(12600, 3600, 7800, .015)};
  answer["answers"][0]["limits"][2]["options"] = "-p gpu_shared,short -t 03:30:00";
  answer["answers"][0]["limit_advice"] = {{"words",
                                           "-t 03:30:00 instead of 1-00:00:00: starts 2 h 10 "
                                           "sooner; 1.5 % of such runs would be cut off"},
                                          {"time_min_words", ""}};
  api.Answer(answer);
  EXPECT_EQ(When({"--limits", "-t", "24:00:00", "--time-min=2:00:00", "-J", "train"}), kExitOk);
  ExpectGolden("when_limits.txt", console.printed);
  EXPECT_EQ(JobQuery(), json::parse(R"({"time_limit_seconds": 86400, "name": "train",
                                        "time_min_seconds": 7200})"));
  EXPECT_EQ(api.asked.at(0).second["limits"], true);
}

TEST_F(WhenTest, TheLineForSlurmIsOneThatItTakes) {
  api.Answer(Answer());
  EXPECT_EQ(When({"-a", "1-80", "-G", "1"}), kExitOk);
  EXPECT_NE(console.printed.find("To run it: sbatch --array=1-80 --gpus=1 SCRIPT"),
            std::string::npos)
      << console.printed;
  api.Answer(Answer());  // whose type is gpul40s
  EXPECT_EQ(When({"--gpus-per-node", "l40s"}), kExitOk);
  EXPECT_NE(console.printed.find("To run it: salloc --gpus-per-node=gpul40s,"), std::string::npos)
      << console.printed;
  const std::string script = folder.Write("job.sh", "#!/bin/bash\n#SBATCH -G 2\n");
  api.Answer(Answer());
  EXPECT_EQ(When({"-t", "60", script}), kExitOk);
  EXPECT_NE(console.printed.find("To run it: sbatch --time=60 " + script), std::string::npos)
      << console.printed;
}

TEST_F(WhenTest, NodesAndGpusInAllAreRepeated) {
  json answer = Answer();
  answer["answers"][0].update({{"gres", ""}, {"gpus_total", "gpu:l40s:8"}, {"nodes", 2}});
  api.Answer(answer);
  EXPECT_EQ(When({"-N", "2", "-G", "l40s:8"}), kExitOk);
  EXPECT_NE(console.printed.find("gpu:l40s:8 on 2 nodes"), std::string::npos) << console.printed;
}

TEST_F(WhenTest, APartOfAHeterogeneousJobStartsWithTheLast) {
  json answer = Answer();
  answer["answers"].push_back(answer["answers"][0]);
  answer["answers"][0].update({{"wait_p50_seconds", 0}, {"wait_p90_seconds", 0}});
  api.Answer(answer);
  EXPECT_EQ(When({"--gres", "gpu:l40s:1", ":", "--gres", "gpu:l40s:6", "-t", "60"}), kExitOk);
  EXPECT_EQ(api.asked.at(0).second["jobs"], json::parse(R"([{"gres": "gpu:l40s:1"},
                            {"gres": "gpu:l40s:6", "time_limit_seconds": 3600}])"));
  EXPECT_NE(console.printed.find("all 2 parts start together, so none before the last: starts in "
                                 "3 h 10"),
            std::string::npos)
      << console.printed;
  EXPECT_NE(console.printed.find("salloc --gres=gpu:gpul40s:1 : --gres=gpu:gpul40s:6 --time=60"),
            std::string::npos)
      << console.printed;
}

// As by sbatch, the command line is of the first part.
TEST_F(WhenTest, AScriptMayAskForSeveralParts) {
  const std::string script = folder.Write("het.sh",
                                          "#!/bin/bash\n#SBATCH -G 1\n#SBATCH hetjob\n"
                                          "#SBATCH -G 2\nsrun train\n#SBATCH hetjob\n");
  json answer = Answer();
  answer["answers"].push_back(answer["answers"][0]);
  api.Answer(answer);
  EXPECT_EQ(When({"-t", "60", script}), kExitOk);
  EXPECT_EQ(api.asked.at(0).second["jobs"],
            json::parse(R"([{"gpus": "1", "time_limit_seconds": 3600}, {"gpus": "2"}])"));
}

TEST_F(WhenTest, AFloorThatIsNoTimeIsRefused) {
  EXPECT_NE(When({"--limits", "--time-min=soon"}), kExitOk);
  EXPECT_NE(console.complained.find("time-min"), std::string::npos);
  EXPECT_TRUE(api.asked.empty());
}

TEST_F(WhenTest, NowIsSaidAsNow) {
  json answer = Answer();
  answer["answers"][0].update(
      {{"wait_p50_seconds", 0}, {"wait_p90_seconds", 0}, {"jobs_before", 0}});
  api.Answer(answer);
  EXPECT_EQ(When({}), kExitOk);
  EXPECT_NE(console.printed.find("  starts now\n"), std::string::npos);
}

TEST_F(WhenTest, AnArrayIsAskedAboutAndAnsweredToItsLastTask) {
  json answer = Answer();
  answer["answers"][0]["array"] = {{"tasks", 40},
                                   {"throttle", 4},
                                   {"tasks_played", 40},
                                   {"wait_p50_seconds", 72000},
                                   {"wait_p90_seconds", 90000}};
  api.Answer(answer);
  EXPECT_EQ(When({"--array=1-40%4"}), kExitOk);
  EXPECT_EQ(JobQuery(), json::parse(R"({"array_tasks": 40, "array_throttle": 4})"));
  EXPECT_NE(console.printed.find("\n  the first task starts in 3 h 10 "), std::string::npos);
  EXPECT_NE(console.printed.find("\n  the last of 40 tasks, at most 4 at a time, starts in 20 h "),
            std::string::npos)
      << console.printed;
}

TEST_F(WhenTest, AnArrayThatGoesOnBeyondAllThatIsPlayedSaysSo) {
  json answer = Answer();
  answer["answers"][0]["array"] = {{"tasks", 1200},
                                   {"throttle", nullptr},
                                   {"tasks_played", 1200},
                                   {"later_than_played", true},
                                   {"wait_p50_seconds", 2592000},
                                   {"wait_p90_seconds", 2592000}};
  api.Answer(answer);
  EXPECT_EQ(When({"--array=1-1200"}), kExitOk);
  EXPECT_NE(console.printed.find("the last of 1,200 tasks starts later than in 30 d\n"),
            std::string::npos)
      << console.printed;
}

TEST_F(WhenTest, TasksOfAnArrayAreCountedAsSbatchCountsThem) {
  for (const auto& [text, tasks] : std::vector<std::pair<std::string, int>>{
           {"7", 1}, {"0-15", 16}, {"0-30:2", 16}, {"1,3,7-9", 5}, {"1-10%20", 10}}) {
    api.Answer(Answer());
    api.asked.clear();
    EXPECT_EQ(When({"-a", text}), kExitOk) << text;
    EXPECT_EQ(JobQuery()["array_tasks"], tasks) << text;
  }
  api.asked.clear();
  for (const char* bad : {"", "x", "9-1", "1-5:0", "1-9999999999", "1,", "%4", "1-4%x"}) {
    console.complained.clear();
    EXPECT_EQ(When({std::string("--array=") + bad}), kExitUsage) << bad;
    EXPECT_EQ(console.complained.find("gpuadvise: --array: "), 0u) << console.complained;
  }
  EXPECT_TRUE(api.asked.empty());
}

TEST_F(WhenTest, FlagsWinOverTheScriptsLines) {
  api.Answer(Answer());
  const std::string job = folder.Write("job.sh",
                                       "#!/bin/bash\n"
                                       "#SBATCH -p slow\n"
                                       "#SBATCH --time=10 --mail-type=END\n"
                                       "python x.py\n");
  EXPECT_EQ(When({"-p", "fast", job}), kExitOk);
  EXPECT_EQ(JobQuery(), json::parse(R"({"partition": "fast", "time_limit_seconds": 600})"));
}

TEST_F(WhenTest, WhatDoesNotCountIsNamed) {
  api.Answer(Answer());
  EXPECT_EQ(When({"--site=x", "--switches=1"}), kExitOk);
  EXPECT_EQ(console.complained,
            "gpuadvise: not an sbatch option: --site=x\n"
            "gpuadvise: not in the forecast: --switches=1\n");
}

TEST_F(WhenTest, WhatSbatchRefusesIsRefused) {
  for (const auto& [text, why] : std::map<std::string, std::string>{
           {"python t.py\n", "job.sh:1: sbatch takes no script without an interpreter"},
           {"", "job.sh:1: sbatch takes no script without an interpreter"},
           {"#!/bin/bash\npython t.py\r\n", "job.sh:2: sbatch takes no DOS line breaks"}}) {
    EXPECT_EQ(When({folder.Write("job.sh", text)}), kExitUsage) << text;
    EXPECT_NE(console.complained.find(why), std::string::npos) << console.complained;
  }
  for (const char* gres : {"--gres=l40s:2", "--gres=gpus:2", "--gres=gpul40s:6"}) {
    EXPECT_EQ(When({gres}), kExitUsage) << gres;
  }
  EXPECT_NE(console.complained.find("\"l40s\" is no GRES of GPUs; write gpu:l40s:2"),
            std::string::npos)
      << console.complained;
  api.Answer(Answer());
  EXPECT_EQ(When({"--gres=gpu:l40s:2,nvme:100"}), kExitOk);
}

TEST_F(WhenTest, WhatTheJobWaitsForIsAsked) {
  api.Answer(Answer());
  EXPECT_EQ(When({"--dependency=singleton", "-J", "mine", "--nice", "-H"}), kExitOk);
  const json job = api.asked.back().second["jobs"][0];
  EXPECT_EQ(job["dependency"], "singleton");
  EXPECT_EQ(job["name"], "mine");
  EXPECT_EQ(job["nice"], 100);
  EXPECT_EQ(job["hold"], true);
  api.Answer(Answer());
  EXPECT_EQ(When({"--nice=much"}), kExitUsage);
}

TEST_F(WhenTest, AnImpossibleJobIsExit3) {
  json answer = Answer();
  answer["answers"][0] = {{"error",
                           {{"code", "infeasible"},
                            {"message", "9 GPUs are more than a node has"},
                            {"pointer", "/jobs/0/gres"}}}};
  api.Answer(answer);
  EXPECT_EQ(When({"--gres=gpu:9"}), kExitInfeasible);
  EXPECT_EQ(console.complained, "gpuadvise: --gres: 9 GPUs are more than a node has\n");
  EXPECT_EQ(console.printed, "");
}

TEST_F(WhenTest, ABadOptionIsExit2) {
  EXPECT_EQ(When({"-p"}), kExitUsage);
  EXPECT_EQ(When({"-t", "soon"}), kExitUsage);
  EXPECT_EQ(When({"/nonexistent/job.sh"}), kExitUsage);
  EXPECT_TRUE(api.asked.empty());
}

TEST_F(WhenTest, ErrorsOfTheWholeRequestKeepTheirCode) {
  EXPECT_EQ(When({}), kExitUnavailable);
  api.AnswerError({ErrorCode::kBadInput, "must be more", "/jobs/0/time_limit_seconds"});
  EXPECT_EQ(When({}), kExitUsage);
  EXPECT_NE(console.complained.find("gpuadvise: --time: must be more\n"), std::string::npos);
}

TEST_F(WhenTest, JsonIsTheApisOwn) {
  api.Answer(Answer());
  EXPECT_EQ(When({"--json"}), kExitOk);
  EXPECT_EQ(json::parse(console.printed), Answer());
}

}  // namespace
}  // namespace gpuadvise::client
