#include "common/keys/train_keys.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/spec/train_spec.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

bool HasKeys(const TrainKey& key) {
  return key.kind == ValueKind::kMap || key.kind == ValueKind::kList;
}

// A document in which `key` has `value`, whatever is above it.
json DocumentWith(const TrainKey& key, json value) {
  json document = {{"model", {{"hidden_size", 64}, {"num_hidden_layers", 2}}},
                   {"training", {{"max_steps", 1}}}};
  if (key.path.starts_with("stages")) document["stages"] = json::array();
  std::string pointer;
  std::string path;
  for (const std::string_view part : {key.section(), key.name()}) {
    if (part.empty()) continue;
    path += (path.empty() ? "" : ".") + std::string(part);
  }
  for (size_t at = 0; at <= path.size();) {
    const size_t dot = std::min(path.find('.', at), path.size());
    pointer += "/" + path.substr(at, dot - at);
    const TrainKey* above = FindTrainKey(path.substr(0, dot));
    if (above != nullptr && above->kind == ValueKind::kList && dot < path.size()) pointer += "/0";
    at = dot + 1;
  }
  document[json::json_pointer(pointer)] = std::move(value);
  return document;
}

TEST(TrainKeys, EveryOneIsExplainedAndStandsInAMapOfTheTable) {
  std::set<std::string_view> paths;
  for (const TrainKey& key : TrainKeys()) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path << " is there twice";
    EXPECT_TRUE(key.meaning.ends_with('.')) << key.path;
    EXPECT_FALSE(ValueInWords(key).empty()) << key.path;
    if (key.section().empty()) continue;
    const TrainKey* above = FindTrainKey(key.section());
    ASSERT_NE(above, nullptr) << key.path;
    EXPECT_TRUE(HasKeys(*above)) << key.path;
  }
}

// Its kind is checked, also where only the client reads it.
TEST(TrainKeys, EveryOneRefusesWhatItsKindExcludes) {
  for (const TrainKey& key : TrainKeys()) {
    if (key.kind == ValueKind::kOther) continue;
    const json wrong =
        key.kind == ValueKind::kMap || key.kind == ValueKind::kList ? json(5) : json{{"no", "map"}};
    const Result<TrainSpec> spec = ParseTrainSpec(DocumentWith(key, wrong), "");
    ASSERT_FALSE(spec) << key.path;
    EXPECT_NE(spec.error().pointer.find(key.name()), std::string::npos)
        << key.path << ": " << spec.error().message;
  }
}

// What stands beside a key in sections that need it.
json Completed(json document) {
  json& model = document["model"];
  if (model.contains("dit")) model["dit"].update({{"hidden_size", 64}, {"num_hidden_layers", 1}});
  if (model.contains("convolutions")) model["convolutions"]["stages"][0]["channels"] = 64;
  return document;
}

TEST(TrainKeys, EveryWordOfAChoiceIsUnderstood) {
  for (const TrainKey& key : TrainKeys()) {
    for (const std::string& word : key.words) {
      const Result<TrainSpec> spec = ParseTrainSpec(Completed(DocumentWith(key, word)), "");
      EXPECT_TRUE(spec) << key.path << ": " << word << ": " << (spec ? "" : spec.error().message);
    }
  }
}

TEST(TrainKeys, AKeyInTheWrongPlaceIsToldItsOwn) {
  const auto refusal = [](const char* text) {
    return ParseTrainSpec(json::parse(text), "").error().message;
  };
  EXPECT_EQ(refusal(R"({"max_steps": 5})"), "unknown key 'max_steps'; it belongs under training");
  EXPECT_EQ(refusal(R"({"training": {"r": 5}})"),
            "unknown key 'r'; it belongs under training.lora");
  EXPECT_EQ(refusal(R"({"slurm": {"comand": "x"}})").find("unknown key 'comand'"), 0u);
  EXPECT_EQ(refusal(R"({"output": {"command": "x"}})"),
            "unknown key 'command'; it belongs under the file itself, without indentation");
}

TEST(TrainKeys, WithoutARunLengthATrainingIsReadWhereNoneIsNeeded) {
  const json document = json::parse(R"({"training": {"num_train_epochs": 3}})");
  EXPECT_FALSE(ParseTrainSpec(document, ""));
  EXPECT_TRUE(ParseTrainSpec(document, "", RunLength::kOptional));
  EXPECT_TRUE(ParseTrainSpec(json::object(), "", RunLength::kOptional));
  const json both = json::parse(R"({"training": {"max_steps": 3, "samples": 5}})");
  EXPECT_FALSE(ParseTrainSpec(both, "", RunLength::kOptional));
}

}  // namespace
}  // namespace gpuadvise
