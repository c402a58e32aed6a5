#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kExample = GPUADVISE_EXAMPLES "/llama-lora.yaml";

class FitCommand : public testing::Test, protected FakeProcess {};

TEST_F(FitCommand, PrintsATableOfTheNamedGpus) {
  console.shown.width = 80;
  EXPECT_EQ(Gpuadvise({"fit", kExample, "--gpu", "rtx2080ti", "rtx4090", "a100-80gb"}), kExitOk);
  ExpectGolden("fit_80.txt", console.printed);
  ASSERT_EQ(api.asked.size(), 1u);  // of no daemon, and that is no trouble
  EXPECT_EQ(api.asked[0].first, "/v1/gpus");
}

TEST_F(FitCommand, KnowsACardOfAFileOfOnesOwn) {
  const TemporaryFolder folder;
  EXPECT_NE(Gpuadvise({"fit", kExample, "--gpu", "ourcard"}), kExitOk);
  const std::string file = folder.Write(
      "gpus.yaml",
      "gpus:\n"
      "  - {id: ourcard, name: Our Card, architecture: Blackwell, compute_capability: 12.0,\n"
      "     memory_gb: 72, memory_bandwidth_gb_per_s: 900, dense_tflops: 200, bf16: true,\n"
      "     link: pcie}\n");
  EXPECT_EQ(Gpuadvise({"fit", kExample, "--gpu", "ourcard", "--gpus-file", file}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("Our Card with micro-batch"));
  console.printed.clear();
  settings.own.gpus_file = file;  // of client.yaml
  EXPECT_EQ(Gpuadvise({"fit", kExample, "--gpu", "ourcard"}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("Our Card with micro-batch"));
}

TEST_F(FitCommand, PrintsMemoryByPartOfOneGpu) {
  console.shown.width = 80;
  EXPECT_EQ(Gpuadvise({"fit", kExample, "--gpu", "l40s"}), kExitOk);
  ExpectGolden("fit_one_80.txt", console.printed);
}

TEST_F(FitCommand, PrintsAllTipsForTheFirstGpu) {
  console.shown.width = 80;
  EXPECT_EQ(Gpuadvise({"fit", kExample, "--gpu", "rtx4090", "--gpu", "l40s", "--tips"}), kExitOk);
  ExpectGolden("fit_tips_80.txt", console.printed);
}

TEST_F(FitCommand, TipsAreInTheJsonWhereTheyAreAskedFor) {
  EXPECT_EQ(Gpuadvise({"fit", kExample, "--gpu", "l40s", "--json"}), kExitOk);
  EXPECT_FALSE(json::parse(console.printed).contains("tips"));
  console.printed.clear();
  EXPECT_EQ(Gpuadvise({"fit", kExample, "--gpu", "l40s", "--json", "--tips"}), kExitOk);
  const json answer = json::parse(console.printed);
  EXPECT_GE(answer["tips"].size(), 20u);
  for (const json& tip : answer["tips"]) {
    EXPECT_EQ(tip["applies"].get<bool>(), tip["why_not"] == "") << tip;
    EXPECT_TRUE(tip["name"].is_string() && tip["text"].is_string() && tip["effect"].is_string());
  }
}

TEST_F(FitCommand, TakesTheGpusOfTheClusterWhereADaemonAnswers) {
  api.Answer({{"gpus", {{{"gpu", "l40s"}}, {{"gpu", "no such card"}}, {{"gpu", "rtx4090"}}}}});
  EXPECT_EQ(Gpuadvise({"fit", kExample, "--json"}), kExitOk);
  const json answer = json::parse(console.printed);
  ASSERT_EQ(answer["gpus"].size(), 2u);
  EXPECT_EQ(answer["gpus"][0]["gpu"], "l40s");
  EXPECT_GT(answer["gpus"][1]["memory"]["total_bytes"], 0);
}

TEST_F(FitCommand, SaysWhatRanOutOfMemory) {
  const json run = {{"gpu", "l40s"},         {"gpus", 1},
                    {"micro_batch", 4},      {"effective_batch_size", 32},
                    {"out_of_memory", true}, {"by", "1 of your runs"}};
  api.Answer({{"gpus", {{{"gpu", "l40s"}}}}});
  api.Answer({{"measured", {run}}});
  EXPECT_EQ(Gpuadvise({"fit", kExample}), kExitOk);
  EXPECT_THAT(console.printed,
              HasSubstr("L40S: micro-batch 4 ran out of memory there, in 1 of your runs"));
  ASSERT_EQ(api.asked.size(), 2u);
  EXPECT_EQ(api.asked[1].first, "/v1/measured");
}

TEST_F(FitCommand, SaysWhereTheDaemonDoesNotTellOfRuns) {
  api.Answer({{"gpus", {{{"gpu", "l40s"}}}}});
  api.AnswerError({ErrorCode::kNotFound, "no such target", ""});
  EXPECT_EQ(Gpuadvise({"fit", kExample}), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("what past runs have shown is not known: no such"));
}

TEST_F(FitCommand, KnowsTheSitesOwnCardsFromTheDaemon) {
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
  EXPECT_EQ(Gpuadvise({"fit", kExample}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("Warp 48GB"));
}

TEST_F(FitCommand, SaysThatItCannotReadTheDaemonsCards) {
  api.Answer({{"gpus", {{{"gpu", "l40s"}, {"catalogue", {{"id", "l40s"}, {"link", "laser"}}}}}}});
  EXPECT_EQ(Gpuadvise({"fit", kExample}), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("the daemon's GPUs cannot be read"));
  EXPECT_THAT(console.printed, HasSubstr("L40S"));
}

TEST_F(FitCommand, WithOneGpuItsFiguresAreAtTheTop) {
  EXPECT_EQ(Gpuadvise({"fit", kExample, "--gpu", "l40s", "--json", "--batch", "64"}), kExitOk);
  const json answer = json::parse(console.printed);
  EXPECT_EQ(answer["micro_batch"], 64);
  EXPECT_EQ(answer["fits"], false);
  EXPECT_TRUE(answer["max_micro_batch"].contains("recommended"));
  EXPECT_TRUE(answer["settings"].contains("gradient_checkpointing"));
}

TEST_F(FitCommand, NeedsNoFileAndNoRunLength) {
  console.shown.width = 80;
  EXPECT_EQ(Gpuadvise({"fit", "meta-llama/Llama-3.1-8B", "--gpu", "l40s", "--method", "lora",
                       "--seq", "2048"}),
            kExitOk);
  ExpectGolden("fit_model_80.txt", console.printed);
  EXPECT_EQ(console.complained, "");
}

TEST_F(FitCommand, SaysWhichValueOfTheFileGivesWay) {
  EXPECT_EQ(Gpuadvise({"fit", kExample, "--gpu", "l40s", "--seq", "512"}), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("--seq 512 instead of " + std::string(kExample) +
                                            "'s max_seq_length: 2048"));
}

std::string ComplaintAbout(const std::string& yaml, const std::string& gpu) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("t.yaml", yaml);
  FakeProcess process;
  EXPECT_NE(process.Gpuadvise({"fit", path, "--gpu", gpu}), kExitOk) << yaml;
  return process.console.complained;
}

TEST_F(FitCommand, BadInputIsASentenceWithItsLine) {
  EXPECT_THAT(ComplaintAbout("model:\n  hidden_size: 100\n  num_hidden_layers: 2\n"
                             "  num_attention_heads: 12\ntraining: {max_steps: 1}\n",
                             "l40s"),
              HasSubstr("t.yaml:2: hidden_size 100 cannot be split"));
  EXPECT_THAT(ComplaintAbout("model: {preset: lama-2-7b}\ntraining: {max_steps: 1}\n", "l40s"),
              HasSubstr("t.yaml:1: unknown model preset 'lama-2-7b'"));
  EXPECT_THAT(
      ComplaintAbout("model: {preset: gpt2}\ntraining: {max_steps: 1, deepspeed: 7}\n", "l40s"),
      HasSubstr("deepspeed must be a ZeRO stage from 0 to 3"));
  EXPECT_THAT(ComplaintAbout("model: {preset: gpt2}\ntraining: {max_steps: 1}\n", "l40z"),
              HasSubstr("unknown GPU 'l40z' (did you mean 'l40'?)"));
  EXPECT_THAT(ComplaintAbout("model: {preset: gpt2}\n"
                             "training:\n  measured: [{gpu: rtx409, batch: 1, peak: 1 GB}]\n",
                             "l40s"),
              HasSubstr("t.yaml:3: measured: unknown GPU 'rtx409' (did you mean 'rtx4090'?); "
                        "`gpuadvise cards` lists the names"));
}

}  // namespace
}  // namespace gpuadvise::client
