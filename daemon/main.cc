// gpuadvised: watches a Slurm cluster and answers where a job would finish first.
//
// Exit codes: 0 stopped as asked, 1 cannot start, 2 bad settings or usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/daemon.h"
#include "daemon/knowledge.h"
#include "daemon/logging.h"
#include "daemon/settings_file.h"
#include "daemon/sources.h"
#include "daemon/version.h"

namespace gpuadvise {
namespace {

constexpr int kCannotStart = 1;
constexpr int kBadSettings = 2;

int Complain(const Error& error, int status) {
  fmt::print(stderr, "gpuadvised: {}\n", error.message);
  return status;
}

/// Says what would be used, in the file's own words.
int CheckConfig(const LoadedSettings& loaded) {
  const Result<std::shared_ptr<const Knowledge>> knowledge = LoadKnowledge(loaded.settings);
  if (!knowledge) return Complain(knowledge.error(), kBadSettings);
  const Result<std::string> collector = FindCollector(loaded.settings.collector, OwnPath());
  if (!collector) return Complain(collector.error(), kBadSettings);
  fmt::print("# from {}\n", loaded.file.empty() ? "the built-in defaults" : loaded.file);
  const nlohmann::json shown = SettingsToJson(loaded.settings);
  for (const std::string& key : SettingsKeys()) fmt::print("{}: {}\n", key, shown[key].dump());
  for (const CollectorCandidate& candidate : PlanFor(loaded.settings, *collector).candidates) {
    fmt::print("# collector: {}\n", fmt::join(candidate.command.arguments, " "));
  }
  const Result<std::optional<HistoryInfo>> history = History::InfoOf(loaded.settings.state_dir);
  if (!history) return Complain(history.error(), kBadSettings);
  fmt::print("# history: {}\n", *history ? HistoryInWords(**history, SystemClock().Now())
                                         : "none yet in " + loaded.settings.state_dir);
  return 0;
}

int Serve(const CommandLineSettings& command_line, LoadedSettings loaded) {
  StartLogging();
  SetLogLevel(loaded.settings.log_level);
  std::signal(SIGPIPE, SIG_IGN);
  Result<std::unique_ptr<Daemon>> daemon = Daemon::Make(command_line, std::move(loaded));
  if (!daemon) return Complain(daemon.error(), kCannotStart);
  (*daemon)->Run();
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app("Watches a Slurm cluster and answers where a training job would finish first.",
               "gpuadvised");
  CommandLineSettings command_line;
  bool check = false;
  bool foreground = true;
  app.add_option("--config", command_line.config,
                 fmt::format("settings file (default: {})", kDefaultSettingsFile));
  app.add_option("--socket", command_line.socket, "Unix socket to answer on");
  app.add_option("--source", command_line.source, "auto, slurm-api, slurm-cli, sim or replay:FILE");
  app.add_option("--state-dir", command_line.state_dir, "folder for what survives a restart");
  app.add_flag("--check-config", check,
               "say what would be used, and end: 0 if it is sound, 2 if not");
  app.add_flag("--foreground", foreground, "stay in the foreground (always so)");
  app.set_version_flag("--version", fmt::format("gpuadvised {}", kVersion));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadSettings;
  }
  Result<LoadedSettings> loaded = LoadSettings(command_line);
  if (!loaded) return Complain(loaded.error(), kBadSettings);
  return check ? CheckConfig(*loaded) : Serve(command_line, std::move(*loaded));
}

}  // namespace
}  // namespace gpuadvise

int main(int argc, char** argv) { return gpuadvise::Main(argc, argv); }
