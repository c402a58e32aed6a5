#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "client/batch_here.h"
#include "client/commands.h"
#include "client/exit_code.h"
#include "client/run/gpu_sampler.h"
#include "client/run/host_memory.h"
#include "client/run/outcome.h"
#include "client/run/run_watch.h"
#include "client/run/smaller_batch.h"
#include "client/run/training_log.h"
#include "client/run/watched_command.h"

namespace gpuadvise {
namespace {

constexpr int kNotFoundStatus = 127;  // as a shell says it
constexpr int kCannotRunStatus = 126;
constexpr double kProgressSeconds = 60;
constexpr double kDeadlockSeconds = 30;  // ranks that wait for one that ran out of memory
constexpr const char* kNvml = "libnvidia-ml.so.1";

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<int64_t> CountFromEnvironment(const char* name) {
  const std::string text = FromEnvironment(name);
  char* end = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || number < 1 || number > 1'000'000) return {};
  return number;
}

double Now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

std::string HostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// What the command line says, and where it is silent what `submit` has put into the environment.
struct Plan {
  std::optional<int64_t> micro_batch, accumulation;
  bool retry = false;
  std::string output;
};

Plan PlanOf(const RunCommand& command) {
  Plan plan;
  plan.micro_batch =
      command.micro_batch ? command.micro_batch : CountFromEnvironment("GPUADVISE_MICRO_BATCH");
  plan.accumulation =
      command.accumulation ? command.accumulation : CountFromEnvironment("GPUADVISE_ACCUMULATION");
  plan.retry = command.retry_on_oom || FromEnvironment("GPUADVISE_RETRY_ON_OOM") == "1";
  plan.output = command.output.empty() ? FromEnvironment("GPUADVISE_OUTPUT") : command.output;
  if (plan.output.empty()) plan.output = ".";
  return plan;
}

/// With --fit the file's batch for the GPUs that are here; else `plan` stays. Errors: nobody says a
/// batch.
Result<void> FitPlan(const RunCommand& command, GpuSampler* sampler, Console& console, Plan& plan) {
  if (command.fit.empty()) return {};
  const int64_t nodes = CountFromEnvironment("SLURM_JOB_NUM_NODES").value_or(1);
  const Result<Batch> batch =
      BatchHere(command.fit, command.section, sampler, nodes, console.now());
  if (batch) {
    plan.micro_batch = batch->micro_batch;
    plan.accumulation = batch->accumulation;
    return {};
  }
  const std::string why = "--fit: " + batch.error().message;
  if (!plan.micro_batch) return BadInput(why + "; say the batch with --micro-batch");
  console.Complain(fmt::format("{}: micro-batch {} as given", why, *plan.micro_batch));
  return {};
}

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::vector<std::string> CommandWith(const RunCommand& command, const Plan& plan) {
  std::vector<std::string> words = command.command;
  for (std::string& word : words) {
    if (plan.micro_batch) {
      word = Replaced(std::move(word), "{micro_batch}", std::to_string(*plan.micro_batch));
    }
    if (plan.accumulation) {
      word = Replaced(std::move(word), "{accumulation}", std::to_string(*plan.accumulation));
    }
  }
  return words;
}

WatchedOptions OptionsFor(const Plan& plan) {
  WatchedOptions options;
  // Python would keep lines back where its output is no terminal.
  if (std::getenv("PYTHONUNBUFFERED") == nullptr) {
    options.environment.emplace_back("PYTHONUNBUFFERED", "1");
  }
  if (plan.micro_batch) {
    options.environment.emplace_back("GPUADVISE_MICRO_BATCH", std::to_string(*plan.micro_batch));
  }
  if (plan.accumulation) {
    options.environment.emplace_back("GPUADVISE_ACCUMULATION", std::to_string(*plan.accumulation));
  }
  return options;
}

/// Watches one start of the command.
class TrainingWatcher : public Watcher {
 public:
  TrainingWatcher(const TrainingLog& log, GpuSampler* sampler, RunWatch& watch, bool may_stop,
                  bool shows_progress, Console& console)
      : log_(log),
        sampler_(sampler),
        watch_(watch),
        may_stop_(may_stop),
        shows_progress_(shows_progress),
        console_(console),
        next_progress_(Now() + kProgressSeconds) {
    watch_.Begin(Now());
  }

  void OnLine(std::string_view line) override {
    const bool out_of_memory = SaysOutOfMemory(line);
    const LogFact fact = log_.Read(line);
    const double now = Now();
    if (out_of_memory && oom_at_ == 0) oom_at_ = now;
    if (fact.step && watch_.step() && *fact.step > *watch_.step()) oom_at_ = 0;  // it goes on
    watch_.AddLine(fact, out_of_memory, now);
  }

  void OnTick() override {
    const double now = Now();
    if (sampler_ != nullptr) watch_.AddSamples(sampler_->Sample(), now);
    for (const std::string& hint : watch_.NewHints(now)) console_.Complain(hint);
    if (!shows_progress_ || now < next_progress_) return;
    next_progress_ = now + kProgressSeconds;
    const std::string line = watch_.ProgressLine();
    if (!line.empty()) console_.Complain(line);
  }

  /// Some ranks ran out of memory and the others wait for them.
  bool WantsEnd() override {
    return may_stop_ && oom_at_ > 0 && Now() - oom_at_ > kDeadlockSeconds;
  }

 private:
  const TrainingLog& log_;
  GpuSampler* sampler_;
  RunWatch& watch_;
  bool may_stop_;
  bool shows_progress_;
  Console& console_;
  double next_progress_;
  double oom_at_ = 0;
};

Attempt AttemptOf(const Plan& plan, const RunWatch& watch, const CommandEnd& end, int64_t began,
                  double seconds, bool out_of_memory) {
  Attempt attempt;
  attempt.micro_batch = plan.micro_batch;
  attempt.accumulation = plan.accumulation;
  attempt.began = began;
  attempt.seconds = seconds;
  attempt.exit_code = end.exit_code;
  attempt.signal = end.signal;
  attempt.out_of_memory = out_of_memory;
  attempt.steps = watch.step();
  attempt.total_steps = watch.total_steps();
  attempt.seconds_per_step = watch.SecondsPerStep();
  attempt.loss = watch.loss();
  attempt.gpus = watch.gpus();
  return attempt;
}

/// Whether to start again, with which batch: `plan` is changed.
bool Retries(Plan& plan, Console& console) {
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

}  // namespace

int RunRun(const RunCommand& command, Console& console) {
  Result<TrainingLog> log = command.pattern.empty() ? Result<TrainingLog>(TrainingLog())
                                                    : TrainingLog::WithPattern(command.pattern);
  if (!log) return Report(log.error(), console);
  Plan plan = PlanOf(command);
  const auto sampler = LoadNvml(kNvml, FromEnvironment("CUDA_VISIBLE_DEVICES"));
  if (const auto fitted = FitPlan(command, sampler.get(), console, plan); !fitted) {
    return Report(fitted.error(), console);
  }
  Outcome outcome{FromEnvironment("SLURM_JOB_ID"),
                  FromEnvironment("GPUADVISE_ADVICE"),
                  HostName(),
                  sampler ? sampler->Names() : std::vector<std::string>{},
                  {}};
  const bool shows_progress = !command.quiet && ::isatty(STDERR_FILENO) != 0;
  CommandEnd end;
  for (bool again = true; again;) {
    RunWatch watch(command.hang_minutes * 60);
    TrainingWatcher watcher(*log, sampler.get(), watch, plan.retry && plan.micro_batch,
                            shows_progress, console);
    const int64_t began = console.now();
    const double start = Now();
    const int64_t kills_before = KernelKills();
    const Result<CommandEnd> ended =
        RunWatched(CommandWith(command, plan), OptionsFor(plan), watcher);
    if (!ended) {
      console.Complain(ended.error().message);
      return ended.error().code == ErrorCode::kNotFound ? kNotFoundStatus : kCannotRunStatus;
    }
    end = *ended;
    const bool killed = KernelKills() > kills_before;
    const bool out_of_memory = (!end.ok() || end.stopped) && (watch.out_of_memory() || killed);
    outcome.attempts.push_back(AttemptOf(plan, watch, end, began, Now() - start, out_of_memory));
    again = out_of_memory && Retries(plan, console);
  }
  const Result<void> written = WriteOutcome(outcome, plan.output);
  if (!written) console.Complain(written.error().message);
  return EndAs(end);
}

}  // namespace gpuadvise
