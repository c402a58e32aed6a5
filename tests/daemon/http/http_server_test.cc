#include "daemon/http/http_server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "daemon/http/event_feed.h"
#include "tests/daemon/http/io_runner.h"
#include "tests/daemon/http/server_under_test.h"
#include "tests/daemon/logged_lines.h"
#include "tests/daemon/patience.h"

namespace gpuadvise::daemon {
namespace {

using std::chrono::milliseconds;

// Says back what was asked and by whom.
ApiResponse Echo(const ApiRequest& request, const Peer& peer) {
  return {200,
          request.method + " " + request.target + " " + request.body + " by " +
              std::to_string(peer.uid),
          ""};
}

std::string ByMe() { return " by " + std::to_string(getuid()); }

TEST(HttpServer, AnswersWithTheCallersUidFromTheKernel) {
  ServerUnderTest server(Echo);
  const auto reply = server.Connect().Ask(Get("/v1/gpus?x=1"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "GET /v1/gpus?x=1 " + ByMe());
  EXPECT_NE(reply->header.find("Content-Type: application/json"), std::string::npos);
}

TEST(HttpServer, NoHeaderCanClaimAnotherUser) {
  ServerUnderTest server(Echo);
  const auto reply = server.Connect().Ask(
      "GET / HTTP/1.1\r\nHost: x\r\nX-Remote-User: root\r\nAuthorization: Basic cm9vdA==\r\n\r\n");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, "GET / " + ByMe());
}

TEST(HttpServer, AConnectionServesManyRequests) {
  ServerUnderTest server(Echo);
  HttpPeer peer = server.Connect();
  for (int i = 0; i < 50; ++i) {
    const auto reply = peer.Ask(Post("/n", std::to_string(i)));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, "POST /n " + std::to_string(i) + ByMe());
  }
  EXPECT_EQ(server.connections(), 1u);
}

TEST(HttpServer, RequestsSentTogetherAreAnsweredInOrder) {
  ServerUnderTest server(Echo);
  HttpPeer peer = server.Connect();
  std::string all;
  for (int i = 0; i < 20; ++i) all += Post("/n", std::to_string(i)) + Get("/g" + std::to_string(i));
  ASSERT_TRUE(peer.Send(all));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(peer.Receive()->body, "POST /n " + std::to_string(i) + ByMe());
    EXPECT_EQ(peer.Receive()->body, "GET /g" + std::to_string(i) + " " + ByMe());
  }
}

TEST(HttpServer, ARequestMayBeCutAtEveryByte) {
  ServerUnderTest server(Echo);
  const std::string request = Post("/split", R"({"a": [1, 2, 3]})");
  HttpPeer peer = server.Connect();
  for (size_t cut = 1; cut < request.size(); ++cut) {
    ASSERT_TRUE(peer.Send(request.substr(0, cut)));
    ASSERT_TRUE(peer.Send(request.substr(cut)));
    const auto reply = peer.Receive();
    ASSERT_TRUE(reply) << cut;
    EXPECT_EQ(reply->body, R"(POST /split {"a": [1, 2, 3]})" + ByMe()) << cut;
  }
}

TEST(HttpServer, ARequestMayComeByteByByte) {
  ServerUnderTest server(Echo);
  HttpPeer peer = server.Connect();
  for (const char byte : Post("/bytes", "xyz")) ASSERT_TRUE(peer.Send(std::string(1, byte)));
  EXPECT_EQ(peer.Receive()->body, "POST /bytes xyz" + ByMe());
}

TEST(HttpServer, AClientThatLeavesInTheMiddleHarmsNobody) {
  ServerUnderTest server(Echo);
  const std::string request = Post("/gone", "0123456789");
  for (size_t cut = 0; cut < request.size(); cut += 7) {
    HttpPeer peer = server.Connect();
    ASSERT_TRUE(peer.Send(request.substr(0, cut)));
  }
  EXPECT_EQ(server.Connect().Ask(Get("/after"))->status, 200);
}

TEST(HttpServer, AClientThatDoesNotWaitForItsAnswerHarmsNobody) {
  ServerUnderTest server([](const ApiRequest&, const Peer&) {
    return ApiResponse{200, std::string(8 << 20, 'x'), ""};
  });
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(server.Connect().Send(Get("/big")));
  EXPECT_EQ(server.Connect().Ask(Get("/big"))->body.size(), size_t{8} << 20);
}

TEST(HttpServer, ConnectionCloseIsRespected) {
  ServerUnderTest server(Echo);
  HttpPeer peer = server.Connect();
  const auto reply = peer.Ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  ASSERT_TRUE(reply);
  EXPECT_NE(reply->header.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(peer.Closed());
}

TEST(HttpServer, Http10IsAnsweredAndClosed) {
  ServerUnderTest server(Echo);
  HttpPeer peer = server.Connect();
  EXPECT_EQ(peer.Ask("GET / HTTP/1.0\r\n\r\n")->status, 200);
  EXPECT_TRUE(peer.Closed());
}

TEST(HttpServer, AChunkedBodyIsPutTogether) {
  ServerUnderTest server(Echo);
  const auto reply = server.Connect().Ask(
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, "POST /c abcde" + ByMe());
}

TEST(HttpServer, SaysContinueToAClientThatAsksFirst) {
  ServerUnderTest server(Echo);
  HttpPeer peer = server.Connect();
  ASSERT_TRUE(peer.Send(
      "POST /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
  EXPECT_EQ(peer.Receive()->status, 100);
  ASSERT_TRUE(peer.Send("hi"));
  EXPECT_EQ(peer.Receive()->body, "POST /e hi" + ByMe());
}

// The status and message of the refusal of `request`.
void ExpectRefusal(const std::string& request, int status, const std::string& message) {
  ServerUnderTest server(Echo);
  HttpPeer peer = server.Connect();
  peer.Send(request);  // may be refused while it is still being sent
  const auto reply = peer.Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, status);
  EXPECT_NE(reply->body.find(message), std::string::npos) << reply->body;
  EXPECT_NE(reply->header.find("Connection: close"), std::string::npos);
  EXPECT_EQ(server.Connect().Ask(Get("/after"))->status, 200);
}

TEST(HttpServer, AHeaderOver16KiBIsRefused) {
  ExpectRefusal("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(17 << 10, 'x') + "\r\n\r\n", 431,
                "the request header is larger than 16384 bytes");
  ExpectRefusal("GET /" + std::string(100 << 10, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n", 431,
                "the request header is larger than 16384 bytes");
}

TEST(HttpServer, AHeaderWithoutEndIsRefused) {
  ExpectRefusal(std::string(200 << 10, 'x'), 431, "the request header is larger than 16384 bytes");
}

TEST(HttpServer, ABodyOver1MiBIsRefusedBeforeItComes) {
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n", 413,
                "the request body is larger than 1048576 bytes");
}

TEST(HttpServer, ABodyOver1MiBIsRefusedAlsoWhenItIsSent) {
  ExpectRefusal(Post("/", std::string((1 << 20) + 1, 'x')), 413,
                "the request body is larger than 1048576 bytes");
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n" +
                    std::string(0x200000, 'x'),
                413, "the request body is larger than 1048576 bytes");
}

TEST(HttpServer, ABodyOfExactly1MiBIsTaken) {
  ServerUnderTest server([](const ApiRequest& request, const Peer&) {
    return ApiResponse{200, std::to_string(request.body.size()), ""};
  });
  EXPECT_EQ(server.Connect().Ask(Post("/", std::string(1 << 20, 'x')))->body, "1048576");
}

TEST(HttpServer, WhatIsNoHttpIsRefused) {
  ExpectRefusal("\x16\x03\x01\x02\r\n\r\n", 400, "the request is not valid HTTP/1.1");
  ExpectRefusal("GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400,
                "the request is not valid HTTP/1.1");
}

TEST(HttpServer, ASlowRequestIsRefusedWhenItsTimeIsUp) {
  HttpLimits limits;
  limits.request_timeout = milliseconds(50);
  ServerUnderTest server(Echo, limits);
  for (const char* part : {"G", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab"}) {
    HttpPeer peer = server.Connect();
    ASSERT_TRUE(peer.Send(part));
    const auto reply = peer.Receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 408);
    EXPECT_NE(reply->body.find("the request took too long to arrive"), std::string::npos);
  }
}

TEST(HttpServer, AnIdleConnectionIsClosedWithoutAWord) {
  HttpLimits limits;
  limits.idle_timeout = milliseconds(50);
  ServerUnderTest server(Echo, limits);
  HttpPeer peer = server.Connect();
  EXPECT_TRUE(peer.Closed());
}

TEST(HttpServer, AClientThatDoesNotReadIsCutOff) {
  HttpLimits limits;
  limits.request_timeout = milliseconds(50);
  std::atomic<bool> asked = false;
  ServerUnderTest server(
      [&](const ApiRequest&, const Peer&) {
        asked = true;
        return ApiResponse{200, std::string(64 << 20, 'x'), ""};
      },
      limits);
  HttpPeer peer = server.Connect();
  ASSERT_TRUE(peer.Send(Get("/")));
  ASSERT_TRUE(BecomesTrue([&] { return asked && server.connections() == 0; }));
  EXPECT_FALSE(peer.Receive());
}

TEST(HttpServer, OneConnectionTooManyIsTurnedAway) {
  HttpLimits limits;
  limits.max_connections = 3;
  ServerUnderTest server(Echo, limits);
  std::vector<HttpPeer> peers;
  for (int i = 0; i < 3; ++i) {
    peers.push_back(server.Connect());
    ASSERT_EQ(peers.back().Ask(Get("/"))->status, 200);
  }
  HttpPeer extra = server.Connect();
  const auto reply = extra.Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 429);
  EXPECT_NE(reply->body.find("3 connections are open"), std::string::npos);
  peers.pop_back();
  ASSERT_TRUE(BecomesTrue([&] { return server.connections() != 3; }));
  EXPECT_EQ(server.Connect().Ask(Get("/"))->status, 200);
}

TEST(HttpServer, OneUserGetsSoManyConnectionsAndIsToldWhichSettingSaysSo) {
  HttpLimits limits;
  limits.max_connections_per_user = 2;
  ServerUnderTest server(Echo, limits);
  std::vector<HttpPeer> peers;
  for (int i = 0; i < 2; ++i) {
    peers.push_back(server.Connect());
    ASSERT_EQ(peers.back().Ask(Get("/"))->status, 200);
  }
  const auto reply = server.Connect().Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 429);
  EXPECT_NE(reply->body.find("2 connections of yours are open"), std::string::npos);
  EXPECT_NE(reply->body.find("max_connections_per_user"), std::string::npos);
  peers.pop_back();
  ASSERT_TRUE(BecomesTrue([&] { return server.connections() != 2; }));
  EXPECT_EQ(server.Connect().Ask(Get("/"))->status, 200);
}

TEST(Connections, TheLastAreForThoseWhoHaveNoneAndForRoot) {
  HttpLimits limits;
  limits.max_connections = 256;
  limits.max_connections_per_user = 64;
  const Peer ann{1000, false};
  const Peer root{0, false};
  EXPECT_EQ(WhyNoConnection(223, 63, ann, limits), "");
  EXPECT_NE(WhyNoConnection(64, 64, ann, limits).find("max_connections_per_user"),
            std::string::npos);
  EXPECT_NE(
      WhyNoConnection(224, 1, ann, limits).find("the last 32 are reserved for users without one"),
      std::string::npos);
  EXPECT_EQ(WhyNoConnection(224, 0, ann, limits), "");
  EXPECT_EQ(WhyNoConnection(251, 0, ann, limits), "");
  EXPECT_NE(WhyNoConnection(252, 0, ann, limits), "");
  EXPECT_EQ(WhyNoConnection(255, 40, root, limits), "");
  EXPECT_NE(WhyNoConnection(256, 0, root, limits), "");
}

TEST(Connections, WhereOneAddressMayHaveAllItHasThem) {
  HttpLimits limits;  // behind a reverse proxy
  limits.max_connections = limits.max_connections_per_user = 256;
  EXPECT_EQ(WhyNoConnection(255, 255, Peer{-1, true}, limits), "");
  EXPECT_NE(WhyNoConnection(256, 256, Peer{-1, true}, limits), "");
}

TEST(HttpServer, AUsersSubordinateUidsAreOneCaller) {
  HttpLimits limits;
  limits.max_connections_per_user = 2;
  limits.caller_of = [](int64_t) { return int64_t{1000}; };
  ServerUnderTest server(
      [](const ApiRequest&, const Peer& peer) {
        return ApiResponse{200, std::to_string(peer.uid) + " " + std::to_string(peer.caller), ""};
      },
      limits);
  const auto reply = server.Connect().Ask(Get("/"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, std::to_string(getuid()) + " 1000");
}

TEST(Places, AreForAllAndSoManyForOne) {
  const auto places = Places::Make(3, 2);
  std::optional<Places::Place> first = places->Take(7);
  const std::optional<Places::Place> second = places->Take(7);
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(places->Take(7)) << "two of one";
  std::optional<Places::Place> other = places->Take(8);
  EXPECT_TRUE(other);
  EXPECT_FALSE(places->Take(9)) << "three in all";
  first.reset();
  EXPECT_EQ(places->Of(7), 1u);
  EXPECT_EQ(places->taken(), 2u);
  EXPECT_TRUE(places->Take(9));
}

TEST(HttpServer, EventStreamsOfOneCallerHaveABound) {
  HttpLimits limits;
  limits.max_events_per_user = 1;
  ServerUnderTest server(
      [](const ApiRequest&, const Peer&) {
        ApiResponse response;
        response.events = std::make_shared<EventFeed>();
        response.events->Put(EventText("x", "{}"));
        return response;
      },
      limits);
  HttpPeer listens = server.Connect();
  ASSERT_TRUE(listens.Send(Get("/events")));
  ASSERT_NE(listens.ReadUntil("\n\n").find("200"), std::string::npos);
  const auto refused = server.Connect().Ask(Get("/events"));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 429);
  EXPECT_NE(refused->body.find("1 event streams of yours are open"), std::string::npos)
      << refused->body;
}

TEST(HttpServer, ABodyInACodingThatIsNotUnderstoodEndsTheConnection) {
  ServerUnderTest server(Echo);
  for (const char* fields :
       {"Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"}) {
    HttpPeer peer = server.Connect();
    const auto reply = peer.Ask("POST /v1/when HTTP/1.1\r\nHost: x\r\n" + std::string(fields) +
                                "\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_TRUE(reply) << fields;
    EXPECT_EQ(reply->status, 400) << fields;
    EXPECT_TRUE(peer.Closed()) << fields;
  }
  const auto reply = server.Connect().Ask(
      "POST /v1/when HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "2\r\n{}\r\n0\r\n\r\n");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
}

TEST(HttpServer, WhatNobodyWaitsForAnyMoreIsNotComputed) {
  HttpLimits limits;
  limits.answers_at_once = 1;
  std::promise<void> go_on;
  std::future<void> may_go_on = go_on.get_future();
  std::mutex mutex;
  std::vector<std::string> asked;
  ServerUnderTest server(
      [&](const ApiRequest& request, const Peer&) {
        {
          const std::lock_guard lock(mutex);
          asked.push_back(request.target);
        }
        if (request.target == "/first") BecomesReady(may_go_on);
        return ApiResponse{200, "{}", ""};
      },
      limits);
  HttpPeer first = server.Connect();
  ASSERT_TRUE(first.Send(Get("/first")));
  for (const char* target : {"/left", "/left-too"}) {
    HttpPeer leaves = server.Connect();
    ASSERT_TRUE(leaves.Send(Get(target)));
  }
  HttpPeer last = server.Connect();
  ASSERT_TRUE(last.Send(Get("/last")));
  ASSERT_TRUE(BecomesTrue([&] { return server.connections() == 4; }));
  go_on.set_value();
  ASSERT_TRUE(first.Receive());
  ASSERT_TRUE(last.Receive());
  const std::lock_guard lock(mutex);
  EXPECT_EQ(asked, (std::vector<std::string>{"/first", "/last"}));
}

TEST(HttpServer, MayEndWhileManyWaitForTheirTurn) {
  HttpLimits limits;
  limits.answers_at_once = 1;
  std::promise<void> go_on;
  std::future<void> may_go_on = go_on.get_future();
  std::atomic<bool> asked = false;
  std::vector<HttpPeer> peers;
  {
    ServerUnderTest server(
        [&](const ApiRequest&, const Peer&) {
          if (!asked.exchange(true)) BecomesReady(may_go_on);
          return ApiResponse{200, "{}", ""};
        },
        limits);
    for (int i = 0; i < 20; ++i) {
      peers.push_back(server.Connect());
      ASSERT_TRUE(peers.back().Send(Get("/")));
    }
    ASSERT_TRUE(BecomesTrue([&] { return asked && server.connections() == 20; }));
    go_on.set_value();
  }
  for (HttpPeer& peer : peers) {
    peer.Receive();
    EXPECT_TRUE(peer.Closed());
  }
}

TEST(HttpServer, ManyConnectionsAreServedAtOnce) {
  ServerUnderTest server(Echo);
  std::vector<HttpPeer> peers;
  for (int i = 0; i < 200; ++i) peers.push_back(server.Connect());
  for (HttpPeer& peer : peers) ASSERT_TRUE(peer.Send(Get("/many")));
  for (HttpPeer& peer : peers) EXPECT_EQ(peer.Receive()->status, 200);
}

TEST(HttpServer, ASlowAnswerDoesNotHoldUpOthers) {
  std::promise<void> let_go;
  std::shared_future<void> gate = let_go.get_future().share();
  ServerUnderTest server([gate](const ApiRequest& request, const Peer&) {
    if (request.target == "/slow") BecomesReady(gate);
    return ApiResponse{200, request.target, ""};
  });
  HttpPeer slow = server.Connect();
  ASSERT_TRUE(slow.Send(Get("/slow")));
  EXPECT_EQ(server.Connect().Ask(Get("/quick"))->body, "/quick");
  let_go.set_value();
  EXPECT_EQ(slow.Receive()->body, "/slow");
}

// It had logged that, and nobody was answered any more.
TEST(HttpServer, AnExceptionWhileAcceptingLeavesTheIoLoop) {
  TempFolder folder;
  boost::asio::io_context io{1};
  boost::asio::thread_pool workers{1};
  HttpLimits limits;
  limits.caller_of = [](int64_t) -> int64_t { throw std::bad_alloc(); };
  HttpServer server(io, {workers, workers}, limits, Echo);
  UnixListener listener = *UnixListener::Bind(folder.Path("s"), 0600, "");
  server.Listen(listener.TakeDescriptor(), HttpServer::Callers::kFromKernel);
  const HttpPeer peer(folder.Path("s"));
  EXPECT_THROW(RunUntil(io, [] { return false; }), std::bad_alloc);
}

TEST(HttpServer, GoesOnWhenTheSystemHasNoDescriptorLeftAndSaysSoOnce) {
  const LoggedLines logged;
  ServerUnderTest server(Echo);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  HttpPeer waiting = server.Connect();
  ASSERT_EQ(waiting.Ask(Get("/"))->status, 200);
  HttpPeer next = [&] {
    // Room for the client's end of one more connection, but not for the server's.
    const int lowest_free = dup(0);
    close(lowest_free);
    rlimit tight = before;
    tight.rlim_cur = static_cast<rlim_t>(lowest_free) + 1;
    setrlimit(RLIMIT_NOFILE, &tight);
    return server.Connect();
  }();
  ASSERT_TRUE(next.Send(Get("/later")));
  const auto several_tries = std::chrono::steady_clock::now() + milliseconds(350);
  do {
    EXPECT_EQ(waiting.Ask(Get("/still"))->status, 200);
  } while (std::chrono::steady_clock::now() < several_tries);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(next.Receive()->body, "GET /later " + ByMe());
  const std::string said = server.OnServer([&] { return logged.text(); });
  const size_t first = said.find("no connection can be taken");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("no connection can be taken", first + 1), std::string::npos) << said;
}

TEST(HttpServer, DrainClosesIdleConnectionsAndTakesNoNewOnes) {
  ServerUnderTest server(Echo);
  HttpPeer idle = server.Connect();
  ASSERT_EQ(idle.Ask(Get("/"))->status, 200);
  ASSERT_TRUE(BecomesReady(server.Drain(std::chrono::hours(1)))) << "it never drained";
  EXPECT_TRUE(idle.Closed());
  EXPECT_FALSE(server.Connect().connected());
}

TEST(HttpServer, DrainLetsARequestFinish) {
  std::promise<void> let_go;
  std::promise<void> begun;
  std::shared_future<void> gate = let_go.get_future().share();
  ServerUnderTest server([&begun, gate](const ApiRequest&, const Peer&) {
    begun.set_value();
    BecomesReady(gate);
    return ApiResponse{200, "done", ""};
  });
  HttpPeer busy = server.Connect();
  ASSERT_TRUE(busy.Send(Get("/")));
  ASSERT_TRUE(BecomesReady(begun.get_future())) << "the request was never answered";
  std::future<void> drained = server.Drain(std::chrono::hours(1));
  let_go.set_value();
  const auto reply = busy.Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, "done");
  EXPECT_NE(reply->header.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(BecomesReady(drained)) << "it never drained";
}

TEST(HttpServer, DrainCutsOffWhatIsNotFinishedInTime) {
  ServerUnderTest server(Echo);
  HttpPeer half = server.Connect();
  ASSERT_TRUE(half.Send("POST / HTTP/1.1\r\n"));
  ASSERT_EQ(server.Connect().Ask(Get("/"))->status, 200);  // so the half request has been seen
  ASSERT_TRUE(BecomesReady(server.Drain(milliseconds(20)))) << "it never drained";
  EXPECT_FALSE(half.Receive());
}

TEST(HttpServer, AnAnswerThatThrowsEndsOnlyItsConnection) {
  ServerUnderTest server([](const ApiRequest& request, const Peer&) -> ApiResponse {
    if (request.target == "/bug") throw std::runtime_error("a bug");
    return {200, "fine", ""};
  });
  EXPECT_FALSE(server.Connect().Ask(Get("/bug")));
  EXPECT_EQ(server.Connect().Ask(Get("/"))->body, "fine");
}

}  // namespace
}  // namespace gpuadvise::daemon
