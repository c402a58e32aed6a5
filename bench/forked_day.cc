#include "bench/forked_day.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "backtest/cluster_file.h"
#include "backtest/workload.h"
#include "common/base/job_random.h"
#include "common/base/text.h"
#include "common/forecast/start_of.h"
#include "common/scheduler/simulation.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::backtest {
namespace {

constexpr int kSamples = 24;
constexpr uint64_t kSeed = 1;
constexpr double kLimitMargin = 1.2;  // time limit over run time, as advice sets it
enum Draw : uint64_t { kMoment = 1, kShare, kUser };

}  // namespace

Result<LoggedDay> LoadDay(const std::string& cluster, const std::string& log) {
  const auto document = LoadYamlFile(cluster);
  if (!document) return tl::unexpected<Error>(document.error());
  auto nodes = ClusterOf(*document);
  if (!nodes) return tl::unexpected<Error>(nodes.error());
  const auto text = ReadLogFile(log);
  if (!text) return tl::unexpected<Error>(text.error());
  auto jobs = log.ends_with(".workload.csv") ? SimulateWorkload(text->text, log, *nodes)
                                             : ParseCsvLog(text->text, log);
  if (!jobs) return tl::unexpected<Error>(jobs.error());
  return LoggedDay{std::move(*nodes), std::move(*jobs)};
}

std::vector<Alternative> AlternativesOf(const std::string& text, const Snapshot& cluster) {
  std::vector<Alternative> all;
  for (const std::string_view part : SplitAt(text, ',')) {
    const std::string word(part);
    const size_t colon = word.find(':'), equals = word.find('=');
    if (colon == std::string::npos || equals == std::string::npos) continue;
    Alternative one{word.substr(0, colon), std::atoll(word.c_str() + colon + 1),
                    std::atof(word.c_str() + equals + 1), ""};
    one.partition = PartitionWith(cluster, one.gpu, one.gpus);
    if (!one.partition.empty() && one.hours > 0) all.push_back(std::move(one));
  }
  return all;
}

double SecondsOf(const Alternative& alternative, const Moment& moment) {
  return std::max(alternative.hours * 3600 * moment.share, 60.0);
}

JobRequest RequestOf(const Alternative& alternative, double seconds) {
  JobRequest request;
  request.partitions = {alternative.partition};
  request.nodes_min = 1;
  request.tasks = 1;
  request.cpus_per_task = alternative.gpus;
  request.cpus = alternative.gpus;
  request.gpus_per_node = {{alternative.gpu, alternative.gpus}};
  request.time_limit_seconds = std::llround(std::ceil(seconds * kLimitMargin / 60) * 60);
  return request;
}

std::vector<Moment> MomentsOf(const JobLog& log, size_t count, double least_share) {
  const auto first = static_cast<double>(log.jobs.front().eligible);
  const auto last = static_cast<double>(log.jobs.back().eligible);
  std::vector<Moment> moments;
  for (size_t i = 0; i < count; ++i) {
    Moment moment;
    const double at = 0.1 + 0.9 * DrawUniform(kSeed, kMoment, i);
    moment.time = std::llround(first + at * (last - first));
    moment.share = std::pow(least_share, DrawUniform(kSeed, kShare, i));
    const auto before = std::count_if(log.jobs.begin(), log.jobs.end(), [&](const LogJob& job) {
      return job.eligible <= moment.time;
    });
    const double user = DrawUniform(kSeed, kUser, i) * static_cast<double>(before);
    moment.user = log.jobs[static_cast<size_t>(user)].user;
    moments.push_back(std::move(moment));
  }
  std::sort(moments.begin(), moments.end(),
            [](const Moment& a, const Moment& b) { return a.time < b.time; });
  return moments;
}

ForkedDay::ForkedDay(const LoggedDay& day) : log_(day.log), replay_(day.log, day.cluster) {
  for (const LogJob& job : log_.jobs) {
    if (job.start && job.end) run_seconds_[job.id] = static_cast<double>(*job.end - *job.start);
  }
}

void ForkedDay::Visit(const std::vector<Moment>& moments,
                      const std::function<void(size_t)>& visit) {
  size_t next = 0;
  for (const LogEvent& event : ListEvents(log_)) {
    for (; next < moments.size() && moments[next].time < event.time; ++next) visit(next);
    Learn(event);
  }
}

std::shared_ptr<const QueueModel> ForkedDay::QueueAt(UnixSeconds now) {
  SimulationOptions simulation;
  simulation.samples = kSamples;
  simulation.seed = kSeed;
  return ObserveAndPrepare(std::make_shared<const Snapshot>(replay_.At(now)), past_, simulation);
}

void ForkedDay::Learn(const LogEvent& event) {
  const LogJob& job = log_.jobs[event.job];
  past_.Advance(event.time);
  if (event.kind == LogEventKind::kSubmit) {
    past_.Submitted(SubmissionWithForecast(job, *QueueAt(event.time)));
    past_.arrivals.Arrived(replay_.Waiting(event.job), event.time);
  }
  if (event.kind == LogEventKind::kStart) past_.Started(job.id, event.time);
  if (event.kind == LogEventKind::kEnd) past_.Ended(job.id, event.time);
  if (event.kind == LogEventKind::kVanish) past_.Vanished(job.id, event.time);
  replay_.Apply(event);
}

std::shared_ptr<const QueueModel> ForkedDay::TruthAt(UnixSeconds now) {
  Snapshot state = replay_.At(now);
  std::erase_if(state.jobs, [&](const Job& job) {
    return job.state == JobState::kPending && !run_seconds_.contains(job.id);
  });
  for (size_t i = 0; i < log_.jobs.size(); ++i) {
    const LogJob& job = log_.jobs[i];
    if (job.eligible > now && run_seconds_.contains(job.id)) {
      state.jobs.push_back(replay_.Waiting(i));
    }
  }
  SimulationOptions options;
  options.samples = 1;
  options.known_run_times = &run_seconds_;
  options.every_interval = true;
  nothing_ = ForecastHistory();
  return ObserveAndPrepare(std::make_shared<const Snapshot>(std::move(state)), nothing_, options);
}

int64_t ForkedDay::PriorityAt(UnixSeconds now) const {
  const auto later =
      std::upper_bound(log_.jobs.begin(), log_.jobs.end(), now,
                       [](UnixSeconds time, const LogJob& each) { return time < each.eligible; });
  const auto before = static_cast<size_t>(later - log_.jobs.begin());
  return replay_.Waiting(before == 0 ? 0 : before - 1).priority;
}

}  // namespace gpuadvise::backtest
