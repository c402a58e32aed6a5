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
  EXPECT_EQ(FindSettings(places)->daemon.InWords(), "/run/gpuadvise/gpuadvised.sock");
  folder.Write("site/client.yaml", "socket: /site.sock\n");
  EXPECT_EQ(FindSettings(places)->daemon.InWords(), "/site.sock");
  folder.Write("user/client.yaml", "# nothing yet\n");
  EXPECT_EQ(FindSettings(places)->daemon.InWords(), "/site.sock");
  folder.Write("user/client.yaml", "socket: /user.sock\n");
  EXPECT_EQ(FindSettings(places)->daemon.InWords(), "/user.sock");
  places.socket_variable = "/variable.sock";
  EXPECT_EQ(FindSettings(places)->daemon.InWords(), "/variable.sock");
  places.socket_flag = "/flag.sock";
  EXPECT_EQ(FindSettings(places)->daemon.InWords(), "/flag.sock");
}

TEST_F(SettingsTest, OtherHostsAreAskedAfterThisOnesSocket) {
  SettingsPlaces places = Places();
  places.system_socket = folder.Path("run.sock");
  folder.Write("site/client.yaml", "daemon: https://a:6829,https://b:6829\nca: ca.crt\n");
  const auto asked = [&] { return FindSettings(places).value().daemon; };
  EXPECT_EQ(asked().InWords(), "https://a:6829, https://b:6829");
  EXPECT_EQ(asked().ca, folder.Path("site") + "/ca.crt");
  folder.Write("run.sock", "");
  EXPECT_EQ(asked().InWords(), places.system_socket + ", https://a:6829, https://b:6829");
  folder.Write("user/client.yaml", "socket: /user.sock\n");
  EXPECT_EQ(asked().InWords(), "/user.sock, https://a:6829, https://b:6829");
  places.socket_variable = "/variable.sock";
  EXPECT_EQ(asked().InWords(), "/variable.sock");
  places.daemon_flag = "https://c:1,https://d:1";
  EXPECT_EQ(asked().InWords(), "https://c:1, https://d:1");
  EXPECT_EQ(asked().ca, folder.Path("site") + "/ca.crt");
}

TEST_F(SettingsTest, FlagsThatNameNoDaemonAreRefused) {
  SettingsPlaces places = Places();
  const auto why = [&] { return FindSettings(places).error().message; };
  places.socket_variable = "https://h:1";
  EXPECT_EQ(why(),
            "GPUADVISE_SOCKET is a path; name another host with --daemon, or as daemon: in "
            "client.yaml");
  places.daemon_flag = "h:1";
  EXPECT_EQ(why().find("--daemon: 'h:1' is no daemon"), 0u);
  places.socket_flag = "/s";
  EXPECT_EQ(why(), "--socket and --daemon cannot be combined");
}

TEST_F(SettingsTest, TheUsersOwnDaemonIsFoundAfterTheSites) {
  SettingsPlaces places = Places();
  places.system_socket = folder.Path("run.sock");
  places.runtime_dir = folder.Path("runtime");
  EXPECT_EQ(FindSettings(places)->daemon.InWords(), places.system_socket);
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
  EXPECT_EQ(FindSettings(places)->daemon.InWords(), own);
  EXPECT_TRUE(FindSettings(places)->own_daemon);
  folder.Write("run.sock", "the site's, dead or alive");
  EXPECT_FALSE(FindSettings(places)->own_daemon);
  EXPECT_EQ(FindSettings(places)->daemon.InWords(), places.system_socket);
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
  EXPECT_EQ(
      FindSettings(Places()).error().message,
      path +
          ":2: unknown key 'sockt' (did you mean 'socket'?); the keys are socket, daemon, ca, "
          "token_file, munge_socket, "
          "gpus_file, models_file, prometheus, gpu_use_query, gpu_memory_query, clusters");
  folder.Write("user/client.yaml", "ca_file: /x\n");
  EXPECT_EQ(FindSettings(Places()).error().message, path + ":1: ca_file is now called ca");
  folder.Write("user/client.yaml", "socket: https://h:1\n");
  EXPECT_EQ(FindSettings(Places()).error().message,
            path + ":1: socket is a path; another host goes under daemon:");
  folder.Write("user/client.yaml", "daemon: http://h:1\n");
  EXPECT_NE(FindSettings(Places()).error().message.find(":1: 'http://h:1' is no daemon"),
            std::string::npos);
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
