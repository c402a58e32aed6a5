#include "common/training/adapters.h"

#include <algorithm>
#include <array>

namespace gpuadvise {
namespace {

// Whether a name of target_modules means the linear layer: "q_proj", "q", "query".
bool Means(const std::string& target, const std::string& linear) {
  if (target == "all-linear" || target == linear) return true;
  const std::string first = linear.substr(0, linear.find('_'));
  static constexpr std::array<std::pair<const char*, const char*>, 9> kSpellings = {
      {{"query", "q"},
       {"key", "k"},
       {"value", "v"},
       {"wi", "up"},
       {"wo", "down"},
       {"fc1", "up"},
       {"fc2", "down"},
       {"out_proj", "o"},
       {"dense", "o"}}};
  if (target == "qkv_proj" || target == "query_key_value" || target == "c_attn") {
    return first == "q" || first == "k" || first == "v";
  }
  return target == first ||
         std::any_of(kSpellings.begin(), kSpellings.end(), [&](const auto& each) {
           return target == each.first && first == each.second;
         });
}

}  // namespace

bool IsAdapted(const LinearLayer& linear, const TrainingSetup& setup) {
  if (setup.method == Method::kFull) return false;
  const auto& targets = setup.target_modules;
  return targets.empty() || std::any_of(targets.begin(), targets.end(),
                                        [&](const auto& name) { return Means(name, linear.name); });
}

double AdapterParameters(const TransformerStack& stack, const TrainingSetup& setup) {
  double parameters = 0;
  for (const LinearLayer& linear : LinearsOf(stack)) {
    if (!IsAdapted(linear, setup)) continue;
    double each =
        static_cast<double>(setup.lora_rank) * static_cast<double>(linear.in + linear.out);
    if (setup.method == Method::kDora) each += static_cast<double>(linear.out);
    parameters += static_cast<double>(linear.count) * each;
  }
  return parameters;
}

double SavedModules(const ModelShape& model, const TrainingSetup& setup) {
  const auto table = static_cast<double>(model.vocab_size * model.layers.hidden_size);
  double parameters = 0;
  for (const std::string& name : setup.modules_to_save) {
    const bool known =
        name == "embed_tokens" || name == "lm_head" || name == "wte" || name == "embeddings";
    if (known) parameters += table;
  }
  return parameters;
}

}  // namespace gpuadvise
