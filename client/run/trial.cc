#include "client/run/trial.h"

#include <chrono>
#include <ctime>

#include "client/run/run_watch.h"

namespace gpuadvise::client {
namespace {

constexpr std::chrono::milliseconds kSampleEvery{200};
constexpr double kDeadlockSeconds = 10;  // wait before ending ranks that wait for one out of memory
constexpr double kNoHang = 1e9;          // the time limit handles hangs

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class TrialWatcher : public Watcher {
 public:
  TrialWatcher(const TrialOptions& options, const TrainingLog& log, GpuSampler* sampler)
      : options_(options), log_(log), sampler_(sampler), began_(SecondsNow()) {
    watch_.Begin(began_);
  }

  void OnLine(std::string_view line) override {
    const LogFact fact = log_.Read(line);
    const OutOfMemorySign sign = OutOfMemoryIn(line);
    const double now = SecondsNow();
    const auto before = watch_.step();
    watch_.AddLine(fact, sign, now);
    if (watch_.step() != before) times_.emplace_back(*watch_.step(), now);
    if (sign != OutOfMemorySign::kNone) oom_at_ = now;
  }

  void OnTick() override {
    if (sampler_ != nullptr) watch_.AddSamples(sampler_->Sample(), SecondsNow());
  }

  bool WantsEnd() override {
    const double now = SecondsNow();
    const bool out_of_time = now - began_ > options_.seconds;
    const bool hangs = watch_.out_of_memory() && now - oom_at_ > kDeadlockSeconds;
    const bool enough =
        !options_.ends_by_itself && watch_.steps_done().value_or(0) >= options_.steps;
    return out_of_time || hangs || enough;
  }

  // The result after the command has ended as `end`.
  TrialEnd EndAs(const CommandEnd& end, int64_t began) const {
    TrialEnd trial{{}, end.stopped, end.told_to_end};
    Attempt& attempt = trial.attempt;
    attempt.accumulation = 1;
    attempt.began = began;
    attempt.seconds = SecondsNow() - began_;
    attempt.exit_code = end.exit_code;
    attempt.signal = end.signal;
    attempt.out_of_memory = (!end.ok() || end.stopped) && watch_.out_of_memory();
    attempt.host_memory = attempt.out_of_memory && watch_.host_memory();
    attempt.steps = watch_.step();
    attempt.total_steps = watch_.total_steps();
    attempt.steps_done = watch_.steps_done();
    attempt.seconds_per_step = SteadySecondsPerStep(times_);
    if (!attempt.seconds_per_step) attempt.seconds_per_step = watch_.SecondsPerStep();
    attempt.loss = watch_.loss();
    attempt.gpus = watch_.gpus();
    return trial;
  }

 private:
  const TrialOptions& options_;
  const TrainingLog& log_;
  GpuSampler* sampler_;
  RunWatch watch_{kNoHang};
  StepTimes times_;
  double began_;
  double oom_at_ = 0;
};

}  // namespace

std::optional<double> SteadySecondsPerStep(const StepTimes& times) {
  if (times.size() < 2) return {};
  const int64_t first = times.front().first;
  const auto [last, end] = times.back();
  auto from = times.front();
  for (const auto& time : times) {
    if (time.first <= first + (last - first) / 4) from = time;
  }
  if (end <= from.second || last <= from.first) return {};
  return (end - from.second) / static_cast<double>(last - from.first);
}

Result<TrialEnd> RunTrial(const std::string& script, const TrialOptions& options,
                          const TrainingLog& log, GpuSampler* sampler) {
  WatchedOptions watched;
  watched.tick = kSampleEvery;
  watched.environment = options.environment;
  const auto began = static_cast<int64_t>(std::time(nullptr));
  TrialWatcher watcher(options, log, sampler);
  const Result<CommandEnd> end = RunWatched({"bash", "-c", script}, watched, watcher);
  if (!end) return tl::unexpected<Error>(end.error());
  return watcher.EndAs(*end, began);
}

}  // namespace gpuadvise::client
