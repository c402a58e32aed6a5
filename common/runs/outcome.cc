#include "common/runs/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/json_fields.h"
#include "common/base/text.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int64_t kMostSteps = 1'000'000'000'000;
constexpr int64_t kMostBatch = 1'000'000;
constexpr int64_t kMostBytes = int64_t{1} << 50;
constexpr double kMostSeconds = 1e10;
constexpr double kMostWatts = 1e5;
constexpr double kMostLoss = 1e300;
constexpr size_t kMostText = 256;
constexpr int kDeepest = 16;

// What is known and can be read again.
template <typename T>
void Add(json& object, const char* key, const std::optional<T>& value, T low, T high) {
  if (value && *value >= low && *value <= high) object[key] = *value;
}

json GpuJson(const GpuUse& use) {
  json gpu = {{"peak_memory_bytes", use.peak_memory_bytes},
              {"memory_total_bytes", use.memory_total_bytes}};
  Add(gpu, "mean_utilisation", use.mean_utilisation, 0.0, 1.0);
  Add(gpu, "mean_watts", use.mean_watts, 0.0, kMostWatts);
  return gpu;
}

json AttemptJson(const Attempt& attempt) {
  json one = {{"began", attempt.began},
              {"seconds", attempt.seconds},
              {"exit_code", attempt.exit_code},
              {"signal", attempt.signal},
              {"out_of_memory", attempt.out_of_memory}};
  if (attempt.host_memory) one["host_memory"] = true;
  Add<int64_t>(one, "micro_batch", attempt.micro_batch, 1, kMostBatch);
  Add<int64_t>(one, "accumulation", attempt.accumulation, 1, kMostBatch);
  Add<int64_t>(one, "steps", attempt.steps, 0, kMostSteps);
  Add<int64_t>(one, "total_steps", attempt.total_steps, 0, kMostSteps);
  Add<int64_t>(one, "steps_done", attempt.steps_done, 0, kMostSteps);
  Add(one, "seconds_per_step", attempt.seconds_per_step, 0.0, kMostSeconds);
  Add(one, "loss", attempt.loss, -kMostLoss, kMostLoss);
  one["gpus"] = json::array();
  for (const GpuUse& use : attempt.gpus) one["gpus"].push_back(GpuJson(use));
  return one;
}

size_t BytesOf(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace).size();
}

// With one GPU for all of them.
Attempt Thinned(Attempt attempt) {
  if (attempt.gpus.size() < 2) return attempt;
  GpuUse most = *std::max_element(
      attempt.gpus.begin(), attempt.gpus.end(),
      [](const GpuUse& a, const GpuUse& b) { return a.peak_memory_bytes < b.peak_memory_bytes; });
  most.mean_utilisation = MeanUse(attempt.gpus);
  attempt.gpus = {most};
  return attempt;
}

// The newest of `attempts` in `room` bytes, the last one always.
json AttemptsWithin(size_t room, const std::vector<Attempt>& attempts) {
  const size_t first = attempts.size() > kMostAttempts ? attempts.size() - kMostAttempts : 0;
  std::vector<json> list;
  std::vector<size_t> sizes;
  size_t bytes = 0;
  const auto put = [&](size_t at, const Attempt& attempt) {
    list[at] = AttemptJson(attempt);
    bytes -= sizes[at];
    sizes[at] = BytesOf(list[at]) + 1;  // and a comma
    bytes += sizes[at];
  };
  list.resize(attempts.size() - first);
  sizes.resize(list.size(), 0);
  for (size_t i = 0; i < list.size(); ++i) put(i, attempts[first + i]);
  for (size_t i = 0; i + 1 < list.size() && bytes > room; ++i) {
    put(i, Thinned(attempts[first + i]));
  }
  size_t left_out = 0;
  for (; left_out + 1 < list.size() && bytes > room; ++left_out) bytes -= sizes[left_out];
  json kept = json::array();
  for (size_t i = left_out; i < list.size(); ++i) kept.push_back(std::move(list[i]));
  return kept;
}

std::string ShortText(FieldReader& reader, const char* key) {
  std::string text = reader.Text(key).value_or("");
  if (text.size() > kMostText) reader.Refuse(key, fmt::format("{} is too long", key));
  return text;
}

GpuUse ReadGpu(const json& value, const std::string& pointer, DocumentErrors* errors) {
  FieldReader reader(value, pointer, errors);
  GpuUse use;
  use.peak_memory_bytes = reader.Int("peak_memory_bytes", 0, kMostBytes).value_or(0);
  use.memory_total_bytes = reader.Int("memory_total_bytes", 0, kMostBytes).value_or(0);
  use.mean_utilisation = reader.Number("mean_utilisation", 0, 1);
  use.mean_watts = reader.Number("mean_watts", 0, kMostWatts);
  if (use.memory_total_bytes > 0 && use.peak_memory_bytes > use.memory_total_bytes) {
    reader.Refuse("peak_memory_bytes", "peak_memory_bytes is more than the GPU has");
  }
  return use;
}

Attempt ReadAttempt(const json& value, const std::string& pointer, DocumentErrors* errors) {
  FieldReader reader(value, pointer, errors);
  Attempt attempt;
  attempt.micro_batch = reader.Int("micro_batch", 1, kMostBatch);
  attempt.accumulation = reader.Int("accumulation", 1, kMostBatch);
  attempt.began = reader.Int("began", 0, int64_t{1} << 40).value_or(0);
  attempt.seconds = reader.Number("seconds", 0, kMostSeconds).value_or(0);
  attempt.exit_code = static_cast<int>(reader.Int("exit_code", 0, 255).value_or(0));
  attempt.signal = static_cast<int>(reader.Int("signal", 0, 64).value_or(0));
  attempt.out_of_memory = reader.Bool("out_of_memory").value_or(false);
  attempt.steps = reader.Int("steps", 0, kMostSteps);
  attempt.total_steps = reader.Int("total_steps", 0, kMostSteps);
  attempt.steps_done = reader.Int("steps_done", 0, kMostSteps);
  attempt.host_memory = reader.Bool("host_memory").value_or(false);
  attempt.seconds_per_step = reader.Number("seconds_per_step", 0, kMostSeconds);
  attempt.loss = reader.Number("loss", -kMostLoss, kMostLoss);
  const std::vector<const json*> gpus = reader.List("gpus");
  if (gpus.size() > kMostGpusOfANode) {
    reader.Refuse("gpus", fmt::format("gpus lists {}, more than a node has", gpus.size()));
    return attempt;
  }
  for (size_t i = 0; i < gpus.size(); ++i) {
    const std::string at = PointerTo(reader.PointerOf("gpus"), std::to_string(i));
    attempt.gpus.push_back(ReadGpu(*gpus[i], at, errors));
  }
  return attempt;
}

// Digits, as SLURM_JOB_ID has them; 0 for "".
int64_t ReadJobId(FieldReader& reader) {
  const std::string text = ShortText(reader, "job_id");
  const int64_t id = WholeNumber(text).value_or(0);
  if (!text.empty() && id < 1) {
    reader.Refuse("job_id", "job_id must be a job's number, as SLURM_JOB_ID has it");
  }
  return id;
}

}  // namespace

std::optional<double> MeanUse(const std::vector<GpuUse>& gpus) {
  double sum = 0;
  int count = 0;
  for (const GpuUse& gpu : gpus) {
    if (!gpu.mean_utilisation) continue;
    sum += *gpu.mean_utilisation;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

json ToJson(const Outcome& outcome) {
  // Half of it for the attempts at least: 64 names of 256 bytes can take more than all.
  constexpr size_t kMostNameBytes = kMaxSentOutcomeBytes / 2;
  json document = {{"version", kOutcomeVersion},
                   {"job_id", outcome.job_id > 0 ? std::to_string(outcome.job_id) : ""},
                   {"advice_id", outcome.advice_id},
                   {"host", outcome.host},
                   {"gpu_names", outcome.gpu_names},
                   {"attempts", json::array()}};
  if (outcome.running) document["running"] = true;
  if (outcome.restarts > 0) document["restarts"] = outcome.restarts;
  if (BytesOf(document) > kMostNameBytes) document["gpu_names"] = {outcome.gpu_names.front()};
  document["attempts"] = AttemptsWithin(kMaxSentOutcomeBytes - BytesOf(document), outcome.attempts);
  return document;
}

Result<Outcome> ReadOutcome(const json& document) {
  DocumentErrors errors;
  FieldReader reader(document, "", &errors);
  Outcome outcome;
  if (reader.Int("version", kOutcomeVersion, kOutcomeVersion) != kOutcomeVersion) {
    reader.Refuse("version",
                  fmt::format("version must be {}: this outcome cannot be read", kOutcomeVersion));
  }
  outcome.job_id = ReadJobId(reader);
  outcome.advice_id = ShortText(reader, "advice_id");
  outcome.host = ShortText(reader, "host");
  outcome.running = reader.Bool("running").value_or(false);
  outcome.restarts = reader.Int("restarts", 0, kMostBatch).value_or(0);
  outcome.gpu_names = reader.Texts("gpu_names");
  if (outcome.gpu_names.size() > kMostGpusOfANode) {
    reader.Refuse("gpu_names", "gpu_names lists more than a node has");
  }
  for (std::string& name : outcome.gpu_names) name.resize(std::min(name.size(), kMostText));
  const std::vector<const json*> attempts = reader.List("attempts");
  if (attempts.empty() || attempts.size() > kMostAttempts) {
    reader.Refuse("attempts", fmt::format("attempts must list 1 to {} starts", kMostAttempts));
  } else {
    for (size_t i = 0; i < attempts.size(); ++i) {
      const std::string at = PointerTo(reader.PointerOf("attempts"), std::to_string(i));
      outcome.attempts.push_back(ReadAttempt(*attempts[i], at, &errors));
    }
  }
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());
  return outcome;
}

Result<Outcome> ReadOutcomeText(std::string_view text) {
  if (text.size() > kMaxOutcomeBytes) {
    return BadInput(
        fmt::format("it is longer than {} KiB, too long for an outcome", kMaxOutcomeBytes >> 10));
  }
  bool too_deep = false;
  const auto watch = [&too_deep](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  const json document = json::parse(text, watch, false);
  if (too_deep) return BadInput("it is nested too deeply for an outcome");
  if (document.is_discarded()) return BadInput("it is not valid JSON; it may be cut off");
  return ReadOutcome(document);
}

}  // namespace gpuadvise
