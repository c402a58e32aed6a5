#include "client/terminal/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

constexpr int kNarrowest = 40;
constexpr int kWidest = 500;
constexpr int kDefaultWidth = 80;

int WidthOfTerminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool ColourWanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  if (terminal != nullptr && std::string_view(terminal) == "dumb") return false;
  return ::isatty(STDOUT_FILENO) == 1;
}

}  // namespace

int TerminalWidth(const char* columns, int from_terminal) {
  const int asked = columns == nullptr ? 0 : std::atoi(columns);
  if (asked >= kNarrowest && asked <= kWidest) return asked;
  if (from_terminal > 0) return std::min(std::max(from_terminal, kNarrowest), kWidest);
  return kDefaultWidth;
}

bool LocaleShowsUtf8(const char* lc_all, const char* lc_ctype, const char* lang) {
  for (const char* value : {lc_all, lc_ctype, lang}) {
    if (value == nullptr || *value == '\0') continue;
    const std::string locale = LowerCase(value);
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;  // POSIX: the locale is C
}

void Console::Print(std::string_view text) {
  Write(Stream::kOutput, PrintableOutput(text, style().colour));
}

void Console::PrintDocument(std::string_view text) {
  const bool seen = OutputIsTerminal();
  Write(Stream::kOutput, seen ? PrintableOutput(text, style().colour) : std::string(text));
}

void Console::PrintLog(std::string_view text) {
  if (!OutputIsTerminal()) return Write(Stream::kOutput, text);
  std::string shown;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    while (line.ends_with('\r')) line.remove_suffix(1);
    shown += line.substr(line.rfind('\r') + 1);  // npos + 1: the whole line
    if (end < text.size()) shown += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  Write(Stream::kOutput, PrintableLines(shown));
}

void Console::EraseLine(int columns) {
  Write(Stream::kOutput, "\r" + std::string(static_cast<size_t>(std::max(0, columns)), ' ') + "\r");
}

void Console::Complain(std::string_view sentence) {
  Write(Stream::kErrors, PrintableLines(sentence) + "\n");
}

bool Console::Ask(std::string_view question) {
  Write(Stream::kErrors, PrintableLines(question));
  return ReadYes();
}

SystemConsole::SystemConsole(bool json)
    : style_{TerminalWidth(std::getenv("COLUMNS"), WidthOfTerminal()), ColourWanted(), json},
      shows_utf8_(
          LocaleShowsUtf8(std::getenv("LC_ALL"), std::getenv("LC_CTYPE"), std::getenv("LANG"))) {}

void SystemConsole::Write(Stream stream, std::string_view text) {
  FILE* file = stream == Stream::kOutput ? stdout : stderr;
  std::string plain;
  if (!shows_utf8_ && !style_.json && ::isatty(::fileno(file)) == 1) plain = InAscii(text);
  const std::string_view bytes = plain.empty() ? text : plain;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const bool flushed = std::fflush(file) == 0;
  if (stream == Stream::kOutput && write_error_ == 0 && !(written && flushed)) write_error_ = errno;
}

int SystemConsole::Finish(int status) {
  if (write_error_ == 0) return status;
  if (write_error_ != EPIPE) {  // the reader has closed the pipe
    Complain(std::string("gpuadvise: cannot write to standard output: ") +
             std::strerror(write_error_));
  }
  return status == 0 ? 1 : status;
}

bool SystemConsole::OutputIsTerminal() const { return ::isatty(STDOUT_FILENO) == 1; }

bool SystemConsole::CanAsk() const {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

bool SystemConsole::ReadYes() {
  char answer[16] = {};
  if (std::fgets(answer, sizeof answer, stdin) == nullptr) return false;
  const std::string_view word(answer);
  return word == "y\n" || word == "Y\n" || word == "yes\n" || word == "YES\n" || word == "Yes\n";
}

int64_t SystemConsole::now() const { return std::time(nullptr); }

}  // namespace gpuadvise::client
