#include "client/commands/user_settings.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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

TEST_F(SettingsTest, TheUsersOwnDaemonIsFoundAfterTheSites) {
  SettingsPlaces places = Places();
  places.system_socket = folder.Path("run.sock");
  places.runtime_dir = folder.Path("runtime");
  EXPECT_EQ(FindSettings(places)->socket, places.system_socket);
  const std::string own = folder.Path("runtime") + "/gpuadvise/gpuadvised.sock";
  folder.Write("runtime/gpuadvise/gpuadvised.sock", "a file, no socket");
  EXPECT_FALSE(FindSettings(places)->own_daemon);
  ASSERT_EQ(::unlink(own.c_str()), 0);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(own.size(), sizeof address.sun_path);
  own.copy(address.sun_path, own.size());
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(FindSettings(places)->socket, own);
  EXPECT_TRUE(FindSettings(places)->own_daemon);
  folder.Write("run.sock", "the site's, dead or alive");
  EXPECT_FALSE(FindSettings(places)->own_daemon);
  EXPECT_EQ(FindSettings(places)->socket, places.system_socket);
  ::close(listener);
}

TEST_F(SettingsTest, ALinkToAnotherSocketIsNotTheUsersOwn) {
  SettingsPlaces places = Places();
  places.system_socket = folder.Path("none.sock");
  places.runtime_dir = folder.Path("runtime");
  folder.Write("runtime/gpuadvise/other", "");
  ASSERT_EQ(::symlink("/run/systemd/notify",
                      (folder.Path("runtime") + "/gpuadvise/gpuadvised.sock").c_str()),
            0);
  EXPECT_FALSE(FindSettings(places)->own_daemon);
  places.runtime_dir = "relative";
  EXPECT_FALSE(FindSettings(places)->own_daemon);
}

TEST_F(SettingsTest, AMisspeltKeyIsRefusedWithItsLine) {
  const std::string path = folder.Write("user/client.yaml", "# mine\nsockt: /x\n");
  EXPECT_EQ(FindSettings(Places()).error().message,
            path +
                ":2: unknown key 'sockt' (did you mean 'socket'?); the keys are socket, ca_file, "
                "token_file, munge_socket, "
                "gpus_file, models_file, prometheus, gpu_use_query, gpu_memory_query, clusters");
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
