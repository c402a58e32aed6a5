// Words of a shell and of #SBATCH lines: quoted and split again they are the same, whatever is in
// them, and a script is told apart into words that stand in it.
#include "client/shell/shell_script.h"
#include "client/shell/shell_text.h"
#include "client/shell/shell_words.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::client;
  const std::string text(AsText(data, size));
  if (text.find('\0') == std::string::npos) {
    Require(SplitShellLine(ShellQuoted(text)) == std::vector<std::string>{text},
            "a quoted word is one word, and the same");
  }
  const auto directive = SplitDirective("--comment=" + DirectiveQuoted(text) + " -N1");
  Require(directive.size() == 2 && directive[1] == "-N1", "a quoted value ends where it should");
  Require(DirectiveQuoted(text).find('\n') == std::string::npos, "it is one line");
  (void)ExpandText(text, {{"A", "x"}});
  for (const SimpleCommand& command : SimpleCommands(text, {{"A", "x y"}})) {
    Require(!command.empty(), "a command has words");
  }
  if (const auto statements = ReadStatements(text)) {
    for (const ScriptStatement& statement : *statements) {
      for (const ScriptCommand& command : statement.commands) {
        Require(!command.words.empty(), "a command has words");
        for (const std::string& word : command.words) {
          Require(!word.empty(), "a word as written is not empty");
        }
      }
    }
  } else {
    Require(!statements.error().message.empty(), "an error has a sentence");
  }
  const bool one_line = text.find('\n') == std::string::npos;  // else it may hold a here-document
  if (const auto words = SplitRawWords(text); words && one_line) {
    std::string joined;
    for (const std::string& word : *words) joined += (joined.empty() ? "" : " ") + word;
    Require(SplitRawWords(joined) == *words, "words as written are the same when read again");
  }
  return 0;
}
