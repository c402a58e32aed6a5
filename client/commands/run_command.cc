#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/api/exit_code.h"
#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/questions/training_question.h"
#include "client/run/batch_for_gpu.h"
#include "client/run/gpu_sampler.h"
#include "client/run/measured_facts.h"
#include "client/run/outcome_file.h"
#include "client/run/run_watch.h"
#include "client/run/training_log.h"
#include "client/run/watched_command.h"
#include "common/base/text.h"
#include "common/process/name_service.h"

namespace gpuadvise::client {
namespace {

constexpr const char* kRunFooter =
    "\n"
    "The exit status is that of the command. Example:\n"
    "  gpuadvise run --micro-batch 8 --accumulation 4 --retry-on-oom -- \\\n"
    "    torchrun train.py --batch-size {micro_batch} --accumulation {accumulation}\n";

// What the command line leaves open comes from the environment that `submit` sets.
struct RunCommand {
  std::vector<std::string> command;  // what follows --
  std::string pattern;
  std::optional<int64_t> micro_batch, accumulation;
  std::string fit, section;  // a training file that says the batch; "" none
  bool retry_on_oom = false;
  std::string output;  // folder of the outcome; "": GPUADVISE_OUTPUT, else the current one
  double hang_minutes = 10;
  bool quiet = false;  // no progress line
};

constexpr int kNotFoundStatus = 127;  // as a shell says it
constexpr int kCannotRunStatus = 126;
constexpr double kProgressSeconds = 60;
constexpr double kReportSeconds = 60;
constexpr double kDeadlockSeconds = 30;  // ranks that wait for one that ran out of memory
constexpr const char* kNvml = "libnvidia-ml.so.1";

// How the command is run: what the command line says, and where it is silent what `submit` has put
// into the environment.
struct RunPlan {
  std::optional<int64_t> micro_batch, accumulation;
  bool retry = false;
  std::string output;  // folder of the outcome
  std::string resume;  // the words of {resume}: "" at the first start
};

// "" where it is not set.
std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A whole number from 1 to `most`.
std::optional<int64_t> CountFromEnvironment(const char* name, int64_t most = 1'000'000) {
  const std::string text = FromEnvironment(name);
  char* end = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || number < 1 || number > most) return {};
  return number;
}

// A compute node often reaches no daemon, and a start must not wait for one.
class NoDaemon : public Api {
 public:
  Result<nlohmann::json> Get(const std::string&) override { return Nobody(); }
  Result<nlohmann::json> Post(const std::string&, const nlohmann::json&) override {
    return Nobody();
  }

 private:
  static tl::unexpected<Error> Nobody() {
    return Fail(ErrorCode::kUnavailable, "no daemon is asked");
  }
};

// The batch of the file on the GPUs that `sampler` (nullptr: no driver) sees, times `nodes`.
// Nothing but the file and the built-in catalogues is asked. Errors: sentences that start with the
// file and its line, or say what is wrong with the GPUs.
Result<Batch> BatchHere(const std::string& file, const std::string& section, GpuSampler* sampler,
                        int64_t nodes, int64_t now) {
  if (sampler == nullptr) {
    return Fail(ErrorCode::kNotFound, kNoNvml);
  }
  NoDaemon nobody;
  const Result<TrainingQuestion> question =
      TrainingQuestion::Load({file, section}, RunLength::kRequired, nobody, now);
  if (!question) return tl::unexpected<Error>(question.error());
  GpusHere here{sampler->Names(), {}, nodes};
  for (const GpuSample& sample : sampler->Sample()) {
    here.memory_bytes.push_back(sample.memory_total_bytes);
  }
  const Result<Batch> batch =
      BatchForGpus(question->spec, question->presets, *question->catalogue, here);
  if (batch || batch.error().pointer.empty()) return batch;
  return tl::unexpected<Error>(question->Placed(batch.error()));
}

RunPlan ReadRunPlan(const RunCommand& command) {
  RunPlan plan;
  plan.micro_batch =
      command.micro_batch ? command.micro_batch : CountFromEnvironment("GPUADVISE_MICRO_BATCH");
  plan.accumulation =
      command.accumulation ? command.accumulation : CountFromEnvironment("GPUADVISE_ACCUMULATION");
  plan.retry = command.retry_on_oom || FromEnvironment("GPUADVISE_RETRY_ON_OOM") == "1";
  plan.output = command.output.empty() ? FromEnvironment("GPUADVISE_OUTPUT") : command.output;
  if (plan.output.empty()) plan.output = ".";
  if (CountFromEnvironment("SLURM_RESTART_COUNT"))
    plan.resume = FromEnvironment("GPUADVISE_RESUME");
  return plan;
}

// The folder with those above it. Errors: what is in the way.
Result<void> MakeOutputFolder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!failed) return {};
  return Fail(ErrorCode::kUnavailable,
              fmt::format("the folder {} cannot be created: {}; the outcome is not saved (choose "
                          "another with --output)",
                          folder, failed.message()));
}

// With --fit the file's batch for the GPUs that are here; else `plan` stays. Errors: nobody says a
// batch.
Result<void> FitPlan(const RunCommand& command, GpuSampler* sampler, Console& console,
                     RunPlan& plan) {
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
  if (!plan.micro_batch) return BadInput(why + "; give the batch with --micro-batch");
  console.Complain(fmt::format("{}: micro-batch {} as given", why, *plan.micro_batch));
  return {};
}

// The command with its words filled in.
std::vector<std::string> CommandWith(const RunCommand& command, const RunPlan& plan) {
  std::vector<std::string> words = command.command;
  for (std::string& word : words) {
    if (plan.micro_batch) {
      word = ReplaceAll(std::move(word), "{micro_batch}", std::to_string(*plan.micro_batch));
    }
    if (plan.accumulation) {
      word = ReplaceAll(std::move(word), "{accumulation}", std::to_string(*plan.accumulation));
    }
    word = ReplaceAll(std::move(word), "{resume}", plan.resume);
  }
  return words;
}

WatchedOptions OptionsFor(const RunPlan& plan) {
  WatchedOptions options;
  // Python would keep lines back where its output is no terminal.
  if (std::getenv("PYTHONUNBUFFERED") == nullptr) {
    options.environment.emplace_back("PYTHONUNBUFFERED=1");
  }
  if (plan.micro_batch) {
    options.environment.push_back("GPUADVISE_MICRO_BATCH=" + std::to_string(*plan.micro_batch));
  }
  if (plan.accumulation) {
    options.environment.push_back("GPUADVISE_ACCUMULATION=" + std::to_string(*plan.accumulation));
  }
  return options;
}

// "oom_kill 3" of a file.
int64_t KillsIn(const std::string& path) {
  std::ifstream file(path);
  std::string name;
  int64_t count = 0;
  while (file >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

// Processes of this control group that the kernel has ended because its memory limit was reached; 0
// where that cannot be read.
int64_t KernelKills() {
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) return KillsIn("/sys/fs/cgroup" + path + "/memory.events");
    if (controllers == "memory") {
      return KillsIn("/sys/fs/cgroup/memory" + path + "/memory.oom_control");
    }
  }
  return 0;
}

double Now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

// Watches one start of the command.
class TrainingWatcher : public Watcher {
 public:
  // What it may do beside watching.
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

  // Some ranks ran out of memory and the others wait for them.
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

// Slurm put the job back into the queue: what was learned about its batch stays, where it is the
// same effective batch.
void GoOnFrom(const std::vector<Attempt>& earlier, RunPlan& plan) {
  if (!plan.retry || !plan.micro_batch || earlier.empty()) return;
  const Attempt& last = earlier.back();
  if (last.out_of_memory || !last.micro_batch) return;
  const int64_t planned = *plan.micro_batch * plan.accumulation.value_or(1);
  if (*last.micro_batch * last.accumulation.value_or(1) != planned) return;
  plan.micro_batch = last.micro_batch;
  plan.accumulation = last.accumulation;
}

// Whether to start again, with which batch: `plan` is changed.
bool Retries(RunPlan& plan, Console& console) {
  if (!plan.retry || !plan.micro_batch) {
    console.Complain(
        "out of memory: half the micro-batch with twice the accumulation keeps the effective batch "
        "(training.retry_on_oom: true in the training file does this automatically)");
    return false;
  }
  const Batch before{*plan.micro_batch, plan.accumulation.value_or(1)};
  const auto smaller = SmallerBatch(before);
  if (!smaller) {
    console.Complain("out of memory and " + NextOfTheLadder());
    return false;
  }
  plan.micro_batch = smaller->micro_batch;
  plan.accumulation = smaller->accumulation;
  console.Complain(fmt::format(
      "out of memory: restarting with micro-batch {} × accumulation {} instead of {} × {}",
      smaller->micro_batch, smaller->accumulation, before.micro_batch, before.accumulation));
  return true;
}

// The card that the training ran on, and how many of it in all nodes: as the driver says, else as
// `submit` has put it into the environment. nullptr: not known.
std::pair<const GpuModel*, int64_t> CardsOf(const Outcome& outcome, const GpuCatalogue& catalogue) {
  const int64_t nodes = CountFromEnvironment("SLURM_JOB_NUM_NODES").value_or(1);
  if (outcome.gpu_names.empty()) {
    return {catalogue.Resolve(FromEnvironment("GPUADVISE_GPU")),
            nodes * CountFromEnvironment("GPUADVISE_GPUS_PER_NODE").value_or(1)};
  }
  const std::vector<GpuUse>& gpus = outcome.attempts.back().gpus;
  const int64_t memory = gpus.empty() ? 0 : gpus.front().memory_total_bytes;
  return {CardNamed(outcome.gpu_names.front(), memory, catalogue),
          nodes * static_cast<int64_t>(outcome.gpu_names.size())};
}

void SaySummary(const Outcome& outcome, Console& console) {
  const Result<GpuCatalogue> catalogue = BuiltInCatalogue();
  if (!catalogue || outcome.attempts.empty()) return;
  const auto [gpu, count] = CardsOf(outcome, *catalogue);
  const std::string summary = SummaryOf(outcome.attempts.back(), gpu, count);
  if (!summary.empty()) console.Complain(summary);
}

// Ends as the command did, so that whoever waits for us sees the same.
int EndAs(const CommandEnd& end) {
  if (end.signal == 0) return end.exit_code;
  std::signal(end.signal, SIG_DFL);
  ::raise(end.signal);
  return end.ShellStatus();  // a signal that does not end a process
}

// The whole of it: the command, as often as it takes.
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
    if (!command_.quiet) SaySummary(outcome_, console_);
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

// The exit status is the command's own; a signal that ended it ends this process too.
int Run(RunCommand& command, const CommandContext& context) {
  Console& console = context.console;
  // A training's output does not wait for a daemon that hangs.
  const auto own_api = context.api_within(std::chrono::seconds(1));
  Api& api = *own_api;
  Result<TrainingLog> log = command.pattern.empty() ? Result<TrainingLog>(TrainingLog())
                                                    : TrainingLog::WithPattern(command.pattern);
  if (!log) return Report(log.error(), console);
  RunPlan plan = ReadRunPlan(command);
  auto sampler = LoadNvml(kNvml, FromEnvironment("CUDA_VISIBLE_DEVICES"));
  if (const auto fitted = FitPlan(command, sampler.get(), console, plan); !fitted) {
    return Report(fitted.error(), console);
  }
  // A training that has waited in the queue is not lost for its report: that is said and it runs.
  if (const auto made = MakeOutputFolder(plan.output); !made)
    console.Complain(made.error().message);
  OutcomeReport report(
      plan.output, FromEnvironment("GPUADVISE_OUTCOMES_DIR"),
      [&api](const Outcome& outcome) -> Result<void> {
        const auto told = api.Post("/v1/outcomes", ToJson(outcome));
        return told ? Result<void>() : tl::unexpected<Error>(told.error());
      },
      Now,
      [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); });
  return Runner(std::move(plan), *std::move(log), std::move(report), std::move(sampler), command,
                console)
      .Run();
}

void AddOptions(RunCommand& command, Options& options) {
  AddLogPattern(options, command.pattern);
  options.Number("--micro-batch N", command.micro_batch, 1, 1e6,
                 "Micro-batch, replaces {micro_batch}");
  options.Number("--accumulation N", command.accumulation, 1, 1e6,
                 "Accumulation steps, replaces {accumulation}");
  options.Value("--fit FILE", command.fit,
                "Take both from this training file, for the GPUs of the job");
  AddSection(options, command.section);
  options.Flag("--retry-on-oom", command.retry_on_oom,
               "If out of memory, retry with half the micro-batch and twice the accumulation");
  options.Value("--output DIR", command.output, "Folder for gpuadvise-outcome.json");
  options.Number("--hang-minutes N", command.hang_minutes, 0.01, 1e6,
                 "Report a hang after this many silent minutes (default 10)");
  options.Flag("-q,--quiet", command.quiet, "No progress line and no summary");
  options.Place();
  options.Footer(kRunFooter);
}

Result<void> Take(RunCommand& command, const std::vector<std::string>& words) {
  if (words.empty()) return BadInput("nothing to run: gpuadvise run -- COMMAND …");
  command.command = words;
  return {};
}

}  // namespace

Command MakeRunCommand() {
  return MakeCommand<RunCommand>("run", "Run a training and monitor it: -- COMMAND …", AddOptions,
                                 Run, Take, ForeignWords::kAfterDashes);
}

}  // namespace gpuadvise::client
