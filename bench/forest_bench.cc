// The quantile forest of common/history alone: how right it is and what it costs.
//
//     cmake --build --preset release --target forest_bench
//     build/release/bin/forest_bench record LOG.csv.gz CLUSTER.yaml ROWS.tsv [PARTITION [SAMPLE
//     [FROM]]] build/release/bin/forest_bench replay [--seed N] [trees=60 ...] ROWS.tsv ...
//
// `record` runs the back-test once and writes what its forest is told, in order: features do not
// depend on the forest. `replay` tells it to a forest again, in seconds instead of minutes, and
// prints by group the CRPS (as `gpuadvise-backtest` scores it) and the CPU seconds of predictions
// and of learning. A row of the file is one event, separated by tabs:
//     submit  job time eligible burst group weight user account partition name limit features...
//     start   job time wait
//     vanish  job time age
#include <fmt/format.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "backtest/back_test.h"
#include "backtest/cluster_file.h"
#include "backtest/job_log.h"
#include "backtest/replay.h"
#include "backtest/scoring.h"
#include "backtest/workload.h"
#include "common/history/quantile_forest.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise {
namespace {

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int Fail(const std::string& message) {
  fmt::print(stderr, "forest_bench: {}\n", message);
  return 1;
}

// ---- record ------------------------------------------------------------------------------------

class Recorder {
 public:
  void See(const backtest::LogEvent& event, const backtest::LogJob& job,
           const WaitForecast* forecast) {
    using Kind = backtest::LogEventKind;
    const auto age = static_cast<double>(std::max<UnixSeconds>(event.time - job.eligible, 0));
    if (event.kind == Kind::kSubmit) {
      const int64_t burst = BurstOf(backtest::RecordOf(job));
      if (forecast == nullptr) return;
      std::string tail = fmt::format("\t{}\t{}\t{}\t{}\t{}", job.user, job.account, job.partition,
                                     job.name, job.limit_seconds.value_or(0));
      for (const float feature : forecast->features) tail += fmt::format("\t{}", feature);
      lines_.push_back({fmt::format("submit\t{}\t{}\t{}\t{}\t{}", job.id, event.time, job.eligible,
                                    burst, static_cast<int>(forecast->group)),
                        job.id, std::move(tail)});
    } else if (event.kind == Kind::kStart || event.kind == Kind::kVanish) {
      const char* what = event.kind == Kind::kStart ? "start" : "vanish";
      lines_.push_back({fmt::format("{}\t{}\t{}\t{}", what, job.id, event.time, age), 0, ""});
    }
  }

  // Weights are those that the back-test scored with; 0: not scored.
  void Write(const std::vector<backtest::Scored>& scored, std::ostream& out) const {
    std::unordered_map<int64_t, double> weights;
    for (const backtest::Scored& job : scored) weights[job.job_id] = job.started ? job.weight : 0;
    for (const Line& line : lines_) {
      out << line.head;
      if (!line.tail.empty()) out << fmt::format("\t{}", weights[line.job]) << line.tail;
      out << '\n';
    }
  }

 private:
  struct Line {
    std::string head;
    int64_t job = 0;
    std::string tail;
  };

  int64_t BurstOf(const JobRecord& job) {
    auto& [last, burst] = bursts_[MakeBurstKey(job)];
    if (burst == 0 || job.submit - last > kBurstSeconds) burst = ++drawn_;
    last = job.submit;
    return burst;
  }

  std::vector<Line> lines_;
  std::unordered_map<std::string, std::pair<UnixSeconds, int64_t>> bursts_;
  int64_t drawn_ = 0;
};

int Record(const std::vector<std::string>& arguments) {
  const auto document = LoadYamlFile(arguments[1]);
  if (!document) return Fail(document.error().message);
  const auto cluster = backtest::ClusterOf(*document);
  if (!cluster) return Fail(cluster.error().message);
  const auto text = backtest::ReadLogFile(arguments[0]);
  if (!text) return Fail(text.error().message);
  const auto log = arguments[0].ends_with(".workload.csv")
                       ? backtest::SimulateWorkload(text->text, arguments[0], *cluster)
                       : backtest::ParseCsvLog(text->text, arguments[0]);
  if (!log) return Fail(log.error().message);
  Recorder recorder;
  backtest::BackTestOptions options;
  if (arguments.size() > 3) options.partition = arguments[3];
  if (arguments.size() > 4) options.sample = std::atof(arguments[4].c_str());
  options.from = arguments.size() > 5 ? std::atof(arguments[5].c_str()) : 0.1;
  options.watch = [&](const auto& event, const auto& job, const auto* forecast) {
    recorder.See(event, job, forecast);
  };
  const auto result = backtest::RunBackTest(*log, *cluster, options, [](size_t, size_t) {});
  std::ofstream out(arguments[2]);
  recorder.Write(result.jobs, out);
  if (!out) return Fail(arguments[2] + " cannot be written");
  const auto in = backtest::InGroup(result.jobs, backtest::ScoreGroup::kDoesNotFitNow);
  fmt::print("{}: the back-test's own forest, does not fit now: CRPS log {:.4f}, CPU {:.1f} s\n",
             arguments[2], backtest::ComputeScores(in, backtest::kPredictors - 1).crps_log,
             CpuSeconds());
  return 0;
}

// ---- replay ------------------------------------------------------------------------------------

struct Event {
  char kind = 0;  // s, t(art), v
  int64_t job = 0;
  UnixSeconds time = 0;
  double seconds = 0;
  UnixSeconds eligible = 0;
  int64_t burst = 0;
  int group = 0;
  double weight = 0;
  std::vector<float> features;
};

std::vector<Event> ReadEvents(const std::string& path) {
  std::vector<Event> events;
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::stringstream cut(line);
    for (std::string cell; std::getline(cut, cell, '\t');) cells.push_back(cell);
    Event event;
    event.job = std::stoll(cells[1]);
    event.time = std::stoll(cells[2]);
    if (cells[0] == "submit") {
      event.kind = 's';
      event.eligible = std::stoll(cells[3]);
      event.burst = std::stoll(cells[4]);
      event.group = std::stoi(cells[5]);
      event.weight = std::stod(cells[6]);
      for (size_t i = 12; i < cells.size(); ++i)
        event.features.push_back(std::strtof(cells[i].c_str(), nullptr));
    } else {
      event.kind = cells[0] == "start" ? 't' : 'v';
      event.seconds = std::stod(cells[3]);
    }
    events.push_back(std::move(event));
  }
  return events;
}

int Replay(const std::string& path, uint64_t seed, const ForestOptions& options) {
  const std::vector<Event> events = ReadEvents(path);
  if (events.empty()) return Fail(path + " has no rows");
  QuantileForest forest(seed, options);
  struct Row {
    int64_t row = 0;
    backtest::Scored scored;
    bool ready = false;
  };
  std::unordered_map<int64_t, Row> waiting;
  std::vector<backtest::Scored> scored;
  double predicting = 0;
  double learning = 0;
  int64_t asked = 0;
  for (const Event& event : events) {
    if (event.kind == 's') {
      const double from = CpuSeconds();
      const auto said = forest.Predict(event.features, event.time);
      const double middle = CpuSeconds();
      Row& row = waiting[event.job];
      row.row = forest.Add(event.features, event.eligible, event.burst);
      learning += CpuSeconds() - middle;
      predicting += middle - from;
      ++asked;
      row.ready = said.has_value() && event.weight > 0;
      if (!row.ready) continue;
      row.scored.group = static_cast<WaitGroup>(event.group);
      row.scored.weight = event.weight;
      row.scored.said[0] = backtest::ReduceForecast(*said);
      continue;
    }
    const auto found = waiting.find(event.job);
    if (found == waiting.end()) continue;
    const double from = CpuSeconds();
    if (event.kind == 't') {
      forest.Started(found->second.row, event.seconds, event.time);
    } else {
      forest.Vanished(found->second.row, event.seconds);
    }
    learning += CpuSeconds() - from;
    if (found->second.ready && event.kind == 't') {
      found->second.scored.wait = event.seconds;
      scored.push_back(found->second.scored);
    }
    waiting.erase(found);
  }
  fmt::print("{}: {} asked; CPU s: predict {:.2f}, learn {:.2f}\n", path, asked, predicting,
             learning);
  for (size_t g = 0; g < backtest::kScoreGroups; ++g) {
    const auto in = backtest::InGroup(scored, static_cast<backtest::ScoreGroup>(g));
    if (in.empty()) continue;
    const backtest::Scores scores = backtest::ComputeScores(in, 0);
    fmt::print(
        "  {:<18} {:6} jobs  CRPS log {:.4f}  seconds {:8.1f}  p90 coverage {:.3f}  p50 {:.3f}\n",
        backtest::kScoreGroupNames[g], scores.jobs, scores.crps_log, scores.crps_seconds,
        scores.coverage_p90, scores.coverage_p50);
  }
  return 0;
}

// "trees=30" and the like; false: not the name of an option.
bool SetOption(const std::string& argument, ForestOptions& options) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos) return false;
  const double value = std::atof(argument.c_str() + equals + 1);
  const std::unordered_map<std::string, size_t*> sizes = {
      {"trees", &options.trees},
      {"least_leaf", &options.least_leaf},
      {"rows_per_tree", &options.rows_per_tree},
      {"rebuild_starts", &options.rebuild_starts}};
  const std::unordered_map<std::string, double*> numbers = {
      {"share_per_tree", &options.share_per_tree},
      {"tried_share", &options.tried_share},
      {"censored_more", &options.censored_more},
      {"half_life_rows", &options.half_life_rows},
      {"rebuild_share", &options.rebuild_share}};
  const std::string name = argument.substr(0, equals);
  if (const auto found = sizes.find(name); found != sizes.end()) {
    *found->second = static_cast<size_t>(value);
  } else if (const auto number = numbers.find(name); number != numbers.end()) {
    *number->second = value;
  } else {
    return false;
  }
  return true;
}

int Run(const std::vector<std::string>& arguments) {
  const std::string what = arguments.empty() ? "" : arguments[0];
  if (what == "record" && arguments.size() >= 4) {
    return Record({arguments.begin() + 1, arguments.end()});
  }
  if (what == "replay" && arguments.size() >= 2) {
    uint64_t seed = 1;
    int failed = 0;
    ForestOptions options;
    for (size_t i = 1; i < arguments.size(); ++i) {
      if (arguments[i] == "--seed" && i + 1 < arguments.size()) {
        seed = std::stoull(arguments[++i]);
      } else if (SetOption(arguments[i], options)) {
        continue;
      } else {
        failed |= Replay(arguments[i], seed, options);
      }
    }
    return failed;
  }
  fmt::print(stderr,
             "usage: forest_bench record LOG CLUSTER ROWS [PARTITION [SAMPLE [FROM]]]\n"
             "       forest_bench replay [--seed N] [trees=60 ...] ROWS ...\n");
  return 2;
}

}  // namespace
}  // namespace gpuadvise

int main(int argc, char** argv) { return gpuadvise::Run({argv + 1, argv + argc}); }
