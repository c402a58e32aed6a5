#include "client/preflight/hub_login.h"

#include <gtest/gtest.h>

#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

TEST(HubLogin, IsLookedForWhereTheHubsLibraryLooks) {
  const TemporaryFolder folder;
  const Variables home = {{"HOME", folder.Path("")}};
  EXPECT_EQ(LookForHubLogin(home).token_from, "");
  const std::string token = folder.Write(".cache/huggingface/token", "hf_secret\n");
  EXPECT_EQ(LookForHubLogin({{"HOME", token.substr(0, token.find("/.cache"))}}).token_from, token);
  const std::string other = folder.Write("hub/token", "hf_other");
  EXPECT_EQ(LookForHubLogin({{"HF_HOME", folder.Path("hub")}}).token_from, other);
  EXPECT_EQ(LookForHubLogin({{"HF_TOKEN_PATH", other}}).token_from, other);
  EXPECT_EQ(LookForHubLogin({{"HF_TOKEN", "hf_x"}, {"HF_TOKEN_PATH", other}}).token_from,
            "HF_TOKEN");
  EXPECT_EQ(LookForHubLogin({{"HUGGING_FACE_HUB_TOKEN", "x"}}).token_from,
            "HUGGING_FACE_HUB_TOKEN");
}

TEST(HubLogin, AnEmptyFileIsNone) {
  const TemporaryFolder folder;
  folder.Write("token", " \n");
  EXPECT_EQ(LookForHubLogin({{"HF_HOME", folder.Path(".")}}).token_from, "");
}

TEST(HubLogin, OfflineIsWhatTheLibraryTakesForTrue) {
  EXPECT_TRUE(LookForHubLogin({{"HF_HUB_OFFLINE", "1"}}).offline);
  EXPECT_TRUE(LookForHubLogin({{"HF_HUB_OFFLINE", "true"}}).offline);
  EXPECT_FALSE(LookForHubLogin({{"HF_HUB_OFFLINE", "0"}}).offline);
}

TEST(HubCache, HoldsAModelOnceAVersionIsThere) {
  const TemporaryFolder folder;
  const std::string cache = LookForHubLogin({{"HF_HOME", folder.Path("h")}}).cache;
  EXPECT_EQ(cache, folder.Path("h/hub"));
  EXPECT_FALSE(IsInHubCache(cache, "Qwen/Qwen3-8B"));
  folder.Write("h/hub/models--Qwen--Qwen3-8B/snapshots/abc/config.json", "{}");
  EXPECT_TRUE(IsInHubCache(cache, "Qwen/Qwen3-8B"));
}

}  // namespace
}  // namespace gpuadvise::client
