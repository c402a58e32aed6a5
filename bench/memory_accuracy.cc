// Peak memory against bench/data/memory_measurements.csv. `statistic` says what was read: allocated
// (and active) is less than reserved, which is less than what nvidia-smi shows. So the same parts
// are compared: without what the framework adds, without its context, or all.
#include <fmt/format.h>

#include <cmath>

#include "bench/leave_one_out.h"
#include "bench/measured_rows.h"
#include "common/memory/memory_range.h"

namespace gpuadvise {
namespace {

constexpr double kGib = 1 << 30;

// What the statistic of the row would have shown.
double ShownBytes(const MemoryParts& parts, const TrainingSetup& setup,
                  const std::string& statistic, const MemoryConstants& constants) {
  const double own = parts.total() - parts.framework;
  if (statistic == "allocated" || statistic == "active") return own;
  return parts.total() - (statistic == "reserved" ? ContextBytes(setup, constants) : 0);
}

struct FitCount {
  int all = 0;
  int called_fitting = 0;
  void Add(bool fits) {
    ++all;
    if (fits) ++called_fitting;
  }
};

// Rows with a measured peak, and what is counted for them with given constants.
class MeasuredPeaks {
 public:
  MeasuredPeaks(const Known& known, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      const ModelPreset* preset = known.presets.Find(row.at("preset"));
      if (row.at("outcome") != "measured" || preset == nullptr || !preset->shape) continue;
      rows_.push_back(&row);
      shapes_.push_back(ShapeOf(row, *preset));
      setups_.push_back(SetupOf(row));
      sources_.sources.push_back(RepositoryOf(row));
      sources_.decides.push_back(row.at("grade") == "A");
    }
  }

  std::vector<double> LogRatios(const MemoryConstants& constants) const {
    std::vector<double> ratios;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const MemoryParts parts = PeakMemory(shapes_[i], setups_[i], constants);
      const double shown =
          ShownBytes(parts, setups_[i], rows_[i]->at("statistic"), constants) / kGib;
      ratios.push_back(std::log(shown / NumberOf(*rows_[i], "measured_gib", 0)));
    }
    return ratios;
  }

  const RowSources& sources() const { return sources_; }
  const Row& row(size_t i) const { return *rows_[i]; }

 private:
  std::vector<const Row*> rows_;
  std::vector<ModelShape> shapes_;
  std::vector<TrainingSetup> setups_;
  RowSources sources_;
};

}  // namespace

void ScoreMemoryLeftOut(const Known& known, const std::vector<Row>& rows) {
  std::vector<SearchedConstant> searched;
  std::vector<double MemoryConstants::*> members;
  for (const auto& constant : MemoryConstantTable()) {
    if (!constant.chosen) continue;
    searched.push_back(
        {constant.name, constant.low, constant.high, kMemoryConstants.*constant.member});
    members.push_back(constant.member);
  }
  const MeasuredPeaks peaks(known, rows);
  const LeftOut result =
      LeaveOneSourceOut(searched, peaks.sources(), [&](const std::vector<double>& values) {
        MemoryConstants constants;
        for (size_t i = 0; i < members.size(); ++i) constants.*members[i] = values[i];
        return peaks.LogRatios(constants);
      });
  PrintChosen(searched, result);
  ErrorTable table;
  for (size_t i = 0; i < result.errors.size(); ++i) {
    const std::string& grade = peaks.row(i).at("grade");
    table.Add(grade + " " + peaks.sources().sources[i], result.errors[i]);
    table.Add("all of grade " + grade, result.errors[i]);
  }
  table.Print("peak memory, its source left out");
}

void ScoreMemory(const Known& known, const std::vector<Row>& rows, bool print_rows) {
  ErrorTable by_source;
  ErrorTable by_gpu;
  ErrorTable by_family;
  FitCount ran;
  std::map<std::string, FitCount> ran_of_source;
  FitCount ran_out;
  FitCount ran_out_as_batch;               // recommended
  std::map<std::string, FitCount> inside;  // p10 to p90, by grade
  FitCount varying;                        // rows whose lengths vary: inside their range
  if (print_rows) fmt::print("grade,source,preset,measured,predicted,outcome,fits\n");
  for (const Row& row : rows) {
    const ModelPreset* preset = known.presets.Find(row.at("preset"));
    if (preset == nullptr || !preset->shape) continue;
    const TrainingSetup setup = SetupOf(row);
    const MemoryParts parts = PeakMemory(ShapeOf(row, *preset), setup);
    const GpuModel* gpu = known.catalogue.Resolve(row.at("gpu"));
    const bool fits = gpu != nullptr && parts.total() <= UsableBytes(*gpu);
    const std::string& outcome = row.at("outcome");
    if (gpu != nullptr) (outcome == "oom" ? ran_out : ran).Add(fits);
    if (gpu != nullptr && outcome == "oom") {
      ran_out_as_batch.Add(parts.total() <= UsableBytes(*gpu) * (1 - SafetyMargin(setup, false)));
    }
    if (gpu != nullptr && outcome != "oom") ran_of_source[RepositoryOf(row)].Add(fits);
    const double shown = ShownBytes(parts, setup, row.at("statistic"), kMemoryConstants) / kGib;
    const double measured = NumberOf(row, "measured_gib", 0);
    if (outcome == "measured" && HighestBytes(parts, setup) > parts.total()) {
      const double highest = shown + (HighestBytes(parts, setup) - parts.total()) / kGib;
      varying.Add(measured <= highest && measured >= 0.95 * shown);
    }
    if (outcome == "measured") {
      const double error = shown / measured - 1;
      const std::string& grade = row.at("grade");
      const MemoryRange range = RangeOfPeak(
          shown, shown + (HighestBytes(parts, setup) - parts.total()) / kGib, setup, false);
      inside["grade " + grade].Add(range.low <= measured && measured <= range.high);
      by_source.Add(grade + " " + RepositoryOf(row), error);
      by_source.Add("all of grade " + grade, error);
      if (gpu != nullptr) by_gpu.Add(gpu->display_name, error);
      by_family.Add(FamilyOf(row), error);
    }
    if (print_rows) {
      fmt::print("{},{},{},{:.2f},{:.2f},{},{}\n", row.at("grade"), RepositoryOf(row),
                 row.at("preset"), measured, shown, outcome, fits ? "fits" : "does not fit");
    }
  }
  if (print_rows) return;
  by_source.Print("peak memory by source");
  by_gpu.Print("by GPU");
  by_family.Print("by model family");
  for (const auto& [source, count] : ran_of_source) {
    fmt::print("called fitting: {:>3} of {:>3} that ran, {}\n", count.called_fitting, count.all,
               source);
  }
  fmt::print("of {} rows whose lengths vary {} are inside their range\n", varying.all,
             varying.called_fitting);
  for (const auto& [grade, count] : inside) {
    fmt::print("{} of {} of {} are inside p10 to p90\n", count.called_fitting, count.all, grade);
  }
  fmt::print("called fitting: {} of {} that ran, {} of {} that ran out; {} of them as BATCH\n",
             ran.called_fitting, ran.all, ran_out.called_fitting, ran_out.all,
             ran_out_as_batch.called_fitting);
}

}  // namespace gpuadvise
