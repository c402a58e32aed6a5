// The person at the other end: what commands print to and ask.
//
// Everything a command learns about its surroundings comes through here, so that tests see whole
// outputs, and nothing that a terminal obeys gets past it: texts are made printable on the way out
// (client/terminal/printable.h), whoever they are from. Not thread-safe; commands are
// single-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuadvise::client {

// How output may be drawn. A value, asked once at the start.
struct TerminalStyle {
  int width = 80;       // columns of the terminal
  bool colour = false;  // standard output is a terminal and NO_COLOR is not set
  bool json = false;    // the answer is a JSON document (--json), an error too
};

class Console {
 public:
  virtual ~Console() = default;

  // To standard output, made printable.
  void Print(std::string_view text);
  // A document that other programs read, such as a job script: to standard output as it is, but
  // made printable where that is a terminal.
  void PrintDocument(std::string_view text);
  // What a program wrote into its log: to standard output as it is; on a terminal made printable,
  // and of a line that was written over and over (a progress bar) only what came last.
  void PrintLog(std::string_view text);
  // Blanks over the last `columns` columns of the terminal's line, which is written anew.
  void EraseLine(int columns);
  // One sentence to standard error, made printable; a newline is added.
  void Complain(std::string_view sentence);
  // Whether there is a person who can answer.
  virtual bool CanAsk() const = 0;
  // Shows `question`, made printable, and waits for an answer; true for y or yes.
  // REQUIRES: CanAsk().
  bool Ask(std::string_view question);

  virtual TerminalStyle style() const = 0;
  virtual int64_t now() const = 0;  // unix seconds

 protected:
  enum class Stream { kOutput, kErrors };
  virtual void Write(Stream stream, std::string_view bytes) = 0;
  virtual bool OutputIsTerminal() const = 0;
  // What Ask() has shown: the person's answer.
  virtual bool ReadYes() = 0;
};

// The process's own terminal and clock.
class SystemConsole : public Console {
 public:
  explicit SystemConsole(bool json);
  bool CanAsk() const override;
  TerminalStyle style() const override { return style_; }
  int64_t now() const override;

  // The exit status of the process: `status`, but an error where standard output did not take all
  // of the answer (a full disk), which is complained of.
  int Finish(int status);

 protected:
  void Write(Stream stream, std::string_view bytes) override;
  bool OutputIsTerminal() const override;
  bool ReadYes() override;

 private:
  TerminalStyle style_;
  bool shows_utf8_ = true;  // else a terminal gets InAscii()
  int write_error_ = 0;     // errno of the first write to standard output that failed
};

// Whether the locale of these variables (nullptr: not set) is one of UTF-8, by POSIX' order:
// LC_ALL, LC_CTYPE, LANG.
bool LocaleShowsUtf8(const char* lc_all, const char* lc_ctype, const char* lang);

// The columns to use: COLUMNS when it is a sane number, else what the terminal says, else 80.
int TerminalWidth(const char* columns, int from_terminal);

}  // namespace gpuadvise::client
