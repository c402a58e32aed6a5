#include <gmock/gmock.h>
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
using testing::HasSubstr;

constexpr const char* kExample = GPUADVISE_EXAMPLES "/llama-lora.yaml";

FitCommand Of(const std::string& file, std::vector<std::string> gpus) {
  FitCommand command;
  command.source.file = file;
  command.source.gpus = std::move(gpus);
  return command;
}

TEST(FitCommand, PrintsATableOfTheNamedGpus) {
  FakeApi api;
  FakeConsole console;
  console.shown.width = 80;
  EXPECT_EQ(RunFit(Of(kExample, {"rtx2080ti", "rtx4090", "a100-80gb"}), api, console), kExitOk);
  ExpectGolden("fit_80.txt", console.printed);
  ASSERT_EQ(api.asked.size(), 1u);  // of no daemon, and that is no trouble
  EXPECT_EQ(api.asked[0].first, "/v1/gpus");
}

TEST(FitCommand, KnowsACardOfAFileOfOnesOwn) {
  const TemporaryFolder folder;
  FakeApi api;
  FakeConsole console;
  FitCommand command = Of(kExample, {"ourcard"});
  EXPECT_NE(RunFit(command, api, console), kExitOk);
  command.source.own.gpus_file = folder.Write(
      "gpus.yaml",
      "gpus:\n"
      "  - {id: ourcard, name: Our Card, architecture: Blackwell, compute_capability: 12.0,\n"
      "     memory_gb: 72, memory_bandwidth_gb_per_s: 900, dense_tflops: 200, bf16: true,\n"
      "     link: pcie}\n");
  EXPECT_EQ(RunFit(command, api, console), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("Our Card with micro-batch"));
}

TEST(FitCommand, PrintsMemoryByPartOfOneGpu) {
  FakeApi api;
  FakeConsole console;
  console.shown.width = 80;
  EXPECT_EQ(RunFit(Of(kExample, {"l40s"}), api, console), kExitOk);
  ExpectGolden("fit_one_80.txt", console.printed);
}

TEST(FitCommand, PrintsAllTipsForTheFirstGpu) {
  FakeApi api;
  FakeConsole console;
  console.shown.width = 80;
  FitCommand command = Of(kExample, {"rtx4090", "l40s"});
  command.tips = true;
  EXPECT_EQ(RunFit(command, api, console), kExitOk);
  ExpectGolden("fit_tips_80.txt", console.printed);
}

TEST(FitCommand, TipsAreInTheJsonWhereTheyAreAskedFor) {
  FakeApi api;
  FakeConsole console;
  FitCommand command = Of(kExample, {"l40s"});
  command.json = true;
  EXPECT_EQ(RunFit(command, api, console), kExitOk);
  EXPECT_FALSE(json::parse(console.printed).contains("tips"));
  console.printed.clear();
  command.tips = true;
  EXPECT_EQ(RunFit(command, api, console), kExitOk);
  const json answer = json::parse(console.printed);
  EXPECT_GE(answer["tips"].size(), 20u);
  for (const json& tip : answer["tips"]) {
    EXPECT_EQ(tip["applies"].get<bool>(), tip["why_not"] == "") << tip;
    EXPECT_TRUE(tip["name"].is_string() && tip["text"].is_string() && tip["effect"].is_string());
  }
}

TEST(FitCommand, TakesTheGpusOfTheClusterWhereADaemonAnswers) {
  FakeApi api;
  api.Answer({{"gpus", {{{"gpu", "l40s"}}, {{"gpu", "no such card"}}, {{"gpu", "rtx4090"}}}}});
  FakeConsole console;
  FitCommand command = Of(kExample, {});
  command.json = true;
  EXPECT_EQ(RunFit(command, api, console), kExitOk);
  const json answer = json::parse(console.printed);
  ASSERT_EQ(answer["gpus"].size(), 2u);
  EXPECT_EQ(answer["gpus"][0]["gpu"], "l40s");
  EXPECT_GT(answer["gpus"][1]["memory"]["total_bytes"], 0);
}

TEST(FitCommand, KnowsTheSitesOwnCardsFromTheDaemon) {
  FakeApi api;
  api.Answer({{"gpus",
               {{{"gpu", "warp-48gb"},
                 {"catalogue",
                  {{"id", "warp-48gb"},
                   {"name", "Warp 48GB"},
                   {"architecture", "Ada"},
                   {"compute_capability", 8.9},
                   {"memory_gb", 48},
                   {"memory_bandwidth_gb_per_s", 900},
                   {"dense_tflops", 200},
                   {"efficiency", 0.8},
                   {"bf16", true},
                   {"link", "pcie"}}}}}}});
  FakeConsole console;
  EXPECT_EQ(RunFit(Of(kExample, {}), api, console), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("Warp 48GB"));
}

TEST(FitCommand, SaysThatItCannotReadTheDaemonsCards) {
  FakeApi api;
  api.Answer({{"gpus", {{{"gpu", "l40s"}, {"catalogue", {{"id", "l40s"}, {"link", "laser"}}}}}}});
  FakeConsole console;
  EXPECT_EQ(RunFit(Of(kExample, {}), api, console), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("the daemon's GPUs cannot be read"));
  EXPECT_THAT(console.printed, HasSubstr("L40S"));
}

TEST(FitCommand, WithOneGpuItsFiguresAreAtTheTop) {
  FakeApi api;
  FakeConsole console;
  FitCommand command = Of(kExample, {"l40s"});
  command.json = true;
  command.micro_batch = 64;
  EXPECT_EQ(RunFit(command, api, console), kExitOk);
  const json answer = json::parse(console.printed);
  EXPECT_EQ(answer["micro_batch"], 64);
  EXPECT_EQ(answer["fits"], false);
  EXPECT_TRUE(answer["max_micro_batch"].contains("recommended"));
  EXPECT_TRUE(answer["settings"].contains("gradient_checkpointing"));
}

TEST(FitCommand, NeedsNoFileAndNoRunLength) {
  FakeApi api;
  FakeConsole console;
  console.shown.width = 80;
  FitCommand command = Of("meta-llama/Llama-3.1-8B", {"l40s"});
  command.source.settings = {{"training.method", "--method", "lora"},
                             {"training.max_seq_length", "--seq", "2048"}};
  EXPECT_EQ(RunFit(command, api, console), kExitOk);
  ExpectGolden("fit_model_80.txt", console.printed);
  EXPECT_EQ(console.complained, "");
}

TEST(FitCommand, SaysWhichValueOfTheFileGivesWay) {
  FakeApi api;
  FakeConsole console;
  FitCommand command = Of(kExample, {"l40s"});
  command.source.settings = {{"training.max_seq_length", "--seq", "512"}};
  EXPECT_EQ(RunFit(command, api, console), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("--seq 512 instead of " + std::string(kExample) +
                                            "'s max_seq_length: 2048"));
}

std::string ComplaintAbout(const std::string& yaml, const std::vector<std::string>& gpus) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("t.yaml", yaml);
  FakeApi api;
  FakeConsole console;
  EXPECT_NE(RunFit(Of(path, gpus), api, console), kExitOk) << yaml;
  return console.complained;
}

TEST(FitCommand, BadInputIsASentenceWithItsLine) {
  EXPECT_THAT(ComplaintAbout("model:\n  hidden_size: 100\n  num_hidden_layers: 2\n"
                             "  num_attention_heads: 12\ntraining: {max_steps: 1}\n",
                             {"l40s"}),
              HasSubstr("t.yaml:2: hidden_size 100 cannot be split"));
  EXPECT_THAT(ComplaintAbout("model: {preset: lama-2-7b}\ntraining: {max_steps: 1}\n", {"l40s"}),
              HasSubstr("t.yaml:1: unknown model preset 'lama-2-7b'"));
  EXPECT_THAT(
      ComplaintAbout("model: {preset: gpt2}\ntraining: {max_steps: 1, deepspeed: 7}\n", {"l40s"}),
      HasSubstr("deepspeed must be a ZeRO stage from 0 to 3"));
  EXPECT_THAT(ComplaintAbout("model: {preset: gpt2}\ntraining: {max_steps: 1}\n", {"l40z"}),
              HasSubstr("unknown GPU 'l40z' (did you mean 'l40'?)"));
  EXPECT_THAT(ComplaintAbout("model: {preset: gpt2}\n"
                             "training:\n  measured: [{gpu: rtx409, batch: 1, peak: 1 GB}]\n",
                             {"l40s"}),
              HasSubstr("t.yaml:3: measured: unknown GPU 'rtx409' (did you mean 'rtx4090'?); "
                        "`gpuadvise cards` lists the names"));
}

}  // namespace
}  // namespace gpuadvise::client
