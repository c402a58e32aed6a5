#include "common/language/catalogue.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "embedded/korean_catalogue.h"

namespace gpuadvise {
namespace {

constexpr uint32_t kMoMagic = 0x950412de;
constexpr uint32_t kMostMessages = 100'000;
// A template with fewer letters than this outside its fields would fit nearly everything.
constexpr size_t kLeastLetters = 4;
// A sentence within a field within a piece: deeper than this nothing is translated.
constexpr int kDeepest = 4;
constexpr size_t kLongestText = 2'000;  // longer ones are no sentences
constexpr std::array<std::string_view, 5> kSeparators = {" · ", " — ", ". ", "; ", ": "};
// How many pieces together are looked up as one sentence.
constexpr size_t kMostPieces = 6;
// gettext's mark between a context and its msgid. Forms of the context "composed" ("{} waiting
// jobs", "in {}") stand for what the program puts together; the first field of those that begin
// with it, or have few letters, is a number or a duration.
constexpr std::string_view kComposedContext = "composed\4";

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

bool OpensAtItsEnd(std::string_view text) { return text.ends_with(' ') || text.ends_with('('); }

bool OpensAtItsStart(std::string_view text) {
  constexpr std::string_view kGoesOn = " ,.:(";
  return !text.empty() && kGoesOn.find(text.front()) != std::string_view::npos;
}

// What a msgid without its neighbours' sentence is: "; see above" is "see above", and the same of
// its translation.
void WithoutTheBreakBefore(std::string_view* english, std::string_view* translated) {
  constexpr std::string_view kBreak = "; ";
  if (!english->starts_with(kBreak) || !translated->starts_with(kBreak)) return;
  english->remove_prefix(kBreak.size());
  translated->remove_prefix(kBreak.size());
}

// Where the msgid is the beginning or the end of a sentence, what the program puts there is one
// more field.
void OpenTheEnds(std::string_view english, Form* form, Form* translation) {
  if (OpensAtItsStart(english)) {
    for (Form* each : {form, translation}) {
      each->literals.insert(each->literals.begin(), "");
      for (size_t& field : each->fields) ++field;
      each->fields.insert(each->fields.begin(), 0);
    }
  }
  if (OpensAtItsEnd(english)) {
    const size_t last = form->fields.size();
    for (Form* each : {form, translation}) {
      each->fields.push_back(last);
      each->literals.emplace_back();
    }
  }
}

// Whether `field` may stand in a sentence's field: one that holds the end of a sentence would have
// swallowed it.
bool IsOnePiece(std::string_view field) {
  return field.find("; ") == std::string_view::npos && field.find(" · ") == std::string_view::npos;
}

// "4", "1,204", "4 h 05", "½": what is no word.
bool IsANumber(std::string_view field) {
  bool after_a_blank = true;
  size_t letters = 0;
  for (const char c : field) {
    if (after_a_blank) letters = 0;
    letters += static_cast<size_t>(std::isalpha(static_cast<unsigned char>(c)) != 0);
    if (letters > 1) return false;
    after_a_blank = c == ' ';
  }
  return !field.empty();
}

// The next ends of pieces in `text`: where each begins and how long its separator is.
std::vector<std::pair<size_t, size_t>> NextBreaks(std::string_view text) {
  std::vector<std::pair<size_t, size_t>> breaks;
  for (size_t at = 1; at < text.size() && breaks.size() < kMostPieces; ++at) {
    for (const std::string_view separator : kSeparators) {
      if (text.substr(at).starts_with(separator)) {
        breaks.emplace_back(at, separator.size());
        at += separator.size() - 1;
        break;
      }
    }
  }
  return breaks;
}

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
    Add(WithoutNewlines(*english), WithoutNewlines(*translated));
  }
  for (std::vector<Template>* forms : {&templates_, &composed_}) {
    std::stable_sort(forms->begin(), forms->end(), [](const Template& a, const Template& b) {
      return LettersOf(a.literals) > LettersOf(b.literals);
    });
  }
}

void Catalogue::Add(std::string_view english, std::string_view translated) {
  if (english.empty() || translated.empty()) return;
  const bool composed = english.starts_with(kComposedContext);
  if (composed) english.remove_prefix(kComposedContext.size());
  if (english.find('\4') != std::string_view::npos) return;  // the page's
  WithoutTheBreakBefore(&english, &translated);
  std::optional<Form> form = FormOf(english);
  std::optional<Form> other = FormOf(translated);
  if (!form || form->fields.empty()) {  // braces of its own are text
    exact_.emplace(english, translated);
  }
  if (!form || !other || !SameFields(*form, *other)) return;
  if (composed) {
    const bool of_a_number =
        form->literals.front().empty() || LettersOf(form->literals) < 2 * kLeastLetters;
    composed_.push_back({form->literals, other->literals, other->fields, true, of_a_number});
    return;
  }
  OpenTheEnds(english, &*form, &*other);
  if (form->fields.empty()) return;
  const size_t least = form->literals.front().empty() ? kLeastLetters : kLeastLetters - 1;
  if (LettersOf(form->literals) < least) return;
  templates_.push_back({form->literals, other->literals, other->fields, false, false});
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
  if (const auto whole = AsOneSentence(english, depth)) return *whole;
  if (const auto remark = WithARemark(english, depth)) return *remark;
  if (const auto pieces = PieceByPiece(english, depth)) return *pieces;
  if (english.back() == '.' || english.back() == ':') {
    return Translated(english.substr(0, english.size() - 1), depth + 1) + english.back();
  }
  return std::string(english);
}

std::optional<std::string> Catalogue::AsOneSentence(std::string_view english, int depth) const {
  if (const auto found = exact_.find(std::string(english)); found != exact_.end()) {
    return found->second;
  }
  for (const std::vector<Template>* forms : {&composed_, &templates_}) {
    for (const Template& form : *forms) {
      if (auto translation = Filled(form, english, depth)) return translation;
    }
  }
  return std::nullopt;
}

// "A sentence (and a remark)".
std::optional<std::string> Catalogue::WithARemark(std::string_view english, int depth) const {
  constexpr std::string_view kOpens = " (";
  const size_t open = english.rfind(kOpens);
  if (!english.ends_with(')') || open == std::string_view::npos || open == 0) return std::nullopt;
  const auto head = AsOneSentence(english.substr(0, open), depth + 1);
  if (!head) return std::nullopt;
  const size_t begin = open + kOpens.size();
  const std::string_view remark = english.substr(begin, english.size() - begin - 1);
  return *head + std::string(kOpens) + Translated(remark, depth + 1) + ")";
}

// The longest run of pieces that is a sentence, and what follows it; else the first piece as it is.
std::optional<std::string> Catalogue::PieceByPiece(std::string_view english, int depth) const {
  const auto breaks = NextBreaks(english);
  if (breaks.empty()) return std::nullopt;
  for (auto end = breaks.rbegin(); end != breaks.rend(); ++end) {
    const std::string_view rest = english.substr(end->first + end->second);
    // "Tip: " and "Not possible: " are msgids with their colon and blank.
    const auto labelled = exact_.find(std::string(english.substr(0, end->first + end->second)));
    if (labelled != exact_.end()) return labelled->second + Translated(rest, depth);
    if (const auto head = AsOneSentence(english.substr(0, end->first), depth + 1)) {
      return *head + std::string(english.substr(end->first, end->second)) + Translated(rest, depth);
    }
  }
  const size_t next = breaks.front().first + breaks.front().second;
  return std::string(english.substr(0, next)) + Translated(english.substr(next), depth);
}

std::optional<std::string> Catalogue::Filled(const Template& form, std::string_view english,
                                             int depth) const {
  if (!english.starts_with(form.literals.front()) || !english.ends_with(form.literals.back())) {
    return std::nullopt;
  }
  std::vector<std::string_view> fields;
  size_t at = form.literals.front().size();
  for (size_t i = 1; i < form.literals.size(); ++i) {
    const bool last = i + 1 == form.literals.size();
    const std::string& literal = form.literals[i];
    const size_t next = last              ? english.size() - literal.size()
                        : literal.empty() ? at
                                          : english.find(literal, at);
    if (next == std::string_view::npos || next < at || !IsOnePiece(english.substr(at, next - at))) {
      return std::nullopt;
    }
    fields.push_back(english.substr(at, next - at));
    at = next + literal.size();
  }
  if (form.composed && std::any_of(fields.begin(), fields.end(), [](std::string_view field) {
        return field.find(": ") != std::string_view::npos;
      })) {
    return std::nullopt;
  }
  if (form.of_a_number && (fields.empty() || !IsANumber(fields.front()))) return std::nullopt;
  std::string translation = form.translation.front();
  for (size_t i = 0; i < form.order.size(); ++i) {
    const std::string_view field = fields[form.order[i]];
    // One word is a number or a name, which stays.
    translation += field.find(' ') == std::string_view::npos ? std::string(field)
                                                             : Translated(field, depth + 1);
    translation += form.translation[i + 1];
  }
  return translation;
}

const Catalogue* CatalogueOf(std::string_view language) {
  if (language != "ko") return nullptr;
  static const Catalogue korean{KoreanCatalogue()};
  return korean.empty() ? nullptr : &korean;
}

}  // namespace gpuadvise
