#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/preflight/preflight.h"
#include "tests/client/fake_site.h"

namespace gpuadvise::client {
namespace {

JobPlan Plan(bool has_setup = false, const std::string& container = "") {
  JobPlan plan;
  plan.command = "torchrun train.py";
  plan.has_setup = has_setup;
  plan.container = container;
  return plan;
}

JobPath Missing(const std::string& path) { return PathOf(NoFolder(path, "/", false)); }

TEST(Program, InPathIsOkAndElseAnErrorUnlessItMayCome) {
  JobFacts facts;
  facts.programs = {{"torchrun", "/venv/bin/torchrun"}};
  EXPECT_EQ(ProgramChecks(Plan(), facts).front().finding, "/venv/bin/torchrun");
  facts.programs = {{"torchrun", ""}};
  const Check check = ProgramChecks(Plan(), facts).front();
  EXPECT_EQ(check.health, Health::kError);
  EXPECT_EQ(check.finding,
            "torchrun is not in PATH here; load its environment in setup:, like `source "
            "~/venv/bin/activate`");
  EXPECT_EQ(ProgramChecks(Plan(true), facts).front().finding,
            "torchrun is not in PATH here; setup: may bring it");
  EXPECT_EQ(ProgramChecks(Plan(true), facts).front().health, Health::kWarning);
  EXPECT_EQ(ProgramChecks(Plan(false, "x.sif"), facts).front().health, Health::kWarning);
}

TEST(Program, ThatAnEarlierCommandMayBringIsAWarning) {
  JobFacts facts;
  facts.programs = {{"torchrun", "", true}};
  const Check check = ProgramChecks(Plan(), facts).front();
  EXPECT_EQ(check.health, Health::kWarning);
  EXPECT_EQ(check.finding,
            "torchrun is not in PATH here; an earlier part of the command may bring it");
}

TEST(Program, ThatOnlyTheShellKnowsIsNotChecked) {
  EXPECT_EQ(ProgramChecks(Plan(), JobFacts{}).front().health, Health::kOk);
}

TEST(Files, AMissingScriptOrDataIsAnError) {
  JobFacts facts;
  facts.scripts = {Missing("/w/train.py")};
  facts.data = {PathOf(GoodFolder("/d")), Missing("/e")};
  const auto checks = FileChecks(Plan(), facts);
  ASSERT_EQ(checks.size(), 3u);
  EXPECT_EQ(checks[0].health, Health::kError);
  EXPECT_EQ(checks[0].finding, "/w/train.py does not exist; correct its path");
  EXPECT_EQ(checks[1].health, Health::kError);
  EXPECT_EQ(checks[2].finding, "/d");
}

TEST(Files, ARelativeOneIsShownWithItsWholePath) {
  JobFacts facts;
  facts.scripts = {Missing("/w/train.py")};
  facts.scripts[0].name = "train.py";
  EXPECT_EQ(
      FileChecks(Plan(), facts).front().finding,
      "train.py (/w/train.py) does not exist; correct it, or workdir: that it is relative to");
}

TEST(Files, WhatMayBeThereLaterOrElsewhereIsAWarning) {
  JobFacts facts;
  facts.data = {Missing("/tmp/data"), Missing("/w/data/train")};
  facts.data[1].may_be_hub = true;
  facts.settings = {Missing("/w/ds.json")};
  for (const Check& check : FileChecks(Plan(), facts)) EXPECT_EQ(check.health, Health::kWarning);
  facts.settings = {};
  facts.data = {Missing("/w/data")};
  facts.data[0].may_be_made = true;
  EXPECT_EQ(FileChecks(Plan(), facts).front().finding,
            "/w/data does not exist; an earlier part of the command may make it");
  EXPECT_EQ(FileChecks(Plan(), facts).front().health, Health::kWarning);
  facts.data = {};
  facts.scripts = {Missing("/w/train.py")};
  EXPECT_EQ(FileChecks(Plan(true), facts).front().health, Health::kWarning);
}

TEST(Files, ThatCannotBeReadAreErrors) {
  PathFacts closed = GoodFile("/w/train.py");
  closed.readable = false;
  JobFacts facts;
  facts.scripts = {PathOf(closed)};
  EXPECT_NE(FileChecks(Plan(), facts).front().finding.find("is not readable"), std::string::npos);
}

TEST(Container, AFileMustBeThereAndAnAddressIsFetched) {
  JobFacts facts;
  facts.apptainer = "/usr/bin/apptainer";
  facts.container = Missing("/images/a.sif");
  EXPECT_EQ(ContainerChecks(Plan(false, "/images/a.sif"), facts).front().health, Health::kError);
  facts.container = PathOf(GoodFile("/images/a.sif"));
  EXPECT_EQ(ContainerChecks(Plan(false, "/images/a.sif"), facts).front().finding, "/images/a.sif");
  EXPECT_EQ(ContainerChecks(Plan(false, "docker://a/b"), JobFacts{}).front().health, Health::kOk);
  EXPECT_TRUE(ContainerChecks(Plan(), facts).empty());
}

TEST(Container, WithoutApptainerHereIsAWarning) {
  const auto checks = ContainerChecks(Plan(false, "oras://a/b"), JobFacts{});
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[1].health, Health::kWarning);
}

JobFacts WithModel(const std::string& name, bool cached = false) {
  JobFacts facts;
  facts.hub_models = {{name, cached}};
  facts.login.token_file = "/home/me/.cache/huggingface/token";
  facts.login.cache = "/home/me/.cache/huggingface/hub";
  return facts;
}

Check Login(const JobFacts& facts) { return LoginChecks(Plan(), facts).front(); }

TEST(Login, IsAskedForOnlyWhereTheHubIsUsed) {
  EXPECT_TRUE(LoginChecks(Plan(), JobFacts{}).empty());
}

TEST(Login, AGatedModelNeedsOne) {
  const Check check = Login(WithModel("meta-llama/Llama-3.1-8B"));
  EXPECT_EQ(check.health, Health::kError);
  EXPECT_EQ(check.finding,
            "meta-llama/Llama-3.1-8B asks for a licence to be accepted, but no login was found "
            "(HF_TOKEN, /home/me/.cache/huggingface/token): `hf auth login`, or HF_TOKEN in your "
            "environment");
  EXPECT_EQ(Login(WithModel("meta-llama/Llama-3.1-8B", true)).health, Health::kWarning);
}

TEST(Login, APublicModelOnlyWarns) {
  EXPECT_EQ(Login(WithModel("Qwen/Qwen3-8B")).health, Health::kWarning);
  EXPECT_EQ(Login(WithModel("Qwen/Qwen3-8B", true)).health, Health::kOk);
}

TEST(Login, AnUploadNeedsOne) {
  JobFacts facts;
  facts.pushes_to_hub = true;
  EXPECT_EQ(Login(facts).health, Health::kError);
}

TEST(Login, ThatIsThereIsNamedByItsPlaceOnly) {
  JobFacts facts = WithModel("meta-llama/Llama-3.1-8B");
  facts.login.token_from = "HF_TOKEN";
  EXPECT_EQ(Login(facts).health, Health::kOk);
  EXPECT_EQ(Login(facts).finding, "from HF_TOKEN");
}

TEST(Login, OfflineTheCacheMustHoldTheModel) {
  JobFacts facts = WithModel("Qwen/Qwen3-8B");
  facts.login.offline = true;
  EXPECT_EQ(Login(facts).health, Health::kWarning);
  facts.hub_models[0].cached = true;
  EXPECT_EQ(Login(facts).health, Health::kOk);
}

// What of these stops the submission of `spec` on so many nodes; "": nothing.
std::string Obstacle(const nlohmann::json& spec, int64_t nodes) {
  api::Strategy strategy;
  strategy.nodes = nodes;
  for (const Check& check : ObedienceChecks(spec, strategy)) {
    const bool is_one = check.finding.find("an argument of a script") != std::string::npos ||
                        check.finding.find("this node alone") != std::string::npos;
    if (check.health == Health::kError && is_one) return check.finding;
  }
  return "";
}

TEST(Command, AnArgumentOfAScriptIsNobodysInAJob) {
  for (const char* command : {"train.py --data $1", "train.py --name \"${2}\""}) {
    EXPECT_NE(Obstacle({{"command", command}}, 1).find("an argument of a script"),
              std::string::npos);
  }
  for (const char* command :
       {"train.py --cost '$1'", "set -- a b; train.py $1", "train.py $DATA",
        "f() { echo $1; }; train.py $(f x)", "train.py \"$@\"", "set +e\ntrain.py $1"}) {
    EXPECT_EQ(Obstacle({{"command", command}}, 1), "") << command;
  }
}

TEST(Command, NodesCannotMeetAtLocalhost) {
  const nlohmann::json env = {{"command", "train.py"}, {"env", {{"MASTER_ADDR", "127.0.0.1"}}}};
  const nlohmann::json setup = {{"command", "train.py"},
                                {"setup", {"export MASTER_ADDR='localhost'"}}};
  const nlohmann::json other = {{"command", "train.py"},
                                {"env", {{"MASTER_ADDR", "login1"}}},
                                {"setup", {"OLD_MASTER_ADDR=localhost"}}};
  EXPECT_NE(Obstacle(env, 2).find("MASTER_ADDR=127.0.0.1 is this node alone"), std::string::npos);
  EXPECT_NE(Obstacle(setup, 2).find("export MASTER_ADDR='localhost' is"), std::string::npos);
  EXPECT_EQ(Obstacle(env, 1) + Obstacle(setup, 1) + Obstacle(other, 2), "");
}

}  // namespace
}  // namespace gpuadvise::client
