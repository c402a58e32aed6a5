#include "tests/daemon/store/postgres_server.h"

#include <fmt/format.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace gpuadvise::daemon {
namespace {

namespace fs = std::filesystem;

// It refuses to run as root.
constexpr const char* kServersUser = "postgres";

std::string FolderOfPrograms() {
  std::string newest;
  if (fs::exists("/usr/lib/postgresql")) {
    for (const auto& version : fs::directory_iterator("/usr/lib/postgresql")) {
      const std::string bin = version.path() / "bin";
      if (fs::exists(bin + "/initdb") && bin > newest) newest = bin;
    }
  }
  if (newest.empty())
    throw std::runtime_error("no initdb in /usr/lib/postgresql: install postgresql");
  return newest;
}

// Starts a program as the server's user; it ends with this one, and writes into `log`.
pid_t Launch(const std::vector<std::string>& words, const std::string& log) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (geteuid() == 0) {
    const passwd* who = getpwnam(kServersUser);
    if (who == nullptr || initgroups(kServersUser, who->pw_gid) != 0 || setgid(who->pw_gid) != 0 ||
        setuid(who->pw_uid) != 0) {
      _exit(126);
    }
  }
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (freopen(log.c_str(), "a", stdout) == nullptr || dup2(1, 2) < 0 || chdir("/") != 0) _exit(126);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

PostgresServer& PostgresServer::Shared() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer() : programs_(FolderOfPrograms()) {
  chmod(folder_.Path("").c_str(), 0777);
  const pid_t made = Launch({programs_ + "/initdb", "-D", folder_.Path("data"), "-A", "trust", "-U",
                             "gpuadvise", "--no-sync", "-E", "UTF8", "--locale=C"},
                            folder_.Path("log"));
  int status = 0;
  waitpid(made, &status, 0);
  if (status != 0) throw std::runtime_error("initdb failed: " + folder_.Read("log"));
  Start();
}

PostgresServer::~PostgresServer() {
  GoOn();
  Stop(SIGQUIT);
}

void PostgresServer::Start() {
  process_ = Launch({programs_ + "/postgres", "-D", folder_.Path("data"), "-k", folder_.Path(""),
                     "-c", "listen_addresses=", "-c", "fsync=off"},
                    folder_.Path("log"));
  for (int look = 0; !Answers(); ++look) {
    if (look > 600) throw std::runtime_error("the server does not start: " + folder_.Read("log"));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void PostgresServer::Stop(int signal) {
  if (process_ == 0) return;
  kill(process_, signal);
  waitpid(process_, nullptr, 0);
  process_ = 0;
}

// Its processes are its children.
void PostgresServer::SendToAll(int signal) const {
  if (process_ == 0) return;
  std::istringstream children([&] {
    std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", process_));
    return std::string(std::istreambuf_iterator<char>(file), {});
  }());
  kill(process_, signal);
  for (pid_t child = 0; children >> child;) kill(child, signal);
}

void PostgresServer::StopAll() const { SendToAll(SIGSTOP); }

void PostgresServer::GoOn() const { SendToAll(SIGCONT); }

bool PostgresServer::Answers() const {
  const pid_t asks = Launch(
      {programs_ + "/pg_isready", "-q", "-h", folder_.Path(""), "-d", "postgres"}, "/dev/null");
  int status = 0;
  waitpid(asks, &status, 0);
  return status == 0;
}

std::string PostgresServer::UrlOf(const std::string& schema) const {
  std::string url = "postgresql://gpuadvise@/postgres?host=" + folder_.Path("");
  if (!schema.empty()) url += "&options=-csearch_path%3D" + schema;
  return url;
}

}  // namespace gpuadvise::daemon
