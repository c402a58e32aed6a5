#include "client/run/measured_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "client/run/gpu_sampler.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

constexpr double kLeastBase = 1e6;      // bytes: minimum base, if sampling missed it
constexpr double kLeastGrowth = 0.002;  // of the peak, per sample: less is allocator noise

std::string Described(const Attempt& attempt) {
  std::string text = fmt::format("micro-batch {}", attempt.micro_batch.value_or(0));
  if (attempt.out_of_memory) return text + ": out of memory";
  if (attempt.seconds_per_step) text += fmt::format(": {:.3g} s a step", *attempt.seconds_per_step);
  if (const int64_t peak = PeakOf(attempt); peak > 0) text += ", peak " + SizeText(peak);
  return text;
}

MemoryLine LineThrough(const Attempt& less, const Attempt& more) {
  const auto samples = static_cast<double>(*more.micro_batch - *less.micro_batch);
  const double each = static_cast<double>(PeakOf(more) - PeakOf(less)) / samples;
  const double base =
      static_cast<double>(PeakOf(less)) - each * static_cast<double>(*less.micro_batch);
  return {std::llround(std::max(base, kLeastBase)), std::llround(each), 0};
}

bool Grows(const MemoryLine& line, int64_t peak) {
  return static_cast<double>(line.per_sample_bytes) > kLeastGrowth * static_cast<double>(peak);
}

// Attempts that did not run out of memory, by micro-batch.
std::vector<const Attempt*> SelectCompleted(const std::vector<Attempt>& attempts) {
  std::vector<const Attempt*> ran;
  for (const Attempt& attempt : attempts) {
    if (!attempt.out_of_memory && attempt.micro_batch) ran.push_back(&attempt);
  }
  std::sort(ran.begin(), ran.end(),
            [](const Attempt* a, const Attempt* b) { return *a->micro_batch < *b->micro_batch; });
  return ran;
}

}  // namespace

std::string SizeText(int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  return size >= 1e9 ? fmt::format("{:.4g} GB", size / 1e9) : fmt::format("{:.4g} MB", size / 1e6);
}

std::string MeasuredText(const MeasuredStep& step) {
  std::string text =
      fmt::format("{{gpu: {}, gpus: {}, batch: {}", step.gpu, step.gpus, step.micro_batch);
  if (step.effective_batch_size > 0) {
    text += fmt::format(", effective_batch_size: {}", step.effective_batch_size);
  }
  if (step.seconds_per_step > 0)
    text += fmt::format(", seconds_per_step: {:.4g}", step.seconds_per_step);
  if (step.peak_bytes > 0) text += ", peak: " + SizeText(step.peak_bytes);
  return text + "}";
}

std::string MemoryText(const MemoryLine& line) {
  return "{base: " + SizeText(line.base_bytes) +
         ", per_sample: " + SizeText(line.per_sample_bytes) + "}";
}

int64_t PeakOf(const Attempt& attempt) {
  int64_t peak = 0;
  for (const GpuUse& gpu : attempt.gpus) peak = std::max(peak, gpu.peak_memory_bytes);
  return peak;
}

ProbeFindings FindingsOf(const std::vector<Attempt>& attempts, const GpuModel* gpu) {
  ProbeFindings findings;
  const std::vector<const Attempt*> ran = SelectCompleted(attempts);
  for (const Attempt& attempt : attempts) findings.notes.push_back(Described(attempt));
  if (ran.empty()) return findings;
  const Attempt& most = *ran.back();
  const Attempt& least = *ran.front();
  if (gpu == nullptr) {
    findings.notes.emplace_back("no measured line: unknown GPU; name it with --gpu");
  } else if (most.seconds_per_step || PeakOf(most) > 0) {
    findings.measured = MeasuredStep{.gpu = gpu->id,
                                     .gpus = 1,
                                     .micro_batch = *most.micro_batch,
                                     .seconds_per_step = most.seconds_per_step.value_or(0),
                                     .peak_bytes = PeakOf(most),
                                     .effective_batch_size = *most.micro_batch};
  }
  if (PeakOf(most) == 0) {
    findings.notes.emplace_back(std::string("no memory line: ") + kNoNvml);
  } else if (*least.micro_batch == *most.micro_batch) {
    findings.notes.emplace_back("no memory line: two micro-batches that fit are needed");
  } else if (const MemoryLine line = LineThrough(least, most); Grows(line, PeakOf(most))) {
    findings.memory = line;
  } else {
    findings.notes.emplace_back(
        "no memory line: the peak does not grow with the micro-batch. Either the program takes the "
        "GPU's memory in advance (JAX: XLA_PYTHON_CLIENT_PREALLOCATE=false), or it does not use "
        "{micro_batch}");
  }
  return findings;
}

std::string SummaryOf(const Attempt& last, const GpuModel* gpu, int64_t gpus) {
  if (last.out_of_memory || !last.seconds_per_step) return "";
  MeasuredStep step{.gpu = gpu == nullptr ? "GPU" : gpu->id,
                    .gpus = std::max<int64_t>(gpus, 1),
                    .micro_batch = last.micro_batch.value_or(0),
                    .seconds_per_step = *last.seconds_per_step,
                    .peak_bytes = PeakOf(last)};
  if (last.micro_batch) {
    step.effective_batch_size = *last.micro_batch * last.accumulation.value_or(1) * step.gpus;
  }
  std::string text = "# gpuadvise run: ";
  if (last.steps) text += Grouped(*last.steps) + " steps, ";
  text += fmt::format("{:.3g} steps/s", 1 / *last.seconds_per_step);
  if (step.peak_bytes > 0) text += ", peak " + SizeText(step.peak_bytes) + " on one GPU";
  text += ". For train.yaml:\ntraining:\n  measured:\n    - " + MeasuredText(step);
  std::vector<std::string> missing;
  if (gpu == nullptr) missing.emplace_back("the GPU");
  if (!last.micro_batch) missing.emplace_back("the micro-batch at batch:");
  if (!missing.empty()) text += "  # put in " + JoinNames(missing);
  return text;
}

}  // namespace gpuadvise::client
