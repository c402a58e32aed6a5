#include "client/sweep/sweep_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

namespace fs = std::filesystem;

class SweepFolderTest : public testing::Test {
 protected:
  static SweepRecord Record() {
    SweepRecord record;
    record.source = "train.yaml";
    record.work_folder = "/data";
    record.array = "1-9";
    record.spec = {{"name", "x"}};
    record.fixed.Set("qos", "high");
    record.passed_on = {"--mail-type=END"};
    record.jobs = {{10, "l40s", "gpu", 1, 2, {1, 2, 5}}};
    record.retries = {{5, 1}};
    record.moving = {6, 8};
    return record;
  }

  TemporaryFolder temporary;
  const std::string path = temporary.Path("sweep");
};

TEST_F(SweepFolderTest, WhatWasSavedIsThereAgain) {
  ASSERT_TRUE(SweepFolder::Create(path, Record()));
  EXPECT_TRUE(SweepFolder::IsOne(path));
  const auto again = SweepFolder::Open(path);
  ASSERT_TRUE(again) << again.error().message;
  const SweepRecord& record = again->record();
  EXPECT_EQ(record.array, "1-9");
  EXPECT_EQ(record.spec, Record().spec);
  EXPECT_EQ(record.fixed, Record().fixed);
  EXPECT_EQ(record.passed_on, Record().passed_on);
  EXPECT_EQ(record.retries, Record().retries);
  EXPECT_EQ(record.moving, Record().moving);
  ASSERT_EQ(record.jobs.size(), 1u);
  EXPECT_EQ(record.jobs[0].tasks, Record().jobs[0].tasks);
  EXPECT_EQ(record.jobs[0].nodes, 2);
}

TEST_F(SweepFolderTest, AFolderIsMadeOnce) {
  ASSERT_TRUE(SweepFolder::Create(path, Record()));
  const auto second = SweepFolder::Create(path, Record());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("exists already"), std::string::npos);
}

TEST_F(SweepFolderTest, TakenAndEndedRunsAreLinksByNumber) {
  const auto folder = SweepFolder::Create(path, Record());
  fs::create_symlink("501", path + "/taken/1");
  fs::create_symlink("502", path + "/taken/2");
  fs::create_symlink("3", path + "/ended/2");
  fs::create_symlink("nonsense", path + "/taken/7");
  fs::create_symlink("1", path + "/taken/no-number");
  const auto taken = folder->Taken();
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->size(), 2u);
  EXPECT_EQ(taken->at(1).job, 501);
  EXPECT_EQ(taken->at(1).status, std::nullopt);
  EXPECT_EQ(taken->at(2).status, 3);
  fs::create_symlink("0", path + "/ended/3");  // an end counts also where the beginning is gone
  EXPECT_EQ(folder->Taken()->at(3).status, 0);
  ASSERT_TRUE(folder->Forget(2));
  EXPECT_EQ(folder->Taken()->size(), 2u);
  EXPECT_TRUE(folder->Forget(2));  // gone already
}

TEST_F(SweepFolderTest, OneKeeperAtATime) {
  auto folder = SweepFolder::Create(path, Record());
  ASSERT_TRUE(folder->Lock());
  auto second = SweepFolder::Open(path);
  EXPECT_FALSE(second->Lock());
}

TEST_F(SweepFolderTest, WhatIsNoneSaysSo) {
  EXPECT_FALSE(SweepFolder::Open(temporary.Path(".")));
  for (const char* text : {"", "[]", "{}", R"({"version": 1, "jobs": 3})"}) {
    temporary.Write("sweep.json", text);
    const auto folder = SweepFolder::Open(temporary.Path("."));
    ASSERT_FALSE(folder) << text;
    EXPECT_NE(folder.error().message.find("cannot be read as a sweep"), std::string::npos);
  }
}

}  // namespace
}  // namespace gpuadvise::client
