#include "client/commands/doctor_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/preflight/preflight.h"
#include "client/sbatch/job_choice.h"
#include "client/terminal/printable.h"
#include "client/views/check_view.h"
#include "common/base/version.h"
#include "common/base/words.h"
#include "process/run_program.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

Check VersionCheck(const json& health, const Surroundings& around) {
  const std::string version = TextOf(ObjectOf(health, "meta"), "version");
  if (version == around.client_version) return {Health::kOk, "daemon", "gpuadvised " + version};
  return {Health::kWarning, "daemon",
          "gpuadvised " + version + ", but this client is " + around.client_version +
              "; install the same version of both"};
}

Check DataCheck(const json& health) {
  const json& meta = ObjectOf(health, "meta");
  const std::string about = ClusterAndAge(health) + ", from " + TextOf(meta, "source");
  std::string cause = TextOf(health, "cause");
  if (cause.empty()) cause = TextOf(meta, "stale_cause");
  if (TextOf(health, "status") != "stale" && cause.empty()) return {Health::kOk, "data", about};
  return {Health::kWarning, "data",
          about + ": " + cause + "; answers use the last data, see gpuadvised's log"};
}

// REQUIRES: `health` says that sources before the one in use were not taken.
Check SourceCheck(const json& health) {
  return {
      Health::kWarning, "source",
      TextOf(ObjectOf(health, "meta"), "source") + " is used; " + TextOf(health, "passed_over")};
}

// REQUIRES: `health` says what of the cluster is not seen.
Check RightsCheck(const json& health) {
  return {Health::kWarning, "rights", TextOf(ObjectOf(health, "meta"), "unseen")};
}

Check HistoryCheck(const json& health) {
  const json& history = ObjectOf(health, "history");
  const std::string problem = TextOf(history, "problem");
  if (!problem.empty()) return {Health::kWarning, "history", problem};
  std::string finding =
      fmt::format("{}, {:.1f} MB", TextOf(history, "file"), NumberOf(history, "bytes") / 1e6);
  if (const auto most = OptionalNumber(history, "max_bytes")) {
    finding += fmt::format(" of {:.0f}", *most / 1e6);
  }
  finding += ", " + Plural(IntOf(history, "jobs"), "job");
  if (const auto age = OptionalNumber(history, "oldest_age_seconds")) {
    finding += ", the oldest submitted " + DurationInWords(*age) + " ago";
  }
  return {Health::kOk, "history", finding};
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

int Show(const std::vector<Check>& checks, bool as_json, Console& console) {
  if (as_json) PrintJson({{"checks", ChecksJson(checks)}}, console);
  for (const Check& check : checks) {
    if (!as_json) console.Print(CheckText(check, console.style()));
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
  if (ListOf(*answer, "strategies").empty()) {
    return WithoutStrategy(AccessChecks(*answer, json::object()), file, question, submission.site);
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

Surroundings FindSurroundings(const SettingsPlaces& places, const std::string& socket) {
  Surroundings around;
  around.client_version = kVersion;
  around.socket = socket;
  around.settings_files = SettingsFiles(places);
  around.sbatch = FindInPath("sbatch", std::getenv("PATH"));
  if (!around.sbatch.empty()) {
    const auto printed = RunProgram(around.sbatch, {"--version"}, "", ChildErrors::kDiscarded);
    if (printed) around.sbatch_version = FirstLine(*printed);
  }
  around.slurm_conf = SlurmConfPath();
  around.slurm_conf_readable = ::access(around.slurm_conf.c_str(), R_OK) == 0;
  return around;
}

std::vector<Check> CheckHealth(Api& api, const Surroundings& around) {
  std::vector<Check> checks;
  const Result<json> health = api.Get("/healthz");
  if (health) {
    checks.push_back({Health::kOk, "socket", around.socket});
    checks.push_back(VersionCheck(*health, around));
    checks.push_back(DataCheck(*health));
    if (!TextOf(*health, "passed_over").empty()) checks.push_back(SourceCheck(*health));
    if (!TextOf(ObjectOf(*health, "meta"), "unseen").empty())
      checks.push_back(RightsCheck(*health));
    checks.push_back(HistoryCheck(*health));
  } else {
    checks.push_back({Health::kError, "daemon", health.error().message});
  }
  checks.push_back(SbatchCheck(around));
  checks.push_back(SlurmConfCheck(around));
  checks.push_back(SettingsCheck(around));
  return checks;
}

int RunDoctor(bool as_json, Api& api, const Surroundings& around, Console& console) {
  std::vector<Check> checks = CheckHealth(api, around);
  const Result<json> record = api.Get("/v1/accuracy");
  const std::string note = record ? TextOf(*record, "note") : "";
  if (!note.empty()) checks.push_back({Health::kOk, "forecast", note});
  return Show(checks, as_json, console);
}

int RunDoctorOfSite(bool as_json, Api& api, Console& console) {
  const Result<json> answer = api.Get("/v1/site");
  if (!answer) return Report(answer.error(), console);
  if (as_json) {
    PrintJson(*answer, console);
    return kExitOk;
  }
  console.Print(SiteText(*answer, console.style()));
  return kExitOk;
}

int RunDoctorOfFile(const DoctorCommand& command, Api& api, const JobSubmission& submission,
                    const Surroundings& around, Console& console) {
  const AdviceQuestion& question = command.question;
  const Result<TrainFile> file = TrainFile::Load(question.file, question.section, console.now());
  if (!file) return Report(file.error(), console);
  std::vector<Check> checks = CheckHealth(api, around);
  std::vector<Check> of_file = CheckTrainFile(*file, question, api, submission, console.now());
  std::move(of_file.begin(), of_file.end(), std::back_inserter(checks));
  return Show(checks, command.json, console);
}

}  // namespace gpuadvise::client
