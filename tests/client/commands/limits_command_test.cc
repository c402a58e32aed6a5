#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "tests/client/fake_api.h"
#include "tests/client/fake_console.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

class LimitsTest : public testing::Test {
 protected:
  int Run(const LimitsCommand& command) {
    api.Answer(json::parse(TestData("limits.json")));
    return RunLimits(command, api, console);
  }
  FakeApi api;
  FakeConsole console;
};

TEST_F(LimitsTest, SaysWhatShorterLimitsWouldHaveSaved) {
  EXPECT_EQ(Run({}), kExitOk);
  ExpectGolden("limits.txt", console.printed);
  EXPECT_EQ(api.asked.at(0).first, "/v1/limits");
}

TEST_F(LimitsTest, AsksAboutAUserAndATime) {
  EXPECT_EQ(Run({"me", "", false}), kExitOk);
  EXPECT_EQ(Run({"b&b", "7d", true}), kExitOk);
  EXPECT_EQ(api.asked.at(0).first, "/v1/limits");
  EXPECT_EQ(api.asked.at(1).first,
            "/v1/limits?user=b%26b&since=" + std::to_string(console.now() - 7 * 86'400));
}

TEST_F(LimitsTest, JsonIsTheApisOwn) {
  EXPECT_EQ(Run({"", "", true}), kExitOk);
  EXPECT_EQ(json::parse(console.printed), json::parse(TestData("limits.json")));
}

TEST_F(LimitsTest, ATimeThatIsNoneIsSaid) {
  EXPECT_EQ(RunLimits({"", "soonish", false}, api, console), kExitUsage);
  EXPECT_TRUE(api.asked.empty());
}

}  // namespace
}  // namespace gpuadvise::client
