// Calls over a Unix socket and plain TCP; those over TLS are in tests/client/https_test.py.
#include "common/net/http_call.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/base/version.h"
#include "common/process/descriptor.h"
#include "tests/fakes/fake_server.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise {
namespace {

using std::chrono::milliseconds;

class HttpCallTest : public testing::Test {
 protected:
  HttpCall Call(milliseconds deadline = milliseconds(20'000)) const {
    return {.place = ReadHttpPlace(path_).value(),
            .method = "POST",
            .target = "/v1/advise",
            .body = "{\"a\":1}",
            .deadline = deadline};
  }
  Result<HttpAnswer> Ask(ServedBytes served, milliseconds deadline = milliseconds(20'000)) {
    server_ = std::make_unique<FakeServer>(path_, std::move(served));
    return CallHttp(Call(deadline));
  }
  std::string Failure(ServedBytes served, milliseconds deadline = milliseconds(20'000)) {
    const Result<HttpAnswer> answer = Ask(std::move(served), deadline);
    return answer ? "answered: " + answer->body : answer.error().message;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.Path("s");
  std::unique_ptr<FakeServer> server_;
};

TEST_F(HttpCallTest, SendsARequestAndReadsTheAnswer) {
  server_ = std::make_unique<FakeServer>(path_, ServedBytes{{HttpBytes(200, "{\"b\":2}")}});
  HttpCall call = Call();
  call.fields = {{"Authorization", "Bearer x y"}};
  const auto answer = CallHttp(call);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "{\"b\":2}");
  EXPECT_EQ(server_->requests(),
            std::string("POST /v1/advise HTTP/1.1\r\nHost: localhost\r\nUser-Agent: gpuadvise/") +
                kVersion +
                "\r\nAccept: application/json\r\nConnection: close\r\nAuthorization: Bearer x y\r\n"
                "Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
}

TEST_F(HttpCallTest, NothingIsSentThatWouldWriteAHeader) {
  server_ = std::make_unique<FakeServer>(path_, ServedBytes{{HttpBytes(200, "{}")}});
  HttpCall call = Call();
  call.fields = {{"X-Token", "a\r\nX-Evil: 1"}};
  EXPECT_EQ(CallHttp(call).error().code, ErrorCode::kBadInput);
  call = Call();
  call.target = "/ HTTP/1.1\r\nX-Evil: 1";
  EXPECT_EQ(CallHttp(call).error().code, ErrorCode::kBadInput);
  EXPECT_EQ(server_->requests(), "");
}

TEST_F(HttpCallTest, ALargeAnswerIsRead) {
  const std::string large(5'000'000, 'x');
  EXPECT_EQ(Ask({{HttpBytes(200, large)}})->body, large);
}

TEST_F(HttpCallTest, AnEarlyRefusalIsRead) {
  const auto answer = Ask({{HttpBytes(413, "too large")}, false, false});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
}

TEST_F(HttpCallTest, ASilentServerIsGivenUp) {
  EXPECT_EQ(Failure({{}, true}, milliseconds(50)), "no answer within 0.05 s");
  EXPECT_EQ(Failure({{"HTTP/1.1 200 OK\r\n"}, true}, milliseconds(50)), "no answer within 0.05 s");
}

TEST_F(HttpCallTest, AServerThatHangsUpIsSaid) {
  EXPECT_EQ(Failure({{}}), "it ended in the middle of its answer");
}

TEST_F(HttpCallTest, AFullQueueOfConnectionsIsNotWaitedForLongerThanAsked) {
  const Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.get(), where, sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  const Descriptor first(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(first.get(), where, sizeof address), 0);  // nobody accepts it
  EXPECT_EQ(CallHttp(Call(milliseconds(50))).error().message, "no answer within 0.05 s");
}

TEST_F(HttpCallTest, WhereNobodyServesItIsSaid) {
  EXPECT_EQ(CallHttp(Call()).error().message, "there is no such socket");
  { const FakeServer gone(path_, {}); }
  EXPECT_EQ(CallHttp(Call()).error().message, "nothing listens there");
  path_ = "/" + std::string(200, 'x');
  EXPECT_EQ(CallHttp(Call()).error().code, ErrorCode::kBadInput);
}

TEST_F(HttpCallTest, NamesAreLookedUpAndEachAddressIsTried) {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* where = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.get(), where, size), 0);
  ASSERT_EQ(::getsockname(listener.get(), where, &size), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  HttpCall call = Call(milliseconds(300));
  for (const char* host : {"127.0.0.1", "localhost"}) {  // of which [::1] has no listener
    call.place = *ReadHttpPlace("http://" + std::string(host) + ":" +
                                std::to_string(ntohs(address.sin_port)));
    EXPECT_EQ(CallHttp(call).error().message, "no answer within 0.3 s") << host;
  }
  call.place.host = "nowhere.invalid";
  call.deadline = milliseconds(10'000);
  EXPECT_NE(CallHttp(call).error().message.find("the name nowhere.invalid is "), std::string::npos);
}

TEST(HttpPlaces, AreSocketsAndUrls) {
  EXPECT_EQ(ReadHttpPlace("/run/s")->path, "/run/s");
  EXPECT_EQ(ReadHttpPlace("unix:/run/s")->path, "/run/s");
  const HttpPlace plain = ReadHttpPlace("http://h:6820").value();
  EXPECT_EQ(plain.host + plain.prefix, "h");
  EXPECT_EQ(plain.port, 6820);
  const HttpPlace secure = ReadHttpPlace("https://h.example/rest/").value();
  EXPECT_EQ(secure.host + " " + secure.prefix, "h.example /rest");
  EXPECT_EQ(secure.port, 443);
  EXPECT_EQ(ReadHttpPlace("http://[::1]:80/")->host, "::1");
  EXPECT_EQ(ReadHttpPlace("http://[::1]")->port, 80);
  for (const char* bad : {"", "h:6820", "unix:run/s", "http://", "http://h:port", "http://h:0",
                          "http://h:65536", "http://h:", "http://a@b", "http://h:1 2",
                          "http://[::1", "ftp://h", "http://-x", "http://h/a b", "http://h/\r\n"}) {
    EXPECT_FALSE(ReadHttpPlace(bad)) << bad;
  }
}

TEST(QueryEncoded, KeepsOnlyWhatAQueryMayHave) {
  EXPECT_EQ(QueryEncoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(QueryEncoded("a b&=/\xc3"), "a%20b%26%3D%2F%C3");
}

}  // namespace
}  // namespace gpuadvise
