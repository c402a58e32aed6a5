// GET /v1/free: how many GPUs of each type will be free over the next hours.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/api/free.h"
#include "common/gpu/gpu_pool.h"
#include "common/slurm/gres.h"
#include "common/slurm/node_state.h"
#include "daemon/answers/views.h"

namespace gpuadvise::daemon {

nlohmann::json AnswerFree(int64_t hours, const AdviceContext& context,
                          const FreeForecast& forecast) {
  const size_t asked = static_cast<size_t>(hours * 3600 / kFreeStepSeconds) + 1;
  api::FreeGpus answer;
  std::set<std::pair<const Node*, std::string>> counted;  // a node may be in several partitions
  size_t steps = asked;
  for (const GpuPool& pool : context.Pools()) {
    auto row = std::find_if(answer.gpus.begin(), answer.gpus.end(),
                            [&](const auto& known) { return known.gpu == pool.Id(); });
    if (row == answer.gpus.end()) {
      row = answer.gpus.insert(row, {pool.Id(), pool.Name(), 0, 0, {}, {}, {}});
    }
    for (const Node* node : pool.nodes) {
      if (!counted.emplace(node, pool.gres_type).second) continue;
      const int64_t gpus = GpusOfType(node->gpus, pool.gres_type);
      row->total += gpus;
      if (IsUsable(node->state)) row->usable += gpus;
    }
  }
  for (const auto& [type, counts] : forecast.types) steps = std::min(steps, counts.size());
  for (api::FreeGpusOfType& row : answer.gpus) {
    const auto found = forecast.types.find(row.gpu);
    for (size_t step = 0; step < steps; ++step) {
      const FreeCount count =
          found == forecast.types.end() ? FreeCount() : found->second[step];  // none is usable
      row.p10.push_back(count.p10);
      row.p50.push_back(count.p50);
      row.p90.push_back(count.p90);
    }
  }
  answer.start = context.snapshot.taken_at;
  answer.step_seconds = kFreeStepSeconds;
  answer.until = answer.start + static_cast<int64_t>(steps - 1) * kFreeStepSeconds;
  answer.samples = forecast.samples;
  answer.watched_seconds = forecast.watched_seconds;
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
