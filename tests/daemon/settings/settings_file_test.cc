#include "daemon/settings/settings_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "embedded/default_settings.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

TEST(ShippedSettings, SayExactlyTheDefaults) {
  const Result<Settings> shipped =
      ParseSettings(std::string(DefaultSettingsYaml()), "gpuadvised.yaml");
  ASSERT_TRUE(shipped) << shipped.error().message;
  EXPECT_EQ(SettingsToJson(*shipped), SettingsToJson(Settings()));
}

TEST(ShippedSettings, ExplainEveryKeyInACommentAboveIt) {
  const std::string text(DefaultSettingsYaml());
  for (const std::string& key : SettingsKeys()) {
    if (key == "socket_group" || key == "models_file") continue;  // explained with the key before
    const size_t at = text.find("\n" + key + ":");
    ASSERT_NE(at, std::string::npos) << key;
    const size_t line = text.rfind('\n', at - 1) + 1;
    EXPECT_EQ(text[line], '#') << key;
  }
}

TEST(SettingsFile, ErrorsNameFileAndLine) {
  const auto complaint = [](const char* text) {
    const Result<Settings> settings = ParseSettings(text, "gpuadvised.yaml");
    return settings ? "" : settings.error().message;
  };
  EXPECT_EQ(complaint("source: sim\n\npol_interval: 30s\n"),
            "gpuadvised.yaml:3: unknown key pol_interval; did you mean poll_interval?");
  EXPECT_EQ(complaint("simulation:\n  seed: 1\n  speed: fast\n"),
            "gpuadvised.yaml:3: simulation.speed is \"fast\"; write a number from 0.001 to 100000");
  EXPECT_EQ(complaint("untyped_gpus:\n  - {node: a, gpu: l40s}\n  - {gpu: l40s}\n"),
            "gpuadvised.yaml:3: a rule of untyped_gpus needs exactly one condition; "
            "write {partition|feature|node: NAME, gpu: CATALOGUE NAME}");
}

// The shipped file of 0.1.0 has every key that it knew.
TEST(SettingsFile, ThatOf010IsTakenAsItIs) {
  CommandLineSettings command_line;
  command_line.config = SETTINGS_DATA "/gpuadvised_0.1.0.yaml";
  const Result<LoadedSettings> loaded = LoadSettings(command_line);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(SettingsToJson(loaded->settings), SettingsToJson(Settings()));
}

// And that of the days before the removals has every key that went.
TEST(SettingsFile, EveryKeyThatWentIsNamedWithItsLineAndWhatReplacesIt) {
  CommandLineSettings command_line;
  command_line.config = SETTINGS_DATA "/gpuadvised_before_0.2.0.yaml";
  const Result<LoadedSettings> loaded = LoadSettings(command_line);
  ASSERT_FALSE(loaded);
  std::vector<std::string> said = {loaded.error().message};
  for (const Error& each : loaded.error().further) said.push_back(each.message);
  const auto expect = [&](const char* key, int line, const char* remedy) {
    const std::string head = command_line.config + ":" + std::to_string(line) + ": the setting " +
                             key + " was removed; ";
    const auto found =
        std::ranges::find_if(said, [&](const std::string& each) { return each.starts_with(head); });
    ASSERT_NE(found, said.end()) << head;
    EXPECT_NE(found->find(remedy), std::string::npos) << *found;
  };
  for (const char* key :
       {"listen_tls: its address is listen,", "token_key", "(token_jwks,", " token_user_claim,",
        " token_issuer,", " token_audience)", " ca,", " revoked,", " relays and standbys go"}) {
    expect("remote", 73, key);
  }
  expect("relay", 79, "daemon: https://HOST:6829");
  expect("clusters", 83, "client.yaml");
  expect("standby", 89, "history: postgresql://");
  expect("metrics", 179, "gpuadvise_* names");
  EXPECT_EQ(said.size(), 5u);
}

TEST(SettingsFile, SecretsThatEverybodyReadsAreNamedWithTheRemedy) {
  const TempFolder folder;
  CommandLineSettings command_line;
  const std::string token = folder.Write("token", "eyJ");
  command_line.config = folder.Write(
      "d.yaml", "history: postgresql://ann:pw@db/x\nslurmrestd: {token_file: " + token + "}\n");
  const auto open_with = [&](mode_t settings_mode, mode_t token_mode) {
    EXPECT_EQ(chmod(command_line.config.c_str(), settings_mode), 0);
    EXPECT_EQ(chmod(token.c_str(), token_mode), 0);
    return SecretsForAll(LoadSettings(command_line).value());
  };
  using Sentences = std::vector<std::string>;
  EXPECT_EQ(open_with(0640, 0600), Sentences{});
  EXPECT_EQ(open_with(0644, 0640),
            (Sentences{"every user of this machine can read " + command_line.config +
                       ", and with it the password of history:; chmod o= " + command_line.config}));
  EXPECT_EQ(open_with(0600, 0604),
            (Sentences{"every user of this machine can read " + token +
                       ", and with it a token of Slurm's; chmod o= " + token}));
  folder.Write("d.yaml", "history: postgresql://ann@db/x\n");
  EXPECT_EQ(open_with(0644, 0600), Sentences{}) << "it has no password";
}

TEST(SettingsFile, AnEmptyFileMeansTheDefaults) {
  const TempFolder folder;
  CommandLineSettings command_line;
  command_line.config = folder.Write("empty.yaml", "# nothing yet\n");
  const Result<LoadedSettings> loaded = LoadSettings(command_line);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(SettingsToJson(loaded->settings), SettingsToJson(Settings()));
  EXPECT_EQ(loaded->file, command_line.config);
}

TEST(SettingsFile, TheCommandLineWinsOverTheFile) {
  const TempFolder folder;
  CommandLineSettings command_line;
  command_line.config =
      folder.Write("a.yaml", "source: slurm-cli\nsocket: /a/b\nlog_level: debug\n");
  command_line.source = "sim";
  command_line.socket = "/c/d";
  command_line.state_dir = "/e/f";
  const Result<LoadedSettings> loaded = LoadSettings(command_line);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->settings.source, "sim");
  EXPECT_EQ(loaded->settings.socket, "/c/d");
  EXPECT_EQ(loaded->settings.state_dir, "/e/f");
  EXPECT_EQ(loaded->settings.log_level, "debug");
}

TEST(SettingsFile, RelativePathsOnTheCommandLineMeanTheWorkingFolder) {
  CommandLineSettings command_line;
  command_line.config = "/dev/null";
  command_line.socket = "x/../a.sock";
  command_line.source = "replay:log.jsonl";
  const Result<LoadedSettings> loaded = LoadSettings(command_line);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(loaded->settings.socket, here + "/a.sock");
  EXPECT_EQ(loaded->settings.source, "replay:" + here + "/log.jsonl");
}

TEST(SettingsFile, AnErrorOfTheCommandLineSaysSo) {
  CommandLineSettings command_line;
  command_line.config = "/dev/null";
  command_line.source = "slurmm";
  const Result<LoadedSettings> loaded = LoadSettings(command_line);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message,
            "command line: source is \"slurmm\"; write one of auto, slurm-api, slurm-cli, "
            "slurm-rest, sim, "
            "replay:FILE");
}

TEST(SettingsFile, AMissingFileIsNamed) {
  CommandLineSettings command_line;
  command_line.config = "/nowhere/gpuadvised.yaml";
  const Result<LoadedSettings> loaded = LoadSettings(command_line);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("/nowhere/gpuadvised.yaml"), std::string::npos);
}

TEST(SettingsFile, AHugeFileIsRefused) {
  const TempFolder folder;
  CommandLineSettings command_line;
  command_line.config = folder.Write("huge.yaml", std::string(2 << 20, '#'));
  EXPECT_FALSE(LoadSettings(command_line));
}

}  // namespace
}  // namespace gpuadvise::daemon
