// gpuadvised: watches a Slurm cluster and answers where a job would finish first.
//
// Exit codes: 0 stopped as asked, 1 cannot start, 2 bad settings or usage.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <getopt.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/version.h"
#include "common/base/words.h"
#include "common/process/last_words.h"
#include "daemon/base/logging.h"
#include "daemon/collector/sources.h"
#include "daemon/daemon.h"
#include "daemon/settings/catalogues.h"
#include "daemon/settings/machine_check.h"
#include "daemon/settings/settings_file.h"

namespace gpuadvise::daemon {
namespace {

constexpr int kCannotStart = 1;
constexpr int kBadSettings = 2;

int Complain(const Error& error, int status) {
  fmt::print(stderr, "gpuadvised: {}\n", error.message);
  for (const Error& each : error.further) fmt::print(stderr, "gpuadvised: {}\n", each.message);
  return status;
}

// Says what would be used, in the file's own words.
int CheckConfig(const LoadedSettings& loaded) {
  const Result<std::shared_ptr<const Catalogues>> catalogues = LoadCatalogues(loaded.settings);
  if (!catalogues) return Complain(catalogues.error(), kBadSettings);
  const Result<std::string> collector = FindCollector(loaded.settings.collector, OwnPath());
  if (!collector) return Complain(collector.error(), kBadSettings);
  fmt::print("# from {}\n", loaded.file.empty() ? "the built-in defaults" : loaded.file);
  const nlohmann::json shown = SettingsToJson(loaded.settings);
  for (const std::string& key : SettingsKeys()) fmt::print("{}: {}\n", key, shown[key].dump());
  for (const std::string& open : SecretsForAll(loaded)) fmt::print("# warning: {}\n", open);
  const std::vector<std::string> missing = MissingOnThisMachine(loaded.settings);
  for (const std::string& sentence : missing) fmt::print(stderr, "gpuadvised: {}\n", sentence);
  for (const CollectorCandidate& candidate : PlanFor(loaded.settings, *collector).candidates) {
    fmt::print("# collector: {}\n", fmt::join(candidate.command.words, " "));
  }
  const std::string& url = loaded.settings.history;
  const Result<std::optional<HistoryInfo>> history =
      url.empty() ? History::InfoOf(loaded.settings.state_dir)
                  : ReadPostgresUrl(url).and_then(
                        [](const PostgresPlace& place) { return History::InfoOf(place); });
  if (!history) return Complain(history.error(), kBadSettings);
  fmt::print("# history: {}\n", *history ? HistoryInWords(**history, SystemClock().Now())
                                         : "none yet in " + (url.empty() ? loaded.settings.state_dir
                                                                         : WithoutPassword(url)));
  return missing.empty() ? 0 : kBadSettings;
}

int Serve(const CommandLineSettings& command_line, const LoadedSettings& loaded) {
  StartLogging();
  SetLogLevel(loaded.settings.log_level);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a bound on the size of files (LimitFSIZE): writing then fails
  for (bool is_taken = true; is_taken;) {  // another one answers now: this one stands by, afresh
    Result<std::unique_ptr<Daemon>> daemon = Daemon::Make(command_line, loaded);
    if (!daemon) return Complain(daemon.error(), kCannotStart);
    is_taken = (*daemon)->Run();
  }
  return 0;
}

constexpr const char* kHelp =
    R"(Watches a Slurm cluster and forecasts where a training job finishes first.
Usage: gpuadvised [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --config TEXT               settings file (default: {})
  --user                      a user's own daemon: socket and history are the user's, Slurm is
                              asked as the user
  --socket TEXT               Unix socket to answer on
  --source TEXT               auto, slurm-api, slurm-cli, slurm-rest, sim or replay:FILE
  --state-dir TEXT            folder for what survives a restart
  --check-config              say what would be used, and end: 0 if it is sound, 2 if not
  --foreground                stay in the foreground (always so)
  --version                   Display program version information and exit

)";

enum OptionCode {
  kHelpAsked = 'h',
  kConfig = 256,
  kSocket,
  kSource,
  kStateDir,
  kCheck,
  kForeground,
  kUser,
  kVersionAsked
};

const option kOptions[] = {{"help", no_argument, nullptr, kHelpAsked},
                           {"config", required_argument, nullptr, kConfig},
                           {"socket", required_argument, nullptr, kSocket},
                           {"source", required_argument, nullptr, kSource},
                           {"state-dir", required_argument, nullptr, kStateDir},
                           {"check-config", no_argument, nullptr, kCheck},
                           {"foreground", no_argument, nullptr, kForeground},
                           {"user", no_argument, nullptr, kUser},
                           {"version", no_argument, nullptr, kVersionAsked},
                           {nullptr, 0, nullptr, 0}};

struct Arguments {
  CommandLineSettings settings;
  bool check = false;
};

int RefuseUsage(const std::string& why) {
  fmt::print(stderr, "{}\nRun with --help for more information.\n", why);
  return kBadSettings;
}

// Where the value of an option goes; nullptr: it has none.
std::string* PlaceOfValue(int code, CommandLineSettings& settings) {
  if (code == kConfig) return &settings.config;
  if (code == kSocket) return &settings.socket;
  if (code == kSource) return &settings.source;
  return code == kStateDir ? &settings.state_dir : nullptr;
}

int RefuseUnexpected(const std::string& argument) {
  if (argument.starts_with("--relay") || argument == "relay-certs") {
    return RefuseUsage(
        "gpuadvised has no relays any more: set listen_tls in the daemon's gpuadvised.yaml, and "
        "daemon: https://HOST:6829 in /etc/gpuadvise/client.yaml of the other hosts "
        "(docs/other-hosts.md).");
  }
  std::vector<std::string> names;
  for (const option& each : kOptions) {
    if (each.name != nullptr) names.push_back(std::string("--") + each.name);
  }
  return RefuseUsage("The following argument was not expected: " + argument +
                     DidYouMean(argument.substr(0, argument.find('=')), names));
}

// Reads the command line into `arguments`. The status to end with at once; nullopt: go on.
std::optional<int> ReadArguments(int argc, char** argv, Arguments& arguments) {
  if (argc > 1 && argv[1][0] != '-') return RefuseUnexpected(argv[1]);
  opterr = 0;
  for (int code = 0; (code = getopt_long(argc, argv, ":h", kOptions, nullptr)) != -1;) {
    if (std::string* place = PlaceOfValue(code, arguments.settings)) {
      *place = optarg;
    } else if (code == kUser) {
      arguments.settings.user = true;
    } else if (code == kCheck) {
      arguments.check = true;
    } else if (code == kHelpAsked) {
      fmt::print(kHelp, kDefaultSettingsFile);
      return 0;
    } else if (code == kVersionAsked) {
      fmt::print("gpuadvised {}\n", kVersion);
      return 0;
    } else if (code == ':') {
      return RefuseUsage(fmt::format("{}: 1 required TEXT missing", argv[optind - 1]));
    } else if (code != kForeground) {
      const bool is_letter = optopt > 0 && optopt < kConfig;
      return RefuseUnexpected(is_letter ? fmt::format("-{:c}", optopt) : argv[optind - 1]);
    }
  }
  if (optind == argc) return std::nullopt;
  return RefuseUnexpected(argv[optind]);
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (const std::optional<int> status = ReadArguments(argc, argv, arguments)) return *status;
  Result<LoadedSettings> loaded = LoadSettings(arguments.settings);
  if (!loaded) return Complain(loaded.error(), kBadSettings);
  return arguments.check ? CheckConfig(*loaded) : Serve(arguments.settings, *loaded);
}

}  // namespace
}  // namespace gpuadvise::daemon

int main(int argc, char** argv) {
  gpuadvise::ReportUncaughtExceptions("gpuadvised");
  return gpuadvise::daemon::Main(argc, argv);
}
