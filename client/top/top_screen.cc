#include "client/top/top_screen.h"

#include <langinfo.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdlib>

#ifdef GPUADVISE_NCURSES
#define NCURSES_NOMACROS  // its macros have common names such as erase and move
#include <curses.h>
#endif

namespace gpuadvise::client {

#ifdef GPUADVISE_NCURSES
namespace {

volatile std::sig_atomic_t ending_signal = 0;

void Remember(int number) { ending_signal = number; }

int AttributesOf(TopStyle style) {
  switch (style) {
    case TopStyle::kTitle:
    case TopStyle::kHeader:
    case TopStyle::kWarning:
      return A_BOLD;
    case TopStyle::kSelected:
      return A_REVERSE;
    case TopStyle::kDim:
      return A_DIM;
    case TopStyle::kPlain:
      break;
  }
  return A_NORMAL;
}

class CursesScreen : public TopScreen {
 public:
  explicit CursesScreen(SCREEN* screen) : screen_(screen) {
    ::cbreak();
    ::noecho();
    ::nonl();
    ::keypad(stdscr, TRUE);
    ::set_escdelay(50);  // Escape is also a command
    ::curs_set(0);
    struct sigaction action {};
    action.sa_handler = Remember;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
    ascii_ = std::string_view(::nl_langinfo(CODESET)) != "UTF-8";
  }
  ~CursesScreen() override {
    ::endwin();
    ::delscreen(screen_);
  }

  TopSize size() const override {
    int height = 0;
    int width = 0;
    getmaxyx(stdscr, height, width);
    return {width, height, ascii_};
  }

  void Show(const std::vector<TopLine>& lines) override {
    ::werase(stdscr);
    for (size_t i = 0; i < lines.size(); ++i) {
      const int attributes = AttributesOf(lines[i].style);
      ::wattrset(stdscr, attributes);
      ::wmove(stdscr, static_cast<int>(i), 0);
      ::waddnstr(stdscr, lines[i].text.c_str(), -1);
    }
    ::wattrset(stdscr, A_NORMAL);
    ::wrefresh(stdscr);
  }

  TopKey Next(int milliseconds) override {
    ::wtimeout(stdscr, milliseconds);
    const int key = ::wgetch(stdscr);
    switch (key) {
      case KEY_UP:
        return {TopKey::Kind::kUp};
      case KEY_DOWN:
        return {TopKey::Kind::kDown};
      case KEY_PPAGE:
        return {TopKey::Kind::kPageUp};
      case KEY_NPAGE:
        return {TopKey::Kind::kPageDown};
      case KEY_HOME:
        return {TopKey::Kind::kHome};
      case KEY_END:
        return {TopKey::Kind::kEnd};
      case KEY_ENTER:
      case '\r':
      case '\n':
        return {TopKey::Kind::kEnter};
      case '\t':
        return {TopKey::Kind::kTab};
      case 27:
        return {TopKey::Kind::kEscape};
      case KEY_BACKSPACE:
      case 127:
      case 8:
        return {TopKey::Kind::kBackspace};
      default:
        break;
    }
    if (key >= ' ' && key < 127) return {TopKey::Kind::kCharacter, static_cast<char>(key)};
    return {};
  }

  int Ended() const override { return ending_signal; }

 private:
  SCREEN* screen_;
  bool ascii_ = false;
};

}  // namespace

Result<std::unique_ptr<TopScreen>> OpenTopScreen() {
  if (::isatty(STDOUT_FILENO) != 1 || ::isatty(STDIN_FILENO) != 1) {
    return BadInput("top needs a terminal; for output into a file or pipe use `gpuadvise queue`");
  }
  std::setlocale(LC_ALL, "");
  ::unsetenv("COLUMNS");  // may be wrong; ncurses asks the terminal
  ::unsetenv("LINES");
  SCREEN* screen = ::newterm(nullptr, stdout, stdin);
  if (screen == nullptr) {
    const char* kind = std::getenv("TERM");
    return BadInput("the terminal '" + std::string(kind == nullptr ? "" : kind) +
                    "' is not known here (TERM); set one such as xterm, or use `gpuadvise queue`");
  }
  return std::make_unique<CursesScreen>(screen);
}

#else

Result<std::unique_ptr<TopScreen>> OpenTopScreen() {
  return BadInput(
      "this gpuadvise was built without ncurses, which top needs; use `gpuadvise queue` and "
      "`gpuadvise watch`");
}

#endif

}  // namespace gpuadvise::client
