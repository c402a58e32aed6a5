#include "client/commands/probe_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/api/answer_reader.h"
#include "client/run/batch_for_gpu.h"
#include "client/run/gpu_sampler.h"
#include "client/run/measured_facts.h"
#include "client/sbatch/job_words.h"
#include "client/sbatch/sbatch_script.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/spec/stage_needs.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kDriverLibrary = "libnvidia-ml.so.1";
constexpr size_t kMostTrials = 5;
constexpr int64_t kMostGrowth = 8;     // from the first micro-batch to the second
constexpr double kSafeShare = 0.8;     // of a card, as advice keeps it
constexpr int64_t kForeign = 1 << 30;  // bytes in use before: more is somebody else's

std::string EnvironmentText(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The GPU that the trials run on.
struct TrialGpu {
  std::unique_ptr<GpuSampler> sampler;   // nullptr: no driver
  std::vector<std::string> environment;  // so that they run on it
  std::string name;
  int64_t used_before = 0;  // bytes that are somebody else's
};

std::vector<std::string> VisibleEntries(const std::string& visible, size_t count) {
  std::vector<std::string> entries;
  if (!visible.empty()) {
    for (const std::string_view entry : SplitAt(visible, ',')) entries.emplace_back(entry);
    return entries;
  }
  for (size_t i = 0; i < count; ++i) entries.push_back(std::to_string(i));
  return entries;
}

// The least used of those that this process may use.
TrialGpu LeastUsedGpu() {
  const std::string visible = EnvironmentText("CUDA_VISIBLE_DEVICES");
  const auto all = LoadNvml(kDriverLibrary, visible);
  TrialGpu best;
  if (all == nullptr) return best;
  for (const std::string& entry : VisibleEntries(visible, all->Names().size())) {
    auto sampler = LoadNvml(kDriverLibrary, entry);
    const auto samples = sampler == nullptr ? std::vector<GpuSample>() : sampler->Sample();
    if (samples.size() != 1) continue;
    const int64_t used = samples.front().memory_used_bytes;
    if (best.sampler != nullptr && used >= best.used_before) continue;
    best = {std::move(sampler), {"CUDA_VISIBLE_DEVICES=" + entry}, "", used};
    if (visible.empty()) best.environment.emplace_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
  }
  if (best.sampler != nullptr) best.name = best.sampler->Names().front();
  return best;
}

// The figures that a command's words stand for in a trial.
api::Strategy TrialStrategy(const TrainingQuestion& question, const GpuModel* gpu,
                            int64_t micro_batch, int64_t steps) {
  const TrainingSpec& training = question.spec.stages.front().training;
  Result<Precision> precision = Precision::kBf16;
  if (gpu != nullptr) precision = PrecisionOn(*gpu, training, true);
  api::Strategy strategy;
  strategy.gpu = gpu == nullptr ? "" : gpu->id;
  strategy.partition = EnvironmentText("SLURM_JOB_PARTITION");
  strategy.micro_batch = micro_batch;
  strategy.accumulation = 1;
  strategy.effective_batch_size = micro_batch;
  strategy.steps = steps;
  strategy.samples = steps * micro_batch;
  strategy.precision = ToWord(precision.value_or(Precision::kFp32));
  strategy.sbatch.cpus_per_task = question.spec.resources.cpus_per_gpu.value_or(1);
  return strategy;
}

// Whether the command takes its number of steps from us.
bool CountsItsSteps(const json& spec) {
  const std::string command = RawText(spec, "command");
  return command.find("{max_steps}") != std::string::npos ||
         command.find("{steps}") != std::string::npos;
}

// What is somebody else's is no part of this training's peak.
void TakeAway(int64_t used_before, Attempt& attempt) {
  if (used_before < kForeign) return;
  for (GpuUse& use : attempt.gpus) {
    use.peak_memory_bytes = std::max<int64_t>(use.peak_memory_bytes - used_before, 0);
  }
}

Result<void> CheckTrial(const TrialEnd& end) {
  if (end.told_to_end) return Fail(ErrorCode::kInternal, "the probe was stopped");
  const Attempt& attempt = end.attempt;
  const bool failed = attempt.exit_code != 0 || attempt.signal != 0;
  if (!failed || attempt.out_of_memory || end.stopped) return {};
  const std::string how = attempt.signal != 0 ? fmt::format("by signal {}", attempt.signal)
                                              : fmt::format("with status {}", attempt.exit_code);
  const std::string when =
      attempt.steps ? "at step " + Grouped(*attempt.steps) : "before its first step";
  return Fail(ErrorCode::kInternal,
              fmt::format("the command ended {} {}; see its output above", how, when));
}

}  // namespace

std::optional<int64_t> NextMicroBatch(const BatchWishes& wishes,
                                      const std::vector<Attempt>& attempts) {
  if (attempts.empty()) return wishes.said.empty() ? 1 : wishes.said.front();
  const Attempt* ran = nullptr;
  int64_t too_large = 0;
  for (const Attempt& attempt : attempts) {
    if (attempt.out_of_memory) {
      too_large = attempt.micro_batch.value_or(0);
    } else if (ran != nullptr) {
      return {};
    } else {
      ran = &attempt;
    }
  }
  if (attempts.size() >= kMostTrials || wishes.one_only) return {};
  const int64_t first = ran == nullptr ? 0 : *ran->micro_batch;
  if (too_large > 0) {
    const int64_t between = first + (too_large - first) / 2;
    return between > first ? std::optional(between) : std::nullopt;
  }
  if (wishes.said.size() > 1) return wishes.said[1];
  const int64_t peak = PeakOf(*ran);
  const int64_t card = ran->gpus.empty() ? 0 : ran->gpus.front().memory_total_bytes;
  int64_t next = 2 * first;
  const auto fits = [&](int64_t batch) {  // also where all of the peak were the sample's
    return static_cast<double>(peak) * static_cast<double>(batch) <=
           kSafeShare * static_cast<double>(card) * static_cast<double>(first);
  };
  while (peak > 0 && 2 * next <= kMostGrowth * first && fits(2 * next)) next *= 2;
  if (wishes.most > 0) next = std::min(next, wishes.most);
  if (next == first) next = first / 2;
  return next > 0 ? std::optional(next) : std::nullopt;
}

BatchWishes WishesFor(const TrainSpec& spec, const json& file, std::vector<int64_t> said) {
  const TrainingSpec& training = spec.stages.front().training;
  BatchWishes wishes{std::move(said)};
  wishes.one_only = RawText(file, "command").find("{micro_batch}") == std::string::npos;
  if (training.effective_batch_size) wishes.most = training.effective_batch_size->high;
  if (!wishes.said.empty() || !training.micro_batch) return wishes;
  const int64_t fixed = *training.micro_batch;
  wishes.said = {fixed};
  if (!wishes.one_only && fixed > 1) wishes.said = {fixed / 2, fixed};
  wishes.most = fixed;
  return wishes;
}

Result<Outcome> TryHere(const TrainingQuestion& question, const ProbePlan& plan,
                        const TrainingLog& log, Console& console) {
  TrialGpu here = LeastUsedGpu();
  Outcome outcome;
  if (!here.name.empty()) outcome.gpu_names = {here.name};
  if (here.used_before >= kForeign) {
    console.Complain(
        fmt::format("gpuadvise: {} of this GPU were already in use and are not counted",
                    SizeText(here.used_before)));
  }
  const GpuModel* gpu = CardNamed(here.name, 0, *question.catalogue);
  TrialOptions options = plan.trial;
  options.ends_by_itself = CountsItsSteps(question.file.spec());
  options.environment.insert(options.environment.end(), here.environment.begin(),
                             here.environment.end());
  const auto began = std::chrono::steady_clock::now();
  while (const auto batch = NextMicroBatch(plan.batches, outcome.attempts)) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    options.seconds = std::min(plan.seconds / 2, plan.seconds - passed.count());
    if (options.seconds <= 0) break;  // the job's time is over
    console.Complain(fmt::format("gpuadvise: trying micro-batch {}", *batch));
    const Result<std::string> script =
        MakeTrialScript(question.file.spec(), TrialStrategy(question, gpu, *batch, options.steps));
    if (!script) return question.file.Refuse(script.error().message, script.error().pointer);
    Result<TrialEnd> end = RunTrial(*script, options, log, here.sampler.get());
    if (!end) return tl::unexpected<Error>(end.error());
    if (const auto good = CheckTrial(*end); !good) return tl::unexpected<Error>(good.error());
    end->attempt.micro_batch = *batch;
    TakeAway(here.used_before, end->attempt);
    outcome.attempts.push_back(std::move(end->attempt));
  }
  return outcome;
}

}  // namespace gpuadvise::client
