// The user's terminal: output of commands, questions and the clock.
//
// All of a command's interaction goes through this class, so that tests see complete outputs. All
// text is made printable (client/terminal/printable.h), so that none can control the terminal. Not
// thread-safe; commands are single-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuadvise::client {

// How output may be drawn. A value, determined once at the start.
struct TerminalStyle {
  int width = 80;       // columns of the terminal
  bool colour = false;  // standard output is a terminal and NO_COLOR is not set
  bool json = false;    // answers and errors are JSON documents (--json)
};

class Console {
 public:
  virtual ~Console() = default;

  // Prints to standard output, made printable.
  void Print(std::string_view text);
  // Prints a document for other programs, such as a job script, to standard output: unchanged, but
  // made printable on a terminal.
  void PrintDocument(std::string_view text);
  // Prints a program's log to standard output: unchanged, but on a terminal made printable, with
  // only the last state of overwritten lines (progress bars).
  void PrintLog(std::string_view text);
  // Overwrites the terminal's current line, of `columns` columns, with blanks.
  void EraseLine(int columns);
  // Prints one sentence and a newline to standard error, made printable.
  void Complain(std::string_view sentence);
  virtual bool OutputIsTerminal() const = 0;
  // Whether a user can answer questions.
  virtual bool CanAsk() const = 0;
  // Shows `question`, made printable, and waits for the answer; true: y or yes.
  // REQUIRES: CanAsk().
  bool Ask(std::string_view question);

  virtual TerminalStyle style() const = 0;
  virtual int64_t now() const = 0;  // unix seconds

 protected:
  enum class Stream { kOutput, kErrors };
  virtual void Write(Stream stream, std::string_view bytes) = 0;
  // Reads the answer to Ask().
  virtual bool ReadYes() = 0;
};

// The process's own terminal and clock.
class SystemConsole : public Console {
 public:
  explicit SystemConsole(bool json);
  bool OutputIsTerminal() const override;
  bool CanAsk() const override;
  TerminalStyle style() const override { return style_; }
  int64_t now() const override;

  // The exit status of the process: `status`, or an error, which is reported, if standard output
  // did not take the whole answer (a full disk).
  int Finish(int status);

 protected:
  void Write(Stream stream, std::string_view bytes) override;
  bool ReadYes() override;

 private:
  TerminalStyle style_;
  bool shows_utf8_ = true;  // else a terminal gets InAscii()
  int write_error_ = 0;     // errno of the first failed write to standard output
};

// Whether these variables (nullptr: not set) select a UTF-8 locale, in POSIX's order:
// LC_ALL, LC_CTYPE, LANG.
bool LocaleShowsUtf8(const char* lc_all, const char* lc_ctype, const char* lang);

// The width to use: COLUMNS if plausible, else the terminal's, else 80.
int TerminalWidth(const char* columns, int from_terminal);

}  // namespace gpuadvise::client
