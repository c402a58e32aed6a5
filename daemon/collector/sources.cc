#include "daemon/collector/sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace gpuadvise::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLeastSilence = std::chrono::seconds(30);

bool CanRun(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

std::string Seconds(milliseconds duration) {
  return fmt::format("{:g}", static_cast<double>(duration.count()) / 1000);
}

// Passes the token as a file name: any user can read command lines.
void AddSlurmrestd(const SlurmrestdSettings& slurmrestd, std::vector<std::string>& words) {
  words.insert(words.end(), {"--url", slurmrestd.url});
  if (!slurmrestd.token_file.empty()) {
    words.insert(words.end(), {"--jwt-file", slurmrestd.token_file});
  }
  if (!slurmrestd.user.empty()) words.insert(words.end(), {"--rest-user", slurmrestd.user});
  if (!slurmrestd.ca_file.empty()) words.insert(words.end(), {"--ca-file", slurmrestd.ca_file});
}

CollectorCandidate SlurmCandidate(const std::string& name, const Settings& settings,
                                  const std::string& collector) {
  CollectorCandidate candidate;
  candidate.name = name;
  candidate.command.words = {collector,           name,
                             "--poll-interval",   Seconds(settings.poll_interval),
                             "--policy-interval", Seconds(settings.policy_interval)};
  if (!settings.slurm_bin_dir.empty()) {
    candidate.command.words.insert(candidate.command.words.end(),
                                   {"--bin-dir", settings.slurm_bin_dir});
  }
  if (!settings.prometheus.empty()) {
    candidate.command.words.insert(
        candidate.command.words.end(),
        {"--prometheus", settings.prometheus, "--idle-gpus-query", settings.idle_gpus_query});
  }
  if (name == "slurm-rest") AddSlurmrestd(settings.slurmrestd, candidate.command.words);
  if (!settings.slurm_conf.empty()) {
    candidate.command.environment.push_back("SLURM_CONF=" + settings.slurm_conf);
  }
  return candidate;
}

// Sources tried by `source: auto`, in order; slurmrestd only if its address is set.
std::vector<std::string> AutoSources(const Settings& settings) {
  std::vector<std::string> names = {"slurm-api", "slurm-cli"};
  if (!settings.slurmrestd.url.empty()) names.emplace_back("slurm-rest");
  return names;
}

CollectorCandidate SimCandidate(const Settings& settings, const std::string& collector) {
  CollectorCandidate candidate;
  candidate.name = "sim";
  candidate.command.words = {collector,         "sim",
                             "--poll-interval", Seconds(settings.poll_interval),
                             "--seed",          std::to_string(settings.simulation.seed),
                             "--speed",         fmt::format("{:g}", settings.simulation.speed)};
  if (!settings.simulation.jobs_dir.empty()) {
    candidate.command.words.insert(candidate.command.words.end(),
                                   {"--jobs-dir", settings.simulation.jobs_dir});
  }
  return candidate;
}

CollectorCandidate ReplayCandidate(const Settings& settings, const std::string& file,
                                   const std::string& collector) {
  CollectorCandidate candidate;
  candidate.name = "replay";
  candidate.may_finish = true;
  candidate.command.words = {collector, "replay", file, "--poll-interval",
                             Seconds(settings.poll_interval)};
  return candidate;
}

}  // namespace

Result<std::string> FindCollector(const std::string& configured, const std::string& own_path) {
  std::vector<std::string> places;
  if (!configured.empty()) {
    places = {configured};
  } else {
    const std::filesystem::path folder = std::filesystem::path(own_path).parent_path();
    for (const char* place : {"gpuadvise-collect", "../libexec/gpuadvise/gpuadvise-collect",
                              "../libexec/gpuadvise-collect"}) {
      places.push_back((folder / place).lexically_normal().string());
    }
  }
  for (const std::string& place : places) {
    if (CanRun(place)) return place;
  }
  return Fail(
      ErrorCode::kNotFound,
      fmt::format("gpuadvise-collect cannot be run from {}; install it there or set collector:",
                  fmt::join(places, " or ")));
}

CollectorPlan PlanFor(const Settings& settings, const std::string& collector) {
  CollectorPlan plan;
  const std::string replay = "replay:";
  if (settings.source == "sim") {
    plan.candidates = {SimCandidate(settings, collector)};
  } else if (settings.source.rfind(replay, 0) == 0) {
    plan.candidates = {ReplayCandidate(settings, settings.source.substr(replay.size()), collector)};
  } else if (settings.source == "auto") {
    for (const std::string& name : AutoSources(settings))
      plan.candidates.push_back(SlurmCandidate(name, settings, collector));
  } else {
    plan.candidates = {SlurmCandidate(settings.source, settings, collector)};
  }
  plan.silence = std::max(3 * settings.poll_interval, kLeastSilence);
  return plan;
}

AccountingPlan AccountingPlanFor(const Settings& settings, const std::string& collector) {
  AccountingPlan plan;
  plan.interval = settings.accounting_interval;
  plan.rest = std::min<milliseconds>(std::chrono::seconds(10), plan.interval);
  plan.command.words = {collector, "accounting"};
  if (!settings.slurm_bin_dir.empty()) {
    plan.command.words.insert(plan.command.words.end(), {"--bin-dir", settings.slurm_bin_dir});
  }
  if (!settings.slurm_conf.empty()) {
    plan.command.environment.push_back("SLURM_CONF=" + settings.slurm_conf);
  }
  return plan;
}

std::string OwnPath() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

}  // namespace gpuadvise::daemon
