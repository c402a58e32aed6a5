#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

json Row(const char* gpu, const char* type, int64_t gib, int64_t p50, int64_t p90) {
  return {{"gpu_name", gpu},         {"gres_type", type},
          {"partition", "gpu"},      {"gpu_memory_bytes", gib << 30},
          {"wait_p50_seconds", p50}, {"wait_p90_seconds", p90}};
}

json Answer(std::vector<json> rows) {
  return {{"job", json::object()},
          {"reason", ""},
          {"alternatives", rows},
          {"rejected", json::array()},
          {"snapshot_age_seconds", 3}};
}

class NowTest : public testing::Test, protected FakeProcess {
 protected:
  int Now(std::vector<std::string> words) {
    words.insert(words.begin(), "now");
    return Gpuadvise(std::move(words));
  }

  // The fastest first, as the daemon sorts what starts now.
  const json free = Answer({Row("RTX 4090", "rtx4090", 24, 0, 0), Row("L40S", "l40s", 48, 0, 20),
                            Row("A100", "a100", 80, 600, 4000)});
  const json busy = Answer({Row("L40S", "l40s", 48, 600, 4000)});
};

TEST_F(NowTest, ShowsWhatIsFreeAndTheLineToPaste) {
  api.Answer(free);
  EXPECT_EQ(Now({}), kExitOk);
  ExpectGolden("now.txt", console.printed);
  EXPECT_EQ(api.asked.at(0).first, "/v1/select");
  EXPECT_EQ(api.asked.at(0).second["job"],
            json::parse(R"({"gpus": "1", "nodes": 1, "time_limit_seconds": 3600})"));
}

TEST_F(NowTest, AsksWhatTheOptionsSay) {
  api.Answer(free);
  EXPECT_EQ(Now({"-G", "2", "-t", "2:00:00", "--gpu-memory", "40G", "-c", "8"}), kExitOk);
  EXPECT_EQ(api.asked.at(0).second["min_gpu_memory_bytes"], int64_t{40} << 30);
  EXPECT_EQ(api.asked.at(0).second["job"]["time_limit_seconds"], 7200);
  EXPECT_THAT(console.printed,
              HasSubstr("salloc --cpus-per-task=8 --gpus=rtx4090:2 --nodes=1 --partition=gpu "
                        "--time=2:00:00\n"));
}

TEST_F(NowTest, TheLargestIsAmongThoseThatStartNow) {
  api.Answer(free);
  EXPECT_EQ(Now({"--largest", "--gres=gpu:1"}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("salloc --gres=gpu:l40s:1"));
}

TEST_F(NowTest, WhereNothingIsFreeFewerGpusOrLessTimeAreTried) {
  api.Answer(busy);
  api.Answer(busy);  // with 2 GPUs
  api.Answer(free);  // with 1
  api.Answer(free);  // for an hour
  EXPECT_EQ(Now({"-G", "4", "-t", "120"}), kExitOk);
  ExpectGolden("now_busy.txt", console.printed);
}

TEST_F(NowTest, RunPutsSallocInItsPlace) {
  api.Answer(free);
  EXPECT_EQ(Now({"--run"}), kExitOk);
  EXPECT_THAT(runner.allocated,
              ElementsAre("--gpus=rtx4090:1", "--nodes=1", "--partition=gpu", "--time=01:00:00"));
  EXPECT_EQ(console.printed, "");
}

TEST_F(NowTest, RunStartsNothingThatWouldWait) {
  for (int asked = 0; asked < 3; ++asked) api.Answer(busy);
  EXPECT_EQ(Now({"--run", "-t", "60"}), kExitInfeasible);
  EXPECT_TRUE(runner.allocated.empty());
  EXPECT_THAT(console.printed,
              HasSubstr("Nothing surely starts within a minute. The soonest, in 10 m (1 h 07): "));
}

TEST_F(NowTest, WhatCannotBeASessionIsRefused) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> wrong = {
      {{"-a", "1-80"}, "--array: a session cannot have this option"},
      {{"--wrap=x"}, "--wrap: a session cannot have this option"},
      {{"-H"}, "--hold: a session cannot have this option"},
      {{"-M", "other"}, "--clusters: a session cannot have this option"},
      {{"-G", "l40s:2,a100:1"}, "write a number of GPUs of one kind"},
      {{"-G", "2", "--gres=gpu:1"}, "write the GPUs once"},
      {{"-p", "gpu", "-G", "l40s:1"}, "GPU type and partition are both given"},
      {{"job.sh"}, "a session has no job script"},
      {{"--gres=gpu:a100:1,gpu:l40s:1"}, "write a number of GPUs of one kind"},
      {{"--gpu-memory", "much"}, "write a size with its unit, such as 40G"},
      {{"--gpuz=1"}, "is no option of sbatch"}};
  for (const auto& [words, sentence] : wrong) {
    EXPECT_EQ(Now(words), kExitUsage) << sentence;
    EXPECT_THAT(console.complained, HasSubstr(sentence));
  }
  EXPECT_TRUE(api.asked.empty());
}

TEST_F(NowTest, NothingThatFitsIsSaidWithItsReason) {
  json answer = Answer({});
  answer["reason"] = "no GPU of this cluster is what the job asks for";
  api.Answer(answer);
  EXPECT_EQ(Now({"-G", "64"}), kExitInfeasible);
  EXPECT_THAT(console.complained, HasSubstr("no GPU of this cluster is what the job asks for"));
}

TEST_F(NowTest, WhatMayBePreemptedComesAfterTheRestThatStartsNow) {
  json preemptible = Row("H100", "h100", 80, 0, 0);
  preemptible["may_be_preempted"] = true;
  const json waits = Row("A100", "a100", 80, 7200, 9000);
  api.Answer(Answer({waits, Row("L40S", "l40s", 48, 0, 0), preemptible}));
  EXPECT_EQ(Now({"--largest"}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("  salloc --gpus=l40s:1 "));
  console.printed.clear();
  api.Answer(Answer({waits, preemptible}));
  EXPECT_EQ(Now({}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("  salloc --gpus=h100:1 --nodes=1 --partition=gpu "
                                         "--time=01:00:00  # may be preempted\n"));
}

TEST_F(NowTest, ALongTailIsNoPromise) {
  api.Answer(Answer({Row("L40S", "l40s", 48, 0, 4000)}));
  api.Answer(busy);  // for half an hour
  EXPECT_EQ(Now({}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("perhaps now (1 h 07)"));
  EXPECT_THAT(console.printed, HasSubstr("Nothing surely starts within a minute"));
}

}  // namespace
}  // namespace gpuadvise::client
