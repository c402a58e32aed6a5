#include "client/sbatch/job_words.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

api::Strategy Strategy(size_t index) {
  return FromJson<api::Advice>(json::parse(TestData("advice.json"))).strategies[index];
}

std::string FilledFor(size_t index, std::string_view text) {
  return FillPlaceholders(text, StrategyWords({{"name", "my run"}}, Strategy(index)));
}

TEST(StrategyWords, AreTheStrategysFigures) {
  EXPECT_EQ(FilledFor(0,
                      "{micro_batch} {accumulation} {effective_batch_size} {gpus_per_node} {nodes} "
                      "{gpus} {steps} {samples} {cpus_per_task} {precision} {gpu} {partition} "
                      "{name}"),
            "10 3 120 4 1 4 10000 1200000 32 bf16 rtx4090 gpu_shared my_run");
}

TEST(StrategyWords, OnOneNodeTheRendezvousIsConstant) {
  EXPECT_EQ(FilledFor(0, "{node_rank} {master_addr} {master_port}"), "0 localhost 29500");
}

TEST(StrategyWords, OnSeveralNodesTheRendezvousIsTheJobs) {
  EXPECT_EQ(FilledFor(4, "{nodes} {gpus} {node_rank} {master_addr} {master_port}"),
            "2 8 $SLURM_NODEID $MASTER_ADDR $MASTER_PORT");
}

TEST(StrategyWords, TheOutputFolderIsOneWordOfTheShell) {
  EXPECT_EQ(FilledFor(0, "--out {output_dir}/x"), "--out \"$GPUADVISE_OUTPUT_DIR\"/x");
}

TEST(StrategyEnvironment, HasTheSameFigures) {
  const auto environment = StrategyEnvironment(Strategy(4), "a-17");
  const std::map<std::string, std::string> by_name(environment.begin(), environment.end());
  EXPECT_EQ(by_name.at("GPUADVISE_ADVICE"), "a-17");
  EXPECT_EQ(by_name.at("GPUADVISE_MICRO_BATCH"), "3");
  EXPECT_EQ(by_name.at("GPUADVISE_ACCUMULATION"), "5");
  EXPECT_EQ(by_name.at("GPUADVISE_GPUS_PER_NODE"), "4");
  EXPECT_EQ(by_name.at("GPUADVISE_NODES"), "2");
  EXPECT_EQ(by_name.at("GPUADVISE_EFFECTIVE_BATCH_SIZE"), "120");
  EXPECT_EQ(by_name.at("GPUADVISE_PRECISION"), "fp16");
  EXPECT_EQ(by_name.at("GPUADVISE_GPU"), "rtx2080ti");
}

}  // namespace
}  // namespace gpuadvise::client
