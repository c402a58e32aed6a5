#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "common/base/text.h"
#include "common/training/train_keys.h"
#include "tests/client/fake_console.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using testing::HasSubstr;

std::string Printed(const ListCommand& command) {
  FakeConsole console;
  console.shown.width = 80;
  EXPECT_EQ(RunReference(command, console), kExitOk);
  return console.printed;
}

// GPUADVISE_UPDATE_GOLDEN=1 writes the page.
TEST(Reference, ThePageOfTheDocumentsIsTheTableOfKeys) {
  const std::string path = GPUADVISE_DOCS "/train-yaml.md";
  const std::string page = Printed({.markdown = true});
  if (std::getenv("GPUADVISE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << page;
  std::ostringstream file;
  file << std::ifstream(path).rdbuf();
  EXPECT_EQ(page, file.str()) << "in " << path << ": gpuadvise reference --markdown writes it";
}

TEST(Reference, NamesEveryKeyWithItsMeaning) {
  const std::string lines = Printed({.markdown = true});
  const std::string page = ReplaceAll(ReplaceAll(lines, "\n  ", " "), "\n", " ");
  for (const TrainKey& key : TrainKeys()) {
    EXPECT_THAT(page, HasSubstr("**`" + std::string(key.name()) + "`**"));
    EXPECT_NE(page.find(key.meaning), std::string::npos) << key.path;
  }
}

TEST(Reference, ShowsTheKeysWithAWord) {
  ExpectGolden("reference_seq.txt", Printed({.word = "seq"}));
  EXPECT_THAT(Printed({.word = "--ZERO"}), HasSubstr("training.deepspeed"));
}

TEST(Reference, AnUnknownWordNamesTheNearestKey) {
  FakeConsole console;
  EXPECT_NE(RunReference({.word = "max_stps"}, console), kExitOk);
  EXPECT_THAT(console.complained, HasSubstr("did you mean 'max_steps'?"));
}

}  // namespace
}  // namespace gpuadvise::client
