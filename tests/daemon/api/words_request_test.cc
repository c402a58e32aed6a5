#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/api/words_api.h"
#include "tests/daemon/api/handlers_fixture.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

class WordsRequest : public HandlersTest {
 protected:
  json Words(const json& body) { return Ask("POST", "/v1/words", body, kNobody); }

  std::string Refusal(const json& body) {
    return Words(body)["errors"][0]["message"].get<std::string>();
  }
};

TEST_F(WordsRequest, SentencesComeBackInTheirOrderAndWhatIsNotKnownAsItIs) {
  const json answer =
      Words({{"language", "ko"}, {"texts", {"free now", "llama of somebody", "free now"}}});
  ASSERT_EQ(answer["texts"].size(), 3u) << answer;
  EXPECT_EQ(answer["texts"][0], "지금 비어 있음");
  EXPECT_EQ(answer["texts"][1], "llama of somebody");
  EXPECT_EQ(answer["texts"][2], answer["texts"][0]);
}

TEST_F(WordsRequest, WhatItCannotTakeIsRefusedWithASentence) {
  EXPECT_NE(Refusal({{"texts", json::array()}}).find("language is missing"), std::string::npos);
  EXPECT_NE(Refusal({{"language", "tlh"}, {"texts", json::array()}}).find("into 'tlh'"),
            std::string::npos);
  EXPECT_NE(Refusal({{"language", "ko"}}).find("texts is missing"), std::string::npos);
  EXPECT_NE(Refusal({{"language", "ko"}, {"texts", {1}}}).find("no text"), std::string::npos);
  const json many(kMostTexts + 1, "free now");
  EXPECT_NE(Refusal({{"language", "ko"}, {"texts", many}}).find("500 are taken"),
            std::string::npos);
}

TEST_F(WordsRequest, TextsThatAreMadeToBeSlowStopAtTheBudget) {
  std::string pieces;
  while (pieces.size() + 3 < kMostTextBytes) pieces += "a; ";
  state_.most_work = {std::chrono::milliseconds(50)};
  const json texts(kMostTexts, pieces);
  const auto begin = ThreadCpuTime();
  const json answer = Words({{"language", "ko"}, {"texts", texts}});
  EXPECT_EQ(answer["texts"], texts);
  RecordProperty("cpu_ms", static_cast<int>((ThreadCpuTime() - begin).count() / 1'000'000));
}

TEST_F(WordsRequest, ALongTextStaysAsItIs) {
  const std::string text = "free now" + std::string(kMostTextBytes, ' ');
  EXPECT_EQ(Words({{"language", "ko"}, {"texts", {text}}})["texts"][0], text);
}

}  // namespace
}  // namespace gpuadvise::daemon
