#include "client/commands/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/client/golden.h"

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
  for (const char* verb :
       {"advise", "submit", "when", "select", "fit", "scale", "models", "cards", "reference",
        "gpus", "jobs", "limits", "watch", "probe", "doctor", "init", "mcp"}) {
    const EarlyExit leave = Left({verb, "--help"});
    EXPECT_EQ(leave.exit_code, 0);
    ExpectGolden(std::string("help_") + verb + ".txt", leave.text);
  }
}

TEST(CommandLine, WhatItDoesNotKnowItNamesWithTheNearest) {
  EXPECT_EQ(Left({"advize", "train.yaml"}).text,
            "unknown command 'advize' (did you mean 'advise'?) (gpuadvise --help)");
  const std::string option = Left({"fit", "gpt2", "--metod=lora"}).text;
  EXPECT_NE(option.find("(did you mean '--method'?)"), std::string::npos) << option;
}

TEST(CommandLine, AnOptionBeforeTheCommandHasItsNearestToo) {
  EXPECT_EQ(Left({"--jsno", "gpus"}).text,
            "The following argument was not expected: --jsno (did you mean '--json'?) "
            "(gpuadvise --help)");
}

TEST(Fit, TakesTheTrainingsOptionsByTheTableOfItsKeys) {
  const CommandLine line =
      Line({"fit", "--gradient-checkpointing", "llama-3.1-8b", "--seq", "2048", "--method=lora",
            "--bf16=false", "--zero", "2", "-G", "4", "--micro-batch", "8"});
  EXPECT_EQ(line.fit.source.file, "llama-3.1-8b");
  EXPECT_EQ(line.fit.gpus_in_all, 4);
  EXPECT_EQ(line.fit.micro_batch, 8);
  std::map<std::string, std::string> given;
  for (const TrainingSetting& each : line.fit.source.settings) given[each.key] = each.text;
  EXPECT_EQ(given, (std::map<std::string, std::string>{{"training.gradient_checkpointing", "true"},
                                                       {"training.max_seq_length", "2048"},
                                                       {"training.method", "lora"},
                                                       {"training.bf16", "false"},
                                                       {"training.deepspeed", "2"}}));
}

TEST(Fit, APrecisionIsBothSwitches) {
  const CommandLine line = Line({"scale", "gpt2", "--precision", "fp16", "--batch", "4"});
  const auto& settings = line.scale.source.settings;
  ASSERT_EQ(settings.size(), 3u);
  EXPECT_EQ(settings[0].key + "=" + settings[0].text, "training.bf16=false");
  EXPECT_EQ(settings[1].key + "=" + settings[1].text, "training.fp16=true");
  EXPECT_EQ(settings[2].key, "training.per_device_train_batch_size");
  EXPECT_EQ(Left({"fit", "gpt2", "--precision", "fp8"}).exit_code, 2);
}

TEST(Fit, ATraceTakesTheCommandBehindTheDashes) {
  const CommandLine line = Line({"fit", "--trace", "--python", "p", "--trace-minutes", "2", "--gpu",
                                 "l40s", "--", "python", "train.py", "--gpu", "0"});
  ASSERT_TRUE(line.fit.trace);
  EXPECT_EQ(line.fit.trace->command, (Words{"python", "train.py", "--gpu", "0"}));
  EXPECT_EQ(line.fit.trace->python, "p");
  EXPECT_EQ(line.fit.trace->minutes, 2);
  EXPECT_EQ(line.fit.source.gpus, (Words{"l40s"}));
  EXPECT_FALSE(Line({"fit", "gpt2"}).fit.trace);
  EXPECT_TRUE(Line({"fit", "--trace", "train.yaml"}).fit.trace->command.empty());
}

TEST(Fit, ATraceNeedsOneCommand) {
  EXPECT_NE(Left({"fit", "--trace"}).text.find("--trace needs the command"), std::string::npos);
  EXPECT_EQ(Left({"fit", "--trace", "f.yaml", "--", "python", "t.py"}).exit_code, 2);
  EXPECT_EQ(Left({"fit", "gpt2", "--python", "p"}).exit_code, 2);
  EXPECT_NE(Left({"fit"}).text.find("FILE|MODEL is required"), std::string::npos);
}

TEST(Select, TakesSbatchsOptionsAndItsOwn) {
  const CommandLine line = Line({"select", "--timeout", "0.5", "--gpu-memory=40G", "--avoid=a,b",
                                 "-p", "gpu", "--deadline=now+1hour", "--json", "--time=10"});
  EXPECT_EQ(line.verb, Verb::kSelect);
  EXPECT_EQ(line.select.arguments, (Words{"-p", "gpu", "--deadline=now+1hour", "--time=10"}));
  EXPECT_EQ(line.select.timeout_seconds, 0.5);
  EXPECT_EQ(line.select.gpu_memory, "40G");
  EXPECT_EQ(line.select.avoid, (Words{"a", "b"}));
  EXPECT_TRUE(line.select.json);
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
    EXPECT_EQ(before.socket, "/x") << verb;
    EXPECT_EQ(behind.socket, "/x") << verb;
    EXPECT_EQ(before.verb, behind.verb);
  }
  EXPECT_EQ(Line({"--socket=/x", "run", "--", "--socket", "/y"}).socket, "/x");
  EXPECT_EQ(Line({"--socket=/x", "run", "--", "--socket", "/y"}).run.command,
            (Words{"--socket", "/y"}));
  EXPECT_EQ(Line({"--socket", "/x", "init"}).socket, "/x");
  EXPECT_EQ(Line({"--json", "--socket=/x", "when", "-p", "gpu"}).when.arguments,
            (Words{"-p", "gpu"}));
  EXPECT_TRUE(Line({"--json", "when"}).when.json);
}

TEST(GlobalOptions, WithoutACommandAreNone) {
  EXPECT_EQ(Left({"--json"}).exit_code, 2);
  EXPECT_EQ(Left({"--socket"}).exit_code, 2);
  EXPECT_EQ(Left({"--socketry", "gpus"}).exit_code, 2);
}

TEST(Version, IsTheProjects) {
  EXPECT_EQ(Left({"--version"}).text, "gpuadvise " GPUADVISE_VERSION "\n");
}

TEST(Advise, TakesSlurmsFlags) {
  const CommandLine line = Line({"advise",    "-p",          "gpu",        "-A",
                                 "lab",       "-qhigh",      "--time=60",  "-N",
                                 "2",         "-C",          "x",          "--gres",
                                 "gpu:4",     "-G",          "8",          "--nodelist=n1",
                                 "--exclude", "n2",          "train.yaml", "--all",
                                 "--json",    "--max-age",   "30",         "--section",
                                 "s",         "--objective", "start",      "--socket",
                                 "/s"});
  EXPECT_EQ(line.verb, Verb::kAdvise);
  EXPECT_EQ(line.advise.question.file, "train.yaml");
  EXPECT_EQ(line.advise.question.section, "s");
  EXPECT_EQ(line.advise.question.objective, "start");
  EXPECT_EQ(line.advise.max_age_seconds, 30);
  EXPECT_TRUE(line.advise.all && line.advise.json);
  EXPECT_EQ(line.socket, "/s");
  EXPECT_EQ(line.advise.question.fixed.ToArguments(),
            (Words{"--account=lab", "--constraint=x", "--exclude=n2", "--gpus=8", "--gres=gpu:4",
                   "--nodelist=n1", "--nodes=2", "--partition=gpu", "--qos=high", "--time=60"}));
}

TEST(Advise, ABadObjectiveIsNamed) {
  EXPECT_EQ(Left({"advise", "f", "--objective", "fast"}).text,
            "--objective: 'fast' is not an objective; use finish, start, cost or deadline "
            "(gpuadvise advise --help)");
}

TEST(Submit, TakesWhatFollowsTheDashes) {
  const CommandLine line = Line({"submit", "f", "-p", "a", "--pick", "2", "-y", "--force", "--",
                                 "--mem=5G", "-p", "b", "--json"});
  EXPECT_EQ(line.verb, Verb::kSubmit);
  EXPECT_EQ(line.submit.pick, 2);
  EXPECT_TRUE(line.submit.yes && line.submit.force);
  EXPECT_FALSE(line.submit.json);
  EXPECT_EQ(line.submit.passed_on, (Words{"--mem=5G", "-p", "b", "--json"}));
  EXPECT_EQ(line.submit.question.fixed.ToArguments(), (Words{"--mem=5G", "--partition=b"}));
}

TEST(Submit, AScriptAfterTheDashesIsRefused) {
  EXPECT_EQ(Left({"submit", "f", "--", "job.sh"}).text,
            "after --: 'job.sh' is not an sbatch option; gpuadvise writes the script itself "
            "(gpuadvise submit --help)");
  EXPECT_EQ(Left({"submit", "f", "--", "-p"}).exit_code, 2);
}

TEST(When, LeavesSbatchsOptionsAlone) {
  const CommandLine line = Line({"when", "-p", "gpus", "--gres", "gpu:1", "-t10", "--json", "-v",
                                 "--socket", "/s", "job.sh"});
  EXPECT_EQ(line.verb, Verb::kWhen);
  EXPECT_TRUE(line.when.json && line.when.verbose);
  EXPECT_EQ(line.socket, "/s");
  EXPECT_EQ(line.when.arguments, (Words{"-p", "gpus", "--gres", "gpu:1", "-t10", "job.sh"}));
}

TEST(Doctor, TakesAFileWithSubmitsFlagsOrNone) {
  EXPECT_EQ(Line({"doctor", "--json"}).doctor.question.file, "");
  const CommandLine line =
      Line({"doctor", "train.yaml", "--section", "s", "-A", "lab", "--objective", "start"});
  EXPECT_EQ(line.verb, Verb::kDoctor);
  EXPECT_EQ(line.doctor.question.file, "train.yaml");
  EXPECT_EQ(line.doctor.question.section, "s");
  EXPECT_EQ(line.doctor.question.objective, "start");
  EXPECT_EQ(line.doctor.question.fixed.ToArguments(), Words{"--account=lab"});
}

TEST(Init, HasADefaultFile) {
  EXPECT_EQ(Line({"init"}).init.file, "train.yaml");
  const CommandLine line = Line({"init", "--from", "job.sh", "x.yaml"});
  EXPECT_EQ(line.init.from.script, "job.sh");
  EXPECT_EQ(line.init.file, "x.yaml");
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
                         {"scale", "f", "--price"},
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
    EXPECT_TRUE(Line(words).json) << words.back();
  }
  for (const Words& words : {Words{"gpus"},
                             {"gpus", "--json=false"},
                             {"submit", "f", "--", "-v"},
                             {"run", "--", "x", "--json"},
                             {"reference", "--", "--json"}}) {
    EXPECT_FALSE(Line(words).json) << words.back();
  }
}

TEST(Usage, AnErrorIsToldAsJsonWhereItSeemsWanted) {
  EXPECT_TRUE(WantsJson({"queue", "--json", "--bogus"}));
  EXPECT_TRUE(WantsJson({"--json"}));
  EXPECT_FALSE(WantsJson({"submit", "f", "--", "--json"}));
}

TEST(Jobs, TakesAJobOrFilters) {
  EXPECT_EQ(Line({"jobs", "4711"}).jobs.job_id, "4711");
  const CommandLine line = Line({"jobs", "--state", "failed", "--gpu", "l40s", "--name", "x",
                                 "--since", "7d", "--limit", "3", "--csv"});
  EXPECT_EQ(line.verb, Verb::kJobs);
  EXPECT_EQ(line.jobs.filter.state, "failed");
  EXPECT_EQ(line.jobs.filter.gpu, "l40s");
  EXPECT_EQ(line.jobs.filter.name, "x");
  EXPECT_EQ(line.jobs.since, "7d");
  EXPECT_EQ(line.jobs.filter.limit, 3);
  EXPECT_TRUE(line.jobs.csv && !line.jobs.import && !line.jobs.json);
  EXPECT_EQ(Left({"jobs", "--state", "lost"}).exit_code, 2);
  EXPECT_EQ(Left({"jobs", "--limit", "0"}).exit_code, 2);
  EXPECT_EQ(Left({"jobs", "4711; ls"}).exit_code, 2);
}

TEST(Jobs, ImportsWithAndWithoutPaths) {
  EXPECT_TRUE(Line({"jobs", "--import"}).jobs.import);
  EXPECT_TRUE(Line({"jobs", "--import"}).jobs.import_paths.empty());
  EXPECT_EQ(Line({"jobs", "--import", "a", "b/c", "--json"}).jobs.import_paths,
            (Words{"a", "b/c"}));
}

TEST(Watch, LooksEveryThirtySecondsAndNeverFasterThanFive) {
  EXPECT_EQ(Line({"watch", "4711"}).watch.interval_seconds, 30);
  const CommandLine line = Line({"watch", "4711", "--interval", "5", "--once", "--socket", "/s"});
  EXPECT_EQ(line.verb, Verb::kWatch);
  EXPECT_EQ(line.watch.interval_seconds, 5);
  EXPECT_TRUE(line.watch.once);
  EXPECT_EQ(line.socket, "/s");
  EXPECT_EQ(Left({"watch", "4711", "--interval", "4"}).exit_code, 2);
  EXPECT_EQ(Left({"watch"}).exit_code, 2);
}

}  // namespace
}  // namespace gpuadvise::client
