#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "common/net/http_call.h"
#include "tests/fakes/fake_server.h"

namespace gpuadvise {
namespace {

constexpr size_t kMost = 1 << 20;

// `pieces` one after the other, then the end; how many were asked for is counted in `taken`.
Result<HttpAnswer> Read(const std::vector<std::string>& pieces, size_t* taken = nullptr) {
  size_t at = 0;
  const auto answer = ReadHttpAnswer(
      [&]() -> Result<std::string> { return at < pieces.size() ? pieces[at++] : std::string(); },
      kMost);
  if (taken != nullptr) *taken = at;
  return answer;
}

std::string WhyNot(const std::string& bytes) {
  const auto answer = Read({bytes});
  if (answer) return "read: " + answer->body;
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  return answer.error().message;
}

TEST(HttpAnswers, AreReadByteForByte) {
  const std::string bytes =
      "HTTP/1.1 404 X\r\nContent-Length: 8\r\nGpuAdvise-UID: 1000\r\n\r\nnot here";
  std::vector<std::string> pieces;
  for (const char c : bytes) pieces.emplace_back(1, c);
  const auto answer = Read(pieces);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->body, "not here");
  EXPECT_EQ(answer->Field("gpuadvise-uid"), "1000");
  EXPECT_EQ(answer->Field("location"), "");
}

TEST(HttpAnswers, CutAnywhereAreNoAnswers) {
  for (const std::string& bytes :
       {HttpBytes(200, "0123456789"),
        std::string(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")}) {
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(WhyNot(bytes.substr(0, size)), "it ended in the middle of its answer") << size;
    }
    EXPECT_TRUE(Read({bytes}));
  }
}

TEST(HttpAnswers, ChunksAreJoined) {
  const auto answer = Read({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
                            "c\r\nA;x=y\r\n0123456789\r\n", "0\r\n\r\n"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "abc0123456789");
}

TEST(HttpAnswers, MayEndWithTheConnection) {
  EXPECT_EQ(Read({"HTTP/1.1 200 OK\r\n\r\nall ", "of it"})->body, "all of it");
}

TEST(HttpAnswers, WhatFollowsIsNotWaitedFor) {
  size_t taken = 0;
  const auto answer = Read({"HTTP/1.0 200 OK\r\ncOnTeNt-LeNgTh:  2 \r\n\r\nokay", "more"}, &taken);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "ok");
  EXPECT_EQ(taken, 1u);
}

TEST(HttpAnswers, InterimHeadsComeBeforeTheAnswerButNotForEver) {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(Read({interim, interim + HttpBytes(200, "{}")})->body, "{}");
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += interim;
  EXPECT_EQ(WhyNot(many + HttpBytes(200, "{}")),
            "its answer is not HTTP (only interim answers, 100 Continue)");
}

TEST(HttpAnswers, RubbishIsNone) {
  EXPECT_EQ(WhyNot("SSH-2.0-OpenSSH_9.2\r\n\r\n").find("its answer is not HTTP ("), 0u);
  EXPECT_EQ(WhyNot("HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n"),
            "its answer is not HTTP (status 99)");
}

TEST(HttpAnswers, AnEndlessOneIsLeft) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  const auto endless = [](const std::string& start, const std::string& more) {
    bool began = false;
    const auto answer = ReadHttpAnswer(
        [&]() -> Result<std::string> { return std::exchange(began, true) ? more : start; }, kMost);
    return answer ? "read" : answer.error().message;
  };
  EXPECT_EQ(endless(head, std::string(1000, 'x')), "its answer is not HTTP (no end of the header)");
  EXPECT_EQ(endless(head, "A: b\r\n"), "its answer is not HTTP (no end of the header)");
  EXPECT_EQ(endless(std::string(100, 'x'), std::string(1000, 'x')).find("its answer is not HTTP ("),
            0u);
  EXPECT_EQ(endless(head + "Transfer-Encoding: chunked\r\n\r\n3;", std::string(1000, 'x')),
            "its answer is not HTTP (a line without an end)");
  EXPECT_EQ(endless(head + "\r\n", std::string(1000, 'x')), "its answer is larger than 1024 KiB");
  EXPECT_EQ(endless(head + "Transfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n"),
            "its answer is larger than 1024 KiB");
}

TEST(HttpAnswers, LengthsThatAreWrongAreRefused) {
  for (const char* length : {"-1", "x", "", "99999999999999999999", "1 2", "1048577"}) {
    EXPECT_FALSE(Read({std::string("HTTP/1.1 200 OK\r\nContent-Length: ") + length + "\r\n\r\nx"}))
        << length;
  }
}

TEST(HttpAnswers, AnyBytesAreHandled) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    std::ignore = Read({bytes});
    std::ignore = Read({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + bytes});
  }));
}

}  // namespace
}  // namespace gpuadvise
