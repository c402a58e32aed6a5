#include "client/run/training_log.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

namespace gpuadvise::client {
namespace {

LogFact Of(const char* line) { return TrainingLog().Read(line); }

TEST(TrainingLog, ReadsTrainersLosses) {
  const LogFact fact =
      Of("{'loss': 0.5123, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.1}");
  EXPECT_DOUBLE_EQ(*fact.loss, 0.5123);
  EXPECT_FALSE(fact.step);
}

TEST(TrainingLog, TheSummaryOfTrainerIsNoLoss) {
  EXPECT_FALSE(Of("{'train_runtime': 12.3, 'train_loss': 0.9, 'epoch': 3.0}").loss);
}

TEST(TrainingLog, ReadsBars) {
  const LogFact fact = Of("  5%|▌         | 50/1000 [00:30<09:30,  1.60it/s]");
  EXPECT_EQ(*fact.step, 50);
  EXPECT_EQ(*fact.total_steps, 1000);
  EXPECT_DOUBLE_EQ(*fact.seconds_per_step, 1 / 1.6);
  EXPECT_DOUBLE_EQ(*Of(" 1%| | 1/100 [00:02<03:18,  2.00s/it]").seconds_per_step, 2);
  EXPECT_FALSE(Of("  0%|          | 0/100 [00:00<?, ?it/s]").seconds_per_step);
}

TEST(TrainingLog, ReadsLightningsBar) {
  const LogFact fact =
      Of("Epoch 0:  10%|█         | 10/100 [00:05<00:45, 2.00it/s, v_num=3, train_loss=0.731]");
  EXPECT_EQ(*fact.step, 10);
  EXPECT_DOUBLE_EQ(*fact.loss, 0.731);
}

TEST(TrainingLog, ReadsPlainLines) {
  EXPECT_EQ(*Of("step 50/1000 loss 0.25").step, 50);
  EXPECT_EQ(*Of("step 50/1000 loss 0.25").total_steps, 1000);
  EXPECT_DOUBLE_EQ(*Of("step 50/1000 loss 0.25").loss, 0.25);
  EXPECT_EQ(*Of("iter 120: loss 2.31, time 14.5ms").step, 120);
  EXPECT_DOUBLE_EQ(*Of("Step: 7 | Loss: 1e-3").loss, 1e-3);
  EXPECT_EQ(*Of("[INFO] global_step=77 loss=3.5").step, 77);
}

TEST(TrainingLog, OrdinaryLinesSayNothing) {
  for (const char* line : {"Loading checkpoint shards", "lossless compression 5", "stepping 5 down",
                           "", "warmup_steps: 100", "GPU 0 has 5/10 blocks"}) {
    EXPECT_TRUE(Of(line).empty()) << line;
  }
}

TEST(TrainingLog, TheUsersPatternGoesFirst) {
  auto log = TrainingLog::WithPattern(R"(it=(?P<step>\d+) of=(?P<total>\d+) l=(?P<loss>\S+))");
  ASSERT_TRUE(log);
  const LogFact fact = log->Read("it=5 of=10 l=0.5");
  EXPECT_EQ(*fact.step, 5);
  EXPECT_EQ(*fact.total_steps, 10);
  EXPECT_DOUBLE_EQ(*fact.loss, 0.5);
  EXPECT_EQ(*log->Read("step 9 loss 1").step, 9);  // and the usual ones after it
}

TEST(TrainingLog, ABadPatternIsASentence) {
  for (const char* bad : {"(", "(?P<step>", "no groups", "(?P<other>x)", "(?<step>"}) {
    const auto log = TrainingLog::WithPattern(bad);
    ASSERT_FALSE(log) << bad;
    EXPECT_NE(log.error().message.find("--pattern"), std::string::npos);
    EXPECT_NE(log.error().message.find("(?P<step>"), std::string::npos);
  }
}

TEST(TrainingLog, BytesOfAnyKindDoNoHarm) {
  const TrainingLog log;
  EXPECT_TRUE(rc::check([&](const std::string& line) {
    const LogFact fact = log.Read(line);
    RC_ASSERT((!fact.step || *fact.step >= 0));
    OutOfMemoryIn(line);
  }));
  EXPECT_TRUE(log.Read(std::string(1 << 20, 'a')).empty());
  EXPECT_FALSE(log.Read("step 99999999999999999999999 loss nan").step);
  EXPECT_FALSE(log.Read("loss: nan").loss);
}

TEST(OutOfMemoryIn, KnowsTheSignsOfGpus) {
  for (const char* line :
       {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
        "torch.OutOfMemoryError: CUDA out of memory.", "RuntimeError: CUDA error: out of memory",
        "RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "ncclUnhandledCudaError: Call to CUDA function failed. Cuda failure 'out of memory'"}) {
    EXPECT_EQ(OutOfMemoryIn(line), OutOfMemorySign::kGpu) << line;
  }
}

TEST(OutOfMemoryIn, KnowsTheSignsOfTheNode) {
  for (const char* line :
       {"OpenBLAS: unable to create new native thread", "Killed",
        "/var/spool/slurmd/job00012/slurm_script: line 9: 4242 Killed                  python t.py",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=12.batch."}) {
    EXPECT_EQ(OutOfMemoryIn(line), OutOfMemorySign::kHost) << line;
  }
}

TEST(OutOfMemoryIn, OrdinaryWordsAreNone) {
  for (const char* line : {"Killed Bill twice", "out of memory lane", "memory: 12 GB", "killed"}) {
    EXPECT_EQ(OutOfMemoryIn(line), OutOfMemorySign::kNone) << line;
  }
}

TEST(TrainingLog, AStepTakesSomeTimeOrNoneIsKnown) {
  const auto log = TrainingLog::WithPattern("it (?P<step>\\d+) s=(?P<seconds>\\S+)");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->Read("it 5 s=0.5").seconds_per_step, 0.5);
  for (const char* line : {"it 5 s=-1", "it 5 s=0", "it 5 s=inf", "it 5 s=nan"}) {
    EXPECT_EQ(log->Read(line).seconds_per_step, std::nullopt) << line;
    EXPECT_EQ(log->Read(line).step, 5) << line;
  }
  EXPECT_EQ(TrainingLog().Read(" 5%|x| 5/9 [00:01<00:10, 0.00it/s]").seconds_per_step,
            std::nullopt);
}

}  // namespace
}  // namespace gpuadvise::client
