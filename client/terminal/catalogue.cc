#include "client/terminal/catalogue.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "embedded/korean_catalogue.h"

namespace gpuadvise::client {
namespace {

constexpr uint32_t kMoMagic = 0x950412de;
constexpr uint32_t kMostMessages = 100'000;
// A template with fewer letters than this outside its fields would fit nearly everything.
constexpr size_t kLeastLetters = 4;
// A sentence within a field within a piece: deeper than this nothing is translated.
constexpr int kDeepest = 4;
constexpr size_t kLongestText = 2'000;  // longer ones are no sentences
constexpr std::array<std::string_view, 5> kSeparators = {" · ", " — ", ". ", "; ", ": "};

// The 32-bit number at `at`, in the byte order of this machine, as msgfmt writes it here.
std::optional<uint32_t> NumberAt(std::string_view bytes, size_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(uint32_t)) return std::nullopt;
  uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// The string whose length and offset stand at `at`.
std::optional<std::string_view> StringAt(std::string_view bytes, size_t at) {
  const auto length = NumberAt(bytes, at);
  const auto offset = NumberAt(bytes, at + sizeof(uint32_t));
  if (!length || !offset || *offset > bytes.size() || bytes.size() - *offset < *length) {
    return std::nullopt;
  }
  return bytes.substr(*offset, *length);
}

struct Form {
  std::vector<std::string> literals;
  std::vector<size_t> fields;        // their numbers, counted where none is written
  std::vector<std::string> formats;  // what stands behind a field's ':'
};

// A text in fmt's syntax, cut at its fields. Nothing where its braces do not match.
std::optional<Form> FormOf(std::string_view text) {
  Form form;
  std::string literal;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
      literal += c;
      ++at;
    } else if (c == '{') {
      const size_t end = text.find('}', at);
      if (end == std::string_view::npos) return std::nullopt;
      const std::string_view inside = text.substr(at + 1, end - at - 1);
      const std::string_view number = inside.substr(0, inside.find(':'));
      if (!std::all_of(number.begin(), number.end(), ::isdigit))
        return std::nullopt;  // {micro_batch}
      form.fields.push_back(number.empty() ? form.fields.size()
                                           : std::stoul(std::string(number.substr(0, 3))));
      form.formats.emplace_back(inside.substr(number.size()));
      form.literals.push_back(std::exchange(literal, ""));
      at = end;
    } else if (c == '}') {
      return std::nullopt;
    } else {
      literal += c;
    }
  }
  form.literals.push_back(std::move(literal));
  return form;
}

// Whether both have the same fields, each once, with the same formats.
bool SameFields(const Form& english, const Form& translation) {
  if (english.fields.size() != translation.fields.size()) return false;
  std::vector<bool> seen(english.fields.size());
  for (size_t i = 0; i < translation.fields.size(); ++i) {
    const size_t field = translation.fields[i];
    if (field >= seen.size() || seen[field]) return false;
    seen[field] = true;
  }
  for (size_t i = 0; i < english.fields.size(); ++i) {
    if (english.fields[i] != i) return false;
  }
  return true;
}

size_t LettersOf(const std::vector<std::string>& literals) {
  size_t letters = 0;
  for (const std::string& literal : literals) {
    letters += static_cast<size_t>(std::count_if(
        literal.begin(), literal.end(), [](unsigned char c) { return std::isalpha(c) != 0; }));
  }
  return letters;
}

// Without the newlines at either end: a text is translated line by line.
std::string_view WithoutNewlines(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

bool IsBlank(char c) { return c == ' ' || c == '\n'; }

}  // namespace

Catalogue::Catalogue(std::string_view mo) {
  const auto magic = NumberAt(mo, 0);
  const auto count = NumberAt(mo, 8);
  const auto originals = NumberAt(mo, 12);
  const auto translations = NumberAt(mo, 16);
  if (magic != kMoMagic || !count || !originals || !translations || *count > kMostMessages) return;
  for (size_t i = 0; i < *count; ++i) {
    auto english = StringAt(mo, *originals + 8 * i);
    auto translated = StringAt(mo, *translations + 8 * i);
    if (!english || !translated) continue;
    english = WithoutNewlines(*english);
    translated = WithoutNewlines(*translated);
    if (english->empty() || translated->empty()) continue;
    const auto form = FormOf(*english);
    const auto other = FormOf(*translated);
    if (!form || form->fields.empty()) {  // braces of its own are text
      exact_.emplace(*english, *translated);
    } else if (other && SameFields(*form, *other) && LettersOf(form->literals) >= kLeastLetters) {
      templates_.push_back({form->literals, other->literals, other->fields});
    }
  }
  std::stable_sort(templates_.begin(), templates_.end(), [](const Template& a, const Template& b) {
    return LettersOf(a.literals) > LettersOf(b.literals);
  });
}

std::string Catalogue::Of(std::string_view english) const {
  if (empty() || english.size() > kLongestText) return std::string(english);
  return Translated(english, 0);
}

std::string Catalogue::Translated(std::string_view english, int depth) const {
  if (const auto found = exact_.find(std::string(english)); found != exact_.end()) {
    return found->second;
  }
  size_t front = 0;
  size_t back = english.size();
  while (front < back && IsBlank(english[front])) ++front;
  while (back > front && IsBlank(english[back - 1])) --back;
  if (front > 0 || back < english.size()) {
    if (front == back) return std::string(english);
    return std::string(english.substr(0, front)) +
           Translated(english.substr(front, back - front), depth) +
           std::string(english.substr(back));
  }
  if (depth > kDeepest || english.empty()) return std::string(english);
  std::string translation;
  if (ByTemplate(english, depth, &translation)) return translation;
  for (const std::string_view separator : kSeparators) {
    const size_t at = english.find(separator);
    if (at == std::string_view::npos) continue;
    // "Tip: " and "Not possible: " are msgids with their colon and blank.
    const std::string_view head = english.substr(0, at);
    const std::string with_separator(english.substr(0, at + separator.size()));
    const auto labelled = exact_.find(with_separator);
    return (labelled != exact_.end() ? labelled->second
                                     : Translated(head, depth + 1) + std::string(separator)) +
           Translated(english.substr(at + separator.size()), depth);
  }
  if (english.back() == '.' || english.back() == ':') {
    return Translated(english.substr(0, english.size() - 1), depth + 1) + english.back();
  }
  return std::string(english);
}

bool Catalogue::ByTemplate(std::string_view english, int depth, std::string* translation) const {
  std::vector<std::string_view> fields;
  for (const Template& form : templates_) {
    if (!english.starts_with(form.literals.front()) || !english.ends_with(form.literals.back()))
      continue;
    fields.clear();
    size_t at = form.literals.front().size();
    bool fits = true;
    for (size_t i = 1; i < form.literals.size() && fits; ++i) {
      const bool last = i + 1 == form.literals.size();
      const std::string& literal = form.literals[i];
      const size_t next = last              ? english.size() - literal.size()
                          : literal.empty() ? at
                                            : english.find(literal, at);
      fits = next != std::string_view::npos && next >= at;
      if (!fits) break;
      fields.push_back(english.substr(at, next - at));
      at = next + literal.size();
    }
    if (!fits) continue;
    *translation = form.translation.front();
    for (size_t i = 0; i < form.order.size(); ++i) {
      const std::string_view field = fields[form.order[i]];
      // One word is a number or a name, which stays.
      *translation += field.find(' ') == std::string_view::npos ? std::string(field)
                                                                : Translated(field, depth + 1);
      *translation += form.translation[i + 1];
    }
    return true;
  }
  return false;
}

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

namespace {

Catalogue& Chosen() {
  static Catalogue catalogue;
  return catalogue;
}

}  // namespace

void ChooseLanguage(const std::string& language) {
  if (language == "ko") Chosen() = Catalogue(KoreanCatalogue());
}

std::string InUsersLanguage(std::string_view english) { return Chosen().Of(english); }

}  // namespace gpuadvise::client
