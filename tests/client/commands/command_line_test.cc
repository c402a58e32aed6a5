#include "client/commands/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/commands/setting_flags.h"
#include "client/commands/shared_options.h"
#include "common/base/version.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using Words = std::vector<std::string>;

CommandLine Line(const Words& words) {
  auto line = ParseCommandLine(words);
  EXPECT_TRUE(line) << (line ? "" : line.error().text);
  return line ? *std::move(line) : CommandLine{};
}

EarlyExit Left(const Words& words) {
  const auto line = ParseCommandLine(words);
  EXPECT_FALSE(line);
  return line ? EarlyExit{-1, ""} : line.error();
}

TEST(Help, ListsTheCommandsInOrderOfUse) {
  const EarlyExit leave = Left({"--help"});
  EXPECT_EQ(leave.exit_code, 0);
  ExpectGolden("help.txt", leave.text);
}

TEST(Help, OfEveryCommand) {
  for (const char* verb : {"advise", "submit", "when", "select", "fit", "scale", "models", "cards",
                           "reference", "gpus", "jobs", "watch", "probe", "doctor", "init"}) {
    const EarlyExit leave = Left({verb, "--help"});
    EXPECT_EQ(leave.exit_code, 0);
    ExpectGolden(std::string("help_") + verb + ".txt", leave.text);
  }
}

TEST(CommandLine, ARemovedCommandNamesWhatDoesItsWork) {
  for (const char* option : {"--json", "--help"}) {
    const EarlyExit leave = Left({"limits", option});
    EXPECT_EQ(leave.exit_code, kExitUsage);
    for (const char* word : {"`limits`", "gpuadvise jobs", "eff", "when --limits"}) {
      EXPECT_NE(leave.text.find(word), std::string::npos) << leave.text;
    }
  }
}

TEST(CommandLine, WhatItDoesNotKnowItNamesWithTheNearest) {
  EXPECT_EQ(Left({"advize", "train.yaml"}).text,
            "unknown command 'advize' (did you mean 'advise'?) (gpuadvise --help)");
  const std::string option = Left({"fit", "gpt2", "--metod=lora"}).text;
  EXPECT_NE(option.find("(did you mean '--method'?)"), std::string::npos) << option;
}

TEST(CommandLine, ACommandThatWasRemovedNamesWhatDoesItsWork) {
  EXPECT_NE(Left({"mcp", "--socket=/s"}).text.find("gpuadvise-mcp"), std::string::npos);
}

TEST(CommandLine, WhatWasRemovedIsRefusedWithTheNewWay) {
  EXPECT_EQ(Left({"watch", "4711", "--notify"}).text,
            "`watch --notify` was removed: `gpuadvise watch JOBID --exec COMMAND` runs a command "
            "of yours at each event");
}

TEST(CommandLine, AnOptionBeforeTheCommandHasItsNearestToo) {
  EXPECT_EQ(Left({"--jsno", "gpus"}).text,
            "The following argument was not expected: --jsno (did you mean '--json'?) "
            "(gpuadvise --help)");
}

// What options of `words` say of the training.
std::vector<TrainingSetting> Settings(Words words) {
  CLI::App app;
  CommonOptions common;
  Options options(app, common);
  SettingFlags flags;
  flags.AddTo(options);
  flags.AddMicroBatch(options);
  std::reverse(words.begin(), words.end());  // CLI11's order for vectors
  app.parse(words);
  return flags.Given();
}

TEST(SettingFlags, AreThoseOfTheTableOfKeys) {
  std::map<std::string, std::string> given;
  for (const TrainingSetting& each : Settings({"--gradient-checkpointing", "--seq", "2048",
                                               "--method=lora", "--bf16=false", "--zero", "2"})) {
    given[each.key] = each.text;
  }
  EXPECT_EQ(given, (std::map<std::string, std::string>{{"training.gradient_checkpointing", "true"},
                                                       {"training.max_seq_length", "2048"},
                                                       {"training.method", "lora"},
                                                       {"training.bf16", "false"},
                                                       {"training.deepspeed", "2"}}));
}

TEST(SettingFlags, APrecisionIsBothSwitches) {
  const std::vector<TrainingSetting> settings = Settings({"--precision", "fp16", "--batch", "4"});
  ASSERT_EQ(settings.size(), 3u);
  EXPECT_EQ(settings[0].key + "=" + settings[0].text, "training.bf16=false");
  EXPECT_EQ(settings[1].key + "=" + settings[1].text, "training.fp16=true");
  EXPECT_EQ(settings[2].key, "training.per_device_train_batch_size");
  EXPECT_EQ(Left({"fit", "gpt2", "--precision", "fp8"}).exit_code, 2);
}

TEST(Fit, TakesTheModelBeforeOrBehindItsOptions) {
  FakeProcess process;
  EXPECT_EQ(process.Gpuadvise({"fit", "--gradient-checkpointing", "gpt2", "--bf16=false", "--json",
                               "-G", "4", "--gpu", "l40s", "--micro-batch", "8"}),
            kExitOk);
  const nlohmann::json answer = nlohmann::json::parse(process.console.printed);
  EXPECT_EQ(answer["gpus_in_all"], 4);
  EXPECT_EQ(answer["micro_batch"], 8);
  EXPECT_EQ(answer["settings"]["gradient_checkpointing"], true);
  EXPECT_EQ(FakeProcess().Gpuadvise({"fit", "--gpu=l40s", "--", "gpt2"}), kExitOk);
  EXPECT_EQ(Left({"fit", "gpt2", "--", "gpt2"}).exit_code, 2);
}

TEST(Fit, ATraceTakesTheCommandBehindTheDashes) {
  FakeProcess process;
  EXPECT_NE(process.Gpuadvise({"fit", "--trace", "--python", "/nonexistent/python",
                               "--trace-minutes", "2", "--gpu", "l40s", "--", "python",
                               "/nonexistent/train.py", "--gpu", "0"}),
            kExitOk);
  EXPECT_THAT(process.console.complained, testing::HasSubstr("/nonexistent/"));
}

TEST(Fit, ATraceNeedsOneCommand) {
  EXPECT_NE(Left({"fit", "--trace"}).text.find("--trace needs the command"), std::string::npos);
  EXPECT_EQ(Left({"fit", "--trace", "f.yaml", "--", "python", "t.py"}).exit_code, 2);
  EXPECT_EQ(Left({"fit", "gpt2", "--python", "p"}).exit_code, 2);
  EXPECT_NE(Left({"fit"}).text.find("FILE|MODEL is required"), std::string::npos);
}

TEST(Select, TakesSbatchsOptionsAndItsOwn) {
  FakeProcess process;
  process.api.Answer({{"job", {{"partition", "gpu"}}}});
  EXPECT_EQ(process.Gpuadvise({"select", "--timeout", "0.5", "--gpu-memory=40G", "--avoid=a,b",
                               "-p", "gpu", "--json", "--time=10"}),
            kExitOk);
  EXPECT_EQ(process.api.asked.at(0).second["job"],
            (nlohmann::json{{"partition", "gpu"}, {"time_limit_seconds", 600}}));
  EXPECT_EQ(process.api.asked.at(0).second["avoid_partitions"], (Words{"a", "b"}));
  EXPECT_EQ(process.patience, std::chrono::milliseconds(500));
  EXPECT_TRUE(process.console.shown.json);
  EXPECT_EQ(Left({"select", "--timeout=0"}).exit_code, 2);
}

TEST(GlobalOptions, StandBeforeTheCommandOrBehindIt) {
  const Words files = {"advise", "submit", "fit", "scale", "doctor"};
  for (const char* verb : {"advise", "submit", "when", "select", "fit", "scale", "gpus", "queue",
                           "why", "accuracy", "jobs", "watch", "doctor"}) {
    Words words = {"--socket", "/x", "--json", verb};
    if (std::find(files.begin(), files.end(), verb) != files.end()) words.push_back("t.yaml");
    if (verb == std::string("why") || verb == std::string("watch")) words.push_back("4711");
    const CommandLine before = Line(words);
    std::rotate(words.begin(), words.begin() + 3, words.end());
    const CommandLine behind = Line(words);
    EXPECT_EQ(before.common.place.socket, "/x") << verb;
    EXPECT_EQ(behind.common.place.socket, "/x") << verb;
    EXPECT_EQ(before.command.name, verb);
    EXPECT_EQ(behind.command.name, verb);
    EXPECT_EQ(before.common.json && behind.common.json, true);
  }
  EXPECT_EQ(Line({"--socket=/x", "run", "--", "--socket", "/y"}).common.place.socket, "/x");
  EXPECT_EQ(Line({"--socket", "/x", "init"}).common.place.socket, "/x");
  FakeProcess process;
  process.Gpuadvise({"--json", "--socket=/x", "when", "-p", "gpu"});
  EXPECT_EQ(process.api.asked.at(0).second["jobs"][0], (nlohmann::json{{"partition", "gpu"}}));
  EXPECT_TRUE(process.console.shown.json);
}

TEST(GlobalOptions, WithoutACommandAreNone) {
  EXPECT_EQ(Left({"--json"}).exit_code, 2);
  EXPECT_EQ(Left({"--socket"}).exit_code, 2);
  EXPECT_EQ(Left({"--socketry", "gpus"}).exit_code, 2);
}

TEST(Version, IsTheProjects) {
  EXPECT_EQ(Left({"--version"}).text, std::string("gpuadvise ") + kVersion + "\n");
}

TEST(AdviceQuestion, TakesSlurmsFlags) {
  CLI::App app;
  AdviceQuestion question;
  CommonOptions common;
  Options options(app, common);
  AddAdviceQuestion(options, question);
  Words words = {"-p",          "gpu",   "-A",         "lab",       "-qhigh",
                 "--time=60",   "-N",    "2",          "-C",        "x",
                 "--gres",      "gpu:4", "-G",         "8",         "--nodelist=n1",
                 "--exclude",   "n2",    "train.yaml", "--section", "s",
                 "--objective", "start"};
  std::reverse(words.begin(), words.end());  // CLI11's order for vectors
  app.parse(words);
  EXPECT_EQ(question.file, "train.yaml");
  EXPECT_EQ(question.section, "s");
  EXPECT_EQ(question.objective, "start");
  EXPECT_EQ(question.fixed.ToArguments(),
            (Words{"--account=lab", "--constraint=x", "--exclude=n2", "--gpus=8", "--gres=gpu:4",
                   "--nodelist=n1", "--nodes=2", "--partition=gpu", "--qos=high", "--time=60"}));
}

TEST(Advise, ABadObjectiveIsNamed) {
  EXPECT_EQ(Left({"advise", "f", "--objective", "fast"}).text,
            "--objective: 'fast' is not an objective; use finish, start, cost or deadline "
            "(gpuadvise advise --help)");
}

TEST(Submit, TakesWhatFollowsTheDashes) {
  const TemporaryFolder folder;
  FakeProcess process;
  process.api.Answer(nlohmann::json::parse(TestData("advice.json")));
  EXPECT_EQ(process.Gpuadvise(
                {"submit", folder.Write("t.yaml", "training: {max_steps: 5}\ncommand: x\n"), "-p",
                 "a", "--pick", "2", "-y", "--force", "--", "--mem=5G", "-p", "b", "--json"}),
            kExitOk);
  EXPECT_FALSE(process.console.shown.json);
  EXPECT_EQ(process.api.asked.at(0).second["constraints"]["partition"], "b");
  ASSERT_GE(process.runner.given.size(), 4u);
  EXPECT_EQ(Words(process.runner.given.end() - 4, process.runner.given.end()),
            (Words{"--mem=5G", "-p", "b", "--json"}));
}

TEST(Submit, AScriptAfterTheDashesIsRefused) {
  EXPECT_EQ(Left({"submit", "f", "--", "job.sh"}).text,
            "after --: 'job.sh' is not an sbatch option; gpuadvise writes the script itself "
            "(gpuadvise submit --help)");
  EXPECT_EQ(Left({"submit", "f", "--", "-p"}).exit_code, 2);
}

TEST(When, LeavesSbatchsOptionsAlone) {
  const TemporaryFolder folder;
  FakeProcess process;
  process.Gpuadvise({"when", "-p", "gpus", "--gres", "gpu:1", "-t10", "--json", "--socket", "/s",
                     folder.Write("job.sh", "#!/bin/bash\n#SBATCH --site=x\n")});
  EXPECT_EQ(
      process.api.asked.at(0).second["jobs"][0],
      (nlohmann::json{{"partition", "gpus"}, {"gres", "gpu:1"}, {"time_limit_seconds", 600}}));
  EXPECT_THAT(process.console.complained, testing::HasSubstr("not an sbatch option: --site=x"));
}

TEST(Init, HasADefaultFile) {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.Path(""));
  FakeProcess process;
  EXPECT_EQ(process.Gpuadvise({"init", "--from", GPUADVISE_EXAMPLES "/job.sh"}), kExitOk);
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::exists(folder.Path("train.yaml")));
}

TEST(Usage, WhatIsWrongIsExit2) {
  for (const Words& words : {Words{}, Words{"advise"}, Words{"nonsense"},
                             Words{"advise", "f", "--no"}, Words{"submit", "f", "--pick", "0"},
                             Words{"gpus", "extra"}, Words{"advise", "f", "--max-age", "x"}}) {
    const EarlyExit leave = Left(words);
    EXPECT_EQ(leave.exit_code, 2);
    EXPECT_TRUE(leave.text.ends_with(" --help)")) << leave.text;
  }
}

TEST(Usage, ANumberIsOneWithinItsBounds) {
  const Words flags[] = {{"advise", "f", "--max-age"},
                         {"submit", "f", "--max-age"},
                         {"select", "--max-age"},
                         {"select", "--timeout"},
                         {"advise", "--from", "j.sh", "--max-steps"},
                         {"advise", "--from", "j.sh", "--num-samples"},
                         {"advise", "--from", "j.sh", "--effective-batch"},
                         {"scale", "f", "--network"},
                         {"scale", "f", "--max-gpus"},
                         {"fit", "f", "--gpus"},
                         {"fit", "f", "--micro-batch"},
                         {"fit", "f", "--trace", "--trace-minutes"},
                         {"fit", "f", "--trace", "--trace-memory"},
                         {"probe", "f", "--minutes"},
                         {"probe", "f", "--steps"},
                         {"watch", "1", "--interval"},
                         {"jobs", "--limit"}};
  for (const Words& flag : flags) {
    for (const char* number : {"nan", "inf", "-1", "1e300", "1x", ""}) {
      Words words = flag;
      words.push_back(words.back() + "=" + number);
      words.erase(words.end() - 2);
      const EarlyExit leave = Left(words);
      EXPECT_EQ(leave.exit_code, 2) << words.back();
    }
  }
  const EarlyExit run = Left({"run", "--hang-minutes", "nan", "--", "true"});
  EXPECT_EQ(run.text,
            "--hang-minutes: 'nan' is not a number from 0.01 to 1000000 (gpuadvise run --help)");
}

TEST(Usage, JsonIsTheFlagOfTheCommandAsItWasRead) {
  for (const Words& words : {Words{"gpus", "--json"},
                             {"gpus", "--json=true"},
                             {"--json", "queue"},
                             {"when", "--json", "job.sh"},
                             {"models", "--json"},
                             {"submit", "f", "--json", "--", "-v"}}) {
    EXPECT_TRUE(Line(words).common.json) << words.back();
  }
  for (const Words& words : {Words{"gpus"},
                             {"gpus", "--json=false"},
                             {"submit", "f", "--", "-v"},
                             {"run", "--", "x", "--json"},
                             {"reference", "--", "--json"}}) {
    EXPECT_FALSE(Line(words).common.json) << words.back();
  }
}

TEST(Usage, AnErrorIsToldAsJsonWhereItSeemsWanted) {
  EXPECT_TRUE(WantsJson({"queue", "--json", "--bogus"}));
  EXPECT_TRUE(WantsJson({"--json"}));
  EXPECT_FALSE(WantsJson({"submit", "f", "--", "--json"}));
}

TEST(Jobs, TakesAJobOrFiltersOfKnownWords) {
  EXPECT_EQ(Left({"jobs", "--state", "lost"}).exit_code, 2);
  EXPECT_EQ(Left({"jobs", "--limit", "0"}).exit_code, 2);
  EXPECT_EQ(Left({"jobs", "4711; ls"}).exit_code, 2);
}

TEST(Watch, NeverLooksMoreOftenThanEveryFiveSeconds) {
  EXPECT_EQ(Left({"watch", "4711", "--interval", "4"}).exit_code, 2);
  EXPECT_EQ(Left({"watch"}).exit_code, 2);
}

TEST(Complete, TakesEveryWordAsItIs) {
  FakeProcess process;
  EXPECT_EQ(process.Gpuadvise({"complete", "--json", "gpus", "--", "--help"}), kExitOk);
  EXPECT_EQ(Left({"complet"}).text, "unknown command 'complet' (gpuadvise --help)");
}

}  // namespace
}  // namespace gpuadvise::client
