// gpuadvise-backtest: the accuracy that forecasts would have had on a log.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "backtest/back_test.h"
#include "backtest/cluster_file.h"
#include "backtest/follow.h"
#include "backtest/job_log.h"
#include "backtest/report.h"
#include "backtest/workload.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::backtest {
namespace {

constexpr int kExitUsage = 2;

struct Arguments {
  std::string trace, sacct, workload;  // exactly one is set
  std::string cluster;
  bool json = false;
  BackTestOptions options;
  std::string follow;  // a rule; "": score forecasts
  double courtesy = 0;
};

int Complain(const std::string& message) {
  std::fputs(("gpuadvise-backtest: " + message + "\n").c_str(), stderr);
  return kExitUsage;
}

Result<JobLog> ReadLog(const Arguments& arguments, const Snapshot& cluster) {
  const std::string path = arguments.trace + arguments.sacct + arguments.workload;
  const auto text = ReadLogFile(path);
  if (!text) return tl::unexpected(text.error());
  auto log = !arguments.trace.empty()   ? ParseCsvLog(text->text, path)
             : !arguments.sacct.empty() ? ParseSacctLog(text->text, path)
                                        : SimulateWorkload(text->text, path, cluster);
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

// Prints what a day gives to everybody when all trainings choose by one rule.
int RunFollow(const Arguments& arguments, const Snapshot& cluster) {
  const auto text = ReadLogFile(arguments.workload);
  if (!text) return Complain(text.error().message);
  const auto day = ReadWorkload(text->text, arguments.workload, cluster);
  if (!day) return Complain(day.error().message);
  FollowOptions options;
  options.rule = *FollowRuleOf(arguments.follow);
  options.courtesy = arguments.courtesy;
  options.samples = arguments.options.samples;
  options.seed = arguments.options.seed;
  const auto figures = Follow(*day, cluster, options, ShowProgress);
  EndProgress();
  if (!figures) return Complain(figures.error().message);
  std::fputs((figures->dump(1) + "\n").c_str(), stdout);
  return 0;
}

int Run(const Arguments& arguments) {
  const int logs = int{!arguments.trace.empty()} + int{!arguments.sacct.empty()} +
                   int{!arguments.workload.empty()};
  if (logs != 1) return Complain("name one log with --trace, --sacct or --workload");
  const auto document = LoadYamlFile(arguments.cluster);
  if (!document) return Complain(document.error().message);
  const auto cluster = ClusterOf(*document);
  if (!cluster) return Complain(Describe(cluster.error(), arguments.cluster, *document));
  if (!arguments.follow.empty()) return RunFollow(arguments, *cluster);
  const auto log = ReadLog(arguments, *cluster);
  if (!log) return Complain(log.error().message);
  return RunScores(arguments, *log, *cluster);
}

}  // namespace
}  // namespace gpuadvise::backtest

int main(int argc, char** argv) {
  gpuadvise::backtest::Arguments arguments;
  gpuadvise::backtest::BackTestOptions& options = arguments.options;
  options.threads = std::max(std::thread::hardware_concurrency(), 1U);
  int64_t again_minutes = 0;
  CLI::App app(
      "Replays a job log through the forecast and reports how accurate it would have been.");
  app.footer("A site's own log for --sacct:\n  " + std::string(gpuadvise::backtest::kSacctCommand));
  app.add_option("--trace", arguments.trace, "job log, CSV or CSV.gz");
  app.add_option("--sacct", arguments.sacct, "job log as sacct prints it");
  auto* workload = app.add_option(
      "--workload", arguments.workload,
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
  app.add_option("--play-once-from", options.simulate_once_from,
                 "longer queues are played once for all questions, as the daemon does it")
      ->capture_default_str();
  auto* follow =
      app.add_option(
             "--follow", arguments.follow,
             "with --workload: all trainings (rows of its column `training`) choose by this "
             "rule; prints what that gives to them and costs others")
          ->needs(workload)
          ->check(CLI::IsMember({"fastest", "test-only", "median", "advise", "told"}));
  app.add_option("--courtesy", arguments.courtesy, "with --follow advise: as in the settings")
      ->needs(follow)
      ->check(CLI::Range(0.0, 1.0));
  auto* json = app.add_flag("--json", arguments.json, "print JSON");
  app.add_option("--again", again_minutes,
                 "with --json: ask every N minutes about all pending jobs")
      ->needs(json)
      ->check(CLI::Range(1, 10'000));
  app.add_option("--threads", options.threads, "default: as many as there are cores")
      ->check(CLI::Range(1U, 1024U));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : gpuadvise::backtest::kExitUsage;
  }
  constexpr int64_t kMinute = 60;
  options.again_seconds = again_minutes * kMinute;
  return gpuadvise::backtest::Run(arguments);
}
