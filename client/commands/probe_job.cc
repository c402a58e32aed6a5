#include "client/commands/probe_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/api/answer_reader.h"
#include "client/questions/job_question.h"
#include "client/run/watched_command.h"
#include "client/sbatch/sbatch_script.h"
#include "common/api/gpus.h"
#include "common/api/when.h"
#include "common/base/words.h"
#include "common/process/run_program.h"
#include "common/spec/stage_needs.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr double kStartUpMinutes = 2;  // of the job, before the first run
constexpr double kAtOnceSeconds = 30;  // waits below it are all the same
constexpr size_t kMostQuestions = 64;  // of one request

// Only watched for its end and for signals.
class NothingToSee : public Watcher {
 public:
  void OnLine(std::string_view) override {}
  void OnTick() override {}
  bool WantsEnd() override { return false; }
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
  double wait_seconds = 0;
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
        Candidate candidate{{common, false, gpu, ""}, partition, 0};
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
  const bool at_once = one.wait_seconds < kAtOnceSeconds && other.wait_seconds < kAtOnceSeconds;
  if (!at_once) return one.wait_seconds < other.wait_seconds;
  return one.job.gpu->memory_bytes > other.job.gpu->memory_bytes;
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
    candidates[i].wait_seconds = static_cast<double>(job.start.wait.p50_seconds);
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
  const bool at_once = best->wait_seconds < kAtOnceSeconds;
  best->job.simulated = cluster.frame.meta.source == "sim";
  best->job.said = fmt::format(
      "one {}{} in {}, {}", best->job.simulated ? "simulated " : "", best->job.gpu->display_name,
      best->partition,
      at_once ? "free now" : "which starts in about " + DurationInWords(best->wait_seconds));
  return std::move(best->job);
}

Result<void> RunProbeJob(const ProbeJob& job, const std::vector<std::string>& words) {
  const std::string srun = FindInPath("srun", std::getenv("PATH"));
  if (srun.empty()) {
    return Fail(
        ErrorCode::kInternal,
        "srun is not in PATH; run this on a login node, or use --local on a machine with a GPU");
  }
  std::vector<std::string> command = {srun};
  for (std::string& argument : job.options.ToArguments()) command.push_back(std::move(argument));
  command.insert(command.end(), words.begin(), words.end());
  NothingToSee watcher;
  const Result<CommandEnd> end = RunWatched(command, {}, watcher);
  if (!end) return tl::unexpected<Error>(end.error());
  if (end->ok()) return {};
  return Fail(ErrorCode::kInternal, "the probe's job " + InWords(*end) + "; see its output above");
}

}  // namespace gpuadvise::client
