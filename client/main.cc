// gpuadvise: reads the command line and runs its command.
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/api/exit_code.h"
#include "client/clusters/cluster_runner.h"
#include "client/clusters/clusters_api.h"
#include "client/commands/command_line.h"
#include "client/commands/report.h"
#include "client/commands/system_names.h"
#include "client/preflight/system_site.h"
#include "common/process/last_words.h"

namespace gpuadvise::client {
namespace {

// Of -M: the clusters behind one Api.
Result<std::unique_ptr<Api>> ClustersOf(const CommonOptions& common, const ClientSettings& settings,
                                        Console& console) {
  if (!common.place.socket.empty() || !common.place.daemon.empty()) {
    return BadInput("-M asks the clusters of client.yaml: leave out --socket and --daemon");
  }
  Result<std::vector<Cluster>> chosen = ChooseClusters(settings.clusters, common.clusters);
  if (!chosen) return tl::unexpected<Error>(std::move(chosen.error()));
  return std::make_unique<ClustersApi>(std::move(*chosen), [&console](const std::string& sentence) {
    console.Complain("gpuadvise: " + sentence);
  });
}

int Run(const CommandLine& line, Console& console) {
  SettingsPlaces places = PlacesFromEnvironment(line.common.place);
  Result<ClientSettings> settings =
      line.command.needs_settings ? FindSettings(places) : ClientSettings{};
  if (!settings) return Report(settings.error(), console);
  const DaemonAddress daemon = settings->daemon;
  if (settings->own_daemon && !line.common.json && ::isatty(STDERR_FILENO) == 1) {
    console.Complain("gpuadvise: your own gpuadvised answers, at " + daemon.places.front());
  }
  Result<std::unique_ptr<Api>> api = line.common.clusters.empty()
                                         ? std::make_unique<DaemonClient>(daemon)
                                         : ClustersOf(line.common, *settings, console);
  if (!api) return Report(api.error(), console);
  SystemSlurmQuery slurm;
  ClusterRunner runner(settings->clusters);
  SystemSite site = SystemSite::OfThisProcess();
  return line.command.run({.console = console,
                           .api = **api,
                           .slurm = slurm,
                           .runner = runner,
                           .site = site,
                           .places = std::move(places),
                           .settings = std::move(*settings),
                           .environment = VariablesOfThisProcess(),
                           .api_within =
                               [&daemon](std::chrono::milliseconds patience) {
                                 return std::make_unique<DaemonClient>(daemon, patience);
                               },
                           .user_name = OwnUserName,
                           .group_names = OwnGroupNames,
                           .sleep =
                               [](double seconds) {
                                 std::this_thread::sleep_for(
                                     std::chrono::duration<double>(seconds));
                               }});
}

// Help or the version to standard output, or what is wrong with the command line.
int LeaveEarly(const EarlyExit& early, Console& console) {
  if (early.exit_code != kExitOk) return Report(BadInput(early.text).value(), console);
  console.Print(early.text);
  return kExitOk;
}

}  // namespace
}  // namespace gpuadvise::client

int main(int argc, char** argv) {
  using namespace gpuadvise::client;
  gpuadvise::ReportUncaughtExceptions("gpuadvise");
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto line = ParseCommandLine(arguments);
  SystemConsole console(line ? line->common.json : WantsJson(arguments));
  return console.Finish(line ? Run(*line, console) : LeaveEarly(line.error(), console));
}
