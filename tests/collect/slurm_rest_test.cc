// slurm-rest against a small server that answers what real ones answered, or misbehaves.
#include "daemon/collect/slurm_rest.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/collect/captured_text.h"

namespace gpuadvise::collect {
namespace {

std::string Captured(const std::string& name) {
  return CapturedText("../data/rest/" + name + ".json");
}

std::string Http(int status, const std::string& body, const std::string& more = "") {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + more +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Answers each connection on a Unix socket with what `answer` makes of the request's bytes, then
// closes it. "" keeps it open without a word.
class FakeServer {
 public:
  using Answer = std::function<std::string(const std::string& request)>;

  explicit FakeServer(Answer answer) : answer_(std::move(answer)) {
    std::string name = (std::filesystem::temp_directory_path() / "rest.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    SocketPath().copy(place.sun_path, sizeof place.sun_path - 1);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    thread_ = std::thread([this] { Serve(); });
  }
  ~FakeServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    for (const int held : held_) ::close(held);
    std::filesystem::remove_all(folder_);
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::string SocketPath() const { return folder_ + "/s"; }
  std::string Url() const { return "unix:" + SocketPath(); }
  std::string FileWith(const std::string& text) const {
    const std::string path = folder_ + "/file";
    std::ofstream(path) << text;
    return path;
  }
  std::vector<std::string> Requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void Serve() {
    for (;;) {
      const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      std::string request;
      char bytes[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::read(peer, bytes, sizeof bytes);
        if (got <= 0) break;
        request.append(bytes, static_cast<size_t>(got));
      }
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      const std::string answer = answer_(request);
      if (answer.empty()) {
        held_.push_back(peer);
        continue;
      }
      for (size_t sent = 0; sent < answer.size();) {
        const ssize_t wrote =
            ::send(peer, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
        if (wrote <= 0) break;
        sent += static_cast<size_t>(wrote);
      }
      ::close(peer);
    }
  }

  Answer answer_;
  std::string folder_;
  int listener_ = -1;
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::vector<int> held_;
  std::thread thread_;
};

bool Asks(const std::string& request, const std::string& path) {
  return request.starts_with("GET " + path);
}

// A slurmrestd 24.11.5 as it was.
std::string Slurm2411(const std::string& request) {
  if (Asks(request, "/openapi/v3 ")) return Http(200, Captured("openapi_24.11_v42"));
  if (Asks(request, "/slurm/v0.0.42/jobs/?update_time=1")) {
    return Http(200, R"({"jobs": [], "last_update": {"set": true, "infinite": false, "number": 0},
                         "errors": [], "warnings": [{"description": "No job changes"}]})");
  }
  for (const char* table : {"jobs", "nodes", "partitions", "reservations", "licenses", "shares"}) {
    if (Asks(request, std::string("/slurm/v0.0.42/") + table)) {
      return Http(200, Captured(std::string(table) + "_24.11_v42"));
    }
  }
  if (Asks(request, "/slurm/v0.0.42/diag/ ")) return Http(200, Captured("diag_22.05_v38"));
  for (const char* table : {"associations", "qos"}) {
    if (Asks(request, std::string("/slurmdb/v0.0.42/") + table)) {
      return Http(200, Captured(std::string(table) + "_24.11_v42"));
    }
  }
  return Http(404, "Unable find requested URL");
}

std::unique_ptr<Source> SourceAt(const FakeServer& server, SlurmRestOptions options = {}) {
  options.url = server.Url();
  SourceResult source = MakeSlurmRestSource(options);
  EXPECT_TRUE(source);
  return std::move(*source);
}

// The sentence with which a source fails on a server that answers so.
std::string Complaint(FakeServer::Answer answer, const SlurmRestOptions& options = {}) {
  FakeServer server(std::move(answer));
  const auto poll = SourceAt(server, options)->Step();
  return poll ? "" : poll.error().message;
}

TEST(SlurmRest, ReadsAWholeCluster) {
  FakeServer server(Slurm2411);
  const auto poll = SourceAt(server)->Step();
  ASSERT_TRUE(poll) << poll.error().message;
  const Snapshot& snapshot = poll->snapshot;
  EXPECT_EQ(snapshot.source, "slurm-rest");
  EXPECT_EQ(snapshot.cluster, "lab");
  EXPECT_EQ(snapshot.config.slurm_version, "24.11.5");
  EXPECT_EQ(snapshot.nodes.size(), 5u);
  EXPECT_EQ(snapshot.partitions.size(), 6u);
  EXPECT_EQ(snapshot.reservations.size(), 3u);
  EXPECT_EQ(snapshot.associations.size(), 9u);
  EXPECT_EQ(snapshot.qos.size(), 3u);
  EXPECT_EQ(snapshot.config.licenses.size(), 2u);
  EXPECT_TRUE(Find(snapshot.partitions, &Partition::name, "all").is_default);
  EXPECT_TRUE(snapshot.config.scheduler_type.empty());
  EXPECT_EQ(snapshot.config.hidden, std::vector<std::string>{"conf"});
  EXPECT_NE(poll->left_out.first.find("does not report the configuration"), std::string::npos);
}

TEST(SlurmRest, TheSchedulersFiguresAreReadOrItIsSaidWhyNot) {
  const auto health_at = [](FakeServer::Answer answer) {
    FakeServer server(std::move(answer));
    const auto poll = SourceAt(server)->Step();
    return poll ? poll->snapshot.config.health : SchedulerHealth();
  };
  const SchedulerHealth read = health_at(Slurm2411);
  EXPECT_EQ(read.backfill.mean_us, 946);
  EXPECT_EQ(read.problem, "");
  const SchedulerHealth denied = health_at([](const std::string& request) {
    if (!Asks(request, "/slurm/v0.0.42/diag/")) return Slurm2411(request);
    return Http(500, R"({"errors": [{"description": "Access denied"}]})");
  });
  EXPECT_EQ(denied.read_at, std::nullopt);
  EXPECT_TRUE(denied.problem.ends_with("does not return /slurm/v0.0.42/diag/: Access denied"))
      << denied.problem;
}

TEST(SlurmRest, JobsThatDidNotChangeAreNotSentAgain) {
  FakeServer server(Slurm2411);
  const auto source = SourceAt(server);
  const auto first = source->Step();
  ASSERT_TRUE(first);
  ASSERT_FALSE(first->snapshot.jobs.empty());
  const auto second = source->Step();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->snapshot.jobs, first->snapshot.jobs);
  EXPECT_EQ(second->changed, TableSet());
  size_t descriptions = 0;
  for (const std::string& request : server.Requests()) descriptions += Asks(request, "/openapi");
  EXPECT_EQ(descriptions, 1u);
  EXPECT_TRUE(Asks(server.Requests().back(), "/slurm/v0.0.42/jobs/?update_time="));
}

TEST(SlurmRest, WhatSlurmrestdDoesNotTellIsReadFromSlurmConf) {
  FakeServer server(Slurm2411);
  SlurmRestOptions options;
  options.slurm_conf = server.FileWith(
      "ClusterName=lab\nSchedulerParameters=bf_window=99\nPartitionName=short Default=YES\n");
  const auto poll = SourceAt(server, options)->Step();
  ASSERT_TRUE(poll);
  EXPECT_EQ(poll->snapshot.config.scheduler_parameters, "bf_window=99");
  EXPECT_TRUE(Find(poll->snapshot.partitions, &Partition::name, "short").is_default);
  EXPECT_EQ(poll->left_out, LeftOut());
}

TEST(SlurmRest, ASlurmConfOfAnotherClusterIsNotUsed) {
  FakeServer server(Slurm2411);
  SlurmRestOptions options;
  options.slurm_conf = server.FileWith("ClusterName=other\nSchedulerParameters=bf_window=99\n");
  const auto poll = SourceAt(server, options)->Step();
  ASSERT_TRUE(poll);
  EXPECT_EQ(poll->snapshot.config.scheduler_parameters, "");
  EXPECT_NE(poll->left_out.first.find("is of cluster other, slurmrestd of lab"), std::string::npos);
}

TEST(SlurmRest, ASlurmdbdThatIsDownHidesNoCluster) {
  FakeServer server([](const std::string& request) {
    if (!Asks(request, "/slurmdb/")) return Slurm2411(request);
    return Http(502, R"({"errors": [{"description": "Failed to open slurmdbd connection",
                         "error": "Connection refused"}]})");
  });
  const auto poll = SourceAt(server)->Step();
  ASSERT_TRUE(poll) << poll.error().message;
  EXPECT_EQ(poll->snapshot.nodes.size(), 5u);
  EXPECT_TRUE(poll->snapshot.qos.empty());
  EXPECT_EQ(poll->left_out.records, 2);
}

// ---- tokens ------------------------------------------------------------------------------------

TEST(SlurmRest, TheTokenIsReadAgainForEachQuestionAndNeverPrinted) {
  FakeServer server(Slurm2411);
  SlurmRestOptions options;
  options.user = "root";
  options.token_file = server.FileWith("SLURM_JWT=first.token\n");
  const auto source = SourceAt(server, options);
  ASSERT_TRUE(source->Step());
  server.FileWith("second.token\n");
  ASSERT_TRUE(source->Step());
  const auto requests = server.Requests();
  EXPECT_NE(requests.front().find("X-SLURM-USER-TOKEN: first.token\r\n"), std::string::npos);
  EXPECT_NE(requests.front().find("X-SLURM-USER-NAME: root\r\n"), std::string::npos);
  EXPECT_NE(requests.back().find("X-SLURM-USER-TOKEN: second.token\r\n"), std::string::npos);
}

TEST(SlurmRest, ATokenThatIsRefusedIsSaidWithTheRemedyAndWithoutTheToken) {
  FakeServer file_holder(Slurm2411);
  SlurmRestOptions options;
  options.token_file = file_holder.FileWith("secret.token");
  for (const int status : {401, 511}) {
    const std::string said =
        Complaint([&](const std::string&) { return Http(status, "no"); }, options);
    EXPECT_NE(said.find("refuses the token in " + options.token_file), std::string::npos) << said;
    EXPECT_NE(said.find("scontrol token lifespan="), std::string::npos) << said;
    EXPECT_EQ(said.find("secret.token"), std::string::npos) << said;
  }
  const std::string none = Complaint([](const std::string&) { return Http(401, "no"); });
  EXPECT_NE(none.find("it wants a token; set slurmrestd.token_file"), std::string::npos) << none;
}

TEST(SlurmRest, ATokenThatWouldWriteAHeaderIsNotSent) {
  FakeServer server(Slurm2411);
  SlurmRestOptions options;
  options.token_file = server.FileWith("a\rX-Evil: 1");
  EXPECT_FALSE(SourceAt(server, options)->Step());
  EXPECT_TRUE(server.Requests().empty());
  options.token_file = server.FileWith("\n");
  const auto poll = SourceAt(server, options)->Step();
  ASSERT_FALSE(poll);
  EXPECT_NE(poll.error().message.find("holds no token"), std::string::npos);
}

// ---- servers that misbehave --------------------------------------------------------------------

TEST(SlurmRest, WhatGoesWrongIsOneSentence) {
  const auto with = [](const std::string& body) {
    return Complaint([body](const std::string& request) {
      return Asks(request, "/slurm/v0.0.42/nodes") ? body : Slurm2411(request);
    });
  };
  EXPECT_NE(with(Http(200, "<html>"))
                .find("does not return /slurm/v0.0.42/nodes/: its answer is not JSON"),
            std::string::npos);
  EXPECT_NE(with(Http(200, R"({"nodes": []})")).find("shows no node"), std::string::npos);
  EXPECT_NE(with(Http(500, R"({"errors": [{"description": "Failure to query nodes", "error":
                                "Unable to contact slurm controller"}]})"))
                .find("Failure to query nodes: Unable to contact slurm controller"),
            std::string::npos);
  EXPECT_NE(with(Http(200, R"({"nodes": [], "errors": [{"description": "half", "error": "x"}]})"))
                .find("half: x"),
            std::string::npos);
  EXPECT_NE(with(Http(302, "", "Location: http://evil/\r\n")).find("elsewhere (http://evil/)"),
            std::string::npos);
  EXPECT_NE(
      with("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{").find("in the middle of its answer"),
      std::string::npos);
  EXPECT_NE(with("SSH-2.0-OpenSSH\r\n").find("its answer is not HTTP"), std::string::npos);
  EXPECT_NE(Complaint([](const std::string&) { return Http(404, ""); }).find("is not slurmrestd"),
            std::string::npos);
}

TEST(SlurmRest, AServerThatSaysNothingIsLeftAtTheDeadline) {
  SlurmRestOptions options;
  options.deadline = std::chrono::milliseconds(100);
  const std::string said = Complaint([](const std::string&) { return std::string(); }, options);
  EXPECT_NE(said.find("no answer within 0.1 s"), std::string::npos) << said;
}

TEST(SlurmRest, ASocketThatIsNotThereIsSaid) {
  SlurmRestOptions options;
  options.url = "unix:/nowhere/slurmrestd.sock";
  const auto poll = (*MakeSlurmRestSource(options))->Step();
  ASSERT_FALSE(poll);
  EXPECT_EQ(poll.error().message,
            "slurmrestd at unix:/nowhere/slurmrestd.sock cannot be asked: there is no such socket");
}

TEST(SlurmRest, AfterAFailureTheServerIsAskedAgainWhatItOffers) {
  bool fails = false;
  FakeServer server([&](const std::string& request) {
    if (fails && Asks(request, "/slurm/v0.0.42/nodes")) return Http(404, "gone");
    return Slurm2411(request);
  });
  const auto source = SourceAt(server);
  ASSERT_TRUE(source->Step());
  fails = true;
  EXPECT_FALSE(source->Step());
  fails = false;
  const auto poll = source->Step();
  ASSERT_TRUE(poll);
  EXPECT_FALSE(poll->snapshot.jobs.empty());
  size_t descriptions = 0;
  for (const std::string& request : server.Requests()) descriptions += Asks(request, "/openapi");
  EXPECT_EQ(descriptions, 2u);
}

// ---- versions ---------------------------------------------------------------------------------

RestJson Offering(const std::vector<int>& versions) {
  RestJson paths = RestJson::object();
  for (const int version : versions) {
    for (const char* table : {"nodes/", "jobs/", "partitions/", "reservations/", "node/{name}"}) {
      paths["/slurm/v0.0." + std::to_string(version) + "/" + table] = RestJson::object();
    }
  }
  return {{"paths", paths}};
}

TEST(ChooseRestPaths, TakesTheNewestKnownVersionOfEachTable) {
  const auto of_24 = ChooseRestPaths(*ReadRestJson(Captured("openapi_24.11_v42")));
  ASSERT_TRUE(of_24);
  EXPECT_EQ(of_24->path_of.at("jobs"), "/slurm/v0.0.42/jobs/");
  EXPECT_EQ(of_24->path_of.at("qos"), "/slurmdb/v0.0.42/qos/");
  EXPECT_FALSE(of_24->path_of.contains("conf"));
  const auto of_26 = ChooseRestPaths(*ReadRestJson(Captured("openapi_26.05_v45")));
  ASSERT_TRUE(of_26);
  EXPECT_EQ(of_26->path_of.at("jobs"), "/slurm/v0.0.44/jobs/");  // v0.0.45 hides whole nodes
  EXPECT_EQ(of_26->path_of.at("partitions"), "/slurm/v0.0.45/partitions/?flags=ALL");
  EXPECT_EQ(of_26->path_of.at("conf"), "/slurm/v0.0.45/conf");
  EXPECT_TRUE(of_26->notes.empty());
}

TEST(ChooseRestPaths, AnUnknownNewerVersionIsTakenOnlyWhereItIsAloneAndSaid) {
  EXPECT_EQ(ChooseRestPaths(Offering({42, 47}))->path_of.at("nodes"), "/slurm/v0.0.42/nodes/");
  const auto newer = ChooseRestPaths(Offering({46, 47}));
  EXPECT_EQ(newer->path_of.at("nodes"), "/slurm/v0.0.46/nodes/");
  EXPECT_EQ(newer->notes.size(), 2u);
  EXPECT_EQ(ChooseRestPaths(Offering({45}))->notes.size(), 1u);
}

TEST(ChooseRestPaths, OlderOnesAreRefusedWithWhatIsOffered) {
  const auto old = ChooseRestPaths(Offering({36, 37, 38}));
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().message,
            "offers v0.0.36, v0.0.37, v0.0.38; gpuadvise reads v0.0.40 to v0.0.45 (Slurm 23.11 and "
            "later): set source: slurm-cli");
  EXPECT_NE(ChooseRestPaths(RestJson::object()).error().message.find("no version"),
            std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::collect
