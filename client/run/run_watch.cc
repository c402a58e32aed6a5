#include "client/run/run_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/words.h"

namespace gpuadvise {
namespace {

constexpr double kBusy = 0.05;
constexpr double kLittleUse = 0.80;
constexpr double kJudgeUseAfter = 5 * 60;  // the first minutes are start-up
constexpr double kGib = 1 << 30;

}  // namespace

std::optional<double> GpuUse::MeanUtilisation() const {
  if (utilisation_samples == 0) return {};
  return utilisation_sum / static_cast<double>(utilisation_samples);
}

std::optional<double> GpuUse::MeanWatts() const {
  if (watts_samples == 0) return {};
  return watts_sum / static_cast<double>(watts_samples);
}

void RunWatch::Begin(double now) {
  began_ = now;
  last_sign_ = now;
  out_of_memory_ = false;
  step_.reset();
  first_step_.reset();
}

void RunWatch::AddLine(const LogFact& fact, bool out_of_memory, double now) {
  last_sign_ = now;
  said_hang_ = false;
  out_of_memory_ = out_of_memory_ || out_of_memory;
  if (fact.loss) loss_ = fact.loss;
  if (fact.total_steps && *fact.total_steps > 0) total_steps_ = fact.total_steps;
  if (fact.seconds_per_step) said_seconds_per_step_ = fact.seconds_per_step;
  if (!fact.step || (step_ && *fact.step <= *step_)) return;
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
    GpuUse& gpu = gpus_[i];
    gpu.peak_memory_bytes = std::max(gpu.peak_memory_bytes, sample.memory_used_bytes);
    gpu.memory_total_bytes = sample.memory_total_bytes;
    if (sample.utilisation && *sample.utilisation > kBusy) last_sign_ = now;
    if (now - began_ < kJudgeUseAfter / 5) continue;  // models are loaded with idle GPUs
    if (sample.utilisation) {
      gpu.utilisation_sum += *sample.utilisation;
      ++gpu.utilisation_samples;
    }
    if (sample.watts) {
      gpu.watts_sum += *sample.watts;
      ++gpu.watts_samples;
    }
  }
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
  double use = 0;
  int64_t peak = 0;
  for (const GpuUse& gpu : gpus_) {
    use += gpu.MeanUtilisation().value_or(0);
    peak = std::max(peak, gpu.peak_memory_bytes);
  }
  if (gpus_.front().utilisation_samples > 0) {
    add(fmt::format("GPU {:.0f} %", 100 * use / static_cast<double>(gpus_.size())));
  }
  add(fmt::format("{:.1f} GiB", static_cast<double>(peak) / kGib));
  return line;
}

std::vector<std::string> RunWatch::NewHints(double now) {
  std::vector<std::string> hints;
  if (!said_hang_ && now - last_sign_ >= hang_seconds_) {
    said_hang_ = true;
    hints.push_back(fmt::format(
        "no line in the log and no busy GPU for {}: it may hang; look at NCCL (NCCL_DEBUG=INFO, "
        "one rank that failed while others wait), the data loader (num_workers: 0 shows its "
        "errors) and the network (NCCL_SOCKET_IFNAME)",
        DurationInWords(now - last_sign_)));
  }
  if (said_idle_ || now - began_ < kJudgeUseAfter || gpus_.empty() || !step_) return hints;
  double use = 0;
  for (const GpuUse& gpu : gpus_) use += gpu.MeanUtilisation().value_or(1);
  use /= static_cast<double>(gpus_.size());
  said_idle_ = true;
  if (use >= kLittleUse) return hints;
  hints.push_back(
      fmt::format("the GPUs are busy {:.0f} % of the time: a larger micro-batch with less "
                  "accumulation, more dataloader_num_workers with pin_memory, or a profile "
                  "(torch.profiler) may help",
                  100 * use));
  return hints;
}

}  // namespace gpuadvise
