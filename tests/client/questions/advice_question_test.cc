#include "client/questions/advice_question.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/client/fake_api.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kNow = 1790000000;

TrainFile File() {
  return *TrainFile::FromText("name: x\ntraining:\n  max_steps: 5\n", "train.yaml", "", kNow);
}

AdviceQuestion With(const std::vector<std::string>& words) {
  AdviceQuestion question;
  question.fixed = ParseSbatchArguments(words)->options;
  return question;
}

TEST(AdviceRequest, IsTheSpecAndWhatWasFixed) {
  AdviceQuestion question = With({"-p", "gpu", "--gres=gpu:l40s:6", "-t", "60"});
  question.objective = "deadline";
  question.deadline = "now+1day";
  EXPECT_EQ(*AdviceRequest(File(), question, kNow),
            json::parse(R"({"spec": {"name": "x", "training": {"max_steps": 5}},
                "objective": "deadline", "deadline": 1790086400,
                "constraints": {"partition": "gpu", "gpus": ["l40s"], "gpus_per_node": 6,
                                "time_limit_seconds": 3600}})"));
}

TEST(AdviceRequest, WithoutFlagsIsTheSpecAlone) {
  EXPECT_EQ(*AdviceRequest(File(), {}, kNow),
            json::parse(R"({"spec": {"name": "x", "training": {"max_steps": 5}}})"));
}

TEST(AdviceRequest, WhatSlurmExtraFixesCountsUnlessAFlagSaysOtherwise) {
  const TrainFile file = *TrainFile::FromText(
      "name: x\ntraining: {max_steps: 5}\nslurm:\n"
      "  extra: [--nodelist=n1, --qos=high, '--ntasks-per-node={gpus_per_node}', --exclusive,\n"
      "          --container-image=a, '--mem={gpus}0G']\n",
      "train.yaml", "", kNow);
  EXPECT_EQ(AdviceRequest(file, With({"--qos=low"}), kNow)->at("constraints"),
            json::parse(R"({"nodelist": "n1", "qos": "low"})"));
  EXPECT_EQ(UncountedOptions(file.spec(), With({"--begin=now+1hour"})),
            (std::vector<std::string>{"--begin=now+1hour", "--exclusive", "--mem={gpus}0G"}));
}

TEST(AdviceRequest, WhatIsNoOptionInSlurmExtraIsRefusedAtItsLine) {
  for (const char* extra : {"[--exclusive oops --nodelist=n7]", "[--nodelist]", "[--nodes=x]"}) {
    const TrainFile file = *TrainFile::FromText(
        std::string("name: x\ntraining: {max_steps: 5}\nslurm:\n  extra: ") + extra + "\n",
        "train.yaml", "", kNow);
    EXPECT_EQ(AdviceRequest(file, {}, kNow).error().message.find("train.yaml:4: slurm.extra: "), 0u)
        << AdviceRequest(file, {}, kNow).error().message;
  }
}

TEST(AdviceRequest, WhatLeavesGpusOutIsNamedUnlessAFlagReplacesIt) {
  const json spec = {{"slurm",
                      {{"nodelist", "n1"},
                       {"constraint", "ib"},
                       {"extra", {"--gres=gpu:l40s:2", "--gpus-per-node={gpus_per_node}"}}}},
                     {"resources", {{"gpus", {"l40s"}}}}};
  EXPECT_EQ(
      NarrowedBy(spec, {}),
      (std::vector<std::string>{"slurm.constraint: ib", "--gres=gpu:l40s:2", "resources.gpus"}));
  AdviceQuestion flags = With({"--constraint=nvlink"});
  flags.gpus = "l40s";
  EXPECT_EQ(NarrowedBy(spec, flags), std::vector<std::string>{"--gres=gpu:l40s:2"});
  const json untyped = {{"slurm", {{"extra", {"--gres=gpu:4"}}}}};
  EXPECT_TRUE(NarrowedBy(untyped, {}).empty());
}

TEST(AdviceRequest, ABadFlagIsNamed) {
  AdviceQuestion question;
  question.deadline = "someday";
  EXPECT_EQ(AdviceRequest(File(), question, kNow).error().message.find("--deadline: \"someday\""),
            0u);
  EXPECT_EQ(AdviceRequest(File(), With({"-N", "x"}), kNow).error().message.find("--nodes: "), 0u);
}

TEST(AdviceErrors, AreToldInTheFilesAndFlagsWords) {
  const TrainFile file = File();
  const auto told = [&file](const char* pointer) {
    return ExplainAdviceError({ErrorCode::kBadInput, "is wrong", pointer}, file);
  };
  EXPECT_EQ(told("/spec/training/max_steps"), "train.yaml:3: is wrong");
  EXPECT_EQ(told("/constraints/partition"), "--partition: is wrong");
  EXPECT_EQ(told("/constraints/time_limit_seconds"), "--time: is wrong");
  EXPECT_EQ(told("/constraints/gpus/0"), "--gres: is wrong");
  EXPECT_EQ(told("/constraints/gpus_total"), "--gpus: is wrong");
  EXPECT_EQ(told("/objective"), "--objective: is wrong");
  EXPECT_EQ(told(""), "is wrong");
  const Error twice{ErrorCode::kBadInput, "nodelist: is wrong", "/constraints/nodelist"};
  EXPECT_EQ(ExplainAdviceError(twice, file), "--nodelist: is wrong");
}

TEST(AskForAdvice, KeepsTheErrorsCode) {
  FakeApi api;
  api.AnswerError({ErrorCode::kUnavailable, "no data yet", ""});
  const Result<json> answer = AskForAdvice(api, File(), {}, kNow);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answer.error().message, "no data yet");
}

}  // namespace
}  // namespace gpuadvise::client
