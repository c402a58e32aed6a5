#include "common/training/optimizer_bytes.h"

#include <algorithm>
#include <array>

namespace gpuadvise {
namespace {

// Numbers that are kept for each parameter. Sources: the classes of PyTorch, bitsandbytes and
// Transformers that the names stand for.
struct Family {
  std::string_view name;  // part of the optimizer's name
  double numbers;         // of a matrix's parameter
  double of_tables;       // of embeddings
};

constexpr double kFactored = 0.005;  // a row and a column for each matrix

// The first that is found in the name counts.
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
    {"muon", 1, 2},  // momentum alone; AdamW for what is no matrix of a layer
    {"rmsprop", 1, 1},
    {"adagrad", 1, 1},
    {"sgd", 0, 0},  // without momentum, as Transformers makes it
});

// Rank that GaLore and APOLLO project gradients to, unless optim_args say otherwise.
constexpr double kGaloreRank = 128;
constexpr double kApolloRank = 256;

}  // namespace

OptimizerBytes BytesOfOptimizer(std::string_view optim, bool half, double hidden_size) {
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
  if (has("4bit")) number = 0.5 + 2.0 / 128;  // a scale for each block of 128
  bytes.states = numbers * number;
  bytes.table_states = of_tables * number;
  const double rank = has("apollo")   ? (has("mini") ? 1 : kApolloRank)
                      : has("galore") ? kGaloreRank
                                      : 0;
  if (rank > 0 && hidden_size > 0) {
    // States of the projected gradient, and the projection itself.
    const double share = std::min(rank / hidden_size, 1.0);
    bytes.states = share * (bytes.states + (half ? 2 : 4));
  }
  bytes.gradients = !has("lomo") && !has("layerwise");
  bytes.paged = optim.starts_with("paged");
  return bytes;
}

}  // namespace gpuadvise
