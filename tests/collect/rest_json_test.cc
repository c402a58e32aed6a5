// What slurmrestd 24.11.5 and 26.05.5 answered, cut to the fields that are read
// (tests/collect/data/rest).
#include "daemon/collect/rest_json.h"

#include <gtest/gtest.h>

#include "daemon/collect/rest_policy.h"
#include "tests/collect/captured_text.h"

namespace gpuadvise::collect {
namespace {

using Names = std::vector<std::string>;

RestJson Captured(const std::string& name) {
  const Result<RestJson> read = ReadRestJson(CapturedText("../data/rest/" + name + ".json"));
  EXPECT_TRUE(read) << read.error().message;
  return read.value_or(RestJson::object());
}

std::vector<Job> JobsOf(const std::string& version, LeftOut* left_out = nullptr) {
  LeftOut ignored;
  RestJobsContext context;
  context.now = 1'795'394'000;
  context.nodes = RestNodes(Captured("nodes_24.11_v42"));
  return RestJobs(Captured("jobs_" + version), context, left_out != nullptr ? *left_out : ignored);
}

const Job& JobOf(const std::vector<Job>& jobs, int64_t id) { return Find(jobs, &Job::id, id); }

// ---- values ------------------------------------------------------------------------------------

TEST(RestJson, ANumberIsAbsentInfiniteOrItself) {
  const RestJson object = RestJson::parse(
      R"({"a": {"set": true, "infinite": false, "number": 7}, "b": {"set": false, "infinite": true,
          "number": 0}, "c": {"set": false, "infinite": false, "number": 0}, "d": 9, "e": "x",
          "f": {"g": {"set": true, "number": 1.5}}})");
  EXPECT_EQ(RestNumber(object, "a"), SlurmNumber(7));
  EXPECT_EQ(RestNumber(object, "b"), SlurmNumber::Infinite());
  EXPECT_EQ(RestNumber(object, "c"), SlurmNumber::Absent());
  EXPECT_EQ(RestNumber(object, "d"), SlurmNumber(9));
  EXPECT_EQ(RestNumber(object, "e"), SlurmNumber::Absent());
  EXPECT_EQ(RestNumber(object, "none/at/all"), SlurmNumber::Absent());
  EXPECT_DOUBLE_EQ(RestReal(object, "f/g"), 1.5);
}

TEST(RestJson, WhatIsNoObjectIsASentence) {
  for (const char* text : {"", "[]", "Authentication failure", R"({"jobs": [)", "{} {}"}) {
    EXPECT_FALSE(ReadRestJson(text)) << text;
  }
  EXPECT_TRUE(ReadRestJson("{}"));
}

TEST(RestJson, AnAnswerCutAtAnyByteIsRefused) {
  const std::string text = CapturedText("../data/rest/reservations_24.11_v42.json");
  const size_t whole = text.rfind('}') + 1;
  for (size_t bytes = 0; bytes < whole; ++bytes) {
    ASSERT_FALSE(ReadRestJson(std::string_view(text).substr(0, bytes))) << bytes;
  }
}

// ---- nodes -------------------------------------------------------------------------------------

TEST(RestNodes, CountWhatJobsCanBeGiven) {
  for (const char* version : {"nodes_24.11_v42", "nodes_26.05_v45"}) {
    const auto nodes = RestNodes(Captured(version));
    ASSERT_EQ(nodes.size(), 5u) << version;
    const Node& node = Find(nodes, &Node::name, "t1");
    EXPECT_EQ(node.cpus, 14);  // 16 less one specialised core of two threads
    EXPECT_EQ(node.threads_per_core, 2);
    EXPECT_EQ(node.memory_mib, 62000);
    EXPECT_EQ(node.features, (Names{"nvlink", "ib"}));
    EXPECT_EQ(node.weight, 5);
    EXPECT_EQ(node.gpus_allocated, (GpuCounts{{"a100", 2}}));
    EXPECT_EQ(Find(nodes, &Node::name, "m1").gpus, (GpuCounts{{"a100", 1}, {"l40s", 2}}));
    EXPECT_EQ(Find(nodes, &Node::name, "u1").gpus_allocated, (GpuCounts{{"", 3}}));
    EXPECT_EQ(Find(nodes, &Node::name, "u1").shards_allocated, 2);
    const Node& drained = Find(nodes, &Node::name, "c1");
    EXPECT_TRUE(drained.state.base == NodeBase::kIdle && drained.state.Has(NodeFlag::kDrain));
    EXPECT_EQ(drained.reason, "fan broken = bad");
    EXPECT_EQ(drained.reason_user, "root");
    EXPECT_EQ(drained.reason_time, 1795218015);
    EXPECT_EQ(Find(nodes, &Node::name, "m1").reason_time, std::nullopt);
  }
}

// ---- jobs --------------------------------------------------------------------------------------

TEST(RestJobs, ARunningJobSaysWhatItHoldsOnEachNode) {
  for (const char* version : {"24.11_v42", "24.11_v41", "24.11_v40"}) {
    const auto jobs = JobsOf(version);
    const Job& job = JobOf(jobs, 10);
    EXPECT_EQ(job.state, JobState::kRunning) << version;
    ASSERT_EQ(job.allocations.size(), 2u) << version;
    for (const Allocation& allocation : job.allocations) {
      EXPECT_EQ(allocation.cpus, 2) << version;
      EXPECT_EQ(allocation.memory_mib, 4000) << version;
      EXPECT_EQ(allocation.gpus, (GpuCounts{{"a100", 1}})) << version;
    }
    EXPECT_EQ(job.allocations[1].node, "t2") << version;
    EXPECT_EQ(job.end_time, *job.start_time + 3600) << version;
  }
}

TEST(RestJobs, ShardsAndMemoryPerCpuAreThere) {
  const auto jobs = JobsOf("24.11_v42");
  const Job& job = JobOf(jobs, 6);
  EXPECT_EQ(job.name, "my job = 7");
  EXPECT_EQ(job.request.shards_per_node, 2);
  EXPECT_EQ(job.request.memory_per_cpu_mib, SlurmNumber(2000));
  EXPECT_TRUE(job.request.memory_per_node_mib.absent());
  EXPECT_EQ(job.allocations.at(0).shards, 2);
}

// A request for whole nodes is `shared: [none]` up to v0.0.44; ordinary jobs have an empty list.
TEST(RestJobs, OnlyAJobThatWantsWholeNodesIsExclusive) {
  for (const char* version : {"24.11_v42", "26.05_v44"}) {
    for (const Job& job : JobsOf(version)) {
      EXPECT_EQ(job.request.exclusive, job.id == 4) << version << " job " << job.id;
    }
  }
  EXPECT_TRUE(JobOf(JobsOf("24.11_v42"), 2).request.over_subscribe);
}

TEST(RestJobs, WaitingJobsSayWhyAndForWhat) {
  const auto jobs = JobsOf("24.11_v42");
  const Job& array = JobOf(jobs, 8);
  EXPECT_EQ(array.array_task_count, 300);
  EXPECT_EQ(array.array_throttle, 7);
  EXPECT_EQ(array.request.partitions, (Names{"short", "all"}));
  EXPECT_EQ(array.request.nodes_max, 3);
  EXPECT_EQ(array.priority, 0);
  EXPECT_EQ(array.reason, "JobHeldUser");
  const Job& later = JobOf(jobs, 9);
  EXPECT_EQ(later.request.begin_time, later.eligible_time);
  EXPECT_FALSE(later.requeue);
  EXPECT_EQ(later.request.features, "ib&nvlink");
  EXPECT_EQ(later.request.excluded_nodes, (Names{"m1"}));
  EXPECT_EQ(JobOf(jobs, 2).nice, 20);
  EXPECT_EQ(JobOf(jobs, 2).reason.substr(0, 28), "Nodes_required_for_job_are_D");
  EXPECT_TRUE(JobOf(jobs, 14).request.time_limit_seconds.infinite());
  EXPECT_EQ(JobOf(jobs, 15).het_job_id, 15);
  EXPECT_EQ(JobOf(jobs, 10).request.switches, 1);
}

TEST(RestJobs, ThoseThatHaveEndedAreGone) {
  for (const Job& job : JobsOf("24.11_v42")) EXPECT_NE(job.id, 11);
}

TEST(RestJobs, AnArrayThatIsCutShortIsSaid) {
  const RestJson answer = RestJson::parse(
      R"({"jobs": [{"job_id": 5, "job_state": ["PENDING"], "array_task_string": "1,3,..."}]})");
  LeftOut left_out;
  EXPECT_EQ(RestJobs(answer, {}, left_out).size(), 1u);
  EXPECT_NE(left_out.first.find("SLURM_BITSTR_LEN=0"), std::string::npos) << left_out.first;
}

TEST(RestJobs, StrangeValuesCostThemselvesAlone) {
  const RestJson answer = RestJson::parse(
      R"({"jobs": [7, null, {"job_id": "x", "job_state": ["RUNNING"]}, {"job_id": 5},
          {"job_id": 6, "job_state": "RUNNING", "job_resources": {"nodes": {"allocation": [3]}},
           "time_limit": {"set": true, "number": 1e300}, "gres_detail": 4}]})");
  LeftOut left_out;
  const auto jobs = RestJobs(answer, {}, left_out);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].id, 6);
  EXPECT_GT(jobs[0].request.time_limit_seconds.value_or(0), int64_t{1} << 40);  // within bounds
}

// gres_detail has no entry for a node of which the job holds no GRES.
TEST(RestJobs, WhatIsHeldOfUnequalNodesIsHeldOfThoseThatHaveIt) {
  const RestJson answer = RestJson::parse(
      R"json({"jobs": [{"job_id": 5, "job_state": ["RUNNING"], "job_resources": {"nodes": {"allocation": [
            {"name": "c1"}, {"name": "t1"}, {"name": "u1"}]}},
          "gres_detail": ["gpu:a100:2(IDX:0-1)", "gpu:4(IDX:0-3)"]}]})json");
  RestJobsContext context;
  for (const auto& [name, gpus] :
       {std::pair<const char*, GpuCounts>{"c1", {}}, {"t1", {{"a100", 2}}}, {"u1", {{"", 4}}}}) {
    Node& node = context.nodes.emplace_back();
    node.name = name;
    node.gpus = gpus;
  }
  LeftOut left_out;
  const std::vector<Job> jobs = RestJobs(answer, context, left_out);
  ASSERT_EQ(jobs.size(), 1u);
  ASSERT_EQ(jobs[0].allocations.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(jobs[0].allocations[i].gpus, context.nodes[i].gpus) << context.nodes[i].name;
  }
}

TEST(RestJobs, ThoseThatNamedNoPartitionShowTheDefault) {
  EXPECT_EQ(DefaultPartitionOf(Captured("jobs_24.11_v42")), "all");
  EXPECT_EQ(DefaultPartitionOf(RestJson::object()), "");
}

// ---- partitions, reservations, licences --------------------------------------------------------

TEST(RestPartitions, LimitsAndAccessAreRead) {
  for (const char* version : {"partitions_24.11_v42", "partitions_26.05_v45"}) {
    const auto partitions = RestPartitions(Captured(version));
    const Partition& part = Find(partitions, &Partition::name, "short");
    EXPECT_EQ(part.nodes, (Names{"c1", "t1", "t2"})) << version;
    EXPECT_EQ(part.max_time_seconds, SlurmNumber(3600)) << version;
    EXPECT_EQ(part.default_time_seconds, SlurmNumber(600)) << version;
    EXPECT_EQ(part.max_nodes, SlurmNumber(2)) << version;
    EXPECT_EQ(part.max_cpus_per_node, SlurmNumber(12)) << version;
    EXPECT_EQ(part.default_memory_per_node_mib, SlurmNumber(1000)) << version;
    EXPECT_TRUE(part.default_memory_per_cpu_mib.absent()) << version;
    EXPECT_EQ(part.max_memory_per_node_mib, SlurmNumber(32000)) << version;
    EXPECT_EQ(part.priority_tier, 3) << version;
    EXPECT_EQ(part.priority_job_factor, 7) << version;
    EXPECT_EQ(part.qos, "normal") << version;
    const Partition& all = Find(partitions, &Partition::name, "all");
    EXPECT_TRUE(all.max_memory_per_node_mib.infinite()) << version;
    EXPECT_TRUE(all.default_time_seconds.absent()) << version;
    const Partition& secret = Find(partitions, &Partition::name, "secret");
    EXPECT_EQ(secret.allow_accounts, (Names{"a0", "a1"})) << version;
    EXPECT_EQ(secret.deny_qos, (Names{"high"})) << version;
    EXPECT_EQ(Find(partitions, &Partition::name, "shared").allow_groups, (Names{"root", "lab1"}));
    EXPECT_EQ(Find(partitions, &Partition::name, "closed").state, PartitionState::kDown);
    EXPECT_EQ(Find(partitions, &Partition::name, "mine").alloc_nodes.at(0), "localhost");
  }
}

// v0.0.45 still sends the older numbers, all zero: read as such every partition would be EXCLUSIVE.
TEST(RestPartitions, WholeNodesAreGivenOnlyWhereThePartitionSaysSo) {
  const auto of_24 = RestPartitions(Captured("partitions_24.11_v42"));
  const auto of_26 = RestPartitions(Captured("partitions_26.05_v45"));
  for (const auto* partitions : {&of_24, &of_26}) {
    ASSERT_EQ(partitions->size(), 6u);
    for (const Partition& part : *partitions) EXPECT_EQ(part.exclusive, part.name == "secret");
    EXPECT_EQ(Find(*partitions, &Partition::name, "shared").over_subscribe, "FORCE:2");
    EXPECT_EQ(Find(*partitions, &Partition::name, "mine").over_subscribe, "YES:3");
    EXPECT_EQ(Find(*partitions, &Partition::name, "all").over_subscribe, "NO");
  }
  EXPECT_EQ(Find(of_24, &Partition::name, "secret").over_subscribe, "EXCLUSIVE");
  EXPECT_EQ(Find(of_26, &Partition::name, "mine").exclusive_to, "user");
}

TEST(RestPartitions, FlagsAreToldFromV45On) {
  const auto partitions = RestPartitions(Captured("partitions_26.05_v45"));
  for (const Partition& part : partitions) {
    EXPECT_EQ(part.is_default, part.name == "all");
    EXPECT_EQ(part.hidden, part.name == "secret");
    EXPECT_EQ(part.root_only, part.name == "secret");
  }
}

TEST(RestReservations, SayWhatTheyHoldAndForWhom) {
  const auto reservations = RestReservations(Captured("reservations_24.11_v42"));
  const Reservation& maint = Find(reservations, &Reservation::name, "maint");
  EXPECT_EQ(maint.nodes, (Names{"m1", "t1"}));
  EXPECT_EQ(maint.users, (Names{"root", "lab1"}));
  EXPECT_EQ(maint.flags, (Names{"MAINT", "SPEC_NODES"}));
  EXPECT_EQ(*maint.end_time - *maint.start_time, 3600);
  EXPECT_EQ(Find(reservations, &Reservation::name, "lic").licenses, (TresCounts{{"matlab", 2}}));
  EXPECT_EQ(Find(reservations, &Reservation::name, "two").tres.at("gres/gpu:a100"), 1);
}

TEST(RestLicenses, AreCounted) {
  const auto licenses = RestLicenses(Captured("licenses_24.11_v42"));
  ASSERT_EQ(licenses.size(), 2u);
  EXPECT_EQ(licenses[1], (License{"matlab", 10, 3, 0, false}));
  EXPECT_EQ(licenses[0].name, "ansys");
}

// ---- accounting --------------------------------------------------------------------------------

TEST(RestAssociations, TakeIdsAndUsageFromSharesAndLimitsFromSlurmdbd) {
  const auto associations =
      RestAssociations(Captured("shares_24.11_v42"), Captured("associations_24.11_v42"), "lab");
  ASSERT_EQ(associations.size(), 9u);
  const Association& account = Find(associations, &Association::id, 3);
  EXPECT_EQ(account.account + "/" + account.parent_account, "a0/root");
  EXPECT_EQ(account.limits.group_tres, (TresCounts{{"gres/gpu", 8}, {"mem", 102400}}));
  EXPECT_EQ(account.limits.group_jobs, SlurmNumber(7));
  EXPECT_EQ(account.limits.group_submit_jobs, SlurmNumber(70));
  EXPECT_EQ(account.limits.max_wall_seconds, SlurmNumber(4 * 86400));
  EXPECT_EQ(account.shares, 50);
  const Association& user = Find(associations, &Association::id, 4);
  EXPECT_EQ(user.account + "/" + user.user, "a0/lab1");
  EXPECT_EQ(user.limits.max_jobs, SlurmNumber(30));
  EXPECT_EQ(user.priority, 7);
  EXPECT_EQ(user.default_qos, "high");
  EXPECT_EQ(user.qos, (Names{"high", "normal"}));
  EXPECT_TRUE(user.is_default);
  EXPECT_GT(user.fair_share, 0);
  EXPECT_DOUBLE_EQ(user.shares_normalised, 0.5);
}

TEST(RestAssociations, OthersClustersAreNotOurs) {
  EXPECT_TRUE(RestAssociations(Captured("shares_24.11_v42"), Captured("associations_24.11_v42"),
                               "elsewhere")
                  .empty());
}

TEST(RestQos, LimitsFlagsAndPreemptionAreRead) {
  const auto all = RestQos(Captured("qos_24.11_v42"));
  const Qos& high = Find(all, &Qos::name, "high");
  EXPECT_EQ(high.priority, 1000);
  EXPECT_DOUBLE_EQ(high.usage_factor, 2);
  EXPECT_EQ(high.flags, (Names{"DenyOnLimit", "NoReserve"}));
  EXPECT_EQ(high.preempt, (Names{"normal", "scavenger"}));
  EXPECT_EQ(high.preempt_mode, "cancel");
  EXPECT_EQ(high.limits.group_tres, (TresCounts{{"gres/gpu", 9}}));
  EXPECT_EQ(high.limits.group_jobs, SlurmNumber(3));
  EXPECT_EQ(high.limits.group_submit_jobs, SlurmNumber(4));
  EXPECT_EQ(high.limits.max_jobs, SlurmNumber(5));
  EXPECT_EQ(high.limits.max_submit_jobs, SlurmNumber(6));
  EXPECT_EQ(high.limits.max_tres_per_user, (TresCounts{{"gres/gpu", 4}}));
  EXPECT_EQ(high.limits.max_tres_per_account, (TresCounts{{"cpu", 100}}));
  EXPECT_EQ(high.limits.max_tres_per_job, (TresCounts{{"gres/gpu", 6}, {"mem", 204800}}));
  EXPECT_EQ(high.limits.min_tres_per_job, (TresCounts{{"gres/gpu", 1}}));
  EXPECT_EQ(high.limits.max_wall_seconds, SlurmNumber(2 * 86400));
  EXPECT_EQ(Find(all, &Qos::name, "normal").preempt_mode, "");
}

TEST(CountUses, RunningJobsCountForTheirUserHisAccountsAndTheirQos) {
  Snapshot snapshot;
  snapshot.associations =
      RestAssociations(Captured("shares_24.11_v42"), Captured("associations_24.11_v42"), "lab");
  snapshot.qos = RestQos(Captured("qos_24.11_v42"));
  CountUses({{4, "high", "all", {{"cpu", 2}, {"gres/gpu", 1}, {"node", 1}}, {"t1"}},
             {5, "normal", "all", {{"cpu", 3}, {"node", 2}}, {"t1", "t2"}},
             {99, "normal", "all", {{"cpu", 5}}, {}}},
            snapshot);
  const auto used = [&](int64_t id) {
    return Find(snapshot.associations, &Association::id, id).limits;
  };
  EXPECT_EQ(used(4).group_tres_used, (TresCounts{{"cpu", 2}, {"gres/gpu", 1}, {"node", 1}}));
  // Node t1 has jobs of both and counts once.
  EXPECT_EQ(used(3).group_tres_used, (TresCounts{{"cpu", 5}, {"gres/gpu", 1}, {"node", 2}}));
  EXPECT_EQ(used(3).group_jobs_used, 2);
  EXPECT_EQ(used(1).group_jobs_used, 2);
  EXPECT_EQ(Find(snapshot.qos, &Qos::name, "normal").limits.group_tres_used,
            (TresCounts{{"cpu", 8}, {"node", 2}}));
  CountUses({}, snapshot);
  EXPECT_EQ(used(1).group_jobs_used, 0);
}

TEST(RestConf, TheConfigurationIsThatOfSlurmConf) {
  const ClusterConfig config = ConfigOf(RestConfKeys(Captured("conf_26.05_v45")));
  EXPECT_EQ(config.cluster, "lab");
  EXPECT_TRUE(config.has_accounting);
  EXPECT_EQ(config.config.scheduler_type, "sched/backfill");
  EXPECT_EQ(config.config.scheduler_parameters,
            "bf_interval=2,bf_continue,sched_interval=2,batch_sched_delay=0");
  EXPECT_EQ(config.config.weights.fair_share, 100000);
  EXPECT_EQ(config.config.weights.tres.at("gres/gpu"), 2000);
  EXPECT_EQ(config.config.priority_max_age_seconds, 86400);
  EXPECT_EQ(config.config.preempt_mode, "OFF");
  EXPECT_EQ(config.config.default_memory_per_cpu_mib, SlurmNumber(2000));
  EXPECT_EQ(config.config.enforce, "associations,limits,qos");
  EXPECT_EQ(config.config.kill_wait_seconds, 2);
  EXPECT_EQ(config.config.private_data, "");
  EXPECT_EQ(config.config.priority_flags, "");
}

}  // namespace
}  // namespace gpuadvise::collect
