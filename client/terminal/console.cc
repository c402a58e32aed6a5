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

#include "client/terminal/printable.h"

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

void Console::Print(std::string_view text) {
  Write(Stream::kOutput, PrintableOutput(text, style().colour));
}

void Console::PrintDocument(std::string_view text) {
  if (OutputIsTerminal()) return Print(text);
  Write(Stream::kOutput, text);
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
    : style_{TerminalWidth(std::getenv("COLUMNS"), WidthOfTerminal()), ColourWanted(), json} {}

void SystemConsole::Write(Stream stream, std::string_view bytes) {
  FILE* file = stream == Stream::kOutput ? stdout : stderr;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const bool flushed = std::fflush(file) == 0;
  if (stream == Stream::kOutput && write_error_ == 0 && !(written && flushed)) write_error_ = errno;
}

int SystemConsole::Finish(int status) {
  if (write_error_ == 0) return status;
  if (write_error_ != EPIPE) {  // the reader has closed the pipe, and wants no more
    Complain(std::string("gpuadvise: the answer could not be written to standard output: ") +
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
