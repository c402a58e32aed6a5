#include "client/terminal/users_language.h"

#include <algorithm>
#include <cctype>

#include "common/language/catalogue.h"

namespace gpuadvise::client {
namespace {

const Catalogue*& Chosen() {
  static const Catalogue* catalogue = nullptr;
  return catalogue;
}

}  // namespace

std::string WantedLanguage(const char* (*environment)(const char* name)) {
  const auto value = [&](const char* name) {
    const char* text = environment(name);
    return std::string(text == nullptr ? "" : text);
  };
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    locale = value(name);
    if (!locale.empty()) break;
  }
  if (locale.empty() || locale == "C" || locale == "POSIX" || locale.starts_with("C.")) return "";
  const size_t dot = locale.find('.');
  if (dot != std::string::npos) {
    std::string encoding = locale.substr(dot + 1, locale.find('@', dot) - dot - 1);
    std::erase(encoding, '-');
    std::transform(encoding.begin(), encoding.end(), encoding.begin(), ::tolower);
    if (encoding != "utf8") return "";
  }
  const std::string wishes = value("LANGUAGE");
  const std::string& first = wishes.empty() ? locale : wishes;
  const std::string language = first.substr(0, first.find_first_of("_.@:"));
  return language == "en" ? "" : language;
}

void ChooseLanguage(const std::string& language) { Chosen() = CatalogueOf(language); }

std::string InUsersLanguage(std::string_view english) {
  return Chosen() == nullptr ? std::string(english) : Chosen()->Of(english);
}

}  // namespace gpuadvise::client
