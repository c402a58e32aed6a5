#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/terminal/display.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kTwoStages = GPUADVISE_EXAMPLES "/two-stages.yaml";
constexpr const char* kLora = GPUADVISE_EXAMPLES "/llama-lora.yaml";

class ScaleCommand : public testing::Test, protected FakeProcess {};

// Without a limit on its nodes.
std::string LoraIn(const TemporaryFolder& folder) {
  return folder.Write(
      "lora.yaml",
      "model: {preset: llama-3.2-3b}\n"
      "training: {samples: 100000, effective_batch_size: 64, max_seq_length: 1024,\n"
      "           method: lora}\ncommand: x\n");
}

TEST_F(ScaleCommand, NeedsNoFileWhereItIsToldHowLongItRuns) {
  EXPECT_EQ(Gpuadvise({"scale", "gpt2", "--gpu", "l40s"}), kExitUsage);
  EXPECT_THAT(console.complained,
              HasSubstr("the length of the training is missing; add --max-steps N"));
  EXPECT_EQ(Gpuadvise({"scale", "gpt2", "--gpu", "l40s", "--max-steps", "100", "--effective", "64",
                       "--json"}),
            kExitOk);
  EXPECT_EQ(json::parse(console.printed)["steps"][0]["stages"][0]["steps"], 100);
}

TEST_F(ScaleCommand, PrintsHoursCostReasonsAndDays) {
  console.shown.width = 80;
  EXPECT_EQ(Gpuadvise({"scale", kTwoStages, "--gpu", "h100-80gb-pcie", "rtx-a6000", "--price=3"}),
            kExitOk);
  ExpectGolden("scale_80.txt", console.printed);
}

TEST_F(ScaleCommand, NeverPrintsWiderThanTheTerminal) {
  console.shown.width = 60;
  EXPECT_EQ(Gpuadvise({"scale", kLora, "--gpu", "rtx4090"}), kExitOk);
  ExpectGolden("scale_60.txt", console.printed);
  for (const int width : {40, 60, 80}) {
    console.printed.clear();
    console.shown.width = width;
    Gpuadvise({"scale", kTwoStages, "--gpu", "h100-80gb-pcie", "rtx-a6000", "rtx4070"});
    for (size_t start = 0; start < console.printed.size();) {
      const size_t end = console.printed.find('\n', start);
      EXPECT_LE(DisplayWidth(console.printed.substr(start, end - start)), width);
      start = end + 1;
    }
  }
}

TEST_F(ScaleCommand, JsonHasEveryFigureInSecondsAndHours) {
  const TemporaryFolder folder;
  EXPECT_EQ(Gpuadvise({"scale", LoraIn(folder), "--gpu", "l40s", "--json", "--max-gpus", "16",
                       "--network", "200"}),
            kExitOk);
  const json answer = json::parse(console.printed);
  EXPECT_EQ(answer["gpu"], "l40s");
  EXPECT_EQ(answer["steps"].size(), 5u);
  EXPECT_EQ(answer["steps"][4]["nodes"], 2);
  EXPECT_GT(answer["steps"][0]["run_p90_seconds"], answer["steps"][0]["run_p50_seconds"]);
  EXPECT_TRUE(answer["recommended"]["schedule"].is_array());
}

TEST_F(ScaleCommand, TakesNodesAndNetworkFromTheDaemon) {
  const TemporaryFolder folder;
  api.Answer({{"gpus",
               {{{"gpu", "l40s"},
                 {"gpus_per_node", 4},
                 {"interconnect", {{"link_gb_per_s", 20}, {"network_gb_per_s", 25}}}}}}});
  EXPECT_EQ(Gpuadvise({"scale", LoraIn(folder), "--json"}), kExitOk);
  const json answer = json::parse(console.printed);
  EXPECT_EQ(answer["steps"][3]["nodes"], 2);
  const auto doubt = [&](int i) {
    const json& step = answer["steps"][static_cast<size_t>(i)];
    return step["run_p90_seconds"].get<double>() / step["run_p50_seconds"].get<double>();
  };
  EXPECT_LT(doubt(3), doubt(2) + 0.05);  // the network is known
}

TEST_F(ScaleCommand, ADeadlineIsMetWithTheFewestGpus) {
  EXPECT_EQ(Gpuadvise({"scale", kTwoStages, "--gpu", "h100-80gb-pcie", "--deadline", "now+7days"}),
            kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("* 2 GPUs: the fewest that take at most 168 h"));
  EXPECT_EQ(Gpuadvise({"scale", kTwoStages, "--gpu", "h100-80gb-pcie", "--objective", "deadline"}),
            kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("add --deadline"));
}

TEST_F(ScaleCommand, SaysWhyNothingRuns) {
  const TemporaryFolder folder;
  const std::string big =
      folder.Write("big.yaml",
                   "model: {preset: llama-3.1-70b}\n"
                   "training: {samples: 100, effective_batch_size: 8, max_seq_length: 512}\n"
                   "command: x\n");
  EXPECT_EQ(Gpuadvise({"scale", big, "--gpu", "rtx4090"}), kExitInfeasible);
  EXPECT_THAT(console.printed, HasSubstr("2, 4, 8 GPUs: one sample takes"));
  EXPECT_THAT(console.printed, HasSubstr("None of these can run it."));
}

TEST_F(ScaleCommand, SaysWhatIsTakenForGranted) {
  const TemporaryFolder folder;
  const std::string path = folder.Write(
      "t.yaml", "model: {preset: gpt2}\ntraining: {max_steps: 100, optim: soap}\ncommand: x\n");
  EXPECT_EQ(Gpuadvise({"scale", path, "--gpu", "l40s"}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("Assumed: 512 tokens a sample"));
  EXPECT_THAT(console.printed,
              HasSubstr("\nNot included: optim soap (preconditioners for each matrix; it counts"));
  EXPECT_THAT(console.printed, HasSubstr("for shorter ones set mean_seq_length"));
}

TEST_F(ScaleCommand, AnAdapterOfNothingIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("t.yaml",
                                        "model: {preset: gpt2}\ntraining:\n  max_steps: 1\n"
                                        "  method: lora\n  lora: {target_modules: [nothing]}\n"
                                        "command: x\n");
  EXPECT_EQ(Gpuadvise({"scale", path, "--gpu", "l40s"}), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("t.yaml:5: lora.target_modules matches no layer"));
}

TEST_F(ScaleCommand, AWrongKeyIsToldWithItsLine) {
  const TemporaryFolder folder;
  const std::string path =
      folder.Write("t.yaml",
                   "model: {preset: llama-3.2-1b}\n"
                   "training:\n"
                   "  samples: 100\n"
                   "  measured: [{gpu: rtx9999x, batch: 1, seconds_per_step: 1}]\n"
                   "command: x\n");
  EXPECT_EQ(Gpuadvise({"scale", path, "--gpu", "l40s"}), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("t.yaml:4: "));
  EXPECT_THAT(console.complained, HasSubstr("rtx9999x"));
}

}  // namespace
}  // namespace gpuadvise::client
