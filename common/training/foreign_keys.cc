#include "common/training/foreign_keys.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "common/base/text.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

// Sources: the argument classes and configuration schemas of the programs' own documentation.
const std::unordered_set<std::string_view>& WithoutEffect() {
  static const std::unordered_set<std::string_view> kNames = {
      // Transformers' TrainingArguments.
      "overwrite_output_dir",
      "do_train",
      "do_eval",
      "do_predict",
      "eval_strategy",
      "evaluation_strategy",
      "prediction_loss_only",
      "eval_accumulation_steps",
      "eval_delay",
      "eval_steps",
      "eval_on_start",
      "eval_do_concat_batches",
      "batch_eval_metrics",
      "learning_rate",
      "weight_decay",
      "adam_beta1",
      "adam_beta2",
      "adam_epsilon",
      "max_grad_norm",
      "lr_scheduler_type",
      "lr_scheduler_kwargs",
      "warmup_ratio",
      "warmup_steps",
      "log_level",
      "log_level_replica",
      "log_on_each_node",
      "logging_dir",
      "logging_strategy",
      "logging_first_step",
      "logging_steps",
      "logging_nan_inf_filter",
      "save_strategy",
      "save_safetensors",
      "save_on_each_node",
      "save_only_model",
      "restore_callback_states_from_checkpoint",
      "seed",
      "data_seed",
      "jit_mode_eval",
      "half_precision_backend",
      "bf16_full_eval",
      "fp16_full_eval",
      "fp16_opt_level",
      "local_rank",
      "ddp_backend",
      "ddp_timeout",
      "ddp_find_unused_parameters",
      "ddp_bucket_cap_mb",
      "ddp_broadcast_buffers",
      "debug",
      "dataloader_drop_last",
      "dataloader_pin_memory",
      "dataloader_persistent_workers",
      "dataloader_prefetch_factor",
      "past_index",
      "run_name",
      "project",
      "disable_tqdm",
      "remove_unused_columns",
      "label_names",
      "load_best_model_at_end",
      "metric_for_best_model",
      "greater_is_better",
      "ignore_data_skip",
      "accelerator_config",
      "optim_args",
      "group_by_length",
      "length_column_name",
      "report_to",
      "skip_memory_metrics",
      "push_to_hub",
      "hub_model_id",
      "hub_strategy",
      "hub_token",
      "hub_private_repo",
      "hub_always_push",
      "hub_revision",
      "resume_from_checkpoint",
      "include_inputs_for_metrics",
      "include_for_metrics",
      "auto_find_batch_size",
      "full_determinism",
      "torchdynamo",
      "ray_scope",
      "torch_compile_backend",
      "torch_compile_mode",
      "include_tokens_per_second",
      "include_num_input_tokens_seen",
      "gradient_checkpointing_kwargs",
      "liger_kernel_config",
      "use_cache",
      "average_tokens_across_devices",
      "eval_use_gather_object",
      // Models and data sets.
      "trust_remote_code",
      "low_cpu_mem_usage",
      "revision",
      "model_revision",
      "token",
      "use_auth_token",
      "cache_dir",
      "tokenizer_name",
      "tokenizer",
      "use_fast_tokenizer",
      "tokenizer_type",
      "model_type",
      "special_tokens",
      "chat_template",
      "template",
      "datasets",
      "dataset",
      "dataset_name",
      "dataset_config",
      "dataset_dir",
      "dataset_train_split",
      "dataset_test_split",
      "dataset_streaming",
      "dataset_text_field",
      "dataset_kwargs",
      "dataset_num_proc",
      "dataset_prepared_path",
      "preprocessing_num_workers",
      "overwrite_cache",
      "val_set_size",
      "val_size",
      "test_size",
      "train_on_inputs",
      "train_on_prompt",
      "mask_history",
      "streaming",
      "shuffle",
      "shuffle_merged_datasets",
      "max_samples_for_eval",
      "rope_scaling",
      // TRL.
      "packing_strategy",
      "eval_packing",
      "padding_free",
      "completion_only_loss",
      "assistant_only_loss",
      "loss_type",
      "loss_weights",
      "beta",
      "label_smoothing",
      "pref_beta",
      "pref_loss",
      "pref_ftx",
      "rl_beta",
      "desirable_weight",
      "undesirable_weight",
      "max_prompt_length",
      "truncation_mode",
      "label_pad_token_id",
      "padding_value",
      "pad_token",
      "eos_token",
      "disable_dropout",
      "temperature",
      "top_p",
      "top_k",
      "min_p",
      "repetition_penalty",
      "reward_funcs",
      "reward_weights",
      "scale_rewards",
      "epsilon",
      "log_completions",
      "center_rewards_coefficient",
      "kl_coef",
      "cliprange",
      "vf_coef",
      "gamma",
      "lam",
      "whiten_rewards",
      "missing_eos_penalty",
      "model_adapter_name",
      "ref_adapter_name",
      // PEFT.
      "bias",
      "task_type",
      "peft_type",
      "inference_mode",
      "fan_in_fan_out",
      "use_rslora",
      "init_lora_weights",
      "base_model_name_or_path",
      "lora_fan_in_fan_out",
      "loraplus_lr_ratio",
      "loraplus_lr_embedding",
      "lora_model_dir",
      "alpha_pattern",
      // Quantisation of the frozen weights: their format is told by load_in_4bit.
      "bnb_4bit_compute_dtype",
      "bnb_4bit_quant_type",
      "bnb_4bit_use_double_quant",
      "bnb_4bit_quant_storage",
      "llm_int8_threshold",
      "quantization_method",
      "quantization_type",
      "double_quantization",
      "use_bnb_nested_quant",
      // Axolotl, LLaMA-Factory, torchtune.
      "strict",
      "wandb_project",
      "wandb_entity",
      "wandb_name",
      "wandb_run_id",
      "wandb_watch",
      "wandb_log_model",
      "wandb_mode",
      "mlflow_tracking_uri",
      "mlflow_experiment_name",
      "use_tensorboard",
      "use_wandb",
      "use_swanlab",
      "pad_to_sequence_len",
      "sample_packing_eff_est",
      "eval_sample_packing",
      "multipack_real_batches",
      "lr_scheduler",
      "cosine_min_lr_ratio",
      "lr",
      "early_stopping_patience",
      "evals_per_epoch",
      "saves_per_epoch",
      "eval_max_new_tokens",
      "eval_table_size",
      "auto_resume_from_checkpoints",
      "save_first_step",
      "weight_decay_rate",
      "plot_loss",
      "logger",
      "clip_grad_norm",
      "log_every_n_steps",
      "xformers_attention",
      "flex_attention",
      "sdp_attention",
      "gc_steps",
      "resize_token_embeddings_to_32x",
      "dataloader_pin",
      "warmup",
      "min_lr",
      "lr_decay_style",
      "lr_warmup_iters",
      // DeepSpeed.
      "steps_per_print",
      "wall_clock_breakdown",
      "gradient_clipping",
      "zero_allow_untested_optimizer",
  };
  return kNames;
}

struct NamedText {
  std::string_view name;
  std::string_view text;
};

constexpr NamedText kNotCounted[] = {
    {"max_memory", "a limit for each GPU, with layers on the host"},
    {"use_cpu", "training on the CPU"},
    {"no_cuda", "training on the CPU"},
    {"torch_empty_cache_steps", "less is kept in reserve, steps take longer"},
    {"neftune_noise_alpha", "noise on the embeddings"},
    {"noisy_embedding_alpha", "noise on the embeddings"},
    {"label_smoothing_factor", "one more copy of the scores"},
    {"parallelism_config", "accelerate's own; write tensor_parallel_size and the like"},
    {"sequence_parallel", "tokens of norms shared between the GPUs of a layer"},
    {"optim_target_modules", "modules of GaLore or APOLLO"},
    {"deepcompile", "DeepSpeed's compiler"},
    // Reinforcement learning and preferences.
    {"precompute_ref_log_probs", "the reference model is counted as if it stayed on the GPU"},
    {"sync_ref_model", "the reference model changes"},
    {"use_vllm", "vLLM's share of memory and the time of generating"},
    {"vllm_mode", "vLLM's share of memory and the time of generating"},
    {"vllm_gpu_memory_utilization", "vLLM's share of memory and the time of generating"},
    {"num_generations", "generating several answers to a prompt"},
    {"max_completion_length", "generating the answers"},
    {"num_ppo_epochs", "several passes over generated samples"},
    {"num_iterations", "several passes over generated samples"},
    // Ways of training that no formula here knows.
    {"prompt_tuning", "virtual tokens instead of adapters"},
    {"prefix_tuning", "virtual tokens instead of adapters"},
    {"num_virtual_tokens", "virtual tokens instead of adapters"},
    {"use_galore", "gradients of low rank"},
    {"galore_rank", "gradients of low rank"},
    {"use_apollo", "states of low rank"},
    {"use_badam", "one block of layers at a time"},
    {"use_llama_pro", "added layers"},
    {"lisa_n_layers", "some layers at a time"},
    {"unfrozen_parameters", "the other weights are frozen"},
    {"freeze_trainable_layers", "the other layers are frozen"},
    {"freeze_trainable_modules", "the other modules are frozen"},
    {"freeze_vision_tower", "write model.vision.frozen"},
    {"freeze_multi_modal_projector", "a frozen projector"},
    {"freeze_language_model", "a frozen language model"},
    {"layers_to_transform", "adapters in some layers only"},
    {"rank_pattern", "ranks that differ between layers"},
    {"trainable_token_indices", "some trained embeddings"},
    {"layer_replication", "layers used more than once"},
    {"relora_steps", "adapters merged now and then"},
    {"qat", "quantisation-aware training"},
    {"quantizer", "quantisation-aware training"},
    {"use_unsloth", "Unsloth's kernels"},
    {"unsloth", "Unsloth's kernels"},
    {"lora_mlp_kernel", "fused kernels of adapters"},
    {"lora_qkv_kernel", "fused kernels of adapters"},
    {"lora_o_kernel", "fused kernels of adapters"},
    {"shift_attn", "attention within shifted groups of tokens"},
    {"s2_attention", "attention within shifted groups of tokens"},
    {"mixture_of_depths", "tokens that skip layers"},
    {"moe_aux_loss_coef", "the router's own loss"},
};

constexpr NamedText kOtherNames[] = {
    {"sequence_len", "training.max_seq_length"},
    {"cutoff_len", "training.max_seq_length"},
    {"max_length", "training.max_seq_length"},
    {"max_seq_len", "training.max_seq_length"},
    {"seq_len", "training.max_seq_length"},
    {"seq_length", "training.max_seq_length"},
    {"model_max_length", "training.max_seq_length"},
    {"block_size", "training.max_seq_length"},
    {"micro_batch_size", "training.per_device_train_batch_size"},
    {"batch_size", "training.per_device_train_batch_size"},
    {"train_micro_batch_size_per_gpu", "training.per_device_train_batch_size"},
    {"global_batch_size", "training.effective_batch_size"},
    {"train_batch_size", "training.effective_batch_size"},
    {"num_epochs", "training.num_train_epochs"},
    {"epochs", "training.num_train_epochs"},
    {"max_samples", "training.num_samples"},
    {"adapter", "training.method"},
    {"finetuning_type", "training.method"},
    {"train_type", "training.method"},
    {"use_dora", "training.method: dora"},
    {"peft_use_dora", "training.method: dora"},
    {"optimizer", "training.optim"},
    {"lora_r", "training.lora.r"},
    {"lora_rank", "training.lora.r"},
    {"lora_target", "training.lora.target_modules"},
    {"lora_target_modules", "training.lora.target_modules"},
    {"lora_target_linear", "training.lora.target_modules, where nothing means all linear layers"},
    {"lora_modules_to_save", "training.lora.modules_to_save"},
    {"additional_target", "training.lora.modules_to_save"},
    {"flash_attention", "training.attn_implementation: flash_attention_2"},
    {"flash_attn", "training.attn_implementation: flash_attention_2"},
    {"use_flash_attention_2", "training.attn_implementation: flash_attention_2"},
    {"eager_attention", "training.attn_implementation: eager"},
    {"sample_packing", "training.packing"},
    {"compile", "training.torch_compile"},
    {"dtype", "training.torch_dtype"},
    {"mixed_precision", "training.bf16 or training.fp16"},
    {"base_model", "model.preset"},
    {"model_name_or_path", "model.preset"},
    {"pretrained_model_name_or_path", "model.preset"},
    {"quantization_bit", "training.quantization"},
    {"gptq", "training.quantization: gptq"},
    {"stage", "training.trainer"},
    {"rl", "training.trainer"},
    {"activation_checkpointing", "training.gradient_checkpointing"},
    {"enable_activation_checkpointing", "training.gradient_checkpointing"},
    {"optimizer_in_bwd", "training.optimizer_in_backward"},
    {"enable_activation_offloading", "training.activation_offloading"},
    {"activation_offload", "training.activation_offloading"},
    {"enable_liger_kernel", "training.use_liger_kernel"},
    {"use_liger", "training.use_liger_kernel"},
    {"liger_fused_linear_cross_entropy", "training.use_liger_kernel"},
    {"cut_cross_entropy", "training.chunked_cross_entropy"},
    {"fsdp_sharding_strategy", "training.fsdp"},
    {"zero_stage", "training.deepspeed"},
    {"tensor_model_parallel_size", "training.tensor_parallel_size"},
    {"tp_size", "training.tensor_parallel_size"},
    {"pipeline_model_parallel_size", "training.pipeline_parallel_size"},
    {"pp_size", "training.pipeline_parallel_size"},
    {"sequence_parallel_size", "training.context_parallel_size"},
    {"sequence_parallel_degree", "training.context_parallel_size"},
    {"cp_size", "training.context_parallel_size"},
    {"expert_model_parallel_size", "training.expert_parallel_size"},
    {"ep_size", "training.expert_parallel_size"},
    {"save_total_limit", "output.keep"},
    {"output_dir", "output.dir"},
};

constexpr NamedText kOptimizers[] = {
    {"dion", "states of low rank, and products of matrices"},
    {"shampoo", "preconditioners for each matrix"},
    {"soap", "preconditioners for each matrix"},
};

bool IsOff(const json& value) {
  if (value.is_null() || value == false || value == 0) return true;
  if (value.is_string()) {
    return IsOneOf(LowerCase(value.get_ref<const std::string&>()),
                   {"", "none", "no", "false", "null", "off", "0"});
  }
  return value.is_structured() && value.empty();
}

// Whether it spreads the layers of one model over several devices.
bool SpreadsLayers(const json& device_map) {
  if (device_map.is_string()) {
    const auto& word = device_map.get_ref<const std::string&>();
    return word == "auto" || word.starts_with("balanced") || word == "sequential";
  }
  if (!device_map.is_object() || device_map.empty()) return false;
  const json& first = *device_map.begin();
  for (const json& device : device_map) {
    if (device != first) return true;
  }
  return false;
}

}  // namespace

std::optional<ForeignKey> FindForeignKey(std::string_view name, const json& value) {
  using Effect = ForeignKey::Effect;
  if (name == "device_map") {
    if (!SpreadsLayers(value)) return ForeignKey{};
    return ForeignKey{
        Effect::kNotCounted,
        "device_map (one model's layers over the GPUs, which work one after another)"};
  }
  if (WithoutEffect().contains(name)) return ForeignKey{};
  for (const NamedText& key : kNotCounted) {
    if (key.name != name) continue;
    if (IsOff(value)) return ForeignKey{};
    return ForeignKey{Effect::kNotCounted, fmt::format("{} ({})", key.name, key.text)};
  }
  for (const NamedText& key : kOtherNames) {
    if (key.name == name) return ForeignKey{Effect::kOtherName, std::string(key.text)};
  }
  return {};
}

std::string NotCountedOfOptimizer(std::string_view optim) {
  for (const NamedText& each : kOptimizers) {
    if (!optim.starts_with(each.name)) continue;
    return fmt::format("optim {} ({}; it counts as AdamW)", optim, each.text);
  }
  return "";
}

}  // namespace gpuadvise
