#include "client/script/own_path.h"

#include <algorithm>
#include <string_view>

#include "client/shell/shell_text.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

bool IsPlain(std::string_view path) {
  return !path.empty() && std::all_of(path.begin(), path.end(), [](char c) {
    return IsNamePart(c) || c == '/' || c == '.' || c == '-' || c == '+';
  });
}

// The length of the script's own name at the start of `text`; 0: it is something else.
size_t OwnNameAt(std::string_view text) {
  for (const std::string_view form :
       {"${BASH_SOURCE[0]}", "${BASH_SOURCE}", "$BASH_SOURCE", "${0}", "$0"}) {
    if (!text.starts_with(form)) continue;
    const bool ends =
        form.ends_with('}') || form.size() == text.size() || !IsNamePart(text[form.size()]);
    if (ends) return form.size();
  }
  return 0;
}

// Finds what the shell expands in a script: all but what stands in single quotes, in comments, in
// here-documents with a quoted end, and behind a backslash.
class ExpandedText {
 public:
  explicit ExpandedText(std::string_view text) : text_(text) {}

  // The next '$' that the shell expands; npos: there is none.
  size_t Next() {
    while (at_ < text_.size()) {
      const size_t here = at_;
      if (Step()) return here;
    }
    return std::string_view::npos;
  }

 private:
  bool IsWithin(char what) const { return !within_.empty() && within_.back() == what; }
  bool Has(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  // Goes past one character or what it opens; true: it was a '$' to expand.
  bool Step() {
    const char c = text_[at_++];
    if (c == '\\') {
      ++at_;
    } else if (c == '`' || (c == '"' && !IsWithin(kDocument))) {
      IsWithin(c) ? within_.pop_back() : within_.push_back(c);
    } else if (c == '$') {
      if (Has("(")) within_.push_back(text_[at_++]);
      return true;
    } else if (IsWithin(kDocument)) {
      if (c == '\n' && IsMark(LineAt(at_))) within_.pop_back();
    } else if (!IsWithin('"')) {
      StepOfCommand(c);
    }
    return false;
  }

  void StepOfCommand(char c) {
    if (c == '\'') {
      at_ = std::min(text_.find('\'', at_), text_.size() - 1) + 1;
    } else if (c == '(') {
      within_.push_back(c);
    } else if (c == ')' && IsWithin('(')) {
      within_.pop_back();
    } else if (c == '#' &&
               (at_ == 1 || IsOneOf(text_.substr(at_ - 2, 1), {" ", "\t", "\n", ";"}))) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '<' && Has("<") && !Has("<<")) {
      ReadMark();
    } else if (c == '\n' && !mark_.empty()) {
      if (!is_expanded_) {
        SkipHereDocument();
      } else if (!IsMark(LineAt(at_))) {
        within_.push_back(kDocument);
      }
    }
  }

  // "<<EOF" expands what follows, "<<'EOF'" does not.
  void ReadMark() {
    at_ = std::min(text_.find_first_not_of("<- \t", at_), text_.size());
    const size_t end = std::min(text_.find_first_of(" \t\n;|)>", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    is_expanded_ = word.find_first_of("'\"\\") == std::string_view::npos;
    mark_.clear();
    for (const char c : word) {
      if (IsNamePart(c)) mark_ += c;
    }
    at_ = end;
  }

  std::string_view LineAt(size_t at) const {
    return text_.substr(at, std::min(text_.find('\n', at), text_.size()) - at);
  }
  bool IsMark(std::string_view line) {
    if (Trim(line) != mark_) return false;
    mark_.clear();
    return true;
  }

  void SkipHereDocument() {
    while (at_ < text_.size()) {
      const std::string_view line = LineAt(at_);
      at_ += line.size();
      if (IsMark(line)) break;
      at_ = std::min(at_ + 1, text_.size());
    }
  }

  static constexpr char kDocument = '<';

  std::string_view text_;
  size_t at_ = 0;
  std::string within_;  // what has opened here: " ( ` and here-documents that are expanded
  std::string mark_;    // that ends a here-document
  bool is_expanded_ = false;
};

}  // namespace

std::string WithOwnPath(const std::string& text, const std::string& path) {
  if (!IsPlain(path)) return text;
  std::string changed;
  size_t copied = 0;
  ExpandedText expanded(text);
  for (size_t at = expanded.Next(); at != std::string::npos; at = expanded.Next()) {
    const size_t length = OwnNameAt(std::string_view(text).substr(at));
    if (length == 0) continue;
    changed += text.substr(copied, at - copied) + path;
    copied = at + length;
  }
  return changed + text.substr(copied);
}

namespace {

// "scontrol show job $SLURM_JOB_ID | grep Command=": a job's script has no path there.
bool AsksSlurmForIt(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = Trim(TakeLine(text));
    if (!line.starts_with('#') && line.find("scontrol show job") != std::string_view::npos &&
        line.find("Command=") != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool UsesOwnPath(std::string_view text) {
  if (AsksSlurmForIt(text)) return true;
  ExpandedText expanded(text);
  for (size_t at = expanded.Next(); at != std::string_view::npos; at = expanded.Next()) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("$BASH_SOURCE") || rest.starts_with("${BASH_SOURCE")) return true;
    if (rest.starts_with("${0") && rest.size() > 3 && !IsNamePart(rest[3])) return true;
    if (OwnNameAt(rest) > 0) return true;
  }
  return false;
}

}  // namespace gpuadvise::client
