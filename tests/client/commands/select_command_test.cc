#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class SelectTest : public testing::Test, protected FakeProcess {
 protected:
  SelectTest() { groups = {"staff"}; }
  int Select(std::vector<std::string> words) {
    words.insert(words.begin(), "select");
    return Gpuadvise(std::move(words));
  }
  static json Answer() {
    return json::parse(R"({
      "job": {"partition": "gpu2,gpu", "gres": "gpu:l40s:4", "gres_type": "l40s", "constraint": "ada|ib",
              "wait_p50_seconds": 300, "wait_p90_seconds": 4200},
      "alternatives": [{"gpu_name": "L40S", "in_job": true}, {"gpu_name": "L40S", "in_job": true},
                       {"gpu_name": "A100", "in_job": false}],
      "snapshot_age_seconds": 3})");
  }
};

TEST_F(SelectTest, PrintsWhatToAddAndWhy) {
  api.Answer(Answer());
  EXPECT_EQ(Select({"--gres=gpu:4", "-t", "60"}), kExitOk);
  EXPECT_EQ(console.printed,
            "constraint=ada|ib\n"
            "gres=gpu:l40s:4\n"
            "partition=gpu2,gpu\n"
            "why=L40S in gpu2,gpu, start in about 5 m (p90 1 h 10)\n");
}

TEST_F(SelectTest, AShorterLimitThatIsWorthItIsALineOfItsOwn) {
  json answer = Answer();
  answer["limit_words"] = "-t 03:30:00 instead of 1-00:00:00: starts 2 h 10 sooner; 1.5 % …";
  api.Answer(answer);
  EXPECT_EQ(Select({"--gres=gpu:4", "-t", "24:00:00", "--job-name=train"}), kExitOk);
  EXPECT_THAT(
      console.printed,
      HasSubstr("\nlimit=-t 03:30:00 instead of 1-00:00:00: starts 2 h 10 sooner; 1.5 % …\n"));
  EXPECT_EQ(api.asked.at(0).second["job"]["name"], "train");  // which runs were alike
}

TEST_F(SelectTest, AsksWhatTheOptionsSay) {
  api.Answer(Answer());
  EXPECT_EQ(Select({"--gpu-memory=40G", "--avoid=debug", "--timeout", "0.5", "--gres=gres:gpu:4",
                    "--mem=4G", "--nodes=2-2", "--comment=gpuadvise:auto"}),
            kExitOk);
  EXPECT_EQ(api.asked.at(0).first, "/v1/select");
  EXPECT_EQ(api.asked.at(0).second,
            json::parse(R"({"job": {"gres": "gres:gpu:4", "mem_mib": 4096, "nodes": 2, "ntasks": 2},
                            "groups": ["staff"], "avoid_partitions": ["debug"], "min_gpu_memory_bytes": 42949672960})"));
  EXPECT_EQ(patience, std::chrono::milliseconds(500));
}

TEST_F(SelectTest, WithoutNamesOfGroupsItSaysWhatIsLeftOut) {
  groups = {};
  api.Answer(Answer());
  EXPECT_EQ(Select({"--gres=gpu:4"}), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("partitions with AllowGroups are left out"));
}

TEST_F(SelectTest, GpusPerTaskAreAskedAsATotalAndSaidPerTask) {
  json answer = Answer();
  answer["job"] = {{"gpus", "l40s:8"}, {"gres_type", "l40s"}};
  api.Answer(answer);
  EXPECT_EQ(Select({"--gpus-per-task=2", "--ntasks=4"}), kExitOk);
  EXPECT_EQ(api.asked.at(0).second["job"]["gpus"], "8");
  EXPECT_THAT(console.printed, HasSubstr("gpus_per_task=l40s:2\n"));
  EXPECT_THAT(console.printed, testing::Not(HasSubstr("gpus=")));
}

TEST_F(SelectTest, WhereNothingIsChosenTheReasonIsSaid) {
  api.Answer({{"job", json::object()}, {"reason", "the job asks for no GPU"}});
  EXPECT_EQ(Select({}), kExitInfeasible);
  EXPECT_EQ(console.printed, "");
  EXPECT_EQ(console.complained, "gpuadvise: the job asks for no GPU\n");
}

TEST_F(SelectTest, ValuesThatNoNameOfSlurmHasAreRefused) {
  for (const std::string bad : {"a b", "x;rm", "$(x)", "`x`", "a'b", "a\nb", "\x1b[2J", "ü"}) {
    json answer = Answer();
    answer["job"]["partition"] = bad;
    api.Answer(answer);
    EXPECT_EQ(Select({"--gres=gpu:4"}), kExitError) << bad;
  }
  EXPECT_EQ(console.printed, "");
}

TEST_F(SelectTest, ReportsWhatTheAdviceBecame) {
  json answer = Answer();
  answer["advice_id"] = "a-3f-1";
  api.Answer(answer);
  EXPECT_EQ(Select({"--gres=gpu:4"}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("\nadvice_id=a-3f-1\n"));
  EXPECT_EQ(Select({"--submitted", "4711"}), kExitUsage);
  api.Answer({{"job_id", 4711}});
  EXPECT_EQ(Select({"--submitted", "4711", "--advice=a-3f-1"}), kExitOk);
  EXPECT_EQ(api.asked.back().first, "/v1/advice/a-3f-1/submitted");
  EXPECT_EQ(api.asked.back().second, (json{{"job_id", 4711}, {"rank", 1}}));
}

TEST_F(SelectTest, OldDataIsNotUsed) {
  json answer = Answer();
  answer["snapshot_age_seconds"] = 301;
  api.Answer(answer);
  EXPECT_EQ(Select({"--gres=gpu:4"}), kExitStale);
  EXPECT_EQ(console.printed, "");
}

TEST_F(SelectTest, OptionsThatTheForecastDoesNotSeeAreRefused) {
  EXPECT_EQ(Select({"--gres=gpu:4", "--tmp=5G"}), kExitUsage);
  EXPECT_EQ(Select({"--gres=gpu:4", "-N1-2"}), kExitUsage);
  for (const std::string unseen :
       {"--array=1-9", "--dependency=afterok:7", "--licenses=matlab", "--switches=1", "--prefer=ib",
        "--nice=100", "--hold", "--spread-job", "--time-min=10", "--deadline=fri"}) {
    console.complained.clear();
    EXPECT_EQ(Select({"--gres=gpu:4", unseen}), kExitUsage) << unseen;
    const std::string name = unseen.substr(0, unseen.find('='));
    EXPECT_TRUE(
        console.complained.starts_with("gpuadvise: " + name + ": the forecast does not support"))
        << console.complained;
  }
  EXPECT_EQ(Select({"--gres=gpu:4", "--gpu-memory", "much"}), kExitUsage);
  EXPECT_TRUE(api.asked.empty());
}

TEST_F(SelectTest, WithoutADaemonItSaysSo) {
  EXPECT_EQ(Select({"--gres=gpu:4"}), kExitUnavailable);
  EXPECT_THAT(console.complained, HasSubstr("gpuadvise: nothing listens there"));
}

TEST_F(SelectTest, JsonIsTheApisOwn) {
  api.Answer(Answer());
  EXPECT_EQ(Select({"--gres=gpu:4", "--json"}), kExitOk);
  EXPECT_EQ(json::parse(console.printed), Answer());
}

}  // namespace
}  // namespace gpuadvise::client
