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

std::string PendingWords(const std::optional<api::Seconds>& wait, int64_t now) {
  if (!wait) return "no start time can be forecast for it as it is";
  const std::string words =
      StartInWords(static_cast<double>(wait->p50_seconds), static_cast<double>(wait->p90_seconds));
  if (wait->p90_seconds < 30) return words;
  return words + ": " + ClockRange(now + wait->p50_seconds, now + wait->p90_seconds, now);
}

std::string SaidEnd(const api::Experiment& job, int64_t now) {
  const auto started = KnownTime(job.started_at);
  const auto likely = KnownSeconds(job.promise.run_p50_seconds);
  if (!started || !likely) return {};
  const auto late = KnownSeconds(job.promise.run_p90_seconds).value_or(*likely);
  return "forecast to end " +
         ClockRange(*started + std::llround(*likely), *started + std::llround(late), now);
}

double EndTime(const std::vector<Attempt>& attempts) {
  if (attempts.empty()) return 0;
  const Attempt& last = attempts.back();
  return static_cast<double>(KnownTime(last.began).value_or(0)) +
         KnownSeconds(last.seconds).value_or(0);
}

bool KnowsHowItEnded(const api::Experiment& job) { return StateWords(job) != "ended"; }

std::string EndLine(const api::Experiment& job, int64_t now) {
  std::string line = "ended";
  if (const auto ended = KnownTime(job.ended_at)) line += " " + ClockTime(*ended, now);
  if (const auto seconds = KnownSeconds(job.run_seconds)) {
    line += " after " + DurationInWords(*seconds);
  }
  line += KnowsHowItEnded(job) ? ": " + StateWords(job)
                               : fmt::format("; see sacct -j {} for its state", job.job_id);
  if (const auto loss = job.measured.loss) line += fmt::format(" · loss {:.4g}", *loss);
  if (const std::string next = NextStep(job); !next.empty()) line += "; " + next;
  return line;
}

}  // namespace

Result<api::Experiment> JobWatch::AskForJob() {
  const Result<json> answer = api_.Get("/v1/advice?job=" + job_id_);
  if (!answer && answer.error().code == ErrorCode::kNotFound) {
    return AskForQueuedJob(answer.error());
  }
  if (!answer) return tl::unexpected<Error>(answer.error());
  in_queue_only_ = false;
  std::vector<api::Experiment> jobs = ReadExperiments(*answer);
  progress_.reset();
  for (api::SweepProgress& sweep : ReadAnswer<api::Experiments>(*answer).sweeps) {
    const bool is_array = std::ranges::any_of(
        sweep.arrays, [&](int64_t array) { return std::to_string(array) == job_id_; });
    if (is_array) progress_ = std::move(sweep);
  }
  if (!jobs.empty()) return std::move(jobs.front());
  return AskForQueuedJob({ErrorCode::kNotFound, "no job " + job_id_ + " of yours is known", ""});
}

// A job of the caller that was not submitted with `gpuadvise submit`.
Result<api::Experiment> JobWatch::AskForQueuedJob(const Error& unknown) {
  if (caller_.user.empty()) return tl::unexpected<Error>(unknown);
  const Result<json> answer = api_.Get("/v1/jobs/" + job_id_);
  if (!answer) return tl::unexpected<Error>(unknown);
  const api::QueueJob queued = ReadAnswer<api::Job>(*answer).row;
  if (queued.user != caller_.user) return tl::unexpected<Error>(unknown);
  in_queue_only_ = true;
  api::Experiment job;
  job.job_id = queued.job_id;
  job.state = queued.state == "PENDING" ? "pending" : "running";
  job.name = queued.name.value_or("");
  if (queued.end) job.started_at = queued.end->start_time;
  return job;
}

WatchStatus JobWatch::Step(int64_t now) {
  WatchStatus status = Observe(now);
  if (status.exit_code && seen_ && !status.line.empty()) {
    status.news.push_back({"ended", status.line + "."});
  }
  status.state = state_;
  status.name = name_;
  return status;
}

WatchStatus JobWatch::Observe(int64_t now) {
  Result<api::Experiment> job = AskForJob();
  if (!job) return Trouble(job.error());
  const bool back = away_;
  seen_ = true;
  away_ = false;
  not_found_ = 0;
  const std::string state = job->state;
  name_ = job->name;
  WatchStatus status;
  was_in_queue_ = was_in_queue_ || state == "pending" || state == "running";
  if (progress_) {
    if (complete_) complete_(*progress_);
    status = sweep_.Step(*progress_, now);
    const bool begun = progress_->running + progress_->done + progress_->failed > 0;
    state_ = status.exit_code ? "ended" : begun ? "running" : "pending";
  } else if (state == "pending") {
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
    state_ = "unknown";
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

WatchStatus JobWatch::Waiting(const api::Experiment& job, int64_t now) {
  const Result<json> answer = api_.Get("/v1/jobs/" + job_id_);
  WatchStatus status;
  status.changed = IsNewState("pending");
  if (!answer) {  // submitted since the last poll, or the daemon has just started
    status.line = "pending · no forecast yet";
    return status;
  }
  const auto queued = ReadAnswer<api::Job>(*answer);
  const api::JobWait waiting = queued.row.wait.value_or(api::JobWait());
  const auto wait = waiting.start ? std::optional(waiting.start->wait) : std::nullopt;
  const std::string& reason = waiting.reason_words;
  status.line = "pending · " + PendingWords(wait, now) + (reason.empty() ? "" : " · " + reason);
  status.changed = status.changed || reason != said_reason_;
  said_reason_ = reason;
  status.reason = reason;
  ++waiting_looks_;
  if (!wait) return status;
  NoteMovedStart(*wait, queued.outlook ? queued.outlook->moved : std::nullopt, now, status);
  NoteOutOfRange(*wait, now, status);
  if (waiting_looks_ % kLooksPerAdvice == 0) NoteBetter(*wait, job, now, status);
  return status;
}

void JobWatch::NoteMovedStart(const api::Seconds& wait, const std::optional<api::StartMoved>& moved,
                              int64_t now, WatchStatus& status) {
  const int64_t start = now + wait.p50_seconds;
  if (!said_start_) said_start_ = start;
  const double until = static_cast<double>(std::max<int64_t>(0, *said_start_ - now));
  const double by = std::abs(static_cast<double>(start - *said_start_));
  if (by < std::max(kLeastMoveSeconds, kLeastMoveShare * until)) return;
  std::string note = fmt::format("start p50 moved from {} to {}", ClockTime(*said_start_, now),
                                 ClockTime(start, now));
  const bool later = start > *said_start_;
  if (moved && !moved->because.empty() && later == (moved->start > moved->said_start)) {
    note += ": " + moved->because.front();
  }
  status.notes.push_back(std::move(note));
  status.changed = true;
  said_start_ = start;
}

// A start within the range that was told last is no news.
void JobWatch::NoteOutOfRange(const api::Seconds& wait, int64_t now, WatchStatus& status) {
  const int64_t start = now + wait.p50_seconds;
  const std::pair range = {now + wait.p10_seconds, now + wait.p90_seconds};
  constexpr auto kLeast = static_cast<int64_t>(kLeastMoveSeconds);
  if (!said_range_) said_range_ = range;
  if (start >= said_range_->first - kLeast && start <= said_range_->second + kLeast) return;
  status.news.push_back(
      {"moved", fmt::format("The forecast start moved from {} to {}.",
                            ClockRange(said_range_->first, said_range_->second, now),
                            ClockRange(range.first, range.second, now))});
  said_range_ = range;
}

// By what `gpuadvise run` reports: no step for long, or GPUs that do nothing.
void JobWatch::NoteTrouble(const Attempt& attempt, int64_t now, WatchStatus& status) {
  const auto step = attempt.steps;
  if (step && *step != step_) {
    step_ = *step;
    step_at_ = now;
    told_.erase("hang");
  }
  if (step && now - step_at_ >= kHangSeconds && told_.insert("hang").second) {
    status.news.push_back(
        {"hang", fmt::format("Step {} has been the last for {}.", step_,
                             DurationInWords(static_cast<double>(now - step_at_)))});
  }
  const bool idle = !attempt.gpus.empty() && std::ranges::all_of(attempt.gpus, [](const auto& gpu) {
    return gpu.mean_utilisation.value_or(1) < kNoUse;
  });
  if (idle && KnownSeconds(attempt.seconds).value_or(0) >= kJudgeUseSeconds &&
      told_.insert("idle").second) {
    status.news.push_back({"idle", "No GPU has done any work since the training began."});
  }
}

void JobWatch::NoteLimit(const api::Experiment& job, int64_t now, WatchStatus& status) {
  const auto started = KnownTime(job.started_at);
  const auto limit = KnownSeconds(job.promise.time_limit_seconds);
  if (!started || !limit || *limit <= 0) return;
  const double left = static_cast<double>(*started - now) + *limit;
  if (left > std::clamp(kNearLimitShare * *limit, kNearestLimit, kFarthestLimit)) return;
  if (!told_.insert("limit").second) return;
  status.news.push_back(
      {"limit", fmt::format("Slurm ends it in {}. If it needs longer, save a checkpoint or ask for "
                            "a longer limit: scontrol update JobId={} TimeLimit=+…",
                            DurationInWords(std::max(left, 0.0)), job_id_)});
}

void JobWatch::NoteBetter(const api::Seconds& wait, const api::Experiment& job, int64_t now,
                          WatchStatus& status) {
  const auto own = ForecastEnd(wait, job);
  if (!own || !job.detail || !job.detail->request.is_object()) return;
  const Result<json> answer = api_.Post("/v1/advise", job.detail->request);
  if (!answer) return;  // the next check says when the daemon is away
  const auto advice = FromJson<api::Advice>(*answer, ShownText);
  const api::Strategy* better = ClearlyBetter(advice, job, *own);
  if (better == nullptr) return;
  const std::string name = better->gpu + "/" + better->partition;
  if (said_better_.insert(name).second) {
    status.notes.push_back(BetterSentence(*better, job, *own, now));
    status.news.push_back({"better", status.notes.back()});
  }
}

// The starts of the command: as the daemon knows them, or newer ones of the file, for a compute
// node that cannot reach the daemon.
std::vector<Attempt> JobWatch::KnownAttempts(const api::Experiment& job) const {
  std::vector<Attempt> reported = ReportedOutcome(job).attempts;
  if (!job.output_dir) return reported;
  Result<Outcome> found = ReadOutcomeFile(*job.output_dir + "/" + kOutcomeFile, caller_.uid);
  if (!found || std::to_string(found->job_id) != job_id_) return reported;
  return EndTime(found->attempts) > EndTime(reported) ? std::move(found->attempts) : reported;
}

WatchStatus JobWatch::Running(const api::Experiment& job, int64_t now) {
  WatchStatus status;
  const bool has_waited = !state_.empty();
  status.changed = IsNewState("running");
  const std::vector<Attempt> all = KnownAttempts(job);
  const size_t attempts = all.size();
  const Attempt attempt = all.empty() ? Attempt() : all.back();
  status.line = "running";
  if (const auto started = KnownTime(job.started_at)) {
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

WatchStatus JobWatch::Ended(api::Experiment job, int64_t now) {
  if (ImportOwnOutcomes({job}, caller_.uid, api_) > 0) {
    if (Result<api::Experiment> again = AskForJob()) job = *std::move(again);
  }
  WatchStatus status;
  status.changed = IsNewState("ended");
  status.line = EndLine(job, now);
  if (KnowsHowItEnded(job)) {
    status.reason = StateWords(job);
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
WatchStatus JobWatch::Unknown(const api::Experiment& job, int64_t now) {
  if (ImportOwnOutcomes({job}, caller_.uid, api_) > 0) {
    Result<api::Experiment> again = AskForJob();
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
