#include "client/sbatch/sbatch_script.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "client/sbatch/job_runner.h"
#include "client/shell/shell_words.h"
#include "common/yaml/yaml_file.h"
#include "embedded/default_sbatch_template.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

api::Strategy Strategy(size_t index) {
  return FromJson<api::Advice>(json::parse(TestData("advice.json"))).strategies[index];
}

json Example(const std::string& name) {
  return LoadYamlFile(std::string(GPUADVISE_EXAMPLES) + "/" + name)->root;
}

JobScript Script(const json& spec, const api::Strategy& strategy, const SbatchOptions& fixed = {}) {
  const auto script = MakeJobScript(DefaultSbatchTemplate(), spec, strategy, {"a-17", ""}, fixed);
  EXPECT_TRUE(script) << (script ? "" : script.error().message);
  return script.value_or(JobScript{});
}

SbatchOptions Fixed(const std::vector<std::string>& words) {
  return ParseSbatchArguments(words)->options;
}

void ExpectBashReads(const std::string& script) {
  const auto checked = RunProgram("/bin/bash", {"-n"}, script, ChildErrors::kInherited);
  EXPECT_TRUE(checked) << script;
}

std::vector<std::string> Directives(const std::string& script) {
  std::istringstream lines(script);
  std::vector<std::string> directives;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#SBATCH")) directives.push_back(line);
  }
  return directives;
}

TEST(JobScript, OnOneNode) {
  const std::string script = Script(Example("gr00t.yaml"), Strategy(0)).text;
  ExpectGolden("script_one_node.sh", script);
  ExpectBashReads(script);
}

TEST(JobScript, OnTwoNodes) {
  const std::string script = Script(Example("llm-lora.yaml"), Strategy(4)).text;
  ExpectGolden("script_two_nodes.sh", script);
  ExpectBashReads(script);
}

TEST(JobScript, WithUntypedGpus) {
  api::Strategy strategy = Strategy(0);
  strategy.sbatch.gres = "gpu:4";
  strategy.sbatch.constraint = "rtx4090";
  strategy.sbatch.exclude = "n[1-3],n7";
  ExpectGolden("script_untyped.sh", Script(Example("gr00t.yaml"), strategy).text);
}

TEST(JobScript, PinnedByTheUser) {
  api::Strategy strategy = Strategy(0);
  strategy.sbatch.nodelist = "classt25";
  const JobScript script =
      Script(Example("gr00t.yaml"), strategy,
             Fixed({"-w", "classt25", "--time=10:00:00", "--mem-per-gpu=30G"}));
  ExpectGolden("script_pinned.sh", script.text);
  EXPECT_FALSE(script.options.Has("mem"));
}

TEST(JobScript, InAContainer) {
  json spec = Example("gr00t.yaml");
  spec["container"] = "/images/gr00t.sif";
  spec["workdir"] = "~/gr00t";
  const std::string script = Script(spec, Strategy(0)).text;
  ExpectGolden("script_container.sh", script);
  ExpectBashReads(script);
  ExpectBashReads(Script(spec, Strategy(4)).text);
}

TEST(JobScript, NeverPinsANodeByItself) {
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_FALSE(Script(Example("gr00t.yaml"), Strategy(i)).options.Has("nodelist"));
  }
}

TEST(JobScript, WhatTheUserFixedReplacesOtherWordsForIt) {
  const JobScript script = Script(Example("gr00t.yaml"), Strategy(0),
                                  Fixed({"--gpus-per-node=gpu4090:4", "--cpus-per-gpu=4"}));
  EXPECT_FALSE(script.options.Has("gres"));
  EXPECT_FALSE(script.options.Has("cpus-per-task"));
  EXPECT_EQ(script.options.Get("gpus-per-node"), "gpu4090:4");
}

TEST(JobScript, OptionsOfPluginsArePassedOn) {
  json spec = Example("gr00t.yaml");
  spec["slurm"] = {{"extra", {"--container-image=a/b:c", "--container-mount-home"}}};
  const std::string script = Script(spec, Strategy(0)).text;
  EXPECT_NE(script.find("#SBATCH --container-image=a/b:c\n"), std::string::npos) << script;
  EXPECT_NE(script.find("#SBATCH --container-mount-home\n"), std::string::npos) << script;
  spec["slurm"]["extra"] = {"--x\nid=1", "--plugin=a\nid"};
  const std::string hostile = Script(spec, Strategy(0)).text;
  EXPECT_EQ(hostile.find("\nid"), std::string::npos) << hostile;
}

TEST(JobScript, AFurtherOptionReplacesOtherWordsForIt) {
  json spec = Example("gr00t.yaml");
  spec["slurm"] = {{"extra", {"--mem-per-cpu=4G", "--cpus-per-gpu=4"}}};
  const SbatchOptions options = Script(spec, Strategy(0)).options;
  EXPECT_FALSE(options.Has("mem"));
  EXPECT_FALSE(options.Has("cpus-per-task"));
  EXPECT_EQ(options.Get("mem-per-cpu"), "4G");
}

TEST(JobScript, WhatIsFixedTakesTheFormOfTheRow) {
  const auto options = [](const std::vector<std::string>& fixed, const json& extra) {
    json spec = Example("gr00t.yaml");
    spec["slurm"] = {{"extra", extra}};
    return Script(spec, Strategy(0), Fixed(fixed)).options;
  };
  const std::string gres = *options({}, json::array()).Get("gres");
  EXPECT_EQ(options({}, {"--gres=lscratch:100"}).Get("gres"), gres + ",lscratch:100");
  EXPECT_EQ(options({}, {"--gres=gpu:4", "--nodes=1-4"}).Get("gres"), gres);
  for (const char* named : {"--gres=gpu:rtx4090:4", "--gpus=rtx4090:4", "--gpus-per-node=4"}) {
    EXPECT_EQ(options({}, {named}).Get("gres"), gres) << "Slurm's name of the type: " << named;
    EXPECT_FALSE(options({}, {named}).Has("gpus"));
  }
  EXPECT_EQ(options({}, {"--gres=gpu:rtx4090:4,lscratch:1"}).Get("gres"), gres + ",lscratch:1");
  EXPECT_EQ(options({"--nodes=1-4"}, json::array()).Get("nodes"), "1");
  EXPECT_EQ(options({"--gpus=4"}, json::array()).Get("gres"), gres);
  EXPECT_EQ(options({"--gres=gpu:x:2,lscratch:1"}, json::array()).Get("gres"),
            "gpu:x:2,lscratch:1");
}

TEST(JobScript, ATrapInTheCommandGetsTheSignalsOfTheJobsShell) {
  json spec = Example("gr00t.yaml");
  EXPECT_EQ(Script(spec, Strategy(0)).text.find("exec \"${run[@]}\""), std::string::npos);
  spec["command"] = "trap 'save' TERM\npython t.py &\nwait";
  EXPECT_NE(Script(spec, Strategy(0)).text.find("exec \"${run[@]}\""), std::string::npos);
  spec["setup"] = {"trap 'rm -rf $tmp' EXIT"};  // of the job's shell itself
  EXPECT_EQ(Script(spec, Strategy(0)).text.find("exec \"${run[@]}\""), std::string::npos);
}

TEST(JobScript, SetupThatEndsExportingDoesNotEndItForTheRest) {
  json spec = Example("gr00t.yaml");
  spec["setup"] = {"set -a; source .env; set +a", "LR=2e-5"};
  EXPECT_NE(Script(spec, Strategy(0)).text.find("set +a\nset -a\nLR=2e-5\n"), std::string::npos);
  spec["setup"] = {"source .env", "LR=2e-5", "resource x", "LR=1e-5", "if true; then\n  . a.sh\nfi",
                   "source b.sh"};
  EXPECT_NE(
      Script(spec, Strategy(0))
          .text.find(
              "source .env\nset -a\nLR=2e-5\nresource x\nLR=1e-5\nif true; then\n  . a.sh\nfi\n"
              "set -a\nsource b.sh\nset +a\n"),
      std::string::npos)
      << "a file may end it, too";
}

TEST(JobScript, FurtherOptionsOfTheFileArePassedOn) {
  json spec = Example("gr00t.yaml");
  spec["slurm"] = {{"extra", {"--mail-type=END", "--signal=B:USR1@60"}}, {"array", "0-3%1"}};
  const SbatchOptions options = Script(spec, Strategy(0)).options;
  EXPECT_EQ(options.Get("mail-type"), "END");
  EXPECT_EQ(options.Get("signal"), "B:USR1@60");
  EXPECT_EQ(options.Get("array"), "0-3%1");
}

TEST(JobScript, ASitesTemplateIsFilled) {
  const auto script =
      MakeJobScript("#!/bin/bash\n{sbatch}\n# {unknown} ${nodes}\nsite_prolog\n{launch}\n",
                    {{"command", "run {micro_batch}"}}, Strategy(0), {"a-1", ""}, {});
  ASSERT_TRUE(script);
  EXPECT_NE(script->text.find("# {unknown} ${nodes}\nsite_prolog\ncommand='run 10'\n"),
            std::string::npos);
}

TEST(JobScript, NoCommandIsRefused) {
  const auto script =
      MakeJobScript(DefaultSbatchTemplate(), {{"name", "x"}}, Strategy(0), {"a-1", ""}, {});
  ASSERT_FALSE(script);
  EXPECT_EQ(script.error().message.find("command: is missing"), 0u);
}

TEST(JobScript, ABadVariableNameIsRefusedAtItsPlace) {
  const json spec = {{"command", "x"}, {"env", {{"A B", "1"}}}};
  const auto script = MakeJobScript(DefaultSbatchTemplate(), spec, Strategy(0), {"a-1", ""}, {});
  ASSERT_FALSE(script);
  EXPECT_EQ(script.error().pointer, "/env/A B");
}

TEST(JobScript, HostileNamesNeverBecomeDirectivesOrCommands) {
  const std::string evil = "x\n#SBATCH --uid=0\n$(touch /tmp/owned)`id`'\"; id #";
  api::Strategy strategy = Strategy(0);
  api::SbatchOptions& sbatch = strategy.sbatch;
  for (std::string* text :
       {&sbatch.partition, &sbatch.account, &sbatch.qos, &sbatch.gres, &sbatch.mem,
        &sbatch.constraint, &sbatch.exclude, &sbatch.nodelist, &sbatch.time, &strategy.gpu,
        &strategy.partition, &strategy.precision}) {
    *text = evil;
  }
  const json spec = {{"name", evil},
                     {"command", "true {name} {gpu} {partition} {precision}"},
                     {"output", {{"dir", "a$(id)"}}},
                     {"env", {{"A", evil}}}};
  const JobScript script = Script(spec, strategy);
  ExpectBashReads(script.text);
  const auto directives = Directives(script.text.substr(0, script.text.find("\nset -e")));
  EXPECT_EQ(directives.size(), script.options.values().size());
  for (const std::string& directive : directives) {
    EXPECT_EQ(SplitDirective(directive.substr(7)).size(), 1u) << directive;
  }
  const auto launched = script.text.substr(script.text.rfind("\ncommand='true ") + 10);
  const auto command = launched.substr(0, launched.find('\n'));
  EXPECT_EQ(command.find_first_of("$`\";#"), std::string::npos) << command;
  EXPECT_EQ(command.find('\''), command.size() - 1) << command;
}

TEST(JobScript, DirectivesOfAnyTextStayOnTheirLines) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    api::Strategy strategy = Strategy(0);
    strategy.sbatch.constraint = text;
    const auto script = MakeJobScript(DefaultSbatchTemplate(), {{"name", text}, {"command", "x"}},
                                      strategy, {text, text}, {});
    RC_ASSERT(script.has_value());
    const auto directives = Directives(script->text);
    RC_ASSERT(directives.size() == script->options.values().size());
    for (const std::string& directive : directives) {
      RC_ASSERT(SplitDirective(directive.substr(7)).size() == 1u);
    }
  }));
}

}  // namespace
}  // namespace gpuadvise::client
