#include "client/commands/user_settings.h"

#include <gtest/gtest.h>

#include "client/terminal/console.h"
#include "embedded/default_sbatch_template.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

class SettingsTest : public testing::Test {
 protected:
  SettingsPlaces Places() const { return {"", "", {folder.Path("user"), folder.Path("site")}}; }
  TemporaryFolder folder;
};

TEST_F(SettingsTest, TheSocketIsLookedForFromTheFlagDown) {
  SettingsPlaces places = Places();
  EXPECT_EQ(FindSettings(places)->socket, "/run/gpuadvise/gpuadvised.sock");
  folder.Write("site/client.yaml", "socket: /site.sock\n");
  EXPECT_EQ(FindSettings(places)->socket, "/site.sock");
  folder.Write("user/client.yaml", "# nothing yet\n");
  EXPECT_EQ(FindSettings(places)->socket, "/site.sock");
  folder.Write("user/client.yaml", "socket: /user.sock\n");
  EXPECT_EQ(FindSettings(places)->socket, "/user.sock");
  places.socket_variable = "/variable.sock";
  EXPECT_EQ(FindSettings(places)->socket, "/variable.sock");
  places.socket_flag = "/flag.sock";
  EXPECT_EQ(FindSettings(places)->socket, "/flag.sock");
}

TEST_F(SettingsTest, AMisspeltKeyIsRefusedWithItsLine) {
  const std::string path = folder.Write("user/client.yaml", "# mine\nsockt: /x\n");
  EXPECT_EQ(FindSettings(Places()).error().message,
            path +
                ":2: unknown key 'sockt' (did you mean 'socket'?); the keys are socket, "
                "gpus_file, models_file, prometheus, gpu_use_query, gpu_memory_query");
  folder.Write("user/client.yaml", "socket: 5\n");
  EXPECT_EQ(FindSettings(Places()).error().message, path + ":1: socket must be a path");
}

TEST_F(SettingsTest, OwnCataloguesLieBesideTheFileThatNamesThem) {
  folder.Write("site/client.yaml", "gpus_file: site.yaml\nmodels_file: /etc/models.yaml\n");
  folder.Write("user/client.yaml", "gpus_file: my/gpus.yaml\n");
  const Result<ClientSettings> settings = FindSettings(Places());
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->own.gpus_file, folder.Path("user") + "/my/gpus.yaml");
  EXPECT_EQ(settings->own.models_file, "/etc/models.yaml");
}

TEST_F(SettingsTest, TheTemplateIsLookedForFromTheUserDown) {
  EXPECT_EQ(*FindJobTemplate(Places()), DefaultSbatchTemplate());
  folder.Write("site/job.sbatch", "site");
  EXPECT_EQ(*FindJobTemplate(Places()), "site");
  folder.Write("user/job.sbatch", "user");
  EXPECT_EQ(*FindJobTemplate(Places()), "user");
}

TEST_F(SettingsTest, FilesThatExistAreListed) {
  EXPECT_TRUE(SettingsFiles(Places()).empty());
  const std::string path = folder.Write("site/client.yaml", "");
  EXPECT_EQ(SettingsFiles(Places()), std::vector<std::string>{path});
}

TEST(Width, OfTheTerminalIsKeptSane) {
  EXPECT_EQ(TerminalWidth(nullptr, 0), 80);
  EXPECT_EQ(TerminalWidth(nullptr, 132), 132);
  EXPECT_EQ(TerminalWidth("100", 132), 100);
  EXPECT_EQ(TerminalWidth("x", 132), 132);
  EXPECT_EQ(TerminalWidth("5", 132), 132);
  EXPECT_EQ(TerminalWidth("99999", 0), 80);
  EXPECT_EQ(TerminalWidth(nullptr, 10), 40);
}

}  // namespace
}  // namespace gpuadvise::client
