#include "client/sbatch/array_items.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/sbatch/job_runner.h"
#include "client/sbatch/sbatch_script.h"
#include "embedded/default_sbatch_template.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

json Spec(const std::string& setup, const std::string& command) {
  return {{"name", "x"}, {"setup", json::array({setup})}, {"command", command}};
}

std::string Refusal(const json& spec) {
  const Result<void> good = CheckArrays(spec);
  return good ? "" : good.error().message + " at " + good.error().pointer;
}

TEST(ArrayItems, AnElementOfTheSetupReachesTheCommand) {
  const json spec = Spec("lrs=(1e-4 2e-4 'a b')",
                         "echo \"${lrs[$SLURM_ARRAY_TASK_ID]}\" ${lrs[0]} ${lrs[${NONE:-1}]} "
                         "\"${lrs[0]}\"");
  api::Strategy strategy;
  strategy.nodes = 1;
  const auto script = MakeJobScript(DefaultSbatchTemplate(), spec, strategy, {"a-1", ""}, {});
  ASSERT_TRUE(script);
  const auto printed = RunProgram(
      "/bin/bash", {"-s"}, "export PATH=/usr/bin:/bin SLURM_ARRAY_TASK_ID=2\n" + script->text,
      ChildErrors::kInherited);
  ASSERT_TRUE(printed);
  EXPECT_EQ(*printed, "a b 1e-4 2e-4 1e-4\n");
}

TEST(ArrayItems, AnArgumentOfTheSameNameIsNoAssignment) {
  const json spec = Spec("lr=(1e-4 2e-4)", "echo --lr=${lr[1]} lr=${lr[0]} lr=${lr[1]}");
  api::Strategy strategy;
  strategy.nodes = 1;
  const auto script = MakeJobScript(DefaultSbatchTemplate(), spec, strategy, {"a-1", ""}, {});
  ASSERT_TRUE(script);
  const auto printed = RunProgram("/bin/bash", {"-s"}, "export PATH=/usr/bin:/bin\n" + script->text,
                                  ChildErrors::kInherited);
  ASSERT_TRUE(printed);
  EXPECT_EQ(*printed, "--lr=2e-4 lr=1e-4 lr=2e-4\n");
}

TEST(ArrayItems, WhatTheCommandAssignsItselfStays) {
  EXPECT_TRUE(FindArrayItems(Spec("x=1", "a=(1 2); python t.py ${a[0]}")).empty());
  EXPECT_TRUE(FindArrayItems(Spec("x=1", "python t.py ${SOMETHING[0]}")).empty());
}

TEST(ArrayItems, AWholeArrayIsRefused) {
  const std::string remedy =
      ", an array of setup that its own shell does not have; write the words into the command, or "
      "assign the array there at /command";
  EXPECT_EQ(Refusal(Spec("args=(-a -b)", "python t.py \"${args[@]}\"")),
            "command uses ${args[@]}" + remedy);
  EXPECT_EQ(Refusal(Spec("args=(-a -b)", "for i in ${!args[@]}; do python t.py $i; done")),
            "command uses ${!args[@]}" + remedy);
  EXPECT_EQ(Refusal(Spec("a=(1 2)", "for i in 0 1; do python t.py ${a[$i]}; done")),
            "command uses ${a[$i]}" + remedy);
  EXPECT_EQ(Refusal(Spec("a=(1 2)", "python t.py ${a[$SLURM_ARRAY_TASK_ID]}")), "");
}

}  // namespace
}  // namespace gpuadvise::client
