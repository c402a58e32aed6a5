// A job script of anybody's as a train.yaml: what comes out is a train.yaml, or a sentence.
#include <nlohmann/json.hpp>

#include "client/script/train_yaml_from_script.h"
#include "common/yaml/train_file.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::client;
  const std::string_view text = AsText(data, size);
  ScriptSource source;
  source.text = text;
  source.file = "job.sh";
  source.read = [text](const std::string& path) -> std::optional<std::string> {
    if (path.size() % 2 == 0) return std::nullopt;
    return std::string(text.substr(text.size() / 2));
  };
  source.preset_of = [](const std::string& model) {
    return model.size() % 3 == 0 ? std::string("gpt2") : std::string();
  };
  const auto converted = TrainYamlFromScript(source);
  if (!converted) {
    Require(converted.error().message.starts_with("job.sh"), "an error names the file");
    return 0;
  }
  const auto nothing = [](const std::string&) -> Result<std::string> {
    return Fail(ErrorCode::kNotFound, "none");
  };
  const auto file = TrainFile::FromText(converted->yaml, "train.yaml", "", 1'790'000'000, nothing);
  Require(file.has_value() || file.error().message.find("none") != std::string::npos,
          "what is written can be read");
  return 0;
}
