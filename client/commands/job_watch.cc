#include "client/commands/job_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/outcome_import.h"
#include "client/questions/better_strategy.h"
#include "client/run/outcome_file.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/views/experiment_words.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int kLooksPerAdvice = 5;
constexpr int kMostNotFound = 3;         // a daemon that starts anew may not know it at once
constexpr int kLooksForAccounting = 20;  // which is read in the background
constexpr int kLooksForOutcome = 3;      // it may be reported a moment after the end
constexpr double kLeastMoveSeconds = 120;
constexpr double kLeastMoveShare = 0.10;  // of the time until then
constexpr double kLeastProgress = 0.05;
constexpr int64_t kHangSeconds = 1'800;   // without a step: evaluations and checkpoints take less
constexpr double kJudgeUseSeconds = 600;  // data and models are loaded before
constexpr double kNoUse = 0.01;           // a share that no training has
constexpr double kNearLimitShare = 0.10;  // of the limit, within the next two
constexpr double kNearestLimit = 300;     // seconds
constexpr double kFarthestLimit = 3'600;
constexpr int64_t kLongestSilence = 600;  // seconds between lines while it runs

std::string PendingWords(const json& waiting, int64_t now) {
  const auto p50 = SecondsOf(waiting, "wait_p50_seconds");
  const auto p90 = SecondsOf(waiting, "wait_p90_seconds");
  if (!p50 || !p90) return "no start time can be forecast for it as it is";
  if (*p90 < 30) return "starts now";
  return fmt::format("starts in {}: {}", DurationRange(*p50, *p90),
                     ClockRange(now + std::llround(*p50), now + std::llround(*p90), now));
}

std::string SaidEnd(const json& job, int64_t now) {
  const auto started = TimeOf(job, "started_at");
  const auto likely = SecondsOf(job, "run_p50_seconds");
  if (!started || !likely) return {};
  const auto late = SecondsOf(job, "run_p90_seconds").value_or(*likely);
  return "forecast to end " +
         ClockRange(*started + std::llround(*likely), *started + std::llround(late), now);
}

double EndOf(const json& attempt) {
  return static_cast<double>(TimeOf(attempt, "began").value_or(0)) +
         SecondsOf(attempt, "seconds").value_or(0);
}

bool KnowsHowItEnded(const json& job) { return StateWords(job) != "ended"; }

std::string EndLine(const json& job, int64_t now) {
  std::string line = "ended";
  if (const auto ended = TimeOf(job, "ended_at")) line += " " + ClockTime(*ended, now);
  if (const auto seconds = SecondsOf(job, "run_seconds")) {
    line += " after " + ElapsedWords(*seconds);
  }
  line += KnowsHowItEnded(job)
              ? ": " + StateWords(job)
              : fmt::format("; see sacct -j {} for its state", IntOf(job, "job_id"));
  if (const auto loss = OptionalNumber(job, "loss")) line += fmt::format(" · loss {:.4g}", *loss);
  return line;
}

}  // namespace

Result<json> JobWatch::AskForJob() {
  Result<json> answer = api_.Get("/v1/advice?job=" + job_id_);
  if (!answer) {
    return answer.error().code == ErrorCode::kNotFound ? AskForQueuedJob(answer.error()) : answer;
  }
  in_queue_only_ = false;
  const json& jobs = ListOf(*answer, "jobs");
  if (!jobs.empty() && jobs.front().is_object()) return json(jobs.front());
  return AskForQueuedJob({ErrorCode::kNotFound, "no job " + job_id_ + " of yours is known", ""});
}

// A job of the caller's that was submitted by another way than `gpuadvise submit`.
Result<json> JobWatch::AskForQueuedJob(const Error& unknown) {
  if (caller_.user.empty()) return tl::unexpected<Error>(unknown);
  const Result<json> queued = api_.Get("/v1/jobs/" + job_id_);
  if (!queued || TextOf(*queued, "user") != caller_.user) return tl::unexpected<Error>(unknown);
  in_queue_only_ = true;
  json job = {{"job_id", IntOf(*queued, "job_id")},
              {"state", TextOf(*queued, "state") == "PENDING" ? "pending" : "running"}};
  if (const auto started = TimeOf(*queued, "start_time")) job["started_at"] = *started;
  return job;
}

WatchStatus JobWatch::Step(int64_t now) {
  WatchStatus status = Observe(now);
  if (status.exit_code && seen_ && !status.line.empty()) {
    status.news.push_back({"ended", status.line + "."});
  }
  status.state = state_;
  return status;
}

WatchStatus JobWatch::Observe(int64_t now) {
  Result<json> job = AskForJob();
  if (!job) return Trouble(job.error());
  const bool back = away_;
  seen_ = true;
  away_ = false;
  not_found_ = 0;
  const std::string state = TextOf(*job, "state");
  WatchStatus status;
  was_in_queue_ = was_in_queue_ || state == "pending" || state == "running";
  if (state == "pending") {
    status = Waiting(*job, now);
  } else if (state == "running") {
    status = Running(*job, now);
  } else if (state == "ended") {
    status = Ended(*std::move(job), now);
  } else {
    status = Unknown(*job, now);
  }
  if (back) status.notes.insert(status.notes.begin(), "gpuadvised answers again");
  last_line_ = status.line;
  return status;
}

WatchStatus JobWatch::Trouble(const Error& error) {
  WatchStatus status;
  status.line = last_line_;
  const bool missing = error.code == ErrorCode::kNotFound;
  if (missing && in_queue_only_) {
    status.line = "no longer in the queue; for its state see sacct -j " + job_id_;
    status.changed = true;
    status.exit_code = kExitError;
    return status;
  }
  if (!seen_ || (missing && ++not_found_ >= kMostNotFound)) {
    status.complaints.push_back("gpuadvise: " + Printable(error.message));
    status.exit_code = missing ? kExitError : ExitCodeOf(error.code);
    return status;
  }
  if (missing || away_) return status;
  away_ = true;
  status.complaints.push_back("gpuadvise: " + Printable(error.message) + "; still watching");
  return status;
}

WatchStatus JobWatch::Waiting(const json& job, int64_t now) {
  const Result<json> waiting = api_.Get("/v1/jobs/" + job_id_);
  WatchStatus status;
  status.changed = IsNewState("pending");
  if (!waiting) {  // submitted since the last poll, or the daemon has just started
    status.line = "pending · no forecast yet";
    return status;
  }
  const std::string reason = TextOf(*waiting, "reason_words");
  status.line = "pending · " + PendingWords(*waiting, now) + (reason.empty() ? "" : " · " + reason);
  status.changed = status.changed || reason != said_reason_;
  said_reason_ = reason;
  NoteMovedStart(*waiting, now, status);
  NoteOutOfRange(*waiting, now, status);
  if (++waiting_looks_ % kLooksPerAdvice == 0) NoteBetter(*waiting, job, now, status);
  return status;
}

void JobWatch::NoteMovedStart(const json& waiting, int64_t now, WatchStatus& status) {
  const auto wait = SecondsOf(waiting, "wait_p50_seconds");
  if (!wait) return;
  const int64_t start = now + std::llround(*wait);
  if (!said_start_) said_start_ = start;
  const double until = static_cast<double>(std::max<int64_t>(0, *said_start_ - now));
  const double moved = std::abs(static_cast<double>(start - *said_start_));
  if (moved < std::max(kLeastMoveSeconds, kLeastMoveShare * until)) return;
  std::string note = fmt::format("start p50 moved from {} to {}", ClockTime(*said_start_, now),
                                 ClockTime(start, now));
  const bool later = start > *said_start_;
  const json& since_submission = ObjectOf(waiting, "moved");
  const json& because = ListOf(since_submission, "because");
  const bool same_way =
      later == (IntOf(since_submission, "start") > IntOf(since_submission, "said_start"));
  if (same_way && !because.empty() && because.front().is_string()) {
    note += ": " + because.front().get<std::string>();
  }
  status.notes.push_back(std::move(note));
  status.changed = true;
  said_start_ = start;
}

// Out of the range that was told last: a start within it is no news.
void JobWatch::NoteOutOfRange(const json& waiting, int64_t now, WatchStatus& status) {
  const auto p50 = SecondsOf(waiting, "wait_p50_seconds");
  const auto p90 = SecondsOf(waiting, "wait_p90_seconds");
  if (!p50 || !p90) return;
  const auto p10 = SecondsOf(waiting, "wait_p10_seconds").value_or(*p50);
  const int64_t start = now + std::llround(*p50);
  const std::pair<int64_t, int64_t> range = {now + std::llround(p10), now + std::llround(*p90)};
  constexpr auto kLeast = static_cast<int64_t>(kLeastMoveSeconds);
  if (!said_range_) said_range_ = range;
  if (start >= said_range_->first - kLeast && start <= said_range_->second + kLeast) return;
  status.news.push_back(
      {"moved", fmt::format("The forecast start moved from {} to {}.",
                            ClockRange(said_range_->first, said_range_->second, now),
                            ClockRange(range.first, range.second, now))});
  said_range_ = range;
}

// What `gpuadvise run` reports of a training: no step for long, GPUs that do nothing.
void JobWatch::NoteTrouble(const json& attempt, int64_t now, WatchStatus& status) {
  const auto step = OptionalNumber(attempt, "steps");
  if (step && *step != step_) {
    step_ = *step;
    step_at_ = now;
    told_.erase("hang");
  }
  if (step && now - step_at_ >= kHangSeconds && told_.insert("hang").second) {
    status.news.push_back({"hang", fmt::format("Step {:.0f} has been the last for {}.", step_,
                                               ElapsedWords(static_cast<double>(now - step_at_)))});
  }
  const json& gpus = ListOf(attempt, "gpus");
  const bool idle = !gpus.empty() && std::all_of(gpus.begin(), gpus.end(), [](const json& gpu) {
    return OptionalNumber(gpu, "mean_utilisation").value_or(1) < kNoUse;
  });
  if (idle && SecondsOf(attempt, "seconds").value_or(0) >= kJudgeUseSeconds &&
      told_.insert("idle").second) {
    status.news.push_back({"idle", "No GPU has done any work since the training began."});
  }
}

void JobWatch::NoteLimit(const json& job, int64_t now, WatchStatus& status) {
  const auto started = TimeOf(job, "started_at");
  const auto limit = SecondsOf(job, "time_limit_seconds");
  if (!started || !limit || *limit <= 0) return;
  const double left = static_cast<double>(*started - now) + *limit;
  if (left > std::clamp(kNearLimitShare * *limit, kNearestLimit, kFarthestLimit)) return;
  if (!told_.insert("limit").second) return;
  status.news.push_back(
      {"limit", fmt::format("Slurm ends it in {}. If it needs longer, save a checkpoint or ask for "
                            "a longer limit: scontrol update JobId={} TimeLimit=+…",
                            ElapsedWords(std::max(left, 0.0)), job_id_)});
}

void JobWatch::NoteBetter(const json& waiting, const json& job, int64_t now, WatchStatus& status) {
  const json& request = ObjectOf(job, "request");
  const auto own = ExpectedEndOf(waiting, job);
  if (request.empty() || !own) return;
  const Result<json> answer = api_.Post("/v1/advise", request);
  if (!answer) return;  // the next look says when the daemon is away
  const json* better = ClearlyBetter(*answer, job, *own);
  if (better == nullptr) return;
  const std::string name = TextOf(*better, "gpu") + "/" + TextOf(*better, "partition");
  if (said_better_.insert(name).second) {
    status.notes.push_back(BetterSentence(*better, job, *own, now));
    status.news.push_back({"better", status.notes.back()});
  }
}

// The last start of the command: as the daemon knows it, or as the file says that the compute node
// could not report.
json JobWatch::NewestAttempt(const json& job, size_t* attempts) const {
  const json& told = ListOf(ObjectOf(job, "outcome"), "attempts");
  json newest = told.empty() ? json::object() : told.back();
  *attempts = told.size();
  const auto folder = job.find("output_dir");
  if (folder == job.end() || !folder->is_string()) return newest;
  const Result<Outcome> found =
      ReadOutcomeFile(folder->get<std::string>() + "/" + kOutcomeFile, caller_.uid);
  if (!found || std::to_string(found->job_id) != job_id_) return newest;
  const json written = ToJson(*found)["attempts"];
  if (EndOf(written.back()) <= EndOf(newest)) return newest;
  *attempts = written.size();
  return written.back();
}

WatchStatus JobWatch::Running(const json& job, int64_t now) {
  WatchStatus status;
  const bool has_waited = !state_.empty();
  status.changed = IsNewState("running");
  size_t attempts = 0;
  const json attempt = NewestAttempt(job, &attempts);
  status.line = "running";
  if (const auto started = TimeOf(job, "started_at")) {
    status.line += " since " + ClockTime(*started, now);
  }
  if (attempts > 1) status.line += fmt::format(" · start {} of its command", attempts);
  const std::string progress = ProgressWords(attempt, true);
  const std::string end = progress.empty() ? SaidEnd(job, now) : progress;
  if (!end.empty()) status.line += " · " + end;
  if (status.changed && has_waited) status.news.push_back({"started", status.line + "."});
  NoteTrouble(attempt, now, status);
  NoteLimit(job, now, status);
  const double done = ProgressOf(attempt).value_or(0);
  const bool further = done >= said_progress_ + kLeastProgress - 1e-9 || attempts != said_attempts_;
  const bool silent = now - said_at_ >= kLongestSilence && status.line != last_line_;
  status.changed = status.changed || further || silent;
  if (status.changed) {
    said_progress_ = done;
    said_attempts_ = attempts;
    said_at_ = now;
  }
  return status;
}

WatchStatus JobWatch::Ended(json job, int64_t now) {
  if (ImportOwnOutcomes(json::array({job}), caller_.uid, api_) > 0) {
    if (Result<json> again = AskForJob()) job = *std::move(again);
  }
  WatchStatus status;
  status.changed = IsNewState("ended");
  status.line = EndLine(job, now);
  if (KnowsHowItEnded(job)) {
    status.exit_code = StateWords(job) == "ok" ? kExitOk : kExitError;
  } else if (++ended_looks_ >= kLooksForOutcome) {
    status.exit_code = kExitError;
  } else {
    status.line = "ended; its state is not reported yet";
    return status;
  }
  status.changed = true;
  return status;
}

// It has just been submitted, or it has left the queue and nobody has said yet how it ended.
WatchStatus JobWatch::Unknown(const json& job, int64_t now) {
  if (ImportOwnOutcomes(json::array({job}), caller_.uid, api_) > 0) {
    Result<json> again = AskForJob();
    if (again && HasEnded(*again)) return Ended(*std::move(again), now);
  }
  WatchStatus status;
  status.changed = IsNewState("unknown");
  if (!was_in_queue_) {
    status.line = "not seen in the queue yet";
  } else if (++unknown_looks_ < kLooksForAccounting) {
    status.line = "no longer in the queue; not in accounting yet";
  } else {
    status.line = "no longer in the queue; for its state see sacct -j " + job_id_;
    status.changed = true;
    status.exit_code = kExitError;
  }
  return status;
}

bool JobWatch::IsNewState(const std::string& state) {
  const bool is_new = state != state_;
  state_ = state;
  return is_new;
}

}  // namespace gpuadvise::client
