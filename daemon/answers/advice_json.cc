#include "daemon/answers/advice_json.h"

#include <algorithm>
#include <cmath>

#include "common/base/bytes.h"
#include "common/base/host_list.h"
#include "common/base/slurm_time.h"
#include "common/history/forecast_history.h"

namespace gpuadvise::daemon {
namespace {

int64_t Whole(double seconds) { return std::llround(std::min(seconds, 9e15)); }

api::Seconds SecondsOf(const Spread& spread) {
  return {Whole(spread.p10), Whole(spread.p50), Whole(spread.p90), Whole(spread.mean)};
}

double Hundredths(double number) { return std::round(number * 100) / 100; }

std::optional<double> Hundredths(const std::optional<double>& number) {
  return number ? std::optional(Hundredths(*number)) : std::nullopt;
}

std::string GresOf(const Strategy& strategy) {
  const std::string& type = strategy.placement.pool->gres_type;
  std::string count = std::to_string(strategy.placement.gpus_per_node);
  return type.empty() ? "gpu:" + count : "gpu:" + type + ":" + count;
}

api::SbatchOptions SbatchOf(const Strategy& strategy, const Constraints& constraints) {
  const Placement& placement = strategy.placement;
  api::SbatchOptions sbatch;
  sbatch.partition = placement.pool->partition->name;
  sbatch.account = strategy.account;
  sbatch.qos = strategy.qos;
  sbatch.gres = GresOf(strategy);
  sbatch.nodes = placement.nodes;
  sbatch.ntasks_per_node = 1;
  sbatch.cpus_per_task = placement.cpus_per_node;
  sbatch.time = FormatDuration(strategy.time_limit_seconds);
  if (placement.memory_per_node_mib) {
    sbatch.mem = FormatSlurmMemory(Bytes::FromMiB(*placement.memory_per_node_mib));
  }
  sbatch.constraint = strategy.request.features;
  sbatch.exclude = CompressHostList(strategy.request.excluded_nodes);
  sbatch.nodelist = constraints.nodelist;
  return sbatch;
}

std::vector<api::StageFigures> StagesOf(const Strategy& strategy) {
  std::vector<api::StageFigures> stages;
  if (strategy.stages.size() < 2) return stages;
  for (const StagePlan& stage : strategy.stages) {
    stages.push_back({.name = stage.name,
                      .micro_batch = stage.batch.micro_batch,
                      .accumulation = stage.batch.accumulation,
                      .effective_batch_size = stage.batch.effective,
                      .steps = stage.work.steps,
                      .samples = stage.work.samples,
                      .memory_bytes = stage.memory_bytes,
                      .memory_checked = stage.memory_checked,
                      .run_p50_seconds = Whole(stage.run_p50_seconds)});
  }
  return stages;
}

api::Strategy StrategyRow(const Strategy& strategy, size_t rank, const AdviceRequest& request) {
  const Placement& placement = strategy.placement;
  const StagePlan& first = strategy.stages.front();
  api::Strategy row;
  row.rank = static_cast<int64_t>(rank);
  row.gpu = placement.pool->Id();
  row.gpu_name = placement.pool->Name();
  row.gres_type = placement.pool->gres_type;
  row.gpus_per_node = placement.gpus_per_node;
  row.nodes = placement.nodes;
  row.partition = placement.pool->partition->name;
  row.account = strategy.account;
  row.qos = strategy.qos;
  row.micro_batch = first.batch.micro_batch;
  row.accumulation = first.batch.accumulation;
  row.effective_batch_size = first.batch.effective;
  row.steps = first.work.steps;
  row.samples = first.work.samples;
  row.precision = ToWord(strategy.precision);
  row.time_limit_seconds = strategy.time_limit_seconds;
  row.links = strategy.segments;
  row.memory_bytes = first.memory_bytes;
  row.memory_checked = strategy.MemoryChecked();
  row.gradient_checkpointing = first.checkpointing;
  row.gpu_memory_bytes = placement.pool->model->memory_bytes;
  if (strategy.delay) {
    row.others_delay_seconds = Whole(strategy.delay->seconds);
    row.others_delayed = Hundredths(strategy.delay->jobs);
  }
  row.gpu_hours = Hundredths(strategy.gpu_hours);
  row.cost = Hundredths(strategy.cost);
  if (row.cost) row.cost_unit = strategy.cost_is_billing ? "billing_hours" : "price";
  row.energy_kwh = Hundredths(strategy.kilowatt_hours);
  row.priority = strategy.start.priority;
  row.jobs_before = strategy.start.jobs_before;
  row.lost_mean_seconds = std::llround(strategy.start.MeanLost());
  row.wait_at_limits_seconds = strategy.wait_at_limits_seconds;
  row.wait = SecondsOf(strategy.wait);
  row.run = SecondsOf(strategy.run);
  row.total = SecondsOf(strategy.total);
  row.reasons = strategy.reasons;
  row.notes = strategy.notes;
  row.sbatch = SbatchOf(strategy, request.constraints);
  row.stages = StagesOf(strategy);
  if (const auto seconds = request.by.seconds_to_deadline) {
    const double chance = ChanceToFinishBy(strategy, *seconds);
    row.deadline_chance = std::round(chance * 1000) / 1000;
    row.makes_deadline = chance >= kSureEnough;
  }
  return row;
}

// Whether other counts of the same GPUs in the same partition are possible.
bool IsPartly(const Rejection& rejection, const Advice& advice) {
  return std::any_of(
      advice.strategies.begin(), advice.strategies.end(),
      [&](const Strategy& strategy) { return strategy.placement.pool == rejection.pool; });
}

api::Rejection RejectionRow(const Rejection& rejection, const Advice& advice) {
  return {.gpu = rejection.pool->Id(),
          .gpu_name = rejection.pool->Name(),
          .gpus_per_node = rejection.gpus_per_node,
          .nodes = rejection.nodes,
          .partition = rejection.pool->partition->name,
          .others_possible = IsPartly(rejection, advice),
          .reasons = rejection.reasons,
          .cluster = ""};
}

api::Sweep SweepOf(const SweepPlan& plan, const ArrayTasks& tasks) {
  api::Sweep sweep;
  sweep.members = static_cast<int64_t>(tasks.numbers.size());
  sweep.array = tasks.Slice(0, tasks.numbers.size(), tasks.throttle);
  sweep.makespan = SecondsOf(plan.makespan);
  sweep.half_done_p50_seconds = Whole(plan.half_done);
  sweep.gpu_hours = Hundredths(plan.gpu_hours);
  if (plan.delay) {
    sweep.others_delay_seconds = Whole(plan.delay->seconds);
    sweep.others_delayed = Hundredths(plan.delay->jobs);
  }
  sweep.single_rank = static_cast<int64_t>(plan.single) + 1;
  sweep.single_makespan = SecondsOf(plan.single_makespan);
  sweep.later_than_played = plan.later_than_played;
  if (plan.as_it_waits) sweep.as_it_waits = SecondsOf(*plan.as_it_waits);
  size_t next = 0;  // each share has the tasks after those of the share before
  for (const SweepShare& share : plan.shares) {
    const auto members = static_cast<size_t>(share.members);
    sweep.shares.push_back({.rank = static_cast<int64_t>(share.strategy) + 1,
                            .members = share.members,
                            .array = tasks.Slice(next, members, share.throttle),
                            .at_a_time = share.at_a_time,
                            .start_p50_seconds = Whole(share.first_start),
                            .end = SecondsOf(share.last_end)});
    next += members;
  }
  return sweep;
}

api::TrainingLength LengthOf(const TrainSpec& spec) {
  const TrainingSpec& training = spec.stages.front().training;
  api::TrainingLength length;
  length.max_steps = training.max_steps;
  length.num_train_epochs = training.num_train_epochs;
  length.samples = training.samples;
  if (const auto range = training.effective_batch_size) {
    length.effective_batch_size = {range->low, range->high};
  }
  return length;
}

}  // namespace

api::Forecast ForecastNote(size_t samples, const ForecastHistory* past) {
  api::Forecast note;
  note.samples = static_cast<int64_t>(samples);
  if (past == nullptr) {
    note.method = "limits";
    note.note = "waits assume that every job runs to its time limit; most end earlier";
    return note;
  }
  std::vector<const StartScore*> all;
  for (const StartScore& score : past->scores.scores()) all.push_back(&score);
  const Accuracy accuracy = ComputeAccuracy(all);
  note.method = "history";
  note.note = DescribeAccuracy(accuracy);
  note.accuracy_known = accuracy.jobs >= kEnoughScores;
  note.record = FiguresOf(accuracy);
  return note;
}

api::Advice AdviceAnswer(const Advice& advice, const AdviceRequest& request,
                         const ForecastHistory* past) {
  api::Advice answer;
  answer.name = request.spec.name;
  answer.objective = ToWord(request.by.objective);
  answer.deadline = request.deadline;
  answer.training = LengthOf(request.spec);
  answer.tips = advice.tips;
  answer.assumed = advice.assumptions.sentences;
  answer.unsettled = advice.assumptions.unsettled;
  if (const auto& shorter = advice.shorter_limit) {
    answer.limit_advice = {static_cast<int64_t>(shorter->place) + 1, shorter->limit_seconds,
                           shorter->words};
  }
  if (advice.sweep) answer.sweep = SweepOf(*advice.sweep, *request.array);
  size_t samples = 0;
  for (const Strategy& strategy : advice.strategies) {
    samples = std::max(samples, strategy.start.wait_seconds.size());
    answer.strategies.push_back(StrategyRow(strategy, answer.strategies.size() + 1, request));
  }
  for (const Rejection& rejection : advice.rejected) {
    answer.rejected.push_back(RejectionRow(rejection, advice));
  }
  answer.forecast = ForecastNote(samples, past);
  return answer;
}

}  // namespace gpuadvise::daemon
