#include "client/api/http_client.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "client/api/daemon_client.h"
#include "tests/client/fake_server.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{20'000};

class HttpTest : public testing::Test {
 protected:
  Result<HttpAnswer> Ask(ServedBytes served, milliseconds timeout = kLong) {
    server_ = std::make_unique<FakeServer>(path_, std::move(served));
    return AskOverUnixSocket(path_, {"POST", "/v1/advise", "{\"a\":1}"}, timeout);
  }
  std::string Failure(ServedBytes served, milliseconds timeout = kLong) {
    const Result<HttpAnswer> answer = Ask(std::move(served), timeout);
    if (answer) return "answered: " + answer->body;
    EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
    return answer.error().message;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.Path("s");
  std::unique_ptr<FakeServer> server_;
};

TEST_F(HttpTest, SendsARequestAndReadsTheAnswer) {
  const auto answer = Ask({{HttpBytes(200, "{\"b\":2}")}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "{\"b\":2}");
  EXPECT_EQ(server_->requests(),
            "POST /v1/advise HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            "Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
}

TEST_F(HttpTest, AFullQueueOfConnectionsIsNotWaitedForLongerThanAsked) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(::bind(listener, where, sizeof address), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  const int first = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(first, where, sizeof address), 0);  // nobody accepts it
  const auto answer = AskOverUnixSocket(path_, {"GET", "/", ""}, milliseconds(50));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message,
            "no answer from " + path_ + " within 50 ms; gpuadvised is overloaded or hanging");
  ::close(first);
  ::close(listener);
}

TEST_F(HttpTest, ReadsAnAnswerInPieces) {
  std::vector<std::string> bytes;
  for (char c : HttpBytes(404, "not here")) bytes.emplace_back(1, c);
  const auto answer = Ask({bytes});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->body, "not here");
}

TEST_F(HttpTest, ReadsALargeAnswer) {
  const std::string large(5'000'000, 'x');
  const auto answer = Ask({{HttpBytes(200, large)}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, large);
}

TEST_F(HttpTest, ReadsAnAnswerThatEndsWithTheConnection) {
  const auto answer = Ask({{"HTTP/1.1 200 OK\r\n\r\nall of it"}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "all of it");
}

TEST_F(HttpTest, AnEarlyRefusalIsRead) {
  const auto answer = Ask({{HttpBytes(413, "too large")}, false, false});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
}

TEST_F(HttpTest, InterimHeadsComeBeforeTheAnswerButNotForEver) {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  const auto answer = Ask({{interim + interim + HttpBytes(200, "{}")}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "{}");
  std::string many;
  for (int i = 0; i < 1'000'000; ++i) many += interim;
  EXPECT_EQ(Failure({{many + HttpBytes(200, "{}")}}),
            "the answer is not HTTP (only interim answers, 100 Continue); does gpuadvised listen "
            "on this socket?");
}

TEST_F(HttpTest, ASilentServerIsGivenUp) {
  EXPECT_EQ(Failure({{}, true}, milliseconds(50)),
            "no answer from " + path_ + " within 50 ms; gpuadvised is overloaded or hanging");
}

TEST_F(HttpTest, AServerThatHangsUpIsNamed) {
  EXPECT_EQ(Failure({{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"}}),
            "gpuadvised at " + path_ + " closed the connection before it answered");
  EXPECT_EQ(Failure({{}}), "gpuadvised at " + path_ + " closed the connection before it answered");
}

TEST_F(HttpTest, RubbishIsNoAnswer) {
  EXPECT_EQ(Failure({{"SSH-2.0-OpenSSH_9.2\r\n\r\n"}}),
            "the answer is not HTTP (no status line); does gpuadvised listen on this socket?");
  EXPECT_NE(Failure({{std::string(200'000, 'x')}}).find("no end of the header"), std::string::npos);
}

TEST_F(HttpTest, NoSocketIsNamed) {
  const auto answer = AskOverUnixSocket("/nonexistent/s", {"GET", "/", ""}, kLong);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message,
            "cannot reach gpuadvised at /nonexistent/s: there is no such socket");
  const auto long_path = AskOverUnixSocket(std::string(200, 'x'), {"GET", "/", ""}, kLong);
  EXPECT_EQ(long_path.error().code, ErrorCode::kBadInput);
}

TEST_F(HttpTest, ASocketThatNobodyServesIsNamed) {
  { const FakeServer gone(path_, {}); }
  const auto answer = AskOverUnixSocket(path_, {"GET", "/", ""}, kLong);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message,
            "cannot reach gpuadvised at " + path_ + ": nothing listens there");
}

TEST_F(HttpTest, TheDaemonClientSaysHowToStartTheDaemon) {
  const auto answer = DaemonClient("/nonexistent/s").Get("/v1/gpus");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("Start it with `systemctl start gpuadvised`"),
            std::string::npos);
}

TEST_F(HttpTest, TheDaemonClientGivesTheApisError) {
  server_ = std::make_unique<FakeServer>(
      path_, ServedBytes{{HttpBytes(400, R"({"errors": [{"code": "bad_input", "message": "no",
                                             "pointer": "/spec/x"}]})")}});
  const auto answer = DaemonClient(path_).Post("/v1/advise", {{"a", 1}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), (Error{ErrorCode::kBadInput, "no", "/spec/x"}));
}

TEST(ApiAnswers, StatusAndBodyGiveAnAnswerOrAnError) {
  EXPECT_EQ(ReadApiAnswer(200, "{\"a\": 1}").value()["a"], 1);
  EXPECT_EQ(ReadApiAnswer(200, "[]").error().code, ErrorCode::kInternal);
  EXPECT_EQ(ReadApiAnswer(200, "{").error().code, ErrorCode::kInternal);
  EXPECT_EQ(ReadApiAnswer(429, "").error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(
      ReadApiAnswer(301, "").error(),
      (Error{ErrorCode::kUnavailable,
             "gpuadvised answered with HTTP status 301; does gpuadvised listen on this socket?",
             ""}));
  EXPECT_EQ(ReadApiAnswer(503, R"({"status": "starting", "cause": "no slurm.conf"})").error(),
            (Error{ErrorCode::kUnavailable, "no data yet: no slurm.conf", ""}));
  EXPECT_EQ(ReadApiAnswer(500, "{\"errors\": [7]}").error().code, ErrorCode::kInternal);
  const nlohmann::json long_one = {{"errors", {{{"message", std::string(1'000'000, 'x')}}}}};
  EXPECT_EQ(ReadApiAnswer(400, long_one.dump()).error().message.size(), 8'003u);
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(ReadApiAnswer(200, "{\"a\": " + deep + "\"]\"" + std::string(1'000'000, ']') + "}")
                .error()
                .code,
            ErrorCode::kInternal);
}

TEST(HttpAnswers, ChunksAreJoined) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n";
  const auto parsed = ParseHttpAnswer(bytes, false);
  ASSERT_TRUE(parsed && parsed->complete);
  EXPECT_EQ(parsed->answer.body, "abc0123456789");
}

TEST(HttpAnswers, ACutAnswerIsNotComplete) {
  const std::string bytes = HttpBytes(200, "0123456789");
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto parsed = ParseHttpAnswer(std::string_view(bytes).substr(0, size), true);
    EXPECT_TRUE(!parsed || !parsed->complete) << size;
  }
}

TEST(HttpAnswers, HeaderNamesHaveAnyCase) {
  const auto parsed = ParseHttpAnswer("HTTP/1.0 200 OK\r\ncOnTeNt-LeNgTh:  2 \r\n\r\nokay", false);
  ASSERT_TRUE(parsed && parsed->complete);
  EXPECT_EQ(parsed->answer.body, "ok");
}

TEST(HttpAnswers, BadLengthsAreRefused) {
  for (const char* length : {"-1", "x", "", "99999999999999999999", "1 2"}) {
    const std::string bytes =
        std::string("HTTP/1.1 200 OK\r\nContent-Length: ") + length + "\r\n\r\nx";
    EXPECT_FALSE(ParseHttpAnswer(bytes, false)) << length;
  }
}

TEST(HttpAnswers, AnyBytesAreHandled) {
  EXPECT_TRUE(rc::check([](const std::string& bytes, bool at_end) {
    std::ignore = ParseHttpAnswer(bytes, at_end);
    std::ignore =
        ParseHttpAnswer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + bytes, at_end);
  }));
}

TEST(SocketOfLocation, IsOfAUnixSocketAlone) {
  EXPECT_EQ(SocketOfLocation("http+unix://%2Frun%2Fa%20b.sock/v1/gpus?x=%2F"), "/run/a b.sock");
  for (const char* other : {"", "http://evil/", "http+unix://", "http+unix://run/x",
                            "http+unix://%2Frun%00x/", "http+unix://%2Frun%2/", "/v1/gpus"}) {
    EXPECT_EQ(SocketOfLocation(other), "") << other;
  }
}

TEST(HttpAnswerParser, KnowsWhereElseToAsk) {
  const auto parsed = ParseHttpAnswer(
      "HTTP/1.1 303 See Other\r\nLocation: http+unix://%2Fs/v1\r\nContent-Length: 0\r\n\r\n",
      false);
  ASSERT_TRUE(parsed && parsed->complete);
  EXPECT_EQ(parsed->answer.location, "http+unix://%2Fs/v1");
}

TEST(DaemonClient, NoTokenGoesWhereAnAnswerLeads) {
  const TemporaryFolder folder;
  const auto said = [&](const std::string& ca_file) {
    const FakeServer server(
        folder.Path("s"), {{"HTTP/1.1 307 Temporary Redirect\r\nLocation: https://127.0.0.1:1/\r\n"
                            "Content-Length: 0\r\n\r\n"}});
    DaemonAddress address(folder.Path("s"));
    address.ca_file = ca_file;
    testing::internal::CaptureStderr();
    EXPECT_FALSE(DaemonClient(address).Get("/v1/me"));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(said("").find("no token is sent there, because client.yaml has no ca_file"),
            std::string::npos);
  EXPECT_EQ(said(folder.Path("ca.crt")).find("no token"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::client
