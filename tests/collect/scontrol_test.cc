#include "daemon/collect/scontrol.h"

#include <gtest/gtest.h>

#include "tests/collect/captured_text.h"

namespace gpuadvise::collect {
namespace {

// ---- nodes ---------------------------------------------------------------------------------

TEST(ScontrolNodes, CountWhatJobsCanBeGiven) {
  const auto nodes = ParseNodes(CapturedText("odd_nodes.txt"));
  EXPECT_EQ(nodes.size(), 5u);
  const Node& node = Find(nodes, &Node::name, "t1");
  EXPECT_EQ(node.cpus, 14);  // 16 less one specialised core of two threads
  EXPECT_EQ(node.threads_per_core, 2);
  EXPECT_EQ(node.memory_mib, 62000);
  EXPECT_EQ(node.features, (std::vector<std::string>{"nvlink", "ib"}));
  EXPECT_EQ(node.weight, 5);
}

TEST(ScontrolNodes, SeveralGpuTypesOfANodeAreCountedApart) {
  const auto nodes = ParseNodes(CapturedText("odd_nodes.txt"));
  const Node& mixed = Find(nodes, &Node::name, "m1");
  EXPECT_EQ(mixed.gpus, (GpuCounts{{"a100", 1}, {"l40s", 2}}));
  EXPECT_EQ(mixed.gpus_allocated, (GpuCounts{{"a100", 1}, {"l40s", 1}}));
  EXPECT_EQ(Find(nodes, &Node::name, "u1").gpus, (GpuCounts{{"", 4}}));
  EXPECT_TRUE(Find(nodes, &Node::name, "c1").gpus.empty());
}

TEST(ScontrolNodes, SpecialisedCoresAreSubtractedWhereSlurmDoesNot) {
  const auto nodes =
      ParseNodes("NodeName=n1 CPUTot=16 CoreSpecCount=2 ThreadsPerCore=2 RealMemory=9\n");
  EXPECT_EQ(nodes.at(0).cpus, 12);
}

TEST(ScontrolNodes, WhereSlurmCountsGpusThatAreSharedTheyAreNotFree) {
  const auto in_use = [](const std::string& used) {
    const Node node =
        ParseNodes("NodeName=n1\n   Gres=gpu:l40s:2,shard:l40s:8\n   GresUsed=" + used + "\n")
            .at(0);
    return node.shards_allocated;
  };
  EXPECT_EQ(in_use("gpu:l40s:0(IDX:N/A),mps:0,shard:l40s:2(IDX:0-1)"), 5);  // 22.05: of two GPUs
  EXPECT_EQ(in_use("gpu:l40s:0(IDX:N/A),mps:0,shard:l40s:1(IDX:0)"), 1);
  EXPECT_EQ(in_use("gpu:l40s:0(IDX:N/A),shard:l40s:5(4/4,1/4)"), 5);  // 24.11: the shards
  EXPECT_EQ(in_use("gpu:l40s:0(IDX:N/A),mps:0,shard:l40s:0(IDX:N/A)"), 0);
}

TEST(ScontrolNodes, TheReasonIsApartFromWhoSetItAndWhen) {
  const auto node_of = [](const std::string& reason) {
    return ParseNodes("NodeName=n1\n   Reason=" + reason + "\n").at(0);
  };
  const auto reason_of = [&](const std::string& reason) { return node_of(reason).reason; };
  const Node node = node_of("fan broken = bad [root@1795218015]");
  EXPECT_EQ(node.reason, "fan broken = bad");
  EXPECT_EQ(node.reason_user, "root");
  EXPECT_EQ(node.reason_time, 1795218015);
  EXPECT_EQ(node_of("x [root@Unknown]").reason_time, std::nullopt);
  EXPECT_EQ(node_of("see [ticket 7]").reason_user, "");
  EXPECT_EQ(reason_of("see [ticket 7]"), "see [ticket 7]");
  EXPECT_EQ(reason_of("none"), "none");
}

TEST(ScontrolNodes, NothingBehindAReasonOrCommentIsAField) {
  const auto nodes = ParseNodes(
      "NodeName=n1 CPUTot=8 RealMemory=100\n   Comment=x\n   MemSpecLimit=90\n   CoreSpecCount=4\n"
      "   Reason=fan\n   GresUsed=gpu:8\nNodeName=n9\n\n");
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].cpus, 8);
  EXPECT_EQ(nodes[0].memory_mib, 100);
  EXPECT_TRUE(nodes[0].gpus_allocated.empty());
  EXPECT_EQ(nodes[0].reason, "fan");
}

// ---- partitions, reservations, configuration -----------------------------------------------

TEST(ScontrolPartitions, KeepAbsentUnlimitedAndNumbersApart) {
  const auto partitions = ParsePartitions(CapturedText("odd_partitions.txt"));
  EXPECT_EQ(partitions.size(), 5u);
  const Partition& brief = Find(partitions, &Partition::name, "short");
  EXPECT_EQ(brief.max_time_seconds, SlurmNumber(3600));
  EXPECT_EQ(brief.default_time_seconds, SlurmNumber(600));
  EXPECT_EQ(brief.max_nodes, SlurmNumber(2));
  EXPECT_EQ(brief.max_cpus_per_node, SlurmNumber(12));
  EXPECT_EQ(brief.default_memory_per_node_mib, SlurmNumber(1000));
  EXPECT_EQ(brief.priority_tier, 3);
  EXPECT_EQ(brief.priority_job_factor, 7);
  const Partition& all = Find(partitions, &Partition::name, "gpu_shared");
  EXPECT_TRUE(all.is_default);
  EXPECT_TRUE(all.max_nodes.infinite());
  EXPECT_TRUE(all.default_time_seconds.absent());
  EXPECT_TRUE(all.default_memory_per_node_mib.absent());
}

TEST(ScontrolPartitions, SayWhoMayUseThem) {
  const auto partitions = ParsePartitions(CapturedText("odd_partitions.txt"));
  const Partition& secret = Find(partitions, &Partition::name, "secret");
  EXPECT_TRUE(secret.hidden && secret.root_only && secret.exclusive);
  EXPECT_EQ(Find(partitions, &Partition::name, "shared").allow_groups,
            (std::vector<std::string>{"root", "lab1"}));
  EXPECT_EQ(Find(partitions, &Partition::name, "shared").over_subscribe, "FORCE:2");
  EXPECT_EQ(Find(partitions, &Partition::name, "closed").state, PartitionState::kDown);
}

TEST(ScontrolReservations, HaveNodesUsersAndFlags) {
  const auto reservations = ParseReservations(CapturedText("reservations.txt"));
  ASSERT_EQ(reservations.size(), 1u);
  EXPECT_EQ(reservations[0].nodes, (std::vector<std::string>{"n1", "n3"}));
  EXPECT_EQ(reservations[0].users, (std::vector<std::string>{"root", "lab1"}));
  EXPECT_EQ(reservations[0].flags, (std::vector<std::string>{"MAINT", "SPEC_NODES"}));
  EXPECT_EQ(*reservations[0].end_time - *reservations[0].start_time, 3600);
  EXPECT_TRUE(reservations[0].partition.empty());
}

TEST(ScontrolPartitions, MayBeOpenToSomeHostsOnly) {
  const auto partitions = ParsePartitions("PartitionName=p\n   AllocNodes=login[1-2],gw\n\n");
  EXPECT_EQ(partitions.at(0).alloc_nodes, (std::vector<std::string>{"login1", "login2", "gw"}));
}

TEST(ScontrolPartitions, MayHavePowerSavingAndTopologyOfTheirOwn) {
  const auto partitions = ParsePartitions(
      "PartitionName=p\n   MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=8\n   Topology=ring\n"
      "   ResumeTimeout=600 SuspendTimeout=GLOBAL SuspendTime=INFINITE PowerDownOnIdle=NO\n\n");
  EXPECT_EQ(partitions.at(0).topology, "ring");
  EXPECT_EQ(partitions.at(0).max_cpus_per_socket, SlurmNumber(8));
  EXPECT_EQ(partitions.at(0).resume_timeout_seconds, SlurmNumber(600));
  EXPECT_TRUE(partitions.at(0).suspend_time_seconds.infinite());
}

TEST(ScontrolReservations, MayBeForSomeGroupsPartitionsAndQos) {
  const auto reservations = ParseReservations(
      "ReservationName=r StartTime=1 EndTime=2\n   Nodes=(null) NodeCnt=4 CoreCnt=0\n"
      "   AllowedPartitions=a,b QOS=high\n   Users=(null) Groups=lab,phys\n\n");
  EXPECT_EQ(reservations.at(0).groups, (std::vector<std::string>{"lab", "phys"}));
  EXPECT_EQ(reservations.at(0).allowed_partitions, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(reservations.at(0).allowed_qos, (std::vector<std::string>{"high"}));
  EXPECT_EQ(reservations.at(0).node_count, 4);
}

TEST(ScontrolReservations, MayBeNone) {
  EXPECT_TRUE(ParseReservations(CapturedText("no_reservations.txt")).empty());
}

TEST(ScontrolConfig, HasThePrioritysWeights) {
  const ClusterConfig result = ParseConfig(CapturedText("accounting_config.txt"));
  EXPECT_TRUE(result.has_accounting);
  EXPECT_EQ(result.cluster, "lab");
  const SchedulerConfig& config = result.config;
  EXPECT_EQ(config.slurm_version, "22.05.8");
  EXPECT_EQ(config.priority_type, "priority/multifactor");
  EXPECT_EQ(config.weights.fair_share, 100000);
  EXPECT_EQ(config.weights.tres, (std::map<std::string, double>{{"cpu", 500}, {"gres/gpu", 2000}}));
  EXPECT_EQ(config.priority_max_age_seconds, 86400);
  EXPECT_EQ(config.priority_decay_half_life_seconds, 7 * 86400);
  EXPECT_EQ(config.priority_calc_period_seconds, 60);
  EXPECT_EQ(config.enforce, "associations,limits,qos");
  EXPECT_EQ(config.private_data, "");
}

TEST(ScontrolConfig, WithoutAccountingHasNoWeights) {
  const ClusterConfig result = ParseConfig(CapturedText("odd_config.txt"));
  EXPECT_FALSE(result.has_accounting);
  EXPECT_EQ(result.config.priority_type, "priority/basic");
  EXPECT_EQ(result.config.weights, PriorityWeights());
  EXPECT_EQ(result.config.default_memory_per_cpu_mib, SlurmNumber(2000));
  EXPECT_TRUE(result.config.default_memory_per_node_mib.absent());
  EXPECT_EQ(result.config.over_time_limit_seconds, SlurmNumber(0));
  EXPECT_EQ(result.config.min_job_age_seconds, 60);
}

TEST(ScontrolConfig, WithoutASuspendProgramSavesNoPower) {
  const std::string timeouts = "SuspendTime = 300 sec\nResumeTimeout = 60 sec\n";
  EXPECT_TRUE(ParseConfig(timeouts).config.resume_timeout_seconds.absent());
  const std::string program = "SuspendProgram = /usr/sbin/off\n";
  EXPECT_EQ(ParseConfig(program + timeouts).config.resume_timeout_seconds, SlurmNumber(60));
}

TEST(ScontrolText, CutAtEveryByteIsReadWithoutHarm) {
  const std::string nodes = CapturedText("odd_nodes.txt").substr(0, 2000);
  for (size_t n = 0; n < nodes.size(); ++n) ParseNodes(std::string_view(nodes).substr(0, n));
}

}  // namespace
}  // namespace gpuadvise::collect
