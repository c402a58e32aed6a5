// Built where libslurm is. The structures are filled here as slurmctld's answers fill them.
#include "daemon/collect/slurm_api_jobs.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

extern "C" {
bitstr_t* slurm_bit_alloc(int64_t bits);
void slurm_bit_set(bitstr_t* bits, int64_t bit);
void slurm_bit_free(bitstr_t** bits);
}

namespace gpuadvise::collect {
namespace {

// A job on three nodes: n1 and n2 have one socket of 4 cores, n3 two of 8. It holds 1, 3 and 10
// cores.
class ThreeNodes : public testing::Test {
 protected:
  ThreeNodes() {
    for (const int64_t core : {0, 4, 5, 6}) slurm_bit_set(bits_, core);
    for (int64_t core = 8; core < 18; ++core) slurm_bit_set(bits_, core);
    resources_.core_bitmap = bits_;
    resources_.cpu_array_cnt = 3;
    resources_.cpu_array_value = cpus_.data();
    resources_.cpu_array_reps = ones_.data();
    resources_.cpus = cpus_.data();
    resources_.cores_per_socket = cores_.data();
    resources_.memory_allocated = memory_.data();
    resources_.nhosts = 3;
    resources_.nodes = nodes_.data();
    resources_.ncpus = 28;
    resources_.sock_core_rep_count = groups_.data();
    resources_.sockets_per_node = sockets_.data();
    info_.job_id = 17;
    info_.job_state = JOB_RUNNING;
    info_.num_cpus = 28;
    info_.num_nodes = 3;
    info_.nodes = nodes_.data();
    info_.job_resrcs = reinterpret_cast<decltype(info_.job_resrcs)>(&resources_);
    info_.user_name = user_.data();
    info_.shared = NO_VAL16;
  }
  ~ThreeNodes() override { slurm_bit_free(&bits_); }

  Result<std::vector<Job>> Read() {
    job_info_msg_t message{};
    message.record_count = 1;
    message.job_array = &info_;
    return JobsOf(message, {Of("n1"), Of("n2"), Of("n3")});
  }

  static Node Of(const std::string& name) {
    Node node;
    node.name = name;
    node.threads_per_core = 2;
    return node;
  }

  bitstr_t* bits_ = slurm_bit_alloc(24);
  std::array<uint16_t, 3> cpus_{2, 6, 20};
  std::array<uint32_t, 3> ones_{1, 1, 1};
  std::array<uint16_t, 2> cores_{4, 8};
  std::array<uint16_t, 2> sockets_{1, 2};
  std::array<uint32_t, 2> groups_{2, 1};
  std::array<uint64_t, 3> memory_{1000, 3000, 9000};
  std::string nodes_ = "n[1-3]";
  std::string user_ = "lab1";
  slurm_compat::JobResources resources_{};
  slurm_job_info_t info_{};
};

TEST_F(ThreeNodes, EachNodeHasItsOwnCpusAndMemory) {
  const Result<std::vector<Job>> jobs = Read();
  ASSERT_TRUE(jobs) << jobs.error().message;
  const std::vector<Allocation>& on = jobs->at(0).allocations;
  ASSERT_EQ(on.size(), 3u);
  EXPECT_EQ(on[0], (Allocation{"n1", 2, 1000, {}}));
  EXPECT_EQ(on[1], (Allocation{"n2", 6, 3000, {}}));
  EXPECT_EQ(on[2], (Allocation{"n3", 20, 9000, {}}));
}

TEST_F(ThreeNodes, AJobThatEndsHoldsAllOfThemThoughOneIsCleanedUp) {
  std::string left = "n[2-3]";
  info_.nodes = left.data();
  info_.job_state = JOB_COMPLETE | JOB_COMPLETING;
  const Job job = Read().value().at(0);
  ASSERT_EQ(job.allocations.size(), 3u);
  EXPECT_EQ(job.allocations[1], (Allocation{"n2", 6, 3000, {}}));
}

TEST_F(ThreeNodes, MemoryThatIsNotCountedIsNone) {
  resources_.memory_allocated = nullptr;
  EXPECT_EQ(Read().value().at(0).allocations[2], (Allocation{"n3", 20, 0, {}}));
}

TEST_F(ThreeNodes, AFormThatDoesNotAddUpIsAnErrorThatNamesTheJob) {
  resources_.nhosts = 4;
  ASSERT_FALSE(Read());
  EXPECT_EQ(Read().error().code, ErrorCode::kUnavailable);
  EXPECT_NE(Read().error().message.find("what job 17 holds on each of its nodes"),
            std::string::npos);
}

TEST_F(ThreeNodes, IsWholeHoldsEveryCountAgainstAnother) {
  EXPECT_TRUE(IsWhole(resources_, 28));
  resources_.ncpus = 29;
  EXPECT_FALSE(IsWhole(resources_, 28));
  EXPECT_TRUE(IsWhole(resources_, 29));
  resources_.ncpus = 0;
  EXPECT_FALSE(IsWhole(resources_, 28));
  resources_.ncpus = 3;  // that it asked for; it was given whole cores
  EXPECT_TRUE(IsWhole(resources_, 28));
  groups_ = {1, 1};
  EXPECT_FALSE(IsWhole(resources_, 5));
  groups_ = {0, 3};
  EXPECT_FALSE(IsWhole(resources_, 5));
  groups_ = {2, 1};
  sockets_ = {1, 3};  // more cores than bits
  EXPECT_FALSE(IsWhole(resources_, 5));
}

TEST_F(ThreeNodes, AJobInTheFormOfAnotherReleaseIsNotWhole) {
  // One pointer more or less before the counts, as between 20.11 and 21.08, 22.05 and 24.11.
  for (const int shift : {-8, 8}) {
    slurm_compat::JobResources other{};
    constexpr size_t kSame = offsetof(slurm_compat::JobResources, cores_per_socket) + 8;
    std::array<char, sizeof(other) + 16> bytes{};
    std::memcpy(bytes.data() + 8, &resources_, sizeof(resources_));
    std::memcpy(&other, bytes.data() + 8 + shift, sizeof(other));
    std::memcpy(&other, &resources_, kSame);
    EXPECT_FALSE(IsWhole(other, 28)) << shift;
  }
}

TEST_F(ThreeNodes, AJobOnOneNodeCanDoWithout) {
  resources_.nhosts = 4;
  std::string one = "n3";
  std::string tres = "cpu=20,mem=9000M,node=1,billing=20,gres/gpu=2";
  info_.nodes = one.data();
  info_.tres_alloc_str = tres.data();
  EXPECT_EQ(Read().value().at(0).allocations, (std::vector<Allocation>{{"n3", 20, 9000, {}}}));
}

TEST_F(ThreeNodes, SwitchesLicencesAndWhoMayShare) {
  std::string licenses = "matlab:2";
  info_.licenses = licenses.data();
  info_.req_switch = 1;
  info_.wait4switch = 300;
  JobRequest request = Read().value().at(0).request;
  EXPECT_EQ(request.licenses, (TresCounts{{"matlab", 2}}));
  EXPECT_EQ(request.switches, 1);
  EXPECT_EQ(request.switches_wait_seconds, 300);
  EXPECT_FALSE(request.exclusive || request.over_subscribe);
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(26, 5, 0)
  info_.shared = JOB_SHARED_USER;
  EXPECT_EQ(Read().value().at(0).request.exclusive_to, "user");
  EXPECT_FALSE(Read().value().at(0).request.exclusive);
  info_.shared = JOB_SHARED_NONE;
#else
  info_.exclusive = JOB_EXCLUSIVE_NODE;
#endif
  EXPECT_TRUE(Read().value().at(0).request.exclusive);
}

}  // namespace
}  // namespace gpuadvise::collect
