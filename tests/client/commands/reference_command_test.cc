#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "client/api/exit_code.h"
#include "common/base/text.h"
#include "common/keys/train_keys.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using testing::HasSubstr;

std::string Printed(const std::string& word) {
  FakeProcess process;
  process.console.shown.width = 80;
  EXPECT_EQ(process.Gpuadvise({"reference", "--", word}), kExitOk);
  return process.console.printed;
}

std::string Page() {
  FakeProcess process;
  EXPECT_EQ(process.Gpuadvise({"reference", "--markdown"}), kExitOk);
  return process.console.printed;
}

// GPUADVISE_UPDATE_GOLDEN=1 writes the page.
TEST(Reference, ThePageOfTheDocumentsIsTheTableOfKeys) {
  const std::string path = GPUADVISE_DOCS "/train-yaml.md";
  const std::string page = Page();
  if (std::getenv("GPUADVISE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << page;
  std::ostringstream file;
  file << std::ifstream(path).rdbuf();
  EXPECT_EQ(page, file.str()) << "in " << path << ": gpuadvise reference --markdown writes it";
}

TEST(Reference, NamesEveryKeyWithItsMeaning) {
  const std::string lines = Page();
  const std::string page = ReplaceAll(ReplaceAll(lines, "\n  ", " "), "\n", " ");
  for (const TrainKey& key : TrainKeys()) {
    EXPECT_THAT(page, HasSubstr("**`" + std::string(key.name()) + "`**"));
    EXPECT_NE(page.find(key.meaning), std::string::npos) << key.path;
  }
}

TEST(Reference, ShowsTheKeysWithAWord) {
  ExpectGolden("reference_seq.txt", Printed("seq"));
  EXPECT_THAT(Printed("--ZERO"), HasSubstr("training.deepspeed"));
}

TEST(Reference, AnUnknownWordNamesTheNearestKey) {
  FakeProcess process;
  EXPECT_NE(process.Gpuadvise({"reference", "max_stps"}), kExitOk);
  EXPECT_THAT(process.console.complained, HasSubstr("did you mean 'max_steps'?"));
}

}  // namespace
}  // namespace gpuadvise::client
