#include "client/terminal/users_language.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace gpuadvise::client {
namespace {

std::map<std::string, std::string>& Environment() {
  static std::map<std::string, std::string> variables;
  return variables;
}

std::string Wanted(const std::map<std::string, std::string>& variables) {
  Environment() = variables;
  return WantedLanguage([](const char* name) -> const char* {
    const auto found = Environment().find(name);
    return found == Environment().end() ? nullptr : found->second.c_str();
  });
}

TEST(WantedLanguage, IsChosenAsGettextDoes) {
  EXPECT_EQ(Wanted({}), "");
  EXPECT_EQ(Wanted({{"LANG", "ko_KR.UTF-8"}}), "ko");
  EXPECT_EQ(Wanted({{"LANG", "ko_KR.utf8"}}), "ko");
  EXPECT_EQ(Wanted({{"LANG", "ko_KR"}}), "ko");
  EXPECT_EQ(Wanted({{"LANG", "en_US.UTF-8"}}), "");
  EXPECT_EQ(Wanted({{"LANG", "ko_KR.UTF-8"}, {"LC_ALL", "C"}}), "");
  EXPECT_EQ(Wanted({{"LANG", "C.UTF-8"}, {"LANGUAGE", "ko"}}), "");
  EXPECT_EQ(Wanted({{"LANG", "de_DE.UTF-8"}, {"LC_MESSAGES", "ko_KR.UTF-8"}}), "ko");
  EXPECT_EQ(Wanted({{"LANG", "en_US.UTF-8"}, {"LANGUAGE", "ko:en"}}), "ko");
  EXPECT_EQ(Wanted({{"LANG", "ko_KR.EUC-KR"}}), "") << "its terminal does not show UTF-8";
  EXPECT_EQ(Wanted({{"LANG", ""}, {"LC_ALL", ""}}), "");
}

}  // namespace
}  // namespace gpuadvise::client
