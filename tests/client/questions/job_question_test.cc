#include "client/questions/job_question.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/sbatch/option_values.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kNow = 1790000000;

SbatchOptions Options(const std::vector<std::string>& words) {
  return ParseSbatchArguments(words)->options;
}

json Question(const std::vector<std::string>& words) {
  const Result<json> question = JobQuestion(Options(words), kNow);
  EXPECT_TRUE(question) << (question ? "" : question.error().message);
  return question.value_or(json());
}

std::string QuestionError(const std::vector<std::string>& words) {
  const Result<json> question = JobQuestion(Options(words), kNow);
  return question ? "accepted " + question->dump() : question.error().message;
}

json Fixed(const std::vector<std::string>& words) {
  const Result<json> constraints = AdviceConstraints(Options(words));
  EXPECT_TRUE(constraints) << (constraints ? "" : constraints.error().message);
  return constraints.value_or(json());
}

TEST(JobQuestion, HasWhatTheOptionsSay) {
  EXPECT_EQ(
      Question({"-p",
                "gpu,long",
                "--gres=gpu:l40s:6",
                "-t",
                "600",
                "-A",
                "lab",
                "-q",
                "high",
                "-C",
                "a&b",
                "-w",
                "n1",
                "-x",
                "n[2-3]",
                "--reservation=r",
                "--exclusive",
                "-N2",
                "-c8",
                "--mem=64G",
                "-b",
                "now+1hour"}),
      json::parse(R"({"partition": "gpu,long", "gres": "gpu:l40s:6", "time_limit_seconds": 36000,
                "account": "lab", "qos": "high", "constraint": "a&b", "nodelist": "n1",
                "exclude": "n[2-3]", "reservation": "r", "exclusive": true, "nodes": 2, "ntasks": 2,
                "cpus_per_task": 8, "mem_mib": 65536, "begin": 1790003600})"));
}

TEST(JobQuestion, LicencesAndWhoSharesTheNodes) {
  EXPECT_EQ(
      Question({"-L", "matlab:2", "--exclusive=user", "-s", "--switches=2@10:00", "--segment=4"}),
      json::parse(R"({"licenses": "matlab:2", "exclusive": false, "exclusive_to": "user",
                            "oversubscribe": true, "switches": 2, "segment": 4})"));
  EXPECT_EQ(Question({"--exclusive=topo"}),
            json::parse(R"({"exclusive": true, "exclusive_to": "topo"})"));
}

TEST(JobQuestion, NothingSaidIsAnEmptyQuestion) { EXPECT_EQ(Question({}), json::object()); }

TEST(JobQuestion, TasksAreCountedAsSbatchDoes) {
  EXPECT_EQ(Question({"-n", "5"})["ntasks"], 5);
  EXPECT_EQ(Question({"-N", "2", "--ntasks-per-node=4"})["ntasks"], 8);
  EXPECT_EQ(Question({"-N", "2-4"})["nodes"], 2);
}

TEST(JobQuestion, GpusPerTaskBecomeATotal) {
  EXPECT_EQ(Question({"-n3", "--gpus-per-task=a100:2"})["gpus"], "a100:6");
  EXPECT_EQ(Question({"--gpus-per-task=2"})["gpus"], "2");
}

TEST(JobQuestion, AmountsPerGpuBecomeAmountsPerNode) {
  const json question = Question({"--gres=gpu:4", "--mem-per-gpu=20G", "--cpus-per-gpu=8"});
  EXPECT_EQ(question["mem_mib"], 81920);
  EXPECT_EQ(question["cpus_per_task"], 32);
}

TEST(JobQuestion, AmountsPerGpuOfATotalAreSharedByNodesAndTasks) {
  const json one = Question({"--gpus=4", "--mem-per-gpu=20G", "--cpus-per-gpu=8"});
  EXPECT_EQ(one["mem_mib"], 81920);
  EXPECT_EQ(one["cpus_per_task"], 32);
  const json more = Question({"-N2", "-n8", "--gpus=8", "--mem-per-gpu=20G", "--cpus-per-gpu=8"});
  EXPECT_EQ(more["mem_mib"], 81920);
  EXPECT_EQ(more["cpus_per_task"], 8);
}

TEST(JobQuestion, AnUnlimitedTimeIsNoLimitOfOurs) {
  EXPECT_FALSE(Question({"-t", "UNLIMITED"}).contains("time_limit_seconds"));
}

TEST(JobQuestion, ABadValueNamesItsOption) {
  EXPECT_EQ(QuestionError({"-N", "x"}), "--nodes: \"x\" is not a whole number of 1 or more");
  EXPECT_EQ(QuestionError({"-n", "0"}), "--ntasks: \"0\" is not a whole number of 1 or more");
  EXPECT_EQ(QuestionError({"-t", "soon"}).find("--time: "), 0u);
  EXPECT_EQ(QuestionError({"--mem=x"}).find("--mem: "), 0u);
  EXPECT_EQ(QuestionError({"--begin=someday"}).find("--begin: \"someday\" is not a time"), 0u);
}

TEST(Constraints, AreOnlyWhatWasFixed) {
  EXPECT_EQ(Fixed({}), json::object());
  EXPECT_EQ(Fixed({"-p", "gpu", "-t", "1-0", "-A", "lab", "-q", "q", "-C", "f", "-w", "n1", "-x",
                   "n2", "-J", "name", "--mem=5G"}),
            json::parse(R"({"partition": "gpu", "time_limit_seconds": 86400, "account": "lab",
                "qos": "q", "constraint": "f", "nodelist": "n1", "exclude": "n2"})"));
}

TEST(Constraints, GpusHaveSeveralWords) {
  const json six = json::parse(R"({"gpus": ["l40s"], "gpus_per_node": 6})");
  EXPECT_EQ(Fixed({"--gres=gpu:l40s:6"}), six);
  EXPECT_EQ(Fixed({"--gpus-per-node=l40s:6"}), six);
  EXPECT_EQ(Fixed({"--gres=gpu:4"}), json::parse(R"({"gpus_per_node": 4})"));
  EXPECT_EQ(Fixed({"--gpus=l40s:12", "-N2"}),
            json::parse(R"({"gpus": ["l40s"], "gpus_per_node": 6, "nodes": 2})"));
  EXPECT_EQ(Fixed({"--gpus=l40s:12"}), json::parse(R"({"gpus": ["l40s"], "gpus_total": 12})"));
  EXPECT_EQ(Fixed({"--gpus=12", "--gpus-per-node=6"}),
            json::parse(R"({"gpus_per_node": 6, "gpus_total": 12})"));
  EXPECT_EQ(Fixed({"--time-min=4:00:00"}), json::parse(R"({"time_min_seconds": 14400})"));
  EXPECT_EQ(AdviceConstraints(Options({"--time-min=soon"})).error().message.rfind("--time-min", 0),
            0U);
}

TEST(Constraints, GpusThatCannotBeSharedAreRefused) {
  EXPECT_EQ(AdviceConstraints(Options({"--gpus=7", "-N2"})).error().message,
            "--gpus: 7 GPUs cannot be divided evenly among 2 nodes; change --gpus or --nodes");
}

TEST(Unseen, IsWhatTheForecastDoesNotKnow) {
  const SbatchOptions options = Options({"-p", "x", "-t1", "--mem=5G", "-J", "n", "--contiguous",
                                         "--dependency=afterok:1", "--signal=B:USR1@60"});
  EXPECT_EQ(UnseenByAdvice(options),
            (std::vector<std::string>{"--contiguous", "--dependency=afterok:1", "--mem=5G"}));
  EXPECT_EQ(UnseenByJobQuestion(options), (std::vector<std::string>{"--contiguous"}));
}

TEST(Nodes, AreReadAsSbatchReadsThem) {
  EXPECT_EQ(ParseNodeCount("4"), 4);
  EXPECT_EQ(ParseNodeCount("2-8"), 2);
  EXPECT_EQ(ParseNodeCount("1k"), 1024);
  EXPECT_FALSE(ParseNodeCount("-1"));
}

TEST(AdviceConstraints, OptionsThatContradictEachOtherAreRefused) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--gpus-per-node=2", "-N2", "--gpus=6"},
                                             {"--gres=gpu:l40s:1", "--gpus-per-node=2"},
                                             {"--gpus=0"},
                                             {"--gres=l40s:2"}}) {
    EXPECT_FALSE(AdviceConstraints(Options(words))) << words[0];
  }
  EXPECT_TRUE(AdviceConstraints(Options({"--gpus-per-node=2", "-N2", "--gpus=4"})));
  EXPECT_TRUE(AdviceConstraints(Options({"--gres=gpu:2,lscratch:100"})));
}

}  // namespace
}  // namespace gpuadvise::client
