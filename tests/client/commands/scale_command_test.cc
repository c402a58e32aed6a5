#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/terminal/display.h"
#include "tests/client/fake_api.h"
#include "tests/client/fake_console.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kTwoStages = GPUADVISE_EXAMPLES "/two-stages.yaml";
constexpr const char* kLora = GPUADVISE_EXAMPLES "/llama-lora.yaml";

ScaleCommand Of(const std::string& file, std::vector<std::string> gpus) {
  ScaleCommand command;
  command.source.file = file;
  command.source.gpus = std::move(gpus);
  return command;
}

// Without a limit on its nodes.
std::string LoraIn(const TemporaryFolder& folder) {
  return folder.Write(
      "lora.yaml",
      "model: {preset: llama-3.2-3b}\n"
      "training: {samples: 100000, effective_batch_size: 64, max_seq_length: 1024,\n"
      "           method: lora}\ncommand: x\n");
}

TEST(ScaleCommand, NeedsNoFileWhereItIsToldHowLongItRuns) {
  FakeApi api;
  FakeConsole console;
  ScaleCommand command = Of("gpt2", {"l40s"});
  command.json = true;
  EXPECT_EQ(RunScale(command, api, console), kExitUsage);
  EXPECT_THAT(console.complained,
              HasSubstr("the length of the training is missing; add --max-steps N"));
  command.source.settings = {{"training.max_steps", "--max-steps", "100"},
                             {"training.effective_batch_size", "--effective", "64"}};
  EXPECT_EQ(RunScale(command, api, console), kExitOk);
  EXPECT_EQ(json::parse(console.printed)["steps"][0]["stages"][0]["steps"], 100);
}

TEST(ScaleCommand, PrintsHoursCostReasonsAndDays) {
  FakeApi api;
  FakeConsole console;
  console.shown.width = 80;
  ScaleCommand command = Of(kTwoStages, {"h100-80gb-pcie", "rtx-a6000"});
  command.price = 3;
  EXPECT_EQ(RunScale(command, api, console), kExitOk);
  ExpectGolden("scale_80.txt", console.printed);
}

TEST(ScaleCommand, NeverPrintsWiderThanTheTerminal) {
  FakeApi api;
  FakeConsole console;
  console.shown.width = 60;
  EXPECT_EQ(RunScale(Of(kLora, {"rtx4090"}), api, console), kExitOk);
  ExpectGolden("scale_60.txt", console.printed);
  for (const int width : {40, 60, 80}) {
    console.printed.clear();
    console.shown.width = width;
    RunScale(Of(kTwoStages, {"h100-80gb-pcie", "rtx-a6000", "rtx4070"}), api, console);
    for (size_t start = 0; start < console.printed.size();) {
      const size_t end = console.printed.find('\n', start);
      EXPECT_LE(DisplayWidth(console.printed.substr(start, end - start)), width);
      start = end + 1;
    }
  }
}

TEST(ScaleCommand, JsonHasEveryFigureInSecondsAndHours) {
  const TemporaryFolder folder;
  FakeApi api;
  FakeConsole console;
  ScaleCommand command = Of(LoraIn(folder), {"l40s"});
  command.json = true;
  command.most_gpus = 16;
  command.network_gbit_per_s = 200;
  EXPECT_EQ(RunScale(command, api, console), kExitOk);
  const json answer = json::parse(console.printed);
  EXPECT_EQ(answer["gpu"], "l40s");
  EXPECT_EQ(answer["steps"].size(), 5u);
  EXPECT_EQ(answer["steps"][4]["nodes"], 2);
  EXPECT_GT(answer["steps"][0]["run_p90_seconds"], answer["steps"][0]["run_p50_seconds"]);
  EXPECT_TRUE(answer["recommended"]["schedule"].is_array());
}

TEST(ScaleCommand, TakesNodesAndNetworkFromTheDaemon) {
  const TemporaryFolder folder;
  FakeApi api;
  api.Answer({{"gpus",
               {{{"gpu", "l40s"},
                 {"gpus_per_node", 4},
                 {"interconnect", {{"link_gb_per_s", 20}, {"network_gb_per_s", 25}}}}}}});
  FakeConsole console;
  ScaleCommand command = Of(LoraIn(folder), {});
  command.json = true;
  EXPECT_EQ(RunScale(command, api, console), kExitOk);
  const json answer = json::parse(console.printed);
  EXPECT_EQ(answer["steps"][3]["nodes"], 2);
  const auto doubt = [&](int i) {
    const json& step = answer["steps"][static_cast<size_t>(i)];
    return step["run_p90_seconds"].get<double>() / step["run_p50_seconds"].get<double>();
  };
  EXPECT_LT(doubt(3), doubt(2) + 0.05);  // the network is known
}

TEST(ScaleCommand, ADeadlineIsMetWithTheFewestGpus) {
  FakeApi api;
  FakeConsole console;
  ScaleCommand command = Of(kTwoStages, {"h100-80gb-pcie"});
  command.deadline = "now+7days";
  EXPECT_EQ(RunScale(command, api, console), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("* 2 GPUs: the fewest that take at most 168 h"));
  command.deadline.clear();
  command.objective = "deadline";
  EXPECT_EQ(RunScale(command, api, console), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("add --deadline"));
}

TEST(ScaleCommand, SaysWhyNothingRuns) {
  const TemporaryFolder folder;
  const std::string big =
      folder.Write("big.yaml",
                   "model: {preset: llama-3.1-70b}\n"
                   "training: {samples: 100, effective_batch_size: 8, max_seq_length: 512}\n"
                   "command: x\n");
  FakeApi api;
  FakeConsole console;
  EXPECT_EQ(RunScale(Of(big, {"rtx4090"}), api, console), kExitInfeasible);
  EXPECT_THAT(console.printed, HasSubstr("2, 4, 8 GPUs: one sample takes"));
  EXPECT_THAT(console.printed, HasSubstr("None of these can run it."));
}

TEST(ScaleCommand, SaysWhatIsTakenForGranted) {
  const TemporaryFolder folder;
  const std::string path = folder.Write(
      "t.yaml", "model: {preset: gpt2}\ntraining: {max_steps: 100, optim: soap}\ncommand: x\n");
  FakeApi api;
  FakeConsole console;
  EXPECT_EQ(RunScale(Of(path, {"l40s"}), api, console), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("Assumed: 512 tokens a sample"));
  EXPECT_THAT(console.printed,
              HasSubstr("\nNot included: optim soap (preconditioners for each matrix; it counts"));
  EXPECT_THAT(console.printed, HasSubstr("for shorter ones set mean_seq_length"));
}

TEST(ScaleCommand, AnAdapterOfNothingIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("t.yaml",
                                        "model: {preset: gpt2}\ntraining:\n  max_steps: 1\n"
                                        "  method: lora\n  lora: {target_modules: [nothing]}\n"
                                        "command: x\n");
  FakeApi api;
  FakeConsole console;
  EXPECT_EQ(RunScale(Of(path, {"l40s"}), api, console), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("t.yaml:5: lora.target_modules matches no layer"));
}

TEST(ScaleCommand, AWrongKeyIsToldWithItsLine) {
  const TemporaryFolder folder;
  const std::string path =
      folder.Write("t.yaml",
                   "model: {preset: llama-3.2-1b}\n"
                   "training:\n"
                   "  samples: 100\n"
                   "  measured: [{gpu: rtx9999x, batch: 1, seconds_per_step: 1}]\n"
                   "command: x\n");
  FakeApi api;
  FakeConsole console;
  EXPECT_EQ(RunScale(Of(path, {"l40s"}), api, console), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("t.yaml:4: "));
  EXPECT_THAT(console.complained, HasSubstr("rtx9999x"));
}

}  // namespace
}  // namespace gpuadvise::client
