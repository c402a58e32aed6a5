#include "daemon/settings/catalogues.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

std::string Complaint(const Settings& settings) {
  const auto catalogues = LoadCatalogues(settings);
  return catalogues ? "" : catalogues.error().message;
}

TEST(Catalogues, TheBuiltInFilesAreSound) {
  const auto catalogues = LoadCatalogues(Settings());
  ASSERT_TRUE(catalogues) << catalogues.error().message;
  EXPECT_NE((*catalogues)->gpus.catalogue().Resolve("rtx4090"), nullptr);
  EXPECT_NE((*catalogues)->models.Find("gr00t-n1-2b"), nullptr);
}

TEST(Catalogues, ASitesModelsAreAddedToTheBuiltInOnes) {
  const TempFolder folder;
  Settings settings;
  settings.models_file = folder.Write(
      "models.yaml",
      "ours:\n  params: 1e9\n  memory: {base: 1 GB, per_sample: 1 GB, overhead: 1 GB}\n");
  const auto catalogues = LoadCatalogues(settings);
  ASSERT_TRUE(catalogues) << catalogues.error().message;
  EXPECT_NE((*catalogues)->models.Find("ours"), nullptr);
  EXPECT_NE((*catalogues)->models.Find("gr00t-n1-2b"), nullptr);
}

TEST(Catalogues, AnAliasOfNothingIsRefused) {
  Settings settings;
  settings.gpu_aliases = {{"biggpu", "warp-drive"}};
  EXPECT_EQ(Complaint(settings),
            "gpu_aliases maps biggpu to warp-drive, which is not in the catalogue; use a known "
            "name or add it to gpus_file");
}

TEST(Catalogues, AnUntypedRuleOfNothingIsRefused) {
  Settings settings;
  settings.untyped_gpus = {{{"old", "", ""}, "warp-drive"}};
  EXPECT_EQ(Complaint(settings),
            "untyped_gpus names warp-drive, which is not in the catalogue; use a known name or add "
            "it to gpus_file");
}

TEST(Catalogues, AMissingSiteFileIsNamed) {
  Settings settings;
  settings.gpus_file = "/nowhere/gpus.yaml";
  EXPECT_NE(Complaint(settings).find("/nowhere/gpus.yaml"), std::string::npos);
}

TEST(Catalogues, NothingIsWaitedForThatAFifoMayBring) {
  const TempFolder folder;
  Settings settings;
  settings.models_file = folder.Path("models.yaml");
  ASSERT_EQ(mkfifo(settings.models_file.c_str(), 0600), 0);
  alarm(60);  // ends a test that waits all the same
  EXPECT_EQ(Complaint(settings),
            settings.models_file + ": not a regular file (a FIFO, socket or device); name a file");
  alarm(0);
}

TEST(Catalogues, AnErrorInASiteFileNamesItsLine) {
  const TempFolder folder;
  Settings settings;
  settings.models_file = folder.Write("models.yaml", "\nours:\n  params: 1e9\n  memoryy: 3\n");
  EXPECT_EQ(Complaint(settings).rfind(settings.models_file + ":4: ", 0), 0u) << Complaint(settings);
}

}  // namespace
}  // namespace gpuadvise::daemon
