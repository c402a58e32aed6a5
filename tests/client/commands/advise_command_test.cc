#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "tests/client/fake_api.h"
#include "tests/client/fake_console.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

class AdviseTest : public testing::Test {
 protected:
  AdviseTest() {
    command.question.file = folder.Write("train.yaml", "name: x\ntraining:\n  max_steps: 5\n");
  }
  int Run() { return RunAdvise(command, api, console); }
  static json Advice() { return json::parse(TestData("advice.json")); }

  TemporaryFolder folder;
  FakeApi api;
  FakeConsole console;
  AdviseCommand command;
};

TEST_F(AdviseTest, PrintsTheRanking) {
  api.Answer(Advice());
  EXPECT_EQ(Run(), kExitOk);
  ExpectGolden("advise_120.txt", console.printed);
  EXPECT_EQ(console.complained, "");
  EXPECT_EQ(api.asked.front().first, "/v1/advise");
}

TEST_F(AdviseTest, JsonIsTheApisOwn) {
  command.json = true;
  api.Answer(Advice());
  EXPECT_EQ(Run(), kExitOk);
  EXPECT_EQ(json::parse(console.printed), Advice());
}

TEST_F(AdviseTest, ACommandThatCannotFollowTheRowsIsSaid) {
  command.question.file = folder.Write(
      "fixed.yaml",
      "training: {max_steps: 5}\ncommand: torchrun --nproc_per_node 4 t.py --batch-size "
      "{micro_batch} --grad_accum {accumulation}\n");
  api.Answer(Advice());
  EXPECT_EQ(Run(), kExitOk);
  EXPECT_NE(console.printed.find("Command: the command has --nproc_per_node 4: row"),
            std::string::npos)
      << console.printed;
  EXPECT_NE(console.printed.find("write {gpus_per_node} there"), std::string::npos);
}

TEST_F(AdviseTest, AJobScriptStandsForTheFile) {
  command.question.file.clear();
  command.from.script =
      folder.Write("job.sh", "#SBATCH --gres=gpu:2\ntorchrun t.py --batch_size 4 --epochs 3\n");
  command.from.hints.num_samples = 100;
  api.Answer(Advice());
  EXPECT_EQ(Run(), kExitOk);
  const json spec = api.asked.front().second["spec"];
  EXPECT_EQ(spec["training"]["effective_batch_size"], 4);
  EXPECT_EQ(spec["training"]["num_samples"], 100);
  EXPECT_NE(console.complained.find("Fill in:    the model's memory"), std::string::npos);
}

TEST_F(AdviseTest, AScriptWithoutItsBatchIsNotRanked) {
  command.question.file.clear();
  command.from.script = folder.Write("job.sh", "torchrun t.py config.yaml --max_steps 5\n");
  EXPECT_EQ(Run(), kExitUsage);
  EXPECT_NE(console.complained.find("the batch: no flag gives it"), std::string::npos);
  EXPECT_TRUE(api.asked.empty());
  command.from.hints.effective_batch_size = 64;
  api.Answer(Advice());
  EXPECT_EQ(Run(), kExitOk);
  EXPECT_EQ(api.asked.front().second["spec"]["training"]["effective_batch_size"], 64);
}

TEST_F(AdviseTest, NoStrategyIsExit3) {
  json advice = Advice();
  advice["strategies"] = json::array();
  api.Answer(advice);
  EXPECT_EQ(Run(), kExitInfeasible);
  EXPECT_NE(console.printed.find("Not possible: "), std::string::npos);
}

TEST_F(AdviseTest, OlderThanAllowedIsExit5AndStillAnswered) {
  command.max_age_seconds = 10;
  json advice = Advice();
  advice["meta"]["stale_cause"] = "slurmctld is down";
  api.Answer(advice);
  EXPECT_EQ(Run(), kExitStale);
  EXPECT_NE(console.printed.find("RTX 4090"), std::string::npos);
  EXPECT_EQ(console.complained,
            "gpuadvise: the data is 12 s old, --max-age allows 10 s: slurmctld is down\n");
}

TEST_F(AdviseTest, NoDaemonIsExit4) {
  EXPECT_EQ(Run(), kExitUnavailable);
  EXPECT_EQ(console.complained, "gpuadvise: nothing listens there\n");
}

TEST_F(AdviseTest, ABadValueHasFileAndLineAndIsExit2) {
  api.AnswerError({ErrorCode::kBadInput, "max_steps must be more", "/spec/training/max_steps"});
  EXPECT_EQ(Run(), kExitUsage);
  EXPECT_EQ(console.complained,
            "gpuadvise: " + command.question.file + ":3: max_steps must be more\n");
}

TEST_F(AdviseTest, ABadFileIsExit2AndNobodyIsAsked) {
  command.question.file = folder.Write("bad.yaml", "a: [\n");
  EXPECT_EQ(Run(), kExitUsage);
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
