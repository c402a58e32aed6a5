// Whatever a job script holds, what `init --from` writes is YAML that says what the script said.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/script/train_yaml_from_script.h"
#include "common/yaml/yaml_file.h"
#include "common/yaml/yaml_scalar.h"

namespace gpuadvise::client {
namespace {

Result<ConvertedScript> Convert(const std::string& script) {
  ScriptSource source;
  source.text = script;
  source.file = "job.sh";
  source.read = [](const std::string&) { return std::optional<std::string>(); };
  source.preset_of = [](const std::string&) { return std::string(); };
  return TrainYamlFromScript(source);
}

// Printable text without a line's end, as one line of a script.
std::string Line(const std::string& bytes) {
  std::string line;
  for (char c : bytes) {
    if (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f) line += c;
  }
  return line;
}

TEST(ScriptConverter, AnyScriptBecomesYamlOrASentence) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& lines) {
    std::string script = "#!/bin/bash\n";
    for (const std::string& line : lines) script += Line(line) + "\n";
    script += "python train.py " + Line(*rc::gen::arbitrary<std::string>()) + "\n";
    const Result<ConvertedScript> converted = Convert(script);
    if (!converted) RC_ASSERT(converted.error().message.starts_with("job.sh"));
    if (!converted) return;
    const Result<YamlDocument> yaml = ParseYaml(converted->yaml, "train.yaml");
    RC_ASSERT(yaml.has_value());
    if (yaml->root.contains("command")) {
      RC_ASSERT(yaml->root.at("command").is_string());
    } else {  // of a training in a function or a loop it is asked for
      const std::vector<std::string>& missing = converted->report.missing;
      RC_ASSERT(std::any_of(missing.begin(), missing.end(),
                            [](const std::string& each) { return each.starts_with("command: "); }));
    }
  }));
}

TEST(ScriptConverter, OptionsOfAnyTextSurvive) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    const std::string text = Line(bytes);
    std::string quoted;
    for (char c : text) quoted += (c == '\'' ? "'\"'\"'" : std::string(1, c));
    RC_PRE(!text.empty());
    RC_PRE(text.find_first_of("{<") == std::string::npos);  // "{name}", "<NAME>" are refused
    const Result<ConvertedScript> converted =
        Convert("#SBATCH --constraint='" + quoted + "'\npython x.py\n");
    RC_ASSERT(converted.has_value());
    const Result<YamlDocument> yaml = ParseYaml(converted->yaml, "train.yaml");
    RC_ASSERT(yaml.has_value());
    RC_ASSERT(yaml->root.at("slurm").at("constraint") == text);
  }));
}

TEST(ScriptConverter, ARepositorysScriptCutAtEveryByteBreaksNothing) {
  const std::string script = ReadTextFile(std::string(GPUADVISE_EXAMPLES) + "/job.sh").value_or("");
  ASSERT_FALSE(script.empty());
  for (size_t size = 0; size <= script.size(); ++size) {
    const auto converted = Convert(script.substr(0, size));
    if (!converted) continue;
    EXPECT_TRUE(ParseYaml(converted->yaml, "train.yaml")) << size << "\n" << converted->yaml;
  }
}

// Bytes as the characters of Latin 1, in UTF-8: controls, line ends, quotes, letters.
std::string Latin1(const std::string& bytes) {
  std::string text;
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) continue;
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | (byte >> 6));
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

TEST(YamlTexts, AnyTextReadsBack) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    const std::string text = Latin1(bytes);
    const Result<YamlDocument> yaml = ParseYaml("a: " + YamlText(text) + "\n", "f");
    RC_ASSERT(yaml.has_value());
    RC_ASSERT(yaml->root.at("a") == text);
  }));
}

}  // namespace
}  // namespace gpuadvise::client
