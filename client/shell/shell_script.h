// Splits a shell script into statements and simple commands; words stay as written.
//
// For rewriting scripts: this gives the positions of words, client/shell/shell_words.h their
// values. Understands quotes, continued lines, comments, arrays, substitutions, here-documents and
// blocks (if, loops, case, functions, subshells). Expands and runs nothing. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

// The outermost block around a command; { … } is not a block.
enum class ScriptBlock { kNone, kCondition, kLoop, kFunction, kSubshell };

struct ScriptCommand {
  std::vector<std::string> words;  // as written, never empty; assignments first
  std::string redirections;        // "> log 2>&1", as written
  std::string here_document;       // its input, without the line that ends it
  bool piped_on = false;           // the next command of the statement reads its output
  ScriptBlock block = ScriptBlock::kNone;
  bool in_loop = false;         // in a loop, which may be an inner block
  bool may_be_skipped = false;  // behind a test, such as [ or $USE, and &&, or behind ||
  int line = 0;                 // counted from 1
  size_t begin = 0;             // offsets in the script: of its first word,
  size_t end = 0;               // and behind its last
};

// A top-level statement: a line or a whole block.
struct ScriptStatement {
  std::string text;  // as written, without a trailing comment; with here-documents
  int line = 0;
  size_t begin = 0;                     // offset of the text in the script
  bool compound = false;                // a block, not only simple commands
  std::vector<ScriptCommand> commands;  // all of it, in order
};

// Errors: kBadInput, "line 7: …", for an unterminated quote, block or here-document.
Result<std::vector<ScriptStatement>> ReadStatements(std::string_view script);

// The words, as written, of a text used as command arguments. Errors: as above.
Result<std::vector<std::string>> SplitRawWords(std::string_view text);

}  // namespace gpuadvise::client
