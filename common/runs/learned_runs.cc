#include "common/runs/learned_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "common/api/advice.h"
#include "common/base/statistics.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise {
namespace {

// Whether Slurm saw this start of the command: of a job that went back into the queue it knows the
// last link alone. What nobody saw run teaches nothing.
bool WasSeen(const Attempt& attempt, const JobTimes& times) {
  constexpr double kSlackSeconds = 120;
  if (!times.start || !times.end) return false;
  const auto ran = static_cast<double>(*times.end - *times.start);
  const auto after = static_cast<double>(attempt.began - *times.start);
  return after >= -kSlackSeconds && after + attempt.seconds <= ran + kSlackSeconds;
}

// Steps and their time agree with how long it ran.
bool IsTimed(const Attempt& attempt) {
  constexpr double kSlack = 1.05;
  if (!attempt.steps_done || !attempt.seconds_per_step) return false;
  const double claimed = static_cast<double>(*attempt.steps_done) * *attempt.seconds_per_step;
  return *attempt.steps_done >= kTimedSteps && claimed <= attempt.seconds * kSlack;
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

// What a whole run took beside its steps; nullopt where it did not end by itself.
std::optional<double> StartSeconds(const Attempt& attempt) {
  if (attempt.exit_code != 0 || attempt.signal != 0 || !IsTimed(attempt)) return {};
  const double steps = static_cast<double>(*attempt.steps_done) * *attempt.seconds_per_step;
  return std::max(attempt.seconds - steps, 0.0);
}

// Whether Slurm says that the job had other GPUs than it was advised: then its figures are of
// those.
bool RanElsewhere(const api::Strategy& strategy, const JobTimes& times) {
  if (times.gpus == 0) return false;  // Slurm says nothing
  const int64_t gpus = strategy.gpus_per_node * strategy.nodes;
  const bool other_type = !times.gpu.empty() && !EqualIgnoringCase(strategy.gres_type, times.gpu);
  return other_type || times.gpus != gpus || times.nodes != strategy.nodes;
}

// Whether Slurm says of the job's GPUs, nodes and end what its owner says.
bool IsConfirmed(const api::Strategy& strategy, const Experiment& experiment) {
  const JobTimes& times = experiment.times;
  if (times.gpus == 0 || times.partition != strategy.partition) return false;
  if (!EqualIgnoringCase(strategy.gres_type, times.gpu)) return false;
  const Attempt& last = experiment.outcome->attempts.back();
  const bool ended_well = last.exit_code == 0 && last.signal == 0;
  return !times.state.empty() && ended_well == (times.state == "COMPLETED");
}

using Shape = std::tuple<std::string, int64_t, int64_t>;  // GPU, GPUs in all, micro-batch

// What users say of one figure: each has one voice, the median of their figures.
class Voices {
 public:
  void Add(const RunFact& fact, double value) {
    Voice& voice = said_[fact.uid];
    voice.values.push_back(value);
    if (fact.confirmed) voice.confirmed.emplace(fact.job_id, value);
  }

  std::optional<double> Median() const {
    std::vector<double> voices;
    for (const auto& [uid, voice] : said_) voices.push_back(UpperMedian(voice.values));
    return voices.empty() ? std::nullopt : std::optional(UpperMedian(std::move(voices)));
  }

  // The median where most users agree on it, two at least; where only one has said anything,
  // where three of their jobs do that Slurm confirms. nullopt otherwise.
  std::optional<double> Agreed() const {
    const std::optional<double> median = Median();
    if (!median) return {};
    if (said_.size() == 1) return ConfirmedOf(said_.begin()->second);
    const auto agree =
        static_cast<size_t>(std::count_if(said_.begin(), said_.end(), [&](const auto& said) {
          return IsNear(UpperMedian(said.second.values), *median);
        }));
    return agree >= kAgreeingUsers && 2 * agree > said_.size() ? median : std::nullopt;
  }

 private:
  struct Voice {
    std::vector<double> values;
    std::map<int64_t, double> confirmed;  // by job
  };

  static bool IsNear(double value, double median) {
    return value <= median * kAgreement && median <= value * kAgreement;
  }

  static std::optional<double> ConfirmedOf(const Voice& voice) {
    std::vector<double> values;
    for (const auto& [job, value] : voice.confirmed) values.push_back(value);
    if (values.size() < kConfirmedJobs) return {};
    const double median = UpperMedian(values);
    const auto near = std::count_if(values.begin(), values.end(),
                                    [&](double value) { return IsNear(value, median); });
    return static_cast<size_t>(near) >= kConfirmedJobs ? std::optional(median) : std::nullopt;
  }

  std::map<int64_t, Voice> said_;
};

// All facts of one shape.
struct Shown {
  Voices seconds_per_sample, peaks, starts;
  int64_t effective_batch_size = 1;       // of the newest
  std::map<int64_t, bool> out_of_memory;  // the newest word of each user
  std::set<int64_t> jobs;

  // On somebody else's word alone no batch is forbidden.
  bool RanOut(bool own) const {
    const auto users = static_cast<size_t>(std::count_if(
        out_of_memory.begin(), out_of_memory.end(), [](const auto& word) { return word.second; }));
    return own ? users > 0 : users >= kAgreeingUsers && 2 * users > out_of_memory.size();
  }
};

void Take(const RunFact& fact, Shown& shown) {
  if (fact.seconds_per_step > 0) {
    shown.seconds_per_sample.Add(
        fact, fact.seconds_per_step / static_cast<double>(fact.effective_batch_size));
    shown.effective_batch_size = fact.effective_batch_size;
  }
  if (fact.peak_bytes > 0) shown.peaks.Add(fact, static_cast<double>(fact.peak_bytes));
  if (fact.start_seconds) shown.starts.Add(fact, *fact.start_seconds);
  shown.out_of_memory[fact.uid] = fact.out_of_memory;
  shown.jobs.insert(fact.job_id);
}

// "3 of your runs", "4 runs of 2 other users"
std::string WhoseRuns(const Shown& shown, bool own) {
  const auto runs = static_cast<int64_t>(shown.jobs.size());
  if (own) return fmt::format("{} of your runs", runs);
  const auto users = static_cast<int64_t>(shown.out_of_memory.size());
  return fmt::format("{} of {}", Plural(runs, "run"),
                     users == 1 ? "another user" : fmt::format("{} other users", users));
}

// nullopt: it says nothing that can be used.
std::optional<MeasuredStep> LineOf(const Shape& shape, const Shown& shown, bool own) {
  const auto figure = [own](const Voices& voices) {
    return own ? voices.Median() : voices.Agreed();
  };
  MeasuredStep line;
  std::tie(line.gpu, line.gpus, line.micro_batch) = shape;
  line.effective_batch_size = shown.effective_batch_size;
  line.seconds_per_step = figure(shown.seconds_per_sample).value_or(0) *
                          static_cast<double>(shown.effective_batch_size);
  line.peak_bytes = static_cast<int64_t>(figure(shown.peaks).value_or(0));
  line.start_seconds = figure(shown.starts);
  line.out_of_memory = shown.RanOut(own);
  if (!line.out_of_memory && line.seconds_per_step <= 0 && line.peak_bytes <= 0) return {};
  line.by = WhoseRuns(shown, own);
  line.by_others = !own;
  return line;
}

std::vector<MeasuredStep> LinesOf(const std::map<Shape, Shown>& by_shape, bool own) {
  std::vector<std::pair<size_t, MeasuredStep>> lines;
  for (const auto& [shape, shown] : by_shape) {
    if (auto line = LineOf(shape, shown, own)) lines.emplace_back(shown.jobs.size(), *line);
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
  const auto strategy = FromJson<api::Strategy>(experiment.strategy);
  const int64_t gpus = strategy.gpus_per_node * strategy.nodes;
  if (strategy.gpu.empty() || gpus < 1) return facts;
  if (RanElsewhere(strategy, experiment.times)) return facts;
  const bool confirmed = IsConfirmed(strategy, experiment);
  for (const Attempt& attempt : experiment.outcome->attempts) {
    if (!attempt.micro_batch || !WasSeen(attempt, experiment.times)) continue;
    if (attempt.out_of_memory && attempt.host_memory) continue;  // the GPU had enough
    RunFact fact{experiment.job_id, experiment.uid, strategy.gpu, gpus, *attempt.micro_batch};
    fact.effective_batch_size = *attempt.micro_batch * attempt.accumulation.value_or(1) * gpus;
    fact.out_of_memory = attempt.out_of_memory;
    fact.confirmed = confirmed;
    if (!fact.out_of_memory) {
      if (IsTimed(attempt)) fact.seconds_per_step = *attempt.seconds_per_step;
      if (attempt.steps_done.value_or(0) > 0) fact.peak_bytes = TellingPeak(attempt);
      fact.start_seconds = StartSeconds(attempt);
      if (fact.seconds_per_step <= 0 && fact.peak_bytes <= 0) continue;
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

LearnedRuns LearnedRuns::With(const std::string& family,
                              const std::vector<const Experiment*>& experiments) const {
  std::vector<RunFact> facts;
  for (const Experiment* experiment : experiments) {
    for (RunFact& fact : FactsOf(*experiment)) facts.push_back(std::move(fact));
  }
  return WithFacts(family, std::move(facts));
}

LearnedRuns LearnedRuns::WithFacts(const std::string& family, std::vector<RunFact> facts) const {
  LearnedRuns learned = *this;
  if (facts.empty()) {
    learned.facts_.erase(family);
  } else {
    learned.facts_[family] = std::make_shared<const std::vector<RunFact>>(std::move(facts));
  }
  return learned;
}

std::vector<MeasuredStep> LearnedRuns::MeasurementsOf(const std::string& family, int64_t uid,
                                                      bool others) const {
  const auto found = facts_.find(family);
  if (family.empty() || found == facts_.end()) return {};
  std::map<Shape, Shown> own, site;
  std::set<std::string> own_gpus;
  for (const RunFact& fact : *found->second) {
    if (fact.uid == uid) own_gpus.insert(fact.gpu);
  }
  for (const RunFact& fact : *found->second) {
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

api::MeasuredRuns MeasuredRunsOf(const std::vector<MeasuredStep>& lines) {
  api::MeasuredRuns runs;
  for (const MeasuredStep& line : lines) {
    runs.measured.push_back({line.gpu, line.gpus, line.micro_batch, line.effective_batch_size,
                             line.seconds_per_step, line.peak_bytes, line.out_of_memory,
                             line.start_seconds, line.by, line.by_others});
  }
  return runs;
}

std::vector<MeasuredStep> LinesOf(const api::MeasuredRuns& runs) {
  std::vector<MeasuredStep> lines;
  for (const api::MeasuredLine& run : runs.measured) {
    if (run.gpus < 1 || run.micro_batch < 1 || run.effective_batch_size < 1) continue;
    MeasuredStep line{run.gpu, run.gpus, run.micro_batch, run.seconds_per_step, run.peak_bytes};
    line.effective_batch_size = run.effective_batch_size;
    line.out_of_memory = run.out_of_memory;
    line.start_seconds = run.start_seconds;
    line.by = run.by;
    line.by_others = run.by_others;
    lines.push_back(std::move(line));
  }
  return lines;
}

void AddMeasurements(const std::vector<MeasuredStep>& learned, const GpuCatalogue& catalogue,
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
