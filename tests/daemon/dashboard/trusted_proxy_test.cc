// Whom a login proxy may name, and that nobody else may: on the edge as it is served, over TCP and
// on the proxy's own Unix socket.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/api/event_teller.h"
#include "daemon/dashboard/public_edge.h"
#include "daemon/http/listening.h"
#include "tests/daemon/fake_clock.h"
#include "tests/daemon/http/http_peer.h"
#include "tests/daemon/temp_folder.h"
#include "tests/fakes/seed_cluster.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

constexpr const char* kUser = "X-Remote-User";

std::string With(const std::string& target, const std::string& fields) {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
}

std::string As(const std::string& user, const std::string& target = "/v1/me") {
  return With(target, std::string(kUser) + ": " + user + "\r\n");
}

class TrustedProxyTest : public testing::Test {
 protected:
  TrustedProxyTest() {
    Snapshot snapshot = SnapshotOf(std::string(kSeedCluster) + "pend 900 gpul40s:1\n");
    snapshot.jobs.back().user = "ann";
    snapshot.jobs.back().uid = kAnn;
    snapshot.jobs.back().name = "of ann";
    cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
    events_.Publish();
  }

  // Serves over TCP, with the proxy at `address`.
  HttpPeer Connect(const std::string& address) {
    PublicEdgeOptions options;
    options.limits.proxy = TrustedProxy{kUser, ParseIpAddress(address), std::nullopt};
    edge_.emplace(state_, options);
    auto listener = BindTcp("127.0.0.1:0");
    const std::string port = listener->address.substr(listener->address.rfind(':') + 1);
    edge_->Serve(std::move(listener->descriptor));
    return HttpPeer::OverTcp(port);
  }

  // Serves on the proxy's socket; `uid` is the proxy's.
  HttpPeer ConnectToSocket(int64_t uid) {
    PublicEdgeOptions options;
    options.limits.proxy = TrustedProxy{kUser, std::nullopt, uid};
    edge_.emplace(state_, options);
    unix_.emplace(*UnixListener::Bind(folder_.Path("proxy"), 0600, ""));
    edge_->ServeProxy(unix_->TakeDescriptor());
    return HttpPeer(folder_.Path("proxy"));
  }

  static json Me(HttpPeer& peer, const std::string& request) {
    const auto reply = peer.Ask(request);
    if (!reply || reply->status != 200) return {{"status", reply ? reply->status : 0}};
    json me = json::parse(reply->body);
    return {{"user", me["user"]}, {"note", me["note"]}};
  }

  std::string OnTheUnixSocket(const std::string& target) {
    return Handle({"GET", target, ""}, {kAnn, false, kAnn}, state_).Bytes();
  }

  static constexpr int64_t kAnn = 1001;
  static std::string NameOf(int64_t uid) { return uid == kAnn ? "ann" : uid == 0 ? "root" : ""; }
  static std::optional<int64_t> UidOf(const std::string& name) {
    if (name == "ann" || name == "ANN") return kAnn;
    if (name == "root" || name == "toor") return 0;
    return std::nullopt;
  }

  FakeClock clock_{kSnapshotTime};
  ClusterState cluster_{
      clock_, std::make_shared<const Catalogues>(Catalogues{ShippedGpus(), ShippedModels()}), 120};
  AdviceStore advice_{"test"};
  UserNames users_{clock_, NameOf, UidOf};
  HistoryWriter history_{nullptr, "none in this test", clock_, 1};
  ExperimentLog experiments_{history_};
  EventTeller events_{cluster_};
  ApiState state_{cluster_, history_, advice_, experiments_, users_,
                  clock_,   "",       Serial,  nullptr,      &events_};
  TempFolder folder_;
  std::optional<PublicEdge> edge_;
  std::optional<UnixListener> unix_;
};

const json kNobody = {{"user", nullptr}, {"note", nullptr}};
const json kAnnHerself = {{"user", "ann"}, {"note", nullptr}};

TEST_F(TrustedProxyTest, UsersSeeByteForByteWhatTheUnixSocketShowsThem) {
  HttpPeer proxy = Connect("127.0.0.1");
  for (const char* target :
       {"/v1/me", "/v1/queue", "/v1/queue?user=ann", "/v1/jobs/900", "/v1/nodes", "/v1/gpus",
        "/v1/waits", "/v1/advice", "/v1/site", "/v1/history", "/v1/nothing"}) {
    const auto reply = proxy.Ask(As("ann", target));
    ASSERT_TRUE(reply) << target;
    EXPECT_EQ(reply->body, OnTheUnixSocket(target)) << target;
  }
}

TEST_F(TrustedProxyTest, WhoeverIsNotNamedSeesThePublicPart) {
  HttpPeer proxy = Connect("127.0.0.1");
  EXPECT_EQ(Me(proxy, With("/v1/me", "")), kNobody);
  EXPECT_EQ(Me(proxy, As("")), kNobody);
  EXPECT_EQ(Me(proxy, As("   ")), kNobody);
  EXPECT_EQ(proxy.Ask(With("/v1/advice", ""))->status, 404);
  EXPECT_EQ(proxy.Ask(With("/v1/queue", ""))->body.find("of ann"), std::string::npos);
}

TEST_F(TrustedProxyTest, AStrangersHeaderMeansNothing) {
  HttpPeer stranger = Connect("127.0.0.2");
  EXPECT_EQ(Me(stranger, As("ann")), kNobody);
  EXPECT_EQ(stranger.Ask(As("ann", "/v1/queue"))->body.find("of ann"), std::string::npos);
  EXPECT_EQ(stranger.Ask(As("ann", "/v1/advice"))->status, 404);
}

TEST_F(TrustedProxyTest, NoHeaderNamesAnybodyWhereNoProxyIsTrusted) {
  edge_.emplace(state_, PublicEdgeOptions());
  auto listener = BindTcp("127.0.0.1:0");
  const std::string port = listener->address.substr(listener->address.rfind(':') + 1);
  edge_->Serve(std::move(listener->descriptor));
  HttpPeer peer = HttpPeer::OverTcp(port);
  EXPECT_EQ(Me(peer, As("ann")), kNobody);
}

TEST_F(TrustedProxyTest, TwoHeadersNameNobody) {
  HttpPeer proxy = Connect("127.0.0.1");
  for (const char* second : {"ann", "root", ""}) {
    const json me = Me(proxy, With("/v1/me", std::string("X-Remote-User: ann\r\nx-remote-user: ") +
                                                 second + "\r\n"));
    EXPECT_EQ(me["user"], nullptr) << second;
    EXPECT_NE(me["note"].get<std::string>().find("more than once"), std::string::npos);
  }
}

TEST_F(TrustedProxyTest, NobodyIsNamedByWhatMayBeTwoNamesOrNone) {
  HttpPeer proxy = Connect("127.0.0.1");
  for (const std::string& name :
       {std::string("ann, root"), std::string("ann,ann"), std::string("zoe"), std::string("1001"),
        std::string("0"), std::string("../ann"), std::string(5000, 'a'), std::string("ann\xff"),
        std::string("ann:x"), std::string("\"ann\"")}) {
    const json me = Me(proxy, As(name));
    EXPECT_EQ(me["user"], nullptr) << name;
    EXPECT_NE(me["note"].get<std::string>().find("knows no such user"), std::string::npos) << me;
    EXPECT_LT(me["note"].get<std::string>().size(), 300u);
  }
}

TEST_F(TrustedProxyTest, RootIsNobodyBehindAProxy) {
  HttpPeer proxy = Connect("127.0.0.1");
  for (const char* name : {"root", "toor"}) {
    const json me = Me(proxy, As(name));
    EXPECT_EQ(me["user"], nullptr);
    EXPECT_NE(me["note"].get<std::string>().find("root has no rights"), std::string::npos);
  }
}

TEST_F(TrustedProxyTest, EachRequestOfAConnectionIsItsOwn) {
  HttpPeer proxy = Connect("127.0.0.1");
  ASSERT_TRUE(proxy.Send(As("ann") + With("/v1/me", "") + As("zoe") + As("ann")));
  std::vector<json> users;
  for (int i = 0; i < 4; ++i) {
    const auto reply = proxy.Receive();
    ASSERT_TRUE(reply);
    users.push_back(json::parse(reply->body)["user"]);
  }
  EXPECT_EQ(users, (std::vector<json>{"ann", nullptr, nullptr, "ann"}));
}

TEST_F(TrustedProxyTest, AFieldBehindTheBodyNamesNobody) {
  HttpPeer proxy = Connect("127.0.0.1");
  const auto reply = proxy.Ask(
      "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
      "Trailer: X-Remote-User\r\n\r\n1\r\nx\r\n0\r\nX-Remote-User: ann\r\n\r\n");
  ASSERT_TRUE(reply);
  EXPECT_EQ(json::parse(reply->body)["user"], nullptr);
  EXPECT_EQ(Me(proxy, With("/v1/me", "")), kNobody);
}

TEST_F(TrustedProxyTest, AnotherSitesPageIsRefusedWhomeverTheProxyNames) {
  HttpPeer proxy = Connect("127.0.0.1");
  EXPECT_EQ(proxy.Ask(With("/v1/queue", "X-Remote-User: ann\r\nOrigin: https://evil.example\r\n"))
                ->status,
            403);
}

TEST_F(TrustedProxyTest, ANamedUsersAnswerIsNotKeptForOthers) {
  HttpPeer proxy = Connect("127.0.0.1");
  const auto ann = proxy.Ask(As("ann", "/v1/queue"));
  const auto nobody = proxy.Ask(With("/v1/queue", ""));
  ASSERT_TRUE(ann && nobody);
  EXPECT_NE(ann->body.find("of ann"), std::string::npos);
  EXPECT_EQ(nobody->body.find("of ann"), std::string::npos);
  EXPECT_NE(ann->header.find("no-store"), std::string::npos);
}

TEST_F(TrustedProxyTest, OnItsSocketTheKernelSaysWhoIsTheProxy) {
  HttpPeer proxy = ConnectToSocket(getuid());
  EXPECT_EQ(Me(proxy, As("ann")), kAnnHerself);
}

TEST_F(TrustedProxyTest, WhoeverElseComesOnItsSocketHasNoName) {
  HttpPeer other = ConnectToSocket(getuid() + 1);
  EXPECT_EQ(Me(other, As("ann")), kNobody);
  EXPECT_EQ(Me(other, As("root")), kNobody);
  EXPECT_EQ(other.Ask(As("ann", "/v1/advice"))->status, 404);
}

TEST_F(TrustedProxyTest, TheProxysConnectionsAreNotThoseOfOneCaller) {
  HttpLimits limits;
  limits.max_connections_per_user = 2;
  Peer proxy{-1, true, -7, true};
  EXPECT_EQ(WhyNoConnection(200, 200, proxy, limits), "");
  EXPECT_NE(WhyNoConnection(limits.max_connections, 200, proxy, limits), "");
  proxy.is_proxy = false;
  EXPECT_NE(WhyNoConnection(200, 200, proxy, limits), "");
}

TEST_F(TrustedProxyTest, OneUserBehindTheProxyDoesNotHoldTheEventsOfAll) {
  PublicEdgeOptions options;
  options.limits.proxy = TrustedProxy{kUser, ParseIpAddress("127.0.0.1"), std::nullopt};
  options.limits.max_events_per_user = 1;
  edge_.emplace(state_, options);
  auto listener = BindTcp("127.0.0.1:0");
  const std::string port = listener->address.substr(listener->address.rfind(':') + 1);
  edge_->Serve(std::move(listener->descriptor));
  HttpPeer first = HttpPeer::OverTcp(port);
  HttpPeer second = HttpPeer::OverTcp(port);
  HttpPeer other = HttpPeer::OverTcp(port);
  ASSERT_TRUE(first.Send(As("ann", "/v1/events")));
  ASSERT_NE(first.ReadUntil("\n\n").find("200"), std::string::npos);
  EXPECT_EQ(second.Ask(As("ann", "/v1/events"))->status, 429);
  ASSERT_TRUE(other.Send(As("bob", "/v1/events")));
  EXPECT_NE(other.ReadUntil("\r\n").find("200"), std::string::npos);
}

TEST(IpAddressTest, AllFormsOfOneAddressAreEqual) {
  const auto v4 = ParseIpAddress("10.0.0.7");
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4, ParseIpAddress("::ffff:10.0.0.7"));
  EXPECT_EQ(v4, ParseIpAddress("[::ffff:a00:7]"));
  EXPECT_EQ(v4, ParseIpAddress("0:0:0:0:0:FFFF:0a00:0007"));
  EXPECT_EQ(ParseIpAddress("2001:db8::7"), ParseIpAddress("[2001:0DB8:0:0::0007]"));
  EXPECT_NE(v4, ParseIpAddress("::10.0.0.7"));
  for (const char* none : {"", "10.0.0", "10.0.0.7/24", "010.0.0.7", "fe80::1%eth0", "[10.0.0.7]",
                           "localhost", "10.0.0.7 ", "[::1", "::1]"}) {
    EXPECT_FALSE(ParseIpAddress(none)) << none;
  }
  EXPECT_FALSE(ParseIpAddress(std::string("10.0.0.7\0x", 10)));
}

TEST(IpAddressTest, LoopbackAndLinkLocalAreToldInEveryForm) {
  for (const char* text : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "[::1]"}) {
    EXPECT_TRUE(IsLoopback(*ParseIpAddress(text))) << text;
  }
  EXPECT_FALSE(IsLoopback(*ParseIpAddress("10.0.0.7")));
  EXPECT_TRUE(IsLinkLocal(*ParseIpAddress("fe80::1")));
  EXPECT_TRUE(IsLinkLocal(*ParseIpAddress("::ffff:169.254.1.1")));
  EXPECT_FALSE(IsLinkLocal(*ParseIpAddress("fec0::1")));
}

}  // namespace
}  // namespace gpuadvise::daemon
