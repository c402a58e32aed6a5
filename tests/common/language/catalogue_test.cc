#include "common/language/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

namespace gpuadvise {
namespace {

std::string Number(size_t number) {
  const auto word = static_cast<uint32_t>(number);
  return std::string(reinterpret_cast<const char*>(&word), sizeof word);
}

// The bytes of a .mo file with these messages.
std::string MoOf(const std::map<std::string, std::string>& messages) {
  const size_t tables = 28;
  const size_t strings = tables + 16 * messages.size();
  std::string originals;
  std::string translations;
  std::string text;
  const auto add = [&](std::string* table, const std::string& words) {
    *table += Number(words.size()) + Number(strings + text.size());
    text += words + '\0';
  };
  for (const auto& [english, translated] : messages) add(&originals, english);
  for (const auto& [english, translated] : messages) add(&translations, translated);
  return Number(0x950412de) + Number(0) + Number(messages.size()) + Number(tables) +
         Number(tables + originals.size()) + Number(0) + Number(0) + originals + translations +
         text;
}

Catalogue Korean() {
  return Catalogue(MoOf({{"", "Language: ko\n"},
                         {"Not possible: ", "불가능: "},
                         {"tomorrow", "내일"},
                         {"starts now", "지금 시작"},
                         {"{} ahead of it (its priority is {}) want the same nodes",
                          "앞선 {0}이 같은 노드를 원합니다 (우선순위 {1})"},
                         {"{} of {} waited", "{1} 중 {0} 대기"},
                         {"{} {}", "아무것 {} {}"},
                         {"bad {} order", "{1} 나쁨"},
                         {"the command has no {micro_batch}", "명령에 {micro_batch} 없음"},
                         {"No jobs yet.", "아직 작업이 없습니다."}}));
}

TEST(Catalogue, TranslatesWholeSentencesAndThoseOfAForm) {
  const Catalogue korean = Korean();
  EXPECT_EQ(korean.Of("starts now"), "지금 시작");
  EXPECT_EQ(korean.Of("  starts now\n"), "  지금 시작\n");
  EXPECT_EQ(korean.Of("2 waiting jobs ahead of it (its priority is 77) want the same nodes"),
            "앞선 2 waiting jobs이 같은 노드를 원합니다 (우선순위 77)");
  EXPECT_EQ(korean.Of("3 of 4 waited"), "4 중 3 대기");
  EXPECT_EQ(korean.Of("the command has no {micro_batch}"), "명령에 {micro_batch} 없음");
}

TEST(Catalogue, TranslatesPieceByPiece) {
  const Catalogue korean = Korean();
  EXPECT_EQ(korean.Of("Not possible: starts now; L40S × 6"), "불가능: 지금 시작; L40S × 6");
  EXPECT_EQ(korean.Of("a · starts now · b"), "a · 지금 시작 · b");
  EXPECT_EQ(korean.Of("starts now."), "지금 시작.");
}

TEST(Catalogue, ARemarkInParenthesesIsTranslatedAlone) {
  EXPECT_EQ(Korean().Of("starts now (tomorrow)"), "지금 시작 (내일)");
  EXPECT_EQ(Korean().Of("starts now (of somebody)"), "지금 시작 (of somebody)");
  EXPECT_EQ(Korean().Of("somebody starts (tomorrow)"), "somebody starts (tomorrow)");
}

TEST(Catalogue, AFieldHoldsNoEndOfASentence) {
  const Catalogue korean(MoOf({{"{} starts in {}", "{0} 시작: {1}"}, {"later", "나중에"}}));
  EXPECT_EQ(korean.Of("it starts in 4 h; later"), "it 시작: 4 h; 나중에");
}

TEST(Catalogue, TheLongestRunOfPiecesIsOneSentence) {
  const Catalogue korean(MoOf({{"a; b", "가; 나"}, {"a", "x"}, {"c", "다"}}));
  EXPECT_EQ(korean.Of("a; b; c"), "가; 나; 다");
  EXPECT_EQ(korean.Of("a: c"), "x: 다");
}

TEST(Catalogue, ABeginningOfASentenceHasOneMoreField) {
  const Catalogue korean(MoOf({{"Why {}: ", "{}번인 이유: "},
                               {"; see {}", "; {} 참조"},
                               {"no answer from ", "응답 없음: "},
                               {" is not there", " 없습니다"},
                               {"much later", "훨씬 나중에"}}));
  EXPECT_EQ(korean.Of("Why 1: much later"), "1번인 이유: 훨씬 나중에");
  EXPECT_EQ(korean.Of("much later; see log"), "훨씬 나중에; log 참조");
  EXPECT_EQ(korean.Of("no answer from host"), "응답 없음: host");
  EXPECT_EQ(korean.Of("/a/b is not there"), "/a/b 없습니다");
}

TEST(Catalogue, WhatIsComposedOfANumberTakesOnlyNumbers) {
  const Catalogue korean(MoOf({{"composed\4{} jobs", "작업 {}개"},
                               {"composed\4in {}", "{} 뒤"},
                               {"starts {}", "시작: {}"}}));
  EXPECT_EQ(korean.Of("1,204 jobs"), "작업 1,204개");
  EXPECT_EQ(korean.Of("starts in 4 h 05"), "시작: 4 h 05 뒤");
  EXPECT_EQ(korean.Of("4 pending jobs"), "4 pending jobs");
  EXPECT_EQ(korean.Of("starts in the morning"), "시작: in the morning");
}

TEST(Catalogue, LeavesWhatItDoesNotKnow) {
  const Catalogue korean = Korean();
  for (const std::string text :
       {"", " ", "\n", "unknown words", "a: b; c. d", "bad x order", "job {"}) {
    EXPECT_EQ(korean.Of(text), text);
  }
  EXPECT_EQ(Catalogue().Of("starts now"), "starts now");
}

TEST(Catalogue, AOneWordFieldIsANameAndStays) {
  EXPECT_EQ(Korean().Of("tomorrow of 4 waited"), "4 중 tomorrow 대기");
}

TEST(Catalogue, AnythingElseThanAMoFileIsEmpty) {
  const std::string mo = MoOf({{"starts now", "지금 시작"}});
  for (size_t bytes = 0; bytes < mo.size(); ++bytes) {
    const Catalogue cut(std::string_view(mo).substr(0, bytes));
    EXPECT_EQ(cut.Of("other"), "other");
  }
  for (size_t at = 0; at < mo.size(); ++at) {
    std::string changed = mo;
    changed[at] = static_cast<char>(0xff);
    Catalogue(changed).Of("starts now");
  }
  EXPECT_TRUE(Catalogue("").empty());
  EXPECT_TRUE(Catalogue(std::string(100, 'x')).empty());
}

TEST(Catalogue, ALongHostileTextIsShownAsItIs) {
  const std::string text(1'000'000, ';');
  EXPECT_EQ(Korean().Of(text), text);
}

TEST(CatalogueOf, IsThereForKoreanAndForNothingElse) {
  ASSERT_NE(CatalogueOf("ko"), nullptr);
  EXPECT_EQ(CatalogueOf("ko")->Of("today"), "오늘");
  EXPECT_EQ(CatalogueOf("ko"), CatalogueOf("ko"));
  for (const char* other : {"", "en", "ko_KR", "de"}) EXPECT_EQ(CatalogueOf(other), nullptr);
}

}  // namespace
}  // namespace gpuadvise
