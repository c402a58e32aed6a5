#include "common/advise/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/gres.h"

namespace gpuadvise {
namespace {

constexpr double kNow = 30;              // seconds
constexpr double kRedoUnknown = 900;     // seconds of steps since the last checkpoint, about
constexpr double kSameEnd = 60;          // seconds
constexpr double kSameRate = 0.02;       // share
constexpr double kSigmasToP90 = 1.2816;  // of the normal distribution

bool SameGpus(const JobRequest& a, const JobRequest& b) {
  return a.gpus_per_node == b.gpus_per_node && a.gpus_total == b.gpus_total;
}

int64_t GpusOf(const JobRequest& request) {
  return std::max(TotalGpus(request.gpus_per_node) * std::max<int64_t>(request.nodes_min, 1),
                  TotalGpus(request.gpus_total));
}

// The cards that a request may land on.
class Cards {
 public:
  explicit Cards(const std::vector<GpuPool>& pools) : pools_(pools) {}

  // nullptr in it: nothing is known about some of them.
  std::vector<const GpuModel*> Of(const JobRequest& request) const {
    std::vector<const GpuModel*> models;
    const GpuCounts& asked =
        request.gpus_per_node.empty() ? request.gpus_total : request.gpus_per_node;
    for (const GpuPool& pool : pools_) {
      if (!IsOneOf(pool.partition->name, request.partitions)) continue;
      const bool wanted = std::any_of(asked.begin(), asked.end(), [&](const GpuCount& each) {
        return each.type.empty() || each.type == pool.gres_type;
      });
      const bool known = std::find(models.begin(), models.end(), pool.model) != models.end();
      if (wanted && !known) models.push_back(pool.model);
    }
    return models;
  }

 private:
  const std::vector<GpuPool>& pools_;
};

// Whether a job made for any of `before` can run on any of `after`, as far as the cards say.
bool CanReplace(const std::vector<const GpuModel*>& before,
                const std::vector<const GpuModel*>& after, int64_t gpus) {
  if (after == before) return true;
  const auto unknown = [](const GpuModel* model) { return model == nullptr; };
  if (before.empty() || after.empty() || std::any_of(before.begin(), before.end(), unknown) ||
      std::any_of(after.begin(), after.end(), unknown)) {
    return false;
  }
  int64_t memory = INT64_MAX;
  for (const GpuModel* model : before) memory = std::min(memory, model->memory_bytes);
  return std::all_of(after.begin(), after.end(), [&](const GpuModel* model) {
    return model->memory_bytes >= memory && (gpus == 1 || !model->is_mig_slice);
  });
}

// Samples a second that all GPUs of the request train, in no unit; nullopt: several kinds of card,
// or an unknown one.
std::optional<double> RateOf(const Cards& cards, const JobRequest& request) {
  const std::vector<const GpuModel*> models = cards.Of(request);
  if (models.size() != 1 || models.front() == nullptr) return std::nullopt;
  const double each = models.front()->dense_tflops * models.front()->efficiency;
  if (each <= 0) return std::nullopt;
  return each * static_cast<double>(GpusOf(request));
}

// "now", "in 2 h".
std::string StartInWords(const StartSamples& start) {
  const double median = start.Quantile(.5);
  return median <= kNow ? "now" : "in " + DurationInWords(median);
}

std::string DoneInWords(double later) {
  if (std::abs(later) < kSameEnd) return " and be done at the same time";
  return fmt::format("{} be done {} {}", later > 0 ? ", but" : " and",
                     DurationInWords(std::abs(later)), later > 0 ? "later" : "earlier");
}

void SortAndCut(std::vector<Remedy>& remedies) {
  std::stable_sort(remedies.begin(), remedies.end(), [](const Remedy& a, const Remedy& b) {
    return a.start.Quantile(.5) < b.start.Quantile(.5);
  });
  if (remedies.size() > kMaxCheaper) remedies.resize(kMaxCheaper);
}

// ---- of a job of which nothing but its GPUs is known --------------------------------------------

class PlainJob {
 public:
  PlainJob(const RemedyQuestion& question, const Cards& cards)
      : question_(question), cards_(cards), before_(cards.Of(question.request)) {}

  bool May(const JobRequest& changed) const {
    const auto run = RunTimeWith(changed);
    if (run && *run > LimitOf(changed)) return false;
    if (const auto risk = RiskWith(changed); risk && *risk > kMaxRisk) return false;
    if (GpusOf(changed) == 0) return true;
    return CanReplace(before_, cards_.Of(changed), GpusOf(changed));
  }

  Remedy With(CheaperStart cheaper) const {
    Remedy remedy{cheaper.change, InWords(cheaper, question_.as_it_is), {}, {}};
    const auto run = RunTimeWith(cheaper.request);
    if (run) {
      remedy.done_later = cheaper.start.Quantile(.5) + *run -
                          (question_.as_it_is.Quantile(.5) + *question_.run_time);
    }
    remedy.words += CostInWords(cheaper.request, remedy.done_later);
    remedy.start = std::move(cheaper.start);
    return remedy;
  }

 private:
  static double LimitOf(const JobRequest& request) {
    const SlurmNumber limit = request.time_limit_seconds;
    return limit.has_value() ? static_cast<double>(limit.value()) : INFINITY;
  }

  // That it is cut by a shorter limit, on as many of the same GPUs; nullopt: not known.
  std::optional<double> RiskWith(const JobRequest& changed) const {
    const bool shorter = LimitOf(changed) < LimitOf(question_.request);
    if (question_.risk == nullptr || !question_.risk->longer_than || !shorter) return std::nullopt;
    return question_.risk->longer_than(LimitOf(changed));
  }

  bool SameCards(const JobRequest& changed) const { return cards_.Of(changed) == before_; }

  // How many times as long the run takes with `changed`.
  std::optional<double> SlowerBy(const JobRequest& changed) const {
    if (SameGpus(changed, question_.request) && SameCards(changed)) return 1;
    const auto before = RateOf(cards_, question_.request);
    const auto after = RateOf(cards_, changed);
    if (!before || !after) return std::nullopt;
    return *before / *after;
  }

  std::optional<double> RunTimeWith(const JobRequest& changed) const {
    const auto slower = SlowerBy(changed);
    if (!slower || !question_.run_time) return std::nullopt;
    return *question_.run_time * *slower;
  }

  std::string CostInWords(const JobRequest& changed, std::optional<double> later) const {
    const auto slower = SlowerBy(changed);
    if (!slower) return "; run time there not known";
    const bool same_rate = std::abs(*slower - 1) < kSameRate;
    if (same_rate && changed.time_limit_seconds == question_.request.time_limit_seconds) return "";
    if (const auto risk = RiskWith(changed); same_rate && risk) {
      return fmt::format("; {} of {} would be cut off", RiskInWords(*risk), question_.risk->words);
    }
    if (same_rate) {
      return later ? fmt::format("; such jobs run {}", DurationInWords(*question_.run_time))
                   : ", if it needs no more";
    }
    const std::string_view why =
        SameCards(changed) ? "on so many GPUs" : "by the rates of the cards";
    if (!later) return fmt::format("; {} it would run {:.1f} times as long", why, *slower);
    const std::string before = DurationInWords(*question_.run_time);
    const std::string after = DurationInWords(*question_.run_time * *slower);
    if (before == after) return DoneInWords(*later);
    return fmt::format("{}: {} it would run {} instead of {}", DoneInWords(*later), why, after,
                       before);
  }

  const RemedyQuestion& question_;
  const Cards& cards_;
  const std::vector<const GpuModel*> before_;
};

// ---- of a job that was advised -----------------------------------------------------------------

Strategy AsSubmitted(const AdvisedJob& advised, const StartSamples& start) {
  Strategy own;
  own.run_sigma = std::log(std::max(advised.run_p90 / advised.run_p50, 1.0)) / kSigmasToP90;
  own.run = LogNormalSpread(advised.run_p50, own.run_sigma);
  own.start = start;
  AddTotal(own);
  return own;
}

// On other GPUs, or on another number of them.
bool IsAnother(const Strategy& strategy, const JobRequest& request) {
  return strategy.request.gpus_per_node != request.gpus_per_node ||
         strategy.request.nodes_min != request.nodes_min;
}

// Of the strategies that start earlier, for each kind of GPU the one that is done first.
std::vector<Strategy> OtherStrategies(const RemedyQuestion& question, const AdvisedJob& advised,
                                      const AdviceContext& context,
                                      const std::vector<GpuPool>& pools) {
  Constraints constraints = advised.advice.constraints;
  constraints.partition.clear();
  constraints.gpus.clear();
  constraints.gpus_per_node.reset();
  constraints.nodes.reset();
  constraints.gpus_total.reset();
  const TrainSpec& spec = advised.advice.spec;
  const auto placements = FindPlacements(spec, constraints, context.snapshot, pools,
                                         context.gpus.catalogue(), advised.submitter);
  if (!placements) return {};
  std::vector<Strategy> tried(placements->possible.size());
  std::vector<char> earlier(tried.size());
  context.for_each(tried.size(), [&](size_t i) {
    tried[i].placement = placements->possible[i];
    if (!FitAndEstimate(spec, constraints, context, tried[i])) return;
    if (!IsAnother(tried[i], question.request)) return;
    if (!PredictStart(constraints, context, advised.submitter, tried[i])) return;
    earlier[i] = IsWorthIt(tried[i].start, question.as_it_is) ? 1 : 0;
  });
  std::map<const GpuModel*, size_t> first;
  for (size_t i = 0; i < tried.size(); ++i) {
    if (earlier[i] == 0) continue;
    const auto [best, is_new] = first.emplace(tried[i].placement.pool->model, i);
    if (!is_new && tried[i].total.p50 < tried[best->second].total.p50) best->second = i;
  }
  std::vector<Strategy> others;
  for (const auto& [model, place] : first) others.push_back(std::move(tried[place]));
  return others;
}

Remedy RemedyOf(Strategy strategy, const Strategy& own) {
  const Placement& placement = strategy.placement;
  Remedy remedy;
  remedy.change = fmt::format("-p {} --gres={}", placement.pool->partition->name,
                              ToGresText(strategy.request.gpus_per_node));
  std::string name = fmt::format("{} × {}", placement.pool->Name(), placement.gpus_per_node);
  if (placement.nodes > 1) {
    remedy.change += fmt::format(" -N {}", placement.nodes);
    name += fmt::format(" on {} nodes", placement.nodes);
  }
  remedy.done_later = strategy.total.p50 - own.total.p50;
  remedy.words =
      fmt::format("{} would start {}{}: gpuadvise submit FILE {}", name,
                  StartInWords(strategy.start), DoneInWords(*remedy.done_later), remedy.change);
  remedy.start = std::move(strategy.start);
  return remedy;
}

}  // namespace

RunRisk RiskOf(const AdvisedJob& advised) {
  const TrainSpec& spec = advised.advice.spec;
  const bool resumes = std::any_of(spec.stages.begin(), spec.stages.end(),
                                   [](const Stage& stage) { return stage.training.resume; });
  const double sigma = std::log(std::max(advised.run_p90 / advised.run_p50, 1.0)) / kSigmasToP90;
  return RiskOfTraining(advised.run_p50, sigma,
                        resumes ? std::optional<double>(kRedoUnknown) : std::nullopt);
}

std::vector<Remedy> RemediesFor(const RemedyQuestion& question, const AdviceContext& context) {
  const std::vector<GpuPool>& pools = context.Pools();
  const Cards cards(pools);
  const PlainJob job(question, cards);
  std::vector<Remedy> remedies;
  for (CheaperStart& cheaper :
       CheaperStarts(context.snapshot, question.request, question.as_it_is, question.ask,
                     [&](const JobRequest& changed) { return job.May(changed); })) {
    remedies.push_back(job.With(std::move(cheaper)));
  }
  return remedies;
}

std::vector<Remedy> RemediesFor(const RemedyQuestion& question, const AdvisedJob& advised,
                                const AdviceContext& context) {
  const std::vector<GpuPool>& pools = context.Pools();
  const Cards cards(pools);
  const auto same_training = [&](const JobRequest& changed) {
    const double limit = static_cast<double>(changed.time_limit_seconds.value_or(INT64_MAX));
    return SameGpus(changed, question.request) && cards.Of(changed) == cards.Of(question.request) &&
           limit >= advised.run_p90;
  };
  std::vector<Remedy> remedies;
  for (CheaperStart& cheaper : CheaperStarts(context.snapshot, question.request, question.as_it_is,
                                             question.ask, same_training)) {
    const double later = cheaper.start.Quantile(.5) - question.as_it_is.Quantile(.5);
    std::string words = InWords(cheaper, question.as_it_is);
    if (cheaper.request.time_limit_seconds != question.request.time_limit_seconds) {
      words += "; most of its runs need no more";
    }
    remedies.push_back({cheaper.change, std::move(words), std::move(cheaper.start), later});
  }
  if (question.as_it_is.Quantile(.5) >= kWorthSeconds) {
    const Strategy own = AsSubmitted(advised, question.as_it_is);
    for (Strategy& other : OtherStrategies(question, advised, context, pools)) {
      remedies.push_back(RemedyOf(std::move(other), own));
    }
  }
  SortAndCut(remedies);
  return remedies;
}

}  // namespace gpuadvise
