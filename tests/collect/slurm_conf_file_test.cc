#include "daemon/collect/slurm_conf_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gpuadvise::collect {
namespace {

class ConfFolder {
 public:
  ConfFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "conf.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~ConfFolder() { std::filesystem::remove_all(path_); }
  ConfFolder(const ConfFolder&) = delete;
  ConfFolder& operator=(const ConfFolder&) = delete;

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = path_ / name;
    std::ofstream(path) << text;
    return path;
  }

 private:
  std::filesystem::path path_;
};

SlurmConfFile ReadText(const std::string& text) {
  const ConfFolder folder;
  const Result<SlurmConfFile> file = ReadSlurmConfFile(folder.Write("slurm.conf", text));
  EXPECT_TRUE(file) << file.error().message;
  return file.value_or(SlurmConfFile());
}

TEST(SlurmConfFile, KeysAreOfAnyCaseCommentsAndJoinedLinesAreAsInSlurm) {
  const SlurmConfFile file = ReadText(
      "# all of it\nCLUSTERNAME=lab # ours\nschedulerparameters = bf_max_job_test=9,\\\nbf_x\n"
      "PriorityType=priority/basic KillWait=5\r\nPreemptMode=\"suspend,gang\"\nNodeName=n1 "
      "KillWait=9\n");
  EXPECT_EQ(file.keys.at("clustername"), "lab");
  EXPECT_EQ(file.keys.at("prioritytype"), "priority/basic");
  EXPECT_EQ(file.keys.at("killwait"), "5");
  EXPECT_EQ(file.keys.at("preemptmode"), "suspend,gang");
}

TEST(SlurmConfFile, WhatItDoesNotSetIsSlurmsDefault) {
  const SchedulerConfig config =
      ConfigOf(ReadText("SchedulerParameters=defer\nSelectTypeParameters=CR_Core\n").keys).config;
  EXPECT_EQ(config.select_type_parameters, "CR_CORE");
  EXPECT_EQ(config.scheduler_parameters, "defer");
  EXPECT_EQ(config.scheduler_type, "sched/backfill");
  EXPECT_EQ(config.priority_type, "priority/multifactor");
  EXPECT_EQ(config.priority_max_age_seconds, 7 * 86400);
  EXPECT_EQ(config.priority_calc_period_seconds, 300);
  EXPECT_EQ(config.kill_wait_seconds, 30);
  EXPECT_EQ(config.min_job_age_seconds, 300);
  EXPECT_EQ(config.preempt_mode, "OFF");
}

TEST(SlurmConfFile, APeriodIsGivenInMinutesOrWithColons) {
  const auto period = [](const std::string& value) {
    return ConfigOf(ReadText("PriorityCalcPeriod=" + value + "\n").keys)
        .config.priority_calc_period_seconds;
  };
  EXPECT_EQ(period("1"), 60);
  EXPECT_EQ(period("00:10:00"), 600);
}

TEST(SlurmConfFile, FirstComeFirstServedHasNoWeightsAndNoAges) {
  const SchedulerConfig config =
      ConfigOf(ReadText("PriorityType=priority/basic\nPriorityWeightAge=5\n").keys).config;
  EXPECT_EQ(config.priority_type, "priority/basic");
  EXPECT_EQ(config.priority_max_age_seconds, 0);
  EXPECT_EQ(config.weights.age, 0);
}

TEST(SlurmConfFile, IncludedFilesAreReadByPathsOfItsFolder) {
  const ConfFolder folder;
  folder.Write("more.lab", "PriorityWeightQOS=7\n");
  const auto file = ReadSlurmConfFile(
      folder.Write("slurm.conf", "ClusterName=lab\nInclude more.%c\nPriorityWeightAge=3\n"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(ConfigOf(file->keys).config.weights.qos, 7);
  EXPECT_EQ(ConfigOf(file->keys).config.weights.age, 3);
}

TEST(SlurmConfFile, AFileThatIncludesItselfOrIsNotThereIsASentence) {
  const ConfFolder folder;
  const std::string path = folder.Write("slurm.conf", "Include slurm.conf\n");
  EXPECT_FALSE(ReadSlurmConfFile(path));
  const auto missing = ReadSlurmConfFile(path + ".none");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("slurm.conf.none cannot be read"), std::string::npos);
}

TEST(SlurmConfFile, PartitionsHaveFlagsAndTheDefaultsBeforeThem) {
  const SlurmConfFile file = ReadText(
      "PreemptMode=requeue\nPartitionName=DEFAULT Hidden=YES\nPartitionName=a,b Nodes=n[1-2] "
      "Default=YES\nPartitionName=DEFAULT Hidden=no\nPartitionName=c RootOnly=yes "
      "ExclusiveUser=YES "
      "PreemptMode=off\n");
  const auto filled = [&](const char* name) {
    Partition partition;
    partition.name = name;
    FillFlags(file, partition);
    return partition;
  };
  EXPECT_TRUE(filled("a").is_default && filled("b").hidden);
  EXPECT_EQ(filled("a").preempt_mode, "REQUEUE");
  EXPECT_TRUE(filled("c").root_only);
  EXPECT_FALSE(filled("c").hidden);
  EXPECT_EQ(filled("c").exclusive_to, "user");
  EXPECT_EQ(filled("c").preempt_mode, "OFF");
}

}  // namespace
}  // namespace gpuadvise::collect
