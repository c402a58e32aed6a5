#include "client/api/daemon_client.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tests/fakes/fake_server.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

const std::string kStandby = HttpBytes(
    503, R"({"errors": [{"code": "standby", "message": "another gpuadvised holds the history"}]})");
const std::string kAnswer = HttpBytes(200, R"({"gpus": []})");

class DaemonClientTest : public testing::Test {
 protected:
  std::unique_ptr<FakeServer> Serve(const char* name, const std::string& answer) {
    return std::make_unique<FakeServer>(folder_.Path(name), ServedBytes{{answer}});
  }
  DaemonAddress At(const std::vector<const char*>& names) const {
    DaemonAddress address;
    for (const char* name : names) address.places.push_back(folder_.Path(name));
    return address;
  }
  std::string WhyNot(const std::vector<const char*>& names, int patience_ms = 30'000) const {
    DaemonClient client(At(names), std::chrono::milliseconds(patience_ms));
    const auto answer = client.Get("/v1/gpus");
    return answer ? "answered" : answer.error().message;
  }

  TemporaryFolder folder_;
};

TEST_F(DaemonClientTest, SaysHowToStartTheDaemonOfThisHost) {
  EXPECT_NE(WhyNot({"none"}).find("Start it with `systemctl start gpuadvised`"), std::string::npos);
}

TEST_F(DaemonClientTest, GivesTheApisError) {
  const auto server = Serve("s", HttpBytes(400, R"({"errors": [{"code": "bad_input",
                                                    "message": "no", "pointer": "/spec/x"}]})"));
  const auto answer = DaemonClient(At({"s"})).Post("/v1/advise", {{"a", 1}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), (Error{ErrorCode::kBadInput, "no", "/spec/x"}));
}

TEST_F(DaemonClientTest, TheNextOfAListIsAskedWhereOneDoesNotAnswer) {
  const auto standby = Serve("standby", kStandby);
  const auto second = Serve("second", kAnswer);
  DaemonClient client(At({"none", "standby", "second"}));
  EXPECT_TRUE(client.Get("/v1/gpus"));
  EXPECT_TRUE(client.Get("/v1/gpus"));
  const std::string asked = standby->requests();
  EXPECT_EQ(asked.find("GET"), asked.rfind("GET")) << "the one that answered is asked first";
}

TEST_F(DaemonClientTest, AnErrorOfTheApiIsNoReasonToAskTheNext) {
  const auto first =
      Serve("first", HttpBytes(503, R"({"status": "starting", "cause": "no nodes"})"));
  const auto second = Serve("second", kAnswer);
  EXPECT_EQ(WhyNot({"first", "second"}), "no data yet: no nodes");
  EXPECT_EQ(second->requests(), "");
}

TEST_F(DaemonClientTest, ARedirectIsNotFollowed) {
  const auto first =
      Serve("first", "HTTP/1.1 307 X\r\nLocation: /v1/x\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(WhyNot({"first"}),
            "gpuadvised answered with HTTP status 307; does gpuadvised listen on this socket?");
}

TEST_F(DaemonClientTest, WhereNoneAnswersEachIsNamed) {
  const std::string said = WhyNot({"a", "b"});
  EXPECT_EQ(said, "cannot reach gpuadvised at " + folder_.Path("a") +
                      ": there is no such socket; cannot reach gpuadvised at " + folder_.Path("b") +
                      ": there is no such socket");
}

TEST_F(DaemonClientTest, AStandbyIsAskedAgainUntilItHasTakenOver) {
  const FakeServer server(folder_.Path("s"), ServedBytes{{kStandby}, false, true, {kAnswer}});
  EXPECT_EQ(WhyNot({"none", "s"}), "answered");
}

TEST_F(DaemonClientTest, AStandbyIsNotWaitedForLongerThanTheCallersPatience) {
  const auto standby = Serve("s", kStandby);
  EXPECT_EQ(WhyNot({"s"}, 900), "another gpuadvised holds the history");
}

TEST(DaemonLists, HaveUrlsAndSockets) {
  EXPECT_EQ(ReadDaemonList("https://a:6829, /run/b.sock").value(),
            (std::vector<std::string>{"https://a:6829", "/run/b.sock"}));
  for (const char* bad : {"", "http://a:1", "https://", "a,b", "https://a:6829,", "unix:/x"}) {
    EXPECT_FALSE(ReadDaemonList(bad)) << bad;
  }
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

}  // namespace
}  // namespace gpuadvise::client
