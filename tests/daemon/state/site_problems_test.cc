#include "daemon/state/site_problems.h"

#include <gtest/gtest.h>

#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using Problems = std::vector<std::string>;

Problems ProblemsOf(const std::string& snapshot, const std::string& account = "",
                    const std::string& qos = "") {
  Settings settings;
  settings.public_account = account;
  settings.public_qos = qos;
  return FindSiteProblems(SnapshotOf(snapshot), **LoadCatalogues(settings));
}

TEST(SiteProblems, AKnownClusterHasNone) {
  EXPECT_EQ(ProblemsOf("node n1 a100:4\nqos web\nassoc lab user ann", "lab", "web"), Problems());
}

TEST(SiteProblems, UnknownGpusAreNamedOnceWithTheirNodes) {
  EXPECT_EQ(ProblemsOf("node n[1-3] bigcard:4\npartition p ALL\npartition q ALL"),
            Problems{"GRES gpu:bigcard of n[1-3] is of a GPU that the catalogue does not know, so "
                     "no training is advised there; name the card with gpu_aliases: {bigcard: "
                     "NAME} in gpuadvised.yaml, and describe a new one in gpus_file"});
}

TEST(SiteProblems, APublicPlaceMustExist) {
  const Problems problems = ProblemsOf("node n1 a100:4\nqos web\nassoc lab user ann", "lba", "wbe");
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].find("Slurm shows gpuadvised no account 'lba' (public_account in"), 0u);
  EXPECT_EQ(
      problems[1],
      "public_qos in gpuadvised.yaml: Slurm shows no QOS 'wbe' (did you mean 'web'?); QOS: web");
}

}  // namespace
}  // namespace gpuadvise::daemon
