// The job of `gpuadvise probe`: which GPU it takes, and what is said while it waits.
#include "client/commands/probe_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/client/fake_api.h"
#include "tests/client/fake_console.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kNow = 1790000000;

json Gpu(const std::string& id, const std::string& type) {
  return {{"gpu", id}, {"gres_types", {type}}, {"partitions", {"gpu"}}};
}

json Start(double p50, double p90, int64_t jobs_before) {
  return {{"partition", "gpu"},
          {"wait_p10_seconds", 0},
          {"wait_p50_seconds", p50},
          {"wait_p90_seconds", p90},
          {"jobs_before", jobs_before}};
}

class ProbeJobTest : public testing::Test {
 protected:
  // The choice between an L40S (more memory) and an RTX 4090 that start so.
  std::string Choice(const json& l40s, const json& rtx4090) {
    folder.Write("train.yaml",
                 "training: {max_steps: 10, effective_batch_size: 4}\n"
                 "resources: {gpus: [l40s, rtx4090]}\ncommand: ./train.sh {micro_batch}\n");
    FakeApi none;
    const auto question = TrainingQuestion::Load({folder.Path("train.yaml"), "", {}},
                                                 RunLength::kRequired, none, kNow);
    EXPECT_TRUE(question) << question.error().message;
    api.Answer({{"gpus", {Gpu("l40s", "l40s"), Gpu("rtx4090", "rtx4090")}}});
    api.Answer({{"answers", {l40s, rtx4090}}});
    const auto job = ChooseProbeJob(*question, {}, 10, api, kNow);
    return job ? job->said : job.error().message;
  }
  Result<void> Run(const std::string& srun) {
    folder.WriteProgram("srun", "#!/bin/sh\necho \"$@\" > words\n" + srun);
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", (folder.Path("") + ":" + path).c_str(), 1);
    WatchedOptions often;
    often.tick = std::chrono::milliseconds(5);
    const auto done = RunProbeJob({}, {"true"}, api, console, often);
    ::setenv("PATH", path.c_str(), 1);
    return done;
  }

  TemporaryFolder folder;
  FakeApi api;
  FakeConsole console;
};

TEST_F(ProbeJobTest, OfGpusThatAreFreeTheOneWithMostMemoryIsTaken) {
  EXPECT_EQ(Choice(Start(0, 5, 0), Start(0, 0, 0)), "one L40S in gpu, free now");
}

TEST_F(ProbeJobTest, AGpuThatJobsMayTakeFirstIsNotFree) {
  EXPECT_EQ(Choice(Start(0, 3600, 4), Start(0, 0, 0)), "one RTX 4090 in gpu, free now");
}

TEST_F(ProbeJobTest, OfEqualMediansTheSurerIsTakenAndItsWaitIsSaid) {
  EXPECT_EQ(Choice(Start(600, 7200, 4), Start(610, 1200, 1)),
            "one RTX 4090 in gpu, which starts in 10 m (20 m), behind 1 waiting job");
}

TEST_F(ProbeJobTest, WhileSrunWaitsTheReasonAndTheWayOutAreSaid) {
  api.Answer({{"job_id", 7},
              {"state", "PENDING"},
              {"reason", "Priority"},
              {"reason_words", "4 jobs are ahead of it"},
              {"wait_p10_seconds", 0},
              {"wait_p50_seconds", 600},
              {"wait_p90_seconds", 1200}});
  const auto done =
      Run("echo srun: job 7 queued and waiting for resources >&2\nsleep 0.5\n"
          "echo srun: job 7 has been allocated resources >&2\n");
  EXPECT_TRUE(done);
  EXPECT_THAT(console.complained,
              AllOf(HasSubstr("job 7 waits for its GPU; Ctrl-C ends the wait and removes the job"),
                    HasSubstr("job 7 waits: 4 jobs are ahead of it; it starts in 10 m (20 m)")));
  EXPECT_EQ(api.asked.front().first, "/v1/jobs/7");
}

TEST_F(ProbeJobTest, AJobThatStartsAtOnceIsNotTalkedOf) {
  EXPECT_TRUE(Run("sleep 0.1\n"));
  EXPECT_EQ(console.complained, "");
  EXPECT_TRUE(api.asked.empty());
}

TEST_F(ProbeJobTest, OneInterruptEndsItAndIsNoFailure) {
  const auto done = Run("kill -INT $$\n");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "interrupted: the probe's job is removed");
}

}  // namespace
}  // namespace gpuadvise::client
