#include "client/commands/doctor_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "client/commands/report.h"
#include "client/commands/script_source.h"
#include "client/commands/shared_options.h"
#include "client/preflight/preflight.h"
#include "client/records/slurm_query.h"
#include "client/sbatch/job_choice.h"
#include "client/terminal/printable.h"
#include "client/views/check_view.h"
#include "common/api/accounts.h"
#include "common/api/accuracy.h"
#include "common/base/version.h"
#include "common/base/words.h"
#include "common/process/run_program.h"
#include "common/slurm/accounted_job.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

struct DoctorCommand {
  AdviceQuestion question;  // without a file: only what an answer needs
  bool site = false;        // what the forecast makes of the site's slurm.conf instead
};

Check VersionCheck(const api::Meta& meta, const Surroundings& around) {
  const std::string& version = meta.version;
  if (version == around.client_version) return {Health::kOk, "daemon", "gpuadvised " + version};
  return {Health::kWarning, "daemon",
          "gpuadvised " + version + ", but this client is " + around.client_version +
              "; install the same version of both"};
}

Check DataCheck(const api::Answer<api::Health>& health) {
  if (health.status == "standby") {
    return {Health::kOk, "data", "a standby: another daemon holds the history and answers"};
  }
  const api::Meta& meta = health.frame.meta;
  const std::string about = ClusterAndAge(health.frame) + ", from " + meta.source.value_or("");
  const std::string cause = health.cause.empty() ? meta.stale_cause.value_or("") : health.cause;
  if (health.status != "stale" && cause.empty()) return {Health::kOk, "data", about};
  return {Health::kWarning, "data",
          about + ": " + cause + "; answers use the last data, see gpuadvised's log"};
}

Check HistoryCheck(const api::HistoryState& history) {
  const std::string problem = history.problem.value_or("");
  if (!problem.empty()) return {Health::kWarning, "history", "not kept: " + problem};
  const api::HistoryInfo info = history.info.value_or(api::HistoryInfo());
  std::string finding = fmt::format("{}{:.1f} MB", info.file.empty() ? "" : info.file + ", ",
                                    static_cast<double>(info.bytes) / 1e6);
  if (info.max_bytes > 0)
    finding += fmt::format(" of {:.0f}", static_cast<double>(info.max_bytes) / 1e6);
  finding += ", " + Plural(info.jobs, "job");
  if (const auto age = info.oldest_age_seconds) {
    finding += ", the oldest submitted " + DurationInWords(static_cast<double>(*age)) + " ago";
  }
  return {Health::kOk, "history", finding};
}

void AddDaemonChecks(const api::Answer<api::Health>& health, const Surroundings& around,
                     std::vector<Check>& checks) {
  const api::Meta& meta = health.frame.meta;
  checks.push_back(VersionCheck(meta, around));
  checks.push_back(DataCheck(health));
  if (!health.passed_over.empty()) {
    checks.push_back(
        {Health::kWarning, "source", meta.source.value_or("") + " is used; " + health.passed_over});
  }
  if (!meta.unseen.empty()) checks.push_back({Health::kWarning, "rights", meta.unseen});
  checks.push_back(HistoryCheck(health.history));
  for (const std::string& problem : health.site_problems) {
    if (problem != around.accounting_problem) checks.push_back({Health::kWarning, "site", problem});
  }
}

Check SbatchCheck(const Surroundings& around) {
  if (around.sbatch.empty()) {
    return {Health::kError, "sbatch",
            "not in PATH; `submit` needs a login node, or `module load slurm`"};
  }
  if (around.sbatch_version.empty()) {
    return {Health::kError, "sbatch", around.sbatch + " does not run; check `sbatch --version`"};
  }
  return {Health::kOk, "sbatch", around.sbatch + ", " + around.sbatch_version};
}

Check SlurmConfCheck(const Surroundings& around) {
  if (around.slurm_conf.empty()) {
    return {Health::kWarning, "slurm.conf",
            "none found; fine where Slurm runs configless, otherwise set SLURM_CONF"};
  }
  if (!around.slurm_conf_readable) {
    return {Health::kError, "slurm.conf",
            around.slurm_conf + " is not readable; ask for mode 0644"};
  }
  return {Health::kOk, "slurm.conf", around.slurm_conf};
}

Check SettingsCheck(const Surroundings& around) {
  if (around.settings_files.empty()) return {Health::kOk, "settings", "none, defaults are used"};
  return {Health::kOk, "settings", JoinNames(around.settings_files)};
}

std::string SlurmConfPath() {
  if (const char* variable = std::getenv("SLURM_CONF"); variable != nullptr && *variable != '\0') {
    return variable;
  }
  for (const char* path : {"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf",
                           "/usr/local/etc/slurm.conf", "/run/slurm/conf/slurm.conf"}) {
    if (::access(path, F_OK) == 0) return path;
  }
  return {};
}

int Show(const std::vector<Check>& checks, Console& console) {
  if (console.style().json) PrintJson({{"checks", ChecksJson(checks)}}, console);
  for (const Check& check : checks) {
    if (!console.style().json) console.Print(CheckText(check, console.style()));
  }
  return HasError(checks) ? kExitError : kExitOk;
}

// Without an answer the file's own checks still say something.
std::vector<Check> WithoutStrategy(std::vector<Check> why, const TrainFile& file,
                                   const AdviceQuestion& question, Site& site) {
  std::vector<Check> checks = CheckFile(file.spec(), question.fixed, site).checks;
  std::move(why.begin(), why.end(), std::back_inserter(checks));
  return checks;
}

std::vector<Check> CheckTrainFile(const TrainFile& file, const AdviceQuestion& question, Api& api,
                                  const JobSubmission& submission, int64_t now) {
  const Result<json> answer = AskForAdvice(api, file, question, now);
  if (!answer) {
    std::vector<Check> why = {{Health::kError, "advice", answer.error().message}};
    return WithoutStrategy(std::move(why), file, question, submission.site);
  }
  const auto advice = ReadAnswer<api::Advice>(*answer);
  if (advice.strategies.empty()) {
    return WithoutStrategy(RejectionChecks(advice.rejected), file, question, submission.site);
  }
  const Result<Choice> choice =
      Choose({0, question.fixed, {}}, file, *answer, submission.job_template);
  if (!choice) {
    return WithoutStrategy({{Health::kError, "command", choice.error().message}}, file, question,
                           submission.site);
  }
  return CheckJob(file.spec(), *choice, submission.site, &submission.runner, now).checks;
}

std::string FirstLine(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return Printable(text);
}

}  // namespace

Surroundings FindSurroundings(const SettingsPlaces& places, const std::string& daemon) {
  Surroundings around;
  around.client_version = kVersion;
  around.daemon = daemon;
  around.settings_files = SettingsFiles(places);
  around.sbatch = FindInPath("sbatch", std::getenv("PATH"));
  if (!around.sbatch.empty()) {
    const auto printed = RunProgram(around.sbatch, {"--version"}, "", ChildErrors::kDiscarded);
    if (printed) around.sbatch_version = FirstLine(*printed);
    const auto jobs = SystemSlurmQuery().Ask("sacct", {"-n", "-X", "-S", "now"});
    if (!jobs) around.accounting_problem = WithoutAccounting(Printable(jobs.error().message));
  }
  around.slurm_conf = SlurmConfPath();
  around.slurm_conf_readable = ::access(around.slurm_conf.c_str(), R_OK) == 0;
  return around;
}

std::vector<Check> CheckHealth(Api& api, const Surroundings& around) {
  std::vector<Check> checks;
  const char* const place = around.daemon.starts_with('/') ? "socket" : "address";
  const Result<json> health = api.Get("/healthz");
  if (health) {
    checks.push_back({Health::kOk, place, around.daemon});
    AddDaemonChecks(ReadAnswer<api::Health>(*health), around, checks);
  } else {
    checks.push_back({Health::kError, "daemon", health.error().message});
  }
  checks.push_back(SbatchCheck(around));
  if (!around.accounting_problem.empty()) {
    checks.push_back({Health::kWarning, "accounting", around.accounting_problem});
  }
  checks.push_back(SlurmConfCheck(around));
  checks.push_back(SettingsCheck(around));
  return checks;
}

int RunDoctor(Api& api, const Surroundings& around, Console& console) {
  std::vector<Check> checks = CheckHealth(api, around);
  const Result<json> record = api.Get("/v1/accuracy");
  const std::string note = record ? ReadAnswer<api::Accuracy>(*record).note : "";
  if (!note.empty()) checks.push_back({Health::kOk, "forecast", note});
  return Show(checks, console);
}

int RunDoctorOfSite(Api& api, Console& console) {
  return PrintAnswer<api::Site>(api.Get("/v1/site"), console, SiteText);
}

int RunDoctorOfFile(const AdviceQuestion& question, Api& api, const JobSubmission& submission,
                    const Surroundings& around, Console& console) {
  const Result<TrainFile> file = LoadTraining(question, {}, console);
  if (!file) return Report(file.error(), console);
  std::vector<Check> checks = CheckHealth(api, around);
  std::vector<Check> of_file = CheckTrainFile(*file, question, api, submission, console.now());
  std::move(of_file.begin(), of_file.end(), std::back_inserter(checks));
  return Show(checks, console);
}

namespace {

void AddOptions(DoctorCommand& command, Options& options) {
  AddAdviceQuestion(options, command.question);
  options.Flag("--site", command.site,
               "Show how the forecast uses this site's slurm.conf, key by key");
  options.JsonAndPlace();
}

int Run(DoctorCommand& command, const CommandContext& context) {
  Api& api = context.api;
  Console& console = context.console;
  const bool has_file = !command.question.file.empty();
  if (command.site && has_file) {
    return Report({ErrorCode::kBadInput, "--site is about the cluster: leave out FILE", ""},
                  console);
  }
  if (command.site) return RunDoctorOfSite(api, console);
  const Surroundings around = FindSurroundings(context.places, context.settings.daemon.InWords());
  if (!has_file) return RunDoctor(api, around, console);
  const Result<JobSubmission> submission = FindSubmission(context);
  if (!submission) return Report(submission.error(), console);
  return RunDoctorOfFile(command.question, api, *submission, around, console);
}

}  // namespace

Command MakeDoctorCommand() {
  return MakeCommand<DoctorCommand>("doctor", "Check the installation, or a training file",
                                    AddOptions, Run);
}

}  // namespace gpuadvise::client
