#include "client/run/run_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

constexpr double kBusy = 0.05;
constexpr double kLittleUse = 0.80;
constexpr double kJudgeUseAfter = 5 * 60;  // the first minutes are start-up
constexpr double kGib = 1 << 30;

}  // namespace

void GpuTally::AddMemory(const GpuSample& sample) {
  peak_memory_bytes_ = std::max(peak_memory_bytes_, sample.memory_used_bytes);
  memory_total_bytes_ = sample.memory_total_bytes;
}

void GpuTally::AddUse(const GpuSample& sample) {
  if (sample.utilisation) {
    utilisation_sum_ += *sample.utilisation;
    ++utilisation_samples_;
  }
  if (sample.watts) {
    watts_sum_ += *sample.watts;
    ++watts_samples_;
  }
}

GpuUse GpuTally::Use() const {
  const auto mean = [](double sum, int64_t count) -> std::optional<double> {
    if (count == 0) return {};
    return sum / static_cast<double>(count);
  };
  return {peak_memory_bytes_, memory_total_bytes_, mean(utilisation_sum_, utilisation_samples_),
          mean(watts_sum_, watts_samples_)};
}

std::vector<GpuUse> RunWatch::gpus() const {
  std::vector<GpuUse> uses;
  for (const GpuTally& gpu : gpus_) uses.push_back(gpu.Use());
  return uses;
}

void RunWatch::Begin(double now) {
  began_ = now;
  last_sign_ = now;
  sign_ = OutOfMemorySign::kNone;
  step_.reset();
  first_step_.reset();
}

void RunWatch::AddLine(const LogFact& fact, OutOfMemorySign sign, double now) {
  last_sign_ = now;
  said_hang_ = false;
  // If both are reported, the GPU's is the cause; the kernel's message follows it.
  if (sign_ != OutOfMemorySign::kGpu && sign != OutOfMemorySign::kNone) sign_ = sign;
  if (fact.loss) loss_ = fact.loss;
  if (fact.total_steps && *fact.total_steps > 0) total_steps_ = fact.total_steps;
  if (fact.seconds_per_step) said_seconds_per_step_ = fact.seconds_per_step;
  if (!fact.step || (step_ && *fact.step <= *step_)) return;
  if (step_) sign_ = sign;  // still running: earlier signs were not fatal
  step_ = fact.step;
  step_at_ = now;
  if (!first_step_) {
    first_step_ = fact.step;
    first_step_at_ = now;
  }
}

void RunWatch::AddSamples(const std::vector<GpuSample>& samples, double now) {
  gpus_.resize(std::max(gpus_.size(), samples.size()));
  for (size_t i = 0; i < samples.size(); ++i) {
    const GpuSample& sample = samples[i];
    gpus_[i].AddMemory(sample);
    if (sample.utilisation && *sample.utilisation > kBusy) last_sign_ = now;
    if (now - began_ < kJudgeUseAfter / 5) continue;  // GPUs are idle while models load
    gpus_[i].AddUse(sample);
  }
}

std::optional<int64_t> RunWatch::steps_done() const {
  if (!step_ || !first_step_) return {};
  return *step_ - *first_step_;
}

std::optional<double> RunWatch::SecondsPerStep() const {
  if (step_ && first_step_ && *step_ > *first_step_ && step_at_ > first_step_at_) {
    return (step_at_ - first_step_at_) / static_cast<double>(*step_ - *first_step_);
  }
  return said_seconds_per_step_;
}

std::optional<double> RunWatch::SecondsLeft() const {
  const auto seconds = SecondsPerStep();
  if (!seconds || !step_ || !total_steps_ || *total_steps_ < *step_) return {};
  return *seconds * static_cast<double>(*total_steps_ - *step_);
}

std::string RunWatch::ProgressLine() const {
  std::string line;
  const auto add = [&](const std::string& part) { line += (line.empty() ? "" : " · ") + part; };
  if (step_ && total_steps_) {
    add(fmt::format("step {}/{}", Grouped(*step_), Grouped(*total_steps_)));
  } else if (step_) {
    add("step " + Grouped(*step_));
  }
  if (const auto seconds = SecondsPerStep()) add(fmt::format("{:.3g} s a step", *seconds));
  if (const auto left = SecondsLeft()) add(DurationInWords(*left) + " left");
  if (loss_) add(fmt::format("loss {:.4g}", *loss_));
  if (gpus_.empty()) return line;
  const auto use = MeanUse(gpus());
  int64_t peak = 0;
  for (const GpuUse& gpu : gpus()) peak = std::max(peak, gpu.peak_memory_bytes);
  if (use) add(fmt::format("GPU {:.0f} %", 100 * *use));
  add(fmt::format("{:.1f} GiB", static_cast<double>(peak) / kGib));
  return line;
}

std::vector<std::string> RunWatch::NewHints(double now) {
  std::vector<std::string> hints;
  if (!said_hang_ && now - last_sign_ >= hang_seconds_) {
    said_hang_ = true;
    hints.push_back(
        fmt::format("no log line and no busy GPU for {}: the training may hang. Check NCCL "
                    "(NCCL_DEBUG=INFO, one rank that failed while others wait), the data loader "
                    "(num_workers: 0 shows its errors) and the network (NCCL_SOCKET_IFNAME)",
                    DurationInWords(now - last_sign_)));
  }
  if (said_idle_ || now - began_ < kJudgeUseAfter || gpus_.empty() || !step_) return hints;
  const double use = MeanUse(gpus()).value_or(1);
  said_idle_ = true;
  if (use >= kLittleUse) return hints;
  hints.push_back(
      fmt::format("the GPUs are busy {:.0f} % of the time: a larger micro-batch with less "
                  "accumulation, more dataloader_num_workers with pin_memory, or a profile "
                  "(torch.profiler) may help",
                  100 * use));
  return hints;
}

}  // namespace gpuadvise::client
