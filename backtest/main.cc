// gpuadvise-backtest: how right would the forecasts have been on this log?
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
#include "backtest/job_log.h"
#include "backtest/log_file.h"
#include "backtest/report.h"
#include "yaml/yaml_file.h"

namespace gpuadvise {
namespace {

constexpr int kExitUsage = 2;

struct Arguments {
  std::string trace;
  std::string sacct;
  std::string cluster;
  bool json = false;
  BackTestOptions options;
};

int Complain(const std::string& message) {
  std::fputs(("gpuadvise-backtest: " + message + "\n").c_str(), stderr);
  return kExitUsage;
}

Result<JobLog> ReadLog(const Arguments& arguments) {
  const bool csv = !arguments.trace.empty();
  const std::string& path = csv ? arguments.trace : arguments.sacct;
  const auto text = ReadLogFile(path);
  if (!text) return tl::unexpected(text.error());
  auto log = csv ? ParseCsvLog(text->text, path) : ParseSacctLog(text->text, path);
  if (log && !text->cut_off.empty()) {
    log->Mend(fmt::format("the file is cut off ({}); what is there is used", text->cut_off), 0);
  }
  return log;
}

void ShowProgress(size_t done, size_t of) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fputs(fmt::format("\r{:3} %", 100 * done / of).c_str(), stderr);
}

int Run(const Arguments& arguments) {
  const auto document = LoadYamlFile(arguments.cluster);
  if (!document) return Complain(document.error().message);
  const auto cluster = ClusterOf(*document);
  if (!cluster) return Complain(Describe(cluster.error(), arguments.cluster, *document));
  const auto log = ReadLog(arguments);
  if (!log) return Complain(log.error().message);
  const auto start = std::chrono::steady_clock::now();
  BackTestResult result = RunBackTest(*log, *cluster, arguments.options, ShowProgress);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  result.wall_seconds = wall.count();
  if (isatty(STDERR_FILENO) != 0) std::fputs("\r     \r", stderr);
  if (result.jobs.empty()) return Complain("nothing to score: see --partition, --from and --to");
  const std::string text =
      arguments.json ? ReportJson(*log, result).dump(1) + "\n" : ReportTable(*log, result);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace gpuadvise

int main(int argc, char** argv) {
  gpuadvise::Arguments arguments;
  gpuadvise::BackTestOptions& options = arguments.options;
  options.threads = std::max(std::thread::hardware_concurrency(), 1U);
  CLI::App app("Replays a job log through the forecast and says how right it would have been.");
  app.footer("A site's own log for --sacct:\n  " + std::string(gpuadvise::kSacctCommand));
  auto* trace = app.add_option("--trace", arguments.trace, "job log, CSV or CSV.gz");
  auto* sacct = app.add_option("--sacct", arguments.sacct, "job log as sacct prints it");
  trace->excludes(sacct);
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
  app.add_option("--threads", options.threads, "default: as many as there are cores")
      ->check(CLI::Range(1U, 1024U));
  app.add_flag("--json", arguments.json, "print JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : gpuadvise::kExitUsage;
  }
  if (arguments.trace.empty() && arguments.sacct.empty()) {
    return gpuadvise::Complain("name a log with --trace or --sacct");
  }
  return gpuadvise::Run(arguments);
}
