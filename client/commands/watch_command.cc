// `gpuadvise watch JOBID`: looks at intervals until the job has ended.
//
// Ctrl-C ends it as it ends any process: nothing is kept that would have to be put in order.
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/commands/job_watch.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// One line that is rewritten on a terminal; elsewhere a new line when something has changed.
class WatchScreen {
 public:
  WatchScreen(bool rewrites, Console& console) : rewrites_(rewrites), console_(console) {}

  void Show(const WatchStatus& status) {
    Erase();
    for (const std::string& complaint : status.complaints) console_.Complain(complaint);
    for (const std::string& note : status.notes) console_.Print(Stamped(note) + "\n");
    if (status.line.empty()) return;
    if (!rewrites_) {
      if (status.changed) console_.Print(Stamped(status.line) + "\n");
      return;
    }
    const std::string line =
        Clipped(Stamped(status.line), std::max(20, console_.style().width - 1));
    shown_width_ = DisplayWidth(line);
    console_.Print(line);
  }

  // What was shown last stays.
  void End() {
    if (shown_width_ > 0) console_.Print("\n");
  }

 private:
  std::string Stamped(const std::string& text) const {
    const std::string clock = ClockTime(console_.now(), console_.now());
    return clock.substr(clock.rfind(' ') + 1) + "  " + text;
  }

  // Blanks instead of a control sequence, which not every terminal knows.
  void Erase() {
    if (shown_width_ == 0) return;
    console_.EraseLine(shown_width_);
    shown_width_ = 0;
  }

  bool rewrites_;
  Console& console_;
  int shown_width_ = 0;
};

// For programs: every look, on a line of its own.
void PrintStatus(const WatchStatus& status, Console& console) {
  const json object = {{"time", console.now()},
                       {"state", status.state},
                       {"line", status.line},
                       {"notes", status.notes},
                       {"complaints", status.complaints},
                       {"exit_code", status.exit_code ? json(*status.exit_code) : json()}};
  console.Print(PrintableJson(object.dump(-1, ' ', false, json::error_handler_t::replace)) + "\n");
}

}  // namespace

int RunWatchJob(const WatchCommand& command, const WatchPlace& place, Api& api, Console& console) {
  JobWatch watch(command.job_id, {::geteuid(), place.user}, api);
  WatchScreen screen(place.rewrites, console);
  while (true) {
    WatchStatus status = watch.Step(console.now());
    if (place.tell) {
      for (const WatchNews& news : status.news) {
        for (std::string& complaint : place.tell(news.event, news.text)) {
          status.complaints.push_back("gpuadvise: " + std::move(complaint));
        }
      }
    }
    if (command.json) {
      PrintStatus(status, console);
    } else {
      screen.Show(status);
    }
    if (status.exit_code || command.once) {
      screen.End();
      return status.exit_code.value_or(kExitOk);
    }
    place.pause(command.interval_seconds);
  }
}

}  // namespace gpuadvise::client
