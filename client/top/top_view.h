// The screen of `gpuadvise top` as a function of its data and the keys typed.
//
// Pure values and functions: the terminal is in client/top/top_screen.h, the daemon in the command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/api/answer_reader.h"
#include "common/api/gpus.h"
#include "common/api/queue.h"

namespace gpuadvise::client {

enum class TopTab { kQueue, kMine, kGpus };
enum class TopSort { kStart, kUser, kName, kGpus, kLimit };

struct TopKey {
  enum class Kind {
    kNone,
    kUp,
    kDown,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
    kEnter,
    kTab,
    kEscape,
    kBackspace,
    kCharacter
  };
  Kind kind = Kind::kNone;
  char character = '\0';  // of kCharacter: printable ASCII
};

struct TopState {
  TopTab tab = TopTab::kQueue;
  TopSort sort = TopSort::kStart;
  bool reverse = false;
  std::string filter;   // part of an id, a user, a name, a partition or a GPU
  bool typing = false;  // the filter
  bool help = false;
  size_t selected = 0;  // row of the table
  int64_t log_of = 0;   // job whose log is shown; 0: none
  bool quit = false;
};

struct TopData {
  api::Answer<api::Queue> queue;
  api::Answer<api::Gpus> gpus;
  std::string problem;  // why they are old; "" when they are not
  std::string log_path;
  std::string log;  // its end, as it is in the file
  std::string own_user;
  int64_t now = 0;
};

enum class TopStyle { kPlain, kTitle, kHeader, kSelected, kDim, kWarning };

struct TopLine {
  std::string text;  // no wider than the screen, printable
  TopStyle style = TopStyle::kPlain;
};

struct TopSize {
  int width = 80;
  int height = 24;
  bool ascii = false;  // the terminal's locale shows no UTF-8
};

// The rows of the current table, filtered and sorted: the id of each job, 0 for a GPU.
std::vector<int64_t> TopRows(const TopData& data, const TopState& state);

// The state after a key. `rows`: of the table; `page`: number of visible rows.
TopState AfterKey(TopState state, TopKey key, const std::vector<int64_t>& rows, int page);

// The lines of the screen, `height` at most.
std::vector<TopLine> DrawTop(const TopData& data, const TopState& state, const TopSize& size);

// Number of table rows visible at once.
int TopPage(const TopState& state, const TopSize& size);

}  // namespace gpuadvise::client
