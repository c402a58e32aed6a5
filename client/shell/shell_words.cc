#include "client/shell/shell_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

bool IsCompound(const std::string& word) {
  constexpr std::array<std::string_view, 9> kWords = {
      "if", "for", "while", "until", "case", "select", "function", "{", "[["};
  return IsOneOf(word, kWords);
}

// The syntax around the words.
enum class Syntax {
  kCommands,   // a shell's script, with operators and expansions
  kWords,      // one line of it, without expansion
  kDirective,  // a #SBATCH line
};

class Lexer {
 public:
  Lexer(std::string_view text, Syntax syntax, const Variables* variables = nullptr)
      : rest_(text), syntax_(syntax), variables_(variables) {}

  // REQUIRES: the syntax is kCommands, and there are variables.
  std::vector<SimpleCommand> Commands() {
    while (!rest_.empty() && !stopped_) ReadOne();
    EndCommand();
    return std::move(commands_);
  }

  // REQUIRES: the syntax is not kCommands.
  std::vector<std::string> Words() {
    while (!rest_.empty() && !stopped_) ReadOne();
    EndWord();
    std::vector<std::string> words;
    for (ShellWord& word : command_) words.push_back(std::move(word.text));
    return words;
  }

 private:
  char Take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  bool TakeIf(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void Add(char c) {
    word_.text += c;
    in_word_ = true;
  }

  void ReadOne() {
    const char c = Take();
    const bool is_syntax = std::string_view(" \t\r#'\"\\").find(c) != std::string_view::npos;
    if (syntax_ != Syntax::kCommands && !is_syntax) return Add(c);
    switch (c) {
      case ' ':
      case '\t':
      case '\r':
        return EndWord();
      case '\n':
      case ';':
      case '&':
      case '|':
        return EndCommand();
      case '<':
      case '>':
        return Redirect();
      case '(':
      case ')':
        return Parenthesis();
      case '#':
        return in_word_ && syntax_ != Syntax::kDirective ? Add(c) : SkipComment();
      case '\'':
        return SingleQuoted();
      case '"':
        return DoubleQuoted();
      case '\\':
        return Escaped();
      case '$':
        return Dollar();
      case '~':
        return Tilde();
      case '`':
        return Substitution();
      case '*':
      case '?':
      case '[':
      case '{':
        word_.certain = false;
        return Add(c);
      default:
        return Add(c);
    }
  }

  void EndWord() {
    if (!in_word_) return;
    ShellWord word = std::exchange(word_, {});
    in_word_ = false;
    if (std::exchange(skip_word_, false)) return;
    const bool is_first = syntax_ == Syntax::kCommands && command_.empty();
    if (is_first && IsAssignment(word.text)) return Assign(std::move(word));
    if (is_first && IsCompound(word.text)) {
      stopped_ = true;
      return;
    }
    command_.push_back(std::move(word));
  }

  void EndCommand() {
    EndWord();
    skip_word_ = false;
    if (!command_.empty()) commands_.push_back(std::exchange(command_, {}));
  }

  void Assign(ShellWord word) {
    if (!word.text.starts_with("PATH=") && !word.text.starts_with("PATH+=")) return;
    commands_.push_back({{"export", true}, std::move(word)});
  }

  // A subshell or a function definition, whose name is not a command, ends the reading.
  void Parenthesis() {
    stopped_ = true;
    const size_t words = command_.size() + (in_word_ ? 1 : 0);
    if (words > 1) return;
    command_.clear();
    word_ = {};
    in_word_ = false;
  }

  // "2>&1", ">> log", "< in": the next word is not an argument. A here-document ends the reading.
  void Redirect() {
    const bool file_number =
        in_word_ && word_.text.find_first_not_of("0123456789") == std::string::npos;
    if (file_number) {
      word_ = {};
      in_word_ = false;
    }
    EndWord();
    if (rest_.starts_with('<') || rest_.starts_with('(')) {
      stopped_ = true;
      return;
    }
    while (TakeIf('>') || TakeIf('&') || TakeIf('|')) {
    }
    skip_word_ = true;
  }

  void SkipComment() {
    if (syntax_ != Syntax::kCommands) rest_ = {};
    rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
  }

  void SingleQuoted() {
    const size_t end = std::min(rest_.find('\''), rest_.size());
    word_.text += rest_.substr(0, end);
    in_word_ = true;
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
  }

  void DoubleQuoted() {
    in_word_ = true;
    while (!rest_.empty() && !stopped_) {
      const char c = Take();
      if (c == '"') return;
      if (c == '\\' && !rest_.empty() && EscapesInQuotes(rest_[0])) {
        Escaped();
      } else if (c == '$' && syntax_ == Syntax::kCommands) {
        Dollar();
      } else if (c == '`' && syntax_ == Syntax::kCommands) {
        Substitution();
      } else {
        Add(c);
      }
    }
  }

  // Whether a backslash in double quotes escapes `c`; for sbatch, any character.
  bool EscapesInQuotes(char c) const {
    return syntax_ == Syntax::kDirective ||
           std::string_view("$`\"\\\n").find(c) != std::string_view::npos;
  }

  void Escaped() {
    if (TakeIf('\n')) return;
    Add(rest_.empty() ? '\\' : Take());
  }

  void Dollar() {
    in_word_ = true;
    const VariableReference variable = ReferenceAt(rest_);
    if (variable.length == 0) {
      if (rest_.starts_with('(') || rest_.starts_with('{')) return Substitution();
      word_.certain = false;  // $1, $@, a lone $
      return Add('$');
    }
    rest_.remove_prefix(variable.length);
    const auto found = variables_->find(variable.name);
    const bool known = found != variables_->end() && !IsSetByTheJob(variable.name);
    if (known) word_.text += found->second;
    word_.certain = word_.certain && known;
  }

  // The output and the end of a substitution are unknown: the reading ends.
  void Substitution() {
    word_.certain = false;
    in_word_ = true;
    stopped_ = true;
  }

  void Tilde() {
    const bool home = !in_word_ && (rest_.empty() || rest_[0] == '/' || rest_[0] == ' ');
    const auto found = variables_->find("HOME");
    if (!home || found == variables_->end()) return Add('~');
    in_word_ = true;
    word_.text += found->second;
  }

  std::string_view rest_;
  Syntax syntax_;
  const Variables* variables_;  // of kCommands
  std::vector<SimpleCommand> commands_;
  SimpleCommand command_;
  ShellWord word_;
  bool in_word_ = false;
  bool skip_word_ = false;  // the next word belongs to a redirection
  bool stopped_ = false;
};

}  // namespace

std::vector<SimpleCommand> SimpleCommands(std::string_view script, const Variables& variables) {
  return Lexer(script, Syntax::kCommands, &variables).Commands();
}

std::vector<std::string> SplitShellLine(std::string_view line) {
  return Lexer(line, Syntax::kWords).Words();
}

std::vector<std::string> SplitDirective(std::string_view line) {
  return Lexer(line, Syntax::kDirective).Words();
}

bool IsAssignment(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  return IsVariableName(word.substr(0, equals - (word[equals - 1] == '+' ? 1 : 0)));
}

}  // namespace gpuadvise::client
