#include "client/script/command_conflicts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// L40S × 6 with micro-batch 8, accumulation 3: 144 samples a step.
api::Strategy Strategy() {
  api::Strategy strategy;
  strategy.rank = 1;
  strategy.gpus_per_node = 6;
  strategy.micro_batch = 8;
  strategy.accumulation = 3;
  strategy.effective_batch_size = 144;
  strategy.steps = 100;
  strategy.precision = "bf16";
  return strategy;
}

std::vector<std::string> Sentences(const std::string& command, json training = {{"max_steps", 100}},
                                   const api::Strategy& strategy = Strategy(),
                                   json more = json::object()) {
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

TEST(CommandConflicts, ABatchOfAllGpusIsAnswered) {
  const std::string command =
      "torchrun --nproc_per_node={gpus_per_node} t.py --batch-size {effective_batch_size}";
  EXPECT_EQ(
      Sentences(command),
      (Texts{"the command has a batch of all GPUs and no gradient accumulation, this strategy "
             "needs 3; write gradient_accumulation_steps: 1 into the training file"}));
  api::Strategy strategy = Strategy();
  strategy.micro_batch = 24;
  strategy.accumulation = 1;
  EXPECT_EQ(Sentences(command, {{"max_steps", 100}}, strategy), Texts());
}

TEST(FirstFollowed, IsTheFirstRowThatNothingCertainForbids) {
  api::Advice advice;
  for (const int64_t rank : {1, 2, 3}) advice.strategies.emplace_back().rank = rank;
  const auto conflict = [](bool certain, std::vector<int64_t> ranks) {
    api::CommandConflict made;
    made.certain = certain;
    made.ranks = std::move(ranks);
    return made;
  };
  EXPECT_EQ(FirstFollowed(advice, {}), 1);
  EXPECT_EQ(FirstFollowed(advice, {conflict(false, {1, 2})}), 1);
  EXPECT_EQ(FirstFollowed(advice, {conflict(true, {1}), conflict(true, {2})}), 3);
  EXPECT_EQ(FirstFollowed(advice, {conflict(true, {1, 2, 3})}), 0);
}

TEST(CommandConflicts, ALiteralThatIsTheSameObeys) {
  EXPECT_EQ(Sentences("torchrun --nproc_per_node 6 t.py --batch-size 8 --grad_accum 3"), Texts());
}

TEST(CommandConflicts, AMissingPlaceholderIsSaid) {
  EXPECT_EQ(Sentences("torchrun --nproc_per_node={gpus_per_node} t.py"),
            (Texts{"the command does not use the batch of one GPU, this strategy needs 8; add "
                   "{micro_batch} to it, or write the program's own figure as "
                   "per_device_train_batch_size into the training file",
                   "the command does not use gradient accumulation, this strategy needs 3; add "
                   "{accumulation} to it, or write the program's own figure as "
                   "gradient_accumulation_steps into the training file"}));
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
  EXPECT_EQ(
      Sentences("./train --batch {micro_batch}"),
      (Texts{"perhaps the command does not use the number of GPUs, this strategy needs 6; add "
             "{gpus_per_node} to it",
             "perhaps the command does not use gradient accumulation, this strategy needs 3; "
             "add {accumulation} to it, or write the program's own figure as "
             "gradient_accumulation_steps into the training file"}));
  EXPECT_EQ(Sentences("./train --name {model} -b {micro_batch} -a {accumulation} -n {gpus}"),
            (Texts{"perhaps {model} is no placeholder; did you mean {nodes}?"}));
}

TEST(CommandConflicts, SrunsTasksAreNoCountOfTheProgram) {
  const std::string batch = " --batch-size {micro_batch} --grad_accum {accumulation}";
  EXPECT_EQ(Sentences("srun --ntasks=4 python t.py" + batch),
            (Texts{"srun starts 4 tasks, this strategy needs 6; write --ntasks={gpus} there"}));
  api::Strategy two = Strategy();
  two.nodes = 2;
  two.gpus_per_node = 3;
  const json first_node = {{"run_on", "first_node"}};
  EXPECT_EQ(
      Sentences("PER=4\nsrun -n $((SLURM_NNODES * PER)) python t.py" + batch, {}, two, first_node),
      (Texts{"srun starts 8 tasks, this strategy needs 6; write --ntasks={gpus} there"}));
  EXPECT_EQ(
      Sentences("PER=$SLURM_GPUS_ON_NODE\nsrun -n $((SLURM_NNODES * PER)) python t.py" + batch, {},
                two, first_node),
      Texts());
  const std::string srun = "srun --ntasks={gpus} --ntasks-per-node={gpus_per_node} ";
  EXPECT_EQ(Sentences(srun + "python t.py" + batch), Texts());
  EXPECT_EQ(Sentences(srun + "python t.py trainer=ddp" + batch),
            (Texts{"perhaps the command does not say the devices of its trainer, this strategy "
                   "needs 6; add trainer.devices={gpus_per_node} to it, unless the trainer takes "
                   "all that a task sees"}));
  EXPECT_EQ(Sentences(srun + "python t.py trainer=ddp trainer.devices={gpus_per_node}" + batch),
            Texts());
  EXPECT_EQ(Sentences(srun + "torchrun t.py" + batch).size(), 1u) << "it starts one process";
  EXPECT_TRUE(Sentences("srun python t.py" + batch)[0].starts_with(
      "perhaps the command does not use the number of GPUs"));
}

TEST(CommandConflicts, TorchrunAloneStartsOneProcess) {
  const Texts said =
      Sentences("torchrun t.py --batch-size {micro_batch} --grad_accum {accumulation}");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].starts_with("torchrun starts one process"));
}

TEST(CommandConflicts, OtherStepsThanCountedAreSaid) {
  EXPECT_EQ(
      Sentences("torchrun --nproc_per_node {gpus} t.py --batch-size {micro_batch} "
                "--grad_accum {accumulation} --max_steps 200"),
      (Texts{
          "perhaps the command has --max_steps 200, the training file 100 steps; use "
          "{steps} in the command so that they agree, or leave it where its steps are not those of "
          "the optimizer"}));
}

TEST(CommandConflicts, Bf16OnACardWithoutItIsSaid) {
  api::Strategy strategy = Strategy();
  strategy.precision = "fp16";
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
                      "--gradient_accumulation_steps {accumulation} --{precision}",
                      training),
            (Texts{"the DeepSpeed file has train_micro_batch_size_per_gpu 4, this strategy needs "
                   "8; write \"auto\" there"}));
}

TEST(CommandConflicts, AreGatheredByCause) {
  api::Advice advice;
  advice.strategies = {Strategy(), Strategy()};
  advice.strategies[1].rank = 2;
  advice.strategies[1].gpus_per_node = 4;
  const json spec = {{"command", "python t.py --num-gpus 4 --bs {micro_batch} --grad_accum 3"},
                     {"training", {{"max_steps", 100}}}};
  EXPECT_EQ(fields::Write(ConflictsOf(spec, advice)),
            json::parse(R"([{"cause": "the command has --num-gpus 4", "certain": true,
                             "remedy": "write {gpus_per_node} there", "ranks": [1]}])"));
}

TEST(CommandConflicts, AMistypedPlaceholderIsAnError) {
  EXPECT_EQ(Sentences("torchrun --nproc_per_node={gpu_per_node} t.py --bs {micro_batch} --ga "
                      "{accumulation} | awk '{print}' ${nodez}"),
            (Texts{"{gpu_per_node} is no placeholder; did you mean {gpus_per_node}?"}));
}

constexpr const char* kObedient =
    "torchrun --nproc_per_node={gpus_per_node} t.py --per_device_train_batch_size {micro_batch} "
    "--gradient_accumulation_steps {accumulation} --{precision} True --logging_steps 10 ";

TEST(CommandConflicts, WhatTheCommandSaysIsInTheTrainingFile) {
  const std::string command = std::string(kObedient) + "--max_seq_length 4096 --lora_r 16";
  EXPECT_EQ(Sentences(command, {{"max_steps", 100}, {"method", "lora"}, {"lora", {{"r", 16}}}}),
            (Texts{"the command has max_seq_length: 4096, the training file does not say it; write "
                   "max_seq_length: 4096 into the training file, so that it is counted"}));
  EXPECT_EQ(
      Sentences(
          command,
          {{"max_steps", 100}, {"method", "lora"}, {"max_seq_length", 2048}, {"lora", {{"r", 8}}}}),
      (Texts{"the command has max_seq_length: 4096, the training file 2048; write the same in both",
             "the command has lora.r: 16, the training file 8; write the same in both"}));
}

api::Strategy In(const char* precision) {
  api::Strategy strategy = Strategy();
  strategy.precision = precision;
  return strategy;
}

TEST(CommandConflicts, ThePrecisionOfTheCommandIsThatOfTheRow) {
  const json training = {{"max_steps", 100}};
  const std::string silent =
      "torchrun --nproc_per_node={gpus_per_node} t.py --per_device_train_batch_size {micro_batch} "
      "--gradient_accumulation_steps {accumulation} --logging_steps 10 ";
  EXPECT_EQ(Sentences(silent + "--fp16 True", training, In("bf16")),
            (Texts{"the command trains in fp16, this strategy needs bf16; write {precision} there, "
                   "or fp16: true in the training file"}));
  EXPECT_EQ(
      Sentences(silent, training, In("bf16")),
      (Texts{"perhaps the command trains in fp32, the default of Transformers, this strategy needs "
             "bf16; add --bf16 True to it, or write bf16: false and fp16: false into the "
             "training file"}));
  EXPECT_EQ(Sentences(silent, training, In("fp32")), Texts());
  EXPECT_EQ(Sentences(silent + "--{precision}", training, In("fp16")), Texts());
  EXPECT_EQ(Sentences(silent + "--use_bf16 True", training, In("fp16")).size(), 1u);
  const Texts named = Sentences(silent + "--my_bf16=True", training, In("fp16"));
  EXPECT_EQ(named, (Texts{"perhaps the command names bf16, this strategy needs fp16; write "
                          "{precision} there, or bf16: true in the training file"}));
  EXPECT_EQ(Sentences(silent + "--my_bf16=False --fp16", training, In("fp16")), Texts());
}

TEST(CommandConflicts, WhatIsUsualOrMeasuredNeedsNoKey) {
  EXPECT_EQ(Sentences(std::string(kObedient) + "--max_seq_length 512 --optim adamw_torch"),
            Texts());
  EXPECT_EQ(Sentences(std::string(kObedient) + "--max_seq_length 4096",
                      {{"max_steps", 100}, {"measured", json::array({{{"gpu", "l40s"}}})}},
                      Strategy(), {{"model", {{"memory", {{"base", "1 GB"}}}}}}),
            Texts());
}

TEST(CommandConflicts, CheckpointingThatTheRowCountsWithIsTurnedOn) {
  api::Strategy counted = Strategy();
  counted.gradient_checkpointing = true;
  const auto said = [&](const std::string& more) {
    return Sentences(kObedient + more, {{"max_steps", 100}, {"gradient_checkpointing", true}},
                     counted);
  };
  const std::string off =
      "the command does not turn on gradient checkpointing, this strategy needs it; turn it on "
      "there, or write gradient_checkpointing: false into the training file";
  EXPECT_EQ(said(""), (Texts{off})) << "Transformers' default";
  EXPECT_EQ(said("$MORE"), (Texts{"perhaps " + off}));
  EXPECT_EQ(said("--gradient_checkpointing"), Texts());
  EXPECT_EQ(said("--output_dir checkpoints --resume_from_checkpoint last"), (Texts{off}));
  EXPECT_EQ(Sentences("torchrun --nproc_per_node={gpus_per_node} own.py --bs {micro_batch} --ga "
                      "{accumulation}",
                      {{"max_steps", 100}}, counted),
            (Texts{"perhaps " + off}));
  counted.gradient_checkpointing = false;
  EXPECT_EQ(Sentences(kObedient, {{"max_steps", 100}}, counted), Texts());
}

}  // namespace
}  // namespace gpuadvise::client
