#include "client/script/command_conflicts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// L40S × 6 with micro-batch 8, accumulation 3: 144 samples a step.
json Strategy() {
  return {{"rank", 1},           {"gpus_per_node", 6},         {"nodes", 1},
          {"micro_batch", 8},    {"accumulation", 3},          {"steps", 100},
          {"precision", "bf16"}, {"effective_batch_size", 144}};
}

std::vector<std::string> Sentences(const std::string& command, json training = {{"max_steps", 100}},
                                   const json& strategy = Strategy(), json more = json::object()) {
  json spec = {{"command", command}, {"training", std::move(training)}};
  spec.update(more);
  std::vector<std::string> sentences;
  for (const CommandConflict& conflict : ConflictsOf(spec, strategy)) {
    sentences.push_back((conflict.certain ? "" : "perhaps ") + SentenceOf(conflict));
  }
  return sentences;
}

using Texts = std::vector<std::string>;

TEST(CommandConflicts, PlaceholdersObey) {
  EXPECT_EQ(Sentences("torchrun --nproc_per_node={gpus_per_node} t.py --num-gpus {gpus} "
                      "--batch-size {micro_batch} --gradient-accumulation-steps {accumulation}"),
            Texts());
}

TEST(CommandConflicts, ALiteralThatIsAnotherOneIsSaid) {
  EXPECT_EQ(
      Sentences("torchrun --nproc_per_node={gpus_per_node} t.py --num-gpus 4 "
                "--batch-size 10 --gradient-accumulation-steps 3"),
      (Texts{"the command has --batch-size 10, this strategy needs 8; write {micro_batch} there"}))
      << "--num-gpus stands behind the launcher's own";
  EXPECT_EQ(
      Sentences("python t.py --num-gpus 4 --batch-size {micro_batch} --grad_accum 3"),
      (Texts{"the command has --num-gpus 4, this strategy needs 6; write {gpus_per_node} there"}));
}

TEST(CommandConflicts, ALiteralThatIsTheSameObeys) {
  EXPECT_EQ(Sentences("torchrun --nproc_per_node 6 t.py --batch-size 8 --grad_accum 3"), Texts());
}

TEST(CommandConflicts, AMissingPlaceholderIsSaid) {
  EXPECT_EQ(Sentences("torchrun --nproc_per_node={gpus_per_node} t.py"),
            (Texts{"the command does not use the batch of one GPU, this strategy needs 8; add "
                   "{micro_batch} to it",
                   "the command does not use gradient accumulation, this strategy needs 3; add "
                   "{accumulation} to it"}));
}

TEST(CommandConflicts, AFixedBatchNeedsNoPlaceholder) {
  EXPECT_EQ(Sentences("torchrun --nproc_per_node={gpus_per_node} t.py",
                      {{"per_device_train_batch_size", 8}, {"gradient_accumulation_steps", 3}}),
            Texts());
}

TEST(CommandConflicts, VariablesOfEnvAndSetupCarryFigures) {
  EXPECT_EQ(Sentences("torchrun --nproc_per_node=$N t.py --batch-size $BS --grad_accum $ACC",
                      {{"max_steps", 100}}, Strategy(),
                      {{"env", {{"BS", "{micro_batch}"}, {"N", "4"}}},
                       {"setup", json::array({"ACC={accumulation}"})}}),
            (Texts{"the command has --nproc_per_node 4, this strategy needs 6; write "
                   "{gpus_per_node} there"}));
}

TEST(CommandConflicts, TheProgramMayReadOurVariables) {
  EXPECT_EQ(Sentences("GPUS=$GPUADVISE_GPUS_PER_NODE BS=$GPUADVISE_MICRO_BATCH "
                      "ACC=$GPUADVISE_ACCUMULATION ./train"),
            Texts());
}

TEST(CommandConflicts, AnUnknownProgramIsOnlyDoubted) {
  EXPECT_EQ(Sentences("./train --batch {micro_batch}"),
            (Texts{"perhaps the command does not use gradient accumulation, this strategy needs 3; "
                   "add {accumulation} to it"}));
}

TEST(CommandConflicts, TorchrunAloneStartsOneProcess) {
  const Texts said =
      Sentences("torchrun t.py --batch-size {micro_batch} --grad_accum {accumulation}");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].starts_with("torchrun starts one process"));
}

TEST(CommandConflicts, OtherStepsThanCountedAreSaid) {
  EXPECT_EQ(Sentences("torchrun --nproc_per_node {gpus} t.py --batch-size {micro_batch} "
                      "--grad_accum {accumulation} --max_steps 200"),
            (Texts{"perhaps the command has --max_steps 200, the training file 100 steps; use "
                   "{steps} in the command so that they agree"}));
}

TEST(CommandConflicts, Bf16OnACardWithoutItIsSaid) {
  json strategy = Strategy();
  strategy["precision"] = "fp16";
  EXPECT_EQ(Sentences("torchrun --nproc_per_node {gpus} t.py --batch-size {micro_batch} "
                      "--grad_accum {accumulation} --bf16 True",
                      {{"max_steps", 100}}, strategy)
                .size(),
            1u);
}

TEST(CommandConflicts, ADeepspeedFileWithFiguresOfItsOwnIsSaid) {
  const json training = {
      {"max_steps", 100},
      {"deepspeed",
       {{"train_micro_batch_size_per_gpu", 4}, {"gradient_accumulation_steps", "auto"}}}};
  EXPECT_EQ(Sentences("deepspeed t.py --per_device_train_batch_size {micro_batch} "
                      "--gradient_accumulation_steps {accumulation}",
                      training),
            (Texts{"the DeepSpeed file has train_micro_batch_size_per_gpu 4, this strategy needs "
                   "8; write \"auto\" there"}));
}

TEST(CommandConflicts, AreGatheredByCause) {
  json answer = {{"strategies", json::array({Strategy(), Strategy()})}};
  answer["strategies"][1]["rank"] = 2;
  answer["strategies"][1]["gpus_per_node"] = 4;
  const json spec = {{"command", "python t.py --num-gpus 4 --bs {micro_batch} --grad_accum 3"},
                     {"training", {{"max_steps", 100}}}};
  AddConflicts(spec, answer);
  EXPECT_EQ(answer["command_conflicts"],
            json::parse(R"([{"cause": "the command has --num-gpus 4", "certain": true,
                             "remedy": "write {gpus_per_node} there", "ranks": [1]}])"));
}

}  // namespace
}  // namespace gpuadvise::client
