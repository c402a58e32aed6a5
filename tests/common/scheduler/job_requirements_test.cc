#include "common/scheduler/job_requirements.h"

#include <gtest/gtest.h>

#include "common/scheduler/node_groups.h"
#include "common/slurm/tres.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

struct World {
  Snapshot snapshot;
  NodePool pool;
  std::vector<int32_t> members;

  explicit World(const std::string& text) : snapshot(SnapshotOf(text)), pool(snapshot) {
    for (const std::string& name : snapshot.partitions[0].nodes) {
      members.push_back(pool.FindNode(name));
    }
  }
  Result<JobRequirements> Shape(const std::string& request) const {
    return ResolveRequirements(pool, snapshot, snapshot.partitions[0], members, RequestOf(request));
  }
  std::string Why(const std::string& request) const {
    const auto requirements = Shape(request);
    return requirements ? "fits" : requirements.error().message;
  }
};

TEST(JobRequirements, OnlyNodesThatCouldEverServeAreKept) {
  const World world("node n1 a100:4\nnode n2 a100:8\nnode n3 l40s:8\nnode n4 a100:8 state DOWN");
  EXPECT_EQ(*world.Shape("a100:8")->nodes, std::vector<int32_t>{1});
  EXPECT_EQ(world.Shape("gpu:5")->nodes->size(), 2u);
}

TEST(JobRequirements, MemoryIsTheRequestsThePartitionsTheClustersOrAll) {
  const auto memory = [](const std::string& site, const std::string& request) {
    const auto requirements = World("node n1 a100:4\n" + site).Shape(request);
    if (requirements->whole_memory) return std::string("all");
    return std::to_string(requirements->memory_per_node_mib) + "+" +
           std::to_string(requirements->memory_per_cpu_mib) + "c";
  };
  EXPECT_EQ(memory("", "mem 2G"), "2048+0c");
  EXPECT_EQ(memory("", "mem-per-cpu 3G"), "0+3072c");
  EXPECT_EQ(memory("", "mem 0"), "all");
  EXPECT_EQ(memory("", "mem default"), "all");
  EXPECT_EQ(memory("config def-mem-per-cpu 500", "mem default"), "0+500c");
  EXPECT_EQ(memory("config def-mem-per-cpu 500\npartition p n1 mem-per-node 1G", "mem default"),
            "1024+0c");
  EXPECT_EQ(memory("config select CR_CORE", "mem 2G"), "0+0c");
}

TEST(JobRequirements, NodesGrowToWhatTheTasksNeed) {
  const World world("node n[1-4] a100:4 cpus 8");
  EXPECT_EQ(world.Shape("tasks 8")->nodes_max, 1);
  EXPECT_EQ(world.Shape("tasks 20")->nodes_max, 3);
  EXPECT_EQ(world.Shape("total a100:16")->nodes_max, 4);
  EXPECT_EQ(world.Why("nodes 1-1 tasks 20"),
            "partition main has no node with 20 CPUs; its nodes that fit otherwise have up to 8");
  EXPECT_EQ(world.Why("nodes 1-1 total a100:8"),
            "partition main cannot give 8 CPUs and 8 × a100 to 1 node; its GPUs are 4 × a100 on 4 "
            "nodes");
}

TEST(JobRequirements, EachNeedHasItsSentence) {
  const World world("node n[1-2] a100:4 cpus 8 mem 10000 features old\nnode n3 cpus 16 mem 90000");
  EXPECT_EQ(world.Why("cpus 17 nodes 1-1"),
            "partition main has no node with 17 CPUs; its nodes that fit otherwise have up to 16");
  EXPECT_EQ(
      world.Why("a100:1 mem 20000"),
      "partition main has no node with 20000 MiB of memory; its nodes that fit otherwise have "
      "up to 10000 MiB");
  EXPECT_EQ(world.Why("a100:1 features new"),
            "partition main has no node with -C 'new'; its features are old");
  EXPECT_EQ(world.Why("a100:1 nodes 2 not n1"),
            "partition main has only 1 node with 1 × a100 (n2), not 2 nodes; its GPUs are "
            "4 × a100 on 1 node");
  EXPECT_EQ(world.Why("a100:1 on n3"),
            "node n3 cannot run this job in partition main; leave it out of the required nodes");
  EXPECT_EQ(world.Why("a100:1 on n4"), "there is no node 'n4' (did you mean 'n1'?)");
  EXPECT_EQ(world.Why("a100:1 features a&"),
            "constraint 'a&' cannot be read at ''; write features joined by & and |");
}

TEST(JobRequirements, ReservationsMustExistAndLast) {
  const World world("node n1 a100:4\nreserve class n1 from 1h to 2h");
  EXPECT_EQ(world.Shape("a100:1 reservation class")->earliest, 3600);
  EXPECT_EQ(world.Why("a100:1 reservation clas"),
            "there is no reservation 'clas' (did you mean 'class'?); there are class");
  EXPECT_EQ(world.Why("a100:1 reservation class begin 3h"),
            "reservation 'class' is over before the job may start; leave it out");
}

TEST(CanServe, CountsWholeCoresMemoryPerCpuAndGpus) {
  const World world("node n1 a100:4 cpus 8 threads 2 mem 8000");
  const PoolNode& node = world.pool.nodes()[0];
  const JobRequirements requirements =
      *world.Shape("a100:2 tasks 1 cpus-per-task 3 mem-per-cpu 1000");
  EXPECT_TRUE(CanServe(world.pool, node, requirements, node.capacity, 1));
  const Resources held =
      NodeGroups(world.pool, {{0}}).SpreadOverGroups(world.pool, requirements).demands[0].each;
  EXPECT_EQ(held.cpus, 4);
  EXPECT_EQ(held.memory_mib, 4000);
  EXPECT_EQ(held.any_gpus, 2);
  EXPECT_EQ(TasksThatFit(world.pool, node, requirements, node.capacity, 9), 2);
}

TEST(RequestTres, CountsWhatLimitsAndPrioritiesCount) {
  const World world("node n1 a100:4\nconfig def-mem-per-cpu 500");
  const TresCounts tres = RequestTres(RequestOf("a100:4 nodes 2 cpus 16 mem default"),
                                      world.snapshot.partitions[0], world.snapshot.config);
  EXPECT_EQ(
      tres,
      (TresCounts{{"cpu", 16}, {"gres/gpu", 8}, {"gres/gpu:a100", 8}, {"mem", 8000}, {"node", 2}}));
  EXPECT_EQ(CanonicalTres("GRES/gpu:A100"), "gres/gpu:A100");
}

}  // namespace
}  // namespace gpuadvise
