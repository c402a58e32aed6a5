#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class SweepTest : public testing::Test, protected FakeProcess {
 protected:
  // The advice of three runs on row 1 and five on row 3.
  static json Advice() {
    json advice = json::parse(TestData("advice.json"));
    const auto share = [](int rank, int members, const char* array) {
      return json{{"rank", rank},
                  {"members", members},
                  {"array", array},
                  {"at_a_time", 2},
                  {"start_p50_seconds", 0},
                  {"end_p50_seconds", 40'000},
                  {"end_p90_seconds", 50'000}};
    };
    advice["sweep"] = {{"members", 8},
                       {"array", "1-8"},
                       {"makespan_p50_seconds", 40'000},
                       {"makespan_p90_seconds", 50'000},
                       {"half_done_p50_seconds", 20'000},
                       {"gpu_hours", 90.5},
                       {"single_rank", 1},
                       {"single_makespan_p50_seconds", 60'000},
                       {"single_makespan_p90_seconds", 70'000},
                       {"later_than_played", false},
                       {"shares", {share(1, 3, "1-3"), share(3, 5, "4-8")}}};
    return advice;
  }
  int Submit(Words words) {
    words.insert(words.begin(), {"submit", file, "-a", "1-8"});
    return Gpuadvise(std::move(words));
  }

  TemporaryFolder folder;
  const std::string file = folder.Write(
      "train.yaml",
      "name: x\ntraining: {max_steps: 5}\ncommand: train {index} {micro_batch} {accumulation}\n");
};

TEST_F(SweepTest, PrintsTheSplitAndHowToSubmitIt) {
  api.Answer(Advice());
  EXPECT_EQ(Gpuadvise({"sweep", file, "-n", "8"}), kExitOk);
  EXPECT_EQ(api.asked.front().second["array"], "1-8");
  EXPECT_THAT(console.printed, HasSubstr("8 runs: done by "));
  EXPECT_THAT(console.printed, HasSubstr("L40S × 3"));
  EXPECT_THAT(console.printed, HasSubstr("Instead all 8 on RTX 4090 × 4: done by "));
  EXPECT_THAT(console.printed, HasSubstr(" -a 1-8\n"));
}

TEST_F(SweepTest, HowManyRunsMustBeSaidOnce) {
  EXPECT_NE(Gpuadvise({"sweep", file}), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("how many runs?"));
  EXPECT_NE(Gpuadvise({"sweep", file, "-n", "8", "-a", "1-8"}), kExitOk);
  EXPECT_NE(Gpuadvise({"sweep", file, "-n", "0"}), kExitOk);
  EXPECT_NE(Gpuadvise({"sweep", "--keep"}), kExitOk);
  EXPECT_TRUE(api.asked.empty());
}

TEST_F(SweepTest, EachShareIsAnArrayOfItsTasks) {
  api.Answer(Advice());
  api.Answer({{"job_id", 4711}});
  api.Answer({{"job_id", 4711}});
  EXPECT_EQ(Submit({"--yes"}), kExitOk);
  EXPECT_EQ(runner.runs, 2);
  EXPECT_THAT(runner.given, testing::Contains("--array=4-8"));
  EXPECT_THAT(runner.stdin_text, HasSubstr("#SBATCH --array=4-8\n"));
  EXPECT_THAT(runner.stdin_text, HasSubstr("export SLURM_ARRAY_TASK_COUNT=8\n"));
  EXPECT_THAT(runner.stdin_text, HasSubstr("train ${SLURM_ARRAY_TASK_ID:-0} "));
  EXPECT_EQ(api.asked[2].second["rank"], 3);
  EXPECT_THAT(console.printed, HasSubstr("Submitted job 4711: runs 4-8 on L40S × 3"));
}

TEST_F(SweepTest, TheDaemonIsToldThatTheArraysAreOne) {
  api.Answer(Advice());
  api.Answer({{"job_id", 4711}});
  api.Answer({{"job_id", 4711}});
  EXPECT_EQ(Submit({"--yes"}), kExitOk);
  for (const size_t i : {size_t{1}, size_t{2}}) {
    EXPECT_EQ(api.asked[i].second["sweep"], (json{{"job_id", 4711}, {"runs", 8}, {"moved", 0}}));
  }
  EXPECT_THAT(console.printed, HasSubstr("Follow them: gpuadvise watch 4711\n"));
}

TEST_F(SweepTest, WatchTakesItsFolder) {
  api.Answer(Advice());
  api.Answer({{"job_id", 4711}});
  api.Answer({{"job_id", 4711}});
  const std::string kept = folder.Path("kept");
  EXPECT_EQ(Submit({"--yes", "--sweep-dir", kept}), kExitOk);
  api.Answer({{"jobs", {{{"job_id", 4711}, {"state", "running"}, {"sweep", 4711}}}},
              {"sweeps", {{{"job_id", 4711}, {"arrays", {4711}}, {"runs", 8}, {"done", 8}}}}});
  EXPECT_EQ(Gpuadvise({"watch", kept}), kExitOk);
  EXPECT_EQ(api.asked.back().first, "/v1/advice?job=4711");
  EXPECT_THAT(console.printed, HasSubstr("8 of 8 done\n"));
  for (const char* run : {"1", "2", "3"}) {
    std::filesystem::create_symlink("4711", kept + "/taken/" + run);
    std::filesystem::create_symlink(run[0] == '3' ? "9" : "0", kept + "/ended/" + run);
  }
  api.Answer({{"jobs", {{{"job_id", 4711}, {"state", "unknown"}, {"sweep", 4711}}}},
              {"sweeps", {{{"job_id", 4711}, {"arrays", {4711}}, {"runs", 3}, {"unknown", 3}}}}});
  EXPECT_EQ(Gpuadvise({"watch", kept}), kExitError);
  EXPECT_THAT(console.printed, HasSubstr("2 of 3 done, 1 failed\n"));
  EXPECT_NE(Gpuadvise({"watch", folder.Path("other")}), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("nor the folder of a sweep"));
}

TEST_F(SweepTest, WhatFollowsTheDashesStaysButForTheArray) {
  api.Answer(Advice());
  api.Answer({{"job_id", 4711}});
  api.Answer({{"job_id", 4711}});
  EXPECT_EQ(Gpuadvise({"submit", file, "--yes", "--", "-a", "1-8", "--container-image=x.sqsh",
                       "--mail-type=END"}),
            kExitOk);
  EXPECT_EQ(runner.runs, 2);
  EXPECT_THAT(runner.given, testing::IsSupersetOf(
                                {"--container-image=x.sqsh", "--mail-type=END", "--array=4-8"}));
  EXPECT_THAT(runner.given, testing::Not(testing::Contains("1-8")));
}

TEST_F(SweepTest, RunsThatNameTheirArrayStayOne) {
  const std::string study =
      folder.Write("study.yaml",
                   "name: x\ntraining: {max_steps: 5}\ncommand: train --study $SLURM_ARRAY_JOB_ID "
                   "{micro_batch} {accumulation}\n");
  api.Answer(Advice());
  api.Answer({{"job_id", 4711}});
  EXPECT_EQ(Gpuadvise({"submit", study, "-a", "1-8", "--yes"}), kExitOk);
  EXPECT_EQ(runner.runs, 1);
  EXPECT_THAT(console.complained, HasSubstr("SLURM_ARRAY_JOB_ID is of one array"));
}

TEST_F(SweepTest, JsonOfAnArrayIsAListOfJobs) {
  api.Answer(Advice());
  EXPECT_EQ(Submit({"--yes", "--json"}), kExitOk);
  EXPECT_EQ(json::parse(console.printed)["jobs"].size(), 2u);
}

TEST_F(SweepTest, APickedRowGetsAllRuns) {
  api.Answer(Advice());
  api.Answer({{"job_id", 4711}});
  EXPECT_EQ(Submit({"--yes", "--pick", "2"}), kExitOk);
  EXPECT_EQ(runner.runs, 1);
  EXPECT_THAT(runner.given, testing::Contains("--array=1-8"));
  EXPECT_THAT(runner.stdin_text, testing::Not(HasSubstr("SLURM_ARRAY_TASK_COUNT")));
}

TEST_F(SweepTest, WhenTheSecondArrayIsRefusedTheFirstIsCancelled) {
  api.Answer(Advice());
  runner.refused_from = 2;
  EXPECT_NE(Submit({"--yes"}), kExitOk);
  EXPECT_EQ(runner.cancelled, std::vector<int64_t>({4711}));
  EXPECT_THAT(console.complained, HasSubstr("nothing was submitted"));
}

TEST_F(SweepTest, PartsThatAreNotTheWholeAreRefused) {
  json advice = Advice();
  for (const char* wrong : {"4-7", "3-8", "4-9", "4-8; rm", "4-8\n#SBATCH", "4-4000"}) {
    advice["sweep"]["shares"][1]["array"] = wrong;
    api = FakeApi();
    api.Answer(advice);
    EXPECT_NE(Submit({"--yes"}), kExitOk) << wrong;
    EXPECT_EQ(runner.runs, 0) << wrong;
  }
}

TEST_F(SweepTest, AFolderIsMadeThatKnowsTheJobs) {
  api.Answer(Advice());
  api.Answer({{"job_id", 4711}});
  api.Answer({{"job_id", 4711}});
  const std::string kept = folder.Path("kept");
  EXPECT_EQ(Submit({"--yes", "--sweep-dir", kept}), kExitOk);
  EXPECT_THAT(runner.stdin_text, HasSubstr("export GPUADVISE_SWEEP=" + kept + "\n"));
  EXPECT_THAT(runner.stdin_text, HasSubstr("/taken/"));
  console.printed.clear();
  slurm.answers["squeue"] = "4713|4711|1|R\n4711|4711|2|PD\n";
  std::filesystem::create_symlink("4712", kept + "/taken/5");
  std::filesystem::create_symlink("0", kept + "/ended/5");
  api.AnswerError({ErrorCode::kUnavailable, "no daemon", ""});
  EXPECT_EQ(Gpuadvise({"sweep", kept}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("1 of 8 done, 1 running, 1 waiting"));
  api.Answer(Advice());
  EXPECT_NE(Submit({"--yes", "--sweep-dir", kept}), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("exists already"));
}

TEST_F(SweepTest, AFailedSubmissionLeavesNoFolder) {
  api.Answer(Advice());
  runner.answer = Fail(ErrorCode::kInternal, "sbatch: error: no");
  const std::string kept = folder.Path("kept");
  EXPECT_NE(Submit({"--yes", "--sweep-dir", kept}), kExitOk);
  EXPECT_FALSE(std::filesystem::exists(kept));
}

TEST_F(SweepTest, RunsThatCannotNoteTheirEndAreRefusedAFolder) {
  const std::string traps = folder.Write(
      "traps.yaml",
      "name: x\ntraining: {max_steps: 5}\nsetup: [\"trap 'rm -f x' EXIT\"]\ncommand: train "
      "{micro_batch} {accumulation}\n");
  api.Answer(Advice());
  const std::string kept = folder.Path("kept");
  EXPECT_NE(Gpuadvise({"submit", traps, "-a", "1-8", "--yes", "--sweep-dir", kept}), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("submit it without --sweep-dir"));
}

}  // namespace
}  // namespace gpuadvise::client
