// gpuadvise-backtest: how right would the forecasts have been on this log?
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "backtest/back_test.h"
#include "backtest/cluster_file.h"
#include "backtest/job_log.h"
#include "backtest/limits.h"
#include "backtest/regret.h"
#include "backtest/report.h"
#include "backtest/world.h"
#include "yaml/yaml_file.h"

namespace gpuadvise::backtest {
namespace {

constexpr int kExitUsage = 2;

enum class LogKind { kTrace, kSacct, kWorkload };
struct LogPath {
  LogKind kind = LogKind::kTrace;
  std::string path;
};

struct Arguments {
  std::vector<std::string> traces;
  std::vector<std::string> saccts;
  std::vector<std::string> workloads;
  std::string cluster;
  bool json = false;
  bool regret = false;
  bool limits = false;
  std::string alternatives = kGrootAlternatives;
  size_t moments = RegretOptions{}.moments;
  BackTestOptions options;
};

int Complain(const std::string& message) {
  std::fputs(("gpuadvise-backtest: " + message + "\n").c_str(), stderr);
  return kExitUsage;
}

std::vector<LogPath> ListLogs(const Arguments& arguments) {
  std::vector<LogPath> logs;
  for (const std::string& path : arguments.traces) logs.push_back({LogKind::kTrace, path});
  for (const std::string& path : arguments.saccts) logs.push_back({LogKind::kSacct, path});
  for (const std::string& path : arguments.workloads) logs.push_back({LogKind::kWorkload, path});
  return logs;
}

Result<JobLog> ReadLog(const LogPath& from, const Snapshot& cluster) {
  const auto text = ReadLogFile(from.path);
  if (!text) return tl::unexpected(text.error());
  auto log = from.kind == LogKind::kTrace   ? ParseCsvLog(text->text, from.path)
             : from.kind == LogKind::kSacct ? ParseSacctLog(text->text, from.path)
                                            : PlayWorkload(text->text, from.path, cluster);
  if (log && !text->cut_off.empty()) {
    log->Repair(fmt::format("the file is cut off ({}); what is there is used", text->cut_off), 0);
  }
  return log;
}

void ShowProgress(size_t done, size_t of) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fputs(fmt::format("\r{:3} %", 100 * done / of).c_str(), stderr);
}

void EndProgress() {
  if (isatty(STDERR_FILENO) != 0) std::fputs("\r     \r", stderr);
}

int RunScores(const Arguments& arguments, const JobLog& log, const Snapshot& cluster) {
  const auto start = std::chrono::steady_clock::now();
  BackTestResult result = RunBackTest(log, cluster, arguments.options, ShowProgress);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  result.wall_seconds = wall.count();
  EndProgress();
  if (result.jobs.empty()) return Complain("nothing to score: see --partition, --from and --to");
  const std::string text =
      arguments.json ? ReportJson(log, result).dump(1) + "\n" : ReportTable(log, result);
  std::fputs(text.c_str(), stdout);
  return 0;
}

int RunLimitAdvice(const Arguments& arguments, const JobLog& log, const Snapshot& cluster) {
  const LimitsResult result = RunLimits(log, cluster, arguments.options, ShowProgress);
  EndProgress();
  const FollowedDay followed = FollowEverybody(log, cluster, result);
  const std::string text =
      arguments.json ? LimitsJson(result, followed).dump(1) + "\n" : LimitsTable(result, followed);
  std::fputs(text.c_str(), stdout);
  return 0;
}

int RunRegrets(const Arguments& arguments, const std::vector<LogPath>& paths,
               const std::vector<JobLog>& logs, const Snapshot& cluster) {
  auto alternatives = ParseAlternatives(arguments.alternatives);
  if (!alternatives) return Complain(alternatives.error().message);
  const RegretOptions options{std::move(*alternatives), arguments.moments, arguments.options};
  std::vector<RankingCase> all;
  nlohmann::json days = nlohmann::json::array();
  for (size_t day = 0; day < logs.size(); ++day) {
    const auto cases = RunRegret(logs[day], cluster, day, options, ShowProgress);
    EndProgress();
    if (!cases) return Complain(cases.error().message);
    if (arguments.json) {
      days.push_back(RegretJson(*cases));
      days.back()["log"] = paths[day].path;
    } else {
      std::fputs((paths[day].path + ": " + RegretTable(*cases)).c_str(), stdout);
    }
    all.insert(all.end(), cases->begin(), cases->end());
  }
  if (arguments.json) {
    const nlohmann::json report = {{"regret", {{"all", RegretJson(all)}, {"days", days}}}};
    std::fputs((report.dump(1) + "\n").c_str(), stdout);
  } else if (logs.size() > 1) {
    std::fputs(("all: " + RegretTable(all)).c_str(), stdout);
  }
  return 0;
}

int Run(const Arguments& arguments) {
  const auto document = LoadYamlFile(arguments.cluster);
  if (!document) return Complain(document.error().message);
  const auto cluster = ClusterOf(*document);
  if (!cluster) return Complain(Describe(cluster.error(), arguments.cluster, *document));
  const std::vector<LogPath> paths = ListLogs(arguments);
  if (paths.empty()) return Complain("name a log with --trace, --sacct or --workload");
  if (paths.size() > 1 && !arguments.regret) {
    return Complain("one log at a time is scored; several are for --regret");
  }
  std::vector<JobLog> logs;
  for (const LogPath& path : paths) {
    auto log = ReadLog(path, *cluster);
    if (!log) return Complain(log.error().message);
    logs.push_back(std::move(*log));
  }
  if (arguments.regret) return RunRegrets(arguments, paths, logs, *cluster);
  if (arguments.limits) return RunLimitAdvice(arguments, logs.front(), *cluster);
  return RunScores(arguments, logs.front(), *cluster);
}

}  // namespace
}  // namespace gpuadvise::backtest

int main(int argc, char** argv) {
  gpuadvise::backtest::Arguments arguments;
  gpuadvise::backtest::BackTestOptions& options = arguments.options;
  options.threads = std::max(std::thread::hardware_concurrency(), 1U);
  int64_t again_minutes = 0;
  CLI::App app("Replays a job log through the forecast and says how right it would have been.");
  app.footer("A site's own log for --sacct:\n  " + std::string(gpuadvise::backtest::kSacctCommand));
  app.add_option("--trace", arguments.traces, "job log, CSV or CSV.gz");
  app.add_option("--sacct", arguments.saccts, "job log as sacct prints it");
  app.add_option("--workload", arguments.workloads,
                 "a made day (t_s,user,gres,nodes,limit_min,runtime_s), played by the simulation");
  app.add_option("--cluster", arguments.cluster, "the log's cluster, YAML")->required();
  app.add_option("--from", options.from, "score from this share of the log on")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--to", options.to, "score up to this share of the log")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--partition", options.partition, "score only this partition's jobs");
  app.add_option("--sample", options.sample, "forecast only this share of the submissions")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--seed", options.seed, "of all that is random");
  app.add_option("--samples", options.samples, "of the simulation, for each submission")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--play-once-from", options.play_once_from,
                 "longer queues are played once for all questions, as the daemon does it")
      ->capture_default_str();
  app.add_option("--again", again_minutes, "ask every so many minutes about all that wait")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--threads", options.threads, "default: as many as there are cores")
      ->check(CLI::Range(1U, 1024U));
  app.add_flag("--regret", arguments.regret,
               "what choosing among --alternatives by the forecast costs, beside simple choices");
  app.add_flag("--limits", arguments.limits,
               "what following the advice on time limits brings, job by job");
  app.add_option("--alternatives", arguments.alternatives,
                 "ways to run a training job: GPU:COUNT=HOURS,...")
      ->capture_default_str();
  app.add_option("--moments", arguments.moments, "training jobs put into each log, with --regret")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app.add_flag("--json", arguments.json, "print JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : gpuadvise::backtest::kExitUsage;
  }
  constexpr int64_t kMinute = 60;
  options.again_seconds = again_minutes * kMinute;
  return gpuadvise::backtest::Run(arguments);
}
