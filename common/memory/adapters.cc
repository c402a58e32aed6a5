#include "common/memory/adapters.h"

#include <algorithm>
#include <array>

#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise {
namespace {

// Whether a name in target_modules matches the linear layer: "q_proj", "q", "query".
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

std::string MistypedTarget(const ModelShape& model, const TrainingSetup& setup) {
  // Modules of other models and of state-space layers, which look like mistakes.
  static constexpr std::array<std::string_view, 14> kOthers = {
      "c_proj", "c_fc", "in_proj", "x_proj", "dt_proj", "kv_proj", "qkv",
      "proj",   "wq",   "wk",      "wv",     "w1",      "w2",      "w3"};
  std::vector<LinearLayer> layers = ListLinearLayers(model.layers);
  if (model.encoder) {
    const std::vector<LinearLayer> more = ListLinearLayers(*model.encoder);
    layers.insert(layers.end(), more.begin(), more.end());
  }
  std::vector<std::string> names;
  for (const LinearLayer& layer : layers) names.emplace_back(layer.name);
  for (const std::string& target : setup.target_modules) {
    const bool known = std::find(kOthers.begin(), kOthers.end(), target) != kOthers.end() ||
                       std::any_of(names.begin(), names.end(),
                                   [&](const auto& name) { return Means(target, name); });
    if (!known && !NearestName(target, names).empty()) {
      return Quoted(target) + DidYouMean(target, names);
    }
  }
  return "";
}

double AdapterParameters(const TransformerStack& stack, const TrainingSetup& setup) {
  double parameters = 0;
  for (const LinearLayer& linear : ListLinearLayers(stack)) {
    if (!IsAdapted(linear, setup)) continue;
    double each =
        static_cast<double>(setup.lora_rank) * static_cast<double>(linear.in + linear.out);
    if (setup.method == Method::kDora) each += static_cast<double>(linear.out);
    parameters += static_cast<double>(linear.count) * each;
  }
  return parameters;
}

bool TrainsTower(const ModelShape& model, const TrainingSetup& setup) {
  return model.vision && !model.vision->frozen.value_or(setup.method != Method::kFull);
}

double TextAdapterParameters(const ModelShape& model, const TrainingSetup& setup) {
  double parameters = AdapterParameters(model.layers, setup);
  if (model.encoder) parameters += AdapterParameters(*model.encoder, setup);
  if (TrainsTower(model, setup)) parameters += AdapterParameters(model.vision->layers, setup);
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
