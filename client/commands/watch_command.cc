// `gpuadvise watch JOBID|DIR`: looks at intervals until the job, or the sweep, has ended.
//
// Ctrl-C ends it as it ends any process: nothing is kept that would have to be put in order.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/api/exit_code.h"
#include "client/commands/job_watch.h"
#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/sweep/sweep_folder.h"
#include "client/sweep/sweep_runs.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "common/base/words.h"
#include "common/process/run_program.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kWatchFooter =
    "\nOf a sweep it tells how many runs have ended.\nExits with 0 if the job succeeded, 1 if it "
    "failed; with --once 0 while it waits or runs.\n";

struct WatchCommand {
  std::string job_id;
  int64_t interval_seconds = 30;
  bool once = false;
  std::string exec;  // a shell command that is run at each event; "": none
};

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

// The user's own command of --exec. What others have written (a job's name, a reason) is in its
// environment alone, never in the command line.
class EventCommand {
 public:
  EventCommand(const WatchCommand& watch, std::chrono::milliseconds limit) : watch_(watch) {
    call_.command.words = {"/bin/sh", "-c", watch.exec};
    call_.child.group = ChildGroup::kOwnAndEndsWithIt;
    call_.child.dies_with_us = true;
    call_.deadline = limit;
  }

  // Runs it to its end. Returns why it failed, unless it failed so the last time too; else "".
  std::string Run(const WatchStatus& status, const WatchNews& news) {
    call_.command.environment = {
        Variable("JOB_ID", watch_.job_id), Variable("JOB_NAME", status.name),
        Variable("EVENT", news.event),     Variable("STATE", status.state),
        Variable("REASON", status.reason), Variable("TEXT", news.text)};
    std::string failure = Failure(RunWithin(call_));
    if (failure == last_failure_) return {};
    return last_failure_ = std::move(failure);
  }

 private:
  static std::string Variable(const char* name, const std::string& value) {
    constexpr size_t kMostBytes = 1500;
    return fmt::format("GPUADVISE_{}={}", name, Shortened(Printable(value), kMostBytes));
  }

  std::string Failure(const ProgramEnd& end) const {
    if (end.ok()) return {};
    if (end.how == ProgramEnd::How::kTooLate) {
      return fmt::format("the command of --exec was killed: it ran for more than {} s",
                         static_cast<double>(call_.deadline.count()) / 1000);
    }
    if (end.how != ProgramEnd::How::kByItself)
      return Printable(ExplainTermination(call_, end).message);
    const std::string said = Printable(end.errors.substr(0, end.errors.find('\n')));
    return "the command of --exec " + InWords(end.end) + (said.empty() ? "" : ": " + said);
  }

  const WatchCommand& watch_;
  ProgramCall call_;
  std::string last_failure_;
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

// Until the job has ended: kExitOk when it ended well, else kExitError. --once: kExitOk while it
// waits or runs.
int Run(WatchCommand& command, const CommandContext& context) {
  Console& console = context.console;
  std::function<void(api::SweepProgress&)> complete;
  if (!CheckJobId(command.job_id).empty()) {
    const Result<SweepFolder> folder = SweepFolder::Open(command.job_id);
    if (!folder) return Report(folder.error(), console);
    complete = [path = folder->path()](api::SweepProgress& progress) {
      const Result<SweepFolder> now = SweepFolder::Open(path);
      const auto taken = now ? now->Taken() : tl::unexpected<Error>(now.error());
      if (taken) CountEnded(*taken, progress);
    };
    if (folder->record().jobs.empty()) {
      return Report({ErrorCode::kNotFound, "of " + folder->path() + " nothing was submitted", ""},
                    console);
    }
    command.job_id = std::to_string(folder->record().jobs.front().id);
  }
  JobWatch watch(command.job_id, {::geteuid(), context.user_name()}, context.api,
                 std::move(complete));
  WatchScreen screen(console.OutputIsTerminal(), console);
  EventCommand exec(command, context.exec_limit);
  while (true) {
    WatchStatus status = watch.Step(console.now());
    if (!command.exec.empty()) {
      for (const WatchNews& news : status.news) {
        const std::string failure = exec.Run(status, news);
        if (!failure.empty()) status.complaints.push_back("gpuadvise: " + failure);
      }
    }
    if (console.style().json) {
      PrintStatus(status, console);
    } else {
      screen.Show(status);
    }
    if (status.exit_code || command.once) {
      screen.End();
      return status.exit_code.value_or(kExitOk);
    }
    context.sleep(static_cast<double>(command.interval_seconds));
  }
}

std::string CheckJobOrSweep(const std::string& word) {
  if (CheckJobId(word).empty() || SweepFolder::IsOne(word)) return "";
  return "'" + word + "' is neither a job id nor the folder of a sweep (submit --sweep-dir)";
}

void AddOptions(WatchCommand& command, Options& options) {
  options.Required("JOBID", command.job_id, "Job id, or the folder of a sweep", CheckJobOrSweep);
  options.Number("--interval SECONDS", command.interval_seconds, 5, 86'400,
                 "Seconds between checks (default 30, at least 5)");
  options.Flag("--once", command.once, "Check once");
  options.Json("Print one JSON object per check");
  options.Value("--exec COMMAND", command.exec, "Run this shell command at each event");
  options.Place();
  options.Footer(kWatchFooter);
}

}  // namespace

Command MakeWatchCommand() {
  return MakeCommand<WatchCommand>("watch", "Follow a job: its start, its progress, how it ended",
                                   AddOptions, Run);
}

}  // namespace gpuadvise::client
