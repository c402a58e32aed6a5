#include "common/learned_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "common/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

int64_t NumberOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

// More seconds of training than the job had: the clock of a node is off, or somebody made it up.
bool Contradicts(const Attempt& attempt, const JobTimes& times) {
  constexpr double kSlack = 1.05;
  constexpr double kSlackSeconds = 120;
  if (!times.start || !times.end || !attempt.steps || !attempt.seconds_per_step) return false;
  const double claimed = static_cast<double>(*attempt.steps) * *attempt.seconds_per_step;
  return claimed > static_cast<double>(*times.end - *times.start) * kSlack + kSlackSeconds;
}

int64_t TellingPeak(const Attempt& attempt) {
  int64_t peak = 0;
  for (const GpuUse& gpu : attempt.gpus) {
    const double share =
        static_cast<double>(gpu.peak_memory_bytes) / static_cast<double>(gpu.memory_total_bytes);
    if (gpu.memory_total_bytes > 0 && share <= kTellingPeak) {
      peak = std::max(peak, gpu.peak_memory_bytes);
    }
  }
  return peak;
}

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What a whole run took beside its steps; nullopt where it resumed in the middle, or did not end.
std::optional<double> StartSeconds(const Attempt& attempt) {
  const bool whole = attempt.exit_code == 0 && attempt.signal == 0 && attempt.steps &&
                     attempt.seconds_per_step && *attempt.steps >= kTimedSteps;
  if (!whole) return {};
  const double rest =
      attempt.seconds - static_cast<double>(*attempt.steps) * *attempt.seconds_per_step;
  return rest >= 0 ? std::optional(rest) : std::nullopt;
}

using Shape = std::tuple<std::string, int64_t, int64_t>;  // GPU, GPUs in all, micro-batch

/// All facts of one shape, by user: each user has one voice.
struct Shown {
  std::map<int64_t, std::vector<double>> seconds_per_sample;
  int64_t effective_batch_size = 1;  // of the newest
  std::vector<double> peaks;
  std::vector<double> starts;
  std::set<int64_t> jobs;
  bool out_of_memory = false;

  double SecondsPerStep() const {
    std::vector<double> voices;
    for (const auto& [uid, seconds] : seconds_per_sample) voices.push_back(MedianOf(seconds));
    return voices.empty() ? 0 : MedianOf(voices) * static_cast<double>(effective_batch_size);
  }
};

void Take(const RunFact& fact, Shown& shown) {
  const auto samples = static_cast<double>(fact.effective_batch_size);
  if (fact.seconds_per_step > 0) {
    shown.seconds_per_sample[fact.uid].push_back(fact.seconds_per_step / samples);
    shown.effective_batch_size = fact.effective_batch_size;
  }
  if (fact.peak_bytes > 0) shown.peaks.push_back(static_cast<double>(fact.peak_bytes));
  if (fact.start_seconds) shown.starts.push_back(*fact.start_seconds);
  shown.jobs.insert(fact.job_id);
  shown.out_of_memory = fact.out_of_memory;  // the newest word
}

std::vector<MeasuredStep> LinesOf(const std::map<Shape, Shown>& by_shape, bool own) {
  std::vector<std::pair<size_t, MeasuredStep>> lines;
  for (const auto& [shape, shown] : by_shape) {
    MeasuredStep line;
    std::tie(line.gpu, line.gpus, line.micro_batch) = shape;
    line.seconds_per_step = shown.SecondsPerStep();
    line.effective_batch_size = shown.effective_batch_size;
    if (!shown.peaks.empty()) line.peak_bytes = static_cast<int64_t>(MedianOf(shown.peaks));
    if (!shown.starts.empty()) line.start_seconds = MedianOf(shown.starts);
    line.out_of_memory = shown.out_of_memory;
    const auto runs = static_cast<int64_t>(shown.jobs.size());
    line.by = own ? fmt::format("{} of your runs", runs)
                  : fmt::format("{} of this site", Plural(runs, "run"));
    lines.emplace_back(shown.jobs.size(), std::move(line));
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<MeasuredStep> ordered;
  for (auto& [runs, line] : lines) ordered.push_back(std::move(line));
  return ordered;
}

}  // namespace

std::vector<RunFact> FactsOf(const Experiment& experiment) {
  std::vector<RunFact> facts;
  if (!experiment.outcome || experiment.family.empty() || !experiment.strategy.is_object()) {
    return facts;
  }
  const json& strategy = experiment.strategy;
  const auto gpu = strategy.find("gpu");
  const int64_t gpus = NumberOf(strategy, "gpus_per_node") * NumberOf(strategy, "nodes");
  if (gpu == strategy.end() || !gpu->is_string() || gpus < 1) return facts;
  for (const Attempt& attempt : experiment.outcome->attempts) {
    if (!attempt.micro_batch || Contradicts(attempt, experiment.times)) continue;
    RunFact fact{experiment.job_id, experiment.uid, gpu->get<std::string>(), gpus,
                 *attempt.micro_batch};
    fact.effective_batch_size = *attempt.micro_batch * attempt.accumulation.value_or(1) * gpus;
    fact.out_of_memory = attempt.out_of_memory;
    const int64_t steps = attempt.steps.value_or(0);
    if (!fact.out_of_memory) {
      if (steps >= kTimedSteps) fact.seconds_per_step = attempt.seconds_per_step.value_or(0);
      if (steps > 0) fact.peak_bytes = TellingPeak(attempt);
      fact.start_seconds = StartSeconds(attempt);
      if (fact.seconds_per_step <= 0 && fact.peak_bytes <= 0) continue;
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

LearnedRuns::LearnedRuns(const std::vector<const Experiment*>& experiments) {
  for (const Experiment* experiment : experiments) {
    for (RunFact& fact : FactsOf(*experiment)) {
      facts_[experiment->family].push_back(std::move(fact));
    }
  }
}

std::vector<MeasuredStep> LearnedRuns::Of(const std::string& family, int64_t uid,
                                          bool others) const {
  const auto found = facts_.find(family);
  if (family.empty() || found == facts_.end()) return {};
  std::map<Shape, Shown> own, site;
  std::set<std::string> own_gpus;
  for (const RunFact& fact : found->second) {
    if (fact.uid == uid) own_gpus.insert(fact.gpu);
  }
  for (const RunFact& fact : found->second) {
    const Shape shape{fact.gpu, fact.gpus, fact.micro_batch};
    if (fact.uid == uid) {
      Take(fact, own[shape]);
    } else if (others && own_gpus.count(fact.gpu) == 0) {
      Take(fact, site[shape]);
    }
  }
  std::vector<MeasuredStep> lines = LinesOf(own, true);
  for (MeasuredStep& line : LinesOf(site, false)) lines.push_back(std::move(line));
  return lines;
}

void Teach(const std::vector<MeasuredStep>& learned, const GpuCatalogue& catalogue,
           TrainSpec& spec) {
  if (spec.stages.size() != 1) return;
  std::vector<MeasuredStep>& lines = spec.stages.front().training.measured;
  std::set<const GpuModel*> said;
  for (const MeasuredStep& line : lines) said.insert(catalogue.Resolve(line.gpu));
  for (const MeasuredStep& line : learned) {
    const GpuModel* gpu = catalogue.Resolve(line.gpu);
    const bool possible = gpu != nullptr && line.peak_bytes <= gpu->memory_bytes;
    if (possible && said.count(gpu) == 0) lines.push_back(line);
  }
}

}  // namespace gpuadvise
