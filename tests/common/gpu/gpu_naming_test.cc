#include "common/gpu/gpu_naming.h"

#include <gtest/gtest.h>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

std::string Named(const SiteGpus& names, std::string_view type, const Node& node = {},
                  const std::vector<std::string>& partitions = {}) {
  const GpuNaming naming(ShippedGpus().catalogue(), names);
  const GpuModel* model = naming.ModelOf(node, partitions, type);
  return model == nullptr ? "none" : model->id;
}

TEST(GpuNaming, CatalogueKnowsTheUsualTypes) {
  EXPECT_EQ(Named({}, "gpul40s"), "l40s");
  EXPECT_EQ(Named({}, "whatever"), "none");
}

TEST(GpuNaming, SitesAliasWinsOverTheCatalogue) {
  SiteGpus names;
  names.aliases = {{"a100", "a100-80gb-sxm"}, {"big", "h200"}};
  EXPECT_EQ(Named(names, "a100"), "a100-80gb-sxm");
  EXPECT_EQ(Named(names, "big"), "h200-141gb-sxm");
  EXPECT_EQ(Named(names, "l40s"), "l40s");
}

TEST(GpuNaming, UntypedGpusAreWhatTheFirstMatchingRuleSays) {
  SiteGpus names;
  names.untyped = {
      {{"", "", "gpu[01-02]"}, "l40s"}, {{"", "ampere", ""}, "a100"}, {{"old", "", ""}, "v100"}};
  Node node;
  node.name = "gpu02";
  EXPECT_EQ(Named(names, "", node), "l40s");
  node.name = "gpu03";
  EXPECT_EQ(Named(names, "", node), "none");
  EXPECT_EQ(Named(names, "", node, {"old"}), "v100-16gb-sxm2");
  node.features = {"ampere"};
  EXPECT_EQ(Named(names, "", node, {"old"}), "a100-40gb-sxm");
}

TEST(GpuNaming, RulesAreForUntypedGpusOnly) {
  SiteGpus names;
  names.untyped = {{{"all", "", ""}, "l40s"}};
  EXPECT_EQ(Named(names, "rtx4090", {}, {"all"}), "rtx4090");
}

TEST(GpuNaming, UnreadableHostListMatchesNothing) {
  SiteGpus names;
  names.untyped = {{{"", "", "gpu[1-"}, "l40s"}};
  EXPECT_EQ(Named(names, ""), "none");
}

TEST(DescribeResolution, ANameThatSeveralCardsHaveSaysWhichWasTaken) {
  const GpuCatalogue& catalogue = ShippedGpus().catalogue();
  EXPECT_EQ(
      DescribeResolution(catalogue, "a100"),
      "a100 is read as A100 40GB SXM; a100-40gb-pcie, a100-80gb-sxm and a100-80gb-pcie are others");
  EXPECT_EQ(DescribeResolution(catalogue, "A100-40GB"),
            "A100-40GB is read as A100 40GB SXM; a100-40gb-pcie is another");
  EXPECT_EQ(DescribeResolution(catalogue, "2080"),
            "2080 is read as RTX 2080 Ti; rtx2080 is another");
  EXPECT_NE(DescribeResolution(catalogue, "h100").find("h100-94gb-nvl"), std::string::npos);
  for (const char* one : {"l40s", "rtx4090", "NVIDIA A100-SXM4-80GB", "a100-80gb-pcie",
                          "h100-1g.11gb", "no such card", ""}) {
    EXPECT_EQ(DescribeResolution(catalogue, one), "") << one;
  }
}

TEST(DescribeResolution, EveryOtherOneIsAnsweredByItsOwnName) {
  const GpuCatalogue& catalogue = ShippedGpus().catalogue();
  for (const GpuModel& model : catalogue.models()) {
    EXPECT_TRUE(catalogue.FindAmbiguous(model.id).empty()) << model.id;
  }
}

TEST(GpuNaming, TheSitesAliasIsWhatTheCatalogueIsAskedFor) {
  SiteGpus names;
  names.aliases = {{"a100", "a100-80gb-sxm"}};
  const GpuNaming naming(ShippedGpus().catalogue(), names);
  EXPECT_EQ(DescribeResolution(naming.catalogue(), naming.ResolveAlias("a100")), "");
  EXPECT_NE(DescribeResolution(naming.catalogue(), naming.ResolveAlias("v100")), "");
}

}  // namespace
}  // namespace gpuadvise
