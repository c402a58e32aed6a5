#include "common/models/optimizer_bytes.h"

#include <algorithm>
#include <array>

namespace gpuadvise {
namespace {

// Numbers kept per parameter. Sources: the PyTorch, bitsandbytes and Transformers classes behind
// the names.
struct Family {
  std::string_view name;  // part of the optimizer's name
  double numbers;         // per matrix parameter
  double of_tables;       // per embedding parameter
};

constexpr double kFactored = 0.005;  // one row and one column per matrix

// The first match in the name counts.
constexpr auto kFamilies = std::to_array<Family>({
    {"adalomo", kFactored, kFactored},
    {"lomo", 0, 0},
    {"adafactor", kFactored, kFactored},
    {"ademamix", 3, 3},  // two averages of the gradient, one of its square
    {"grokadamw", 3, 3},
    {"schedule_free_sgd", 1, 1},
    {"adam", 2, 2},
    {"lamb", 2, 2},
    {"lion", 1, 1},
    {"lars", 1, 1},
    {"muon", 1, 2},  // momentum only; AdamW outside layer matrices
    {"rmsprop", 1, 1},
    {"adagrad", 1, 1},
    {"sgd", 0, 0},  // without momentum, as in Transformers
});

// Projection rank of GaLore and APOLLO unless optim_args sets it.
constexpr double kGaloreRank = 128;
constexpr double kApolloRank = 256;

}  // namespace

OptimizerBytes LookUpOptimizerBytes(std::string_view optim, bool half, double hidden_size) {
  const auto has = [&](std::string_view word) {
    return optim.find(word) != std::string_view::npos;
  };
  const auto family = std::find_if(kFamilies.begin(), kFamilies.end(),
                                   [&](const Family& each) { return has(each.name); });
  OptimizerBytes bytes;
  bytes.known = family != kFamilies.end() || has("radam");
  const double numbers = family != kFamilies.end() ? family->numbers : 2;
  const double of_tables = family != kFamilies.end() ? family->of_tables : 2;
  double number = half ? 2 : 4;
  if (has("8bit")) number = 1;
  if (has("4bit")) number = 0.5 + 2.0 / 128;  // one scale per block of 128
  bytes.states = numbers * number;
  bytes.table_states = of_tables * number;
  const double rank = has("apollo")   ? (has("mini") ? 1 : kApolloRank)
                      : has("galore") ? kGaloreRank
                                      : 0;
  if (rank > 0 && hidden_size > 0) {
    // States of the projected gradient, plus the projection.
    const double share = std::min(rank / hidden_size, 1.0);
    bytes.states = share * (bytes.states + (half ? 2 : 4));
  }
  bytes.gradients = !has("lomo") && !has("layerwise");
  bytes.paged = optim.starts_with("paged");
  return bytes;
}

}  // namespace gpuadvise
