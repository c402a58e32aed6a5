#include "common/spec/sent_spec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/keys/train_keys.h"
#include "common/runs/job_family.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

json Whole() {
  return json::parse(R"({
    "name": "tune", "model": {"preset": "llama-3-8b"},
    "training": {"max_steps": 100, "resume": "--from s3://KEY:SECRET@bucket", "method": "lora"},
    "resources": {"gpus": ["a100"], "max_nodes": 2},
    "slurm": {"account": "lab", "extra": ["--comment=SECRET"], "time": "10:00"},
    "output": {"dir": "/home/ada/SECRET", "checkpoint": "5 GB", "keep": 2},
    "command": "SECRET=1 torchrun train.py {micro_batch}",
    "setup": ["export HF_TOKEN=SECRET"], "env": {"HF_TOKEN": "SECRET"},
    "workdir": "/home/SECRET", "container": "docker://SECRET@host/image"})");
}

std::string Complaint(const json& spec) {
  const auto read = ParseTrainSpec(spec, "/spec");
  return read ? "" : read.error().pointer + ": " + read.error().message;
}

TEST(SentSpec, HoldsNothingThatOnlyTheUsersScriptNeeds) {
  const json sent = SentSpec(Whole());
  EXPECT_EQ(sent.dump().find("SECRET"), std::string::npos) << sent.dump(2);
  for (const char* gone : {"command", "setup", "env", "workdir", "container"}) {
    EXPECT_FALSE(sent.contains(gone)) << gone;
  }
}

TEST(SentSpec, KeepsWhatIsCountedWith) {
  json kept = Whole();
  for (const char* gone : {"command", "setup", "env", "workdir", "container"}) kept.erase(gone);
  kept["slurm"].erase("extra");
  kept["output"].erase("dir");
  kept["training"]["resume"] = true;
  EXPECT_EQ(SentSpec(Whole()), kept);
  EXPECT_EQ(SentSpec(kept), kept) << "the daemon does it once more";
}

TEST(SentSpec, ChangesNoFamily) {
  EXPECT_EQ(JobFamilyOf(SentSpec(Whole())), JobFamilyOf(Whole()));
  EXPECT_NE(JobFamilyOf(Whole()), "");
}

TEST(SentSpec, KnowsEveryKeyThatTheTableLacksAReaderFor) {
  // Every private key is one of the table: a renamed one would be sent again.
  for (const char* path : {"command", "setup", "env", "workdir", "container", "slurm.extra",
                           "output.dir", "training.resume"}) {
    EXPECT_NE(FindTrainKey(path), nullptr) << path;
  }
}

TEST(SentSpec, WhatCannotStandThereIsRefusedAsBefore) {
  for (const char* wrong :
       {R"({"command": ["SECRET"]})", R"({"setup": {"a": "SECRET"}})",
        R"({"setup": ["SECRET", ["SECRET"]]})", R"({"container": true})",
        R"({"enviroment": {"HF_TOKEN": "SECRET"}})", R"({"slurm": {"extra": [["SECRET"]]}})",
        R"({"slurm": {"extras": "SECRET"}})", R"({"output": {"dir": {"SECRET": "SECRET"}}})",
        R"({"training": {"max_steps": 1, "resume": 7}})"}) {
    json spec = {{"model", {{"preset", "llama-3-8b"}}}, {"training", {{"max_steps", 1}}}};
    spec.update(json::parse(wrong));
    ASSERT_NE(Complaint(spec), "") << wrong;
    EXPECT_EQ(Complaint(SentSpec(spec)), Complaint(spec)) << wrong;
    EXPECT_EQ(SentSpec(spec).dump().find("\"SECRET"), std::string::npos) << wrong;
  }
}

TEST(SentSpec, ASectionThatIsNoneIsRefusedWithoutItsText) {
  const json spec = {{"model", {{"preset", "llama-3-8b"}}}, {"slurm", "SECRET"}};
  EXPECT_EQ(Complaint(SentSpec(spec)),
            "/spec/slurm: slurm must be a mapping of keys to values, not ''");
}

TEST(SentSpec, WordsThatResumeAreASwitch) {
  const json spec = {{"stages",
                      {{{"name", "a"}, {"training", {{"resume", "--resume SECRET"}}}},
                       {{"name", "b"}, {"training", {{"resume", "false"}}}}}}};
  const json sent = SentSpec(spec);
  EXPECT_EQ(sent["stages"][0]["training"]["resume"], true);
  EXPECT_EQ(sent["stages"][1]["training"]["resume"], false);
}

TEST(SentSpec, TakesWhatIsNoSpec) {
  EXPECT_EQ(SentSpec("SECRET"), "");
  EXPECT_EQ(SentSpec(nullptr), nullptr);
  EXPECT_EQ(SentSpec(json::array({"SECRET", 5})), json::array({"", 0}));
}

}  // namespace
}  // namespace gpuadvise
