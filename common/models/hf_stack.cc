#include "common/models/hf_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "common/base/text.h"

namespace gpuadvise {

using nlohmann::json;

int64_t FirstOf(const json& config, std::initializer_list<const char*> keys) {
  constexpr int64_t kMost = 100'000'000;
  for (const char* key : keys) {
    const auto found = config.find(key);
    if (found == config.end() || !found->is_number_integer()) continue;
    const auto value = found->get<int64_t>();
    if (value >= 1 && value <= kMost) return value;
  }
  return 0;
}

double NumberAt(const json& config, const char* key, double otherwise) {
  const auto found = config.find(key);
  return found != config.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::string TextAt(const json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_string() ? found->get<std::string>() : "";
}

const json* ObjectAt(const json& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto found = config.find(key);
    if (found != config.end() && found->is_object() && !found->empty()) return &*found;
  }
  return nullptr;
}

json DefaultsOf(const std::string& model_type) {
  // Defaults of Transformers' configuration classes (src/transformers/models/*/configuration_*).
  static const std::map<std::string, const char*> kDefaults = {
      {"llama", R"({"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "intermediate_size": 11008, "vocab_size": 32000, "rms_norm_eps": 1e-6})"},
      {"mistral", R"({"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000,
        "rms_norm_eps": 1e-6})"},
      {"gemma", R"({"hidden_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
        "num_key_value_heads": 16, "head_dim": 256, "intermediate_size": 24576,
        "vocab_size": 256000, "rms_norm_eps": 1e-6})"},
      {"gemma2", R"({"hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 9216,
        "vocab_size": 256000, "rms_norm_eps": 1e-6})"},
      {"gemma3_text", R"({"hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 9216,
        "vocab_size": 262208, "rms_norm_eps": 1e-6})"},
      {"clip_vision_model", R"({"hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 224,
        "patch_size": 32})"},
      {"siglip_vision_model", R"({"hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 224,
        "patch_size": 16})"},
      {"pixtral", R"({"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "intermediate_size": 4096, "image_size": 1024, "patch_size": 16, "hidden_act": "silu"})"},
      {"qwen2_vl", R"({"depth": 32, "embed_dim": 1280, "num_heads": 16, "mlp_ratio": 4,
        "patch_size": 14, "spatial_merge_size": 2})"},
      {"qwen2_5_vl", R"({"depth": 32, "hidden_size": 1280, "num_heads": 16,
        "intermediate_size": 3420, "patch_size": 14, "spatial_merge_size": 2,
        "hidden_act": "silu"})"},
  };
  const auto found = kDefaults.find(model_type);
  return found == kDefaults.end() ? json() : json::parse(found->second);
}

namespace {

bool Has(const json& config, std::initializer_list<const char*> keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const char* key) {
    const auto found = config.find(key);
    return found != config.end() && !found->is_null();
  });
}

std::optional<bool> BoolAt(const json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end() || !found->is_boolean()) return {};
  return found->get<bool>();
}

// In lower case.
std::string ActivationOf(const json& config) {
  for (const char* key :
       {"feed_forward_proj", "hidden_act", "hidden_activation", "activation_function", "activation",
        "mlp_hidden_act", "act_fn", "dense_act_fn", "ffn_act_fn"}) {
    if (std::string activation = LowerCase(TextAt(config, key)); !activation.empty()) {
      return activation;
    }
  }
  return "";
}

// Whether the MLP has three matrices (gated) or two. Gated: named GLU; SiLU in a text model; with
// RMSNorm any activation but plain or squared ReLU. Plain: with LayerNorm. nullopt: unknown.
std::optional<bool> GatedMlp(const json& config, const std::string& type) {
  // Their files name neither a GLU nor a conclusive norm.
  if (IsOneOf(type, {"modernbert", "nomic_bert", "new", "qwen", "chatglm", "gte"})) return true;
  if (const auto said = BoolAt(config, "is_gated_act")) return said;
  for (const char* key : {"use_glu", "use_gated_mlp", "gated_mlp", "glu_mlp", "use_swiglu_ffn"}) {
    if (const auto said = BoolAt(config, key)) return said;
  }
  const std::string activation = ActivationOf(config);
  const auto has = [&](const char* word) { return activation.find(word) != std::string::npos; };
  const bool rms_norm = Has(config, {"rms_norm_eps", "rms_norm_epsilon", "norm_rms_eps"}) ||
                        BoolAt(config, "rmsnorm") == true || BoolAt(config, "rms_norm") == true;
  const bool layer_norm =
      Has(config, {"layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon", "norm_epsilon",
                   "layer_norm_elementwise_affine", "do_layer_norm_before", "norm_eps"}) ||
      TextAt(config, "norm_type").ends_with("layernorm");
  if (has("glu") || has("gated")) return true;
  if (has("relu2") || activation == "relu") return false;
  if (has("silu") || has("swish")) return true;
  if (rms_norm) return true;
  if (!activation.empty() || layer_norm) return false;
  if (IsOneOf(type, {"gpt2", "bert", "roberta", "vit", "mpt", "falcon", "gpt_neox", "phi", "bloom",
                     "opt", "gpt_bigcode", "starcoder2", "t5", "distilbert"})) {
    return false;
  }
  return {};
}

// Whether position biases are added to attention scores: stated for MPT and Falcon, always in
// BLOOM.
bool Alibi(const json& config) {
  const auto says = [](const json& part) {
    const auto found = part.find("alibi");
    return found != part.end() && found->is_boolean() && found->get<bool>();
  };
  const auto attention = config.find("attn_config");
  return says(config) ||
         (attention != config.end() && attention->is_object() && says(*attention)) ||
         config.value("model_type", json()) == "bloom";
}

bool Rotary(const json& config, bool gated, StackPart part) {
  const json* attention = ObjectAt(config, {"attn_config"});
  for (const json* each : {&config, attention}) {
    if (each == nullptr) continue;
    if (const auto alibi = BoolAt(*each, "alibi")) return !*alibi;
    if (const auto rope = BoolAt(*each, "rope")) return *rope;
  }
  if (Has(config, {"rope_theta", "global_rope_theta", "rope_parameters", "rotary_pct"}))
    return true;
  const std::string kind = TextAt(config, "position_embedding_type");
  if (kind == "absolute" || kind == "learned_absolute" || kind.starts_with("relative"))
    return false;
  if (Has(config, {"relative_attention_num_buckets", "relative_attention", "n_positions"}) &&
      !Has(config, {"rotary_dim"})) {
    return false;
  }
  if (part == StackPart::kVision) {
    // Towers with position tables state their image size.
    return Has(config, {"rope_theta", "spatial_merge_size"}) ||
           TextAt(config, "model_type") == "pixtral";
  }
  return gated || Has(config, {"rope_theta", "rope_scaling", "rope_parameters", "rotary_emb_base",
                               "rotary_pct", "rotary_dim", "partial_rotary_factor",
                               "rotary_emb_fraction", "multi_query", "global_rope_theta"});
}

bool Dropout(const json& config, const std::string& type) {
  bool said = false;
  for (const char* key :
       {"hidden_dropout_prob", "hidden_dropout", "resid_pdrop", "residual_dropout", "resid_dropout",
        "dropout_rate", "dropout", "hidden_dropout_rate"}) {
    if (!Has(config, {key})) continue;
    said = true;
    if (NumberAt(config, key) > 0) return true;
  }
  // Class default if the file is silent: 0.1.
  return !said && IsOneOf(type, {"bert", "roberta", "xlm-roberta", "distilbert", "electra", "gpt2",
                                 "t5", "mt5", "umt5", "bart", "deberta", "deberta-v2"});
}

// 0: as many as attention heads.
int64_t KeyValueHeads(const json& config) {
  const int64_t said = FirstOf(config, {"num_key_value_heads", "num_kv_heads", "n_head_kv",
                                        "n_kv_heads", "num_query_groups"});
  const bool grouped = BoolAt(config, "multi_query_attention") == true;
  if (grouped) return std::max<int64_t>(1, FirstOf(config, {"multi_query_group_num"}));
  if (BoolAt(config, "multi_query") == true && BoolAt(config, "new_decoder_architecture") != true) {
    return 1;
  }
  if (said > 0) return said;
  const json* attention = ObjectAt(config, {"attn_config"});
  return attention != nullptr ? FirstOf(*attention, {"kv_n_heads"}) : 0;
}

// Number of layers that `layer_types` or similar names with one of `words`.
int64_t CountOf(const json& config, std::initializer_list<const char*> keys,
                std::initializer_list<std::string_view> words) {
  for (const char* key : keys) {
    const auto list = config.find(key);
    if (list == config.end() || !list->is_array()) continue;
    return std::count_if(list->begin(), list->end(), [&](const json& each) {
      return each.is_string() &&
             std::find(words.begin(), words.end(), each.get<std::string>()) != words.end();
    });
  }
  return 0;
}

// Number of layers without experts, out of `layers`.
int64_t DenseLayers(const json& config, int64_t layers) {
  int64_t dense =
      FirstOf(config, {"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"});
  const int64_t step =
      FirstOf(config, {"decoder_sparse_step", "interleave_moe_layer_step", "expert_layer_period",
                       "moe_layer_freq", "moe_layer_interval"});
  if (step > 1) dense += (layers - dense) - (layers - dense) / step;
  const auto list = [&](const char* key) {
    const auto found = config.find(key);
    return found != config.end() && found->is_array() ? &*found : nullptr;
  };
  if (const json* only = list("mlp_only_layers")) dense += static_cast<int64_t>(only->size());
  if (const json* which = list("moe_layers"); which != nullptr && !which->empty()) {
    dense = layers - static_cast<int64_t>(which->size());
  }
  if (const json* each = list("moe_layer_freq")) {  // 0 or 1 per layer
    dense = std::count(each->begin(), each->end(), json(0));
  }
  if (list("mlp_layer_types") != nullptr) dense = CountOf(config, {"mlp_layer_types"}, {"dense"});
  return std::clamp<int64_t>(dense, 0, layers);
}

void ReadExperts(const json& config, const std::string& type, HfStack& found) {
  TransformerStack& stack = found.layers;
  const json* nested = ObjectAt(config, {"ffn_config"});  // DBRX
  const json& from = nested != nullptr && Has(*nested, {"moe_num_experts"}) ? *nested : config;
  const int64_t experts = FirstOf(from, {"num_local_experts", "n_routed_experts", "num_experts",
                                         "moe_num_experts", "num_routed_experts"});
  if (experts <= 1) return;
  stack.num_experts = experts;
  stack.num_experts_per_tok =
      FirstOf(from, {"num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k",
                     "moe_k", "num_selected_experts", "top_k_experts", "experts_per_token"});
  if (stack.num_experts_per_tok == 0) {
    stack.num_experts_per_tok = std::min<int64_t>(2, experts);
    found.assumed.emplace_back("2 experts a token: the file does not say num_experts_per_tok");
  }
  stack.moe_intermediate_size = FirstOf(from, {"moe_intermediate_size", "expert_intermediate_size",
                                               "expert_ffn_hidden_size", "ffn_hidden_size"});
  if (stack.moe_intermediate_size == 0) stack.moe_intermediate_size = stack.intermediate_size;
  stack.num_dense_layers = DenseLayers(config, stack.num_hidden_layers);
  const int64_t shared = FirstOf(config, {"n_shared_experts", "num_shared_experts",
                                          "num_shared_expert", "moe_num_shared_experts"});
  stack.shared_intermediate_size =
      FirstOf(config, {"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                       "shared_intermediate_size"});
  if (stack.shared_intermediate_size == 0) {
    constexpr int64_t kWidest = 100'000'000;
    stack.shared_intermediate_size = std::min(shared * stack.moe_intermediate_size, kWidest);
  }
  if (type.starts_with("llama4")) {  // one shared expert; separate width for dense layers
    stack.shared_intermediate_size = stack.moe_intermediate_size;
    const int64_t dense = FirstOf(config, {"intermediate_size_mlp"});
    if (dense > 0) stack.intermediate_size = dense;
  }
  if (BoolAt(config, "enable_moe_block") == true) {  // Gemma 4 keeps the dense MLP as well
    stack.shared_intermediate_size = stack.intermediate_size;
  }
}

void ReadLatentAttention(const json& config, TransformerStack& stack) {
  stack.kv_lora_rank = FirstOf(config, {"kv_lora_rank"});
  if (stack.kv_lora_rank == 0) return;
  stack.q_lora_rank = FirstOf(config, {"q_lora_rank"});
  stack.qk_rope_head_dim = FirstOf(config, {"qk_rope_head_dim"});
  stack.v_head_dim = FirstOf(config, {"v_head_dim"});
  const int64_t plain = FirstOf(config, {"qk_nope_head_dim"});
  if (plain > 0) stack.head_dim = plain + stack.qk_rope_head_dim;
  stack.num_key_value_heads = 0;  // each head has its own projected keys
}

// Matrices of one linear-attention or state-space layer that replaces attention. Sources: papers
// and reference code of Mamba (arXiv 2312.00752), Mamba-2 (2405.21060) and gated delta networks
// (2412.06464).
double MixerParameters(const json& config, int64_t hidden) {
  const auto h = static_cast<double>(hidden);
  const auto number = [&](std::initializer_list<const char*> keys, double otherwise) {
    const int64_t found = FirstOf(config, keys);
    return found > 0 ? static_cast<double>(found) : otherwise;
  };
  if (Has(config, {"linear_num_value_heads"})) {
    const double keys = number({"linear_num_key_heads"}, 16) * number({"linear_key_head_dim"}, 128);
    const double heads = number({"linear_num_value_heads"}, 32);
    const double values = heads * number({"linear_value_head_dim"}, 128);
    return h * (2 * keys + 2 * values + 2 * heads) + values * h;
  }
  const double state = number({"mamba_d_state", "ssm_state_size", "state_size"}, 16);
  const double heads = number({"mamba_n_heads", "mamba_num_heads", "n_mamba_heads"}, 0);
  const double of_heads = heads * number({"mamba_d_head", "mamba_head_dim"}, 0);
  const double expanded = h * number({"mamba_expand", "expand"}, 2);
  const double inner = number({"mamba_d_ssm"}, of_heads > 0 ? of_heads : expanded);
  if (heads > 0) {
    const double groups = number({"mamba_n_groups", "n_groups", "mamba_ngroups"}, 1);
    return h * (2 * inner + 2 * groups * state + heads) + inner * h;
  }
  const double step = number({"mamba_dt_rank", "time_step_rank"}, std::ceil(h / 16));
  return 2 * h * inner + inner * (step + 2 * state) + step * inner + inner * state + inner * h;
}

// Layers without softmax attention, and whether they have an MLP.
struct Mixers {
  int64_t layers = 0;
  int64_t without_mlp = 0;        // of all layers
  int64_t without_attention = 0;  // of all layers, including mixers
};

Mixers MixersOf(const json& config, const std::string& type, int64_t layers) {
  Mixers mixers;
  const std::string pattern = TextAt(config, "hybrid_override_pattern");  // Nemotron-H: "M-M*-"
  if (!pattern.empty()) {
    mixers.layers = std::count(pattern.begin(), pattern.end(), 'M');
    mixers.without_mlp = layers - std::count(pattern.begin(), pattern.end(), '-');
    mixers.without_attention = layers - std::count(pattern.begin(), pattern.end(), '*');
    return mixers;
  }
  mixers.layers = CountOf(config, {"layer_types", "layers_block_type"},
                          {"linear_attention", "mamba", "mamba2", "recurrent"});
  const int64_t period = FirstOf(config, {"attn_layer_period", "full_attention_interval"});
  if (mixers.layers == 0 && period > 1) mixers.layers = layers - layers / period;
  if (const auto at = config.find("attn_layer_indices");
      mixers.layers == 0 && at != config.end() && at->is_array()) {
    mixers.layers = layers - static_cast<int64_t>(at->size());
  }
  if (IsOneOf(type, {"mamba", "mamba2", "falcon_mamba"})) {
    mixers.layers = layers;
    mixers.without_mlp = layers;
  }
  mixers.layers = std::clamp<int64_t>(mixers.layers, 0, layers);
  mixers.without_attention = mixers.layers;
  return mixers;
}

// Adds the difference to a stack of attention layers, and reports what it means for memory.
void AddMixers(const json& config, const std::string& type, HfStack& found) {
  const TransformerStack& stack = found.layers;
  const Mixers mixers = MixersOf(config, type, stack.num_hidden_layers);
  if (mixers.layers == 0 || stack.hidden_size == 0) return;
  const int64_t heads = std::max<int64_t>(1, stack.num_attention_heads);
  const int64_t head = stack.head_dim > 0 ? stack.head_dim : stack.hidden_size / heads;
  const int64_t kv = stack.num_key_value_heads > 0 ? stack.num_key_value_heads : heads;
  const auto h = static_cast<double>(stack.hidden_size);
  const double attention = 2 * h * static_cast<double>((heads + kv) * head);
  const double mlp = (stack.gated_mlp ? 3 : 2) * h * static_cast<double>(stack.intermediate_size);
  found.other_params +=
      static_cast<double>(mixers.layers) * MixerParameters(config, stack.hidden_size) -
      static_cast<double>(mixers.without_attention) * attention -
      static_cast<double>(mixers.without_mlp) * mlp;
  if (Has(config, {"linear_num_value_heads"})) {  // Qwen3-Next: gated output in full attention
    found.other_params += static_cast<double>(stack.num_hidden_layers - mixers.layers) * h *
                          static_cast<double>(heads * head);
  }
  found.assumed.push_back(fmt::format(
      "{} of {} layers are linear attention or a state space: their weights are counted; what they "
      "keep for the backward pass and their time are counted as attention's",
      mixers.layers, stack.num_hidden_layers));
}

}  // namespace

HfStack ReadHfStack(const json& config, const std::string& type, StackPart part) {
  HfStack found;
  TransformerStack& stack = found.layers;
  const bool encoder = part == StackPart::kEncoder;
  const bool vision = part == StackPart::kVision;
  if (vision) stack.hidden_size = FirstOf(config, {"embed_dim", "width"});
  if (stack.hidden_size == 0) {
    stack.hidden_size = FirstOf(config, {"hidden_size", "n_embd", "d_model", "model_dim", "dim",
                                         "embed_dim", "n_embed", "width", "encoder_hidden_size"});
  }
  stack.num_hidden_layers =
      encoder ? FirstOf(config, {"encoder_layers", "num_encoder_layers", "num_layers"})
              : FirstOf(config, {"decoder_layers", "num_decoder_layers"});
  if (stack.num_hidden_layers == 0) {
    stack.num_hidden_layers = FirstOf(
        config, {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "depth", "layers"});
  }
  stack.num_attention_heads = encoder ? FirstOf(config, {"encoder_attention_heads"})
                                      : FirstOf(config, {"decoder_attention_heads"});
  if (stack.num_attention_heads == 0) {
    stack.num_attention_heads = FirstOf(config, {"num_attention_heads", "n_head", "n_heads",
                                                 "num_heads", "heads", "encoder_attention_heads"});
  }
  stack.num_key_value_heads = KeyValueHeads(config);
  stack.head_dim = FirstOf(config, {"head_dim", "d_kv", "kv_channels", "attention_head_dim"});
  stack.intermediate_size =
      encoder ? FirstOf(config, {"encoder_ffn_dim"}) : FirstOf(config, {"decoder_ffn_dim"});
  if (stack.intermediate_size == 0) {
    stack.intermediate_size =
        FirstOf(config, {"intermediate_size", "n_inner", "d_ff", "ffn_dim", "ffn_hidden_size",
                         "inner_hidden_size", "mlp_dim", "hidden_dim", "encoder_ffn_dim"});
  }
  if (const auto widths = config.find("intermediate_size");  // one per layer: Gemma 3n
      widths != config.end() && widths->is_array()) {
    double sum = 0;
    for (const json& width : *widths) sum += width.is_number_unsigned() ? width.get<double>() : 0;
    const double mean = widths->empty() ? 0 : sum / static_cast<double>(widths->size());
    stack.intermediate_size = mean < 1e8 ? std::llround(mean) : 0;
  }
  const double ratio = NumberAt(config, "mlp_ratio", NumberAt(config, "expansion_ratio"));
  if (stack.intermediate_size == 0 && ratio > 0 && ratio < 100) {
    stack.intermediate_size = std::llround(ratio * static_cast<double>(stack.hidden_size));
  }
  const std::optional<bool> gated = GatedMlp(config, type);
  found.says_its_mlp = gated.has_value();
  stack.gated_mlp = gated.value_or(!vision);
  stack.alibi = Alibi(config);
  // T5's gated-gelu is gelu_new, too.
  const std::string activation = ActivationOf(config);
  stack.gelu_new = activation == "gelu_new" || activation == "gated-gelu";
  stack.rotary = Rotary(config, stack.gated_mlp, part);
  stack.dropout = Dropout(config, type);
  if (type == "qwen" && stack.intermediate_size > 0) stack.intermediate_size /= 2;  // a sum
  if (vision) return found;
  ReadLatentAttention(config, stack);
  ReadExperts(config, type, found);
  AddMixers(config, type, found);
  return found;
}

}  // namespace gpuadvise
