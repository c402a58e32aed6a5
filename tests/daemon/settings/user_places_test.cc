#include "daemon/settings/user_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

using ::testing::HasSubstr;

std::map<std::string, std::string>& Variables() {
  static std::map<std::string, std::string> variables;
  return variables;
}

const char* Environment(const char* name) {
  const auto found = Variables().find(name);
  return found == Variables().end() ? nullptr : found->second.c_str();
}

std::string Refusal(const std::map<std::string, std::string>& variables, uid_t user) {
  Variables() = variables;
  const Result<UserPlaces> places = FindUserPlaces(Environment, user);
  return places ? "" : places.error().message;
}

std::string PrivateIn(const TempFolder& folder) {
  const std::string path = folder.Path("run");
  std::filesystem::create_directory(path);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(UserPlaces, FollowTheStandard) {
  const TempFolder folder;
  const std::string path = PrivateIn(folder);
  Variables() = {{"XDG_RUNTIME_DIR", path}, {"HOME", "/home/ann"}};
  const Result<UserPlaces> places = FindUserPlaces(Environment, ::geteuid());
  ASSERT_TRUE(places) << places.error().message;
  EXPECT_EQ(places->socket(), path + "/gpuadvise/gpuadvised.sock");
  EXPECT_EQ(places->config_file, "/home/ann/.config/gpuadvise/gpuadvised.yaml");
  EXPECT_EQ(places->state_dir, "/home/ann/.local/state/gpuadvise");
  struct stat info {};
  ASSERT_EQ(::stat(places->runtime_dir.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0700u);
  Variables()["XDG_STATE_HOME"] = "/scratch/ann";
  Variables()["XDG_CONFIG_HOME"] = "not/absolute";
  EXPECT_EQ(FindUserPlaces(Environment, ::geteuid())->state_dir, "/scratch/ann/gpuadvise");
  EXPECT_EQ(FindUserPlaces(Environment, ::geteuid())->config_file, places->config_file);
}

TEST(UserPlaces, RefuseAFolderThatIsNotTheUsersAlone) {
  const TempFolder folder;
  const std::string path = PrivateIn(folder);
  const uid_t own = ::geteuid();
  EXPECT_THAT(Refusal({{"HOME", "/h"}}, own), HasSubstr("XDG_RUNTIME_DIR is not set; log in"));
  EXPECT_THAT(Refusal({{"HOME", "/h"}, {"XDG_RUNTIME_DIR", "run"}}, own), HasSubstr("no absolute"));
  EXPECT_THAT(Refusal({{"XDG_RUNTIME_DIR", path}}, own), HasSubstr("set HOME or XDG_CONFIG_HOME"));
  EXPECT_THAT(Refusal({{"HOME", "/h"}, {"XDG_RUNTIME_DIR", path}}, own + 1),
              HasSubstr("belongs to user"));
  EXPECT_THAT(Refusal({{"HOME", "/h"}, {"XDG_RUNTIME_DIR", path + "/none"}}, own),
              HasSubstr("No such file"));
  ASSERT_EQ(::symlink(path.c_str(), (path + "/link").c_str()), 0);
  EXPECT_THAT(Refusal({{"HOME", "/h"}, {"XDG_RUNTIME_DIR", path + "/link"}}, own),
              HasSubstr("is no folder"));
  std::filesystem::permissions(path, std::filesystem::perms::all);
  EXPECT_THAT(Refusal({{"HOME", "/h"}, {"XDG_RUNTIME_DIR", path}}, own),
              HasSubstr("run: chmod 700 " + path));
}

}  // namespace
}  // namespace gpuadvise::daemon
