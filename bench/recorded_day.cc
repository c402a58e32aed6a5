// How right the forecasts of a recorded day are, as gpuadvised would have made them.
//
//     python3 bench/lab_day.py --multifactor --record DAY --programs build/release/bin …
//     cmake --build --preset release --target recorded_day
//     build/release/bin/recorded_day < DAY
//
// The recording holds what gpuadvise-collect saw of a real Slurm, so that two versions are judged
// on the same day. Each job is forecast as of its submission and, while it waits, every ten
// minutes; so is the start of the last task of each array, by the simulation alone, as sweeps are
// planned. Losses: mean pinball loss over the deciles, of the wait in seconds and of log(wait +
// 60 s). `--rows` prints what was said of each job instead, as CSV.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/statistics.h"
#include "common/forecast/live_forecast.h"
#include "common/forecast/queue_starts.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"
#include "common/slurm/snapshot_records.h"

namespace gpuadvise {
namespace {

constexpr std::string_view kLastTask = "last task of an array";

struct Said {
  std::string_view when;  // "submitted", "waiting", or "simulated": the simulation's part alone
  int64_t job = 0;
  UnixSeconds at = 0;
  std::vector<double> deciles;  // seconds from then
  int64_t priority = 0;
};

std::vector<double> DecilesOf(const std::vector<int64_t>& ascending) {
  std::vector<double> deciles;
  for (int i = 1; i <= 9; ++i) deciles.push_back(InterpolatedQuantile(ascending, i / 10.0));
  return deciles;
}

class RecordedDay {
 public:
  void See(const std::shared_ptr<const Snapshot>& snapshot) {
    if (state_ && snapshot->taken_at - asked_at_ >= kAskedEvery) AskAll();
    const LiveStep step = live_.See(snapshot);
    state_ = step.state;
    for (const PastJob& job : step.changed) Learn(job);
    waiting_arrays_.clear();
    for (const Job& job : snapshot->jobs) {
      if (job.array_job_id == 0) continue;
      if (HoldsNodes(job) && job.start_time) {
        UnixSeconds& last = last_starts_[job.array_job_id];
        last = std::max(last, *job.start_time);
      } else {
        waiting_arrays_.insert(job.array_job_id);
      }
    }
  }

  void Report(bool rows) const {
    if (rows) fmt::print("when,job,at,priority,wait,p10,p50,p90\n");
    std::map<std::string_view, std::vector<std::pair<const Said*, double>>> by_kind;
    for (const Said& said : said_) {
      const bool of_array = said.when == kLastTask;
      const auto& starts = of_array ? last_starts_ : starts_;
      const auto start = starts.find(said.job);
      if (start == starts.end() || (of_array && waiting_arrays_.contains(said.job))) continue;
      const auto wait = static_cast<double>(std::max<int64_t>(start->second - said.at, 0));
      by_kind[said.when].emplace_back(&said, wait);
      if (rows) {
        fmt::print("{},{},{},{},{:.0f},{:.0f},{:.0f},{:.0f}\n", said.when, said.job, said.at,
                   said.priority, wait, said.deciles[0], said.deciles[4], said.deciles[8]);
      }
    }
    if (rows) return;
    for (const auto& [kind, all] : by_kind) Score(kind, all);
  }

 private:
  void Learn(const PastJob& job) {
    if (job.record.start) starts_[job.record.id] = *job.record.start;
    if (!job.said || !job.said->deciles || !told_.insert(job.record.id).second) return;
    Said said{"submitted", job.record.id, job.record.eligible, {}, 0};
    for (const int32_t each : *job.said->deciles) said.deciles.push_back(each);
    said_.push_back(std::move(said));
  }

  void AskAll() {
    asked_at_ = state_->snapshot->taken_at;
    std::vector<AskedJob> asked;
    for (const auto& [id, start] : StartsInQueue(*state_->queue, &asked)) {
      said_.push_back({"waiting", id, asked_at_, DecilesOf(start.wait_seconds), start.priority});
    }
    for (const AskedJob& one : asked) {
      Said said{"simulated", one.id, asked_at_, {}, 0};
      for (int i = 1; i <= 9; ++i) said.deciles.push_back(one.wait.simulation.Quantile(i / 10.0));
      said_.push_back(std::move(said));
    }
    AskArrays();
  }

  void AskArrays() {
    const QueueModel& queue = *state_->queue;
    std::map<int64_t, std::vector<int64_t>> lasts;  // by array, one a sample
    for (const PendingJob& job : queue.pending()) {
      if (job.of_array) lasts[job.id];
    }
    if (lasts.empty()) return;
    for (int sample = 0; sample < queue.options().samples; ++sample) {
      std::map<int64_t, int64_t> last;
      for (const SimulatedJob& job : SimulateSample(queue, sample).jobs) {
        int64_t& start = last[queue.pending()[job.pending].id];
        start = std::max(start, job.start);
      }
      for (auto& [id, starts] : lasts) starts.push_back(last[id]);
    }
    for (auto& [id, starts] : lasts) {
      std::sort(starts.begin(), starts.end());
      said_.push_back({kLastTask, id, asked_at_, DecilesOf(starts), 0});
    }
  }

  static double Pinball(const std::vector<double>& deciles, double wait, bool log) {
    const auto of = [&](double seconds) { return log ? std::log(seconds + 60) : seconds; };
    double sum = 0;
    for (size_t i = 0; i < deciles.size(); ++i) {
      const double q = static_cast<double>(i + 1) / 10, off = of(wait) - of(deciles[i]);
      sum += off >= 0 ? q * off : (q - 1) * off;
    }
    return sum / static_cast<double>(deciles.size());
  }

  static void Score(std::string_view kind, const std::vector<std::pair<const Said*, double>>& all) {
    double seconds = 0, log = 0;
    int64_t shown = 0, covered = 0, far = 0;
    std::vector<double> errors;
    for (const auto& [said, wait] : all) {
      seconds += Pinball(said->deciles, wait, false) / static_cast<double>(all.size());
      log += Pinball(said->deciles, wait, true) / static_cast<double>(all.size());
      if (wait > 600) errors.push_back(std::abs(wait - said->deciles[4]));
      if (said->deciles[8] <= 60) continue;
      ++shown;
      if (wait <= said->deciles[8]) ++covered;
      if (wait > 2 * said->deciles[8]) ++far;
    }
    std::sort(errors.begin(), errors.end());
    fmt::print(
        "{}: {} forecasts; loss {:.0f} s, {:.4f} log; median error of waits over ten minutes "
        "{:.0f} s ({}); p90 held {:.3f} of {}, {} waited more than twice as long\n",
        kind, all.size(), seconds, log, errors.empty() ? 0 : errors[errors.size() / 2],
        errors.size(), shown > 0 ? static_cast<double>(covered) / static_cast<double>(shown) : 0.0,
        shown, far);
  }

  LiveForecast live_;
  std::shared_ptr<const ForecastState> state_;
  UnixSeconds asked_at_ = 0;
  std::vector<Said> said_;
  std::map<int64_t, UnixSeconds> starts_;
  std::set<int64_t> told_;
  std::map<int64_t, UnixSeconds> last_starts_;  // of arrays
  std::set<int64_t> waiting_arrays_;            // in the last snapshot
};

}  // namespace
}  // namespace gpuadvise

int main(int argc, char** argv) {
  using namespace gpuadvise;
  SnapshotAssembler assembler;
  RecordedDay day;
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto outcome = assembler.Feed(line);
    if (!outcome) {
      fmt::print(stderr, "recorded_day: {}\n", outcome.error().message);
    } else if (*outcome) {
      day.See(**outcome);
    }
  }
  day.Report(argc > 1 && std::string(argv[1]) == "--rows");
  return 0;
}
