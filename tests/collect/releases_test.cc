// What real Slurms of several releases print of the same cluster (data/, README.md) is read as the
// same snapshot.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "common/slurm/gres.h"
#include "common/slurm/policy.h"
#include "daemon/collect/accounting_text.h"
#include "daemon/collect/scontrol.h"
#include "daemon/collect/scontrol_jobs.h"
#include "daemon/collect/slurm_values.h"
#include "tests/collect/captured_text.h"
#include "tests/collect/squeue_text.h"

namespace gpuadvise::collect {
namespace {

class Release : public testing::TestWithParam<const char*> {
 protected:
  std::string Text(const std::string& table) const {
    return CapturedText("../data/" + std::string(GetParam()) + "/" + table + ".txt");
  }
  bool Since(std::string_view release) const { return GetParam() >= release; }

  ReadJobs Jobs() {
    list_text_ = Text("squeue");
    job_text_ = Text("job");
    list_.clear();
    const auto added = AddListedJobs(list_text_, kMark, list_);
    EXPECT_TRUE(added);
    return ParseJobs(job_text_, list_);
  }
  std::map<std::string, Job> JobsByName() {
    std::map<std::string, Job> jobs;
    for (Job& job : Jobs().jobs) jobs.emplace(job.name, job);
    return jobs;
  }
  std::vector<Node> Nodes() const { return ParseNodes(Text("node")); }
  std::vector<Partition> Partitions() const { return ParsePartitions(Text("partition")); }

  std::string list_text_, job_text_;
  JobList list_;
};

INSTANTIATE_TEST_SUITE_P(Slurm, Release, testing::Values("20.11", "22.05", "24.11", "26.05"));

TEST_P(Release, EveryJobThatSqueueListsIsRead) {
  const ReadJobs read = Jobs();
  EXPECT_EQ(read.left_out.records, 0) << read.left_out.first;
  EXPECT_TRUE(read.doubled.empty());
  EXPECT_TRUE(read.unlisted_tasks.empty());
  EXPECT_EQ(read.jobs.size(), list_.size());
}

TEST_P(Release, OnlyJobsThatWantWholeNodesAreExclusive) {
  const auto jobs = JobsByName();
  for (const auto& [name, job] : jobs) {
    const bool whole = IsOneOf(name, {"whole", "in_whole", "range", "downs", "topo"});
    EXPECT_EQ(job.request.exclusive, whole) << name;
    const std::string to = IsOneOf(name, {"user", "apart"}) ? "user" : name == "topo" ? "topo" : "";
    EXPECT_EQ(job.request.exclusive_to, to) << name;
    EXPECT_EQ(job.request.over_subscribe, name == "shares") << name;
  }
  EXPECT_EQ(jobs.contains("topo"), Since("24.11"));
}

TEST_P(Release, OnlyPartitionsThatGiveWholeNodesAreExclusive) {
  for (const Partition& partition : Partitions()) {
    EXPECT_EQ(partition.exclusive, partition.name == "whole") << partition.name;
    EXPECT_EQ(partition.exclusive_to, partition.name == "apart" ? "user" : "") << partition.name;
  }
}

TEST_P(Release, WhatJobsHoldAddsUpToWhatNodesHandedOut) {
  std::map<std::string, GpuCounts> held;
  std::map<std::string, int64_t> cpus, memory;
  for (const Job& job : Jobs().jobs) {
    for (const Allocation& allocation : job.allocations) {
      GpuCounts& gpus = held[allocation.node];
      gpus = AddGpus(gpus, allocation.gpus);
      cpus[allocation.node] += allocation.cpus;
      memory[allocation.node] += allocation.memory_mib;
    }
  }
  for (const Node& node : Nodes()) {
    EXPECT_EQ(held[node.name], node.gpus_allocated) << node.name;
    EXPECT_EQ(cpus[node.name], node.cpus_allocated) << node.name;
    EXPECT_EQ(memory[node.name], node.memory_allocated_mib) << node.name;
  }
}

TEST_P(Release, NodesHaveTheirGpusShardsAndMps) {
  const auto nodes = Nodes();
  EXPECT_EQ(nodes.size(), 9u);
  EXPECT_EQ(Find(nodes, &Node::name, "m1").gpus, (GpuCounts{{"a100", 1}, {"l40s", 2}}));
  EXPECT_EQ(Find(nodes, &Node::name, "g1").gpus,
            (GpuCounts{{"h100_1g.11gb", 7}, {"h100_3g.47gb", 2}}));
  EXPECT_EQ(Find(nodes, &Node::name, "u1").gpus_allocated, (GpuCounts{{"", 3}}));
  EXPECT_EQ(Find(nodes, &Node::name, "t1").cpus, 14);
  EXPECT_EQ(Find(nodes, &Node::name, "t1").memory_mib, 62'000);
  const Node& mps = Find(nodes, &Node::name, "p1");
  EXPECT_EQ(mps.mps, 200);
  const Node& shards = Find(nodes, &Node::name, "s1");
  EXPECT_EQ(shards.shards, 8);
  const bool counts_shares = Since("24.11");  // before: GPUs of which some are in use
  EXPECT_EQ(mps.mps_allocated, counts_shares ? 50 : 1);
  if (Since("22.05")) {
    EXPECT_EQ(shards.shards_allocated, counts_shares ? 3 : 1);
  }
  EXPECT_EQ(Find(nodes, &Node::name, "t2").reason, "fan broken = bad");
}

TEST_P(Release, JobsAskForGpusInEveryForm) {
  const auto jobs = JobsByName();
  EXPECT_EQ(jobs.at("gres").request.gpus_per_node, (GpuCounts{{"a100", 1}}));
  EXPECT_EQ(jobs.at("several").request.gpus_per_node, (GpuCounts{{"a100", 1}, {"l40s", 1}}));
  EXPECT_EQ(jobs.at("per_task").request.gpus_total, (GpuCounts{{"", 2}}));
  EXPECT_EQ(jobs.at("total").request.gpus_total, (GpuCounts{{"", 1}}));
  EXPECT_EQ(jobs.at("total").request.memory_per_node_mib, SlurmNumber(2048));
  EXPECT_EQ(jobs.at("mig").request.gpus_per_node, (GpuCounts{{"h100_1g.11gb", 2}}));
  EXPECT_EQ(jobs.at("half").request.mps_per_node, 50);
  EXPECT_TRUE(jobs.at("half").request.gpus_per_node.empty());
  EXPECT_EQ(jobs.at("half").allocations.at(0).mps, 50);
  if (!Since("22.05")) return;
  EXPECT_EQ(jobs.at("thirds").request.shards_per_node, 3);
  EXPECT_EQ(jobs.at("thirds").allocations.at(0).shards, 3);
}

TEST_P(Release, JobsSayLicencesSwitchesAndSegments) {
  const auto jobs = JobsByName();
  EXPECT_EQ(jobs.at("mig").request.licenses, (TresCounts{{"matlab", 1}}));
  EXPECT_EQ(jobs.at("licences").request.licenses, (TresCounts{{"ansys", 3}, {"matlab", 2}}));
  EXPECT_FALSE(jobs.at("licences").request.any_license);
  EXPECT_EQ(jobs.at("switches").request.switches, 1);
  EXPECT_EQ(jobs.at("switches").request.switches_wait_seconds,
            300);  // asked 30 min; the site's most
  EXPECT_EQ(jobs.at("gres").request.switches, 0);
  if (!Since("24.11")) return;
  EXPECT_EQ(jobs.at("segment").request.segment_nodes, Since("26.05") ? 2 : 0);  // 24.11: unsaid
}

TEST_P(Release, WaitingJobsKeepWhatTheyAskFor) {
  const auto jobs = JobsByName();
  EXPECT_EQ(jobs.at("range").request.nodes_min, 3);  // -N1-3 that has to wait for three
  EXPECT_EQ(jobs.at("range").request.nodes_max, 0);
  EXPECT_EQ(jobs.at("array").array_task_count, 5);
  EXPECT_EQ(jobs.at("array").array_throttle, 2);
  EXPECT_EQ(jobs.at("two_partitions").request.partitions,
            (std::vector<std::string>{"short", "gpu_shared"}));
  EXPECT_EQ(jobs.at("in_reservation").request.reservation, "later");
  const Job& later = jobs.at("licences");
  EXPECT_NEAR(*later.request.begin_time - *later.submit_time, 1'000'000, 2);
  EXPECT_EQ(*jobs.at("gres").end_time - *jobs.at("gres").start_time, 3600);
  if (GetParam() != std::string("24.11")) return;
  EXPECT_EQ(jobs.at("two_qos").qos, "normal,high");
}

TEST_P(Release, PartitionsSayFromWhereAndHow) {
  const auto partitions = Partitions();
  EXPECT_EQ(partitions.size(), 8u);
  EXPECT_EQ(Find(partitions, &Partition::name, "elsewhere").alloc_nodes,
            (std::vector<std::string>{"login7"}));
  EXPECT_TRUE(Find(partitions, &Partition::name, "short").alloc_nodes.empty());
  EXPECT_EQ(Find(partitions, &Partition::name, "shared").over_subscribe, "FORCE:2");
  EXPECT_TRUE(Find(partitions, &Partition::name, "short").resume_timeout_seconds.absent());
}

TEST_P(Release, ReservationsSayWhatTheyHold) {
  const auto reservations = ParseReservations(Text("reservation"));
  const Reservation& later = Find(reservations, &Reservation::name, "later");
  EXPECT_EQ(later.node_count, 1);
  EXPECT_EQ(later.licenses, (TresCounts{{"ansys", 1}}));
  EXPECT_EQ(later.tres, (TresCounts{{"cpu", 32}}));
  EXPECT_TRUE(later.allowed_qos.empty() && later.allowed_partitions.empty());
  EXPECT_EQ(Find(reservations, &Reservation::name, "maint").users,
            (std::vector<std::string>{"root", "lab1"}));
  if (GetParam() != std::string("24.11")) return;
  EXPECT_EQ(Find(reservations, &Reservation::name, "part").tres,
            (TresCounts{{"cpu", 32}, {"gres/gpu", 1}, {"gres/gpu:a100", 1}}));
}

TEST_P(Release, TheConfigurationSaysPowerSavingAndWhatIsPrivate) {
  const ClusterConfig result = ParseConfig(Text("config"));
  EXPECT_EQ(result.config.slurm_version.substr(0, 5), GetParam());
  EXPECT_EQ(result.config.select_type, "select/cons_tres");
  EXPECT_EQ(result.config.suspend_time_seconds, SlurmNumber(86'400));
  EXPECT_EQ(result.config.suspend_timeout_seconds, SlurmNumber(45));
  EXPECT_EQ(result.config.resume_timeout_seconds, SlurmNumber(300));
  EXPECT_EQ(result.config.private_data, "usage,users");
  EXPECT_EQ(result.slurm_user, "root");
  EXPECT_TRUE(result.has_licenses);
}

TEST_P(Release, LicencesAreCounted) {
  const auto licenses = ParseLicenses(Text("license"));
  ASSERT_EQ(licenses.size(), 2u);
  EXPECT_EQ(licenses[0].name, "ansys");
  EXPECT_EQ(licenses[0].total, 4);
  EXPECT_EQ(licenses[1], (License{"matlab", 2, 1, 0, false}));
}

TEST_P(Release, EveryTimeIsReadAsTheMomentItIs) {
  for (const Job& job : Jobs().jobs) {
    ASSERT_TRUE(job.submit_time) << job.name;
    EXPECT_GT(*job.submit_time, 1'790'000'000) << job.name;  // unix seconds, whatever the zone
  }
}

TEST(Releases, ARelativeQosIsInAmounts) {
  const std::string mgr = CapturedText("../data/24.11/assoc_mgr.txt");
  const std::string rows = CapturedText("../data/24.11/qos.txt");
  Snapshot snapshot;
  snapshot.nodes = ParseNodes(CapturedText("../data/24.11/node.txt"));
  snapshot.qos = ParseQos({mgr, "", "", rows});
  EXPECT_EQ(Find(snapshot.qos, &Qos::name, "half").limits.group_tres,
            (TresCounts{{"cpu", 25}, {"gres/gpu", 50}}));
  MakeLimitsAbsolute(snapshot);
  // As slurmctld counts them: GrpTRES=cpu=57(0), gres/gpu=14(0) in assoc_mgr's text.
  EXPECT_EQ(Find(snapshot.qos, &Qos::name, "half").limits.group_tres,
            (TresCounts{{"cpu", 57}, {"gres/gpu", 14}}));
  EXPECT_EQ(Find(snapshot.qos, &Qos::name, "high").limits.max_tres_per_user,
            (TresCounts{{"gres/gpu", 4}}));
}

TEST(Releases, ARelativeQosOfAPartitionIsAPartOfIt) {
  Snapshot snapshot;
  snapshot.nodes = ParseNodes(CapturedText("../data/24.11/node.txt"));
  Partition& partition = snapshot.partitions.emplace_back();
  partition.nodes = {"w1"};
  partition.qos = "half";
  Qos& qos = snapshot.qos.emplace_back();
  qos.name = "half";
  qos.flags = {"Relative"};
  qos.limits.group_tres = {{"gres/gpu", 50}, {"cpu", 250}};
  MakeLimitsAbsolute(snapshot);
  EXPECT_EQ(snapshot.qos[0].limits.group_tres, (TresCounts{{"gres/gpu", 2}, {"cpu", 32}}));
}

TEST(Releases, AssocMgrSaysWhoAdministers) {
  const std::string all = CapturedText("../data/24.11/assoc_mgr.txt");
  EXPECT_EQ(AdminLevelOf(all, "root"), "Administrator");
  EXPECT_EQ(AdminLevelOf(all, "lab1"), "");
  EXPECT_EQ(AdminLevelOf(all, "nobody"), "");
  // Under PrivateData=usage,users a user sees himself.
  const std::string own = CapturedText("../data/24.11/assoc_mgr_lab1.txt");
  EXPECT_EQ(AdminLevelOf(own, "root"), "");
  EXPECT_EQ(HiddenFrom(false, AdminLevelOf(own, "lab1"), "usage,users"),
            (std::vector<std::string>{"usage", "users"}));
  EXPECT_TRUE(HiddenFrom(false, AdminLevelOf(all, "root"), "usage,users").empty());
}

}  // namespace
}  // namespace gpuadvise::collect
