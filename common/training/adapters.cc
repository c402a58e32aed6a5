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

std::vector<Linear> LinearsOf(const TransformerStack& stack) {
  const int64_t h = stack.hidden_size;
  const bool experts = stack.num_experts > 0;
  const int64_t i = experts ? stack.moe_intermediate_size : stack.intermediate_size;
  const double copies = experts ? static_cast<double>(stack.num_experts) : 1;
  std::vector<Linear> linears = {
      {"q_proj", h, stack.query_size()}, {"k_proj", h, stack.key_size()},
      {"v_proj", h, stack.key_size()},   {"o_proj", stack.query_size(), h},
      {"up_proj", h, i, copies},         {"down_proj", i, h, copies}};
  if (stack.gated_mlp) linears.push_back({"gate_proj", h, i, copies});
  return linears;
}

bool IsAdapted(const Linear& linear, const TrainingSetup& setup) {
  if (setup.method == Method::kFull) return false;
  const auto& targets = setup.target_modules;
  return targets.empty() || std::any_of(targets.begin(), targets.end(),
                                        [&](const auto& name) { return Means(name, linear.name); });
}

double AdapterParameters(const TransformerStack& stack, const TrainingSetup& setup) {
  double parameters = 0;
  for (const Linear& linear : LinearsOf(stack)) {
    if (!IsAdapted(linear, setup)) continue;
    double each = static_cast<double>(setup.lora_rank * (linear.in + linear.out));
    if (setup.method == Method::kDora) each += static_cast<double>(linear.out);
    parameters += linear.copies * each;
  }
  return parameters * static_cast<double>(stack.num_hidden_layers);
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
