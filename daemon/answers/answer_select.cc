#include "daemon/answers/answer_select.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/advise/selectable.h"
#include "common/api/select.h"
#include "common/base/host_list.h"
#include "common/base/json_fields.h"
#include "common/base/words.h"
#include "common/forecast/limit_advice.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/insertion.h"
#include "common/slurm/gres.h"
#include "common/slurm/policy.h"
#include "daemon/answers/advice_json.h"
#include "daemon/answers/job_json.h"
#include "daemon/answers/job_query.h"

namespace gpuadvise::daemon {

using nlohmann::json;

namespace {

constexpr double kNowSeconds = 60;
constexpr size_t kMostTogether = 8;  // more add little, and each is looked at on every node
constexpr int64_t kNoLimitSeconds = 365LL * 86400;
constexpr int64_t kMaxBytes = int64_t{1} << 50;

// A way to run the job, with its wait.
struct Alternative {
  Selectable what;
  std::optional<StartSamples> start;  // nullopt: never, and `why_never` says why
  std::string why_never;

  const GpuPool& pool() const { return *what.pools.front(); }
  bool may_lose() const { return !start->lost_seconds.empty(); }
};

bool IsGiven(const json& item, const char* key) {
  return item.contains(key) && !item.at(key).is_null();
}

// ---- what is asked ---------------------------------------------------------------------------

Result<OpenJob> ReadOpenJob(const json& body, const AdviceContext& view, const Submitter& caller,
                            const std::vector<GpuPool>& pools) {
  DocumentErrors errors;
  FieldReader reader(body, "", &errors);
  const json* item = reader.Any("job");
  OpenJob job;
  job.groups = reader.Texts("groups");
  job.avoided = reader.Texts("avoid_partitions");
  job.min_gpu_memory_bytes = reader.Int("min_gpu_memory_bytes", 1, kMaxBytes).value_or(0);
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());
  if (item == nullptr) return BadInput("the request has no job", "/job");
  Result<JobQuery> asked = ReadJobQuery(*item, "/job", view, pools, caller, "");
  if (!asked) return tl::unexpected<Error>(std::move(asked.error()));
  job.request = std::move(asked->request);
  job.submitter = std::move(asked->submitter);
  job.name = std::move(asked->name);
  // Each partition has its own default.
  if (!IsGiven(*item, "time_limit_seconds")) job.request.time_limit_seconds = SlurmNumber();
  return job;
}

// Why there is nothing to choose; "" when there is.
std::string NothingToChoose(const json& item, const OpenJob& job) {
  if (job.gpus() == 0) return "the job asks for no GPU";
  const auto gres = item.find("gres");
  const bool several = gres != item.end() && gres->is_string() &&
                       gres->get_ref<const std::string&>().find(',') != std::string::npos;
  if (several || job.request.shards_per_node > 0) {
    return "--gres asks for more than GPUs of one kind";
  }
  if (job.types_fixed() && job.partition_fixed()) {
    return "partition and GPU type are given with the job";
  }
  return "";
}

// ---- forecast and rank -----------------------------------------------------------------------

std::vector<Alternative> Forecast(std::vector<Selectable> possible, const OneJob& one_job,
                                  const OpenJob& job, const AdviceContext& view) {
  std::vector<Alternative> all(possible.size());
  view.for_each(possible.size(), [&](size_t i) {
    all[i].what = std::move(possible[i]);
    auto start = StartOf(view.queue, one_job.RequestWith(all[i].what.options), job.submitter,
                         view.Samples());
    if (start) {
      all[i].start = std::move(*start);
    } else {
      all[i].why_never = start.error().message;
    }
  });
  return all;
}

// By median wait to the minute, then by its 90th percentile, the faster card, the default
// partition.
bool IsBetter(const Alternative& a, const Alternative& b) {
  const auto rank = [](const Alternative& each) {
    const GpuModel* model = each.pool().model;
    return std::make_tuple(each.may_lose(), std::floor(each.start->Quantile(.5) / 60),
                           std::floor(each.start->Quantile(.9) / 60),
                           model != nullptr ? -model->dense_tflops : 0.0,
                           !each.pool().partition->is_default);
  };
  return rank(a) < rank(b);
}

bool IsSlice(const Alternative& each) {
  return each.pool().model != nullptr && each.pool().model->is_mig_slice;
}

bool SameKind(const Alternative& a, const Alternative& b) {
  return a.pool().model == b.pool().model && a.pool().gres_type == b.pool().gres_type;
}

// Whether `other` may stand in one job with `best`. Where the best starts at once, another kind of
// GPU could only be slower.
bool Ties(const Alternative& best, const Alternative& other) {
  const double median = best.start->Quantile(.5);
  const double apart = std::abs(other.start->Quantile(.5) - median);
  if (apart > std::max(kTieSeconds, kTieShare * median)) return false;
  if (best.may_lose() != other.may_lose()) return false;
  if (SameKind(best, other)) return true;
  return !IsSlice(best) && !IsSlice(other) && best.start->Quantile(.9) >= kNowSeconds;
}

// Alternatives that one job stands for.
struct PartitionChoice {
  std::vector<size_t> members;  // of the ranked alternatives
  JobOptions options;
};

std::optional<JobOptions> Together(const std::vector<Alternative>& ranked,
                                   const std::vector<size_t>& members, const OneJob& one_job) {
  std::vector<const GpuPool*> pools;
  for (const size_t i : members) {
    pools.insert(pools.end(), ranked[i].what.pools.begin(), ranked[i].what.pools.end());
  }
  return one_job.OptionsFor(pools);
}

// All that tie with the first where one job can say so, else as many as it can, in their order.
PartitionChoice Choose(const std::vector<Alternative>& ranked, const OneJob& one_job) {
  PartitionChoice choice{{0}, ranked.front().what.options};
  std::vector<size_t> ties = {0};
  for (size_t i = 1; i < ranked.size() && ties.size() < kMostTogether; ++i) {
    if (Ties(ranked.front(), ranked[i])) ties.push_back(i);
  }
  if (const auto all = Together(ranked, ties, one_job)) return {ties, *all};
  for (size_t i = 1; i < ties.size(); ++i) {
    std::vector<size_t> more = choice.members;
    more.push_back(ties[i]);
    if (const auto options = Together(ranked, more, one_job)) choice = {std::move(more), *options};
  }
  return choice;
}

// ---- the answer ------------------------------------------------------------------------------

std::string Names(const std::vector<std::string>& partitions) {
  return fmt::format("{}", fmt::join(partitions, ","));
}

api::SelectAlternative AlternativeRow(const Alternative& each, bool in_job, UnixSeconds now) {
  return {.partition = Names(each.what.options.partitions),
          .gpu = each.pool().Id(),
          .gpu_name = each.pool().Name(),
          .gres_type = each.pool().gres_type,
          .constraint = each.what.options.constraint,
          .gpu_memory_bytes = each.pool().model ? each.pool().model->memory_bytes : 0,
          .may_be_preempted = each.may_lose(),
          .in_job = in_job,
          .start = StartFiguresOf(*each.start, now)};
}

std::string TypedOption(const std::string& type, int64_t count) {
  return (type.empty() ? "" : type + ":") + std::to_string(count);
}

// What to add to the job: nothing that it fixes.
api::SelectedJob OptionsOf(const JobOptions& options, const OpenJob& job, const json& item) {
  api::SelectedJob out;
  if (!job.partition_fixed()) out.partition = Names(options.partitions);
  out.constraint = options.constraint;
  if (options.gres_type.empty()) return out;
  out.gres_type = options.gres_type;
  const int64_t per_node = TotalGpus(job.request.gpus_per_node);
  if (IsGiven(item, "gres")) out.gres = "gpu:" + TypedOption(options.gres_type, per_node);
  if (IsGiven(item, "gpus_per_node")) out.gpus_per_node = TypedOption(options.gres_type, per_node);
  if (IsGiven(item, "gpus")) {
    out.gpus = TypedOption(options.gres_type, TotalGpus(job.request.gpus_total));
  }
  return out;
}

int64_t LimitOf(const JobRequest& request, const Partition& partition) {
  for (const SlurmNumber limit :
       {request.time_limit_seconds, partition.default_time_seconds, partition.max_time_seconds}) {
    if (limit.has_value()) return limit.value();
    if (limit.infinite()) break;
  }
  return kNoLimitSeconds;
}

// What the queue would show, with a time limit in any case.
Job OfferOf(JobRequest request, const StartSamples& start, const OpenJob& job,
            const Partition& partition, const Snapshot& snapshot) {
  const Association* association = FindAssociation(snapshot, job.submitter, partition.name);
  Job offer;
  offer.account = association != nullptr ? association->account : job.submitter.account;
  offer.qos = EffectiveQos(snapshot, job.submitter, association);
  offer.priority = start.priority;
  offer.request = std::move(request);
  offer.request.time_limit_seconds = LimitOf(offer.request, partition);
  return offer;
}

// The job in the words of an advice.
api::SelectStrategy StrategyOf(const Job& offer) {
  const JobRequest& request = offer.request;
  const bool by_node = !request.gpus_per_node.empty();
  const GpuCounts& gpus = by_node ? request.gpus_per_node : request.gpus_total;
  api::SelectStrategy row;
  row.gres_type = gpus.front().type;
  row.nodes = std::max<int64_t>(request.nodes_min, 1);
  row.gpus_per_node = by_node ? TotalGpus(gpus) : (TotalGpus(gpus) + row.nodes - 1) / row.nodes;
  row.account = offer.account;
  row.qos = offer.qos;
  row.priority = offer.priority;
  row.time_limit_seconds = request.time_limit_seconds.value();
  row.sbatch.partition = Names(request.partitions);
  row.sbatch.nodes = row.nodes;
  row.sbatch.cpus_per_task = (std::max<int64_t>(request.cpus, 1) + row.nodes - 1) / row.nodes;
  row.sbatch.constraint = request.features;
  row.sbatch.exclude = CompressHostList(request.excluded_nodes);
  row.sbatch.nodelist = CompressHostList(request.required_nodes);
  if (request.memory_per_node_mib.has_value()) {
    row.sbatch.mem = fmt::format("{}M", request.memory_per_node_mib.value());
  }
  return row;
}

std::vector<api::SelectRejection> RejectedOf(const Selectables& found,
                                             const std::vector<Alternative>& never) {
  std::vector<api::SelectRejection> rejected;
  const auto add = [&](const GpuPool& pool, const std::string& reason) {
    rejected.push_back({pool.partition->name, pool.Id(), pool.Name(), reason});
  };
  for (const Alternative& each : never) add(each.pool(), each.why_never);
  for (const Unselectable& each : found.impossible) add(*each.pool, each.reason);
  return rejected;
}

// Told by the partition that the job would have gone to, where that is among them.
std::string NothingFits(const std::vector<api::SelectRejection>& rejected,
                        const Snapshot& snapshot) {
  if (rejected.empty()) return "no GPU of this cluster is what the job asks for";
  const Partition* home = DefaultPartition(snapshot);
  const auto at_home = std::find_if(rejected.begin(), rejected.end(), [&](const auto& each) {
    return home != nullptr && each.partition == home->name;
  });
  const api::SelectRejection& one = at_home == rejected.end() ? rejected.front() : *at_home;
  const std::string all =
      rejected.size() == 1 ? "it cannot run"
                           : fmt::format("none of {} ways to run it is possible", rejected.size());
  return fmt::format("{}: {} in {}: {}", all, one.gpu_name, one.partition, one.reason);
}

// What a shorter limit would bring, in one sentence; "" where nothing is worth it or the risk is
// not known.
std::string ShorterLimitInWords(const Job& offer, const StartSamples& start, const OpenJob& job,
                                const AdviceContext& view) {
  const ForecastHistory* past = PastBehind(view.queue);
  if (past == nullptr || start.Quantile(.5) < kWorthSeconds) return "";
  JobRecord record = RecordFor(view.queue, offer.request, job.submitter);
  record.name = job.name;
  const RunRisk risk = RiskFromHistory(&past->run_times, record);
  if (!risk.longer_than) return "";
  const AskStart ask = [&](const JobRequest& request) -> Result<StartSamples> {
    if (!view.HasRoomForExtras()) return view.BudgetError();
    return StartOf(view.queue, request, job.submitter);
  };
  LimitQuestion question{view.snapshot, offer.request, start, ask, risk};
  question.submitter = &job.submitter;
  question.ask_as = [&](const JobRequest& request, const Submitter& who) -> Result<StartSamples> {
    if (!view.HasRoomForExtras()) return view.BudgetError();
    return StartOf(view.queue, request, who);
  };
  question.most_limits = kFewLimits;
  const LimitAdvice advice = AdviseLimit(question);
  return advice.best ? advice.words : "";
}

}  // namespace

Result<json> AnswerSelect(const json& body, const AdviceContext& view, const Submitter& caller) {
  const std::vector<GpuPool>& pools = view.Pools();
  const Result<OpenJob> job = ReadOpenJob(body, view, caller, pools);
  if (!job) return tl::unexpected<Error>(job.error());
  const json& item = body.at("job");
  api::Selection answer;
  answer.reason = NothingToChoose(item, *job);
  if (!answer.reason.empty()) return ToJson(answer);
  const Result<OneJob> one_job = OneJob::Build(view.snapshot, job->request);
  if (!one_job) return BadInput(one_job.error().message, "/job/constraint");

  Selectables found = FindSelectable(*job, *one_job, view.snapshot, pools);
  std::vector<Alternative> ranked = Forecast(std::move(found.possible), *one_job, *job, view);
  if (view.Stopped()) return view.BudgetError();
  const auto never = std::stable_partition(
      ranked.begin(), ranked.end(), [](const Alternative& a) { return a.start.has_value(); });
  answer.rejected = RejectedOf(found, {never, ranked.end()});
  ranked.erase(never, ranked.end());
  if (ranked.empty()) {
    answer.reason = NothingFits(answer.rejected, view.snapshot);
    return ToJson(answer);
  }
  std::stable_sort(ranked.begin(), ranked.end(), IsBetter);

  const PartitionChoice choice = Choose(ranked, *one_job);
  const UnixSeconds now = view.snapshot.taken_at;
  for (size_t i = 0; i < ranked.size(); ++i) {
    const bool in_job =
        std::find(choice.members.begin(), choice.members.end(), i) != choice.members.end();
    answer.alternatives.push_back(AlternativeRow(ranked[i], in_job, now));
  }
  answer.job = OptionsOf(choice.options, *job, item);
  if (ToJson(answer.job).empty()) {
    answer.reason = "what the job asks for is already what would be chosen";
    return ToJson(answer);
  }
  const JobRequest request = one_job->RequestWith(choice.options);
  const auto start = choice.members.size() == 1
                         ? Result<StartSamples>(*ranked.front().start)
                         : StartOf(view.queue, request, job->submitter, view.Samples());
  if (!start) return tl::unexpected<Error>(start.error());
  const Job offer = OfferOf(request, *start, *job, *ranked.front().pool().partition, view.snapshot);
  answer.strategies = {StrategyOf(offer)};
  answer.limit_words = ShorterLimitInWords(offer, *start, *job, view);
  answer.job.start = StartFiguresOf(*start, now);
  answer.forecast = ForecastNote(start->wait_seconds.size(), PastBehind(view.queue));
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
