#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

json Gpus() { return json::parse(TestData("gpus.json")); }

TEST(GpusCommand, PrintsATableAsWideAsTheTerminal) {
  for (int width : {80, 120}) {
    FakeProcess process;
    process.console.shown.width = width;
    process.api.Answer(Gpus());
    EXPECT_EQ(process.Gpuadvise({"gpus"}), kExitOk);
    ExpectGolden("gpus_" + std::to_string(width) + ".txt", process.console.printed);
  }
}

TEST(GpusCommand, JsonIsTheApisOwn) {
  FakeProcess process;
  process.api.Answer(Gpus());
  EXPECT_EQ(process.Gpuadvise({"gpus", "--json"}), kExitOk);
  EXPECT_EQ(json::parse(process.console.printed), Gpus());
}

TEST(GpusCommand, AClusterWithoutGpusIsSaid) {
  FakeProcess process;
  process.api.Answer({{"gpus", json::array()}});
  EXPECT_EQ(process.Gpuadvise({"gpus"}), kExitOk);
  EXPECT_EQ(process.console.printed, "This cluster has no GPU that you may use.\n");
}

TEST(GpusCommand, NoDaemonIsExit4) {
  EXPECT_EQ(FakeProcess().Gpuadvise({"gpus"}), kExitUnavailable);
}

}  // namespace
}  // namespace gpuadvise::client
