// How many questions: shapes (one GPU, half a node, a node, two nodes) × three limits for each GPU
// type and partition, and 1, 2, 4 and 8 GPUs × the limits, most of which are among those: some 15
// to 21 a partition and type. Sites with many partitions over the same nodes would ask thousands,
// so that of each type only the largest partitions are asked, kMostQuestions in all.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "common/api/waits.h"
#include "common/gpu/gpu_pool.h"
#include "common/scheduler/node_pool.h"
#include "common/slurm/gres.h"
#include "common/slurm/node_state.h"
#include "daemon/answers/advice_json.h"
#include "daemon/answers/views.h"
#include "daemon/answers/visibility.h"
#include "daemon/answers/wait_questions.h"

namespace gpuadvise::daemon {

namespace {

constexpr int64_t kLimits[] = {3600, 8 * 3600, 24 * 3600};
constexpr int64_t kSizes[] = {1, 2, 4, 8};
constexpr size_t kMostQuestions = 2'000;
constexpr size_t kQuestionsPerPool = 21;
constexpr size_t kChoices = 3;

// One GPU type over all partitions.
struct WaitType {
  const GpuPool* first = nullptr;
  std::set<std::string> partitions;
  std::set<std::pair<const Node*, std::string>> gpus;  // node and GRES type: each counts once
  int64_t per_node = 0;
};

// In the order in which the types appear.
std::vector<WaitType> TypesOf(const std::vector<GpuPool>& pools) {
  std::vector<WaitType> types;
  for (const GpuPool& pool : pools) {
    auto type = std::find_if(types.begin(), types.end(),
                             [&](const WaitType& known) { return known.first->Id() == pool.Id(); });
    if (type == types.end()) type = types.insert(type, WaitType{&pool, {}, {}, 0});
    type->partitions.insert(pool.partition->name);
    type->per_node = std::max(type->per_node, pool.gpus_per_node);
    for (const Node* node : pool.nodes) type->gpus.emplace(node, pool.gres_type);
  }
  return types;
}

struct GpuRequest {
  const char* name;
  int64_t gpus_per_node;
  int64_t nodes;
};

// Those that are not the same as one before.
std::vector<GpuRequest> ShapesOf(int64_t per_node) {
  std::vector<GpuRequest> shapes;
  for (const GpuRequest& shape : {GpuRequest{"one", 1, 1},
                                  {"half_node", per_node / 2, 1},
                                  {"node", per_node, 1},
                                  {"two_nodes", per_node, 2}}) {
    const bool known = std::any_of(shapes.begin(), shapes.end(), [&](const GpuRequest& other) {
      return other.gpus_per_node == shape.gpus_per_node && other.nodes == shape.nodes;
    });
    if (shape.gpus_per_node > 0 && !known) shapes.push_back(shape);
  }
  return shapes;
}

// Whether a job of so many of them is worth naming: slices cannot work together.
bool MayBeBest(const WaitType& type, int64_t gpus) {
  const bool slice = type.first->model != nullptr && type.first->model->is_mig_slice;
  return gpus <= type.per_node && (gpus == 1 || !slice);
}

void AddQuestions(const std::vector<WaitType>& types, WaitQuestions& questions) {
  for (const WaitType& type : types) {
    for (const size_t pool : questions.PoolsOf(type.first->Id())) {
      for (const int64_t limit : kLimits) {
        for (const GpuRequest& shape : ShapesOf(type.per_node)) {
          questions.Add(pool, {shape.gpus_per_node, shape.nodes, limit});
        }
        for (const int64_t size : kSizes) {
          if (MayBeBest(type, size)) questions.Add(pool, {size, 1, limit});
        }
      }
    }
  }
}

// The partition where such a job starts first; the first of all where it starts nowhere.
size_t BestPool(const WaitType& type, const WaitShape& shape, const WaitQuestions& questions) {
  const std::vector<size_t>& pools = questions.PoolsOf(type.first->Id());
  return *std::min_element(pools.begin(), pools.end(), [&](size_t a, size_t b) {
    const PoolWait& of_a = questions.WaitOf(a, shape);
    const PoolWait& of_b = questions.WaitOf(b, shape);
    return std::tuple(!of_a.why_not.empty(), of_a.p50, of_a.p90) <
           std::tuple(!of_b.why_not.empty(), of_b.p50, of_b.p90);
  });
}

// Everything that the rows are made from.
struct WaitQuestion {
  const std::vector<GpuPool>& pools;
  const std::vector<WaitType>& types;
  const WaitQuestions& questions;
};

api::ShapeWait WaitRow(const WaitType& type, const GpuRequest& named, int64_t limit,
                       const WaitQuestion& asked) {
  const WaitShape shape{named.gpus_per_node, named.nodes, limit};
  const size_t pool = BestPool(type, shape, asked.questions);
  const PoolWait& wait = asked.questions.WaitOf(pool, shape);
  api::ShapeWait row;
  row.shape = named.name;
  row.gpus_per_node = named.gpus_per_node;
  row.nodes = named.nodes;
  row.time_limit_seconds = limit;
  if (!wait.why_not.empty()) {
    row.reason = wait.why_not;
    return row;
  }
  row.partition = asked.pools[pool].partition->name;
  row.wait_p10_seconds = std::llround(wait.p10);
  row.wait_p50_seconds = std::llround(wait.p50);
  row.wait_p90_seconds = std::llround(wait.p90);
  return row;
}

api::GpuWaits RowOfType(const WaitType& type, const WaitQuestion& asked) {
  api::GpuWaits row;
  row.gpu = type.first->Id();
  row.gpu_name = type.first->Name();
  if (type.first->model != nullptr) row.memory_bytes = type.first->model->memory_bytes;
  row.partitions.assign(type.partitions.begin(), type.partitions.end());
  row.gpus_per_node = type.per_node;
  std::set<const Node*> nodes;
  for (const auto& [node, gres_type] : type.gpus) {
    nodes.insert(node);
    row.total += GpusOfType(node->gpus, gres_type);
    if (IsUsable(node->state)) row.usable += GpusOfType(node->gpus, gres_type);
    row.free += CountFreeGpus(*node, gres_type);
  }
  row.nodes = static_cast<int64_t>(nodes.size());
  for (const GpuRequest& shape : ShapesOf(type.per_node)) {
    for (const int64_t limit : kLimits) row.waits.push_back(WaitRow(type, shape, limit, asked));
  }
  return row;
}

struct PoolChoice {
  const GpuPool* pool = nullptr;
  const PoolWait* wait = nullptr;

  // By median wait to the minute, then by its 90th percentile, then the faster card.
  friend bool operator<(const PoolChoice& a, const PoolChoice& b) {
    const auto rank = [](const PoolChoice& each) {
      const GpuModel* model = each.pool->model;
      return std::tuple(std::floor(each.wait->p50 / 60), std::floor(each.wait->p90 / 60),
                        model != nullptr ? -model->dense_tflops : 0.0);
    };
    return rank(a) < rank(b);
  }
};

std::vector<PoolChoice> ChoicesFor(int64_t size, int64_t limit, const WaitQuestion& asked) {
  std::vector<PoolChoice> choices;
  for (const WaitType& type : asked.types) {
    if (!MayBeBest(type, size)) continue;
    const WaitShape shape{size, 1, limit};
    const size_t pool = BestPool(type, shape, asked.questions);
    const PoolWait& wait = asked.questions.WaitOf(pool, shape);
    if (wait.why_not.empty()) choices.push_back({&asked.pools[pool], &wait});
  }
  std::stable_sort(choices.begin(), choices.end());
  if (choices.size() > kChoices) choices.resize(kChoices);
  return choices;
}

std::vector<api::BestChoices> BestOf(const WaitQuestion& asked) {
  std::vector<api::BestChoices> best;
  for (const int64_t size : kSizes) {
    if (std::none_of(asked.types.begin(), asked.types.end(),
                     [&](const WaitType& type) { return MayBeBest(type, size); })) {
      continue;
    }
    for (const int64_t limit : kLimits) {
      api::BestChoices& row = best.emplace_back();
      row.gpus_per_node = size;
      row.nodes = 1;
      row.time_limit_seconds = limit;
      for (const PoolChoice& choice : ChoicesFor(size, limit, asked)) {
        row.choices.push_back({choice.pool->Id(), choice.pool->Name(), choice.pool->partition->name,
                               std::llround(choice.wait->p50), std::llround(choice.wait->p90),
                               std::llround(choice.wait->mean)});
      }
    }
  }
  return best;
}

// Of the jobs that the caller may see; those that wait and those that run.
std::pair<int64_t, int64_t> CountJobs(const Snapshot& snapshot, const Submitter& caller) {
  const Visibility seen(snapshot, caller);
  std::pair<int64_t, int64_t> counts;
  for (const Job& job : snapshot.jobs) {
    if (!seen.SeesOneOf(job.request.partitions)) continue;
    ++(HoldsNodes(job) ? counts.second : counts.first);
  }
  return counts;
}

}  // namespace

nlohmann::json AnswerWaits(const AdviceContext& context, const Submitter& caller) {
  const std::vector<GpuPool>& pools = context.Pools();
  const std::vector<WaitType> types = TypesOf(pools);
  const size_t for_each_type =
      kMostQuestions / kQuestionsPerPool / std::max<size_t>(types.size(), 1);
  WaitQuestions questions(pools, std::max<size_t>(for_each_type, 1));
  AddQuestions(types, questions);
  questions.Ask(context, caller);
  const WaitQuestion asked{pools, types, questions};
  api::Waits answer;
  for (const WaitType& type : types) answer.gpus.push_back(RowOfType(type, asked));
  answer.best = BestOf(asked);
  std::tie(answer.pending, answer.running) = CountJobs(context.snapshot, caller);
  answer.forecast = ForecastNote(questions.Samples(), PastBehind(context.queue));
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
