// The whole daemon as a process: what its users, its service manager and its operator see.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/base/version.h"
#include "common/process/run_program.h"
#include "tests/daemon/running_daemon.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

class DaemonProcess : public testing::Test {
 protected:
  json Ask(const std::string& request) const {
    const auto reply = daemon_.Connect().Ask(request);
    return reply ? json::parse(reply->body) : json();
  }

  std::string StopIt() {
    daemon_.Signal(SIGTERM);
    return daemon_.AwaitEnd();
  }

  RunningDaemon daemon_;
};

TEST_F(DaemonProcess, AnswersOverItsSocketAndStopsWhenAsked) {
  ASSERT_TRUE(daemon_.Start());
  ASSERT_TRUE(daemon_.Shows("/healthz", R"("status":"ok")"));
  EXPECT_EQ(Ask(Get("/v1/gpus"))["meta"]["cluster"], "seed");
  EXPECT_EQ(StopIt(), "exited with status 0");
  EXPECT_NE(access(daemon_.socket_path().c_str(), F_OK), 0);
}

TEST_F(DaemonProcess, TellsTheServiceManagerWhatItDoes) {
  ASSERT_TRUE(daemon_.Start());
  daemon_.Signal(SIGHUP);
  EXPECT_TRUE(daemon_.Await("RELOADING=1"));
  EXPECT_TRUE(daemon_.Await("READY=1"));
  daemon_.Signal(SIGTERM);
  EXPECT_TRUE(daemon_.Await("STOPPING=1"));
  EXPECT_EQ(daemon_.AwaitEnd(), "exited with status 0");
}

TEST_F(DaemonProcess, AReportedJobMovesNoForecastBeforeSlurmShowsIt) {
  ASSERT_TRUE(daemon_.Start());
  ASSERT_TRUE(daemon_.Shows("/healthz", R"("status":"ok")"));
  const json question = {
      {"spec",
       {{"name", "t"},
        {"model", {{"preset", "gr00t-n1-2b"}}},
        {"training", {{"max_steps", 10000}, {"effective_batch_size", {120, 144}}}},
        {"command", "true"}}},
      {"constraints", {{"gpus", {"rtx4090"}}, {"gpus_per_node", 4}}}};
  const json advice = Ask(Post("/v1/advise", question.dump()));
  ASSERT_EQ(advice["strategies"][0]["wait_p50_seconds"], 0) << advice;
  const std::string report = "/v1/advice/" + advice["advice_id"].get<std::string>() + "/submitted";
  EXPECT_EQ(Ask(Post(report, R"({"job_id": 77, "rank": 1})"))["job_id"], 77);
  EXPECT_EQ(Ask(Post("/v1/advise", question.dump()))["strategies"][0]["wait_p50_seconds"], 0);
}

TEST_F(DaemonProcess, TheSocketHasItsMode) {
  daemon_.SettingsAre("source: sim\nsocket_mode: \"0600\"\n");
  ASSERT_TRUE(daemon_.Start());
  struct stat info {};
  ASSERT_EQ(stat(daemon_.socket_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(DaemonProcess, LivesWithoutACollectorThatWorksAndSaysWhy) {
  daemon_.CollectorIs("echo 'slurm.conf cannot be read' >&2; exit 1");
  daemon_.SettingsAre("source: auto\n");
  ASSERT_TRUE(daemon_.Start());
  EXPECT_TRUE(daemon_.Shows("/healthz",
                            "slurm-api exited with status 1: slurm.conf cannot be read; "
                            "slurm-cli exited with status 1: slurm.conf cannot be read"));
  EXPECT_EQ(daemon_.Connect().Ask(Get("/v1/gpus"))->status, 503);
}

TEST_F(DaemonProcess, GoesOnAnsweringWhenItsCollectorIsGone) {
  daemon_.CollectorIs(
      "[ -e $BATCH.done ] && { echo slurmctld is gone >&2; exit 1; }\n"
      "touch $BATCH.done; cat $BATCH; exit 1");
  ASSERT_TRUE(daemon_.Start());
  EXPECT_TRUE(daemon_.Shows("/healthz", "sim exited with status 1: slurmctld is gone"));
  const json answer = Ask(Get("/v1/gpus"));
  EXPECT_FALSE(answer["gpus"].empty());
  EXPECT_EQ(answer["meta"]["stale_cause"], "sim exited with status 1: slurmctld is gone");
}

TEST_F(DaemonProcess, SaysWhyTheSourceInUseIsNotTheFirst) {
  daemon_.SettingsAre("source: auto\n");
  daemon_.CollectorIs(
      "[ $1 = slurm-api ] && { echo libslurm.so.37 cannot be loaded >&2; exit 1; }\n"
      "cat $BATCH; exec sleep 1000");
  ASSERT_TRUE(daemon_.Start());
  EXPECT_TRUE(daemon_.Shows("/healthz",
                            R"("passed_over":"slurm-api exited with status 1: libslurm.so.37)"));
  EXPECT_EQ(Ask(Get("/healthz"))["status"], "ok");
}

TEST_F(DaemonProcess, AReloadTakesTheNewSettings) {
  ASSERT_TRUE(daemon_.Start());
  ASSERT_TRUE(daemon_.Shows("/healthz", R"("status":"ok")"));
  daemon_.SettingsAre("source: slurm-cli\nlog_level: debug\nmax_connections: 5\n");
  daemon_.CollectorIs("echo \"started as $1\" >&2; exit 1");
  daemon_.Signal(SIGHUP);
  ASSERT_TRUE(daemon_.Await("READY=1"));
  EXPECT_TRUE(daemon_.Shows("/healthz", "started as slurm-cli"));
  StopIt();
  EXPECT_NE(daemon_.log().find("settings read again"), std::string::npos);
  EXPECT_NE(daemon_.log().find(
                "changed, but read at the start only: max_connections; restart gpuadvised"),
            std::string::npos);
}

TEST_F(DaemonProcess, AReloadOfABadFileChangesNothing) {
  ASSERT_TRUE(daemon_.Start());
  ASSERT_TRUE(daemon_.Shows("/healthz", R"("status":"ok")"));
  daemon_.SettingsAre("source: sim\npol_interval: 3s\n");
  daemon_.Signal(SIGHUP);
  ASSERT_TRUE(daemon_.Await("READY=1"));
  EXPECT_EQ(Ask(Get("/healthz"))["status"], "ok");
  StopIt();
  EXPECT_NE(daemon_.log().find(
                "gpuadvised.yaml:4: unknown key pol_interval; did you mean poll_interval?; "
                "the settings stay as they were"),
            std::string::npos)
      << daemon_.log();
}

TEST_F(DaemonProcess, ASecondOneOnTheSameSocketEndsWithASentence) {
  ASSERT_TRUE(daemon_.Start());
  RunningDaemon second;
  second.folder().Write("gpuadvised.yaml", "source: sim\nsocket: " + daemon_.socket_path() +
                                               "\ncollector: " + second.folder().Path("collect") +
                                               "\n");
  EXPECT_FALSE(second.Start());
  EXPECT_EQ(second.AwaitEnd(), "exited with status 1");
  EXPECT_EQ(second.log(), "gpuadvised: another gpuadvised answers on " + daemon_.socket_path() +
                              "; stop it first or set socket: (--socket) to another path\n");
  EXPECT_TRUE(daemon_.Connect().connected());
}

TEST_F(DaemonProcess, TheSocketOfAKilledOneIsReplaced) {
  ASSERT_TRUE(daemon_.Start());
  daemon_.Signal(SIGKILL);
  daemon_.AwaitEnd();
  ASSERT_EQ(access(daemon_.socket_path().c_str(), F_OK), 0);
  ASSERT_TRUE(daemon_.Start());
  EXPECT_TRUE(daemon_.Shows("/healthz", R"("status":"ok")"));
}

TEST_F(DaemonProcess, ItsCollectorDiesWithIt) {
  daemon_.CollectorIs("echo $$ > $BATCH.pid; cat $BATCH; exec sleep 1000");
  ASSERT_TRUE(daemon_.Start());
  ASSERT_TRUE(daemon_.Shows("/healthz", R"("status":"ok")"));
  const pid_t collector = std::stoi(daemon_.folder().Read("batch.pid"));
  daemon_.Signal(SIGKILL);
  daemon_.AwaitEnd();
  // Whoever adopts it reaps it; until then it is a zombie, which kill() still finds.
  const std::string state_file = "/proc/" + std::to_string(collector) + "/stat";
  for (;;) {
    std::ifstream file(state_file);
    std::string id, name, state;
    if (!(file >> id >> name >> state) || state == "Z" || state == "X") break;
  }
}

TEST_F(DaemonProcess, FeedsTheWatchdog) {
  ASSERT_TRUE(daemon_.Start({"WATCHDOG_USEC=200000"}));
  EXPECT_TRUE(daemon_.Await("WATCHDOG=1"));
  EXPECT_TRUE(daemon_.Await("WATCHDOG=1"));
}

TEST_F(DaemonProcess, UnderTheJournalLinesStartWithTheirLevel) {
  ASSERT_TRUE(daemon_.Start({"JOURNAL_STREAM=8:1"}));
  StopIt();
  EXPECT_NE(daemon_.log().find(std::string("<6>gpuadvised ") + kVersion + " answers on "),
            std::string::npos)
      << daemon_.log();
  std::istringstream lines(daemon_.log());
  for (std::string line; std::getline(lines, line);) EXPECT_EQ(line.substr(0, 3), "<6>") << line;
}

TEST_F(DaemonProcess, ALogLevelHidesWhatIsBelowIt) {
  daemon_.SettingsAre("source: sim\nlog_level: error\n");
  ASSERT_TRUE(daemon_.Start());
  StopIt();
  EXPECT_EQ(daemon_.log(), "");
}

TEST_F(DaemonProcess, WaitsForARequestThatIsOnItsWay) {
  ASSERT_TRUE(daemon_.Start());
  ASSERT_TRUE(daemon_.Shows("/healthz", R"("status":"ok")"));
  HttpPeer peer = daemon_.Connect();
  const std::string request = Post("/v1/when", R"({"jobs": [{}]})");
  ASSERT_TRUE(peer.Send(request.substr(0, 20)));
  ASSERT_TRUE(daemon_.Shows("/healthz", "ok"));  // so the beginning has been seen
  daemon_.Signal(SIGTERM);
  ASSERT_TRUE(daemon_.Await("STOPPING=1"));
  ASSERT_TRUE(peer.Send(request.substr(20)));
  EXPECT_EQ(peer.Receive()->status, 200);
  EXPECT_EQ(daemon_.AwaitEnd(), "exited with status 0");
}

TEST_F(DaemonProcess, ASecondSignalEndsItAtOnce) {
  ASSERT_TRUE(daemon_.Start());
  HttpPeer peer = daemon_.Connect();
  ASSERT_TRUE(peer.Send("POST /v1/when HTTP/1.1\r\n"));
  ASSERT_TRUE(daemon_.Shows("/healthz", "status"));
  daemon_.Signal(SIGTERM);
  ASSERT_TRUE(daemon_.Await("STOPPING=1"));
  daemon_.Signal(SIGINT);
  EXPECT_EQ(daemon_.AwaitEnd(), "exited with status 0");
}

// A TCP port that was free a moment ago.
std::string FreePort() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(probe, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size);
  close(probe);
  return std::to_string(ntohs(address.sin_port));
}

TEST_F(DaemonProcess, OverTcpAnybodyMayReadButNotReport) {
  const std::string port = FreePort();
  daemon_.SettingsAre("source: sim\nlisten: 127.0.0.1:" + port + "\n");
  ASSERT_TRUE(daemon_.Start());
  ASSERT_TRUE(daemon_.Shows("/healthz", R"("status":"ok")"));
  EXPECT_EQ(HttpPeer::OverTcp(port).Ask(Get("/v1/gpus"))->status, 200);
  EXPECT_EQ(HttpPeer::OverTcp(port).Ask(Post("/v1/when", R"({"jobs": [{}]})"))->status, 200);
  EXPECT_EQ(HttpPeer::OverTcp(port).Ask(Post("/v1/advice/a-1/submitted", "{}"))->status, 404);
}

// Runs it with `arguments`: its status and what it said.
std::pair<std::string, std::string> RunIt(std::vector<std::string> arguments) {
  const TempFolder folder;
  std::string line = GPUADVISED_PATH;
  for (const std::string& argument : arguments) line += " '" + argument + "'";
  line += " > " + folder.Path("out") + " 2>&1";
  ProgramCall call;
  call.command.words = {"/bin/sh", "-c", line};
  return {InWords(RunWithin(call).end), folder.Read("out")};
}

TEST_F(DaemonProcess, ALoginProxyNamesUsersOnItsOwnSocketAndNowhereElse) {
  const passwd* self = getpwuid(getuid());
  ASSERT_NE(self, nullptr);
  const std::string proxy = daemon_.folder().Path("proxy");
  daemon_.SettingsAre("source: sim\ntrusted_proxy: {header: X-Remote-User, address: \"unix:" +
                      proxy + "\", user: " + self->pw_name + "}\n");
  ASSERT_TRUE(daemon_.Start());
  ASSERT_TRUE(daemon_.Shows("/healthz", R"("status":"ok")"));
  const std::string as_nobody =
      "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: nobody\r\n\r\n";
  const auto there = HttpPeer(proxy).Ask(as_nobody);
  ASSERT_TRUE(there);
  EXPECT_EQ(json::parse(there->body)["user"], "nobody");
  EXPECT_EQ(Ask(as_nobody)["user"], self->pw_name) << "on the clients' socket the kernel decides";
  EXPECT_EQ(StopIt(), "exited with status 0");
  EXPECT_NE(access(proxy.c_str(), F_OK), 0);
}

TEST_F(DaemonProcess, ALoginProxyThatNobodyIsEndsTheStartWithASentence) {
  daemon_.SettingsAre(
      "source: sim\ntrusted_proxy: {header: X-Remote-User, address: \"unix:/tmp/p\", user: "
      "no-such-user-here}\n");
  EXPECT_FALSE(daemon_.Start());
  EXPECT_NE(daemon_.AwaitEnd(), "exited with status 0");
  EXPECT_NE(daemon_.log().find("trusted_proxy.user is 'no-such-user-here'"), std::string::npos)
      << daemon_.log();
}

TEST(DaemonCommandLine, CheckConfigShowsWhatWouldBeUsed) {
  const TempFolder folder;
  const std::string file = folder.Write("a.yaml", "poll_interval: 45s\ncollector: /bin/true\n");
  const auto [status, said] = RunIt({"--check-config", "--config", file, "--source", "sim"});
  EXPECT_EQ(status, "exited with status 0");
  EXPECT_EQ(said.rfind("# from " + file + "\n", 0), 0u) << said;
  EXPECT_NE(said.find("\npoll_interval: \"45s\"\n"), std::string::npos);
  EXPECT_NE(said.find("\nsource: \"sim\"\n"), std::string::npos);
}

TEST(DaemonCommandLine, CheckConfigRefusesWhatTheDaemonWould) {
  const TempFolder folder;
  const std::string file = folder.Write("a.yaml", "source: sim\nlisten: nowhere\n");
  const auto [status, said] = RunIt({"--check-config", "--config", file});
  EXPECT_EQ(status, "exited with status 2");
  EXPECT_EQ(said,
            "gpuadvised: " + file +
                ":2: listen is \"nowhere\"; write HOST:PORT such as 127.0.0.1:6828, or nothing\n");
}

TEST(DaemonCommandLine, CheckConfigNamesWhatThisMachineLacks) {
  const TempFolder folder;
  const std::string file = folder.Write(
      "a.yaml",
      "source: slurm-cli\nsocket_group: no-such-group-here\nslurm_bin_dir: /no/such/folder\n"
      "prometheus: prometheus:9090\nslurmrestd: {token_file: /no/token}\n");
  const auto [status, said] = RunIt({"--check-config", "--config", file});
  EXPECT_EQ(status, "exited with status 2");
  for (const char* sentence :
       {"gpuadvised: socket_group is no-such-group-here, and this machine has no such group; "
        "create",
        "gpuadvised: slurm_bin_dir is /no/such/folder, and this machine has no such folder; create",
        "gpuadvised: slurmrestd.token_file is /no/token, and this machine has no such file; create",
        "gpuadvised: prometheus: "}) {
    EXPECT_NE(said.find(sentence), std::string::npos) << sentence << said;
  }
}

TEST(DaemonCommandLine, CheckConfigNamesEveryKeyThatWent) {
  const TempFolder folder;
  const std::string file = folder.Write("a.yaml", "metrics: {}\nsource: sim\nclusters: {}\n");
  const auto [status, said] = RunIt({"--check-config", "--config", file});
  EXPECT_EQ(status, "exited with status 2");
  EXPECT_NE(said.find("gpuadvised: " + file + ":1: the setting metrics was removed; "),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("\ngpuadvised: " + file + ":3: the setting clusters was removed; "),
            std::string::npos)
      << said;
}

TEST(DaemonCommandLine, AnUnknownOptionIsAUsageError) {
  EXPECT_EQ(RunIt({"--sockett", "/x"}).first, "exited with status 2");
  EXPECT_EQ(RunIt({"--help"}).first, "exited with status 0");
  EXPECT_EQ(RunIt({"--version"}),
            (std::pair<std::string, std::string>("exited with status 0",
                                                 std::string("gpuadvised ") + kVersion + "\n")));
}

TEST(DaemonCommandLine, RelaysOfEarlierVersionsAreRefusedWithTheNewWay) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--relay", "https://a"},
                                                {"--relay=https://a"},
                                                {"relay-certs", "--dir", "/x"}}) {
    const auto [status, said] = RunIt(words);
    EXPECT_EQ(status, "exited with status 2");
    EXPECT_NE(said.find("listen_tls"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
