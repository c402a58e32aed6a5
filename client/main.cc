// gpuadvise: reads the command line, asks gpuadvised, shows the answer, submits.
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <clocale>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "client/api/exit_code.h"
#include "client/commands/command_line.h"
#include "client/commands/commands.h"
#include "client/commands/doctor_command.h"
#include "client/commands/user_settings.h"
#include "client/preflight/hub_login.h"
#include "client/preflight/system_site.h"
#include "client/terminal/console.h"

namespace gpuadvise::client {
namespace {

int Submit(const CommandLine& line, const SettingsPlaces& places, Api& api, Console& console) {
  const Result<std::string> job_template = FindJobTemplate(places);
  if (!job_template) return Report(job_template.error(), console);
  SbatchRunner runner;
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
  const passwd* user = ::getpwuid(::geteuid());
  return {user == nullptr ? "" : user->pw_name, ::isatty(STDOUT_FILENO) == 1,
          [](int64_t seconds) { std::this_thread::sleep_for(std::chrono::seconds(seconds)); }};
}

// The names of this process's groups, as Slurm's AllowGroups has them. Asks the system's user
// database; may block.
std::vector<std::string> OwnGroups() {
  std::vector<gid_t> ids = {::getegid()};
  const int count = ::getgroups(0, nullptr);
  if (count > 0) {
    std::vector<gid_t> more(static_cast<size_t>(count));
    const int got = ::getgroups(count, more.data());
    if (got > 0) ids.insert(ids.end(), more.begin(), more.begin() + got);
  }
  std::vector<std::string> names;
  for (const gid_t id : ids) {
    if (const group* found = ::getgrgid(id); found != nullptr) names.emplace_back(found->gr_name);
  }
  return names;
}

int Select(const CommandLine& line, const std::string& socket, Console& console) {
  DaemonClient api(
      socket, std::chrono::milliseconds(static_cast<int64_t>(line.select.timeout_seconds * 1000)));
  SelectCommand command = line.select;
  command.groups = OwnGroups();
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

int Run(const CommandLine& line, Console& console) {
  const SettingsPlaces places = PlacesFromEnvironment(line.socket);
  const Result<ClientSettings> settings = FindSettings(places);
  if (!settings) return Report(settings.error(), console);
  const std::string& socket = settings->socket;
  ListCommand list = line.list;
  AddFrom(settings->own, list.own);
  // A training's output does not wait for a daemon that hangs.
  DaemonClient api = line.verb == Verb::kRun ? DaemonClient(socket, std::chrono::seconds(1))
                                             : DaemonClient(socket);
  switch (line.verb) {
    case Verb::kAdvise:
      return RunAdvise(line.advise, api, console);
    case Verb::kSubmit:
      return Submit(line, places, api, console);
    case Verb::kWhen:
      return RunWhen(line.when, api, console);
    case Verb::kSelect:
      return Select(line, socket, console);
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
    case Verb::kQueue:
      return RunQueue(line.queue, api, console);
    case Verb::kWhy:
      return RunWhy(line.job_id, line.json, api, console);
    case Verb::kAccuracy:
      return RunAccuracy(line.json, api, console);
    case Verb::kJobs:
      return RunJobs(line.jobs, api, console);
    case Verb::kLimits:
      return RunLimits(line.limits, api, console);
    case Verb::kWatch:
      return RunWatchJob(line.watch, WatchHere(), api, console);
    case Verb::kDoctor:
      return Doctor(line, places, socket, api, console);
    case Verb::kInit:
      return RunInit(line.init, api, console);
  }
  return kExitError;
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
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto line = gpuadvise::client::ParseCommandLine(arguments);
  gpuadvise::client::SystemConsole console(line ? line->json
                                                : gpuadvise::client::WantsJson(arguments));
  if (line) return console.Finish(gpuadvise::client::Run(*line, console));
  return console.Finish(gpuadvise::client::LeaveEarly(line.error(), console));
}
