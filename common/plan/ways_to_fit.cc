#include "common/plan/ways_to_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"
#include "common/plan/fit.h"

namespace gpuadvise {
namespace {

constexpr size_t kMostSentences = 2;

// Of the first stage that fits in no way; empty where there is none.
std::vector<std::string> ChangesThatFit(const std::vector<StageFit>& stages) {
  for (const StageFit& stage : stages) {
    for (const FitRow& row : stage.rows) {
      if (row.shape && row.shape->would_fit_with) return *row.shape->would_fit_with;
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> WaysToFit(const TrainSpec& spec, const ModelPresets& presets,
                                   const GpuCatalogue& catalogue,
                                   std::vector<GpusOfOneJob> places) {
  std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
    return a.gpu->memory_bytes * a.count > b.gpu->memory_bytes * b.count;
  });
  std::vector<std::string> sentences;
  for (const GpusOfOneJob& place : places) {
    const Result<std::vector<StageFit>> stages =
        FitStages({spec, presets, catalogue, {place.gpu}, place.count, {}});
    const std::vector<std::string> changes =
        stages ? ChangesThatFit(*stages) : std::vector<std::string>();
    if (changes.empty()) continue;
    sentences.push_back(fmt::format("{} × {}: one sample would fit with {}",
                                    place.gpu->display_name, place.count, JoinNames(changes)));
    if (sentences.size() == kMostSentences) break;
  }
  return sentences;
}

}  // namespace gpuadvise
