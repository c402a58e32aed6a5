#include "daemon/clusters/other_clusters.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "tests/daemon/http/server_under_test.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kOften{50};

// Asks the servers of other clusters until `wanted` is true of what they said.
template <typename Wanted>
json WaitsOnce(const OtherClusters& clusters, const Wanted& wanted) {
  const auto until = steady_clock::now() + std::chrono::seconds(20);
  json waits = clusters.Waits();
  while (!wanted(waits) && steady_clock::now() < until) {
    std::this_thread::sleep_for(milliseconds(20));
    waits = clusters.Waits();
  }
  EXPECT_TRUE(wanted(waits)) << waits;
  return waits;
}

std::unique_ptr<OtherClusters> Knowing(const std::map<std::string, std::string>& addresses) {
  auto made = OtherClusters::Make(addresses, "", kOften);
  EXPECT_TRUE(made) << made.error().message;
  return made ? std::move(*made) : nullptr;
}

bool HasAnswered(const json& waits) { return !waits[0]["gpus"].is_null(); }

TEST(OtherClusters, KeepsOfAnAnswerWhatIsOfTheForm) {
  const ServerUnderTest server([](const ApiRequest& request, const Peer&) {
    EXPECT_EQ(request.target, "/v1/waits");
    ApiResponse response;
    response.body = json{
        {"gpus",
         {{{"gpu", "h100"},
           {"gpu_name", std::string(5'000, 'x')},
           {"total", 8},
           {"free", -3},
           {"secret", "of its own"},
           {"waits",
            {{{"gpus_per_node", 1},
              {"nodes", 1},
              {"time_limit_seconds", 3'600},
              {"partition", nullptr},
              {"wait_p50_seconds", 60},
              {"wait_p90_seconds", "soon"}},
             7}}},
          "no object"}}}.dump();
    return response;
  });
  const auto clusters = Knowing({{"big", server.Path()}});
  const json waits = WaitsOnce(*clusters, HasAnswered);
  EXPECT_EQ(waits[0]["cluster"], "big");
  EXPECT_EQ(waits[0]["problem"], nullptr);
  EXPECT_LE(waits[0]["age_seconds"], 20);
  const json& gpus = waits[0]["gpus"];
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0]["free"], 0);
  EXPECT_EQ(gpus[0]["total"], 8);
  EXPECT_LT(gpus[0]["gpu_name"].get<std::string>().size(), 300u);
  EXPECT_FALSE(gpus[0].contains("secret"));
  ASSERT_EQ(gpus[0]["waits"].size(), 1u);
  EXPECT_EQ(gpus[0]["waits"][0]["wait_p50_seconds"], 60);
  EXPECT_EQ(gpus[0]["waits"][0]["wait_p90_seconds"], nullptr);
}

TEST(OtherClusters, WhatIsNoAnswerIsAProblemAndKeepsTheLast) {
  std::atomic<int> kind = 0;
  const ServerUnderTest server([&](const ApiRequest&, const Peer&) {
    ApiResponse response;
    response.body = kind == 0 ? R"({"gpus": [{"gpu": "h100"}]})" : std::string(100'000, '[');
    if (kind == 1) response.status = 503;
    return response;
  });
  const auto clusters = Knowing({{"big", server.Path()}});
  WaitsOnce(*clusters, HasAnswered);
  for (const int bad : {1, 2}) {
    kind = bad;
    const json waits =
        WaitsOnce(*clusters, [](const json& all) { return !all[0]["problem"].is_null(); });
    EXPECT_EQ(waits[0]["gpus"].size(), 1u) << "what was known is still shown";
  }
}

TEST(OtherClusters, AQuestionIsPassedOnAndItsAnswerComesBackWhole) {
  const ServerUnderTest server([](const ApiRequest& request, const Peer&) {
    ApiResponse response;
    response.status = request.target == "/v1/advise" ? 400 : 200;
    response.body = request.target == "/v1/advise" ? request.body + request.method : "{}";
    return response;
  });
  const auto clusters = Knowing({{"big", server.Path()}});
  const auto answer = clusters->Ask("big", "/v1/advise", "the question, ");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 400);
  EXPECT_EQ(answer->body, "the question, POST");
  const auto unknown = clusters->Ask("small", "/v1/advise", "{}");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
}

TEST(OtherClusters, ASilentOneIsWaitedForOnce) {
  const ServerUnderTest server([](const ApiRequest&, const Peer&) {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    return ApiResponse();
  });
  const auto clusters = Knowing({{"old", server.Path()}});
  WaitsOnce(*clusters, [](const json& all) {
    return all[0]["problem"].get<std::string>().find("no answer within 1 s") != std::string::npos;
  });
  const auto begun = steady_clock::now();
  for (int i = 0; i < 100; ++i) {
    const auto answer = clusters->Ask("old", "/v1/advise", "{}");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  }
  EXPECT_LT(steady_clock::now() - begun, milliseconds(500));
}

TEST(OtherClusters, AnAddressThatIsNoneIsNamed) {
  const auto made = OtherClusters::Make({{"big", "http://big:6829"}}, "");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("clusters: big"), std::string::npos);
  EXPECT_TRUE(OtherClusters::Make({}, "")) << "none are known, none are asked";
}

}  // namespace
}  // namespace gpuadvise::daemon
