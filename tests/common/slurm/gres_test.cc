#include "common/slurm/gres.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

GpuCounts Gpus(std::string_view text) {
  const auto gres = ParseGres(text);
  EXPECT_TRUE(gres.has_value()) << text << ": " << (gres ? "" : gres.error().message);
  return gres ? gres->gpus : GpuCounts{};
}

std::string WhyNot(std::string_view text) {
  const auto gres = ParseGres(text);
  return gres ? "" : gres.error().message;
}

TEST(Gres, UntypedCount) { EXPECT_EQ(Gpus("gpu:4"), (GpuCounts{{"", 4}})); }

TEST(Gres, TypedCountWithSocketBinding) {
  EXPECT_EQ(Gpus("gpu:a100:4(S:0-1)"), (GpuCounts{{"a100", 4}}));
}

TEST(Gres, IndexListWithACommaInsideIsOneItem) {
  EXPECT_EQ(Gpus("gpu:tesla:3(IDX:0,2-3)"), (GpuCounts{{"tesla", 3}}));
  EXPECT_EQ(Gpus("gpu:tesla:3(IDX:0,2-3),gpu:l40s:1(IDX:4)"),
            (GpuCounts{{"l40s", 1}, {"tesla", 3}}));
}

TEST(Gres, NullTypeIsUntyped) { EXPECT_EQ(Gpus("gpu:(null):4(IDX:0-3)"), (GpuCounts{{"", 4}})); }

TEST(Gres, NothingInUseIsNoGpus) { EXPECT_TRUE(Gpus("gpu:tesla:0(IDX:N/A)").empty()); }

TEST(Gres, NullNotAvailableAndEmptyAreNone) {
  EXPECT_EQ(ParseGres("(null)"), Gres{});
  EXPECT_EQ(ParseGres("N/A"), Gres{});
  EXPECT_EQ(ParseGres(""), Gres{});
}

TEST(Gres, JobRequestWithColonPrefix) { EXPECT_EQ(Gpus("gres:gpu:2"), (GpuCounts{{"", 2}})); }

TEST(Gres, JobRequestWithSlashPrefix) {
  EXPECT_EQ(Gpus("gres/gpu:l40s:2"), (GpuCounts{{"l40s", 2}}));
}

TEST(Gres, TresTotalIsNotAddedToItsPart) {
  EXPECT_EQ(Gpus("gres/gpu=4,gres/gpu:a100=4"), (GpuCounts{{"a100", 4}}));
}

TEST(Gres, TresPartsOfSeveralTypesMakeTheTotal) {
  EXPECT_EQ(Gpus("cpu=8,mem=64G,node=1,billing=8,gres/gpu=6,gres/gpu:a100=4,gres/gpu:l40s=2"),
            (GpuCounts{{"a100", 4}, {"l40s", 2}}));
}

TEST(Gres, TresTotalBeyondItsPartsIsUntyped) {
  EXPECT_EQ(Gpus("gres/gpu=6,gres/gpu:a100=4"), (GpuCounts{{"", 2}, {"a100", 4}}));
}

TEST(Gres, TresTotalAloneIsUntyped) { EXPECT_EQ(Gpus("cpu=1,gres/gpu=2"), (GpuCounts{{"", 2}})); }

TEST(Gres, SeveralTypesPerNode) {
  EXPECT_EQ(Gpus("gpu:v100:2(S:0),gpu:a100:4(S:1)"), (GpuCounts{{"a100", 4}, {"v100", 2}}));
}

TEST(Gres, ShardsAreNotGpus) {
  const auto gres = ParseGres("gpu:a100:4,shard:64");
  ASSERT_TRUE(gres.has_value());
  EXPECT_EQ(gres->gpus, (GpuCounts{{"a100", 4}}));
  EXPECT_EQ(gres->shards, 64);
}

TEST(Gres, ShardsOfATypeAreAddedUp) {
  EXPECT_EQ(ParseGres("shard:a100:16(S:0),shard:l40s:8")->shards, 24);
  EXPECT_EQ(ParseGres("gres/shard=8,gres/shard:a100=8")->shards, 8);
}

TEST(Gres, MpsIsNotGpus) {
  const auto gres = ParseGres("mps:400");
  ASSERT_TRUE(gres.has_value());
  EXPECT_TRUE(gres->gpus.empty());
  EXPECT_EQ(gres->mps, 400);
}

TEST(Gres, MigSliceIsAType) {
  EXPECT_EQ(Gpus("gpu:a100_3g.20gb:2"), (GpuCounts{{"a100_3g.20gb", 2}}));
  EXPECT_EQ(Gpus("gpu:h100_1g.11gb:14(S:0-1)"), (GpuCounts{{"h100_1g.11gb", 14}}));
}

TEST(Gres, TypeWithoutACountIsOne) {
  EXPECT_EQ(Gpus("gpu:l40s"), (GpuCounts{{"l40s", 1}}));
  EXPECT_EQ(Gpus("gpu"), (GpuCounts{{"", 1}}));
}

TEST(Gres, OtherResourcesAreLeftOut) {
  EXPECT_EQ(Gpus("craynetwork:4,gpu:a100:2,nic:mlx5:1"), (GpuCounts{{"a100", 2}}));
}

TEST(Gres, NoConsumeIsNoType) { EXPECT_EQ(Gpus("gpu:no_consume:4"), (GpuCounts{{"", 4}})); }

TEST(Gres, CountHasSlurmsMultiplier) { EXPECT_EQ(ParseGres("shard:2K")->shards, 2048); }

TEST(Gres, SameTypeTwiceIsAddedUp) {
  EXPECT_EQ(Gpus("gpu:a100:2(S:0),gpu:a100:2(S:1)"), (GpuCounts{{"a100", 4}}));
}

TEST(Gres, BadCountNamesThePartAndTheForm) {
  EXPECT_EQ(WhyNot("gpu:a100:many"),
            "The GRES \"gpu:a100:many\" cannot be read: \"many\" is not a count; write it like "
            "gpu:4, gpu:a100:4 or gres/gpu:a100=4.");
}

TEST(Gres, ImpossibleCountsAreRefused) {
  for (const char* text : {"gpu:-1", "gpu:a100:-1", "gpu:a100:99999999999999999999",
                           "gpu:a100:", "gpu::2", "gpu:a:b:2", "gres/gpu=", "gpu:a100:4G"}) {
    EXPECT_NE(WhyNot(text), "") << text;
  }
}

TEST(GpusOption, TypeAndCount) {
  EXPECT_EQ(ParseGpusOption("l40s:2"), (GpuCounts{{"l40s", 2}}));
  EXPECT_EQ(ParseGpusOption("4"), (GpuCounts{{"", 4}}));
  EXPECT_EQ(ParseGpusOption("l40s"), (GpuCounts{{"l40s", 1}}));
  EXPECT_EQ(ParseGpusOption("v100:1,a100:2"), (GpuCounts{{"a100", 2}, {"v100", 1}}));
}

TEST(GpusOption, NonsenseIsRefused) {
  for (const char* text : {"", "-2", "l40s:two", "l40s=2", ","}) {
    EXPECT_FALSE(ParseGpusOption(text).has_value()) << text;
  }
}

TEST(ParseGres, NamesAreReadInAnyCaseAndTypesKeepTheirs) {
  EXPECT_EQ(ParseGres("GPU:A100:4,Shard:8")->gpus, (GpuCounts{{"A100", 4}}));
  EXPECT_EQ(ParseGres("GPU:A100:4,Shard:8")->shards, 8);
  EXPECT_EQ(ParseGres("GRES/Gpu:a100=2")->gpus, (GpuCounts{{"a100", 2}}));
}

TEST(GpuCounts, AddAndMultiplyByType) {
  const GpuCounts used = {{"a100", 4}, {"l40s", 1}};
  EXPECT_EQ(AddGpus(used, {{"", 1}}), (GpuCounts{{"", 1}, {"a100", 4}, {"l40s", 1}}));
  EXPECT_EQ(MultiplyGpus(used, 2), (GpuCounts{{"a100", 8}, {"l40s", 2}}));
}

TEST(GpuCounts, TotalAndOneType) {
  const GpuCounts gpus = {{"", 1}, {"a100", 4}};
  EXPECT_EQ(TotalGpus(gpus), 5);
  EXPECT_EQ(GpusOfType(gpus, "a100"), 4);
  EXPECT_EQ(GpusOfType(gpus, "l40s"), 0);
}

TEST(GpuCounts, TextIsWhatGresTakes) {
  EXPECT_EQ(ToGresText({{"", 1}, {"l40s", 6}}), "gpu:1,gpu:l40s:6");
  EXPECT_EQ(ToGresText({}), "");
}

}  // namespace
}  // namespace gpuadvise
