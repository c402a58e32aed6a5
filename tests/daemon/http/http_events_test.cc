// Event streams over a real server: events as they come, signs of life, and ends.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "daemon/http/event_feed.h"
#include "tests/daemon/http/server_under_test.h"
#include "tests/daemon/patience.h"

namespace gpuadvise::daemon {
namespace {

using std::chrono::milliseconds;

HttpLimits Quick() {
  HttpLimits limits;
  limits.event_interval = milliseconds(20);
  return limits;
}

// Every request joins the hub.
class HttpEventsTest : public testing::Test {
 protected:
  ApiResponse Join() {
    ApiResponse response;
    response.content_type = "text/event-stream";
    response.events = hub_.Join(-1, EventText("snapshot", "0"));
    response.events_last = events_last_;
    return response;
  }

  std::optional<std::chrono::seconds> events_last_;
  EventHub hub_;
  ServerUnderTest server_{[this](const ApiRequest&, const Peer&) { return Join(); }, Quick()};
};

TEST_F(HttpEventsTest, AStreamHasNoLengthAndBeginsWithThePicture) {
  HttpPeer peer = server_.Connect();
  const auto reply = peer.Ask(Get("/v1/events"));
  ASSERT_TRUE(reply);
  EXPECT_NE(reply->header.find("Content-Type: text/event-stream"), std::string::npos);
  EXPECT_EQ(reply->header.find("Content-Length"), std::string::npos);
  EXPECT_EQ(peer.ReadUntil("data: 0\n\n"), "event: snapshot\ndata: 0\n\n");
}

TEST_F(HttpEventsTest, EventsComeAsTheyHappen) {
  HttpPeer peer = server_.Connect();
  peer.Ask(Get("/v1/events"));
  peer.ReadUntil("data: 0\n\n");
  for (int i = 1; i <= 200; ++i) {
    hub_.TellAll(EventText("snapshot", std::to_string(i)));
    const std::string data = "data: " + std::to_string(i) + "\n\n";
    ASSERT_NE(peer.ReadUntil(data).find(data), std::string::npos);
  }
}

TEST_F(HttpEventsTest, SignsOfLifeComeWhileNothingHappens) {
  HttpPeer peer = server_.Connect();
  peer.Ask(Get("/v1/events"));
  EXPECT_NE(peer.ReadUntil("event: alive\ndata: {}\n\nevent: alive\ndata: {}\n\n"), "");
}

TEST_F(HttpEventsTest, AListenerThatClosesIsLetGo) {
  {
    HttpPeer peer = server_.Connect();
    peer.Ask(Get("/v1/events"));
  }
  ASSERT_TRUE(BecomesTrue([&] { return server_.connections() == 0; }))
      << "the connection of a listener that closed is still open";
  hub_.TellAll(EventText("snapshot", "1"));
  EXPECT_TRUE(server_.Connect().Ask(Get("/v1/events")));
}

TEST_F(HttpEventsTest, WhatAListenerSendsEndsItsStream) {
  HttpPeer peer = server_.Connect();
  peer.Ask(Get("/v1/events"));
  peer.Send(Get("/v1/gpus"));
  EXPECT_EQ(peer.ReadUntil("no such text").find("HTTP/1.1"), std::string::npos);
}

TEST_F(HttpEventsTest, AStreamThatMayLastSoLongEndsThen) {
  events_last_ = std::chrono::seconds(0);
  HttpPeer peer = server_.Connect();
  peer.Ask(Get("/v1/events"));
  EXPECT_TRUE(BecomesTrue([&] { return server_.connections() == 0; }));
}

TEST_F(HttpEventsTest, DrainingEndsStreams) {
  HttpPeer peer = server_.Connect();
  peer.Ask(Get("/v1/events"));
  ASSERT_TRUE(BecomesReady(server_.Drain(std::chrono::seconds(10)))) << "it never drained";
  EXPECT_EQ(server_.connections(), 0u);
}

TEST(HttpEvents, AListenerThatDoesNotReadIsCutOffAndHoldsNobodyUp) {
  EventHub hub;
  HttpLimits limits;
  limits.request_timeout = milliseconds(50);
  ServerUnderTest server(
      [&](const ApiRequest& request, const Peer&) {
        ApiResponse response;
        if (request.target == "/v1/events") response.events = hub.Join(-1, nullptr);
        return response;
      },
      limits);
  HttpPeer lazy = server.Connect();
  lazy.Ask(Get("/v1/events"));
  const SharedText large = EventText("snapshot", std::string(1 << 20, 'x'));
  const bool cut_off = BecomesTrue([&] {
    hub.TellAll(large);
    return server.connections() == 0;
  });
  ASSERT_TRUE(cut_off) << "a listener that does not read keeps its connection";
  EXPECT_TRUE(server.Connect().Ask(Get("/v1/gpus")));
}

TEST(HttpHead, SaysWhatGetWouldWithoutTheBody) {
  ServerUnderTest server([](const ApiRequest& request, const Peer&) {
    return ApiResponse{200, request.method + " body", ""};
  });
  HttpPeer peer = server.Connect();
  ASSERT_TRUE(peer.Send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + Get("/next")));
  const std::string header = peer.ReadUntil("\r\n\r\n");
  EXPECT_NE(header.find("Content-Length: 8"), std::string::npos);
  const auto next = peer.Receive();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->body, "GET body");
}

TEST(HttpQuestions, OneTooManyIsToldToComeBack) {
  HttpLimits limits;
  limits.max_questions = 0;
  ServerUnderTest server([](const ApiRequest&, const Peer&) { return ApiResponse{}; }, limits);
  const auto refused = server.Connect().Ask(Post("/v1/advise", "{}"));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 503);
  EXPECT_NE(refused->header.find("Retry-After: 2"), std::string::npos);
  EXPECT_EQ(server.Connect().Ask(Get("/"))->status, 200);
}

TEST(HttpQuestions, OneOtherRequestTooManyIsToldTheSame) {
  HttpLimits limits;
  limits.max_waiting = 0;
  ServerUnderTest server([](const ApiRequest&, const Peer&) { return ApiResponse{}; }, limits);
  EXPECT_EQ(server.Connect().Ask(Get("/v1/gpus"))->status, 503);
  EXPECT_EQ(server.Connect().Ask(Post("/v1/advise", "{}"))->status, 200);
}

}  // namespace
}  // namespace gpuadvise::daemon
