#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "client/commands.h"
#include "client/exit_code.h"
#include "client/run/gpu_sampler.h"
#include "client/run/host_memory.h"
#include "client/run/outcome_file.h"
#include "client/run/outcome_report.h"
#include "client/run/run_watch.h"
#include "client/run/smaller_batch.h"
#include "client/run/training_log.h"
#include "client/run/watched_command.h"
#include "client/run_plan.h"

namespace gpuadvise {
namespace {

constexpr int kNotFoundStatus = 127;  // as a shell says it
constexpr int kCannotRunStatus = 126;
constexpr double kProgressSeconds = 60;
constexpr double kReportSeconds = 60;
constexpr double kDeadlockSeconds = 30;  // ranks that wait for one that ran out of memory
constexpr const char* kNvml = "libnvidia-ml.so.1";

double Now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

std::string HostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Watches one start of the command.
class TrainingWatcher : public Watcher {
 public:
  /// What it may do beside watching.
  struct Options {
    bool may_stop = false;
    bool shows_progress = false;
    std::function<void()> report;  // called now and again while it runs
  };

  TrainingWatcher(const TrainingLog& log, GpuSampler* sampler, RunWatch& watch, Options options,
                  Console& console)
      : log_(log),
        sampler_(sampler),
        watch_(watch),
        options_(std::move(options)),
        console_(console),
        next_progress_(Now() + kProgressSeconds),
        next_report_(Now() + kReportSeconds) {
    watch_.Begin(Now());
  }

  void OnLine(std::string_view line) override {
    const OutOfMemorySign sign = OutOfMemoryIn(line);
    const LogFact fact = log_.Read(line);
    const double now = Now();
    if (sign != OutOfMemorySign::kNone && oom_at_ == 0) oom_at_ = now;
    if (fact.step && watch_.step() && *fact.step > *watch_.step()) oom_at_ = 0;  // it goes on
    watch_.AddLine(fact, sign, now);
  }

  void OnTick() override {
    const double now = Now();
    if (sampler_ != nullptr) watch_.AddSamples(sampler_->Sample(), now);
    for (const std::string& hint : watch_.NewHints(now)) console_.Complain(hint);
    if (now >= next_report_) {
      next_report_ = now + kReportSeconds;
      options_.report();
    }
    if (!options_.shows_progress || now < next_progress_) return;
    next_progress_ = now + kProgressSeconds;
    const std::string line = watch_.ProgressLine();
    if (!line.empty()) console_.Complain(line);
  }

  /// Some ranks ran out of memory and the others wait for them.
  bool WantsEnd() override {
    return options_.may_stop && oom_at_ > 0 && Now() - oom_at_ > kDeadlockSeconds;
  }

 private:
  const TrainingLog& log_;
  GpuSampler* sampler_;
  RunWatch& watch_;
  Options options_;
  Console& console_;
  double next_progress_;
  double next_report_;
  double oom_at_ = 0;
};

Attempt AttemptOf(const RunPlan& plan, const RunWatch& watch, int64_t began, double seconds) {
  Attempt attempt;
  attempt.micro_batch = plan.micro_batch;
  attempt.accumulation = plan.accumulation;
  attempt.began = began;
  attempt.seconds = seconds;
  attempt.steps = watch.step();
  attempt.total_steps = watch.total_steps();
  attempt.steps_done = watch.steps_done();
  attempt.seconds_per_step = watch.SecondsPerStep();
  attempt.loss = watch.loss();
  attempt.gpus = watch.gpus();
  return attempt;
}

/// Slurm put the job back into the queue: what was learned about its batch stays, where it is the
/// same effective batch.
void GoOnFrom(const std::vector<Attempt>& earlier, RunPlan& plan) {
  if (!plan.retry || !plan.micro_batch || earlier.empty()) return;
  const Attempt& last = earlier.back();
  if (last.out_of_memory || !last.micro_batch) return;
  const int64_t planned = *plan.micro_batch * plan.accumulation.value_or(1);
  if (*last.micro_batch * last.accumulation.value_or(1) != planned) return;
  plan.micro_batch = last.micro_batch;
  plan.accumulation = last.accumulation;
}

/// Whether to start again, with which batch: `plan` is changed.
bool Retries(RunPlan& plan, Console& console) {
  if (!plan.retry || !plan.micro_batch) {
    console.Complain(
        "it ran out of memory: half the micro-batch with twice the accumulation keeps the "
        "effective batch (gpuadvise run --retry-on-oom does so by itself)");
    return false;
  }
  const Batch before{*plan.micro_batch, plan.accumulation.value_or(1)};
  const auto smaller = SmallerBatch(before);
  if (!smaller) {
    console.Complain("it ran out of memory and " + NextOfTheLadder());
    return false;
  }
  plan.micro_batch = smaller->micro_batch;
  plan.accumulation = smaller->accumulation;
  console.Complain(fmt::format(
      "it ran out of memory: starting again with micro-batch {} × accumulation {} instead of {} × "
      "{}",
      smaller->micro_batch, smaller->accumulation, before.micro_batch, before.accumulation));
  return true;
}

/// Ends as the command did, so that whoever waits for us sees the same.
int EndAs(const CommandEnd& end) {
  if (end.signal == 0) return end.exit_code;
  std::signal(end.signal, SIG_DFL);
  ::raise(end.signal);
  return end.ShellStatus();  // a signal that does not end a process
}

/// The whole of it: the command, as often as it takes.
class Runner {
 public:
  Runner(RunPlan plan, TrainingLog log, OutcomeReport report, std::unique_ptr<GpuSampler> sampler,
         const RunCommand& command, Console& console)
      : command_(command),
        plan_(std::move(plan)),
        log_(std::move(log)),
        report_(std::move(report)),
        console_(console),
        sampler_(std::move(sampler)) {
    outcome_.job_id = CountFromEnvironment("SLURM_JOB_ID", INT64_MAX).value_or(0);
    outcome_.advice_id = FromEnvironment("GPUADVISE_ADVICE");
    outcome_.host = HostName();
    if (sampler_) outcome_.gpu_names = sampler_->Names();
    outcome_.restarts = CountFromEnvironment("SLURM_RESTART_COUNT").value_or(0);
    outcome_.attempts = EarlierAttempts(plan_.output, outcome_.job_id, outcome_.restarts);
    if (command.fit.empty()) GoOnFrom(outcome_.attempts, plan_);
  }

  int Run() {
    CommandEnd end;
    for (bool again = true; again;) {
      const Result<CommandEnd> ended = RunOnce();
      if (!ended) {
        console_.Complain(ended.error().message);
        return ended.error().code == ErrorCode::kNotFound ? kNotFoundStatus : kCannotRunStatus;
      }
      end = *ended;
      again =
          outcome_.attempts.back().out_of_memory && !end.told_to_end && Retries(plan_, console_);
    }
    if (const auto told = report_.End(outcome_); !told) console_.Complain(told.error().message);
    return EndAs(end);
  }

 private:
  Result<CommandEnd> RunOnce() {
    RunWatch watch(command_.hang_minutes * 60);
    const int64_t began = console_.now();
    const double start = Now();
    const int64_t kills_before = KernelKills();
    TrainingWatcher watcher(
        log_, sampler_.get(), watch,
        {plan_.retry && plan_.micro_batch, !command_.quiet && ::isatty(STDERR_FILENO) != 0,
         [&] { ReportProgress(AttemptOf(plan_, watch, began, Now() - start)); }},
        console_);
    const Result<CommandEnd> ended =
        RunWatched(CommandWith(command_, plan_), OptionsFor(plan_), watcher);
    if (!ended) return ended;
    const bool killed = KernelKills() > kills_before;
    Attempt attempt = AttemptOf(plan_, watch, began, Now() - start);
    attempt.exit_code = ended->exit_code;
    attempt.signal = ended->signal;
    const bool failed = !ended->ok() || ended->stopped;
    attempt.out_of_memory = failed && (watch.out_of_memory() || killed);
    attempt.host_memory = attempt.out_of_memory && (watch.host_memory() || !watch.out_of_memory());
    outcome_.attempts.push_back(std::move(attempt));
    return ended;
  }

  void ReportProgress(Attempt attempt) {
    Outcome so_far = outcome_;
    so_far.running = true;
    so_far.attempts.push_back(std::move(attempt));
    report_.Progress(so_far);
  }

  const RunCommand& command_;
  RunPlan plan_;
  TrainingLog log_;
  OutcomeReport report_;
  Console& console_;
  std::unique_ptr<GpuSampler> sampler_;
  Outcome outcome_;
};

}  // namespace

int RunRun(const RunCommand& command, Api& api, Console& console) {
  Result<TrainingLog> log = command.pattern.empty() ? Result<TrainingLog>(TrainingLog())
                                                    : TrainingLog::WithPattern(command.pattern);
  if (!log) return Report(log.error(), console);
  RunPlan plan = PlanOf(command);
  auto sampler = LoadNvml(kNvml, FromEnvironment("CUDA_VISIBLE_DEVICES"));
  if (const auto fitted = FitPlan(command, sampler.get(), console, plan); !fitted) {
    return Report(fitted.error(), console);
  }
  OutcomeReport report(
      plan.output, FromEnvironment("GPUADVISE_OUTCOMES_DIR"),
      [&api](const Outcome& outcome) -> Result<void> {
        const auto told = api.Post("/v1/outcomes", ToJson(outcome));
        return told ? Result<void>() : tl::unexpected<Error>(told.error());
      },
      Now);
  return Runner(std::move(plan), *std::move(log), std::move(report), std::move(sampler), command,
                console)
      .Run();
}

}  // namespace gpuadvise
