#include "common/slurm/job_record.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

JobRecord SomeJob() {
  JobRecord job;
  job.user = "ann";
  job.partition = "main";
  job.gpu = "a100";
  job.gpus = 4;
  job.cpus = 8;
  job.limit_seconds = 3600;
  return job;
}

TEST(MakeBurstKey, IsTheSameForJobsThatAskForTheSame) {
  JobRecord other = SomeJob();
  other.id = 7;
  other.name = "another";
  other.submit = 100;
  EXPECT_EQ(MakeBurstKey(SomeJob()), MakeBurstKey(other));
}

TEST(MakeBurstKey, DiffersByUserPartitionLimitAndSize) {
  const std::string key = MakeBurstKey(SomeJob());
  JobRecord other = SomeJob();
  other.user = "bob";
  EXPECT_NE(MakeBurstKey(other), key);
  other = SomeJob();
  other.partition = "long";
  EXPECT_NE(MakeBurstKey(other), key);
  other = SomeJob();
  other.limit_seconds = 7200;
  EXPECT_NE(MakeBurstKey(other), key);
  other = SomeJob();
  other.gpus = 2;
  EXPECT_NE(MakeBurstKey(other), key);
  other = SomeJob();
  other.nodes = 2;
  EXPECT_NE(MakeBurstKey(other), key);
  other = SomeJob();
  other.cpus = 16;
  EXPECT_NE(MakeBurstKey(other), key);
}

TEST(MakeBurstKey, TasksOfAnArrayAreOneWhateverTheyAskFor) {
  JobRecord one = SomeJob();
  one.array_job_id = 5;
  JobRecord other = one;
  other.gpus = 1;
  EXPECT_EQ(MakeBurstKey(one), MakeBurstKey(other));
  EXPECT_NE(MakeBurstKey(one), MakeBurstKey(SomeJob()));
}

}  // namespace
}  // namespace gpuadvise
