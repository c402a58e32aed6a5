// gpuadvise: reads the command line, asks gpuadvised, shows the answer, submits.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/api/exit_code.h"
#include "client/clusters/cluster_runner.h"
#include "client/clusters/clusters_api.h"
#include "client/commands/command_line.h"
#include "client/commands/commands.h"
#include "client/commands/complete_command.h"
#include "client/commands/doctor_command.h"
#include "client/commands/help_topics.h"
#include "client/commands/system_names.h"
#include "client/commands/user_settings.h"
#include "client/notify/notice.h"
#include "client/preflight/hub_login.h"
#include "client/preflight/system_site.h"
#include "client/terminal/console.h"
#include "client/terminal/users_language.h"
#include "client/top/top_screen.h"

namespace gpuadvise::client {
namespace {

int Submit(const CommandLine& line, const SettingsPlaces& places,
           const std::vector<Cluster>& clusters, Api& api, Console& console) {
  const Result<std::string> job_template = FindJobTemplate(places);
  if (!job_template) return Report(job_template.error(), console);
  ClusterRunner runner(clusters);
  SystemSite site = SystemSite::OfThisProcess();
  return RunSubmit(line.submit, api, {runner, site, *job_template}, console);
}

int Doctor(const CommandLine& line, const SettingsPlaces& places, const std::string& socket,
           Api& api, Console& console) {
  if (line.doctor.site && !line.doctor.question.file.empty()) {
    return Report({ErrorCode::kBadInput, "--site is about the cluster: leave out FILE", ""},
                  console);
  }
  if (line.doctor.site) return RunDoctorOfSite(line.doctor.json, api, console);
  const Surroundings around = FindSurroundings(places, socket);
  if (line.doctor.question.file.empty()) {
    return RunDoctor(line.doctor.json, api, around, console);
  }
  const Result<std::string> job_template = FindJobTemplate(places);
  if (!job_template) return Report(job_template.error(), console);
  SbatchRunner runner;
  SystemSite site = SystemSite::OfThisProcess();
  return RunDoctorOfFile(line.doctor, api, {runner, site, *job_template}, around, console);
}

WatchPlace WatchHere() {
  return {OwnUserName(), ::isatty(STDOUT_FILENO) == 1,
          [](int64_t seconds) { std::this_thread::sleep_for(std::chrono::seconds(seconds)); }};
}

// A watch without messages is a watch all the same: what is wrong with them is said.
WatchPlace WatchAndTell(const WatchCommand& command, const SettingsPlaces& places,
                        Console& console) {
  WatchPlace place = WatchHere();
  if (!command.notify || places.folders.empty()) return place;
  const std::string file = places.folders.front() + "/notify.yaml";
  Result<NotifySettings> settings = ReadNotifySettings(file);
  if (!settings) {
    console.Complain("gpuadvise: " + settings.error().message + "; no messages are sent");
    return place;
  }
  if (!settings->warning.empty()) console.Complain("gpuadvise: " + settings->warning);
  place.tell = [settings = *std::move(settings), tools = ToolsOfThisProcess(),
                job = command.job_id](const std::string& event, const std::string& text) {
    return SendNotice(settings, NoticeOf(event, job, text), tools);
  };
  return place;
}

int Select(const CommandLine& line, const DaemonAddress& daemon, Console& console) {
  DaemonClient api(
      daemon, std::chrono::milliseconds(static_cast<int64_t>(line.select.timeout_seconds * 1000)));
  SelectCommand command = line.select;
  command.groups = OwnGroupNames();
  if (command.groups.empty()) {
    console.Complain(
        "the names of your groups are not known here: partitions with AllowGroups are left out");
  }
  return RunSelect(command, api, console);
}

// What an option says goes before the settings.
void AddFrom(const OwnCatalogues& settings, OwnCatalogues& own) {
  if (own.gpus_file.empty()) own.gpus_file = settings.gpus_file;
  if (own.models_file.empty()) own.models_file = settings.models_file;
}

int Fit(const CommandLine& line, const OwnCatalogues& own, Api& api, Console& console) {
  FitCommand command = line.fit;
  AddFrom(own, command.source.own);
  command.source.hub_cache = LookForHubLogin(VariablesOfThisProcess()).cache;
  return RunFit(command, api, console);
}

int Scale(const CommandLine& line, const OwnCatalogues& own, Api& api, Console& console) {
  ScaleCommand command = line.scale;
  AddFrom(own, command.source.own);
  command.source.hub_cache = LookForHubLogin(VariablesOfThisProcess()).cache;
  return RunScale(command, api, console);
}

std::string OwnPath() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

int Complete(const std::vector<std::string>& words, Console& console) {
  const Result<ClientSettings> settings = FindSettings(PlacesFromEnvironment(""));
  const CompletionPlace place{
      OwnUserName(), settings ? settings->own : OwnCatalogues{}, [&](const std::string& socket) {
        DaemonAddress daemon = settings ? settings->daemon() : DaemonAddress(kDefaultSocket);
        if (!socket.empty()) daemon.place = socket;
        return std::make_unique<DaemonClient>(daemon, kCompletionPatience);
      }};
  return RunComplete(words, place, console);
}

// Of -M: the clusters behind one Api.
Result<std::unique_ptr<Api>> ClustersOf(const CommandLine& line, const ClientSettings& settings,
                                        Console& console) {
  if (!line.socket.empty()) {
    return BadInput("-M asks the clusters of client.yaml: leave out --socket");
  }
  Result<std::vector<Cluster>> chosen = ChooseClusters(settings.clusters, line.clusters);
  if (!chosen) return tl::unexpected<Error>(std::move(chosen.error()));
  return std::make_unique<ClustersApi>(std::move(*chosen), [&console](const std::string& sentence) {
    console.Complain("gpuadvise: " + sentence);
  });
}

int Run(const CommandLine& line, Console& console) {
  if (line.verb == Verb::kHelp) return RunHelp(line.topic, console);
  const SettingsPlaces places = PlacesFromEnvironment(line.socket);
  const Result<ClientSettings> settings = FindSettings(places);
  if (!settings) return Report(settings.error(), console);
  const std::string& socket = settings->socket;
  const DaemonAddress daemon = settings->daemon();
  if (settings->own_daemon && !line.json && ::isatty(STDERR_FILENO) == 1) {
    console.Complain("gpuadvise: your own gpuadvised answers, at " + socket);
  }
  ListCommand list = line.list;
  AddFrom(settings->own, list.own);
  // A training's output does not wait for a daemon that hangs.
  DaemonClient own = line.verb == Verb::kRun ? DaemonClient(daemon, std::chrono::seconds(1))
                                             : DaemonClient(daemon);
  std::unique_ptr<Api> several;
  if (!line.clusters.empty()) {
    Result<std::unique_ptr<Api>> made = ClustersOf(line, *settings, console);
    if (!made) return Report(made.error(), console);
    several = std::move(*made);
  }
  Api& api = several ? *several : own;
  switch (line.verb) {
    case Verb::kAdvise:
      return RunAdvise(line.advise, api, console);
    case Verb::kSubmit:
      return Submit(line, places, settings->clusters, api, console);
    case Verb::kWhen:
      return RunWhen(line.when, api, console);
    case Verb::kSelect:
      return Select(line, daemon, console);
    case Verb::kFit:
      return Fit(line, settings->own, api, console);
    case Verb::kScale:
      return Scale(line, settings->own, api, console);
    case Verb::kModels:
      return RunModels(list, console);
    case Verb::kCards:
      return RunCards(list, api, console);
    case Verb::kReference:
      return RunReference(line.list, console);
    case Verb::kRun:
      return RunRun(line.run, api, console);
    case Verb::kProbe:
      return RunProbe(line.probe, OwnPath(), api, console);
    case Verb::kGpus:
      return RunGpus(line.json, api, console);
    case Verb::kQueue: {
      QueueCommand queue = line.queue;
      queue.own_user = OwnUserName();
      return RunQueue(queue, api, console);
    }
    case Verb::kWhy:
      return RunWhy(line.job_id, line.json, api, console);
    case Verb::kAccuracy:
      return RunAccuracy(line.json, api, console);
    case Verb::kJobs:
      return RunJobs(line.jobs, api, console);
    case Verb::kLimits:
      return RunLimits(line.limits, api, console);
    case Verb::kWatch:
      return RunWatchJob(line.watch, WatchAndTell(line.watch, places, console), api, console);
    case Verb::kTop: {
      const Result<std::unique_ptr<TopScreen>> screen = OpenTopScreen();
      if (!screen) return Report(screen.error(), console);
      SystemSlurmQuery slurm;
      DaemonClient patient(daemon, std::chrono::seconds(2));
      return RunTop(OwnUserName(), **screen, slurm, patient, console);
    }
    case Verb::kLogs: {
      SystemSlurmQuery slurm;
      const auto sleep = [](double seconds) {
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      };
      return RunLogs(line.logs, slurm, sleep, console);
    }
    case Verb::kEff: {
      SystemSlurmQuery slurm;
      EffCommand eff = line.eff;
      eff.own_user = OwnUserName();
      eff.metrics = settings->metrics;
      return RunEff(eff, slurm, api, console);
    }
    case Verb::kDoctor:
      return Doctor(line, places, socket, api, console);
    case Verb::kInit:
      return RunInit(line.init, api, console);
    case Verb::kMcp:
      return RunMcp(OwnPath(), line.socket);
    case Verb::kHelp:
      break;  // needs no settings
  }
  return kExitError;
}

// Help or the version to standard output, or what is wrong with the command line.
int LeaveEarly(const EarlyExit& early, Console& console) {
  if (early.exit_code != kExitOk) return Report(BadInput(early.text).value(), console);
  console.Print(early.text);
  return kExitOk;
}

// Whether the output is for a program, which reads English: JSON, CSV, a page, options for sbatch.
bool ForPrograms(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::any_of(arguments.begin(), end, [](const std::string& word) {
    return word == "--json" || word == "--csv" || word == "--markdown" || word == "select";
  });
}

}  // namespace
}  // namespace gpuadvise::client

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "complete") {  // of the shells, not in --help
    gpuadvise::client::SystemConsole console(false);
    const std::vector<std::string> words(arguments.begin() + 1, arguments.end());
    return console.Finish(gpuadvise::client::Complete(words, console));
  }
  if (!gpuadvise::client::ForPrograms(arguments)) {
    gpuadvise::client::ChooseLanguage(gpuadvise::client::WantedLanguage(
        [](const char* name) -> const char* { return std::getenv(name); }));
  }
  const auto line = gpuadvise::client::ParseCommandLine(arguments);
  gpuadvise::client::SystemConsole console(line ? line->json
                                                : gpuadvise::client::WantsJson(arguments));
  if (line) return console.Finish(gpuadvise::client::Run(*line, console));
  return console.Finish(gpuadvise::client::LeaveEarly(line.error(), console));
}
