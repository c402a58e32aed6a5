#include "common/models/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/models/hf_stack.h"
#include "common/models/hf_vision.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

bool IsTrueAt(const json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_boolean() && found->get<bool>();
}

// Types that need no note about assumptions.
bool IsKnownType(const std::string& type) {
  static const std::vector<std::string_view> kKnown = {
      "llama",      "mistral",    "mixtral",     "qwen",        "qwen2",
      "qwen3",      "qwen2_vl",   "qwen2_5_vl",  "qwen3_vl",    "qwen2_moe",
      "qwen3_moe",  "qwen3_next", "gemma",       "gemma2",      "gemma3",
      "gemma3n",    "gemma4",     "phi",         "phi3",        "phimoe",
      "gpt2",       "gptj",       "gpt_neo",     "gpt_neox",    "gpt_bigcode",
      "gpt_oss",    "bert",       "roberta",     "xlm-roberta", "distilbert",
      "electra",    "deberta",    "deberta-v2",  "albert",      "mpnet",
      "modernbert", "nomic_bert", "vit",         "t5",          "mt5",
      "umt5",       "bart",       "mbart",       "pegasus",     "mpt",
      "falcon",     "stablelm",   "bloom",       "opt",         "starcoder2",
      "smollm3",    "openvla",    "deepseek_v2", "deepseek_v3", "llama4",
      "glm",        "glm4",       "glm4_moe",    "chatglm",     "granite",
      "granitemoe", "olmo",       "olmo2",       "olmoe",       "cohere",
      "cohere2",    "exaone",     "exaone4",     "internlm2",   "internlm3",
      "baichuan",   "minicpm",    "minicpm3",    "nemotron",    "dbrx",
      "jamba",      "nemotron_h", "mllama",      "falcon_h1",   "granitemoehybrid"};
  std::string plain = type;
  if (plain.ends_with("_text")) plain.erase(plain.size() - 5);
  return std::find(kKnown.begin(), kKnown.end(), plain) != kKnown.end();
}

// The class that wrote the file; "" if not stated.
std::string ArchitectureOf(const json& config) {
  const auto list = config.find("architectures");
  if (list == config.end() || !list->is_array() || list->empty()) return {};
  return (*list)[0].is_string() ? (*list)[0].get<std::string>() : "";
}

bool IsEncoderOnly(const std::string& type, const std::string& architecture) {
  return IsOneOf(type, {"bert",
                        "roberta",
                        "xlm-roberta",
                        "camembert",
                        "distilbert",
                        "electra",
                        "deberta",
                        "deberta-v2",
                        "albert",
                        "mpnet",
                        "modernbert",
                        "nomic_bert",
                        "new",
                        "longformer",
                        "big_bird",
                        "convbert",
                        "esm",
                        "vit",
                        "deit",
                        "beit",
                        "dinov2",
                        "siglip_vision_model",
                        "clip_vision_model"}) ||
         architecture.ends_with("ForMaskedLM") || architecture.ends_with("EncoderModel");
}

// Whether the model has an LM head.
bool HasLmHead(const std::string& type, const std::string& architecture,
               std::vector<std::string>& assumed) {
  const auto has = [&](const char* word) { return architecture.find(word) != std::string::npos; };
  if (IsEncoderOnly(type, architecture)) {
    if (has("MaskedLM") || has("ForPreTraining")) {
      assumed.push_back(fmt::format(
          "{}: no scores of every word are counted, as in classification and embedding; lm_head: "
          "true counts those of masked words",
          architecture));
    }
    return false;
  }
  for (const char* head : {"ForSequenceClassification", "ForTokenClassification",
                           "ForQuestionAnswering", "ForImageClassification", "RewardModel"}) {
    if (has(head)) return false;
  }
  // LlamaModel is the bare layers; GPT2LMHeadModel, ChatGLMModel and InternVLChatModel are not.
  return !architecture.ends_with("Model") || has("LM") || has("Chat") || has("VL");
}

// Transformers writes tie_word_embeddings only if it differs from the class default. That is true
// for all but these classes and Llama's descendants.
bool IsTied(const json& config, const json& text, const std::string& type, bool like_llama,
            std::vector<std::string>& assumed) {
  for (const json* each : {&text, &config}) {
    const auto said = each->find("tie_word_embeddings");
    if (said != each->end() && said->is_boolean()) return said->get<bool>();
  }
  const bool ties = type.starts_with("gemma") || type.starts_with("cohere");
  const bool untied = IsOneOf(type, {"gpt_neox", "phi", "gptj", "codegen", "stablelm", "mt5"});
  if (!IsKnownType(type) && FirstOf(text, {"vocab_size", "padded_vocab_size"}) > 0) {
    assumed.push_back(fmt::format("{}: the file does not say tie_word_embeddings",
                                  like_llama ? "an output embedding of its own"
                                             : "input and output embedding in one matrix"));
  }
  return ties || (!like_llama && !untied);
}

// Tables outside layer matrices: learned positions, narrow or per-layer embeddings.
double TableParameters(const json& text, const std::string& type, const ModelShape& shape) {
  const auto hidden = static_cast<double>(shape.layers.hidden_size);
  const auto layers = static_cast<double>(shape.layers.num_hidden_layers);
  const auto vocabulary = static_cast<double>(shape.vocab_size);
  double tables = 0;
  const bool relative = text.contains("relative_attention_num_buckets") || type == "mpt";
  const bool vision = text.contains("image_size");
  if (!shape.layers.rotary && !relative && !vision && shape.vocab_size > 0) {
    const auto positions =
        static_cast<double>(FirstOf(text, {"max_position_embeddings", "n_positions"}));
    tables += positions * hidden * (shape.encoder ? 2 : 1);
  }
  const auto narrow = static_cast<double>(FirstOf(text, {"embedding_size", "word_embed_proj_dim"}));
  if (narrow > 0 && narrow != hidden) {
    tables += vocabulary * (narrow - hidden) + narrow * hidden;
  }
  if (type == "albert") tables -= (layers - 1) * shape.layers.LayerParameters();  // shared layers
  if (type == "deberta" && IsTrueAt(text, "relative_attention")) {
    tables += 2 * layers * hidden * hidden;  // for positions, in queries and keys
  }
  const auto of_layer = static_cast<double>(FirstOf(text, {"hidden_size_per_layer_input"}));
  if (of_layer > 0) {  // Gemma 3n and 4
    auto words = static_cast<double>(FirstOf(text, {"vocab_size_per_layer_input"}));
    if (words == 0) words = vocabulary;
    tables += layers * of_layer * (words + 3 * hidden);
  }
  return tables;
}

void SayWhatIsNotCounted(const json& config, const json& text, std::vector<std::string>& assumed) {
  if (const json* quantised = ObjectAt(config, {"quantization_config"})) {
    const std::string method = TextAt(*quantised, "quant_method");
    assumed.push_back(fmt::format(
        "the files are quantised{}: the base model is counted as training.method keeps it, in 4 "
        "bits with qlora and in 2 bytes a parameter otherwise",
        method.empty() ? "" : " (" + method + ")"));
  }
  const int64_t window = FirstOf(text, {"sliding_window", "attention_window"});
  const auto uses = text.find("use_sliding_window");
  if (window > 0 && (uses == text.end() || *uses != json(false))) {
    assumed.push_back(fmt::format(
        "full attention, also where samples are longer than its sliding window of {} tokens",
        window));
  }
}

// The text part of the file: nested under one of several names, or the whole file.
struct TextPart {
  json config;
  std::string pointer;
};

TextPart TextPartOf(const json& config, const std::string& pointer) {
  for (const char* key : {"thinker_config"}) {  // Qwen-Omni
    if (const json* inner = ObjectAt(config, {key})) {
      return TextPartOf(*inner, PointerTo(pointer, key));
    }
  }
  for (const char* key : {"text_config", "llm_config", "language_config", "language_model"}) {
    const json* text = ObjectAt(config, {key});
    if (text == nullptr) continue;
    json whole = DefaultsOf(TextAt(*text, "model_type"));
    if (whole.is_null()) whole = json::object();
    whole.update(*text);
    const HfStack stack = ReadHfStack(whole, TextAt(whole, "model_type"), StackPart::kOnly);
    if (stack.layers.hidden_size > 0 && stack.layers.num_hidden_layers > 0) {
      return {std::move(whole), PointerTo(pointer, key)};
    }
  }
  return {config, pointer};
}

bool IsEncoderDecoder(const json& text, const std::string& type, const std::string& architecture) {
  if (architecture.ends_with("EncoderModel")) return false;
  return IsTrueAt(text, "is_encoder_decoder") || IsOneOf(type, {"t5", "mt5", "umt5"}) ||
         (FirstOf(text, {"encoder_layers"}) > 0 && FirstOf(text, {"decoder_layers"}) > 0);
}

class ConfigReader {
 public:
  ConfigReader(const json& config, TextPart text, std::vector<std::string>& assumed)
      : config_(config), text_(std::move(text)), assumed_(assumed) {
    type_ = TextAt(text_.config, "model_type");
    if (type_.empty()) type_ = TextAt(config, "model_type");
    architecture_ = ArchitectureOf(config);
    if (architecture_.empty()) architecture_ = ArchitectureOf(text_.config);
  }

  Result<ModelShape> Read(const std::string& pointer) {
    FieldReader fields(text_.config, text_.pointer, &errors_);
    const bool two = IsEncoderDecoder(text_.config, type_, architecture_);
    HfStack stack = ReadHfStack(text_.config, type_, two ? StackPart::kDecoder : StackPart::kOnly);
    if (two) {
      TransformerStack encoder = ReadHfStack(text_.config, type_, StackPart::kEncoder).layers;
      CompleteStack(encoder, fields);
      shape_.encoder = encoder;
      stack.layers.cross_attention = true;
    }
    SayWhatItIsTakenFor(stack);
    CompleteStack(stack.layers, fields);
    if (errors_.failed()) return tl::unexpected<Error>(errors_.AsResult().error());
    shape_.layers = stack.layers;
    assumed_.insert(assumed_.end(), stack.assumed.begin(), stack.assumed.end());
    ReadWords();
    const double other = stack.other_params + TableParameters(text_.config, type_, shape_);
    shape_.other_params = std::llround(std::clamp(other, -1e15, 1e15));
    const json* thinker = ObjectAt(config_, {"thinker_config"});
    AddTowers(thinker != nullptr ? *thinker : config_,
              thinker != nullptr ? PointerTo(pointer, "thinker_config") : pointer, errors_, shape_,
              assumed_);
    if (errors_.failed()) return tl::unexpected<Error>(errors_.AsResult().error());
    SayWhatIsNotCounted(config_, text_.config, assumed_);
    return shape_;
  }

 private:
  void SayWhatItIsTakenFor(const HfStack& stack) {
    if (IsKnownType(type_)) return;
    assumed_.push_back(
        fmt::format("model_type {} is not known here: taken for {} with {} and {}, by its fields",
                    Quoted(type_),
                    shape_.encoder                        ? "an encoder and a decoder"
                    : IsEncoderOnly(type_, architecture_) ? "an encoder like BERT"
                    : stack.says_its_mlp                  ? "a decoder"
                                                          : "a decoder like Llama",
                    stack.layers.gated_mlp ? "a gated MLP" : "an MLP of two matrices",
                    stack.layers.rotary ? "rotary positions" : "no rotary positions"));
  }

  void ReadWords() {
    shape_.vocab_size = FirstOf(text_.config, {"padded_vocab_size", "vocab_size", "n_vocab"});
    shape_.lm_head = HasLmHead(type_, architecture_, assumed_);
    if (shape_.vocab_size == 0) {
      shape_.lm_head = shape_.lm_head && !IsEncoderOnly(type_, architecture_);
      return;
    }
    const bool like_llama = shape_.layers.gated_mlp && !shape_.encoder;
    shape_.tie_word_embeddings =
        !shape_.lm_head || IsTied(config_, text_.config, type_, like_llama, assumed_);
  }

  const json& config_;
  TextPart text_;
  std::vector<std::string>& assumed_;
  std::string type_;
  std::string architecture_;
  DocumentErrors errors_;
  ModelShape shape_;
};

}  // namespace

Result<ModelShape> ShapeFromHfConfig(const json& config, const std::string& pointer,
                                     std::vector<std::string>& assumed) {
  if (!config.is_object()) {
    return BadInput("hf_config must be the contents of a config.json", pointer);
  }
  return ConfigReader(config, TextPartOf(config, pointer), assumed).Read(pointer);
}

}  // namespace gpuadvise
