#include "client/shell/shell_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "client/shell/shell_text.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

constexpr int kMostUnended = 100;
constexpr size_t kMaxDepth = 100;  // of nested blocks and substitutions

struct Token {
  enum class Kind { kWord, kOperator, kNewline, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
  size_t begin = 0;
  size_t end = 0;
  int line = 0;
};

tl::unexpected<Error> NoEnd(int line, const std::string& what) {
  return BadInput(fmt::format("line {}: {} is not closed", line, what));
}

// Splits a script into words and operators.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view script) : script_(script) {}

  Result<Token> Next() {
    SkipBlanks();
    Token token;
    token.begin = at_;
    token.line = line_;
    if (at_ >= script_.size()) {
      if (!here_documents_.empty()) return NoEnd(line_, "a here-document");
      token.end = at_;
      return token;
    }
    if (script_[at_] == '\n') return Newline(std::move(token));
    if (ReadOperator(token)) return token;
    token.kind = Token::Kind::kWord;
    if (Result<void> read = ReadWord(token.text, 0); !read) {
      return tl::unexpected<Error>(read.error());
    }
    token.end = at_;
    if (std::exchange(delimiter_is_next_, false)) here_documents_.push_back(Delimiter(token.text));
    return token;
  }

  // The bodies of here-documents after the last newline.
  std::vector<std::string> TakeBodies() { return std::exchange(bodies_, {}); }

  // Skips raw text up to and including `end`, for `[[ … ]]` and `(( … ))`.
  Result<void> SkipTo(std::string_view end, int line) {
    const size_t found = script_.find(end, at_);
    if (found == std::string_view::npos) return NoEnd(line, "a test");
    Advance(found + end.size());
    return {};
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < script_.size() ? script_[at_ + ahead] : '\0';
  }
  void Advance(size_t to) {
    for (; at_ < to; ++at_) line_ += script_[at_] == '\n' ? 1 : 0;
  }
  bool AtContinuation() const {
    return Peek() == '\\' && (Peek(1) == '\n' || (Peek(1) == '\r' && Peek(2) == '\n'));
  }

  void SkipBlanks() {
    while (at_ < script_.size()) {
      if (AtContinuation()) {
        Advance(at_ + (Peek(1) == '\r' ? 3 : 2));
      } else if (Peek() == ' ' || Peek() == '\t' || Peek() == '\r') {
        ++at_;
      } else if (Peek() == '#') {
        Advance(std::min(script_.find('\n', at_), script_.size()));
      } else {
        return;
      }
    }
  }

  // The bodies of here-documents follow the line with their operators.
  Result<Token> Newline(Token token) {
    token.kind = Token::Kind::kNewline;
    Advance(at_ + 1);
    for (const std::string& delimiter : std::exchange(here_documents_, {})) {
      std::string& body = bodies_.emplace_back();
      for (bool found = false; !found;) {
        if (at_ >= script_.size()) return NoEnd(token.line, "the here-document " + delimiter);
        const size_t end = std::min(script_.find('\n', at_), script_.size());
        found = Trim(script_.substr(at_, end - at_)) == delimiter;
        if (!found) body += std::string(script_.substr(at_, end - at_)) + "\n";
        Advance(std::min(end + 1, script_.size()));
      }
    }
    token.end = at_;
    return token;
  }

  bool ReadOperator(Token& token) {
    constexpr std::array<std::string_view, 20> kOperators = {
        "&>>", "<<<", "<<-", ";;&", "&&", "||", ";;", ";&", "|&", "&>",
        ">>",  ">&",  "<&",  ">|",  "<<", "&",  ";",  "|",  "(",  ")"};
    if ((Peek() == '<' || Peek() == '>') && Peek(1) == '(') return false;  // a substitution
    std::string_view found;
    for (std::string_view each : kOperators) {
      if (found.empty() && script_.substr(at_).starts_with(each)) found = each;
    }
    if (found.empty() && (Peek() == '<' || Peek() == '>')) found = script_.substr(at_, 1);
    if (found.empty()) return false;
    at_ += found.size();
    token.kind = Token::Kind::kOperator;
    token.text = found;
    token.end = at_;
    delimiter_is_next_ = found == "<<" || found == "<<-";
    return true;
  }

  static std::string Delimiter(std::string_view word) {
    std::string plain;
    for (char c : word) {
      if (c != '\'' && c != '"' && c != '\\') plain += c;
    }
    return plain;
  }

  void Take(std::string& text) {
    line_ += script_[at_] == '\n' ? 1 : 0;
    text += script_[at_++];
  }

  Result<void> ReadWord(std::string& text, size_t depth) {
    while (at_ < script_.size()) {
      const char c = Peek();
      if (AtContinuation()) {
        Advance(at_ + (Peek(1) == '\r' ? 3 : 2));
        continue;
      }
      if (c == '(' && OpensArray(text)) {
        if (Result<void> read = Enclosed(text, ')', "an array", depth); !read) return read;
        return {};
      }
      if (IsBlank(c) || c == ';' || c == '&' || c == '|' || c == ')') return {};
      if (c == '(' && !OpensPattern(text)) return {};
      if ((c == '<' || c == '>') && Peek(1) != '(') return {};
      if (Result<void> read = ReadPart(text, depth); !read) return read;
    }
    return {};
  }

  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  static bool OpensArray(std::string_view word) {
    if (!word.ends_with('=')) return false;
    word.remove_suffix(word.ends_with("+=") ? 2 : 1);
    return IsVariableName(word);
  }
  // Whether a parenthesis after it opens a process substitution "<(" or a pattern "@(".
  static bool OpensPattern(std::string_view word) {
    return !word.empty() && std::string_view("<>@!+*?").find(word.back()) != std::string_view::npos;
  }

  // Reads one character, a quoted text or a substitution.
  Result<void> ReadPart(std::string& text, size_t depth) {
    switch (Peek()) {
      case '\\':
        Take(text);
        if (at_ < script_.size()) Take(text);
        return {};
      case '\'':
        return SingleQuoted(text);
      case '"':
        return Enclosed(text, '"', "a double quote", depth);
      case '`':
        return Enclosed(text, '`', "a backquote", depth);
      case '$':
        Take(text);
        if (Peek() == '(') return Enclosed(text, ')', "$(", depth);
        if (Peek() == '{') return Enclosed(text, '}', "${", depth);
        return {};
      case '(':
        return Enclosed(text, ')', "(", depth);
      default:
        Take(text);
        return {};
    }
  }

  Result<void> SingleQuoted(std::string& text) {
    const int line = line_;
    const size_t end = script_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return NoEnd(line, "a single quote");
    while (at_ <= end) Take(text);
    return {};
  }

  // Reads from an opening character to `close`, including nested parts.
  Result<void> Enclosed(std::string& text, char close, const char* what, size_t depth) {
    const int line = line_;
    if (depth > kMaxDepth) return BadInput(fmt::format("line {}: nested too deeply", line));
    Take(text);
    while (at_ < script_.size()) {
      if (Peek() == close) {
        Take(text);
        return {};
      }
      if (close == ')' && TakeHereDocument(text)) continue;
      const bool quoted = close == '"';
      const bool comment = !quoted && close == ')' && Peek() == '#' && IsBlank(text.back());
      if (comment) {
        Advance(std::min(script_.find('\n', at_), script_.size()));
      } else if (IsPlainIn(close)) {
        Take(text);
      } else if (Result<void> read = ReadPart(text, depth + 1); !read) {
        return read;
      }
    }
    return NoEnd(line, what);
  }

  // "<<END", "<<-'END'" and all up to the line END, inside a substitution; false: no such text.
  bool TakeHereDocument(std::string& text) {
    if (script_.substr(at_, 2) != "<<" || script_.substr(at_, 3) == "<<<") return false;
    if (unended_ == kMostUnended) return false;  // each is looked for up to the end
    size_t begin = at_ + 2;
    const bool tabs = begin < script_.size() && script_[begin] == '-';
    begin = script_.find_first_not_of(" \t", begin + (tabs ? 1 : 0));
    if (begin == std::string_view::npos) return false;
    const bool quoted = script_[begin] == '\'' || script_[begin] == '"';
    begin += quoted ? 1 : 0;
    size_t end = begin;
    while (end < script_.size() && IsNamePart(script_[end])) ++end;
    const std::string_view mark = script_.substr(begin, end - begin);
    if (mark.empty()) return false;
    for (size_t line = script_.find('\n', end); line != std::string_view::npos;) {
      const size_t start = line + 1;
      line = script_.find('\n', start);
      std::string_view content = script_.substr(start, line - start);
      while (tabs && content.starts_with('\t')) content.remove_prefix(1);
      if (content != mark) continue;
      const size_t close = std::min(line, script_.size());
      while (at_ < close) Take(text);
      return true;
    }
    ++unended_;
    return false;
  }

  // Whether the next character has no special meaning in a text that `close` ends.
  bool IsPlainIn(char close) const {
    if (close == '"') return Peek() != '$' && Peek() != '\\' && Peek() != '`';
    return close == '}' && Peek() == '(';
  }

  std::string_view script_;
  size_t at_ = 0;
  int line_ = 1;
  bool delimiter_is_next_ = false;
  int unended_ = 0;                          // here-documents of substitutions without an end
  std::vector<std::string> here_documents_;  // delimiters; the bodies follow the line
  std::vector<std::string> bodies_;          // of the last line
};

bool IsRedirection(const std::string& op) { return op.find_first_of("<>") != std::string::npos; }

// Combines tokens into statements.
class Parser {
 public:
  explicit Parser(std::string_view script) : script_(script), tokens_(script) {}

  Result<std::vector<ScriptStatement>> Parse() {
    while (true) {
      Result<Token> token = tokens_.Next();
      if (!token) return tl::unexpected<Error>(token.error());
      if (token->kind == Token::Kind::kEnd) break;
      if (Result<void> taken = Take(*token); !taken) return tl::unexpected<Error>(taken.error());
    }
    EndCommand();
    if (!blocks_.empty()) return NoEnd(blocks_.back().line, blocks_.back().word);
    EndStatement(script_.size());
    return std::move(statements_);
  }

 private:
  struct Block {
    ScriptBlock kind = ScriptBlock::kNone;
    std::string word;  // the word that opened it
    int line = 0;
    bool at_pattern = false;  // of a case
  };

  Result<void> Take(const Token& token) {
    if (!in_statement_ && token.kind != Token::Kind::kNewline && token.text != ";") Begin(token);
    if (!blocks_.empty() && blocks_.back().at_pattern && token.text != "esac") {
      // "a|b)": up to the parenthesis.
      if (token.text == ")") blocks_.back().at_pattern = false;
      return {};
    }
    switch (token.kind) {
      case Token::Kind::kWord:
        return TakeWord(token);
      case Token::Kind::kOperator:
        return TakeOperator(token);
      default:
        TakeNewline(token);
        return {};
    }
  }

  void Begin(const Token& token) {
    in_statement_ = true;
    statement_ = {};
    statement_.line = token.line;
    statement_.begin = begin_ = token.begin;
  }

  Result<void> TakeWord(const Token& token) {
    last_end_ = token.end;
    if (std::exchange(redirects_, false)) {
      command_.redirections += token.text;
      command_.end = token.end;
      return {};
    }
    continues_ = false;
    if (std::exchange(name_is_next_, false)) {
      function_is_next_ = true;
      return {};
    }
    if (is_header_) {  // "for x in a b", "case x in"
      if (token.text == "in" && !blocks_.empty() && blocks_.back().word == "case") {
        blocks_.back().at_pattern = true;
        is_header_ = false;
      }
      return {};
    }
    if (command_.words.empty() && IsReserved(token)) return CheckDepth(token);
    if (command_.words.empty() && token.text == "[[") {
      tested_ = true;
      return tokens_.SkipTo("]]", token.line);
    }
    if (command_.words.empty()) {
      command_.line = token.line;
      command_.begin = token.begin;
    }
    command_.words.push_back(token.text);
    command_.end = token.end;
    return {};
  }

  // Whether the command is there for its status: [ … ], grep -q x file, $USE_LORA.
  static bool IsTest(const std::vector<std::string>& words) {
    const std::string& first = words[0];
    const bool variable = words.size() == 1 && (first.starts_with('$') || first.starts_with("\"$"));
    return variable || IsOneOf(first, {"[", "test", "true", "false", "grep", "command", "which",
                                       "type", "hash"});
  }

  // Opens or closes a block; returns false if the word is not reserved.
  bool IsReserved(const Token& token) {
    const std::string& word = token.text;
    if (IsOneOf(word, {"then", "else", "elif", "do", "!", "time"})) return true;
    if (IsOneOf(word, {"if"})) return Open(ScriptBlock::kCondition, token, false);
    if (IsOneOf(word, {"for", "select"})) return Open(ScriptBlock::kLoop, token, true);
    if (IsOneOf(word, {"while", "until"})) return Open(ScriptBlock::kLoop, token, false);
    if (word == "case") return Open(ScriptBlock::kCondition, token, true);
    if (word == "{") {
      const bool function = std::exchange(function_is_next_, false);
      return Open(function ? ScriptBlock::kFunction : ScriptBlock::kNone, token, false);
    }
    if (word == "function") {
      name_is_next_ = true;
      return true;
    }
    if (!IsOneOf(word, {"fi", "done", "esac", "}"}) || blocks_.empty()) return false;
    blocks_.pop_back();
    return true;
  }

  bool Open(ScriptBlock kind, const Token& token, bool header) {
    blocks_.push_back({kind, token.text, token.line, false});
    statement_.compound = true;
    is_header_ = header;
    return true;
  }

  Result<void> TakeOperator(const Token& token) {
    last_end_ = token.end;
    if (IsRedirection(token.text)) {
      TakeRedirection(token);
      return {};
    }
    if (token.text == "(") return OpenParenthesis(token);
    if (token.text == ")") {
      EndCommand();
      if (!blocks_.empty()) blocks_.pop_back();
      return {};
    }
    is_header_ = false;
    const bool pipe = token.text == "|" || token.text == "|&";
    const bool tests =
        std::exchange(tested_, false) || (!command_.words.empty() && IsTest(command_.words));
    EndCommand(pipe);
    if (token.text == "||" || (token.text == "&&" && tests)) {
      may_be_skipped_ = true;
    } else if (!pipe && token.text != "&&") {
      may_be_skipped_ = false;
    }
    continues_ = pipe || token.text == "&&" || token.text == "||";
    if (token.text.starts_with(";;") || token.text == ";&") {
      if (!blocks_.empty() && blocks_.back().word == "case") blocks_.back().at_pattern = true;
      return {};
    }
    if (!continues_ && blocks_.empty()) {
      EndStatement(token.text == "&" ? token.end : token.begin);
    }
    return {};
  }

  void TakeRedirection(const Token& token) {
    // "2>" is a word and an adjacent operator.
    std::string number;
    const bool has_number = !command_.words.empty() && token.begin > 0 &&
                            IsDigit(script_[token.begin - 1]) && IsNumber(command_.words.back());
    if (has_number) {
      number = command_.words.back();
      command_.words.pop_back();
    }
    command_.redirections += (command_.redirections.empty() ? "" : " ") + number + token.text;
    redirects_ = true;
  }

  static bool IsNumber(const std::string& text) {
    return std::all_of(text.begin(), text.end(), IsDigit);
  }

  Result<void> OpenParenthesis(const Token& token) {
    // "if (( … ))" tests a sum and runs nothing.
    const bool sum = token.end < script_.size() && script_[token.end] == '(';
    if (sum && command_.words.empty() && !blocks_.empty()) return tokens_.SkipTo("))", token.line);
    if (command_.words.size() == 1) {  // name ()
      command_ = {};
      function_is_next_ = true;
      blocks_.push_back({ScriptBlock::kFunction, "(", token.line, false});
      return CheckDepth(token);
    }
    Open(ScriptBlock::kSubshell, token, false);
    return CheckDepth(token);
  }

  Result<void> CheckDepth(const Token& token) const {
    if (blocks_.size() <= kMaxDepth) return {};
    return BadInput(fmt::format("line {}: blocks are nested too deeply", token.line));
  }

  void TakeNewline(const Token& token) {
    if (!in_statement_) return;
    is_header_ = false;
    EndCommand();
    if (!continues_) may_be_skipped_ = false;
    // They belong to the last commands of the line; there is rarely more than one.
    for (std::string& body : tokens_.TakeBodies()) {
      if (!statement_.commands.empty()) statement_.commands.back().here_document = std::move(body);
    }
    const bool waits = function_is_next_ || continues_ || !blocks_.empty();
    // The newline token of a line with a here-document extends to the document's end.
    const bool has_document = token.end > token.begin + 1;
    if (!waits) EndStatement(has_document ? token.end : last_end_);
  }

  void EndCommand(bool pipe = false) {
    redirects_ = false;
    if (command_.words.empty()) {
      command_ = {};
      return;
    }
    command_.piped_on = pipe;
    command_.may_be_skipped = may_be_skipped_;
    for (const Block& block : blocks_) {
      if (command_.block == ScriptBlock::kNone) command_.block = block.kind;
      command_.in_loop = command_.in_loop || block.kind == ScriptBlock::kLoop;
    }
    statement_.commands.push_back(std::exchange(command_, {}));
  }

  void EndStatement(size_t end) {
    if (!in_statement_) return;
    in_statement_ = false;
    continues_ = false;
    may_be_skipped_ = false;
    std::string_view text = script_.substr(begin_, std::max(end, begin_) - begin_);
    while (text.ends_with('\n')) text.remove_suffix(1);
    statement_.text = Trim(text);
    if (!statement_.text.empty()) statements_.push_back(std::exchange(statement_, {}));
  }

  std::string_view script_;
  Tokenizer tokens_;
  std::vector<ScriptStatement> statements_;
  ScriptStatement statement_;
  ScriptCommand command_;
  std::vector<Block> blocks_;
  size_t begin_ = 0;
  size_t last_end_ = 0;
  bool in_statement_ = false;
  bool is_header_ = false;         // words up to the next operator belong to for or case
  bool redirects_ = false;         // the next word is a file
  bool continues_ = false;         // after && || |
  bool tested_ = false;            // by [[ ]]
  bool may_be_skipped_ = false;    // the command being read
  bool name_is_next_ = false;      // after "function"
  bool function_is_next_ = false;  // a function's name was read
};

}  // namespace

Result<std::vector<ScriptStatement>> ReadStatements(std::string_view script) {
  return Parser(script).Parse();
}

Result<std::vector<std::string>> SplitRawWords(std::string_view text) {
  std::vector<std::string> words;
  Tokenizer tokens(text);
  while (true) {
    Result<Token> token = tokens.Next();
    if (!token) return tl::unexpected<Error>(token.error());
    if (token->kind == Token::Kind::kEnd) return words;
    if (token->kind != Token::Kind::kNewline) words.push_back(std::move(token->text));
  }
}

}  // namespace gpuadvise::client
