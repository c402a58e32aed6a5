#include "common/models/hf_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace gpuadvise {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct Read {
  ModelShape shape;
  std::vector<std::string> assumed;
};

Read FromConfig(const std::string& text) {
  Read read;
  const auto shape = ShapeFromHfConfig(json::parse(text), "/model/hf_config", read.assumed);
  EXPECT_TRUE(shape) << (shape ? "" : shape.error().message) << "\n" << text;
  if (shape) read.shape = *shape;
  return read;
}

// The essential fields of public config.json files, and the parameters that the model's card or the
// headers of its weights give.
struct PublicConfig {
  const char* name;
  double parameters;
  const char* config;
};

const PublicConfig kPublic[] = {
    {"meta-llama/Llama-3.1-8B", 8.030e9, R"({"architectures": ["LlamaForCausalLM"],
      "model_type": "llama", "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336,
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
      "rms_norm_eps": 1e-05, "rope_theta": 500000.0, "tie_word_embeddings": false,
      "vocab_size": 128256})"},
    {"google/gemma-2-9b", 9.242e9, R"({"architectures": ["Gemma2ForCausalLM"],
      "model_type": "gemma2", "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 3584,
      "intermediate_size": 14336, "head_dim": 256, "num_attention_heads": 16,
      "num_hidden_layers": 42, "num_key_value_heads": 8, "rms_norm_eps": 1e-06,
      "rope_theta": 10000.0, "sliding_window": 4096, "vocab_size": 256000})"},
    {"google/gemma-3-4b-it", 4.300e9, R"({"architectures": ["Gemma3ForConditionalGeneration"],
      "model_type": "gemma3", "mm_tokens_per_image": 256,
      "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
        "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0}, "sliding_window": 1024},
      "vision_config": {"hidden_size": 1152, "image_size": 896, "intermediate_size": 4304,
        "model_type": "siglip_vision_model", "num_attention_heads": 16, "num_hidden_layers": 27,
        "patch_size": 14, "vision_use_head": false}})"},
    {"openai-community/gpt2", 124.4e6, R"({"architectures": ["GPT2LMHeadModel"],
      "activation_function": "gelu_new", "attn_pdrop": 0.1, "embd_pdrop": 0.1,
      "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
      "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1, "vocab_size": 50257})"},
    {"EleutherAI/gpt-j-6b", 6.051e9, R"({"architectures": ["GPTJForCausalLM"],
      "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05, "model_type": "gptj",
      "n_embd": 4096, "n_head": 16, "n_inner": null, "n_layer": 28, "n_positions": 2048,
      "rotary_dim": 64, "tie_word_embeddings": false, "vocab_size": 50400})"},
    {"EleutherAI/pythia-1.4b", 1.4146e9, R"({"architectures": ["GPTNeoXForCausalLM"],
      "hidden_act": "gelu", "hidden_size": 2048, "intermediate_size": 8192,
      "layer_norm_eps": 1e-05, "max_position_embeddings": 2048, "model_type": "gpt_neox",
      "num_attention_heads": 16, "num_hidden_layers": 24, "rotary_emb_base": 10000,
      "rotary_pct": 0.25, "tie_word_embeddings": false, "vocab_size": 50304})"},
    {"bigscience/bloom-7b1", 7.069e9, R"({"architectures": ["BloomForCausalLM"],
      "model_type": "bloom", "n_embed": 4096, "n_layer": 30, "num_attention_heads": 32,
      "hidden_dropout": 0.0, "layer_norm_epsilon": 1e-05, "vocab_size": 250880})"},
    {"facebook/opt-350m", 331.2e6, R"({"architectures": ["OPTForCausalLM"],
      "activation_function": "relu", "do_layer_norm_before": false, "dropout": 0.1,
      "ffn_dim": 4096, "hidden_size": 1024, "max_position_embeddings": 2048, "model_type": "opt",
      "num_attention_heads": 16, "num_hidden_layers": 24, "vocab_size": 50272,
      "word_embed_proj_dim": 512})"},
    {"tiiuae/falcon-40b", 41.30e9, R"({"architectures": ["FalconForCausalLM"], "alibi": false,
      "bias": false, "hidden_dropout": 0.0, "hidden_size": 8192, "layer_norm_epsilon": 1e-05,
      "model_type": "falcon", "multi_query": true, "new_decoder_architecture": true,
      "num_attention_heads": 128, "num_hidden_layers": 60, "num_kv_heads": 8, "vocab_size": 65024})"},
    {"mosaicml/mpt-7b", 6.649e9, R"({"architectures": ["MPTForCausalLM"],
      "attn_config": {"alibi": true, "attn_type": "multihead_attention"}, "d_model": 4096,
      "expansion_ratio": 4, "learned_pos_emb": true, "max_seq_len": 2048, "model_type": "mpt",
      "n_heads": 32, "n_layers": 32, "no_bias": true, "norm_type": "low_precision_layernorm",
      "vocab_size": 50432})"},
    {"bigcode/starcoder2-7b", 7.174e9, R"({"architectures": ["Starcoder2ForCausalLM"],
      "hidden_act": "gelu_pytorch_tanh", "hidden_size": 4608, "intermediate_size": 18432,
      "model_type": "starcoder2", "norm_epsilon": 1e-05, "norm_type": "layer_norm",
      "num_attention_heads": 36, "num_hidden_layers": 32, "num_key_value_heads": 4,
      "rope_theta": 1000000, "vocab_size": 49152, "residual_dropout": 0.0})"},
    {"Qwen/Qwen-7B", 7.721e9, R"({"architectures": ["QWenLMHeadModel"], "hidden_size": 4096,
      "intermediate_size": 22016, "kv_channels": 128, "layer_norm_epsilon": 1e-06,
      "model_type": "qwen", "num_attention_heads": 32, "num_hidden_layers": 32,
      "rotary_emb_base": 10000, "rotary_pct": 1.0, "tie_word_embeddings": false,
      "vocab_size": 151936})"},
    {"THUDM/chatglm3-6b", 6.244e9, R"({"architectures": ["ChatGLMModel"], "model_type": "chatglm",
      "ffn_hidden_size": 13696, "hidden_dropout": 0.0, "hidden_size": 4096, "kv_channels": 128,
      "layernorm_epsilon": 1e-05, "multi_query_attention": true, "multi_query_group_num": 2,
      "num_attention_heads": 32, "num_layers": 28, "padded_vocab_size": 65024, "rmsnorm": true,
      "tie_word_embeddings": false})"},
    {"google-t5/t5-base", 222.9e6, R"({"architectures": ["T5ForConditionalGeneration"],
      "d_ff": 3072, "d_kv": 64, "d_model": 768, "dropout_rate": 0.1, "is_encoder_decoder": true,
      "layer_norm_epsilon": 1e-06, "model_type": "t5", "num_heads": 12, "num_layers": 12,
      "relative_attention_num_buckets": 32, "vocab_size": 32128})"},
    {"google/flan-t5-xl", 2.8498e9, R"({"architectures": ["T5ForConditionalGeneration"],
      "d_ff": 5120, "d_kv": 64, "d_model": 2048, "dropout_rate": 0.1,
      "feed_forward_proj": "gated-gelu", "is_encoder_decoder": true, "layer_norm_epsilon": 1e-06,
      "model_type": "t5", "num_decoder_layers": 24, "num_heads": 32, "num_layers": 24,
      "relative_attention_num_buckets": 32, "tie_word_embeddings": false, "vocab_size": 32128})"},
    {"facebook/bart-large", 406.3e6, R"({"architectures": ["BartModel"],
      "activation_function": "gelu", "d_model": 1024, "decoder_attention_heads": 16,
      "decoder_ffn_dim": 4096, "decoder_layers": 12, "dropout": 0.1, "encoder_attention_heads": 16,
      "encoder_ffn_dim": 4096, "encoder_layers": 12, "is_encoder_decoder": true,
      "max_position_embeddings": 1024, "model_type": "bart", "num_hidden_layers": 12,
      "vocab_size": 50265})"},
    {"FacebookAI/xlm-roberta-large", 559.9e6, R"({"architectures": ["XLMRobertaForMaskedLM"],
      "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 1024,
      "intermediate_size": 4096, "layer_norm_eps": 1e-05, "max_position_embeddings": 514,
      "model_type": "xlm-roberta", "num_attention_heads": 16, "num_hidden_layers": 24,
      "position_embedding_type": "absolute", "vocab_size": 250002})"},
    {"answerdotai/ModernBERT-base", 149.0e6, R"({"architectures": ["ModernBertForMaskedLM"],
      "hidden_activation": "gelu", "hidden_size": 768, "intermediate_size": 1152,
      "global_rope_theta": 160000.0, "max_position_embeddings": 8192, "model_type": "modernbert",
      "norm_eps": 1e-05, "num_attention_heads": 12, "num_hidden_layers": 22,
      "position_embedding_type": "absolute", "vocab_size": 50368})"},
    {"google/electra-small-discriminator", 13.5e6, R"({"architectures": ["ElectraForPreTraining"],
      "embedding_size": 128, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 256,
      "intermediate_size": 1024, "layer_norm_eps": 1e-12, "max_position_embeddings": 512,
      "model_type": "electra", "num_attention_heads": 4, "num_hidden_layers": 12,
      "vocab_size": 30522})"},
    {"microsoft/deberta-base", 138.6e6, R"({"model_type": "deberta",
      "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768,
      "intermediate_size": 3072, "max_position_embeddings": 512, "relative_attention": true,
      "pos_att_type": "c2p|p2c", "num_attention_heads": 12, "num_hidden_layers": 12,
      "layer_norm_eps": 1e-7, "vocab_size": 50265})"},
    {"mistralai/Mixtral-8x7B-v0.1", 46.70e9, R"({"architectures": ["MixtralForCausalLM"],
      "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336,
      "model_type": "mixtral", "num_attention_heads": 32, "num_experts_per_tok": 2,
      "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8,
      "rms_norm_eps": 1e-05, "sliding_window": null, "tie_word_embeddings": false,
      "vocab_size": 32000})"},
    {"Qwen/Qwen1.5-MoE-A2.7B", 14.316e9, R"({"architectures": ["Qwen2MoeForCausalLM"],
      "decoder_sparse_step": 1, "hidden_act": "silu", "hidden_size": 2048,
      "intermediate_size": 5632, "model_type": "qwen2_moe", "moe_intermediate_size": 1408,
      "num_attention_heads": 16, "num_experts": 60, "num_experts_per_tok": 4,
      "num_hidden_layers": 24, "num_key_value_heads": 16, "rms_norm_eps": 1e-06,
      "shared_expert_intermediate_size": 5632, "tie_word_embeddings": false,
      "use_sliding_window": false, "vocab_size": 151936})"},
    {"Qwen/Qwen3-30B-A3B", 30.532e9, R"({"architectures": ["Qwen3MoeForCausalLM"],
      "decoder_sparse_step": 1, "head_dim": 128, "hidden_act": "silu", "hidden_size": 2048,
      "intermediate_size": 6144, "mlp_only_layers": [], "model_type": "qwen3_moe",
      "moe_intermediate_size": 768, "num_attention_heads": 32, "num_experts": 128,
      "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4,
      "rms_norm_eps": 1e-06, "tie_word_embeddings": false, "vocab_size": 151936})"},
    {"deepseek-ai/DeepSeek-V2-Lite", 15.706e9, R"({"architectures": ["DeepseekV2ForCausalLM"],
      "first_k_dense_replace": 1, "hidden_act": "silu", "hidden_size": 2048,
      "intermediate_size": 10944, "kv_lora_rank": 512, "model_type": "deepseek_v2",
      "moe_intermediate_size": 1408, "moe_layer_freq": 1, "n_routed_experts": 64,
      "n_shared_experts": 2, "num_attention_heads": 16, "num_experts_per_tok": 6,
      "num_hidden_layers": 27, "num_key_value_heads": 16, "q_lora_rank": null,
      "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "rms_norm_eps": 1e-06,
      "tie_word_embeddings": false, "v_head_dim": 128, "vocab_size": 102400})"},
    {"deepseek-ai/DeepSeek-V3", 671.0e9, R"({"architectures": ["DeepseekV3ForCausalLM"],
      "first_k_dense_replace": 3, "hidden_act": "silu", "hidden_size": 7168,
      "intermediate_size": 18432, "kv_lora_rank": 512, "model_type": "deepseek_v3",
      "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_routed_experts": 256,
      "n_shared_experts": 1, "num_attention_heads": 128, "num_experts_per_tok": 8,
      "num_hidden_layers": 61, "num_key_value_heads": 128, "num_nextn_predict_layers": 1,
      "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "rms_norm_eps": 1e-06,
      "tie_word_embeddings": false, "v_head_dim": 128, "vocab_size": 129280,
      "quantization_config": {"quant_method": "fp8"}})"},
    {"openai/gpt-oss-20b", 20.915e9, R"({"architectures": ["GptOssForCausalLM"], "head_dim": 64,
      "hidden_act": "silu", "hidden_size": 2880, "intermediate_size": 2880,
      "model_type": "gpt_oss", "num_attention_heads": 64, "num_experts_per_tok": 4,
      "experts_per_token": 4, "num_hidden_layers": 24, "num_key_value_heads": 8,
      "num_local_experts": 32, "rms_norm_eps": 1e-05, "sliding_window": 128,
      "tie_word_embeddings": false, "vocab_size": 201088,
      "quantization_config": {"quant_method": "mxfp4"}})"},
    {"meta-llama/Llama-4-Scout-17B-16E", 108.6e9, R"({"architectures":
      ["Llama4ForConditionalGeneration"], "model_type": "llama4",
      "text_config": {"head_dim": 128, "hidden_act": "silu", "hidden_size": 5120,
        "interleave_moe_layer_step": 1, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
        "model_type": "llama4_text", "num_attention_heads": 40, "num_experts_per_tok": 1,
        "num_hidden_layers": 48, "num_key_value_heads": 8, "num_local_experts": 16,
        "rms_norm_eps": 1e-05, "tie_word_embeddings": false, "vocab_size": 202048},
      "vision_config": {"hidden_act": "gelu", "hidden_size": 1408, "image_size": 336,
        "intermediate_size": 5632, "model_type": "llama4_vision_model", "num_attention_heads": 16,
        "num_hidden_layers": 34, "patch_size": 14, "pixel_shuffle_ratio": 0.5}})"},
    {"zai-org/GLM-4.5-Air", 106.9e9, R"({"architectures": ["Glm4MoeForCausalLM"],
      "first_k_dense_replace": 1, "head_dim": 128, "hidden_act": "silu", "hidden_size": 4096,
      "intermediate_size": 10944, "model_type": "glm4_moe", "moe_intermediate_size": 1408,
      "n_routed_experts": 128, "n_shared_experts": 1, "num_attention_heads": 96,
      "num_experts_per_tok": 8, "num_hidden_layers": 46, "num_key_value_heads": 8,
      "partial_rotary_factor": 0.5, "rms_norm_eps": 1e-05, "tie_word_embeddings": false,
      "vocab_size": 151552})"},
    {"allenai/OLMoE-1B-7B-0924", 6.919e9, R"({"architectures": ["OlmoeForCausalLM"],
      "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 1024, "model_type": "olmoe",
      "num_attention_heads": 16, "num_experts": 64, "num_experts_per_tok": 8,
      "num_hidden_layers": 16, "num_key_value_heads": 16, "rms_norm_eps": 1e-05,
      "tie_word_embeddings": false, "vocab_size": 50304})"},
    {"microsoft/Phi-3.5-MoE-instruct", 41.873e9, R"({"architectures": ["PhiMoEForCausalLM"],
      "hidden_act": "silu", "hidden_dropout": 0.0, "hidden_size": 4096, "intermediate_size": 6400,
      "lm_head_bias": true, "model_type": "phimoe", "num_attention_heads": 32,
      "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8,
      "num_local_experts": 16, "rms_norm_eps": 1e-05, "tie_word_embeddings": false,
      "vocab_size": 32064})"},
    {"ibm-granite/granite-3.0-3b-a800m-base", 3.30e9, R"({"architectures":
      ["GraniteMoeForCausalLM"], "hidden_act": "silu", "hidden_size": 1536,
      "intermediate_size": 512, "model_type": "granitemoe", "num_attention_heads": 24,
      "num_experts_per_tok": 8, "num_hidden_layers": 32, "num_key_value_heads": 8,
      "num_local_experts": 40, "rms_norm_eps": 1e-06, "tie_word_embeddings": true,
      "vocab_size": 49155})"},
    {"databricks/dbrx-base", 131.6e9, R"({"architectures": ["DbrxForCausalLM"],
      "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "rope_theta": 500000}, "d_model": 6144,
      "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
      "max_seq_len": 32768, "model_type": "dbrx", "n_heads": 48, "n_layers": 40,
      "tie_word_embeddings": false, "vocab_size": 100352})"},
    {"Qwen/Qwen3-Next-80B-A3B-Instruct", 79.67e9, R"({"architectures": ["Qwen3NextForCausalLM"],
      "decoder_sparse_step": 1, "full_attention_interval": 4, "head_dim": 256,
      "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 5120,
      "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
      "linear_num_value_heads": 32, "linear_value_head_dim": 128, "mlp_only_layers": [],
      "model_type": "qwen3_next", "moe_intermediate_size": 512, "num_attention_heads": 16,
      "num_experts": 512, "num_experts_per_tok": 10, "num_hidden_layers": 48,
      "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "shared_expert_intermediate_size": 512,
      "tie_word_embeddings": false, "vocab_size": 151936})"},
    {"state-spaces/mamba-2.8b-hf", 2.768e9, R"({"architectures": ["MambaForCausalLM"],
      "expand": 2, "hidden_act": "silu", "hidden_size": 2560, "intermediate_size": 5120,
      "model_type": "mamba", "num_hidden_layers": 64, "rms_norm": true, "state_size": 16,
      "time_step_rank": 160, "vocab_size": 50280, "tie_word_embeddings": true})"},
    {"Qwen/Qwen2.5-VL-7B-Instruct", 8.292e9, R"({"architectures":
      ["Qwen2_5_VLForConditionalGeneration"], "hidden_act": "silu", "hidden_size": 3584,
      "intermediate_size": 18944, "model_type": "qwen2_5_vl", "num_attention_heads": 28,
      "num_hidden_layers": 28, "num_key_value_heads": 4, "rms_norm_eps": 1e-06,
      "tie_word_embeddings": false, "use_sliding_window": false, "vocab_size": 152064,
      "vision_config": {"depth": 32, "hidden_act": "silu", "hidden_size": 1280,
        "intermediate_size": 3420, "num_heads": 16, "out_hidden_size": 3584, "patch_size": 14,
        "spatial_merge_size": 2}})"},
    {"Qwen/Qwen2-VL-2B-Instruct", 2.209e9, R"({"architectures": ["Qwen2VLForConditionalGeneration"],
      "hidden_act": "silu", "hidden_size": 1536, "intermediate_size": 8960,
      "model_type": "qwen2_vl", "num_attention_heads": 12, "num_hidden_layers": 28,
      "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "tie_word_embeddings": true,
      "vocab_size": 151936, "vision_config": {"depth": 32, "embed_dim": 1280, "hidden_size": 1536,
        "mlp_ratio": 4, "num_heads": 16, "patch_size": 14, "spatial_merge_size": 2}})"},
    {"Qwen/Qwen3-VL-8B-Instruct", 8.767e9, R"({"architectures": ["Qwen3VLForConditionalGeneration"],
      "model_type": "qwen3_vl", "tie_word_embeddings": false,
      "text_config": {"head_dim": 128, "hidden_act": "silu", "hidden_size": 4096,
        "intermediate_size": 12288, "model_type": "qwen3_vl_text", "num_attention_heads": 32,
        "num_hidden_layers": 36, "num_key_value_heads": 8, "rms_norm_eps": 1e-06,
        "vocab_size": 151936},
      "vision_config": {"deepstack_visual_indexes": [8, 16, 24], "depth": 27,
        "hidden_act": "gelu_pytorch_tanh", "hidden_size": 1152, "intermediate_size": 4304,
        "num_heads": 16, "out_hidden_size": 4096, "patch_size": 16, "spatial_merge_size": 2}})"},
    {"llava-hf/llava-1.5-7b-hf", 7.063e9, R"({"architectures": ["LlavaForConditionalGeneration"],
      "model_type": "llava", "projector_hidden_act": "gelu",
      "text_config": {"_name_or_path": "lmsys/vicuna-7b-v1.5", "model_type": "llama",
        "rms_norm_eps": 1e-05, "vocab_size": 32064},
      "vision_config": {"hidden_size": 1024, "image_size": 336, "intermediate_size": 4096,
        "model_type": "clip_vision_model", "num_attention_heads": 16, "num_hidden_layers": 24,
        "patch_size": 14, "projection_dim": 768, "vocab_size": 32000}})"},
    {"OpenGVLab/InternVL2_5-8B", 8.075e9, R"({"architectures": ["InternVLChatModel"],
      "downsample_ratio": 0.5, "model_type": "internvl_chat",
      "llm_config": {"architectures": ["InternLM2ForCausalLM"], "hidden_act": "silu",
        "hidden_size": 4096, "intermediate_size": 14336, "model_type": "internlm2",
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "rms_norm_eps": 1e-05, "tie_word_embeddings": false, "vocab_size": 92553},
      "vision_config": {"hidden_act": "gelu", "hidden_size": 1024, "image_size": 448,
        "intermediate_size": 4096, "model_type": "intern_vit_6b", "num_attention_heads": 16,
        "num_hidden_layers": 24, "patch_size": 14}})"},
    {"HuggingFaceTB/SmolVLM-Instruct", 2.246e9, R"({"architectures":
      ["Idefics3ForConditionalGeneration"], "model_type": "idefics3", "scale_factor": 3,
      "tie_word_embeddings": false,
      "text_config": {"hidden_size": 2048, "intermediate_size": 8192, "model_type": "llama",
        "num_attention_heads": 32, "num_hidden_layers": 24, "rms_norm_eps": 1e-05,
        "vocab_size": 49155},
      "vision_config": {"hidden_size": 1152, "image_size": 384, "intermediate_size": 4304,
        "model_type": "idefics3", "num_attention_heads": 16, "num_hidden_layers": 27,
        "patch_size": 14}})"},
};

TEST(HfConfig, CountsTheParametersThatPublicModelsHave) {
  for (const PublicConfig& model : kPublic) {
    const Read read = FromConfig(model.config);
    EXPECT_NEAR(read.shape.Parameters() / model.parameters, 1, 0.02)
        << model.name << ": " << read.shape.Parameters() / 1e9 << " B";
  }
}

TEST(HfConfig, AnUnknownTypeWithKnownFieldsIsCountedAsWell) {
  for (const PublicConfig& model : kPublic) {
    json config = json::parse(model.config);
    const std::string type = config["model_type"];
    // What these files leave to their class: rotary or gated is in no field.
    if (type == "qwen" || type == "modernbert" || type == "deberta" || type == "t5" ||
        type == "mamba" || type == "llama4" || config.contains("text_config") ||
        config.contains("llm_config")) {
      continue;
    }
    config["model_type"] = "new_" + type;
    config.emplace("tie_word_embeddings", FromConfig(model.config).shape.tie_word_embeddings);
    const Read read = FromConfig(config.dump());
    EXPECT_NEAR(read.shape.Parameters() / model.parameters, 1, 0.02) << model.name;
    EXPECT_THAT(read.assumed, Contains(HasSubstr("is not known here: taken for"))) << model.name;
  }
}

std::string WithType(const char* type, const char* more) {
  return std::string(R"({"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
    "vocab_size": 1000, "rms_norm_eps": 1e-5, "tie_word_embeddings": false, "model_type": ")") +
         type + "\", " + more + "}";
}

TEST(HfConfig, ActiveParametersAreThoseThatATokenPasses) {
  const auto shape = FromConfig(kPublic[22].config).shape;  // Qwen3-30B-A3B
  EXPECT_NEAR(shape.layers.ActiveParameters() + shape.EmbeddingParameters(), 3.35e9, 0.05e9);
  const TransformerStack& layers = shape.layers;
  EXPECT_EQ(layers.active_intermediate_size(), 8 * 768);
}

TEST(HfConfig, LayersWithoutExpertsAreFoundUnderTheirManyNames) {
  const auto dense = [](const char* more) {
    const std::string moe = R"("num_experts": 8, "num_experts_per_tok": 2, )";
    return FromConfig(WithType("mixtral", (moe + more).c_str())).shape.layers.num_dense_layers;
  };
  EXPECT_EQ(dense(R"("decoder_sparse_step": 1)"), 0);
  EXPECT_EQ(dense(R"("decoder_sparse_step": 2)"), 2);
  EXPECT_EQ(dense(R"("interleave_moe_layer_step": 4)"), 3);
  EXPECT_EQ(dense(R"("first_k_dense_replace": 1)"), 1);
  EXPECT_EQ(dense(R"("mlp_only_layers": [0, 1])"), 2);
  EXPECT_EQ(dense(R"("moe_layers": [3])"), 3);
  EXPECT_EQ(dense(R"("moe_layer_freq": [0, 1, 1, 1])"), 1);
  EXPECT_EQ(dense(R"("mlp_layer_types": ["dense", "sparse", "sparse", "dense"])"), 2);
}

TEST(HfConfig, HeadsForClassesScoreNoVocabulary) {
  const auto head = [](const char* architecture) {
    const std::string more = std::string(R"("architectures": [")") + architecture + "\"]";
    return FromConfig(WithType("llama", more.c_str())).shape.lm_head;
  };
  EXPECT_TRUE(head("LlamaForCausalLM"));
  EXPECT_FALSE(head("LlamaForSequenceClassification"));
  EXPECT_FALSE(head("LlamaModel"));
  EXPECT_TRUE(head("GPT2LMHeadModel"));
}

TEST(HfConfig, AnEncoderSaysThatMaskedWordsAreNotScored) {
  const Read read = FromConfig(kPublic[16].config);  // XLM-RoBERTa
  EXPECT_FALSE(read.shape.lm_head);
  EXPECT_THAT(read.assumed, Contains(HasSubstr("no scores of every word are counted")));
}

TEST(HfConfig, TokensOfAnImageComeFromTheFields) {
  const auto tokens = [](const char* name) {
    for (const PublicConfig& model : kPublic) {
      if (std::string(model.name) != name) continue;
      const auto vision = FromConfig(model.config).shape.vision;
      return std::pair(vision->tokens_per_image, vision->patches_per_token);
    }
    return std::pair<int64_t, int64_t>();
  };
  EXPECT_EQ(tokens("google/gemma-3-4b-it"), std::pair(256L, 16L));
  EXPECT_EQ(tokens("OpenGVLab/InternVL2_5-8B"), std::pair(256L, 4L));
  EXPECT_EQ(tokens("llava-hf/llava-1.5-7b-hf"), std::pair(576L, 1L));
  EXPECT_EQ(tokens("HuggingFaceTB/SmolVLM-Instruct"), std::pair(81L, 9L));
  EXPECT_EQ(tokens("meta-llama/Llama-4-Scout-17B-16E"), std::pair(144L, 4L));
  EXPECT_EQ(tokens("Qwen/Qwen2-VL-2B-Instruct"), std::pair(0L, 4L));  // as large as the image
}

TEST(HfConfig, WhatIsNotCountedIsSaid) {
  const auto assumed = [](const char* more) { return FromConfig(WithType("llama", more)).assumed; };
  EXPECT_THAT(assumed(R"("quantization_config": {"quant_method": "gptq"})"),
              Contains(HasSubstr("the files are quantised (gptq)")));
  EXPECT_THAT(assumed(R"("sliding_window": 4096)"), Contains(HasSubstr("sliding window of 4096")));
  EXPECT_THAT(assumed(R"("sliding_window": 4096, "use_sliding_window": false)"),
              Not(Contains(HasSubstr("sliding window"))));
  EXPECT_THAT(assumed(R"("layer_types": ["linear_attention", "full_attention",
                         "linear_attention", "full_attention"])"),
              Contains(HasSubstr("2 of 4 layers are linear attention or a state space")));
  EXPECT_THAT(assumed(R"("audio_config": {"d_model": 32, "encoder_layers": 2,
                         "encoder_attention_heads": 2, "encoder_ffn_dim": 64})"),
              Contains(HasSubstr("the audio tower")));
}

TEST(HfConfig, WhatMakesNoSenseIsRefusedOrCountedButNeverMisread) {
  for (const char* bad :
       {R"("num_hidden_layers": -1)", R"("num_hidden_layers": "many")",
        R"("num_attention_heads": 7)", R"("num_experts": 8, "num_experts_per_tok": 9)"}) {
    json config = json::parse(WithType("llama", "\"a\": 1"));
    config.update(json::parse(std::string("{") + bad + "}"));
    std::vector<std::string> assumed;
    EXPECT_FALSE(ShapeFromHfConfig(config, "/c", assumed)) << bad;
  }
}

}  // namespace
}  // namespace gpuadvise
