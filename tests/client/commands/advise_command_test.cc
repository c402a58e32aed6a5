#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "common/base/text.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class AdviseTest : public testing::Test, protected FakeProcess {
 protected:
  static json Advice() { return json::parse(TestData("advice.json")); }

  TemporaryFolder folder;
  const std::string file = folder.Write("train.yaml", "name: x\ntraining:\n  max_steps: 5\n");
};

TEST_F(AdviseTest, PrintsTheRanking) {
  api.Answer(Advice());
  EXPECT_EQ(Gpuadvise({"advise", file}), kExitOk);
  ExpectGolden("advise_120.txt", console.printed);
  EXPECT_EQ(console.complained, "");
  EXPECT_EQ(api.asked.front().first, "/v1/advise");
}

TEST_F(AdviseTest, JsonIsTheApisOwn) {
  api.Answer(Advice());
  EXPECT_EQ(Gpuadvise({"advise", file, "--json"}), kExitOk);
  EXPECT_EQ(json::parse(console.printed), Advice());
}

TEST_F(AdviseTest, ACommandThatCannotFollowTheRowsIsSaid) {
  const std::string fixed = folder.Write(
      "fixed.yaml",
      "training: {max_steps: 5}\ncommand: torchrun --nproc_per_node 4 t.py --batch-size "
      "{micro_batch} --grad_accum {accumulation}\n");
  api.Answer(Advice());
  EXPECT_EQ(Gpuadvise({"advise", fixed}), kExitOk);
  EXPECT_NE(console.printed.find("Command: the command has --nproc_per_node 4: row"),
            std::string::npos)
      << console.printed;
  EXPECT_NE(console.printed.find("write {gpus_per_node} there"), std::string::npos);
}

TEST_F(AdviseTest, AJobScriptStandsForTheFile) {
  const std::string script =
      folder.Write("job.sh", "#SBATCH --gres=gpu:2\ntorchrun t.py --batch_size 4 --epochs 3\n");
  api.Answer(Advice());
  EXPECT_EQ(Gpuadvise({"advise", "--from", script, "--num-samples", "100"}), kExitOk);
  const json spec = api.asked.front().second["spec"];
  EXPECT_EQ(spec["training"]["effective_batch_size"], 4);
  EXPECT_EQ(spec["training"]["num_samples"], 100);
  EXPECT_NE(console.complained.find("Fill in:    the model's memory"), std::string::npos);
}

TEST_F(AdviseTest, AJobScriptAsFileIsReadAsOne) {
  const std::string script = folder.Write(
      "job.sh", "#!/bin/bash\n#SBATCH --gres=gpu:2\ntorchrun t.py --batch_size 4 --max_steps 3\n");
  api.Answer(Advice());
  EXPECT_EQ(Gpuadvise({"advise", script}), kExitOk);
  EXPECT_EQ(api.asked.front().second["spec"]["training"]["effective_batch_size"], 4);
  api.AnswerError({ErrorCode::kBadInput, "no", "/spec/training/max_steps"});
  EXPECT_EQ(Gpuadvise({"advise", script}), kExitUsage);
  EXPECT_NE(console.complained.find(script + ": no"), std::string::npos) << console.complained;
}

TEST_F(AdviseTest, GpusAndPricesOfTheCommandLineWinOverTheFile) {
  const std::string given = folder.Write(
      "t.yaml", "model: {preset: t5-base}\ntraining: {max_steps: 5}\nresources: {gpus: [h100]}\n");
  api.Answer(Advice());
  EXPECT_EQ(Gpuadvise({"advise", given, "--gpu", "l40s,rtx4090", "--price", "l40s=2.5"}), kExitOk);
  const json resources = api.asked.front().second["spec"]["resources"];
  EXPECT_EQ(resources["gpus"], json({"l40s", "rtx4090"}));
  EXPECT_EQ(resources["prices"], json({"l40s=2.5"}));
  EXPECT_NE(console.complained.find("--gpu l40s,rtx4090 instead of"), std::string::npos);
  api.AnswerError({ErrorCode::kBadInput, "no such GPU", "/spec/resources/gpus/1"});
  EXPECT_EQ(Gpuadvise({"advise", given, "--gpu", "l40s,x"}), kExitUsage);
  EXPECT_NE(console.complained.find("--gpu l40s,x: no such GPU"), std::string::npos);
}

TEST_F(AdviseTest, WhatOfTheFileLeavesOneGpuIsSaidFirst) {
  const std::string given =
      folder.Write("t.yaml",
                   "model: {preset: t5-base}\ntraining: {max_steps: 5}\nresources: {gpus: [l40s]}\n"
                   "slurm: {constraint: ib, extra: [--exclusive]}\n");
  json one = Advice();
  one["strategies"].erase(one["strategies"].begin() + 1, one["strategies"].end());
  api.Answer(one);
  EXPECT_EQ(Gpuadvise({"advise", given}), kExitOk);
  const std::string flat = ReplaceAll(console.printed, "\n", " ");
  EXPECT_THAT(flat, HasSubstr("Considered is only what slurm.constraint: ib and resources.gpus of "
                              "the file allow; without that more GPUs may be compared."));
  EXPECT_THAT(console.complained, HasSubstr("not in the forecast: --exclusive"));
  console.printed.clear();
  api.Answer(Advice());
  EXPECT_EQ(Gpuadvise({"advise", given}), kExitOk);
  EXPECT_EQ(console.printed.find("Considered"), std::string::npos);
}

TEST_F(AdviseTest, OnlyWhatSubmitRefusesIsSaidNotToBeSubmittable) {
  const std::string given = folder.Write(
      "t.yaml", "model: {preset: t5-base}\ntraining: {max_steps: 5}\ncommand: python t.py\n");
  api.Answer(Advice());
  EXPECT_EQ(Gpuadvise({"advise", given}), kExitOk);
  const std::string flat = ReplaceAll(console.printed, "\n  ", " ");
  EXPECT_THAT(flat, HasSubstr("python starts one process"));
  EXPECT_THAT(flat, HasSubstr("may run otherwise than advised; add {gpus_per_node}"));
  EXPECT_THAT(flat, HasSubstr("the batch of one GPU: no row can be submitted"));
}

TEST_F(AdviseTest, AScriptWithoutItsBatchIsNotRanked) {
  const std::string script = folder.Write("job.sh", "torchrun t.py config.yaml --max_steps 5\n");
  EXPECT_EQ(Gpuadvise({"advise", "--from", script}), kExitUsage);
  EXPECT_NE(console.complained.find("the batch: it is set in config.yaml, which cannot be"),
            std::string::npos);
  EXPECT_TRUE(api.asked.empty());
  api.Answer(Advice());
  EXPECT_EQ(Gpuadvise({"advise", "--from", script, "--effective-batch", "64"}), kExitOk);
  EXPECT_EQ(api.asked.front().second["spec"]["training"]["effective_batch_size"], 64);
}

TEST_F(AdviseTest, NoStrategyIsExit3) {
  json advice = Advice();
  advice["strategies"] = json::array();
  api.Answer(advice);
  EXPECT_EQ(Gpuadvise({"advise", file}), kExitInfeasible);
  EXPECT_NE(console.printed.find("Not possible: "), std::string::npos);
}

TEST_F(AdviseTest, OlderThanAllowedIsExit5AndStillAnswered) {
  json advice = Advice();
  advice["meta"]["stale_cause"] = "slurmctld is down";
  api.Answer(advice);
  EXPECT_EQ(Gpuadvise({"advise", file, "--max-age", "10"}), kExitStale);
  EXPECT_NE(console.printed.find("RTX 4090"), std::string::npos);
  EXPECT_EQ(console.complained,
            "gpuadvise: the data is 12 s old, --max-age allows 10 s: slurmctld is down\n");
}

TEST_F(AdviseTest, NoDaemonIsExit4) {
  EXPECT_EQ(Gpuadvise({"advise", file}), kExitUnavailable);
  EXPECT_EQ(console.complained, "gpuadvise: nothing listens there\n");
}

TEST_F(AdviseTest, ABadValueHasFileAndLineAndIsExit2) {
  api.AnswerError({ErrorCode::kBadInput, "max_steps must be more", "/spec/training/max_steps"});
  EXPECT_EQ(Gpuadvise({"advise", file}), kExitUsage);
  EXPECT_EQ(console.complained, "gpuadvise: " + file + ":3: max_steps must be more\n");
}

TEST_F(AdviseTest, ABadFileIsExit2AndNobodyIsAsked) {
  EXPECT_EQ(Gpuadvise({"advise", folder.Write("bad.yaml", "a: [\n")}), kExitUsage);
  EXPECT_TRUE(api.asked.empty());
}

TEST(ExitCodes, EveryErrorHasOne) {
  EXPECT_EQ(ExitCodeOf(ErrorCode::kBadInput), 2);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kNotFound), 2);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kInfeasible), 3);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kUnavailable), 4);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kStale), 5);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kInternal), 1);
}

}  // namespace
}  // namespace gpuadvise::client
