#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

using Words = std::vector<std::string>;

class Cards : public testing::Test, protected FakeProcess {
 protected:
  const TemporaryFolder folder;
};

std::string Models(Words words, int width = 100) {
  FakeProcess process;
  process.console.shown.width = width;
  words.insert(words.begin(), "models");
  EXPECT_EQ(process.Gpuadvise(words), kExitOk);
  return process.console.printed;
}

TEST(Models, AreListedByAWordOfAnyOfTheirNames) {
  ExpectGolden("models_llama.txt", Models({"llama3"}));
  EXPECT_THAT(Models({"Qwen2.5-VL"}), HasSubstr("Qwen/Qwen2.5-VL-7B-Instruct"));
  EXPECT_THAT(Models({"mt5"}), HasSubstr("no fp16"));
}

TEST(Models, WithoutAWordAreNamesByFamily) {
  const std::string all = Models({}, 80);
  EXPECT_THAT(all, HasSubstr("\nbaichuan (4)\n  baichuan-7b, baichuan-13b, baichuan2-7b"));
  for (const std::string& name : ShippedModels().Names()) EXPECT_THAT(all, HasSubstr(name));
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Models, OfAMixtureSayWhatIsActive) {
  ExpectGolden("models_deepseek_80.txt", Models({"deepseek"}, 80));
  const json answer = json::parse(Models({"mixtral-8x7b", "--json"}));
  EXPECT_NEAR(answer["models"][0]["active_parameters"].get<double>(), 12.9e9, 0.1e9);
}

TEST(Models, AsJsonHaveEveryPreset) {
  const json answer = json::parse(Models({"--json"}));
  EXPECT_EQ(answer["models"].size(), ShippedModels().Names().size());
  EXPECT_EQ(json::parse(Models({"nothing", "--json"}))["models"].size(), 0u);
}

TEST(Models, AnUnknownWordNamesTheNearest) {
  FakeProcess process;
  EXPECT_NE(process.Gpuadvise({"models", "lamma-3.1-8b"}), kExitOk);
  EXPECT_THAT(process.console.complained, HasSubstr("did you mean 'llama-3.1-8b'?"));
}

constexpr const char* kOwnCard =
    "gpus:\n"
    "  - {id: ourcard, name: Our Card, architecture: Blackwell, compute_capability: 12.0,\n"
    "     memory_gb: 40, memory_bandwidth_gb_per_s: 900, dense_tflops: 200, bf16: true, link: "
    "pcie}\n"
    "  - {id: l40s, price_per_gpu_hour: 2}\n";

TEST_F(Cards, OfAFileOfOnesOwnAreOverTheBuiltInOnes) {
  const std::string file = folder.Write("gpus.yaml", kOwnCard);
  EXPECT_EQ(Gpuadvise({"cards", "ourcard", "--gpus-file", file}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("Our Card"));
  console.printed.clear();
  EXPECT_EQ(Gpuadvise({"cards", "--json", "--gpus-file", file}), kExitOk);
  const json cards = json::parse(console.printed)["cards"];
  for (const json& card : cards) {
    if (card["name"] != "l40s") continue;
    EXPECT_EQ(card["price_per_gpu_hour"], 2);
    EXPECT_EQ(card["dense_tflops"], 362);
  }
}

TEST_F(Cards, AWrongFileOfOnesOwnIsToldWithItsLine) {
  const auto complaint = [&](const std::string& text) {
    console.complained.clear();
    EXPECT_NE(Gpuadvise({"cards", "--gpus-file", folder.Write("gpus.yaml", text)}), kExitOk);
    return console.complained;
  };
  EXPECT_THAT(complaint("gpus:\n  - id: x\n    name: X\n"),
              HasSubstr("gpus.yaml:2: architecture is missing from this GPU's entry"));
  EXPECT_THAT(complaint("gpus:\n  - id: l40s\n    dense_tflop: 3\n"),
              HasSubstr("gpus.yaml:3: unknown key 'dense_tflop' (did you mean 'dense_tflops'?)"));
  EXPECT_THAT(complaint("cards: []\n"), HasSubstr("gpus.yaml:1: unknown key 'cards'"));
}

TEST(Models, OfAFileOfOnesOwnAreOverTheBuiltInOnes) {
  const TemporaryFolder folder;
  const std::string file =
      folder.Write("models.yaml",
                   "our-model: {title: Our Model, hidden_size: 64, num_hidden_layers: 2,\n"
                   "  num_attention_heads: 4, vocab_size: 100, source: ours}\n");
  EXPECT_THAT(Models({"our-model", "--models-file", file}), HasSubstr("our-model"));
  FakeProcess process;
  process.settings.own.models_file = folder.Write("models.yaml", "our-model: {hiden_size: 64}\n");
  EXPECT_NE(process.Gpuadvise({"models", "our-model"}), kExitOk);
  EXPECT_THAT(process.console.complained, HasSubstr("models.yaml:1: "));
}

TEST_F(Cards, AreListedWithTheSitesOwn) {
  console.shown.width = 100;
  EXPECT_EQ(Gpuadvise({"cards", "a100"}), kExitOk);
  ExpectGolden("cards_a100.txt", console.printed);
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
  EXPECT_EQ(Gpuadvise({"cards", "warp"}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("Warp 48GB"));
  EXPECT_EQ(Gpuadvise({"cards", "warp"}), 2);  // without the daemon
  EXPECT_THAT(console.complained, HasSubstr("no known GPU has 'warp' in its name"));
}

TEST_F(Cards, AsJsonHaveTheirMemoryAndSpellings) {
  EXPECT_EQ(Gpuadvise({"cards", "rtx4090", "--json"}), kExitOk);
  const json card = json::parse(console.printed)["cards"].at(0);
  EXPECT_EQ(card["name"], "rtx4090");
  EXPECT_EQ(card["memory_bytes"], int64_t{24} << 30);
  EXPECT_TRUE(card["aliases"].is_array());
}

}  // namespace
}  // namespace gpuadvise::client
