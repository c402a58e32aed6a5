// Step time against bench/data/time_measurements.csv: without any timing, with one timing of the
// same training on another GPU type, as `measured:` in a train.yaml gives it, and with two.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <set>

#include "bench/leave_one_out.h"
#include "bench/measured_rows.h"
#include "common/time/carry_over.h"
#include "common/time/step_time_model.h"
#include "common/time/training_time.h"

namespace gpuadvise {
namespace {

// The cards of the team guides (seeds.md).
const std::set<std::string>& CardsOfTheGuides() {
  static const std::set<std::string> kCards = {"rtx2080ti", "rtx4090", "l40s", "rtx-a6000",
                                               "v100-32gb-pcie"};
  return kCards;
}

struct Scored {
  const Row* row = nullptr;
  const GpuModel* gpu = nullptr;
  double measured = 0;
  double predicted = 0;
  int64_t gpus = 1;
  TimedPlace place = {};  // with the constants in use
};

StepSeconds PredictedStep(const ModelShape& model, const Row& row, const GpuModel& gpu,
                          const StepTimeConstants& constants = kStepTimeConstants) {
  StepLayout shape;
  shape.gpus_per_node = static_cast<int64_t>(NumberOf(row, "gpus_per_node", 1));
  shape.nodes = static_cast<int64_t>(NumberOf(row, "nodes", 1));
  shape.accumulation = static_cast<int64_t>(NumberOf(row, "accumulation", 1));
  shape.interconnect = {NumberOf(row, "link_gb_per_s", 0), NumberOf(row, "network_gb_per_s", 0)};
  return ComputeStepSeconds(model, SetupOf(row), gpu, shape, constants);
}

bool SameTraining(const Scored& a, const Scored& b) {
  for (const char* key : {"source", "preset", "method", "checkpointing"}) {
    if (a.row->at(key) != b.row->at(key)) return false;
  }
  // A card without bf16 trains in fp16: the same training to its user.
  return (a.row->at("precision") == "fp32") == (b.row->at("precision") == "fp32");
}

// The timing on another GPU type (`on`, where one is asked for; on fewer GPUs where that is the
// row's) that is most like the row: one a user would give.
const Scored* AnchorOf(const Scored& row, const std::vector<Scored>& all,
                       const std::string& on = "") {
  const auto number = [](const Scored& s, const char* key) { return NumberOf(*s.row, key, 1); };
  const Scored* best = nullptr;
  double nearest = 0;
  for (const Scored& other : all) {
    if (!SameTraining(row, other) || (!on.empty() && other.gpu->id != on)) continue;
    const bool fewer =
        other.gpus < row.gpus && other.row->at("precision") == row.row->at("precision");
    if (other.gpu == row.gpu && (on.empty() || !fewer)) continue;
    double distance = 0;
    for (const char* key : {"seq_length", "micro_batch", "gpus_per_node", "nodes"}) {
      distance += std::abs(std::log(number(row, key) / number(other, key)));
    }
    if (best == nullptr || distance < nearest) {
      best = &other;
      nearest = distance;
    }
  }
  return best;
}

int64_t WholeOf(const Row& row, const char* key) {
  return static_cast<int64_t>(NumberOf(row, key, 1));
}

ParallelLayout LayoutOf(const Row& row, const GpuModel& gpu) {
  return {&gpu,
          WholeOf(row, "gpus_per_node"),
          WholeOf(row, "nodes"),
          WholeOf(row, "micro_batch"),
          WholeOf(row, "accumulation"),
          {NumberOf(row, "link_gb_per_s", 0), NumberOf(row, "network_gb_per_s", 0)}};
}

// Seconds of `row` from one timing, and their deviation.
struct Anchored {
  double seconds = 0;
  double sigma = 0;
};

Anchored CarriedSeconds(const Scored& row, const Scored& anchor) {
  const double log_factor = std::log(anchor.measured / anchor.predicted);
  const CarriedOver carried = CarryOver({{anchor.place, log_factor}}, row.place);
  return {row.predicted * std::exp(carried.log_factor), SigmaOf(carried)};
}

// A row from one timing on another card, then from a second one on a third card as well: each
// pair of cards is a case, and each of the two is once the first.
void AddTwoTimings(const Scored& row, const std::vector<Scored>& all,
                   const std::set<std::string>& cards, ErrorTable& table) {
  const auto log_factor = [&](const Scored& s) {
    return std::log(CarriedSeconds(row, s).seconds / row.predicted);
  };
  const auto timing = [](const Scored& s) {
    return Timing{s.place, std::log(s.measured / s.predicted)};
  };
  const auto add = [&](const std::string& group, double log) {
    table.Add(group, row.predicted * std::exp(log) / row.measured - 1);
  };
  std::vector<const Scored*> anchors;  // one a card
  for (const std::string& card : cards) {
    if (card == row.gpu->id) continue;
    if (const Scored* anchor = AnchorOf(row, all, card)) anchors.push_back(anchor);
  }
  for (const Scored* first : anchors) {
    for (const Scored* second : anchors) {
      if (first == second) continue;
      const bool less_like =
          CarryOverVariance(second->place, row.place) > CarryOverVariance(first->place, row.place);
      const std::string then = less_like ? "then one less like: " : "then one more like: ";
      add(then + "1 timing", log_factor(*first));
      add(then + "2, plain mean", (log_factor(*first) + log_factor(*second)) / 2);
      add(then + "2, by likeness",
          CarryOver({timing(*first), timing(*second)}, row.place).log_factor);
    }
  }
}

void PrintRow(const Scored& scored, double anchored) {
  const Row& row = *scored.row;
  fmt::print("{},{},{},{},{},{},{},{},{},{},{:.4g},{:.4g},{:.4g}\n", row.at("grade"),
             RepositoryOf(row), row.at("preset"), row.at("method"), row.at("precision"),
             row.at("seq_length"), row.at("micro_batch"), scored.gpu->id, row.at("gpus_per_node"),
             row.at("nodes"), scored.measured, scored.predicted, anchored);
}

// `all` as predicted with constants that each row's own source had no part in.
std::vector<Scored> LeaveOut(const Known& known, const std::vector<Scored>& all, bool print) {
  std::vector<SearchedConstant> searched;
  std::vector<double StepTimeConstants::*> members;
  for (const StepTimeConstant& constant : StepTimeConstantTable()) {
    if (!constant.chosen) continue;
    searched.push_back(
        {constant.name, constant.low, constant.high, kStepTimeConstants.*constant.member});
    members.push_back(constant.member);
  }
  RowSources sources;
  std::vector<ModelShape> shapes;
  for (const Scored& scored : all) {
    sources.sources.push_back(RepositoryOf(*scored.row));
    shapes.push_back(ShapeOf(*scored.row, *known.presets.Find(scored.row->at("preset"))));
  }
  const LeftOut left_out = LeaveOneSourceOut(searched, sources, [&](const auto& values) {
    StepTimeConstants constants;
    for (size_t i = 0; i < values.size(); ++i) constants.*members[i] = values[i];
    std::vector<double> ratios;
    for (size_t i = 0; i < all.size(); ++i) {
      const double predicted =
          PredictedStep(shapes[i], *all[i].row, *all[i].gpu, constants).total();
      ratios.push_back(std::log(predicted / all[i].measured));
    }
    return ratios;
  });
  if (print) PrintChosen(searched, left_out);
  std::vector<Scored> predicted = all;
  for (size_t i = 0; i < all.size(); ++i) {
    predicted[i].predicted = all[i].measured * (1 + left_out.errors[i]);
  }
  return predicted;
}

// How many of the measured seconds lie between the p10 and p90 that are said.
struct Coverage {
  int rows = 0;
  int inside = 0;
  void Add(double log_error, double sigma) {
    constexpr double kP90 = 1.2816;
    ++rows;
    if (std::abs(log_error) <= kP90 * sigma) ++inside;
  }
};

// Samples per second on the row's GPUs from `anchor` alone, as for a file that describes no model.
Rate RateUndescribed(const Known& known, const Scored& row, const Scored& anchor) {
  TrainingSpec training;
  const int stage = SetupOf(*row.row).zero_stage;
  if (stage > 0) training.zero_stage = stage;
  MeasuredStep step;
  step.gpu = anchor.gpu->id;
  step.gpus = anchor.gpus;
  step.nodes = WholeOf(*anchor.row, "nodes");
  step.micro_batch = WholeOf(*anchor.row, "micro_batch");
  step.effective_batch_size = step.micro_batch * step.gpus * WholeOf(*anchor.row, "accumulation");
  step.seconds_per_step = anchor.measured;
  RunTimeBasis basis;
  basis.measured = {step};
  basis.setup.precision = SetupOf(*row.row).precision;
  if (basis.setup.precision == Precision::kFp32) training.fp16 = training.bf16 = false;
  ParallelLayout layout = LayoutOf(*row.row, *row.gpu);
  layout.interconnect.network_gb_per_s = 25;
  return EstimateRate(training, basis, layout, known.catalogue).value();
}

void AddUndescribed(const Known& known, const std::vector<Scored>& all, ErrorTable& table,
                    std::map<std::string, Coverage>& coverage) {
  for (const Scored& row : all) {
    const Scored* anchor = AnchorOf(row, all);
    if (anchor == nullptr || anchor->row->at("seq_length") != row.row->at("seq_length")) continue;
    const Rate rate = RateUndescribed(known, row, *anchor);
    const double samples = NumberOf(*row.row, "micro_batch", 1) * static_cast<double>(row.gpus) *
                           NumberOf(*row.row, "accumulation", 1);
    const double log_error = std::log(samples / rate.samples_per_second / row.measured);
    const std::string& grade = row.row->at("grade");
    for (const std::string& group :
         {grade + " " + RepositoryOf(*row.row), "all of grade " + grade}) {
      table.Add(group, std::expm1(log_error));
      coverage["model not described, " + group].Add(log_error, rate.sigma);
    }
  }
}

struct TimeTables {
  ErrorTable by_source;
  ErrorTable by_gpu;
  ErrorTable by_family;
  ErrorTable anchored;
  ErrorTable twice;
  std::map<std::string, Coverage> coverage;
};

void AddRow(const Scored& scored, const std::vector<Scored>& all,
            const std::set<std::string>& cards, TimeTables& tables) {
  const std::string& grade = scored.row->at("grade");
  const std::string groups[] = {grade + " " + RepositoryOf(*scored.row), "all of grade " + grade};
  const double log_error = std::log(scored.predicted / scored.measured);
  for (const std::string& group : groups) {
    tables.by_source.Add(group, std::expm1(log_error));
    tables.coverage["no timing, " + group].Add(log_error, DeviationOf(scored.place));
  }
  tables.by_gpu.Add(scored.gpu->display_name, std::expm1(log_error));
  tables.by_family.Add(FamilyOf(*scored.row), std::expm1(log_error));
  if (const Scored* anchor = AnchorOf(scored, all)) {
    const Anchored carried = CarriedSeconds(scored, *anchor);
    const double anchored = std::log(carried.seconds / scored.measured);
    for (const std::string& group : groups) {
      tables.anchored.Add(group, std::expm1(anchored));
      tables.coverage["one timing, " + group].Add(anchored, carried.sigma);
    }
  }
  if (const Scored* anchor = AnchorOf(scored, all, scored.gpu->id)) {
    const Anchored carried = CarriedSeconds(scored, *anchor);
    const std::string group = "a timing on fewer GPUs of the card, " + groups[0];
    tables.anchored.Add(group, carried.seconds / scored.measured - 1);
    tables.coverage[group].Add(std::log(carried.seconds / scored.measured), carried.sigma);
  }
  if (CardsOfTheGuides().count(scored.gpu->id) > 0) {
    for (const std::string& card : CardsOfTheGuides()) {
      const Scored* anchor = AnchorOf(scored, all, card);
      if (anchor == nullptr || anchor->gpu == scored.gpu) continue;
      tables.anchored.Add("cards of the team guides, each from each",
                          CarriedSeconds(scored, *anchor).seconds / scored.measured - 1);
    }
  }
  AddTwoTimings(scored, all, cards, tables.twice);
}

}  // namespace

void ScoreTime(const Known& known, const std::vector<Row>& rows, TimeReport report) {
  std::vector<Scored> in_use;
  for (const Row& row : rows) {
    const ModelPreset* preset = known.presets.Find(row.at("preset"));
    const GpuModel* gpu = known.catalogue.Resolve(row.at("gpu"));
    if (preset == nullptr || !preset->shape || gpu == nullptr) {
      fmt::print(stderr, "left out: {} on {}\n", row.at("preset"), row.at("gpu"));
      continue;
    }
    Scored scored{&row, gpu, NumberOf(row, "seconds_per_step", 0), 0, SetupOf(row).gpus};
    const ModelShape shape = ShapeOf(row, *preset);
    const StepSeconds step = PredictedStep(shape, row, *gpu);
    scored.predicted = step.total();
    RunTimeBasis basis;
    basis.shape = &shape;
    basis.parts_assumed = row.at("grade") != "A";
    scored.place = PlaceOf(basis, SetupOf(row), LayoutOf(row, *gpu), step);
    in_use.push_back(scored);
  }
  const std::vector<Scored> left_out =
      report == TimeReport::kInUse ? in_use
                                   : LeaveOut(known, in_use, report == TimeReport::kLeftOut);
  if (report == TimeReport::kRows) {
    fmt::print(
        "grade,source,preset,method,precision,seq_length,micro_batch,gpu,gpus_per_node,nodes,"
        "measured,predicted,anchored\n");
    for (const Scored& scored : left_out) {
      const Scored* anchor = AnchorOf(scored, left_out);
      PrintRow(scored, anchor == nullptr ? 0 : CarriedSeconds(scored, *anchor).seconds);
    }
    return;
  }
  std::set<std::string> cards;
  for (const Scored& scored : in_use) cards.insert(scored.gpu->id);
  TimeTables tables;
  for (const Scored& scored : left_out) AddRow(scored, left_out, cards, tables);
  ErrorTable undescribed;
  AddUndescribed(known, left_out, undescribed, tables.coverage);
  if (report == TimeReport::kLeftOut) {
    ErrorTable seen;
    for (const Scored& scored : in_use) {
      seen.Add("all of grade " + scored.row->at("grade"), scored.predicted / scored.measured - 1);
    }
    seen.Print("step time with the constants in use, which have seen all rows");
  }
  tables.by_source.Print(report == TimeReport::kInUse ? "step time with the constants in use"
                                                      : "step time, its source left out");
  tables.by_gpu.Print("the same by GPU");
  tables.by_family.Print("the same by model family");
  tables.anchored.Print("the same with one timing on another GPU");
  undescribed.Print("one timing on another GPU and no description of the model");
  tables.twice.Print("the same with timings on two other GPUs");
  for (const auto& [group, count] : tables.coverage) {
    fmt::print("inside p10 to p90: {:<48} {:>4} of {:>4} ({:.0f} %)\n", group, count.inside,
               count.rows, 100.0 * count.inside / count.rows);
  }
}

}  // namespace gpuadvise
