#include "common/yaml/train_file.h"

#include <gtest/gtest.h>

#include "common/spec/train_spec.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int64_t kNow = 1790000000;

TrainFile Read(std::string_view text, const std::string& section = "") {
  Result<TrainFile> file = TrainFile::FromText(text, "train.yaml", section, kNow);
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  return file.value_or(TrainFile{});
}

std::string Refusal(std::string_view text, const std::string& section = "") {
  const Result<TrainFile> file = TrainFile::FromText(text, "train.yaml", section, kNow);
  return file ? "accepted" : file.error().message;
}

constexpr std::string_view kSections =
    "mt5:\n"
    "  training: {max_steps: 10}\n"
    "  inference: {batch_size: 8}\n"
    "t5:\n"
    "  training:\n"
    "    max_steps: 20\n"
    "  setup: [own]\n"
    "resources: {cpus_per_gpu: 4}\n"
    "setup: [shared]\n";

TEST(TrainFile, WithoutSectionsIsTheSpec) {
  EXPECT_EQ(Read("name: x\ntraining: {max_steps: 5}\n").spec(),
            json::parse(R"({"name": "x", "training": {"max_steps": 5}})"));
}

TEST(TrainFile, ASectionInheritsWhatStandsOutside) {
  EXPECT_EQ(
      Read(kSections, "mt5").spec(),
      json::parse(R"({"name": "mt5", "training": {"max_steps": 10}, "inference": {"batch_size": 8},
                "resources": {"cpus_per_gpu": 4}, "setup": ["shared"]})"));
  EXPECT_EQ(Read(kSections, "t5").spec()["setup"], json::array({"own"}));
}

TEST(TrainFile, ATrainingOutsideASectionIsItsOwn) {
  const json spec = Read(
                        "training: {max_steps: 9}\nmodel: {preset: x}\nsmall:\n  resources: {}\n"
                        "objectiv: cost\n",
                        "small")
                        .spec();
  EXPECT_EQ(spec["training"]["max_steps"], 9);
  EXPECT_EQ(spec["model"]["preset"], "x");
  const json own = Read(
                       "training: {max_steps: 9, bf16: true}\n"
                       "small: {training: {max_steps: 3}}\n",
                       "small")
                       .spec();
  EXPECT_EQ(own["training"], json::parse(R"({"max_steps": 3, "bf16": true})"));
  EXPECT_EQ(spec["objectiv"], "cost") << "which the reader refuses";
  EXPECT_EQ(Refusal("small: {training: {max_steps: 9}}\nresurces: {cpus_per_gpu: 2}\n", "small"),
            "train.yaml: 'resurces' is no key and no section; did you mean 'resources'?");
  EXPECT_EQ(Refusal("train: {training: {max_steps: 9}}\nmodels: {training: {}}\n", "train"),
            "accepted");
}

TEST(TrainFile, TheOnlySectionNeedsNoName) {
  EXPECT_EQ(Read("mt5:\n  training: {max_steps: 1}\n").spec()["name"], "mt5");
}

TEST(TrainFile, ASectionMustBeChosen) {
  EXPECT_EQ(Refusal(kSections),
            "train.yaml: has the sections mt5 and t5; choose one with --section NAME");
  EXPECT_EQ(Refusal(kSections, "x"), "train.yaml: has no section 'x'; it has mt5 and t5");
  EXPECT_EQ(Refusal("training: {max_steps: 1}\n", "x"),
            "train.yaml: has no section 'x'; it is one training file, leave --section out");
}

TEST(TrainFile, ErrorsOfTheRequestHaveTheFilesLines) {
  const TrainFile file = Read("name: x\ntraining:\n  max_steps: -5\n");
  EXPECT_EQ(file.Explain({ErrorCode::kBadInput, "max_steps is -5", "/spec/training/max_steps"}),
            "train.yaml:3: max_steps is -5");
  EXPECT_EQ(file.Explain({ErrorCode::kBadInput, "model is missing", "/spec/model"}),
            "train.yaml: model is missing");
}

TEST(TrainFile, ErrorsInASectionHaveItsLines) {
  const TrainFile file = Read(kSections, "t5");
  EXPECT_EQ(file.Explain({ErrorCode::kBadInput, "bad", "/spec/training/max_steps"}),
            "train.yaml:6: bad");
  EXPECT_EQ(file.Explain({ErrorCode::kBadInput, "bad", "/spec/resources/cpus_per_gpu"}),
            "train.yaml:8: bad");
  EXPECT_EQ(file.Explain({ErrorCode::kBadInput, "no model", "/spec/model"}),
            "train.yaml:4: no model");
  EXPECT_EQ(file.Explain({ErrorCode::kBadInput, "bad", "/spec"}), "train.yaml:4: bad");
}

TEST(TrainFile, JsonFilesAreReadBesideIt) {
  const TemporaryFolder folder;
  folder.Write("conf/config.json", R"({"hidden_size": 8})");
  folder.Write("ds.json", R"({"zero_optimization": {"stage": 2}})");
  const std::string path = folder.Write("train.yaml",
                                        "model: {hf_config: conf/config.json}\n"
                                        "training: {deepspeed: ds.json}\n"
                                        "stages:\n"
                                        "  - training: {deepspeed: ds.json}\n");
  const Result<TrainFile> file = TrainFile::Load(path, "", kNow);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->spec()["model"]["hf_config"]["hidden_size"], 8);
  EXPECT_EQ(file->spec()["training"]["deepspeed"]["zero_optimization"]["stage"], 2);
  EXPECT_EQ(file->spec()["stages"][0]["training"]["deepspeed"]["zero_optimization"]["stage"], 2);
}

TEST(TrainFile, ADeepspeedStageIsNoFile) {
  EXPECT_EQ(Read("training: {deepspeed: 3}\n").spec()["training"]["deepspeed"], 3);
}

TEST(TrainFile, AMissingJsonFileHasTheLineThatNamesIt) {
  EXPECT_EQ(Refusal("training:\n  deepspeed: /nonexistent/ds.json\n"),
            "train.yaml:2: /nonexistent/ds.json: there is no such file; check the name");
  const TemporaryFolder folder;
  const std::string list = folder.Write("list.json", "[1]");
  EXPECT_EQ(Refusal("training:\n  deepspeed: " + list + "\n"),
            "train.yaml:2: " + list + " is not a JSON object; check the file");
}

TEST(TrainFile, ADeadlineInWordsBecomesATime) {
  EXPECT_EQ(Read("training: {}\ndeadline: now+1hour\n").spec()["deadline"], kNow + 3600);
  EXPECT_EQ(Refusal("training: {}\ndeadline: someday\n").find("train.yaml:2: deadline \"someday\""),
            0u);
}

TEST(TrainFile, AMissingFileIsNamed) {
  EXPECT_EQ(TrainFile::Load("/nonexistent.yaml", "", kNow).error().message,
            "/nonexistent.yaml: there is no such file; check the name");
}

// Not only can they be read: every key in them means something.
void ExpectTrainSpec(const std::string& name, const std::string& section) {
  const auto file = TrainFile::Load(std::string(GPUADVISE_EXAMPLES) + "/" + name, section, kNow);
  ASSERT_TRUE(file) << file.error().message;
  const Result<TrainSpec> spec = ParseTrainSpec(file->spec(), "/spec");
  EXPECT_TRUE(spec) << (spec ? "" : file->Explain(spec.error()));
}

TEST(Examples, AreGoodTrainingFiles) {
  ExpectTrainSpec("gr00t.yaml", "");
  ExpectTrainSpec("llm-lora.yaml", "");
  ExpectTrainSpec("xlsum-sections.yaml", "xlsum_mt5");
  ExpectTrainSpec("xlsum-sections.yaml", "eenzeenee");
}

}  // namespace
}  // namespace gpuadvise
