#include "daemon/dashboard/public_edge.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/api/event_teller.h"
#include "daemon/http/listening.h"
#include "tests/daemon/fake_clock.h"
#include "tests/daemon/http/http_peer.h"
#include "tests/daemon/patience.h"
#include "tests/fakes/seed_cluster.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

std::string Unzipped(const std::string& zipped) {
  std::string bytes(1 << 20, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string input = zipped;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return bytes;
}

class PublicEdgeTest : public testing::Test {
 protected:
  PublicEdgeTest() {
    Snapshot snapshot = SnapshotOf(kSeedCluster);
    snapshot.cluster = "seed";
    snapshot.source = "slurm-cli";
    cluster_.Accept(std::make_shared<const Snapshot>(std::move(snapshot)));
    events_.Publish();
    auto listener = BindTcp("127.0.0.1:0");
    port_ = listener->address.substr(listener->address.rfind(':') + 1);
    edge_.Serve(std::move(listener->descriptor));
  }

  HttpPeer Connect() const { return HttpPeer::OverTcp(port_); }

  HttpReply Ask(const std::string& path, const std::string& fields = "") {
    const auto reply = Connect().Ask("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + port_ +
                                     "\r\n" + fields + "\r\n");
    return reply.value_or(HttpReply{});
  }

  static PublicEdgeOptions Options() {
    PublicEdgeOptions options;
    options.limits.max_body_bytes = 1000;
    options.limits.max_connections = 700;
    options.hosts = {"gpu.example.org"};
    return options;
  }

  FakeClock clock_{kSnapshotTime};
  ClusterState cluster_{
      clock_, std::make_shared<const Catalogues>(Catalogues{ShippedGpus(), ShippedModels()}), 120};
  AdviceStore advice_{"test"};
  UserNames users_{clock_};
  HistoryWriter history_{nullptr, "none in this test", clock_, 1};
  ExperimentLog experiments_{history_};
  EventTeller events_{cluster_};
  ApiState state_{cluster_, history_, advice_, experiments_, users_,
                  clock_,   "",       Serial,  nullptr,      &events_};
  PublicEdge edge_{state_, Options()};
  std::string port_;
};

TEST_F(PublicEdgeTest, AnswersWhatAnybodyMayRead) {
  const HttpReply reply = Ask("/v1/gpus");
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(json::parse(reply.body)["gpus"].empty());
  EXPECT_EQ(Ask("/v1/advice").status, 404);
}

TEST_F(PublicEdgeTest, ABrowserGetsItCompressed) {
  const HttpReply plain = Ask("/v1/gpus");
  const HttpReply zipped = Ask("/v1/gpus", "Accept-Encoding: gzip, br\r\n");
  EXPECT_EQ(plain.header.find("Content-Encoding"), std::string::npos);
  EXPECT_NE(zipped.header.find("Content-Encoding: gzip"), std::string::npos) << zipped.header;
  EXPECT_NE(zipped.header.find("Vary: Accept-Encoding"), std::string::npos) << zipped.header;
  EXPECT_LT(zipped.body.size() * 3, plain.body.size());
  EXPECT_EQ(Unzipped(zipped.body), plain.body);
  EXPECT_EQ(Ask("/v1/gpus", "Accept-Encoding: gzip; q=0\r\n").body, plain.body);
  EXPECT_EQ(Ask("/v1/gpus", "Accept-Encoding: br\r\n").body, plain.body);
  EXPECT_EQ(Ask("/v1/gpus", "Accept-Encoding: br, GZIP;q=0.5\r\n").body, zipped.body);
}

TEST_F(PublicEdgeTest, AShortAnswerStaysAsItIs) {
  const HttpReply reply = Ask("/v1/nothing", "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(reply.header.find("Content-Encoding"), std::string::npos) << reply.header;
  EXPECT_TRUE(json::accept(reply.body)) << reply.body;
}

TEST_F(PublicEdgeTest, NeverAllowsAnotherPageToRead) {
  const HttpReply refused = Ask("/v1/gpus", "Origin: http://evil.example\r\n");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(json::parse(refused.body)["errors"][0]["code"], "forbidden");
  for (const HttpReply& reply : {refused, Ask("/v1/gpus"), Ask("/")}) {
    EXPECT_EQ(reply.header.find("Access-Control-Allow"), std::string::npos);
    EXPECT_NE(reply.header.find("Cross-Origin-Resource-Policy: same-origin"), std::string::npos);
    EXPECT_NE(reply.header.find("X-Content-Type-Options: nosniff"), std::string::npos);
  }
}

TEST_F(PublicEdgeTest, APreflightGetsNoPermission) {
  const auto reply = Connect().Ask(
      "OPTIONS /v1/advise HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\n"
      "Access-Control-Request-Method: POST\r\n\r\n");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 403);
}

TEST_F(PublicEdgeTest, AReboundNameIsRefused) {
  const auto reply = Connect().Ask("GET / HTTP/1.1\r\nHost: rebound.example\r\n\r\n");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 403);
}

TEST_F(PublicEdgeTest, AFieldGivenTwiceDecidesNothing) {
  for (const char* fields :
       {"Host: 127.0.0.1\r\nHost: evil.example\r\n",
        "Host: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nOrigin: http://x\r\n"}) {
    const auto reply = Connect().Ask(std::string("GET /v1/gpus HTTP/1.1\r\n") + fields + "\r\n");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 403) << fields;
  }
}

TEST_F(PublicEdgeTest, StrangersGetPagesOfABoundedSize) {
  std::string lines = kSeedCluster;
  for (int id = 1; id <= 300; ++id) lines += "pend " + std::to_string(id) + " gpul40s:6\n";
  cluster_.Accept(std::make_shared<const Snapshot>(SnapshotOf(lines)));
  const json page = json::parse(Ask("/v1/queue?limit=100000").body);
  EXPECT_EQ(page["jobs"].size(), 200u);
  EXPECT_EQ(page["total"], 300);
}

TEST_F(PublicEdgeTest, OneAddressHasSoManyConnections) {
  PublicEdgeOptions options = Options();
  options.limits.max_connections_per_user = 2;
  options.limits.per_user_setting = "listen_max_connections_per_address";
  PublicEdge edge(state_, options);
  auto listener = BindTcp("127.0.0.1:0");
  const std::string port = listener->address.substr(listener->address.rfind(':') + 1);
  edge.Serve(std::move(listener->descriptor));
  const std::string request = "GET /v1/gpus HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n";
  HttpPeer first = HttpPeer::OverTcp(port);
  HttpPeer second = HttpPeer::OverTcp(port);
  ASSERT_EQ(first.Ask(request)->status, 200);
  ASSERT_EQ(second.Ask(request)->status, 200);
  const auto third = HttpPeer::OverTcp(port).Receive();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->status, 429);
  EXPECT_NE(third->body.find("listen_max_connections_per_address"), std::string::npos);
}

TEST_F(PublicEdgeTest, EventsComeOverTcp) {
  HttpPeer peer = Connect();
  ASSERT_TRUE(peer.Ask(Get("/v1/events")));
  const std::string picture = peer.ReadUntil("\n\n");
  EXPECT_NE(picture.find("\"cluster\":\"seed\""), std::string::npos);
}

TEST_F(PublicEdgeTest, ATrainingFileIsAskedAsText) {
  const json body = {{"spec_yaml",
                      "name: x\nmodel: {memory: {base: 5 GB, per_sample: 1 GB}}\n"
                      "training:\n  max_steps: 100\n  effective_batch_size: 8\n"
                      "  measured: [{gpu: rtx4090, gpus: 1, batch: 1, seconds_per_step: 1}]\n"}};
  const auto fit = Connect().Ask(Post("/v1/fit", body.dump()));
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->status, 200) << fit->body;
  EXPECT_FALSE(json::parse(fit->body)["gpus"].empty());
  const auto advise = Connect().Ask(Post("/v1/advise", body.dump()));
  EXPECT_EQ(advise->status, 200) << advise->body;
  EXPECT_FALSE(json::parse(advise->body)["strategies"].empty());
  const auto scale = Connect().Ask(Post("/v1/scale", body.dump()));
  EXPECT_EQ(scale->status, 200) << scale->body;
  EXPECT_FALSE(json::parse(scale->body)["steps"].empty());
}

TEST_F(PublicEdgeTest, WhatFitsIsSaidWithoutARunLength) {
  const json body = {{"spec_yaml", "model: {preset: gpt2}\n"}};
  EXPECT_EQ(Connect().Ask(Post("/v1/fit", body.dump()))->status, 200);
  EXPECT_EQ(Connect().Ask(Post("/v1/scale", body.dump()))->status, 400);
}

TEST_F(PublicEdgeTest, AMistakeInATrainingFileIsToldWithItsLine) {
  const json body = {
      {"spec_yaml", "name: x\nmodel: {preset: gr00t-n1-2b}\ntraining:\n  steps: 9\n"}};
  const auto reply = Connect().Ask(Post("/v1/advise", body.dump()));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 400);
  const std::string message = json::parse(reply->body)["errors"][0]["message"];
  EXPECT_TRUE(message.starts_with("train.yaml:4: ")) << message;
}

TEST_F(PublicEdgeTest, NoFileOfTheDaemonsMachineIsRead) {
  for (const char* file : {"/etc/passwd", "config.json", "../../etc/shadow.json"}) {
    const json body = {{"spec_yaml", std::string("model: {hf_config: ") + file + "}\n"}};
    const auto reply = Connect().Ask(Post("/v1/fit", body.dump()));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 400);
    EXPECT_NE(reply->body.find("is a file, which is not sent along"), std::string::npos);
  }
}

TEST_F(PublicEdgeTest, ABodyOverTheBoundIsRefused) {
  EXPECT_EQ(Connect().Ask(Post("/v1/advise", std::string(1001, ' ')))->status, 413);
}

TEST_F(PublicEdgeTest, FiveHundredPagesStayOpenAndAreAllTold) {
  std::vector<HttpPeer> pages;
  for (int i = 0; i < 500; ++i) {
    pages.push_back(Connect());
    ASSERT_TRUE(pages.back().Send(Get("/v1/events"))) << i;
  }
  for (HttpPeer& page : pages) ASSERT_TRUE(page.Receive());
  cluster_.Accept(std::make_shared<const Snapshot>(SnapshotOf(kSeedCluster)));
  events_.Publish();
  for (HttpPeer& page : pages) {
    ASSERT_NE(page.ReadUntil("\"number\":2").find("\"number\":2"), std::string::npos);
  }
}

TEST_F(PublicEdgeTest, DrainingEndsOpenPages) {
  HttpPeer page = Connect();
  page.Ask(Get("/v1/events"));
  std::promise<void> drained;
  edge_.Drain(std::chrono::seconds(10), [&] { drained.set_value(); });
  ASSERT_TRUE(BecomesReady(drained.get_future())) << "it never drained";
  EXPECT_EQ(page.ReadUntil("no such text").find("no such text"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::daemon
