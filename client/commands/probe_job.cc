#include "client/commands/probe_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/api/answer_reader.h"
#include "client/questions/job_question.h"
#include "client/run/watched_command.h"
#include "client/sbatch/sbatch_script.h"
#include "client/terminal/display.h"
#include "common/api/gpus.h"
#include "common/api/queue.h"
#include "common/api/when.h"
#include "common/base/words.h"
#include "common/process/run_program.h"
#include "common/spec/stage_needs.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr double kStartUpMinutes = 2;   // of the job, before the first run
constexpr int64_t kAtOnceSeconds = 30;  // waits below it are all the same
constexpr size_t kMostQuestions = 64;   // of one request
constexpr int kTicksPerLook = 5;        // at the daemon's picture of the queue

std::string StartWords(const api::Seconds& wait) {
  return StartInWords(static_cast<double>(wait.p50_seconds), static_cast<double>(wait.p90_seconds));
}

// Says why srun's job waits, from srun's own lines and the daemon's answers.
class ProbeWait : public Watcher {
 public:
  ProbeWait(Api& api, Console& console) : api_(api), console_(console) {}
  void OnLine(std::string_view line) override {
    constexpr std::string_view kBegin = "srun: job ";
    if (!line.starts_with(kBegin)) return;
    const std::string_view rest = line.substr(kBegin.size());
    const std::string_view id = rest.substr(0, rest.find(' '));
    const bool waits = rest.find("queued and waiting") != std::string_view::npos;
    job_id_ = waits ? std::string(id) : "";
    if (!waits) return;
    console_.Complain(fmt::format(
        "gpuadvise: job {} waits for its GPU; Ctrl-C ends the wait and removes the job", id));
  }
  void OnTick() override {
    if (job_id_.empty() || ++ticks_ % kTicksPerLook != 0) return;
    const Result<json> answer = api_.Get("/v1/jobs/" + job_id_);
    if (!answer) return;
    const api::JobWait wait = ReadAnswer<api::Job>(*answer).row.wait.value_or(api::JobWait());
    if (wait.reason_words.empty() || wait.reason_words == said_) return;
    said_ = wait.reason_words;
    std::string line = fmt::format("gpuadvise: job {} waits: {}", job_id_, said_);
    if (wait.start) line += "; it " + StartWords(wait.start->wait);
    console_.Complain(line);
  }
  bool WantsEnd() override { return false; }

 private:
  Api& api_;
  Console& console_;
  std::string job_id_;  // "": it does not wait
  std::string said_;    // the last reason
  int ticks_ = 0;
};

// What every probe of `question` asks for, besides its GPU.
SbatchOptions OptionsOfAnyGpu(const TrainingQuestion& question, double minutes) {
  const ResourceSpec& resources = question.spec.resources;
  const SlurmSpec& slurm = question.spec.slurm;
  SbatchOptions options;
  options.Set("nodes", "1");
  options.Set("ntasks", "1");
  options.Set("time", std::to_string(static_cast<int64_t>(std::ceil(minutes + kStartUpMinutes))));
  if (resources.cpus_per_gpu) options.Set("cpus-per-task", std::to_string(*resources.cpus_per_gpu));
  if (resources.mem_per_gpu_bytes) {
    options.Set("mem", fmt::format("{}M", (*resources.mem_per_gpu_bytes + (1 << 20) - 1) >> 20));
  }
  for (const auto& [name, value] :
       {std::pair("account", slurm.account), std::pair("qos", slurm.qos),
        std::pair("partition", slurm.partition), std::pair("constraint", slurm.constraint),
        std::pair("exclude", slurm.exclude), std::pair("nodelist", slurm.nodelist)}) {
    if (!value.empty()) options.Set(name, value);
  }
  return options;
}

// A job that could be the probe's.
struct Candidate {
  ProbeJob job;
  std::string partition;
  api::Seconds wait;
  int64_t jobs_before = 0;

  // Nine times in ten; a median of 0 alone is a bet on jobs that wait before it.
  bool at_once() const { return wait.p90_seconds < kAtOnceSeconds; }
};

bool MayUse(const TrainingQuestion& question, const GpuModel& gpu) {
  const ResourceSpec& resources = question.spec.resources;
  const auto names = [&](const std::string& name) {
    return question.catalogue->Accepts(name, gpu);
  };
  const bool asked =
      std::find(question.gpus.begin(), question.gpus.end(), &gpu) != question.gpus.end();
  return (resources.gpus.empty() || std::ranges::any_of(resources.gpus, names)) &&
         std::ranges::none_of(resources.exclude_gpus, names) && asked &&
         WhyUnfit(question.spec, gpu).empty();
}

// Every kind of GPU in every partition that has it.
std::vector<Candidate> FindCandidates(const TrainingQuestion& question, const api::Gpus& cluster,
                                      const SbatchOptions& common, const SbatchOptions& fixed) {
  std::vector<Candidate> candidates;
  for (const api::GpuType& row : cluster.gpus) {
    const GpuModel* gpu = question.catalogue->Resolve(row.gpu);
    if (gpu == nullptr || !MayUse(question, *gpu)) continue;
    for (const std::string& type : row.gres_types) {
      for (const std::string& partition : row.partitions) {
        if (common.Has("partition") && common.Get("partition") != partition) continue;
        Candidate candidate{{common, false, gpu, ""}, partition, {}, 0};
        SbatchOptions& options = candidate.job.options;
        options.Set("gres", "gpu:" + (type.empty() ? "" : type + ":") + "1");
        options.Set("partition", partition);
        options.OverrideWith(fixed);
        if (candidates.size() < kMostQuestions) candidates.push_back(std::move(candidate));
      }
    }
  }
  return candidates;
}

bool IsBetter(const Candidate& one, const Candidate& other) {
  if (one.at_once() != other.at_once()) return one.at_once();
  if (one.at_once()) return one.job.gpu->memory_bytes > other.job.gpu->memory_bytes;
  const auto key = [](const Candidate& candidate) {
    return std::pair(candidate.wait.p50_seconds / kAtOnceSeconds, candidate.wait.p90_seconds);
  };
  return key(one) < key(other);
}

// Asks for all waits at once. Errors: the flags' or the daemon's; kInfeasible, where none can
// start.
Result<Candidate> FirstToStart(std::vector<Candidate> candidates, Api& api, int64_t now) {
  json jobs = json::array();
  for (const Candidate& candidate : candidates) {
    Result<json> question = JobQuestion(candidate.job.options, now);
    if (!question) return tl::unexpected<Error>(question.error());
    jobs.push_back(*std::move(question));
  }
  const Result<json> answer = api.Post("/v1/when", {{"jobs", jobs}});
  if (!answer) return tl::unexpected<Error>(answer.error());
  const std::vector<api::StartAnswer> rows = ReadAnswer<api::Starts>(*answer).answers;
  std::optional<Candidate> best;
  std::string why = "no GPU of this cluster is allowed by this file";
  for (size_t i = 0; i < rows.size() && i < candidates.size(); ++i) {
    if (rows[i].error) {
      why = rows[i].error->message;
      continue;
    }
    const api::JobStart job = rows[i].job.value_or(api::JobStart());
    candidates[i].wait = job.start.wait;
    candidates[i].jobs_before = job.jobs_before;
    if (!best || IsBetter(candidates[i], *best)) best = candidates[i];
  }
  if (!best) return Fail(ErrorCode::kInfeasible, why);
  return std::move(*best);
}

}  // namespace

Result<ProbeJob> ChooseProbeJob(const TrainingQuestion& question, const SbatchOptions& fixed,
                                double minutes, Api& api, int64_t now) {
  const SbatchOptions common = OptionsOfAnyGpu(question, minutes);
  const Result<json> answer = api.Get("/v1/gpus");
  if (!answer) {
    ProbeJob any{common, false, nullptr, "one GPU of any type (" + answer.error().message + ")"};
    any.options.Set("gres", "gpu:1");
    any.options.OverrideWith(fixed);
    return any;
  }
  const auto cluster = ReadAnswer<api::Gpus>(*answer);
  std::vector<Candidate> candidates = FindCandidates(question, cluster, common, fixed);
  if (candidates.empty()) {
    return Fail(ErrorCode::kInfeasible,
                "no GPU of this cluster is allowed by this file; check resources.gpus, requires: "
                "and --gpu");
  }
  Result<Candidate> best = FirstToStart(std::move(candidates), api, now);
  if (!best) return tl::unexpected<Error>(best.error());
  std::string start = "free now";
  if (!best->at_once()) {
    start = "which " + StartWords(best->wait);
    if (best->jobs_before > 0) {
      start += ", behind " + Plural(best->jobs_before, "waiting job");
    }
  }
  best->job.simulated = cluster.frame.meta.source == "sim";
  best->job.said = fmt::format("one {}{} in {}, {}", best->job.simulated ? "simulated " : "",
                               best->job.gpu->display_name, best->partition, start);
  return std::move(best->job);
}

Result<void> RunProbeJob(const ProbeJob& job, const std::vector<std::string>& words, Api& api,
                         Console& console, const WatchedOptions& watched) {
  const std::string srun = FindInPath("srun", std::getenv("PATH"));
  if (srun.empty()) {
    return Fail(
        ErrorCode::kInternal,
        "srun is not in PATH; run this on a login node, or use --local on a machine with a GPU");
  }
  std::vector<std::string> command = {srun, "--quit-on-interrupt"};
  for (std::string& argument : job.options.ToArguments()) command.push_back(std::move(argument));
  command.insert(command.end(), words.begin(), words.end());
  ProbeWait watcher(api, console);
  const Result<CommandEnd> end = RunWatched(command, watched, watcher);
  if (!end) return tl::unexpected<Error>(end.error());
  if (end->ok()) return {};
  if (end->told_to_end || end->ShellStatus() == 128 + SIGINT) {
    return Fail(ErrorCode::kInternal, "interrupted: the probe's job is removed");
  }
  return Fail(ErrorCode::kInternal, "the probe's job " + InWords(*end) + "; see its output above");
}

}  // namespace gpuadvise::client
